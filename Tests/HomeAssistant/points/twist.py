"""A Twist: one button and a dial of twelve slots."""
from collections.abc import Sequence

import automations
from bridge import NO_RULES
from broker import Message
from home_assistant import label
from house import DESK, House
from points.commands import install, select
from points.discovery import DISABLED, ENABLED, complete, names
from points.gestures import gesture
from points.point import point
from tape import equal

EVENT, SLOT_1, FREE = 'event.desk_action', 'number.desk_slot_1', 'number.desk_push_dial'
NAMES = {
    'event': (EVENT, 'Action'),
    'position_slot_1': (SLOT_1, 'Slot 1'),
    'position_slot_12': ('number.desk_slot_12', 'Slot 12'),
    'position_free': (FREE, 'Push dial'),
    'led_mode': ('select.desk_led_mode', 'LED mode'),
}
CLICKED = {'click': '"First button" pressed'}
CLOCKWISE = {'rotate_clockwise': '"Dial" turned clockwise'}
COUNTER_CLOCKWISE = {'rotate_counter_clockwise': '"Dial" turned counter-clockwise'}
HELD = {'hold': '"First button" continuously pressed', 'hold_release': '"First button" released after long press'}
TWICE = {'double_click': '"First button" double clicked'}

# If a rule uses a dial when the button is first announced, the entity of the dial is enabled.
RULES = f"""\
version: 1
buttons:
  desk: {{address: "{DESK.address}", model: twist}}
rules:
  - id: scenes
    triggers: {{button: desk, event: [rotate_clockwise, rotate_counter_clockwise], part: push}}
    actions:
      - log: "{{{{ trigger.slot }}}}"
"""


async def does(
    house: House, press: str, *words: dict[str, str], parts: Sequence[str] = (), also: Sequence[str] = ()
) -> list[Message]:
    """Each event type causes an event and a device trigger."""
    told = {word: what for each in words for word, what in each.items()}
    runs = [run for word, what in told.items() for run in (what, f'{EVENT} {word}')]
    return await gesture(house, press, list(told), *runs, *also, button=DESK, parts=parts)


@point('a Twist is a device with a dial: positions that are numbers, and what its lights show, in plain words')
async def twist(house: House) -> None:
    await house.bridge.load(RULES)
    slots = {f'position_slot_{number}' for number in range(2, 13)}
    await house.add_button(DESK)
    await house.pair(DESK)
    enabled = ENABLED - {'latency_mode'} | {'position_slot_1', 'position_free', 'led_mode'}
    await complete(house, DESK, enabled, DISABLED | slots)
    await names(house, DESK, NAMES)
    await house.bridge.load(NO_RULES)
    await house.settled()
    device = await house.home.device(house.node(DESK))
    equal(device['model'], 'Flic Twist', 'model')
    triggers = {label(trigger): trigger for trigger in await house.home.triggers(device['id'])}
    equal(
        triggers.keys(), {*(CLICKED | TWICE | HELD | CLOCKWISE | COUNTER_CLOCKWISE).values()}, 'triggers')
    await house.home.add_automation('desk triggers', automations.on_device_triggers(triggers))
    await house.home.add_automation('desk events', automations.on_events([EVENT]))
    for name in ('desk_triggers', 'desk_events'):
        await house.home.until_state(f'automation.{name}', 'on')
    for topic in ('action', 'event'):
        await house.broker.subscribed(house.topic(topic, DESK))


@point('its presses are those of any button')
async def presses(house: House) -> None:
    await does(house, 'click', CLICKED)
    await does(house, 'double_click', TWICE)
    await does(house, 'hold', HELD)


@point('a turn is an event with steps, position and slot, and moves the number')
async def turn(house: House) -> None:
    for press, words, steps, position in (
        ('turn_30', CLOCKWISE, 30, 30), ('turn_-10', COUNTER_CLOCKWISE, -10, 20),
        ('turn_-50', COUNTER_CLOCKWISE, -50, 0),
    ):
        [message] = await does(house, press, words, parts=('dial',))
        told = message.json
        equal((told['steps'], told['position'], told['slot']), (steps, position, 1), 'steps, position and slot')
        await house.home.until_state(SLOT_1, str(position))


@point('where its dial stands can be set, and the next turn goes on from there')
async def position(house: House) -> None:
    attributes = house.home.states[SLOT_1]['attributes']
    equal(
        [attributes[key] for key in ('min', 'max', 'step', 'mode', 'unit_of_measurement')], [0, 100, 1, 'slider', '%'],
        'the slider')
    await house.home.call('number.set_value', SLOT_1, value=75)
    await house.home.until_state(SLOT_1, '75')
    [message] = await does(house, 'turn_10', CLOCKWISE, parts=('dial',))
    equal(message.json['position'], 85, 'position')
    await house.home.until_state(SLOT_1, '85')


@point('the button itself heard what was set: turned while it is pressed, it goes to the slot that follows from that')
async def slots(house: House) -> None:
    # A twelfth of a turn is a slot: at 52 it is the seventh. Turned so little it is a click, too.
    for position, slot in ((50, 7), (0, 1)):
        await house.home.call('number.set_value', FREE, value=position)
        await house.home.until_state(FREE, str(position))
        message, _ = await does(house, 'push_turn_2', CLOCKWISE, CLICKED, parts=('push', ''))
        equal((message.json['position'], message.json['slot']), (position + 2, slot), 'position and slot')
        [message] = await does(house, 'turn_1', CLOCKWISE, parts=('dial',))
        equal(message.json['slot'], slot, 'the slot that is turned then')
    await house.home.until_state(SLOT_1, '86')


@point('what its lights show can be selected')
async def led_mode(house: House) -> None:
    for option in ('Point', 'Selector', 'Dark', 'Fill'):
        await select(house, NAMES['led_mode'][0], option)


@point('its firmware is installed from the file')
async def update(house: House) -> None:
    await install(house, DESK)
    await house.home.until_state(SLOT_1, '86')
