"""The page Pair."""
from browser import Browser
from house import House, wait


def test_button_is_paired_and_named(house: House, browser: Browser) -> None:
    browser.open(house, 'pair')
    browser.find('.lead', 'paired once')
    browser.click(browser.button('Start'))
    browser.find('.stages [aria-current]', 'Hold it for 7 seconds')
    browser.click(browser.button('Hold porch'))
    browser.gone('button', 'Hold porch')
    paired = browser.find('.paired li', 'Paired')
    assert 'Flic 2, BA00-P00005' in paired.text
    name = browser.find('.paired input')
    # Whoever has paired it names it next, also on a phone, which shows the field only below.
    browser.until('the focus', lambda: browser.run('return document.activeElement === arguments[0]', name))
    name.clear()
    name.send_keys('front door\n')
    browser.find('.paired .message', 'front door')
    assert any(button['name'] == 'front door' for button in house.ask('buttons'))
    name.clear()
    name.send_keys('\n')
    browser.find('.paired .message', 'The name is removed.')
    long = 'm' * 64
    name.send_keys(f'{long}\n')
    browser.find('.paired .message', long)
    browser.resize(320, 640)
    assert browser.run('return document.documentElement.scrollWidth') <= 320
    browser.resize(1280, 900)
    name.clear()
    name.send_keys('front door\n')
    browser.find('.paired .message', 'front door')
    browser.find('.stages [aria-current]', 'Name it')
    if browser.all('.guide .tools button:not(.primary)'):
        browser.click(browser.button('Stop'))
    house.ask('button/remove', id='front door')
    wait('the button to be gone', lambda: all(button['name'] != 'front door' for button in house.ask('buttons')))


def test_search_is_stopped(house: House, browser: Browser) -> None:
    browser.open(house, 'pair')
    browser.click(browser.find('.guide button.primary'))
    browser.click(browser.button('Stop'))
    wait('the search to end', lambda: not house.ask('status')['permit_join'])
    browser.gone('.guide .tools button', 'Stop')
