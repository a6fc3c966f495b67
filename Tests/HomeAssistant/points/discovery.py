"""Discovery of the bridge and the button, without warnings."""
import automations
from house import KITCHEN, Button, House
from points.point import point
from tape import equal

TRIGGERS = {
    'click': 'button_short_press', 'double_click': 'button_double_press', 'hold': 'button_long_press',
    'hold_release': 'button_long_release',
}
ENABLED = {
    'event', 'battery', 'battery_low', 'connected', 'last_seen', 'trigger_mode', 'latency_mode', 'nickname', 'firmware',
}
DISABLED = {'event_raw', 'battery_voltage', 'press_count', 'rssi'}
OF_THE_BRIDGE = {
    'state', 'version', 'buttons', 'adapter', 'rules', 'pairing', 'permit_join_end', 'notice', 'permit_join', 'restart',
    'log_level',
}


@point('the bridge is a device as soon as tryckd runs')
async def bridge(house: House) -> None:
    await house.heard.wait('tryck/bridge/state', since=0, payload='online')
    said = await house.heard.tape.wait(
        lambda message: message.topic.startswith('homeassistant/device/tryck_bridge_'), 'the bridge is announced',
        since=0)
    await house.announced(said.topic.split('/')[2], 'state')
    entities = await house.home.entities('tryck_bridge_')
    equal({name.partition('_')[2] for name in entities}, OF_THE_BRIDGE, 'entities of the bridge')
    await house.home.until_state(await house.bridge_entity('state'), 'on')
    await house.home.until_state(await house.bridge_entity('buttons'), '0')


@point('the switch of the bridge lets a button in, and the button is a device with all its entities and triggers')
async def button(house: House) -> None:
    await house.pair(KITCHEN)
    await complete(house, KITCHEN, ENABLED, DISABLED)
    device = await house.home.device(house.node())
    equal(device['connections'], [['bluetooth', KITCHEN.address]], 'connections')
    bridge = next(iter((await house.home.entities('tryck_bridge_')).values()))
    equal(device['via_device_id'], bridge['device_id'], 'the device it hangs on')
    triggers = await house.home.triggers(device['id'])
    equal(
        sorted((trigger['type'], trigger['subtype']) for trigger in triggers),
        sorted((kind, 'button_1') for kind in TRIGGERS.values()), 'device triggers')
    await house.home.until_state(await house.bridge_entity('buttons'), '1')


async def complete(house: House, button: Button, enabled: set[str], disabled: set[str]) -> None:
    """The device has exactly these entities, and all of them have states."""
    entities = await house.entities(button)
    equal({key for key, entry in entities.items() if not entry['disabled_by']}, enabled, 'entities')
    equal({key for key, entry in entities.items() if entry['disabled_by']}, disabled, 'disabled entities')
    await house.home.until_state(entities['connected']['entity_id'], 'on')
    pressed = {'event', 'event_small'}
    for key in enabled - pressed - {'last_seen'}:
        await house.home.until_known(entities[key]['entity_id'])
    # Wait until Home Assistant has subscribed.
    for key in enabled & pressed:
        await house.home.until_state(entities[key]['entity_id'], 'unknown')


async def names(house: House, button: Button, expected: dict[str, tuple[str, str]]) -> None:
    """By component, the id of each entity and its displayed name without the name of the device."""
    entities = await house.entities(button)
    equal(
        {key: (entities[key]['entity_id'], entities[key]['original_name']) for key in expected}, expected, 'names')


@point('Home Assistant has logged nothing about it')
async def silence(house: House) -> None:
    equal(house.home.complaints, [], 'complaints')


@point('automations on every trigger, on the event entity and on the blueprint are taken')
async def automate(house: House) -> None:
    device = await house.home.device(house.node())
    entity = await house.entity('event')
    for trigger in await house.home.triggers(device['id']):
        await house.home.add_automation(trigger['type'], automations.on_device_trigger(trigger['type'], trigger))
    await house.home.add_automation('guarded', automations.guarded('guarded', entity))
    await house.home.add_automation('blueprint', automations.from_blueprint('blueprint', device['id']))
    for topic in ('action', 'event'):
        await house.broker.subscribed(house.topic(topic))
    for name in (*TRIGGERS.values(), 'guarded', 'blueprint'):
        await house.home.until_state(f'automation.{name}', 'on')
