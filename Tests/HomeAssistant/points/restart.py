"""Home Assistant itself starts anew."""
from house import House, equal
from points.outages import CLICK, is_back, nothing_ran
from points.point import point


@point('Home Assistant restarted: everything is back from what is retained, and no automation ran')
async def home(house: House) -> None:
    mark = house.heard.tape.mark
    before = (await house.entities()).keys()
    await house.home.restart()
    await is_back(house, within=60)
    equal((await house.entities()).keys(), before, 'entities')
    await nothing_ran(house, mark)
    await house.pressed('click', 'click', CLICK)
