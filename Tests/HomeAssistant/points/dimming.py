"""A dial and a lamp."""
import automations
from house import House
from points.point import point
from points.twist import CLICKED, CLOCKWISE, COUNTER_CLOCKWISE, EVENT, does

LAMP = 'light.desk_lamp'


@point('turning the dial dims a lamp by an automation as in the documentation, and pressing it does not')
async def dims(house: House) -> None:
    home = house.home
    await home.add_automation('dimming', automations.dimming('dimmed', EVENT, LAMP))
    await home.until_state('automation.dimming', 'on')
    await home.call('light.turn_on', LAMP, brightness_pct=50)
    await home.until_attribute(LAMP, 'brightness', 128)
    for press, words, brightness in (('turn_20', CLOCKWISE, 179), ('turn_-40', COUNTER_CLOCKWISE, 77)):
        await does(house, press, words, parts=('dial',), also=('dimmed',))
        await home.until_attribute(LAMP, 'brightness', brightness)
    await does(house, 'push_turn_1', CLOCKWISE, CLICKED, parts=('push', ''))
    await home.until_attribute(LAMP, 'brightness', 77)
    await does(house, 'turn_-60', COUNTER_CLOCKWISE, parts=('dial',), also=('dimmed',))
    await home.until_state(LAMP, 'off')
    await home.remove_automation('dimming')


@point('the blueprint for a dial dims a lamp at the chosen speed, and a click toggles the lamp')
async def blueprint(house: House) -> None:
    home = house.home
    await home.add_automation('dimmer', automations.from_dimmer(EVENT, LAMP))
    await home.until_state('automation.dimmer', 'on')
    await home.call('light.turn_on', LAMP, brightness_pct=50)
    await home.until_attribute(LAMP, 'brightness', 128)
    await does(house, 'turn_40', CLOCKWISE, parts=('dial',))
    await home.until_attribute(LAMP, 'brightness', 179)
    await does(house, 'click', CLICKED)
    await home.until_state(LAMP, 'off')
    await home.remove_automation('dimmer')
