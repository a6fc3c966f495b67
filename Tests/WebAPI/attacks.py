"""Tries to get in, and tries what programs do, at a real tryck-web before a real tryckd. Prints a line for each point.

    attacks.py BUILD PUBLIC OPENAPI SCHEMATHESIS
"""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from house import CLEAR, PASSWORD, RULES, SECRET, Client, House, Stream, free_port, read
from program import Failure, Program

INGRESS = '172.30.32.2'
POINTS: list[tuple[str, Callable[['Site'], None]]] = []


def point(sentence: str) -> Callable[[Callable[['Site'], None]], Callable[['Site'], None]]:
    def add(function: Callable[['Site'], None]) -> Callable[['Site'], None]:
        POINTS.append((sentence, function))
        return function
    return add


def expect(condition: bool, what: object) -> None:
    if not condition:
        raise Failure(str(what))


class Site:
    def __init__(self, house: House, build: Path, openapi: Path, schemathesis: Path) -> None:
        self.house, self.build, self.openapi, self.schemathesis = house, build, openapi, schemathesis
        self.port = free_port()
        house.configuration('{}')
        house.start_daemon()
        house.pair()
        self.page = house.start_page(f'{{listen: "127.0.0.1:{self.port}", password: {PASSWORD}}}')
        self.client = self.new()
        self.client.sign_in()

    def new(self) -> Client:
        return Client(('127.0.0.1', self.port))

    def rules(self) -> Path:
        return self.house.directory / 'rules' / 'home.yaml'

    def etag(self) -> str:
        return self.client.get('/api/rules/home.yaml').headers['etag']


# --- Who is let in

@point('without a session, nothing of the house is shown or changed')
def no_session(site: Site) -> None:
    stranger = site.new()
    before = site.rules().read_bytes()
    for method, path in [
        ('GET', '/api/rules'), ('GET', '/api/rules/home.yaml'), ('PUT', '/api/rules/home.yaml'), ('GET', '/api/events'),
        ('POST', '/api/request'), ('POST', '/api/rules/check'), ('POST', '/api/rules/test'), ('POST', '/api/rules/explain'),
        ('POST', '/api/rules/complete'), ('POST', '/api/rules/hints'), ('POST', '/api/rules/compare'), ('GET', '/api/history'),
        ('HEAD', '/api/rules'), ('GET', '/api/'), ('GET', '//api/rules'), ('GET', '/api//rules'),
    ]:
        for cookie in [None, 'tryck_session=', 'tryck_session=' + '0' * 64, f'x={site.client.cookie}', 'tryck_session=../page']:
            answer = stranger.call(method, path, {} if method in ('POST', 'PUT') else None, Cookie=cookie, If_Match='*')
            expect(answer.status in (401, 404), f'{method} {path} with {cookie}: {answer}')
            expect(answer.status == 401 or b'version' not in answer.body, f'{method} {path}: {answer}')
    expect(site.rules().read_bytes() == before, 'the rules have changed')


@point('a change without X-Tryck is refused, with a session, too')
def mark(site: Site) -> None:
    before = site.rules().read_bytes()
    for value in [None, '0', '', '11', '1, 1']:
        for method, path in [
            ('POST', '/api/request'), ('PUT', '/api/rules/home.yaml'), ('POST', '/api/rules/check'), ('POST', '/login'),
            ('POST', '/logout'), ('DELETE', '/api/rules/home.yaml'),
        ]:
            answer = site.client.call(method, path, b'{}', X_Tryck=value, If_Match='*')
            expect(answer.status == 403 and 'error' in answer.json, f'{method} {path}: {answer}')
    expect(site.client.get('/api/rules').status == 200, 'the session has ended')
    expect(site.rules().read_bytes() == before, 'the rules have changed')


@point('a name that leads here from elsewhere is refused (DNS rebinding), and so is another origin')
def names(site: Site) -> None:
    for host in ['evil.example', f'evil.example:{site.port}', f'127.0.0.1.evil.example:{site.port}', '', '127.0.0.1@evil.example']:
        for path in ['/', '/api/session', '/api/rules', '/login']:
            answer = site.client.call('POST' if path == '/login' else 'GET', path, b'{}' if path == '/login' else None, Host=host)
            expect(answer.status in (400, 403), f'{host} {path}: {answer}')
    for origin in ['null', 'http://evil.example', f'http://127.0.0.1:{site.port + 1}', f'https://evil.example:{site.port}', '']:
        for method, path in [('POST', '/api/request'), ('GET', '/api/events'), ('GET', '/api/rules'), ('POST', '/login')]:
            answer = site.client.call(method, path, b'{"request":"status"}' if method == 'POST' else None, Origin=origin)
            expect(answer.status == 403, f'{origin} {path}: {answer}')
            expect('access-control-allow-origin' not in answer.headers, answer)
    own = site.client.post('/api/request', {'request': 'status'}, Origin=f'http://127.0.0.1:{site.port}')
    expect(own.status == 200, own)
    head = site.client.head('GET', '/api/rules', {}).replace(b'Host: ', b'Host: evil.example\r\nHost: ')
    expect(site.client.raw(head).status == 403, 'two Host headers')


@point('a link lets one browser in, once')
def link(site: Site) -> None:
    url = site.house.link()
    path = '/' + url.split('/', 3)[3]
    expect(len(path.split('token=')[1]) == 32, url)
    browser = site.new()
    expect(browser.call('HEAD', path).status == 200, 'a preview of the link uses it up')
    answer = browser.get(path)
    expect(answer.status == 303 and answer.headers['location'] == './', answer)
    cookie = answer.headers['set-cookie']
    expect('HttpOnly' in cookie and 'SameSite=Strict' in cookie, cookie)
    browser.cookie = cookie.split('tryck_session=')[1].split(';')[0]
    expect(browser.get('/api/rules').status == 200, 'the cookie is no good')
    for other in [path, '/?token=', '/?token=' + '0' * 32, path[:-1], path + '0']:
        answer = site.new().get(other)
        expect(answer.status == 401 and 'set-cookie' not in answer.headers, answer)
        expect('tryck web prints another one' in answer.json['error'], answer)


@point('a browser that is refused gets a page with the sentence')
def refusals(site: Site) -> None:
    def opened(path: str, host: str | None = None) -> tuple[int, str]:
        headers = {'Accept': 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8'} | ({'Host': host} if host else {})
        answer = site.new().call('GET', path, **headers)
        expect(answer.headers['content-type'].startswith('text/html'), answer)
        return answer.status, answer.body.decode()
    for path, host, status, sentence in [
        ('/?token=' + '0' * 32, None, 401, 'This link was used or is too old'),
        ('/?token=' + '0' * 32, None, 401, '<a href="./">Sign in with the password instead</a>'),
        ('/nowhere/at/all', None, 404, 'There is no file nowhere/at/all'),
        ('/', 'evil.example', 403, 'The page is not served under the name evil.example'),
    ]:
        found, text = opened(path, host)
        expect(found == status and sentence in text and '{"error"' not in text, text)
    expect('<script' not in opened('/<script>alert(1)</script>')[1], 'the path is markup')


@point('a session ends with its streams when it signs out, and other sessions go on')
def sign_out(site: Site) -> None:
    browser = site.new()
    browser.sign_in()
    stream = Stream(browser)
    stream.next('snapshot')
    expect(browser.post('/logout').status == 204, 'signing out')
    expect(not list(stream.events()), 'the stream goes on')
    expect(browser.get('/api/rules').status == 401, 'the session goes on')
    expect(site.client.get('/api/rules').status == 200, 'another session has ended')
    stream.close()


@point('sessions survive a restart of tryck-web')
def restart(site: Site) -> None:
    site.page.end()
    site.page = site.house.start_page(f'{{listen: "127.0.0.1:{site.port}", password: {PASSWORD}}}')
    expect(site.client.get('/api/rules').status == 200, 'the session has ended')
    for name in ['page/web.json']:
        text = (site.house.directory / name).read_text()
        expect(PASSWORD not in text and site.client.cookie not in text, text)


# --- What is not served

@point('no file outside the page and the rule set is served, whatever the path')
def paths(site: Site) -> None:
    (site.house.directory / 'rules' / 'link.yaml').symlink_to('../tryck.yaml')
    (site.house.directory / 'rules' / 'rooms' / 'up').symlink_to('../..')
    secrets = [
        '/../tryck.yaml', '/..%2ftryck.yaml', '/%2e%2e/tryck.yaml', '//etc/passwd', '/etc/passwd', '/codemirror/../../../etc/passwd',
        '/codemirror/%2e%2e/%2e%2e/passwd', '/.git/config', '/index.html/../../main.swift', '/\\..\\main.swift', '/%00', '/main.js%00.html',
        '/api/rules/secrets.yaml', '/api/rules/..%2ftryck.yaml', '/api/rules/../tryck.yaml', '/api/rules/rooms/../../tryck.yaml',
        '/api/rules/%2e%2e/tryck.yaml', '/api/rules/link.yaml', '/api/rules/rooms/up/tryck.yaml', '/api/rules/home.yaml~',
        '/api/rules/%2fetc%2fpasswd', '/api/rules//etc/passwd', '/api/rules/home.yaml%00',
    ]
    for path in secrets:
        for answer in [site.client.get(path), site.client.call('PUT', path, b'version: 1\n', If_Match='*')]:
            expect(answer.status in (400, 403, 404, 405), f'{path}: {answer}')
            expect(b'root:' not in answer.body and b'control_socket' not in answer.body, f'{path}: {answer}')
    expect(not (site.house.directory / 'rules' / 'new.yaml').exists(), 'a file was created')
    expect(site.client.call('PUT', '/api/rules/new.yaml', b'x', If_Match='*').status == 404, 'a new file')
    (site.house.directory / 'rules' / 'link.yaml').unlink()
    (site.house.directory / 'rules' / 'rooms' / 'up').unlink()


@point('no answer has a secret, a password of the rules, or the password of the page')
def secrets(site: Site) -> None:
    text = RULES.replace(f'ada:{CLEAR}', '***')
    drafts = {'files': {'home.yaml': text}, 'button': 'kitchen', 'event': 'click', 'file': 'home.yaml', 'line': 3, 'character': 0}
    leaks = {**drafts, 'files': {'home.yaml': RULES.replace('id: toggle', 'id: !secret hue').replace(f'ada:{CLEAR}', '***')}}
    answers = [site.client.get(path) for path in ['/', '/api/session', '/api/rules', '/api/rules/home.yaml']]
    for name in ['check', 'test', 'explain', 'complete', 'hints']:
        answers += [site.client.post(f'/api/rules/{name}', body) for body in [drafts, leaks, {**drafts, 'files': {}}]]
    for request in ['status', 'buttons', 'radios', 'rules', 'variables', 'states']:
        answers.append(site.client.post('/api/request', {'request': request}))
    for answer in answers:
        expect(answer.status in (200, 422), answer)
        for secret in [SECRET, CLEAR, PASSWORD, str(site.client.cookie)]:
            expect(secret.encode() not in answer.body, answer)
    shown = site.client.get('/api/rules/home.yaml').body.decode()
    expect(re.search(r'http://\*\*\*[0-9a-f]{8}@127\.0\.0\.1', shown) and '!secret hue' in shown, shown)


@point('every response forbids what the page does not need')
def headers(site: Site) -> None:
    for answer in [
        site.client.get('/'), site.client.get('/nothing'), site.client.get('/api/rules'), site.new().get('/api/rules'),
        site.client.get('/', Host='evil.example'), site.client.post('/api/request', b'x'),
    ]:
        policy = answer.headers['content-security-policy']
        expect("default-src 'self'" in policy and 'unsafe' not in policy and "frame-ancestors 'none'" in policy, answer)
        expect(answer.headers['x-content-type-options'] == 'nosniff', answer)
        expect(answer.headers['referrer-policy'] == 'no-referrer', answer)
        expect(answer.headers['cross-origin-resource-policy'] == 'same-origin', answer)
        if answer.status >= 400:
            expect(list(answer.json)[0] == 'error' and answer.headers['content-type'] == 'application/json', answer)
    page = site.client.get('/')
    expect(page.headers['content-type'].startswith('text/html') and page.headers['cache-control'] == 'no-cache', page)
    expect(site.client.get('/', If_None_Match=page.headers['etag']).status == 304, 'the etag does not match')


# --- Bounds

@point('a body has at most 1 MiB, with a length and without one')
def bodies(site: Site) -> None:
    for path in ['/api/request', '/api/rules/check']:
        answer = site.client.post(path, b'{"files":{}}' + b' ' * (1 << 20))
        expect(answer.status == 413, answer)
    with site.client.connect() as connection:
        connection.sendall(site.client.head('POST', '/api/rules/check', {'Transfer-Encoding': 'chunked'}))
        for _ in range(17):
            connection.sendall(b'10000\r\n' + b' ' * 65536 + b'\r\n')
        connection.sendall(b'0\r\n\r\n')
        expect(read(connection).status == 413, 'a chunked body')
    expect(site.client.post('/api/rules/check', b'{"files":{}}' + b' ' * ((1 << 20) - 12)).status == 200, '1 MiB exactly')
    expect(site.client.get('/api/rules', X_Long='x' * 100_000).status in (0, 400, 431), 'a long header')


@point('malformed requests do not end the program')
def malformed(site: Site) -> None:
    for octets in [
        b'\0' * 100, b'GET\r\n\r\n', b'GET / HTTP/9.9\r\n\r\n', b'GET / HTTP/1.1\r\n\r\n', b'\x16\x03\x01\x02\x00\x01\x00',
        b'POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n', b'GET ' + b'/' * 100_000 + b' HTTP/1.1\r\n\r\n',
        b'POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        b'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n', b'GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n',
    ]:
        with site.client.connect() as connection:
            connection.sendall(octets)
            connection.shutdown(socket.SHUT_WR)
            status = read(connection).status
            expect(status == 0 or status >= 400, f'{octets[:60]!r}: {status}')
    for body in [b'', b'[', b'null', b'"x"', b'{"request":"watch"}', b'{"request":"export"}', b'{"request":5}', b'\xff', b'[' * 100_000]:
        answer = site.client.post('/api/request', body)
        expect(answer.status == 400 and answer.json['error'], answer)
    expect(site.client.get('/api/session').status == 200, 'it has ended')


@point('a stranger who holds two hundred connections keeps nobody else out')
def many_connections(site: Site) -> None:
    idle = []
    try:
        for number in range(200):
            connection = socket.create_connection(('127.0.0.1', site.port), timeout=5)
            if number % 2:
                connection.sendall(b'POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Tryck: 1\r\nContent-Length: 100\r\n\r\n{')
            idle.append(connection)
        began = time.monotonic()
        visitor = site.new()
        expect(visitor.get('/').status == 200, 'the page')
        expect(site.client.get('/api/session').status == 200, 'the session')
        expect(time.monotonic() - began < 5, f'{time.monotonic() - began:.1f} s')
    finally:
        for connection in idle:
            connection.close()


@point('thirty-two streams are open at a time, and a closed one makes room')
def streams(site: Site) -> None:
    open_streams = [Stream(site.client) for _ in range(32)]
    expect(all(stream.status == 200 for stream in open_streams), 'a stream was refused')
    refused = Stream(site.client)
    expect(refused.status == 503 and 'retry-after' in refused.headers, refused.status)
    refused.close()
    open_streams.pop().close()
    deadline = time.monotonic() + 10
    while (again := Stream(site.client)).status != 200:
        again.close()
        expect(time.monotonic() < deadline, 'a closed stream still counts')
        time.sleep(0.02)
    for stream in [*open_streams, again]:
        stream.close()


def press(site: Site, what: str) -> None:
    answer = site.client.post('/api/request', {'request': 'simulator/press', 'data': {'button': 'hall', 'press': what}})
    expect(answer.status == 200, answer)


# --- What programs do

@point('a request is answered as on the control socket, and a refused one is 400 with the sentence')
def requests(site: Site) -> None:
    answer = site.client.post('/api/request', {'request': 'status', 'transaction': [1, 'x']})
    expect(answer.status == 200 and answer.json['status'] == 'ok' and answer.json['transaction'] == [1, 'x'], answer)
    answer = site.client.post('/api/request', {'request': 'button/rename', 'data': {'button': 'nobody', 'name': 'x'}})
    expect(answer.status == 400 and answer.json['status'] == 'error' and answer.json['error'], answer)


@point('a press on the page is an event on the stream, and pairing has its steps there')
def live(site: Site) -> None:
    stream = Stream(site.client)
    snapshot = stream.next('snapshot')
    expect(set(snapshot.data) == {'status', 'buttons', 'rules'}, snapshot.data.keys())
    expect(len(snapshot.data['buttons']) == 2 and snapshot.data['rules'] is not None, snapshot.data)
    life = snapshot.id.split('-')[0]
    times = []
    for _ in range(20):
        start = time.perf_counter()
        press(site, 'down')
        stream.next(kind='event', event='down')
        times.append(time.perf_counter() - start)
        press(site, 'up')
        event = stream.next(kind='event', event='up')
    expect(event.id.startswith(life + '-'), event)
    for seconds, step in [(5, 'searching'), (0, 'ended')]:
        site.client.post('/api/request', {'request': 'permit_join', 'data': {'time': seconds}})
        stream.next(kind='pairing', step=step)
    stream.close()
    times.sort()
    print(f'    from a request to its event on the stream: median {times[10] * 1000:.1f} ms, longest {times[-1] * 1000:.1f} ms')


@point('a reader that comes back gets what it missed, and one that knows too little a snapshot')
def missed(site: Site) -> None:
    stream = Stream(site.client)
    last = stream.next('snapshot').id
    stream.close()
    watching = Stream(site.client)
    watching.next('snapshot')
    press(site, 'down')
    press(site, 'up')
    watching.next(kind='event', event='up')
    again = Stream(site.client, last)
    events = again.events()
    first = next(events)
    expect(first.name == '' and first.id == last.split('-')[0] + '-' + str(int(last.split('-')[1]) + 1), first)
    again.next(kind='event', event='up')
    again.close()
    asked = Stream(site.client, None, f'?after={last}')
    expect(next(asked.events()).id == first.id, 'the number in the address')
    asked.close()
    for known in ['x-1', last.split('-')[0] + '-999999', last + '0000', 'nonsense', '']:
        stranger = Stream(site.client, known)
        expect(next(stranger.events()).name == 'snapshot', known)
        stranger.close()
    watching.close()


@point('the stream tells that it is alive, and says of a daemon that hangs that it does not answer')
def hanging(site: Site) -> None:
    stream = Stream(site.client)
    stream.next('snapshot')
    stream.next('beat')
    os.kill(site.house.daemon._process.pid, signal.SIGSTOP)
    try:
        expect('does not answer' in stream.next('gone').data['error'], 'no sentence')
        # A hanging daemon takes no connection, and soon no other can wait. That must not hold up the page.
        waiting = fill(site.house.directory / 'control.sock')
        expect(site.client.post('/api/request', {'request': 'status'}).status == 503, 'a request')
        stream.next('beat')
        for connection in waiting:
            connection.close()
    finally:
        os.kill(site.house.daemon._process.pid, signal.SIGCONT)
    stream.next('snapshot')
    stream.close()


def fill(path: Path) -> list[socket.socket]:
    """Connects until no further connection can wait."""
    connections = []
    while True:
        connection = socket.socket(socket.AF_UNIX)
        connection.setblocking(False)
        try:
            connection.connect(str(path))
        except BlockingIOError:
            return connections
        connections.append(connection)


@point('the stream says when the daemon goes away, and goes on by itself when it is back')
def gone(site: Site) -> None:
    stream = Stream(site.client)
    last = stream.next('snapshot').id
    site.house.daemon.end()
    expect(stream.next('gone').data['error'], 'no sentence')
    answer = site.client.post('/api/request', {'request': 'status'})
    expect(answer.status == 503 and 'tryckd' in answer.json['error'], answer)
    late = Stream(site.client, last)
    late.next('gone')
    site.house.start_daemon()
    expect(stream.next('snapshot').id.split('-')[0] != last.split('-')[0], 'the ids go on')
    late.next('snapshot')
    stream.close()
    late.close()


@point('a rule file is saved with its password, and not over a change, nor with mistakes unless one insists')
def saving(site: Site) -> None:
    path, client = '/api/rules/home.yaml', site.client
    site.rules().chmod(0o640)
    shown, etag = client.get(path).body, site.etag()
    answer = client.call('PUT', path, shown)
    expect(answer.status == 428, answer)
    edited = shown.replace(b'initial: 0', b'initial: 1')
    answer = client.call('PUT', path, edited, If_Match=etag)
    expect(answer.status == 200 and answer.headers['etag'] == answer.json['etag'], answer)
    expect(site.rules().read_text() == RULES.replace('initial: 0', 'initial: 1'), site.rules().read_text())
    expect(site.rules().stat().st_mode & 0o777 == 0o640, 'the mode has changed')
    expect((site.rules().parent / 'home.yaml~').read_text() == RULES, 'the text before')
    stale = client.call('PUT', path, shown, If_Match=etag)
    expect(stale.status == 412 and stale.json['text'].encode() == edited and stale.json['etag'] == site.etag(), stale)
    for match in ['*', 'W/' + site.etag(), site.etag()[1:-1]]:
        expect(client.call('PUT', path, shown, If_Match=match).status == 412, match)
    wrong = edited + b'foo: bar\n'
    refused = client.call('PUT', path, wrong, If_Match=site.etag())
    expect(refused.status == 422 and refused.json['diagnostics'][0]['file'] == 'home.yaml', refused)
    lost = re.sub(rb'\*\*\*[0-9a-f]{8}', b'***', edited)
    expect(client.call('PUT', path, lost, If_Match=site.etag()).status == 422, 'a password was made up')
    expect(client.call('PUT', path, b'\xff\xfe', If_Match=site.etag()).status == 400, 'not UTF-8')
    insisted = client.call('PUT', path + '?anyway=true', wrong, If_Match=site.etag())
    expect(insisted.status == 200 and insisted.json['diagnostics'], insisted)
    site.house.daemon.line('unknown key "foo"')
    answer = client.call('PUT', path, shown, If_Match=site.etag())
    expect(answer.status == 200 and site.rules().read_text() == RULES, answer)


@point('of two that save at the same time, one is told')
def race(site: Site) -> None:
    shown, etag = site.client.get('/api/rules/home.yaml').body, site.etag()
    connections = []
    for number in range(4):
        connection = site.client.connect()
        body = shown + f'# {number}\n'.encode()
        connection.sendall(site.client.head('PUT', '/api/rules/home.yaml', {'If-Match': etag, 'Content-Length': str(len(body))}) + body)
        connections.append(connection)
    statuses = sorted(read(connection).status for connection in connections)
    expect(statuses == [200, 412, 412, 412], statuses)
    expect(site.client.call('PUT', '/api/rules/home.yaml', shown, If_Match=site.etag()).status == 200, 'the text of before')


@point('the past is shown, and drafts are compared with it')
def past(site: Site) -> None:
    answer = site.client.get('/api/history?from=2026-01-01T00:00:00.000Z&to=9999-01-01T00:00:00Z')
    expect(answer.status == 200 and answer.json['more'] is False, answer)
    lines = answer.json['lines']
    expect(any(line.get('kind') == 'event' and line.get('event') == 'down' for line in lines), lines[-5:])
    expect(site.client.get('/api/history?to=2026-01-01T00:00:00Z').json['lines'] == [], 'what is later than the end')
    expect(site.client.get('/api/history?from=yesterday').status == 400, 'no time')
    shown = site.client.get('/api/rules/home.yaml').body.decode()
    compared = site.client.post('/api/rules/compare', {'files': {'home.yaml': shown}, 'since': 'yesterday'})
    expect(compared.status == 200 and compared.json['differ'] == [], compared)
    wrong = site.client.post('/api/rules/compare', {'files': {'home.yaml': 'foo: bar'}})
    expect(wrong.status == 422 and wrong.json['diagnostics'][0]['file'] == 'home.yaml', wrong)
    expect(site.client.post('/api/rules/compare', {'since': 'then'}).status == 400, 'no time')
    for secret in [SECRET, CLEAR]:
        expect(secret.encode() not in answer.body + compared.body, secret)


@point('edit_rules: false shows and checks, and writes nothing')
def read_only(site: Site) -> None:
    port = free_port()
    site.house.start_page(f'{{listen: "127.0.0.1:{port}", password: {PASSWORD}, edit_rules: false}}', 'fixed.yaml', 'fixed')
    client = Client(('127.0.0.1', port))
    client.sign_in()
    expect(client.get('/api/session').json['edit_rules'] is False, 'the session')
    answer = client.get('/api/rules/home.yaml')
    expect(answer.status == 200, answer)
    for query in ['', '?anyway=true']:
        refused = client.call('PUT', '/api/rules/home.yaml' + query, b'version: 1\n', If_Match=answer.headers['etag'])
        expect(refused.status == 403 and site.rules().read_text() == RULES, refused)
    expect(client.post('/api/rules/check', {'files': {'home.yaml': 'version: 1\n'}}).status == 200, 'checking')
    rule = client.post('/api/request', {'request': 'rules'}).json['data'][0]['id']
    run = {'request': 'rules/run', 'data': {'id': rule}}
    refused = client.post('/api/request', run)
    expect(refused.status == 403 and 'edit_rules' in refused.json['error'], refused)
    run['data']['dry_run'] = True
    expect(client.post('/api/request', run).status == 200, 'a dry run')


@point('below a prefix and behind a Unix socket, nginx passes the page, requests and the live stream')
def proxy(site: Site) -> None:
    path = site.house.directory / 'page.sock'
    site.house.start_page(f'{{listen: "unix:{path}", password: {PASSWORD}}}', 'proxied.yaml', 'proxied')
    port = nginx(site, f'proxy_pass http://unix:{path}:/; proxy_set_header Host home.example; '
                       'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;')
    client = Client(('127.0.0.1', port), prefix='/ingress/x1')
    client.sign_in()
    expect(client.get('/').headers['content-type'].startswith('text/html'), 'the page')
    expect(client.post('/api/request', {'request': 'status'}, Origin='https://home.example').status == 200, 'a request')
    expect(client.post('/api/request', {'request': 'status'}, Origin='https://evil.example').status == 403, 'another origin')
    stream = Stream(client)
    stream.next('snapshot')
    press(site, 'down')
    stream.next(kind='event', event='down')
    press(site, 'up')
    stream.close()
    stranger = Client(('127.0.0.1', port), source='127.0.0.2', prefix='/ingress/x1')
    statuses = [
        stranger.post('/login', {'password': f'wrong {number}'}, X_Forwarded_For=f'192.0.2.{number}').status for number in range(6)
    ]
    expect(statuses == [401] * 5 + [429], statuses)
    expect(Client(('127.0.0.1', port), prefix='/ingress/x1').sign_in() is None, 'another visitor is locked out')


@point('Home Assistant\'s ingress signs in, and no other address does')
def ingress(site: Site) -> None:
    port = free_port()
    site.house.start_page(f'{{listen: "0.0.0.0:{port}", trust_ingress: true}}', 'ingress.yaml', 'ingress')
    for address in ['127.0.0.1', INGRESS]:
        stranger = Client((address, port), source='127.0.0.1')
        answer = stranger.get('/api/session', X_Forwarded_For=INGRESS, X_Real_IP=INGRESS, Forwarded=f'for={INGRESS}')
        expect(answer.status == 403, answer)
        expect(stranger.get('/').status == 403, 'the page')
    proxy_port = nginx(site, f'proxy_pass http://{INGRESS}:{port}/; proxy_bind {INGRESS}; proxy_set_header Host $host:$server_port;')
    client = Client(('127.0.0.1', proxy_port), prefix='/ingress/x1')
    page = client.get('/')
    expect(page.status == 200 and "frame-ancestors 'self'" in page.headers['content-security-policy'], page)
    expect(client.get('/api/session').json['signed_in'] is True, 'not signed in')
    expect(client.get('/api/rules').status == 200, 'the rules')
    expect(client.post('/api/request', {'request': 'status'}, Origin='https://evil.example').status == 403, 'another origin')
    expect(client.post('/api/request', {'request': 'status'}, X_Tryck=None).status == 403, 'without the header')
    expect(client.post('/api/request', {'request': 'status'}, Origin=f'http://127.0.0.1:{proxy_port}').status == 200, 'its own')


def nginx(site: Site, location: str) -> int:
    """An nginx with everything below /ingress/x1/ elsewhere."""
    port = free_port()
    directory = site.house.directory / f'nginx-{port}'
    directory.mkdir()
    (directory / 'nginx.conf').write_text(
        f'user root root; daemon off; master_process off; pid nginx.pid; error_log stderr; events {{}}\n'
        f'http {{ access_log off; client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi;\n'
        f'scgi_temp_path scgi; server {{ listen 127.0.0.1:{port}; location /ingress/x1/ {{ proxy_http_version 1.1;\n'
        f'proxy_set_header Connection ""; proxy_buffering on; {location} }} }} }}\n')
    program = Program('nginx', '/usr/sbin/nginx', '-p', str(directory), '-c', 'nginx.conf', directory=directory)
    site.house._ends.callback(program.end)
    deadline = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(('127.0.0.1', port)).close()
            return port
        except OSError:
            expect(time.monotonic() < deadline, '\n'.join(program.lines))
            time.sleep(0.02)


@point('the API is as deploy/openapi.yaml says, also for what nobody would send')
def schema(site: Site) -> None:
    result = subprocess.run(
        [site.schemathesis, 'run', site.openapi, '--url', f'http://127.0.0.1:{site.port}',
         '--header', f'Cookie: tryck_session={site.client.cookie}', '--header', 'X-Tryck: 1',
         '--exclude-path', '/api/events', '--exclude-path', '/logout', '--exclude-path', '/login',
         '--phases', 'coverage,fuzzing', '--max-examples', '6', '--seed', '1', '--checks',
         'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,response_headers_conformance',
         '--generation-database', 'none', '--no-color'],
        cwd=site.house.directory, capture_output=True, text=True, timeout=120)
    expect(result.returncode == 0, (result.stdout + result.stderr)[-6000:])
    cases = re.search(r'(\d+) generated', result.stdout)
    expect(cases is not None and int(cases[1]) > 200, result.stdout[-2000:])
    expect(site.rules().read_text() == RULES, 'the rules have changed')


@point('without readers, tryck-web sleeps')
def idle(site: Site) -> None:
    process = site.page._process.pid
    time.sleep(1)

    def wakeups() -> int:
        total = 0
        for status in Path(f'/proc/{process}/task').glob('*/status'):
            total += sum(int(line.split()[1]) for line in status.read_text().splitlines() if 'ctxt_switches' in line)
        return total
    before = wakeups()
    time.sleep(5)
    expect(wakeups() - before <= 1, f'{wakeups() - before} wake-ups in 5 s')
    status = Path(f'/proc/{process}/status').read_text()
    memory = {line.split(':')[0]: int(line.split()[1]) // 1024 for line in status.splitlines() if line.startswith(('VmRSS', 'VmHWM'))}
    print(f'    memory: {memory["VmRSS"]} MiB now, {memory["VmHWM"]} MiB at most')


@point('a reader that does not read is cut off at 1 MiB, and gets what it missed when it comes back')
def slow_reader(site: Site) -> None:
    slow = Stream(site.client)
    slow.connection.settimeout(5)
    last = slow.next('snapshot').id
    site.house.flood(3 << 20)
    octets = 0
    try:
        for event in slow.events():
            last = event.id
            octets += len(json.dumps(event.data))
    except TimeoutError:
        raise Failure(f'it is not cut off after {octets} octets') from None
    except (ValueError, OSError):
        pass  # the connection ended in the middle of a line
    slow.close()
    again = Stream(site.client, last)
    expect(next(again.events()).name in ('', 'snapshot'), 'it does not come back')
    again.close()


@point('five wrong passwords lock an address out for a minute, whatever it says about itself')
def lock_out(site: Site) -> None:
    stranger = site.new()
    statuses = [
        stranger.post('/login', {'password': f'wrong {number}'}, X_Forwarded_For=f'192.0.2.{number}').status for number in range(5)
    ]
    expect(statuses == [401] * 5, statuses)
    for headers in [{}, {'X_Forwarded_For': '192.0.2.9'}, {'Forwarded': 'for=192.0.2.9'}]:
        answer = stranger.post('/login', {'password': PASSWORD}, **headers)
        expect(answer.status == 429 and 1 <= int(answer.headers['retry-after']) <= 60, answer)
        expect('set-cookie' not in answer.headers, answer)
    expect(site.client.get('/api/rules').status == 200, 'who is signed in is locked out')


def main() -> int:
    build, public, openapi, schemathesis = (Path(argument).resolve() for argument in sys.argv[1:])
    directory = Path(tempfile.mkdtemp(prefix='tryck-web-'))
    house = House(directory, build, public)
    failed = 0
    try:
        site = Site(house, build, openapi, schemathesis)
        for sentence, function in POINTS:
            start = time.monotonic()
            try:
                function(site)
                print(f'✓ {sentence}  ({time.monotonic() - start:.1f} s)', flush=True)
            except (Failure, OSError, KeyError, ValueError, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f'✗ {sentence}\n{failure}', flush=True)
                traceback.print_exc()
    finally:
        house.end()
    return 1 if failed else 0


if __name__ == '__main__':
    os.environ.pop('TRYCK_CONFIG', None)
    sys.exit(main())
