"""What a person with a small screen, a keyboard or a screen reader needs."""
from typing import Any

import pytest
from axe_selenium_python import Axe
from selenium.webdriver import ActionChains, Keys

from browser import Browser
from house import House, wait

PAGES = ('now', 'timeline', 'rules', 'pair', 'health')


@pytest.mark.parametrize('dark', [False, True], ids=['light', 'dark'])
@pytest.mark.parametrize('page', PAGES)
def test_axe_finds_nothing(house: House, browser: Browser, page: str, dark: bool) -> None:
    browser.resize(1280, 900, dark=dark, reduced_motion=True)
    browser.open(house, page)
    prepare(house, browser, page)
    assert violations(browser) == []


def prepare(house: House, browser: Browser, page: str) -> None:
    """Shows what is not there at first."""
    match page:
        case 'now':
            house.press('kitchen', 'click')
            browser.click(browser.find('.happenings button'))
            browser.find('.detail .why')
        case 'rules':
            browser.find('.verdict', 'Without mistakes')
            browser.click(browser.button('Run the tests'))
            browser.find('.results')


def violations(browser: Browser) -> list[Any]:
    axe = Axe(browser.driver)
    axe.inject()
    # The field of CodeMirror is its own; that it has a name is tested below.
    found = axe.run({'exclude': [['.CodeMirror']]})['violations']
    return [(rule['id'], [node['html'][:120] for node in rule['nodes']][:3]) for rule in found]


def test_axe_finds_nothing_on_the_dialog_and_the_sign_in(house: House, browser: Browser) -> None:
    browser.resize(1280, 900, reduced_motion=True)
    browser.open(house)
    browser.click(browser.button('More about kitchen'))
    browser.find('dialog #button-name')
    assert violations(browser) == []
    browser.driver.delete_all_cookies()
    browser.driver.get('about:blank')
    browser.driver.get(house.address)
    browser.find('#password')
    assert violations(browser) == []


@pytest.mark.parametrize('page', PAGES)
def test_320_pixels_are_enough(house: House, browser: Browser, page: str) -> None:
    browser.resize(320, 640)
    browser.open(house, page)
    prepare(house, browser, page)
    assert browser.run('return document.documentElement.scrollWidth') <= 320
    assert outside(browser, 'body') == []


def outside(browser: Browser, frame: str) -> list[str]:
    """What can be used, but is not wholly within a frame."""
    return browser.run('''const frame = document.querySelector(arguments[0]).getBoundingClientRect();
    return [...document.querySelectorAll(`${arguments[0]} :is(button, a, input, select)`)].filter((element) => {
        const {left, right, width} = element.getBoundingClientRect();
        return width > 0 && !element.closest(".CodeMirror, .skip, .tabs, .scroll, .diff")
            && (left < frame.left || right > frame.right + 1);
    }).map((element) => element.outerHTML.slice(0, 90))''', frame)


@pytest.mark.parametrize('width', [320, 360])
def test_the_dialog_of_a_button_fits_a_phone(house: House, browser: Browser, width: int) -> None:
    browser.resize(width, 640)
    browser.open(house)
    browser.click(browser.button('More about desk'))
    browser.find('dialog #option-led_mode')
    browser.run('document.querySelector("dialog details").open = true')
    browser.click(browser.button('Forget…'))
    assert browser.run('const {scrollWidth, clientWidth} = document.querySelector("dialog"); return scrollWidth - clientWidth') == 0
    assert outside(browser, 'dialog') == []


def test_nothing_covers_the_navigation(house: House, browser: Browser) -> None:
    """The navigation lies over whatever of a page is below it."""
    browser.resize(800, 640)
    browser.open(house, 'rules')
    browser.find('.verdict', 'Without mistakes')
    covered = browser.run('''
        const nav = document.querySelector("nav");
        const field = document.querySelector(".field");
        scrollTo(0, scrollY + field.getBoundingClientRect().top - nav.getBoundingClientRect().top + 60);
        const {left, right, top, bottom} = nav.getBoundingClientRect();
        const found = [];
        for (let x = left + 2; x < right; x += 4) {
            const element = document.elementFromPoint(x, (top + bottom) / 2);
            if (!nav.contains(element)) found.push(`${Math.round(x)}: ${element.className}`);
        }
        return found;''')
    assert covered == []


def test_keyboard_alone_is_enough(house: House, browser: Browser) -> None:
    """Goes from the beginning of the page to a button, presses it, opens its details and closes them."""
    browser.open(house)
    keys = ActionChains(browser.driver)

    def tab_to(name: str) -> None:
        for _ in range(60):
            ActionChains(browser.driver).send_keys(Keys.TAB).perform()
            if browser.driver.switch_to.active_element.accessible_name == name:
                return
        raise AssertionError(f'the tabulator key does not reach {name}')

    tab_to('Now')
    tab_to('kitchen')
    clicks = house.ask('button', id='kitchen')['press_count']
    keys.send_keys(Keys.SPACE).perform()
    wait('the click', lambda: house.ask('button', id='kitchen')['press_count'] == clicks + 1)
    tab_to('More about kitchen')
    ActionChains(browser.driver).send_keys(Keys.ENTER).perform()
    browser.find('dialog #button-name')
    ActionChains(browser.driver).send_keys(Keys.ESCAPE).perform()
    browser.gone('dialog')
    assert browser.driver.switch_to.active_element.accessible_name == 'More about kitchen'


def test_tabulator_leaves_the_editor(house: House, browser: Browser) -> None:
    browser.open(house, 'rules')
    browser.find('.verdict', 'Without mistakes')
    field = browser.driver.find_element('css selector', '.CodeMirror textarea')
    assert field.accessible_name == 'Text of the rules'
    text = browser.run('return document.querySelector(".CodeMirror").CodeMirror.getValue()')
    browser.run('arguments[0].focus()', field)
    ActionChains(browser.driver).send_keys(Keys.TAB).perform()
    assert browser.run('return document.activeElement.closest(".CodeMirror") === null')
    assert browser.run('return document.querySelector(".CodeMirror").CodeMirror.getValue()') == text


def test_motion_stops_where_the_system_asks(house: House, browser: Browser) -> None:
    browser.resize(1280, 900, reduced_motion=True)
    browser.open(house, 'pair')
    browser.click(browser.find('.guide button.primary'))
    browser.find('.stages [aria-current]', 'Hold it for 7 seconds')
    assert browser.run('return document.getAnimations().length') == 0
    house.ask('permit_join', time=0)
