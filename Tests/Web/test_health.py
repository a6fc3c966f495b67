"""The page Health."""
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
