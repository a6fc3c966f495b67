"""A button is lost while it is held. Afterwards it has no battery, so this comes after all points that press it."""
from collections import Counter

from broker import Message
from house import KITCHEN, House
from points.point import point
from tape import equal

# tryckd waits this long for a lost button.
WAIT_MS = 8000


@point('a button is lost while it is held: the hold ends once, 8 s later, and the entity shows why')
async def lost_while_held(house: House) -> None:
    home, mark, heard = house.home, house.home.events.mark, house.heard.tape.mark
    entity = await house.entity('event')

    async def event(kind: str) -> Message:
        return await house.heard.tape.wait(
            lambda message: message.topic == house.topic('event') and message.json['event_type'] == kind,
            kind, since=heard, within=30)

    await house.press('down')
    await event('hold')
    await house.air.lose(KITCHEN.name)
    end = (await event('hold_release')).json
    equal((end['queued'], end['reason']), (True, 'link_lost'), 'queued and reason')
    equal(WAIT_MS <= end['age_ms'] < WAIT_MS + 2000, True, f'an age of 8 s and not {end["age_ms"]} ms')
    await house.settled()
    changes = [state['attributes'] for state in home.changes(entity, mark) if state['state'] != 'unavailable']
    equal(
        [(state.get('event_type'), state.get('reason'), state.get('queued')) for state in changes],
        [('hold', None, False), ('hold_release', 'link_lost', True)], 'changes of state')
    equal(
        house.runs(heard),
        Counter(('button_long_press', 'button_long_release', 'blueprint hold', 'blueprint release')),
        'the automations that ran')
