"""A dial and a lamp."""
import automations
import yaml
from bridge import PROJECT
from house import DESK, SOFA, House
from points.duo import plays
from points.point import point
from points.twist import CLICKED, CLOCKWISE, COUNTER_CLOCKWISE, EVENT, does
from tape import equal

LAMP = 'light.desk_lamp'
DIMMER = PROJECT / 'deploy/homeassistant/blueprints/automation/tryck/dimmer.yaml'


class Blueprint(yaml.SafeLoader):
    """Reads `!input NAME` as the name."""


Blueprint.add_constructor('!input', lambda loader, node: loader.construct_scalar(node))


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
    device = await home.device(house.node(DESK))
    await home.add_automation('dimmer', automations.from_dimmer(device['id'], LAMP))
    await home.until_state('automation.dimmer', 'on')
    await home.call('light.turn_on', LAMP, brightness_pct=50)
    await home.until_attribute(LAMP, 'brightness', 128)
    await does(house, 'turn_40', CLOCKWISE, parts=('dial',))
    await home.until_attribute(LAMP, 'brightness', 179)
    # A turn while it is pressed selects a slot, and the short press in it is a click.
    await does(house, 'push_turn_1', CLOCKWISE, CLICKED, parts=('push', ''))
    await home.until_state(LAMP, 'off')
    await does(house, 'click', CLICKED)
    await home.until_state(LAMP, 'on')
    await home.remove_automation('dimmer')


@point('the blueprint for a dial offers the dials of Tryck, and nothing else')
async def offered(house: House) -> None:
    wanted = {device['id'] for device in [await house.home.device(house.node(button)) for button in (SOFA, DESK)]}
    filters = yaml.load(DIMMER.read_text(), Loader=Blueprint)['blueprint']['input']['button']['selector']['device']['filter']
    # Home Assistant's picker shows the devices that match one of the filters.
    shown = [
        device['id'] for device in await house.home.ask('config/device_registry/list') if any(
            all(device[key] == value for key, value in each.items() if key != 'integration') for each in filters)]
    equal(sorted(shown), sorted(wanted), 'devices of the picker')
    equal({each['integration'] for each in filters}, {'mqtt'}, 'integrations')


@point('the blueprint for a dial dims a lamp with the chosen button of a Duo')
async def small_button(house: House) -> None:
    home = house.home
    device = await home.device(house.node(SOFA))
    await home.add_automation('sofa dimmer', automations.from_dimmer(device['id'], LAMP, 'button_2'))
    await home.until_state('automation.sofa_dimmer', 'on')
    await home.call('light.turn_on', LAMP, brightness_pct=50)
    await home.until_attribute(LAMP, 'brightness', 128)
    await plays(house, 'big', 'held_turn_20')
    await plays(house, 'small', 'held_turn_20')
    # Ten percent of 255, once.
    await home.until_attribute(LAMP, 'brightness', 154)
    await plays(house, 'small', 'click')
    await home.until_state(LAMP, 'off')
    await home.remove_automation('sofa dimmer')
