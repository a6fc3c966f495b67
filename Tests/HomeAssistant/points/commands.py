"""Settings in Home Assistant are carried out and confirmed by tryckd: no entity is optimistic."""
import asyncio

from house import KITCHEN, Button, House
from points.point import point
from tape import Failure


async def select(house: House, entity: str, option: str) -> None:
    await house.home.call('select.select_option', entity, option=option)
    await house.home.until_state(entity, option)


@point('the trigger mode can be selected')
async def trigger_mode(house: House) -> None:
    entity = await house.entity('trigger_mode')
    before = house.home.states[entity]['state']
    for option in ('Clicks and holds', before):
        await select(house, entity, option)


@point('the latency mode can be selected')
async def latency_mode(house: House) -> None:
    entity = await house.entity('latency_mode')
    for option in ('Low', 'Normal'):
        await select(house, entity, option)


@point('the nickname can be written, with more than ASCII and with quotes')
async def nickname(house: House) -> None:
    entity = await house.entity('nickname')
    for text in ('"Köket"', 'Bedside'):
        await house.home.call('text.set_value', entity, value=text)
        await house.home.until_state(entity, text)


@point('permit join goes off and on')
async def permit_join(house: House) -> None:
    entity = await house.bridge_entity('permit_join')
    for verb, state in (('off', 'off'), ('on', 'on'), ('off', 'off')):
        await house.home.call(f'switch.turn_{verb}', entity)
        await house.home.until_state(entity, state)


@point('the log level can be selected')
async def log_level(house: House) -> None:
    entity = await house.bridge_entity('log_level')
    before = house.home.states[entity]['state']
    for option in ('warning', before):
        await select(house, entity, option)


@point('firmware is installed from the file, and its new version is shown')
async def update(house: House) -> None:
    await install(house, KITCHEN)


async def install(house: House, button: Button) -> None:
    entity = await house.entity('firmware', button)
    state = await house.home.until_state(entity, 'on')
    if (state['attributes']['installed_version'], state['attributes']['latest_version']) != ('10', '11'):
        raise Failure(f'versions: {state["attributes"]}')
    await house.home.call('update.install', entity)
    state = await house.home.until_state(entity, 'off', within=60)
    if state['attributes']['installed_version'] != '11':
        raise Failure(f'installed: {state["attributes"]["installed_version"]}')
    await house.bridge.ready(button.id)


@point('the restart button starts tryckd anew')
async def restart(house: House) -> None:
    entity = await house.bridge_entity('restart')
    # A restart is accepted at the earliest a minute after the start.
    for _ in range(30):
        mark = house.heard.tape.mark
        await house.home.call('button.press', entity)
        answer = await house.heard.wait('tryck/bridge/response/restart', since=mark)
        if '"status":"ok"' in answer.payload:
            break
        await asyncio.sleep(3)
    await house.heard.wait('tryck/bridge/state', since=mark, payload='offline')
    await house.heard.wait('tryck/bridge/state', since=mark, payload='online', within=30)
    await house.bridge.ready(KITCHEN.id)
    await house.clicked()
