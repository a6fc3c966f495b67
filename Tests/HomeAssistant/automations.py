"""The automations of Home Assistant; each publishes a message when it runs."""
from typing import Any

RAN = 'acceptance/ran'
ECHO = 'acceptance/echo'

Automation = dict[str, Any]


def tells(name: str) -> list[dict[str, Any]]:
    return [{'action': 'mqtt.publish', 'data': {'topic': RAN, 'payload': name}}]


def on_device_trigger(name: str, trigger: dict[str, Any]) -> Automation:
    picked = {key: trigger[key] for key in ('domain', 'device_id', 'type', 'subtype', 'discovery_id') if key in trigger}
    return {'triggers': [{'trigger': 'device', **picked}], 'actions': tells(name), 'mode': 'queued'}


def on_device_triggers(triggers: dict[str, dict[str, Any]]) -> Automation:
    """An automation that publishes the name of its trigger."""
    keys = ('domain', 'device_id', 'type', 'subtype')
    return {
        'triggers': [
            {'trigger': 'device', 'id': name, **{key: trigger[key] for key in keys}}
            for name, trigger in triggers.items()],
        'actions': tells('{{ trigger.id }}'), 'mode': 'queued'}


def on_event(entities: str | list[str], condition: str, actions: list[dict[str, Any]]) -> Automation:
    """An automation as in the documentation: outages and restarts do not count as events."""
    return {
        'triggers': [{
            'trigger': 'state', 'entity_id': entities, 'not_from': ['unavailable'],
            'not_to': ['unavailable', 'unknown']}],
        'conditions': [f'{{{{ trigger.to_state and {condition} }}}}'], 'actions': actions, 'mode': 'queued'}


def guarded(name: str, entity: str) -> Automation:
    return on_event(entity, "trigger.to_state.attributes.event_type == 'click'", tells(name))


def on_events(entities: list[str]) -> Automation:
    """An automation that publishes the button and its event."""
    return on_event(
        entities, 'true', tells('{{ trigger.entity_id }} {{ trigger.to_state.attributes.event_type }}'))


def dimming(name: str, entity: str, light: str) -> Automation:
    """An automation that dims a light by the turns of a dial."""
    dim = {
        'action': 'light.turn_on', 'target': {'entity_id': light},
        'data': {'brightness_step_pct': '{{ trigger.to_state.attributes.steps }}'}}
    return on_event(entity, "trigger.to_state.attributes.part == 'dial'", [*tells(name), dim])


BRANCHES = (
    'click', 'double_click', 'three_clicks', 'hold', 'release', 'swipe_left', 'swipe_right', 'swipe_up', 'swipe_down',
    'clockwise', 'counter_clockwise')


def from_blueprint(name: str, device: str, part: str = 'button_1') -> Automation:
    """An automation that publishes its name and the branch."""
    return {'use_blueprint': {
        'path': 'tryck/button.yaml',
        'input': {'button': device, 'part': part, **{branch: tells(f'{name} {branch}') for branch in BRANCHES}}}}


def from_dimmer(device: str, light: str, part: str = 'button_1') -> Automation:
    return {'use_blueprint': {
        'path': 'tryck/dimmer.yaml',
        'input': {'button': device, 'part': part, 'light': {'entity_id': light}, 'speed': 50}}}


def echo() -> Automation:
    """An automation that confirms that all earlier messages have been processed."""
    return {
        'triggers': [{'trigger': 'mqtt', 'topic': ECHO}],
        'actions': [{'action': 'mqtt.publish', 'data': {'topic': RAN, 'payload': '{{ trigger.payload }}'}}],
        'mode': 'queued'}
