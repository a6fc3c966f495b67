"""Home Assistant restarts."""
import signal

from house import House
from points.outages import dials, is_back, nothing_ran
from points.point import point
from tape import equal


@point('Home Assistant restarted: everything is back from what is retained, and no automation ran')
async def home(house: House) -> None:
    mark, before, positions = house.heard.tape.mark, (await house.entities()).keys(), dials(house)
    # The stopped process does not answer.
    house.bridge.send(signal.SIGSTOP)
    try:
        await house.home.restart()
        await is_back(house, within=30)
        equal((await house.entities()).keys(), before, 'entities')
        equal(dials(house), positions, 'where dials stand')
        await nothing_ran(house, mark)
    finally:
        house.bridge.send(signal.SIGCONT)
    await house.clicked()
