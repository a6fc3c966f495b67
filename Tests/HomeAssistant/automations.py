"""What runs in Home Assistant; each automation tells the broker that it did."""
from typing import Any

RAN = 'acceptance/ran'
ECHO = 'acceptance/echo'

Automation = dict[str, Any]


def tells(name: str) -> list[dict[str, Any]]:
    return [{'action': 'mqtt.publish', 'data': {'topic': RAN, 'payload': name}}]


def on_device_trigger(name: str, trigger: dict[str, Any]) -> Automation:
    picked = {key: trigger[key] for key in ('domain', 'device_id', 'type', 'subtype', 'discovery_id') if key in trigger}
    return {'triggers': [{'trigger': 'device', **picked}], 'actions': tells(name), 'mode': 'queued'}


def guarded(name: str, entity: str) -> Automation:
    """As the documentation advises: neither an outage nor a restart is taken for a click."""
    return {
        'triggers': [{
            'trigger': 'state', 'entity_id': entity, 'not_from': ['unavailable'],
            'not_to': ['unavailable', 'unknown']}],
        'conditions': ["{{ trigger.to_state and trigger.to_state.attributes.event_type == 'click' }}"],
        'actions': tells(name), 'mode': 'queued'}


def from_blueprint(name: str, entity: str) -> Automation:
    branches = ('click', 'double_click', 'hold', 'release')
    return {'use_blueprint': {
        'path': 'tryck/button.yaml',
        'input': {'button': entity, **{branch: tells(f'{name} {branch}') for branch in branches}}}}


def echo() -> Automation:
    """Says that everything published before it has been dealt with."""
    return {
        'triggers': [{'trigger': 'mqtt', 'topic': ECHO}],
        'actions': [{'action': 'mqtt.publish', 'data': {'topic': RAN, 'payload': '{{ trigger.payload }}'}}],
        'mode': 'queued'}
