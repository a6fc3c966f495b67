"""What the page says when the daemon or tryck-web goes away."""
import os
import signal

import pytest
from browser import Browser
from house import House


def test_daemon_goes_and_comes_back(house: House, browser: Browser) -> None:
    browser.open(house)
    house.daemon.end(signal.SIGKILL)
    banner = browser.find('#banner')
    assert banner.text
    # Nothing is said about the buttons that nobody knows now.
    assert 'ready' not in browser.find('.heading .lead').text
    assert {link.text for link in browser.all('.card .link')} == {'not known now'}
    browser.driver.get(f'{house.address}#health')
    browser.find('.findings .problem', 'systemctl restart tryck')
    house.start_daemon()
    house.wait_ready()
    browser.gone('#banner')
    browser.driver.get(f'{house.address}#now')
    house.press('kitchen', 'click')
    browser.find('.happenings button', 'kitchen')


@pytest.mark.parametrize('program, sentence', [
    ('daemon', 'tryckd does not answer'), ('server', 'The connection to tryck-web is lost'),
])
def test_program_that_hangs_is_noticed(program: str, sentence: str, house: House, browser: Browser) -> None:
    browser.open(house)
    process = getattr(house, program)
    os.kill(process.pid, signal.SIGSTOP)
    try:
        browser.find('#banner', sentence)
        assert 'ready' not in browser.find('.heading .lead').text
    finally:
        os.kill(process.pid, signal.SIGCONT)
    browser.gone('#banner')
    house.press('kitchen', 'click')
    browser.find('.happenings button', 'kitchen')


def test_server_goes_and_comes_back(house: House, browser: Browser) -> None:
    browser.open(house)
    house.press('hall', 'click')
    browser.find('.happenings button', 'hall_light')
    house.server.end(signal.SIGKILL)
    browser.find('#banner', 'tryck-web')
    house.start_server()
    browser.gone('#banner')
    house.press('kitchen', 'double_click')
    browser.find('.happenings button', 'kitchen_evening')
    # What was seen before is still there.
    browser.find('.happenings button', 'hall_light')
