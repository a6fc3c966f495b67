"""Two bridges on one broker."""
from collections import Counter

from broker import retained
from house import House
from points.point import point
from tape import Failure, equal

OTHER = '80e4da000002'
CONFIG = f'homeassistant/device/annex_{OTHER}/config'


@point('a second bridge on the same broker, with a button of its own')
async def neighbour(house: House) -> None:
    file = house.directory / 'neighbour.yaml'
    file.write_text('buttons: {hall: {address: "80:E4:DA:00:00:02", public: true}}\n')
    house.neighbour = await house.add_bridge('annex', f'simulated:{file}')
    await house.neighbour.ask('permit_join', time=60)
    await house.announced(f'annex_{OTHER}')
    await house.neighbour.ready(OTHER)
    mine, theirs = await house.entities(), await house.home.entities(f'annex_{OTHER}_')
    equal(theirs.keys(), mine.keys(), 'entities of the other button')


@point('a press reaches the devices of its own bridge, and no others')
async def apart(house: House) -> None:
    event = (await house.home.entities(f'annex_{OTHER}_'))['event']['entity_id']
    await house.home.until_state(event, 'unknown')
    mark, changes = house.heard.tape.mark, house.home.events.mark
    await house.neighbour.ask('simulator/press', button='hall', press='click')
    await house.heard.wait(f'annex/{OTHER}/event', since=mark)
    await house.settled()
    equal(house.runs(mark), Counter(), 'automations of the first button that ran')
    equal(
        [state['attributes']['event_type'] for state in house.home.changes(event, changes)], ['click'],
        'changes of the other event entity')
    changes = house.home.events.mark
    await house.clicked()
    equal(house.home.changes(event, changes), [], 'changes of the other event entity')


@point('a button deleted in Home Assistant is still paired, and is announced again only when its tryckd starts')
async def hidden(house: House) -> None:
    mark, before = house.heard.tape.mark, (await house.home.entities(f'annex_{OTHER}_')).keys()
    device = await house.home.device(f'annex_{OTHER}')
    await house.home.ask(
        'config/device_registry/remove_config_entry', device_id=device['id'],
        config_entry_id=device['config_entries'][0])
    await house.heard.wait(CONFIG, since=mark, payload='')
    # Home Assistant clears the config topic once for each component.
    await house.settled()
    equal(await house.home.devices(f'annex_{OTHER}'), [], 'devices')

    mark = house.heard.tape.mark
    house.heard.publish('homeassistant/status', 'online')
    await house.heard.tape.wait(
        lambda message: message.topic.startswith('homeassistant/device/annex_bridge_'), 'the bridge is announced',
        since=mark, within=6)
    await house.neighbour.ask('simulator/press', button='hall', press='click')
    await house.heard.wait(f'annex/{OTHER}/event', since=mark)
    said = house.heard.tape.since(mark, lambda message: message.topic == CONFIG)
    equal(said, [], 'messages on the config topic')
    equal((await retained(house.broker.port)).get(CONFIG), None, 'what is retained on the config topic')

    await house.neighbour.end()
    mark = house.heard.tape.mark
    await house.neighbour.start()
    await house.heard.wait(CONFIG, since=mark)
    await house.announced(f'annex_{OTHER}')
    equal((await house.home.entities(f'annex_{OTHER}_')).keys(), before, 'entities')


@point('the end of one bridge leaves the other alone')
async def end(house: House) -> None:
    theirs, mine = (await house.home.entities(f'annex_{OTHER}_'))['event'], await house.entity('event')
    await house.neighbour.end()
    await house.home.until_state(theirs['entity_id'], 'unavailable')
    if house.home.states[mine]['state'] == 'unavailable':
        raise Failure('it made this one unavailable')
