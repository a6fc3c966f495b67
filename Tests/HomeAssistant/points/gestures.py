"""Each gesture causes one change of state, one device trigger, and one branch of the blueprint."""
from collections.abc import Sequence

import automations
from bridge import NO_RULES
from broker import Message
from house import CLICK, KITCHEN, RULES, Button, House
from points.point import point
from tape import equal

ATTRIBUTES = {'event_type', 'id', 'name', 'seq', 'ts', 'queued', 'age_ms', 'press_count'}


async def gesture(
    house: House, press: str, words: list[str], *runs: str, button: Button = KITCHEN, parts: Sequence[str] = ()
) -> list[Message]:
    """A press that causes these events; it ends with the last one."""
    topic, component = ('small/event', 'event_small') if 'small' in parts else ('event', 'event')
    home, mark, heard = house.home, house.home.events.mark, house.heard.tape.mark
    await house.pressed(press, words[-1], runs, button, topic)
    messages = house.events(heard, house.topic(topic, button))
    events = [message.json for message in messages]
    changes = [state['attributes'] for state in home.changes(await house.entity(component, button), mark)]
    equal([event['event_type'] for event in events], words, 'events')
    equal([{key: state.get(key) for key in event} for state, event in zip(changes, events)], events, 'changes of state')
    equal(len(changes), len(events), 'how many changes of state')
    for event in events:
        equal(ATTRIBUTES - event.keys(), set(), 'what an event lacks')
        equal((event['id'], event['queued'], event['age_ms']), (button.id, False, 0), 'id, queued and age')
    equal([event.get('part', '') for event in events], [*parts] or [''] * len(words), 'parts')
    return messages


@point('the very first press is not lost, though the entity was unknown before it')
async def first(house: House) -> None:
    await house.home.until_state(await house.entity('event'), 'unknown')
    await gesture(house, 'click', ['click'], *CLICK)


@point('a click is one change of state with all attributes, one device trigger, one run')
async def click(house: House) -> None:
    await gesture(house, 'click', ['click'], *CLICK)


@point('so is a double click')
async def double_click(house: House) -> None:
    await gesture(house, 'double_click', ['double_click'], 'button_double_press', 'blueprint double_click')


@point('a hold is one, and letting go another')
async def hold(house: House) -> None:
    await gesture(
        house, 'hold', ['hold', 'hold_release'],
        'button_long_press', 'button_long_release', 'blueprint hold', 'blueprint release')


@point('three clicks are a trigger from the moment a rule waits for them, and none any more when no rule does')
async def three_clicks(house: House) -> None:
    home, mark = house.home, house.heard.tape.mark
    device = await home.device(house.node())

    async def kinds() -> set[str]:
        return {trigger['type'] for trigger in await home.triggers(device['id'])}

    await house.bridge.load(RULES)
    await house.heard.wait(house.config_topic(), since=mark)
    await house.settled()
    [trigger] = [each for each in await home.triggers(device['id']) if each['type'] == 'button_triple_press']
    await home.add_automation('triple', automations.on_device_trigger('triple', trigger))
    # The automation of the blueprint was there before the trigger was.
    await gesture(house, 'clicks_3', ['clicks_3'], 'triple', 'blueprint three_clicks')
    await house.heard.wait('acceptance/rule', since=mark, payload='thrice')

    await home.remove_automation('triple')
    mark, before = house.heard.tape.mark, await kinds()
    await house.bridge.load(NO_RULES)
    await house.heard.wait(house.config_topic(), since=mark)
    await house.settled()
    equal(await kinds(), before - {'button_triple_press'}, 'device triggers')
