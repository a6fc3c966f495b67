"""The page Health."""
import json
import signal
import sqlite3
from contextlib import closing

from browser import Browser
from house import House


def test_all_is_well(house: House, browser: Browser) -> None:
    browser.open(house, 'health')
    browser.find('.findings .ok', 'connected to mqtt://127.0.0.1')
    browser.find('table', 'kitchen')


def test_lost_broker_is_a_finding_with_a_command(house: House, browser: Browser) -> None:
    browser.open(house, 'health')
    house.broker.end()
    finding = browser.find('.findings .problem', 'broker')
    assert 'tryck doctor' in finding.text
    # A screen reader does not see the colour of the sign.
    assert finding.get_property('textContent').removeprefix('✗').startswith('problem: ')
    # Over plain HTTP a browser has no clipboard, and nothing is copied.
    browser.run('Object.defineProperty(navigator, "clipboard", {value: undefined, configurable: true})')
    command = browser.find('.findings .problem code').text
    browser.click(browser.find('.findings .problem button', 'Copy'))
    browser.find('.findings .problem .mend', 'press Ctrl+C')
    assert browser.run('return getSelection().toString()') == command
    house.broker = house._start_broker()
    browser.gone('.findings .problem')


def test_report_has_no_rules_and_no_keys(house: House, browser: Browser) -> None:
    browser.open(house, 'health')
    browser.run('''window.reports = []; const original = URL.createObjectURL;
        URL.createObjectURL = (blob) => { window.reports.push(blob); return original.call(URL, blob); };''')
    browser.click(browser.button('Download a report'))
    report = browser.driver.execute_async_script('window.reports[0].text().then(arguments[0])')
    assert '"kitchen"' in report and '"status"' in report
    assert 'pairing_key' not in report and 'open sesame' not in report


def test_the_files_are_looked_at(house: House, browser: Browser) -> None:
    browser.open(house, 'health')
    browser.find('.findings .ok', 'clock')
    rules = house.rules.read_text()
    house.rules.write_text('version: 1\nrules:\n  - button: kitchen\n')
    browser.click(browser.button('Look again'))
    finding = browser.find('.findings .problem', 'home.yaml has')
    assert 'tryck check' in finding.text
    house.rules.write_text(rules)
    browser.click(browser.button('Look again'))
    browser.gone('.findings .problem')


def test_a_battery_is_shown_over_time(house: House, browser: Browser) -> None:
    # After a kill, the buttons keep their connections and are ready soon.
    house.daemon.end(signal.SIGKILL)
    with closing(sqlite3.connect(house.directory / 'state' / 'tryck.sqlite')) as store, store:
        # Week 2890 begins on 2025-05-22.
        store.execute('UPDATE buttons SET battery_weeks = ? WHERE serial = ?', (
            json.dumps({str(2890 + week): 3050 - 4 * week for week in range(0, 75, 3)}), 'BA00-K00001'))
    house.start_daemon()
    house.wait_ready()
    browser.open(house, 'health')
    row = browser.find('tbody tr:has(.trend)', 'kitchen')
    assert '3.05 V in May 2025' in row.text
