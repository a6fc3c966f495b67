"""Debian's Chromium, and what the tests do with it."""
from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from house import PASSWORD, House, wait

ARGUMENTS = (
    '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--force-device-scale-factor=1',
    '--hide-scrollbars', '--no-first-run', '--disable-extensions')
# What the browser tells about answers that the page expects, such as a refused password.
EXPECTED = ('the server responded with a status of', 'net::ERR_CONNECTION_REFUSED', 'net::ERR_INCOMPLETE_CHUNKED_ENCODING',
            'net::ERR_EMPTY_RESPONSE', 'net::ERR_CONNECTION_RESET',
            # It asks nobody who has not touched the page whether what was typed may be lost.
            "Blocked attempt to show a 'beforeunload' confirmation")

SHOWN = '''
    const shown = (selector) => [...document.querySelectorAll(selector)].filter(
        (element) => element.checkVisibility({visibilityProperty: true}));
'''


class Browser:
    def __init__(self) -> None:
        options = Options()
        options.binary_location = '/usr/bin/chromium'
        for argument in ARGUMENTS:
            options.add_argument(argument)
        options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
        self.driver = webdriver.Chrome(options=options, service=Service('/usr/bin/chromedriver'))
        self.resize(1280, 900)

    def resize(self, width: int, height: int, *, dark: bool = False, reduced_motion: bool = False) -> None:
        self.driver.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
            'width': width, 'height': height, 'deviceScaleFactor': 1, 'mobile': False})
        self.driver.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': [
            {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'},
            {'name': 'prefers-reduced-motion', 'value': 'reduce' if reduced_motion else 'no-preference'}]})

    def open(self, house: House, page: str = 'now') -> None:
        """Opens a page, signed in."""
        address = f'{house.address}#{page}'
        if self.driver.current_url.split('#')[0] == house.address:
            self.driver.get('about:blank')
        self.driver.get(address)
        found = self.find('.signed-in main h1, #password')
        if found.get_attribute('id') == 'password':
            found.send_keys(PASSWORD + '\n')
        self.find('.signed-in main h1')
        self.until('a snapshot', lambda: self.driver.find_element(By.TAG_NAME, 'body').get_attribute('data-link') == 'live')

    def until(self, what: str, answer: Any, within: float = 60) -> Any:
        def ask() -> Any:
            try:
                return answer()
            except StaleElementReferenceException:
                return None
        return wait(what, ask, within)

    def all(self, selector: str, text: str = '') -> list[WebElement]:
        """The elements that are shown and have this text."""
        return self.run('const [selector, text] = arguments;' + SHOWN + '''
            return shown(selector).filter((element) => (element.innerText ?? element.textContent).includes(text));''', selector, text)

    def find(self, selector: str, text: str = '', within: float = 60) -> WebElement:
        """Waits for an element that is shown and has this text."""
        return self.until(f'{selector} {text!r}', lambda: self.all(selector, text), within)[0]

    def gone(self, selector: str, text: str = '') -> None:
        self.until(f'{selector} to go', lambda: not self.all(selector, text))

    def button(self, name: str) -> WebElement:
        """Waits for a button with this name."""
        return self.until(f'a button called {name!r}', lambda: self.run(SHOWN + '''
            return shown("button").find(
                (button) => (button.getAttribute("aria-label") ?? button.innerText).trim() === arguments[0]);''', name))

    def click(self, element: WebElement) -> None:
        """Clicks in the middle of the view, where nothing lies over the element."""
        self.run('arguments[0].scrollIntoView({block: "center"})', element)
        element.click()

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def faults(self) -> list[str]:
        """What the browser complained about, such as a violation of the content security policy."""
        return [entry['message'] for entry in self.driver.get_log('browser')
                if entry['level'] == 'SEVERE' and not any(text in entry['message'] for text in EXPECTED)]

    def screenshot(self, path: Path, most: int = 2400) -> None:
        """The whole page, or its beginning."""
        self.run('scrollTo(0, 0)')
        width, height = self.run('return [innerWidth, document.documentElement.scrollHeight]')
        picture = self.driver.execute_cdp_cmd('Page.captureScreenshot', {
            'format': 'png', 'captureBeyondViewport': True,
            'clip': {'x': 0, 'y': 0, 'width': width, 'height': min(height, most), 'scale': 1}})
        path.write_bytes(base64.b64decode(picture['data']))

    def call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> dict[str, Any]:
        """A request of the page's own origin, with its session: `{"status": …, "body": …}`."""
        return self.driver.execute_async_script('''
            const [method, path, body, headers, done] = arguments;
            fetch(path, {method, headers: {"X-Tryck": "1", ...headers}, body: body ?? undefined}).then(
                async (answer) => done({status: answer.status, body: await answer.text(), etag: answer.headers.get("ETag")}));
            ''', method, path, body if body is None or isinstance(body, str) else json.dumps(body), headers or {})

    def end(self) -> None:
        self.driver.quit()
