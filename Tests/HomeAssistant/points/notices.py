"""What the device of the bridge shows: pairing, problems and refusals."""
from contextlib import suppress

from bridge import NO_RULES
from house import KITCHEN, House
from points.point import point
from tape import Failure, equal

FIXED = f"""\
version: 1
buttons:
  kitchen: {{address: "{KITCHEN.address}", trigger_mode: click}}
"""
MISTAKEN = """\
version: 1
rules:
  - id: mistaken
    triggers: {button: any, event: clack}
    actions: {log: x}
"""


@point('pairing is a sensor with words, and its result stays; the end of the search is a time')
async def pairing(house: House) -> None:
    entity, ends = await house.bridge_entity('pairing'), await house.bridge_entity('permit_join_end')
    switch = await house.bridge_entity('permit_join')
    await house.home.call('switch.turn_off', switch)
    await house.home.until_attribute(entity, 'step', 'paired')
    state = house.home.states[entity]
    equal(state['state'].startswith('Paired: '), True, f'the words of {state}')
    await house.home.until_state(ends, 'unknown')
    await house.home.call('switch.turn_on', switch)
    state = await house.home.until_state(
        entity, 'Looking for new buttons: hold the button down for 7 seconds, until its light changes')
    equal(state['attributes']['step'], 'searching', 'step')
    await house.home.until_known(ends)
    await house.home.call('switch.turn_off', switch)
    await house.home.until_state(entity, 'Not looking for new buttons')
    await house.home.until_state(ends, 'unknown')


@point('a refusal is an event of the entity Notice, and other events of the bridge are none')
async def refusal(house: House) -> None:
    entity, mark = await house.bridge_entity('notice'), house.home.events.mark
    house.heard.publish('tryck/bridge/request/permit_join', '4000')
    house.heard.publish(house.topic('set'), '{"trigger_mode":"loud"}')
    await house.home.until_attribute(entity, 'topic', house.topic('set'))
    await house.settled()
    shown = [state['attributes'] for state in house.home.changes(entity, mark)]
    equal([each['event_type'] for each in shown], ['refused'] * 2, 'events')
    equal([each['topic'] for each in shown], ['tryck/bridge/request/permit_join', house.topic('set')], 'topics')
    equal('permit_join takes' in shown[0]['message'], True, 'the reason')
    equal((house.home.states[entity]['attributes']['friendly_name']), 'Flic bridge Notice', 'name')


@point('a mistake in the rules is a problem with its file, line and text, until it is repaired')
async def mistake(house: House) -> None:
    entity = await house.bridge_entity('rules')
    await house.home.until_state(entity, 'off')
    with suppress(Failure):
        await house.bridge.load(MISTAKEN)
    await house.home.until_attribute(entity, 'line', 4)
    state = house.home.states[entity]
    equal(state['state'], 'on', 'state')
    equal(state['attributes']['file'].endswith('home.yaml'), True, 'file')
    equal('clack' in state['attributes']['text'], True, 'text')
    await house.bridge.load(NO_RULES)
    await house.home.until_state(entity, 'off')
    equal('line' in house.home.states[entity]['attributes'], False, 'a line that is left')
    await house.home.until_state(await house.bridge_entity('adapter'), 'off')


@point('where the rules fix the trigger mode, it is the only option and says so; afterwards all are back')
async def fixed(house: House) -> None:
    entity = await house.entity('trigger_mode')
    await house.bridge.load(FIXED)
    state = await house.home.until_state(entity, 'Clicks (fixed by the rules)')
    equal(state['attributes']['options'], ['Clicks (fixed by the rules)'], 'options')
    await house.bridge.load(NO_RULES)
    state = await house.home.until_state(entity, 'Automatic')
    equal(len(state['attributes']['options']), 5, 'options')
    await house.bridge.load(FIXED)
    await house.home.until_state(entity, 'Clicks (fixed by the rules)')
    await house.home.call('select.select_option', entity, option='Clicks (fixed by the rules)')
    await house.bridge.load(NO_RULES)
    # What was selected is a choice of the user, which lasts.
    await house.home.until_state(entity, 'Clicks')
    await house.home.call('select.select_option', entity, option='Automatic')
    await house.home.until_state(entity, 'Automatic')
