"""The page Timeline."""
from selenium.webdriver import ActionChains, Keys

from browser import Browser
from house import House

# How many pixels of the canvas have about the colour of presses.
PRESS_PIXELS = '''
    const canvas = document.querySelector("canvas");
    const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 0; i < data.length; i += 4) count += data[i] > 200 && data[i + 1] < 110 && data[i + 2] < 60 && data[i + 3] > 200;
    return count;
'''

# Where the last mark of the first lane is, from the middle of the canvas.
MARK_PLACE = '''
    const canvas = document.querySelector("canvas");
    const row = 26 + 18;
    const {data} = canvas.getContext("2d").getImageData(0, row, canvas.width, 1);
    for (let x = canvas.width - 1; x > 0; x -= 1) {
        const i = 4 * x;
        if (data[i] > 200 && data[i + 1] < 110 && data[i + 2] < 60) {
            return [Math.round(x - 3 - canvas.width / 2), Math.round(row - canvas.height / 2)];
        }
    }
    return null;
'''


def test_press_of_a_button_is_drawn(house: House, browser: Browser) -> None:
    browser.open(house, 'timeline')
    browser.find('canvas')
    browser.until('the drawing', lambda: browser.run('return document.querySelector("canvas").width') > 300)
    assert browser.run(PRESS_PIXELS) == 0
    house.press('kitchen', 'click')
    browser.find('.happenings button', 'kitchen')
    browser.until('a mark', lambda: browser.run(PRESS_PIXELS) > 40)


def test_it_can_be_held_still_zoomed_and_gone_on_with(house: House, browser: Browser) -> None:
    browser.open(house, 'timeline')
    browser.find('.range', 'the last 1 min')
    browser.click(browser.button('Show less time'))
    browser.find('.range', 'the last 30 s')
    browser.click(browser.button('Hold still'))
    held = browser.find('.range', '–').text
    house.press('hall', 'click')
    browser.find('.happenings button', 'hall')
    assert browser.find('.range').text == held
    browser.click(browser.button('Back'))
    assert browser.find('.range').text != held
    browser.click(browser.button('Go on'))
    browser.find('.range', 'the last 30 s')


def test_keys_move_and_zoom_it(house: House, browser: Browser) -> None:
    browser.open(house, 'timeline')
    track = browser.find('.track')
    track.send_keys('+')
    browser.find('.range', 'the last 30 s')
    track.send_keys(Keys.ARROW_LEFT)
    browser.find('.range', '–')
    track.send_keys(Keys.END)
    browser.find('.range', 'the last 30 s')


def test_mark_that_is_clicked_shows_the_run(house: House, browser: Browser) -> None:
    browser.open(house, 'timeline')
    house.press('kitchen', 'double_click')
    browser.click(browser.find('.happenings button', 'kitchen_evening'))
    detail = browser.find('.detail', 'exit 0')
    assert 'evening scene at' in detail.text
    browser.click(browser.button('Close'))
    browser.click(browser.button('Hold still'))
    browser.find('.range', '–')
    # The last mark of the kitchen, in the first lane below the axis.
    left, top = browser.until('the mark to stand still', lambda: still(browser))
    ActionChains(browser.driver).move_to_element_with_offset(browser.find('canvas'), left, top).click().perform()
    browser.find('.detail h2', 'kitchen: double click')


def still(browser: Browser) -> list[int] | None:
    """Where the mark is, if it is there again two frames later."""
    place = browser.run(MARK_PLACE)
    browser.driver.execute_async_script(
        'const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));')
    return place if place == browser.run(MARK_PLACE) else None


def test_it_goes_back_in_the_history(house: House, browser: Browser) -> None:
    browser.open(house, 'timeline')
    house.press('sofa', 'small_click')
    browser.find('.happenings button', 'click, small button')
    browser.until('the history', lambda: 'small' in browser.call(
        'GET', 'api/history?from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z')['body'])
    browser.driver.refresh()
    browser.find('.hint', 'Press a button')
    browser.click(browser.button('Back'))
    browser.find('.happenings button', 'click, small button')
