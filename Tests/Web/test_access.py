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
            browser.click(browser.find('.happenings button', 'kitchen_toggle'))
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


def use(browser: Browser, name: str) -> None:
    """Presses a button with the keyboard."""
    browser.run('arguments[0].focus()', browser.button(name))
    ActionChains(browser.driver).send_keys(Keys.ENTER).perform()


def focused(browser: Browser) -> str:
    return browser.driver.switch_to.active_element.accessible_name


def test_focus_returns_to_the_happening_that_was_looked_at(house: House, browser: Browser) -> None:
    browser.open(house)
    house.press('kitchen', 'click')
    row = browser.find('.happenings button', 'kitchen')
    browser.run('arguments[0].focus()', row)
    ActionChains(browser.driver).send_keys(Keys.ENTER).perform()
    assert browser.driver.switch_to.active_element == browser.find('.detail h2', 'kitchen: click')
    use(browser, 'Close')
    browser.gone('.detail')
    assert browser.driver.switch_to.active_element == row


def test_focus_stays_in_the_dialog_of_a_button(house: House, browser: Browser) -> None:
    browser.open(house)
    browser.click(browser.button('More about hall'))
    use(browser, 'Forget…')
    browser.until('the safe answer', lambda: focused(browser) == 'Keep it')
    use(browser, 'Keep it')
    browser.gone('.sure')
    assert focused(browser) == 'Forget…'
    use(browser, 'Switch off here')
    browser.button('Switch on')
    assert focused(browser) == 'Switch on'
    use(browser, 'Switch on')
    browser.button('Switch off here')
    assert focused(browser) == 'Switch off here'
    house.wait_ready()


def test_what_changes_while_a_setting_has_the_focus_is_shown_afterwards(house: House, browser: Browser) -> None:
    browser.open(house)
    browser.click(browser.button('More about hall'))
    browser.run('arguments[0].focus()', browser.find('#option-trigger_mode'))
    house.ask('button/disconnect', id='hall')
    # Later than the line about the button, whose state is then known to the page.
    house.press('kitchen', 'double_click')
    browser.until('the announcement', lambda: 'kitchen: double click.' in browser.run(
        'return document.querySelector("#announcements").textContent'))
    browser.run('document.querySelector("#button-name").focus()')
    house.press('kitchen', 'double_click')
    browser.button('Switch on')
    house.ask('button/connect', id='hall')
    browser.button('Switch off here')
    house.wait_ready()


def test_a_button_that_does_nothing_now_keeps_the_focus(house: House, browser: Browser) -> None:
    browser.open(house, 'pair')
    start = browser.find('.guide button.primary')
    use(browser, start.accessible_name)
    stop = browser.find('.guide button', 'Stop')
    browser.until('the button to do nothing', lambda: start.get_attribute('aria-disabled') == 'true')
    assert browser.driver.switch_to.active_element == start
    ActionChains(browser.driver).send_keys(Keys.TAB).perform()
    assert browser.driver.switch_to.active_element == stop
    ActionChains(browser.driver).send_keys(Keys.ENTER).perform()
    browser.gone('.guide button', 'Stop')
    assert browser.driver.switch_to.active_element == start
    wait('the search to end', lambda: not house.ask('status')['permit_join'])


def test_looking_again_keeps_the_focus(house: House, browser: Browser) -> None:
    browser.open(house, 'health')
    use(browser, 'Look again')
    browser.find('button', 'Look again')
    assert focused(browser) == 'Look again'


def test_saving_keeps_the_focus(house: House, browser: Browser, rules: None) -> None:
    browser.open(house, 'rules')
    browser.find('.verdict', 'Without mistakes')
    save = browser.button('Save')
    assert save.get_attribute('aria-disabled') == 'true'
    browser.run('''const editor = document.querySelector(".CodeMirror").CodeMirror;
        editor.setValue(editor.getValue() + "# one more line\\n");''')
    browser.until('something to save', lambda: save.get_attribute('aria-disabled') is None)
    use(browser, 'Save')
    browser.find('.output', 'home.yaml is saved.')
    browser.until('nothing to save', lambda: save.get_attribute('aria-disabled') == 'true')
    assert browser.driver.switch_to.active_element == save


def test_the_text_of_a_file_is_named_after_it_even_with_a_space(house: House, browser: Browser, rules: None) -> None:
    other = house.rules.parent / 'my rooms.yaml'
    other.write_text('variables: {rooms: 3}\n')
    house.rules.write_text(house.rules.read_text().replace('version: 1\n', 'version: 1\ninclude: my rooms.yaml\n', 1))
    browser.open(house, 'rules')
    browser.click(browser.find('[role=tab]', 'my rooms.yaml'))
    assert browser.driver.find_element('css selector', '#rule-field').accessible_name == 'my rooms.yaml'
    other.unlink()


def test_texts_of_rules_are_never_markup(house: House, browser: Browser, rules: None) -> None:
    markup = '<img src=x onerror="document.title=1">'
    house.rules.write_text(house.rules.read_text().replace('\nrules:\n', f'''
rules:
  - id: marked
    alias: '{markup}'
    triggers: {{button: hall, event: hold}}
    actions: {{publish: {{topic: a/b, payload: '{markup}'}}}}
''', 1))
    house.ask('rules/reload')
    browser.open(house)
    house.press('hall', 'hold')
    browser.click(browser.find('.happenings button', 'marked'))
    browser.find('.detail code', f'a/b {markup}')
    browser.driver.get(f'{house.address}#rules')
    browser.find('.rule-list', markup)
    assert browser.run('return document.querySelectorAll("main img, body > img").length') == 0


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


@pytest.mark.parametrize('page', ['now', 'timeline', 'rules', 'pair', 'health'])
def test_320_pixels_are_enough_for_names_of_64_letters(house: House, browser: Browser, rules: None, page: str) -> None:
    name = 'w' * 64
    house.rules.write_text(house.rules.read_text().replace(
        'id: kitchen_toggle', f'id: kitchen_toggle\n    alias: {name}').replace('id: hall_dim\n', f'id: {name}\n').replace(
        '  desk:', f'  {name}:').replace('button: desk', f'button: {name}'))
    house.ask('rules/reload')
    wait('the name', lambda: any(button['name'] == name for button in house.ask('buttons')))
    browser.resize(320, 640)
    browser.open(house, page)
    house.press('desk', 'click')
    house.press('kitchen', 'click')
    if page in ('now', 'timeline'):
        browser.click(browser.find('.happenings button', name))
        browser.find('.detail h2', name)
    if page == 'rules':
        browser.find('.rule-list', name)
        browser.find('.CodeMirror-line')
        row = browser.find('.rule-list .link', name)
        # The name is beside its switch.
        assert browser.run('''const [name, toggle] = [arguments[0], arguments[0].parentElement.querySelector("input")].map(
            (element) => element.getBoundingClientRect()); return name.top < toggle.bottom && name.left >= toggle.right''', row)
    assert browser.run('return document.documentElement.scrollWidth') <= 320
    inside = '''return [...document.querySelectorAll("main .panel, main .card")].filter(
        (panel) => panel.scrollWidth > panel.clientWidth + 1).map((panel) => panel.className + " " + panel.ariaLabel)'''
    assert browser.run(inside) == []
    if page == 'health':
        table = browser.find('.scroll', name)
        assert browser.run('return arguments[0].scrollWidth - arguments[0].clientWidth', table) <= 0
