"""Removing a button removes its device."""
from broker import retained
from house import DESK, KITCHEN, SOFA, House
from points.point import point
from tape import Failure, equal

EXPECTED = (
    'Disconnected from MQTT server', 'Error returned from MQTT server: The connection was lost.',
    # Home Assistant clears the config topic again for each removed entity, and receives these messages itself.
    'No device components to cleanup',
)


@point('removed: nothing is retained about any of them, and nothing is in the registries, disabled entities included')
async def removed(house: House) -> None:
    for button in (KITCHEN, SOFA, DESK):
        if not await house.entities(button):
            raise Failure(f'Home Assistant does not know {button.name}, so this would show nothing')
        mark = house.heard.tape.mark
        house.heard.publish('tryck/bridge/request/button/remove', f'{{"id":"{button.id}"}}')
        await house.heard.wait(house.config_topic(button), since=mark, payload='')
        await house.settled()
        left = [topic for topic in await retained(house.broker.port) if button.id in topic]
        equal(left, [], 'retained topics')
        equal(list(await house.entities(button)), [], 'entities')
        equal(await house.home.devices(house.node(button)), [], 'devices')
    await house.home.until_state(await house.bridge_entity('buttons'), '0')


@point('in all this time Home Assistant has complained about nothing but the broker that was gone')
async def silence(house: House) -> None:
    complaints = [line for line in house.home.complaints if not any(expected in line for expected in EXPECTED)]
    equal(complaints, [], 'complaints')
