"""The page below a prefix, as Home Assistant's ingress serves it: nginx stands in for it."""
import shutil
from collections.abc import Iterator

import pytest

from browser import Browser
from house import PASSWORD, House, Program, free_port, wait

PREFIX = '/api/hassio_ingress/token'


@pytest.fixture
def proxy(house: House, browser: Browser) -> Iterator[str]:
    port = free_port()
    folder = house.directory / 'nginx'
    folder.mkdir()
    configuration = folder / 'nginx.conf'
    configuration.write_text(f'''\
daemon off; pid {folder}/nginx.pid; error_log stderr;
events {{}}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen 127.0.0.1:{port};
    location {PREFIX}/ {{
      proxy_pass http://127.0.0.1:{house.port}/;
      proxy_http_version 1.1; proxy_buffering off; proxy_set_header Connection "";
      proxy_set_header Host 127.0.0.1:{house.port}; proxy_set_header Origin "";
    }}
  }}
}}
''')
    program = shutil.which('nginx', path='/usr/sbin:/usr/bin') or 'nginx'
    nginx = Program(house.directory / 'nginx.log', program, '-p', folder, '-c', configuration)
    wait('nginx', lambda: House._answers(port))
    yield f'http://127.0.0.1:{port}{PREFIX}/'
    # The page's requests end with the page, so that the browser does not report that the proxy is gone.
    browser.driver.get('about:blank')
    nginx.end()
    shutil.rmtree(folder)


def test_page_works_below_a_prefix(house: House, browser: Browser, proxy: str) -> None:
    browser.driver.get(proxy)
    found = browser.find('#password, .signed-in h1')
    if found.get_attribute('id') == 'password':
        found.send_keys(PASSWORD + '\n')
    browser.find('.card', 'kitchen')
    house.press('kitchen', 'click')
    browser.find('.happenings button', 'kitchen_toggle')
    browser.driver.get(proxy + '#rules')
    browser.find('.CodeMirror-line', 'kitchen_toggle')
