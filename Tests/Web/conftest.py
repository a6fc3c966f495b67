"""The house and the browser that the tests share."""
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from browser import Browser
from house import PROJECT, House


@pytest.fixture(scope='session')
def programs() -> Path:
    """The folder with tryckd and tryck-web: TRYCK_PROGRAMS, or the debug build."""
    return Path(os.environ.get('TRYCK_PROGRAMS') or PROJECT / '.build' / 'debug')


@pytest.fixture(scope='session')
def house(programs: Path) -> Iterator[House]:
    house = House(programs)
    house.pair()
    yield house
    house.end()


@pytest.fixture
def rules(house: House) -> Iterator[None]:
    """Restores the rules after the test."""
    text = house.rules.read_text()
    yield
    if house.rules.read_text() != text:
        house.rules.write_text(text)
        house.ask('rules/reload')


@pytest.fixture(scope='session')
def shared_browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.end()


@pytest.fixture
def browser(shared_browser: Browser, request: pytest.FixtureRequest) -> Iterator[Browser]:
    shared_browser.resize(1280, 900)
    failures = request.session.testsfailed
    yield shared_browser
    if request.session.testsfailed > failures and (folder := os.environ.get('TRYCK_WEB_PICTURES')):
        shared_browser.screenshot(Path(folder) / f'{request.node.name}.png')
    # The browser reports what the content security policy has stopped, and errors of scripts.
    assert shared_browser.faults() == []
