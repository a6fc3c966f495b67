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
    choose(browser, 'latency_mode', 'low')
    wait('the setting', lambda: house.ask('button', id='kitchen')['latency_mode'] == 'low')
    browser.click(browser.button('Forget…'))
    browser.find('.sure', 'Forget kitchen?')
    browser.click(browser.button('Keep it'))
    assert len(house.ask('buttons')) >= 4
    house.ask('button/rename', id='kitchen', to='')


def test_a_refused_setting_is_not_shown_as_chosen(house: House, browser: Browser) -> None:
    browser.open(house)
    browser.click(browser.button('More about hall'))
    before = browser.find('#option-trigger_mode').get_property('value')
    assert before != 'click'
    choose(browser, 'trigger_mode', 'click')
    # A rule needs more than clicks of this button.
    assert 'hall_dim uses hold' in browser.find('dialog .message', 'is not changed').text
    assert browser.find('#option-trigger_mode').get_property('value') == before


def choose(browser: Browser, option: str, value: str) -> None:
    browser.run('''const select = document.querySelector(`#option-${arguments[0]}`);
        select.focus(); select.value = arguments[1]; select.dispatchEvent(new Event("change"));''', option, value)


def test_a_mode_that_the_rules_fix_is_the_only_one_offered(house: House, browser: Browser, rules: None) -> None:
    fixed = 'click_and_double_click'
    house.rules.write_text(house.rules.read_text().replace(
        'kitchen: {address: "80:E4:DA:00:00:01"}', f'kitchen: {{address: "80:E4:DA:00:00:01", trigger_mode: {fixed}}}'))
    house.ask('rules/reload')
    browser.open(house)
    browser.click(browser.button('More about kitchen'))
    select = browser.find('#option-trigger_mode')
    assert browser.run('return [...arguments[0].options].map((option) => option.value)', select) == [fixed]
    browser.find('.settings', 'the rules fix this one')


def test_happening_tells_why_each_rule_ran_or_did_not(house: House, browser: Browser) -> None:
    house.ask('rules/disable', id='hall_light')
    browser.open(house)
    house.press('hall', 'click')
    browser.click(browser.find('.happenings button', 'hall_light stopped: disabled'))
    browser.find('.detail', 'disabled at run time')
    browser.find('.detail .why', 'hall_light')
    house.ask('rules/enable', id='hall_light')
