"""Hidden is not removed, and removed leaves nothing."""
from broker import retained
from house import BUTTON, House, equal
from points.point import point
from tape import Failure


@point('deleted in Home Assistant: not announced again until tryckd starts, and still paired')
async def hidden(house: House) -> None:
    mark = house.heard.tape.mark
    device = await house.home.device(f'tryck_{BUTTON}')
    assert device
    await house.home.ask(
        'config/device_registry/remove_config_entry', device_id=device['id'],
        config_entry_id=device['config_entries'][0])
    await house.heard.wait(house.config_topic, since=mark, payload='')
    equal(await house.home.device(f'tryck_{BUTTON}'), None, 'the device')

    mark = house.heard.tape.mark
    house.heard.publish('homeassistant/status', 'online')
    await house.heard.tape.wait(
        lambda message: message.topic.startswith('homeassistant/device/tryck_bridge_'), 'the bridge is announced',
        since=mark, within=6)
    await house.press('click')
    await house.heard.wait(house.topic('event'), since=mark)
    if house.config_topic in await retained(house.broker.port):
        raise Failure('it was announced again')

    await house.bridge.end()
    await house.bridge.start()
    await house.heard.wait(house.config_topic, since=mark)
    await house.bridge.ready()
    await house.settled()
    equal(len(await house.entities()), len(await house.entities()), 'entities')


@point('removed: nothing is retained about it, and nothing of it is in the registries, disabled entities included')
async def removed(house: House) -> None:
    if not await house.entities():
        raise Failure('Home Assistant does not know the button, so this would show nothing')
    mark = house.heard.tape.mark
    house.heard.publish('tryck/bridge/request/button/remove', f'{{"id":"{BUTTON}"}}')
    await house.heard.wait(house.config_topic, since=mark, payload='')
    await house.settled()
    left = [topic for topic in await retained(house.broker.port) if BUTTON in topic]
    equal(left, [], 'retained topics')
    equal(list(await house.entities()), [], 'entities')
    equal(await house.home.device(f'tryck_{BUTTON}'), None, 'the device')
    await house.home.until_state(await house.bridge_entity('buttons'), '0')


@point('in all this time Home Assistant has complained about nothing but the broker that was gone')
async def silence(house: House) -> None:
    complaints = [
        line for line in house.home.complaints()
        if 'Disconnected from MQTT server' not in line and 'Error returned from MQTT server' not in line]
    equal(complaints, [], 'complaints')
