"""The page Now."""
from selenium.webdriver import ActionChains, Keys

from browser import Browser
from house import House, Subscriber, wait


def test_press_on_the_page_reaches_the_broker(house: House, browser: Browser) -> None:
    messages = Subscriber(house.directory, house.broker_port, 'zigbee2mqtt/#')
    browser.open(house)
    ActionChains(browser.driver).click(browser.button('kitchen')).perform()
    wait('the message of the rule', lambda: 'zigbee2mqtt/kitchen/set {"state":"TOGGLE"}' in messages.messages)
    messages.end()
    browser.find('.card:nth-child(1) .last', 'click')


def test_drawing_is_down_while_the_button_is_held(house: House, browser: Browser) -> None:
    browser.open(house)
    house.press('hall', 'down')
    browser.find('.card:nth-child(2) .cap.down')
    house.press('hall', 'up')
    browser.gone('.card:nth-child(2) .cap.down')


def test_pointer_goes_down_and_up_on_its_own(house: House, browser: Browser) -> None:
    browser.open(house)
    ActionChains(browser.driver).click_and_hold(browser.button('hall')).perform()
    browser.find('.card:nth-child(2) .last', 'hold')
    browser.find('.card:nth-child(2) .cap.down')
    ActionChains(browser.driver).release().perform()
    browser.find('.card:nth-child(2) .last', 'hold release')


def test_keyboard_presses_a_button(house: House, browser: Browser) -> None:
    browser.open(house)
    browser.button('sofa, small button').send_keys(Keys.SPACE)
    browser.find('.card:nth-child(3)', 'click, small button')


def test_lights_of_a_twist_follow_its_position(house: House, browser: Browser) -> None:
    house.ask('button/options', id='desk', options={'positions': {'slot_1': 0}})
    browser.open(house)
    house.press('desk', 'turn_50')
    browser.find('.card:nth-child(4) .last', 'turned right by 50, to 50')
    house.press('desk', 'turn_-25')
    browser.find('.card:nth-child(4) .last', 'turned left by 25, to 25')
    assert len(browser.all('.card:nth-child(4) .light.lit')) == 3


def test_presses_are_announced(house: House, browser: Browser) -> None:
    browser.open(house)
    house.press('kitchen', 'double_click')
    browser.until('an announcement', lambda: 'kitchen: double click.' in browser.run(
        'return document.querySelector("#announcements").textContent'))


def test_button_is_renamed_found_and_its_settings_change(house: House, browser: Browser) -> None:
    browser.open(house)
    browser.click(browser.button('More about kitchen'))
    name = browser.find('#button-name')
    name.clear()
    name.send_keys('cooker\n')
    browser.find('dialog .message', 'cooker')
    browser.click(browser.button('Find it'))
    browser.find('dialog .message', 'It does not blink: the light of a Flic 2 cannot be controlled')
    house.press('hall', 'click')
    browser.find('dialog .message', 'That was hall, not this one.')
    house.press('kitchen', 'click')
    browser.find('dialog .message', 'That was it')
    browser.run('''const select = document.querySelector("#option-latency_mode");
        select.value = "low"; select.dispatchEvent(new Event("change"));''')
    wait('the setting', lambda: house.ask('button', id='kitchen')['latency_mode'] == 'low')
    browser.click(browser.button('Forget…'))
    browser.find('.sure', 'Forget kitchen?')
    browser.click(browser.button('Keep it'))
    assert len(house.ask('buttons')) >= 4
    house.ask('button/rename', id='kitchen', to='')


def test_happening_tells_why_each_rule_ran_or_did_not(house: House, browser: Browser) -> None:
    house.ask('rules/disable', id='hall_light')
    browser.open(house)
    house.press('hall', 'click')
    browser.click(browser.find('.happenings button', 'hall_light stopped: disabled'))
    browser.find('.detail', 'disabled at run time')
    browser.find('.detail .why', 'hall_light')
    house.ask('rules/enable', id='hall_light')
