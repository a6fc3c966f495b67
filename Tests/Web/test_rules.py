"""The page Rules."""
from collections.abc import Iterator

import pytest
from selenium.webdriver import ActionChains, Keys

from browser import Browser
from house import PASSWORD, House, Subscriber, wait

TYPE = '''
    const editor = document.querySelector(".CodeMirror").CodeMirror;
    editor.setValue(editor.getValue().replace(arguments[0], arguments[1]));
'''


@pytest.fixture
def editor(house: House, browser: Browser, rules: None) -> Iterator[Browser]:
    browser.open(house, 'rules')
    browser.find('.CodeMirror-line', 'kitchen_toggle')
    browser.find('.verdict', 'Without mistakes')
    yield browser
    leave(browser)


def leave(browser: Browser) -> None:
    """Leaves the page; what is not saved is given up."""
    browser.run('sessionStorage.clear()')
    browser.driver.get('about:blank')


def test_mistake_is_marked_while_one_types(editor: Browser) -> None:
    editor.run(TYPE, 'event: double_click', 'event: dubble_click')
    editor.find('.squiggle', 'dubble_click')
    editor.find('.problems button', 'double_click')
    editor.find('.verdict', 'mistake')
    editor.run(TYPE, 'event: dubble_click', 'event: double_click')
    editor.find('.verdict', 'Without mistakes')
    editor.gone('.squiggle')


def test_trigger_says_how_long_a_click_waits(editor: Browser) -> None:
    hint = 'A click of kitchen waits 500ms, because of the rule kitchen_evening.'
    for width in (1440, 768, 320):
        editor.resize(width, 800)
        # All of it is inside the field, and below the line, so that both can be read.
        editor.until(f'the hint at {width}', lambda: editor.all('.annotation', hint) and editor.run('''
            const note = [...document.querySelectorAll(".annotation")].find((note) => note.textContent === arguments[0]);
            const [inner, outer] = [note, document.querySelector(".field")].map((element) => element.getBoundingClientRect());
            return inner.left >= outer.left && inner.right <= outer.right && note.scrollWidth <= note.clientWidth
                && note.closest(".CodeMirror-linewidget") !== null;''', hint))


def test_a_file_that_cannot_be_written_says_why(house: House, browser: Browser) -> None:
    house.rules.chmod(0o444)
    try:
        browser.open(house, 'rules')
        notice = browser.find('.editor .notice', 'home.yaml can only be read here:')
        assert 'chmod u+w permits changes' in notice.text
        browser.find('.field.read-only')
        assert not [button for button in browser.all('.editor .tools button') if button.text == 'Save']
    finally:
        house.rules.chmod(0o644)
        leave(browser)


def test_without_a_rule_file_the_page_says_so(house: House, browser: Browser) -> None:
    kept = house.rules.with_suffix('.kept')
    house.rules.rename(kept)
    try:
        browser.open(house, 'rules')
        browser.find('.editor .verdict', 'There is no rule file yet.')
        assert not browser.all('.editor .field, .editor .tools button')
    finally:
        kept.rename(house.rules)
        house.ask('rules/reload')


def test_what_was_typed_survives_a_reload_and_the_end_of_the_session(house: House, editor: Browser) -> None:
    editor.run(TYPE, 'id: kitchen_toggle', 'id: kitchen_draft')
    editor.driver.delete_all_cookies()
    editor.click(editor.button('Run the tests'))
    editor.find('#password').send_keys(PASSWORD + '\n')
    editor.find('.editor .notice', 'This is what you typed in home.yaml and did not save.')
    editor.find('.CodeMirror-line', 'kitchen_draft')
    editor.click(editor.button('Save'))
    editor.find('.output', 'home.yaml is saved.')
    editor.gone('.notice')
    assert 'id: kitchen_draft' in house.rules.read_text()


def test_changes_can_be_undone_after_another_page(editor: Browser) -> None:
    editor.run(TYPE, 'id: kitchen_toggle', 'id: kitchen_draft')
    editor.run('location.hash = "now"')
    editor.find('.cards')
    # The files are loaded again, and the text is checked after that.
    loaded = 'return performance.getEntriesByType("resource").filter(({name}) => name.endsWith("api/rules/hints")).length'
    before = editor.run(loaded)
    editor.run('location.hash = "rules"')
    editor.until('the files', lambda: editor.run(loaded) > before)
    editor.find('.CodeMirror-line', 'kitchen_draft')
    editor.run('document.querySelector(".CodeMirror").CodeMirror.undo()')
    editor.find('.CodeMirror-line', 'kitchen_toggle')


def test_a_mistake_behind_an_emoji_is_marked_where_it_is(editor: Browser) -> None:
    editor.run(TYPE, 'rules:\n', 'rules:\n  - {id: smile, alias: "😀😀", triggers: {button: kitchen, event: trippel}, actions: {log: x}}\n')
    editor.until('the mark', lambda: 'trippel' in [mark.text for mark in editor.all('.squiggle')])


def test_words_are_completed(editor: Browser) -> None:
    editor.run('''const editor = document.querySelector(".CodeMirror").CodeMirror; editor.focus();
        const line = editor.getValue().split("\\n").findIndex((text) => text.includes("event: double_click"));
        editor.setCursor({line, ch: editor.getLine(line).indexOf("double_click") + 2});
''')
    ActionChains(editor.driver).key_down(Keys.CONTROL).send_keys(Keys.SPACE).key_up(Keys.CONTROL).perform()
    editor.find('.CodeMirror-hint', 'double_click')
    ActionChains(editor.driver).send_keys(Keys.ESCAPE).perform()


def test_tests_run_with_each_result(editor: Browser) -> None:
    editor.click(editor.button('Run the tests'))
    editor.find('.output h3', '5 tests passed')
    assert len(editor.all('.results li.good')) == 5
    editor.run(TYPE, 'json: {brightness_move: 0}}\n      - log', 'json: {brightness_move: 1}}\n      - log')
    editor.click(editor.button('Run the tests'))
    editor.find('.output h3', '1 of 5 tests failed')
    # The results are those of a text that is no more.
    editor.run(TYPE, 'id: kitchen_toggle', 'id: kitchen_lamp')
    editor.gone('.output h3')
    editor.gone('.annotation', 'failed')
    editor.find('.output', 'The text has changed since the tests were run.')


def test_saved_rules_run(house: House, editor: Browser) -> None:
    editor.run(TYPE, 'id: kitchen_toggle', 'id: kitchen_lamp')
    editor.click(editor.button('Save'))
    editor.find('.output', 'home.yaml is saved.')
    assert 'id: kitchen_lamp' in house.rules.read_text()
    wait('the new rule', lambda: any(rule['id'] == 'kitchen_lamp' for rule in house.ask('rules')))
    editor.find('.rule-list', 'kitchen_lamp')


def test_mistakes_are_saved_only_if_one_insists(house: House, editor: Browser) -> None:
    before = house.rules.read_text()
    editor.run(TYPE, 'event: double_click', 'event: dubble_click')
    editor.click(editor.button('Save'))
    anyway = editor.button('Save it anyway')
    assert house.rules.read_text() == before
    editor.click(anyway)
    editor.find('.output', 'home.yaml is saved.')
    assert 'dubble_click' in house.rules.read_text()
    assert any(rule['id'] == 'kitchen_evening' for rule in house.ask('rules'))


def test_file_that_has_changed_meanwhile_is_compared(house: House, editor: Browser) -> None:
    theirs = house.rules.read_text().replace('id: hall_dim\n', 'id: hall_darker\n')
    house.rules.write_text(theirs)
    editor.run(TYPE, 'id: kitchen_toggle', 'id: kitchen_lamp')
    editor.click(editor.button('Save'))
    editor.find('.output h3', 'home.yaml has changed meanwhile')
    assert 'kitchen_lamp' in editor.find('.diff .added', 'kitchen_lamp').text
    assert 'hall_darker' in editor.find('.diff .removed', 'hall_darker').text
    assert house.rules.read_text() == theirs
    editor.click(editor.button('Save mine over it'))
    editor.find('.output', 'home.yaml is saved.')
    assert 'id: kitchen_lamp' in house.rules.read_text()


def test_drafts_are_compared_with_the_past(house: House, editor: Browser) -> None:
    house.press('kitchen', 'click')
    editor.run(TYPE, 'zigbee2mqtt/kitchen/set', 'zigbee2mqtt/stove/set')

    def differences() -> list:
        editor.click(editor.button('Compare with the past'))
        editor.find('.output h3', 'otherwise')
        return editor.driver.find_elements('css selector', '.differ li')

    wait('the press in the history', differences)
    assert 'kitchen_toggle publishes zigbee2mqtt/kitchen/set' in editor.find('.differ .removed', 'kitchen').text
    assert 'kitchen_toggle publishes zigbee2mqtt/stove/set' in editor.find('.differ .added', 'stove').text
    editor.resize(320, 800)
    edge = editor.run('return document.querySelector(".panel.editor").getBoundingClientRect().right')
    lines = editor.run(
        'return [...document.querySelectorAll(".differ .diff > div")].map((line) => line.getBoundingClientRect().right)')
    assert lines and all(line <= edge for line in lines)


def test_rule_is_disabled_tried_and_run(house: House, editor: Browser) -> None:
    toggle = editor.driver.find_element('css selector', 'input[aria-label="sofa_music is enabled"]')
    editor.click(toggle)
    wait('the rule to be disabled', lambda: not enabled(house, 'sofa_music'))
    editor.click(toggle)
    wait('the rule to be enabled', lambda: enabled(house, 'sofa_music'))
    messages = Subscriber(house.directory, house.broker_port, 'zigbee2mqtt/#')
    editor.click(editor.button('Dry run of hall_light'))
    editor.find('.result', 'Nothing was performed.')
    editor.click(editor.button('Run hall_light once'))
    editor.find('.result', 'It ran')
    wait('the message', lambda: messages.messages)
    assert messages.messages == ['zigbee2mqtt/hall/set {"state":"TOGGLE"}']
    messages.end()


def enabled(house: House, rule: str) -> bool:
    return next(known['enabled'] for known in house.ask('rules') if known['id'] == rule)


def test_without_codemirror_a_plain_text_area_has_the_same_marks(house: House, browser: Browser, rules: None) -> None:
    browser.driver.execute_cdp_cmd('Network.enable', {})
    browser.driver.execute_cdp_cmd('Network.setBlockedURLs', {'urls': ['*codemirror*']})
    try:
        browser.open(house, 'rules')
        area = browser.find('textarea.plain')
        browser.find('.verdict', 'Without mistakes')
        browser.run('''arguments[0].value = arguments[0].value.replace("event: double_click", "event: dubble_click");
            arguments[0].dispatchEvent(new Event("input"));''', area)
        browser.find('.problems button', 'double_click')
        browser.run('sessionStorage.clear()')
        browser.driver.execute_cdp_cmd('Page.navigate', {'url': 'about:blank'})
    finally:
        browser.driver.execute_cdp_cmd('Network.setBlockedURLs', {'urls': []})
        browser.faults()
