"""Signing in, failing to, and being locked out."""
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import Browser
from house import PASSWORD, House


@pytest.fixture
def own_house(programs: Path) -> Iterator[House]:
    """A house of its own, because a lock-out lasts a minute."""
    house = House(programs)
    yield house
    house.end()


def test_password_lets_in_and_five_wrong_ones_lock_out(own_house: House, browser: Browser) -> None:
    driver = browser.driver
    driver.get(own_house.address)
    browser.find('#password').send_keys('wrong\n')
    browser.find('.sign-in [role=alert]', 'not the password')
    browser.find('#password').send_keys(PASSWORD + '\n')
    browser.find('.signed-in main h1', 'Now')
    browser.click(browser.button('Sign out'))
    browser.find('#password')
    assert browser.call('POST', 'api/request', {'request': 'status'})['status'] == 401
    for _ in range(6):
        browser.until('the field', lambda: browser.find('.sign-in button').is_enabled())
        browser.find('#password').send_keys('wrong\n')
        browser.until('an answer', lambda: browser.find('.sign-in button').is_enabled())
    browser.find('.sign-in [role=alert]', 'Try again in')


def test_session_that_ends_elsewhere_leaves_only_the_form(house: House, browser: Browser) -> None:
    browser.open(house)
    # As a sign-out in another tab: this page learns of it when its stream has ended.
    assert browser.call('POST', 'logout')['status'] == 204
    browser.find('#password')
    assert not browser.all('#banner')
    browser.find('#password').send_keys(PASSWORD + '\n')
    browser.find('.signed-in main h1')
