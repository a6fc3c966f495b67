"""Two bridges on one broker."""
from collections import Counter

from bridge import Bridge
from house import House, equal
from points.point import point
from tape import Failure

OTHER = '80e4da000002'


@point('a second bridge on the same broker: each press reaches its own devices, and its end leaves the first alone')
async def neighbour(house: House) -> None:
    file = house.directory / 'neighbour.yaml'
    file.write_text('buttons: {hall: {address: "80:E4:DA:00:00:02", public: true}}\n')
    other = Bridge(house.directory / 'neighbour', house.broker, f'simulated:{file}', base='annex')
    await other.start()
    try:
        mark = house.heard.tape.mark
        await other.ask('permit_join', {'time': 60})
        await house.heard.wait(f'homeassistant/device/annex_{OTHER}/config', since=mark, within=30)
        await other.ready()
        await house.settled()
        mine, theirs = await house.entities(), await house.home.entities(f'annex_{OTHER}_')
        equal(theirs.keys(), mine.keys() - {'firmware'}, 'entities of the other button')
        event = theirs['event']['entity_id']

        mark, changes = house.heard.tape.mark, house.home.events.mark
        await other.press('hall', 'click')
        await house.heard.wait(f'annex/{OTHER}/event', since=mark)
        await house.settled()
        equal(house.runs(mark), Counter(), 'automations of the first button that ran')
        equal(len(house.home.changes(event, changes)), 1, 'changes of the other event entity')
        changes = house.home.events.mark
        await house.pressed('click', 'click', ('button_short_press', 'guarded', 'blueprint click'))
        equal(house.home.changes(event, changes), [], 'changes of the other event entity')
    finally:
        await other.end()
    await house.home.until_state(event, 'unavailable')
    if house.home.states[mine['event']['entity_id']]['state'] == 'unavailable':
        raise Failure('the end of the other bridge made this one unavailable')
