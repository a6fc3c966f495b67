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


def test_presses_before_it_was_opened_are_there(house: House, browser: Browser) -> None:
    browser.open(house)
    house.press('hall', 'double_click')
    browser.find('.card:nth-child(2) .last', 'double click')
    browser.driver.refresh()
    browser.find('.happenings button', 'double click')
    browser.find('.card:nth-child(2) .last', 'double click')


def test_a_button_that_is_held_while_the_page_is_left_is_released(house: House, browser: Browser) -> None:
    browser.open(house)
    for leave in ('location.hash = "rules"', 'location.reload()'):
        ActionChains(browser.driver).click_and_hold(browser.button('hall')).perform()
        last = browser.find('.card:nth-child(2) .last')
        browser.until('the hold', lambda: 'hold' in last.text and 'release' not in last.text)
        browser.run(leave)
        ActionChains(browser.driver).release().perform()
        browser.open(house)
        browser.find('.card:nth-child(2) .last', 'hold release')


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
    assert 'hall_light did not run: it is disabled' in browser.find('.detail .why', 'hall_light').text
    assert [gate.text for gate in browser.all('.detail .why li')] == ['enabled disabled at run time']
    # Enabled meanwhile, it has still not run for that press.
    house.ask('rules/enable', id='hall_light')
    browser.click(browser.button('Close'))
    browser.click(browser.find('.happenings button', 'hall_light stopped: disabled'))
    browser.find('.detail .why li', 'disabled at run time')
    assert 'would run' not in browser.find('.detail').text


def test_why_is_about_the_part_that_was_pressed(house: House, browser: Browser, rules: None) -> None:
    load(house, '''
  - {id: big_only, triggers: {button: sofa, event: click, part: big}, actions: {log: big}}
  - id: at_day
    triggers: {button: sofa, event: click, part: small}
    conditions: variables.day
    actions: {log: small}
''', 'variables: {day: false}\n')
    browser.open(house)
    house.press('sofa', 'small_click')
    browser.click(browser.find('.happenings button', 'at_day stopped: conditions'))
    browser.find('.detail .why li.stopped', 'variables.day is false')
    assert 'big_only' not in browser.find('.detail').text


def test_why_knows_buttons_that_the_rules_do_not_declare(house: House, browser: Browser, rules: None) -> None:
    text = house.rules.read_text()
    head, actions = text[:text.index('buttons:')], '[{delay: 1s}, {publish: {topic: home/any, payload: "1"}}]'
    house.rules.write_text(
        head + f'rules:\n  - {{id: every, triggers: {{button: any, event: double_click}}, actions: {actions}}}\n')
    house.ask('rules/reload')
    browser.open(house)
    house.press('hall', 'double_click')
    browser.click(browser.find('.happenings button', 'every'))
    assert 'every ran' in browser.find('.detail .why', 'every').text
    assert 'cannot be explained' not in browser.find('.detail').text
    # The daemon has the steps of the run.
    browser.until('the steps', lambda: browser.all('.detail .why ol li', 'delay') or reopened(browser, 'every'))


def reopened(browser: Browser, rule: str) -> None:
    browser.click(browser.button('Close'))
    browser.click(browser.find('.happenings button', rule))
    browser.find('.detail .why')


def test_steps_belong_to_the_run_that_took_them(house: House, browser: Browser, rules: None) -> None:
    load(house, '''
  - id: slow
    mode: parallel
    triggers: {button: desk, event: double_click}
    actions:
      - publish: {topic: my/lamp/action, payload: first}
      - delay: 2s
      - publish: {topic: a/second, payload: two}
  - {id: quick, triggers: {button: desk, event: hold}, actions: [{delay: 3s}, {publish: {topic: a/quick, payload: q}}]}
''')
    browser.open(house)
    house.press('desk', 'double_click')
    browser.find('.happenings button', 'slow')
    house.press('desk', 'hold')
    browser.find('.happenings button', 'quick')
    wait('the end of both', lambda: all(
        next(known['last_outcome'] for known in house.ask('rules') if known['id'] == rule) == 'completed'
        for rule in ('slow', 'quick')))
    for rule, steps in (('slow', ['my/lamp/action first', 'a/second two']), ('quick', ['a/quick q'])):
        browser.click(browser.find('.happenings button', rule))
        browser.until(rule, lambda: [step.text for step in browser.all('.detail .steps code')] == steps)
        browser.click(browser.button('Close'))


def load(house: House, more: str, head: str = '') -> None:
    """Loads the rules with others before them."""
    house.rules.write_text(house.rules.read_text().replace('\nrules:\n', f'\n{head}rules:\n{more}', 1))
    house.ask('rules/reload')
    assert house.ask('status')['rules']['state'] == 'ok', house.ask('status')['rules']
