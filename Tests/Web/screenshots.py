"""
Pictures of each page at 320, 768 and 1440 pixels in both colour schemes, to be looked at.

    Tests/Web/run --screenshots FOLDER
    Tests/Web/run --pictures             those of README.md, in docs/
"""
import os
import sys
from collections.abc import Callable
from pathlib import Path

from browser import Browser
from house import PASSWORD, PROJECT, House
from terminal import picture

WIDTHS = {320: 640, 768: 1024, 1440: 900}
PRESSES = (('kitchen', 'click'), ('sofa', 'swipe_right'), ('desk', 'turn_25'), ('hall', 'hold'), ('kitchen', 'double_click'),
           ('desk', 'turn_12'), ('sofa', 'small_click'))


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    house = House(Path(os.environ['TRYCK_PROGRAMS']))
    browser = Browser()
    try:
        house.pair()
        for width, height in WIDTHS.items():
            for dark in (False, True):
                browser.resize(width, height, dark=dark)
                name = f'{width}-{"dark" if dark else "light"}'
                pages(house, browser, lambda page: browser.screenshot(folder / f'{page}-{name}.png'))
    finally:
        browser.end()
        house.end()


def readme(folder: Path) -> None:
    """The pictures of README.md."""
    folder.mkdir(exist_ok=True)
    programs = Path(os.environ['TRYCK_PROGRAMS'])
    house = House(programs)
    browser = Browser()
    try:
        house.pair()
        # The height of the editor depends on that of the window; each picture stays below 150 KB.
        browser.resize(1100, 630)
        # Each ends below what its text in README.md promises.
        wanted = {'now': ('page-now', '.now .columns > .panel'), 'rules-mistake': ('page-rules', '.problems')}

        def take(page: str) -> None:
            if page in wanted:
                name, last = wanted[page]
                browser.run('scrollTo(0, 0)')
                bottom = browser.run('return document.querySelector(arguments[0]).getBoundingClientRect().bottom', last)
                browser.screenshot(folder / f'{name}.png', round(bottom) + 24)

        pages(house, browser, take)
        rules = PROJECT / 'rules'
        picture(
            browser,
            [str(programs / 'tryck'), 'demo', '--rules', str(rules / 'home.yaml'), '--simulator', str(rules / 'simulator.yaml'),
             '--press', 'kitchen:double_click'],
            'tryck demo --press kitchen:double_click', folder / 'demo.png')
    finally:
        browser.end()
        house.end()


def pages(house: House, browser: Browser, take: Callable[[str], None]) -> None:
    browser.open(house)
    if house.pressed:
        # The presses of the last round are shown, too.
        browser.find('.happenings li')
    for button, press in PRESSES:
        before = browser.all('.happenings li:first-child')
        house.press(button, press)
        browser.until('the press to end', lambda: ends(browser, press, before))
    house.press('kitchen', 'down')
    browser.find('.cap.down')
    take('now')
    house.press('kitchen', 'up')
    browser.click(browser.button('More about hall'))
    browser.find('dialog #button-name')
    browser.run('document.querySelector("dialog details").open = true')
    take('button')
    browser.run('document.querySelector("dialog").close()')
    go(browser, 'timeline')
    browser.click(browser.find('.happenings button', 'kitchen_evening'))
    browser.find('.detail .why')
    take('timeline')
    go(browser, 'rules')
    browser.find('.verdict', 'Without mistakes')
    browser.click(browser.button('Run the tests'))
    browser.find('.results')
    take('rules')
    browser.run('''const editor = document.querySelector(".CodeMirror").CodeMirror;
        editor.setValue(editor.getValue().replace("event: double_click", "event: dubble_click"));''')
    browser.find('.squiggle')
    browser.run('document.querySelector(".CodeMirror").CodeMirror.scrollIntoView({line: 20, ch: 0}, 150)')
    take('rules-mistake')
    browser.run('''const editor = document.querySelector(".CodeMirror").CodeMirror;
        editor.setValue(editor.getValue().replace("event: dubble_click", "event: double_click"));''')
    go(browser, 'pair')
    take('pair')
    browser.click(browser.find('.guide button.primary'))
    browser.find('.stages [aria-current]', 'Hold it')
    browser.until('the ring', lambda: browser.run(
        'return document.getAnimations().some((animation) => animation.currentTime > 2500)'))
    take('pair-hold')
    house.ask('permit_join', time=0)
    go(browser, 'health')
    browser.find('.findings .ok')
    take('health')
    browser.driver.delete_all_cookies()
    browser.driver.get('about:blank')
    browser.driver.get(house.address)
    browser.find('#password').send_keys(PASSWORD)
    take('sign-in')


def go(browser: Browser, page: str) -> None:
    browser.run(f'location.hash = "{page}"')
    browser.find(f'nav a[aria-current][href$="#{page}"]')


def ends(browser: Browser, press: str, before: list) -> bool:
    """Whether nothing is down and a gesture of that press is in the list, which began with `before` until then."""
    first = browser.all('.happenings li:first-child')
    if first == before:
        return False
    word = press.removeprefix('small_').split('_')[0].replace('turn', 'turned')
    return bool(first) and word in first[0].text and not browser.all('.cap.down') \
        and (press != 'hold' or 'release' in first[0].text)


if __name__ == '__main__':
    readme(PROJECT / 'docs') if sys.argv[1] == '--pictures' else main(Path(sys.argv[1]))
