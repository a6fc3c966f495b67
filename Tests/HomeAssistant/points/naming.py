"""Renaming a button changes no id."""
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
