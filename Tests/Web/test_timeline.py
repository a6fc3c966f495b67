"""The page Timeline."""
from datetime import UTC, datetime, timedelta

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
    open_without_past(house, browser)
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
    house.press('hall', 'double_click')
    browser.until('the press', lambda: 'hall: double click' in browser.run(
        'return document.querySelector("#announcements").textContent'))
    assert browser.find('.range').text == held
    # It is later than what is shown.
    await_frames(browser)
    assert not browser.all('.happenings button', 'double click')
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
    await_frames(browser)
    return place if place == browser.run(MARK_PLACE) else None


def await_frames(browser: Browser) -> None:
    """Waits until what has changed is drawn."""
    browser.driver.execute_async_script(
        'const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()));')


def test_it_goes_back_in_the_history(house: House, browser: Browser) -> None:
    browser.open(house, 'timeline')
    house.press('sofa', 'small_click')
    browser.find('.happenings button', 'click, small button')
    browser.until('the history', lambda: 'small' in browser.call(
        'GET', 'api/history?from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z')['body'])
    browser.driver.refresh()
    browser.find('.happenings button', 'click, small button')


def test_the_list_has_what_happened_in_the_time_that_is_shown(house: House, browser: Browser) -> None:
    browser.open(house, 'timeline')
    house.press('desk', 'double_click')
    row = browser.find('.happenings button', 'desk')
    assert 'double click' in row.text
    track = browser.find('.track')
    assert 'in the time that is shown' in track.get_attribute('aria-label')
    for _ in range(6):
        track.send_keys(Keys.ARROW_LEFT)
    browser.gone('.happenings button', 'desk')
    for _ in range(6):
        track.send_keys(Keys.ARROW_RIGHT)
    # By keys alone to why a rule did not run.
    row = browser.find('.happenings button', 'desk')
    row.send_keys(Keys.ENTER)
    browser.find('.detail h3', 'Why, gate by gate')


def open_without_past(house: House, browser: Browser) -> None:
    """Opens the page without the presses of earlier tests. `window.stream` is its stream."""
    script = browser.driver.execute_cdp_cmd('Page.addScriptToEvaluateOnNewDocument', {'source': '''
        const load = window.fetch;
        window.fetch = (path, ...rest) => path.startsWith("api/history") ? Promise.reject(new Error("no past")) : load(path, ...rest);
        const Original = window.EventSource;
        window.EventSource = class extends Original { constructor(...rest) { super(...rest); window.stream = this; } };'''})
    try:
        browser.open(house, 'timeline')
    finally:
        browser.driver.execute_cdp_cmd('Page.removeScriptToEvaluateOnNewDocument', {'identifier': script['identifier']})


# Gives the page lines of the stream that the daemon has not sent.
TELL = '''
    for (const line of arguments[0]) {
        window.stream.dispatchEvent(new MessageEvent("message", {data: JSON.stringify(line)}));
    }
'''

# The stretches of the colour of presses in a row of the first lane: where each begins and ends.
STRETCHES = '''
    const canvas = document.querySelector("canvas");
    const {data} = canvas.getContext("2d").getImageData(0, arguments[0], canvas.width, 1);
    const found = [];
    for (let x = 0; x < canvas.width; x += 1) {
        const isPress = data[4 * x] > 190 && data[4 * x + 1] < 150 && data[4 * x + 2] < 110 && data[4 * x + 3] > 80;
        if (isPress && found.at(-1)?.[1] === x - 1) found.at(-1)[1] = x;
        else if (isPress) found.push([x, x]);
    }
    return found;
'''


def test_a_late_press_is_dashed_with_an_arrow_to_when_it_arrived(house: House, browser: Browser) -> None:
    open_without_past(house, browser)
    kitchen = house.ask('button', id='kitchen')
    happened = datetime.now(UTC) - timedelta(seconds=25)
    line = {'kind': 'event', 'button': 'kitchen', 'id': kitchen['id'], 'queued': True, 'age_ms': 25_000}
    browser.run(TELL, [
        {**line, 'event': event, 'at': (happened + timedelta(milliseconds=after)).isoformat(timespec='milliseconds').replace('+00:00', 'Z')}
        for event, after in (('down', 0), ('up', 3000), ('click', 3000))])
    row = browser.find('.happenings button', 'stored by the button, 25 s old')
    assert 'kitchen' in row.text
    browser.click(browser.button('Hold still'))
    browser.button('Go on')
    await_frames(browser)
    browser.until('the dashes', lambda: len(browser.run(STRETCHES, 26 + 18)) > 20)
    dashes = browser.run(STRETCHES, 26 + 18)
    # A full bar or a full line would be one stretch.
    assert max(end - start for start, end in dashes) < 12
    # It ends about 22 s later, with the head of an arrow, which is as wide as the line is not.
    width = browser.run('return document.querySelector("canvas").width') - 132
    assert 18 < (dashes[-1][1] - dashes[0][0]) / width * 60 < 30
    head = browser.run(STRETCHES, 26 + 18 - 3)
    assert head and abs(head[-1][1] - dashes[-1][1]) < 8


def test_a_late_press_from_before_the_time_that_is_shown_can_be_selected(house: House, browser: Browser) -> None:
    open_without_past(house, browser)
    kitchen = house.ask('button', id='kitchen')
    happened = (datetime.now(UTC) - timedelta(minutes=5)).isoformat(timespec='milliseconds').replace('+00:00', 'Z')
    browser.run(TELL, [{
        'kind': 'event', 'button': 'kitchen', 'id': kitchen['id'], 'queued': True, 'age_ms': 300_000, 'event': 'click',
        'at': happened}])
    browser.find('.happenings button', 'stored by the button, 5 min old')
    browser.click(browser.button('Hold still'))
    await_frames(browser)
    # The head of its arrow is at the present.
    left, top = browser.until('the arrow', lambda: browser.run(MARK_PLACE))
    ActionChains(browser.driver).move_to_element_with_offset(browser.find('canvas'), left, top).click().perform()
    browser.find('.detail h2', 'kitchen: click')
