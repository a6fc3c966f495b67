"""Renaming a button changes no id, unless that is wanted."""
from house import KITCHEN, House
from points.point import point
from tape import equal


@point('a renamed button keeps its entity ids, and the device has the new name')
async def rename(house: House) -> None:
    before = {key: entry['entity_id'] for key, entry in (await house.entities()).items()}
    mark = house.heard.tape.mark
    house.heard.publish('tryck/bridge/request/button/rename', f'{{"id":"{KITCHEN.id}","to":"By the stove"}}')
    await house.heard.wait(house.config_topic(), since=mark)
    await house.settled()
    equal({key: entry['entity_id'] for key, entry in (await house.entities()).items()}, before, 'entity ids')
    device = await house.home.device(house.node())
    equal(device['name'], 'By the stove', 'name of the device')
    await house.clicked()


@point('a button that is renamed with homeassistant_rename gets new entity ids, on the same device')
async def rename_entities(house: House) -> None:
    entities = await house.entities()
    before = {key: entry['entity_id'] for key, entry in entities.items()}
    # Home Assistant does not remove an entity that is disabled.
    kept = {key for key, entry in entities.items() if entry['disabled_by']}
    device = await house.home.device(house.node())
    triggers = len(await house.home.triggers(device['id']))
    former = before['event'].removeprefix('event.').removesuffix('_action')
    for name, slug in ('Fönster nr. 2', 'fonster_nr_2'), (former, former):
        mark = house.heard.tape.mark
        house.heard.publish(
            'tryck/bridge/request/button/rename',
            f'{{"id":"{KITCHEN.id}","to":"{name}","homeassistant_rename":true}}')
        await house.heard.wait(house.config_topic(), since=mark)
        await house.settled()
        after = {key: entry['entity_id'] for key, entry in (await house.entities()).items()}
        wanted = {
            key: entity if key in kept else entity.replace(f'.{former}_', f'.{slug}_') for key, entity in before.items()}
        equal(after, wanted, f'entity ids of {name}')
        equal((await house.home.device(house.node()))['id'], device['id'], 'id of the device')
        equal(len(await house.home.triggers(device['id'])), triggers, 'number of triggers')
    # An automation names the former id of an entity.
    await house.clicked()
