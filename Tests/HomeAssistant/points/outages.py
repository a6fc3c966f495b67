"""Outages end without a repeated or false press."""
import signal
from collections import Counter

from house import House
from points.point import point
from tape import Failure, equal


async def is_back(house: House, within: float) -> None:
    """Every entity of bridge and button has a state again."""
    home = house.home
    entries = await home.entities('tryck_')
    enabled = [entry['entity_id'] for entry in entries.values() if not entry['disabled_by']]

    def look() -> bool:
        return all(home.states.get(entity, {}).get('state', 'unavailable') != 'unavailable' for entity in enabled)

    await home.events.until(look, 'everything is back', within)


def dials(house: House) -> dict[str, str]:
    """The positions of the dials."""
    return {name: state['state'] for name, state in house.home.states.items() if name.startswith('number.')}


async def nothing_ran(house: House, since: int) -> None:
    await house.settled()
    equal(house.runs(since), Counter(), 'automations that ran')


@point('tryckd killed: unavailable within a second, and the bridge says it is off')
async def killed(house: House) -> None:
    entity, state = await house.entity('event'), await house.bridge_entity('state')
    await house.bridge.end(signal.SIGKILL)
    await house.home.until_state(entity, 'unavailable', within=1)
    await house.home.until_state(state, 'off', within=1)


@point('started again: everything is back, and no automation took it for a press')
async def started_again(house: House) -> None:
    mark = house.heard.tape.mark
    await house.bridge.start()
    await is_back(house, within=15)
    await nothing_ran(house, mark)
    await house.clicked()


@point('a press from while tryckd was away, older than 3 s, is told as stale and triggers nothing')
async def stale(house: House) -> None:
    mark, before = house.heard.tape.mark, dials(house)
    await house.bridge.end()
    await house.press('click')
    try:
        message = await house.heard.wait(house.topic('event'), since=house.heard.tape.mark, within=3.5)
        raise AssertionError(f'{message}, and there is no tryckd')
    except Failure:
        pass
    await house.bridge.start()
    told = await house.heard.tape.wait(
        lambda message: message.topic == 'tryck/bridge/event' and message.json['type'] == 'stale_event',
        'stale_event', since=mark, within=30)
    equal(told.json['data']['event_type'], 'click', 'what is stale')
    await nothing_ran(house, mark)
    equal(house.events(mark), [], 'events')
    await is_back(house, within=15)
    equal(dials(house), before, 'where dials stand')
    await house.clicked()


@point('the broker restarted and forgetful: everything is back in 15 s, and no automation ran')
async def broker(house: House) -> None:
    mark, before = house.heard.tape.mark, dials(house)
    entity = await house.entity('event')
    await house.broker.end()
    await house.home.until_state(entity, 'unavailable')
    await house.broker.start()
    await is_back(house, within=15)
    equal(dials(house), before, 'where dials stand')
    await nothing_ran(house, mark)
    await house.clicked()


@point('Home Assistant says it is there: all is announced again within 5 s')
async def birth(house: House) -> None:
    mark = house.heard.tape.mark
    house.heard.publish('homeassistant/status', 'online')
    await house.heard.wait(house.config_topic(), since=mark, within=6)
    equal(house.events(mark), [], 'events')
