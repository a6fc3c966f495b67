"""A Duo: two buttons with swipes and turns."""
import automations
from broker import Message
from home_assistant import label
from house import SOFA, House
from points.commands import install
from points.discovery import DISABLED, ENABLED, complete, names
from points.gestures import gesture
from points.point import point
from tape import equal

NAMES = {
    'event': ('event.sofa_big_button', 'Big button'),
    'event_small': ('event.sofa_small_button', 'Small button'),
    'event_raw': ('event.sofa_big_button_press_and_release', 'Big button press and release'),
    'event_raw_small': ('event.sofa_small_button_press_and_release', 'Small button press and release'),
    'position_big': ('number.sofa_big_dial', 'Big dial'),
    'position_small': ('number.sofa_small_dial', 'Small dial'),
}
# The name in triggers, the event entity, and the press for each part.
PARTS = {'big': ('First', 'event.sofa_big_button', ''), 'small': ('Second', 'event.sofa_small_button', 'small_')}
# The press, the event type of the entity, and the type of the device trigger.
PRESSES = {
    'click': {'click': 'pressed'},
    'double_click': {'double_click': 'double clicked'},
    'hold': {'hold': 'continuously pressed', 'hold_release': 'released after long press'},
    # A press that is turned is not a click.
    'held_turn_20': {'rotate_clockwise': 'turned clockwise'},
    'held_turn_-5': {'rotate_counter_clockwise': 'turned counter-clockwise'},
    'swipe_left': {'swipe_left': 'swiped left'},
    'swipe_right': {'swipe_right': 'swiped right'},
    'swipe_up': {'swipe_up': 'swiped up'},
    'swipe_down': {'swipe_down': 'swiped down'},
}


@point('a Duo is a device with an event entity, triggers and a position for each of its two buttons, in plain words')
async def duo(house: House) -> None:
    await house.add_button(SOFA)
    await house.pair(SOFA)
    await complete(
        house, SOFA, ENABLED | {'event_small', 'position_big', 'position_small'}, DISABLED | {'event_raw_small'})
    await names(house, SOFA, NAMES)
    device = await house.home.device(house.node(SOFA))
    equal(device['model'], 'Flic Duo', 'model')
    triggers = {label(trigger): trigger for trigger in await house.home.triggers(device['id'])}
    does = {what for words in PRESSES.values() for what in words.values()}
    equal(triggers.keys(), {f'"{which} button" {what}' for which, _, _ in PARTS.values() for what in does}, 'triggers')
    equal(
        {trigger['subtype'] for name, trigger in triggers.items() if name.endswith(' pressed')},
        {'button_1', 'button_2'}, 'buttons that Home Assistant has words for')
    await house.home.add_automation('sofa triggers', automations.on_device_triggers(triggers))
    await house.home.add_automation('sofa events', automations.on_events([entity for _, entity, _ in PARTS.values()]))
    for name in ('sofa_triggers', 'sofa_events'):
        await house.home.until_state(f'automation.{name}', 'on')
    for topic in ('action', 'event', 'small/action', 'small/event'):
        await house.broker.subscribed(house.topic(topic, SOFA))


async def plays(house: House, part: str, press: str, *also: str) -> list[Message]:
    """Each gesture causes an event and a device trigger of the part."""
    which, entity, prefix = PARTS[part]
    words = PRESSES[press]
    runs = [run for word, what in words.items() for run in (f'"{which} button" {what}', f'{entity} {word}')]
    return await gesture(house, prefix + press, list(words), *runs, *also, button=SOFA, parts=[part] * len(words))


@point('whatever is done to its big button is an event and a trigger of that one')
async def big(house: House) -> None:
    for press in PRESSES:
        await plays(house, 'big', press)
    await stand(house, '15', '0')


@point('whatever is done to its small button is an event and a trigger of that one')
async def small(house: House) -> None:
    for press in PRESSES:
        await plays(house, 'small', press)
    await stand(house, '15', '15')


async def stand(house: House, big: str, small: str) -> None:
    await house.home.until_state(NAMES['position_big'][0], big)
    await house.home.until_state(NAMES['position_small'][0], small)


@point('where a dial stands can be set, and the next turn goes on from there')
async def position(house: House) -> None:
    entity = NAMES['position_big'][0]
    await house.home.call('number.set_value', entity, value=60)
    await house.home.until_state(entity, '60')
    for decimals in ('33.0', '59.6'):
        house.heard.publish(house.topic('set', SOFA), f'{{"positions":{{"big":{decimals}}}}}')
        await house.home.until_state(entity, str(round(float(decimals))))
    [message] = await plays(house, 'big', 'held_turn_20')
    equal((message.json['steps'], message.json['position']), (20, 80), 'steps and position')
    await house.home.until_state(entity, '80')


@point('the blueprint runs the branches of one of its two buttons, swipes and turns included')
async def blueprint(house: House) -> None:
    device = await house.home.device(house.node(SOFA))
    await house.home.add_automation('sofa blueprint', automations.from_blueprint('sofa', device['id'], 'button_2'))
    await house.home.until_state('automation.sofa_blueprint', 'on')
    for press, branches in {
        'click': ['click'], 'hold': ['hold', 'release'], 'swipe_up': ['swipe_up'], 'held_turn_20': ['clockwise'],
    }.items():
        await plays(house, 'small', press, *(f'sofa {branch}' for branch in branches))
    await plays(house, 'big', 'swipe_up')
    await house.home.remove_automation('sofa blueprint')


@point('its firmware is installed from the file')
async def update(house: House) -> None:
    await install(house, SOFA)
