"""A tryckd with simulated buttons, a tryck-web before it, and a client that says exactly what it is told to say."""
import json
import shutil
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from program import Failure, Program

PASSWORD = 'correct horse'
SECRET = 'topsecret5'
CLEAR = 'hunter2hunter2'
RULES = f"""\
version: 1
include: rooms/*.yaml
buttons:
  kitchen: {{address: "80:E4:DA:00:00:01"}}
rules:
  - id: toggle
    triggers: {{button: kitchen, event: click}}
    actions:
      - http: {{url: "http://ada:{CLEAR}@127.0.0.1:9/", headers: {{X-Token: !secret hue}}}}
  - id: twice
    triggers: {{button: kitchen, event: double_click}}
    actions: [{{log: twice}}]
  - id: loud
    triggers: {{button: hall, event: down}}
    actions: [{{run: [seq, -s, ., "1", "1000"]}}]
variables:
  count: {{type: integer, initial: 0}}
tests:
  - name: two clicks are said
    steps:
      - press: {{button: kitchen, times: 2}}
      - expect: [{{log: twice}}]
"""


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Sends requests as octets, so that a test can send what no library would."""

    def __init__(self, address: tuple[str, int] | str, *, source: str | None = None, prefix: str = '') -> None:
        self._address = address
        self._source = source
        self.prefix = prefix
        self.host = f'{address[0]}:{address[1]}' if isinstance(address, tuple) else 'localhost'
        self.cookie: str | None = None

    def connect(self) -> socket.socket:
        if isinstance(self._address, str):
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(30)
            connection.connect(self._address)
            return connection
        source = (self._source, 0) if self._source else None
        return socket.create_connection(self._address, timeout=30, source_address=source)

    def raw(self, request: bytes) -> Answer:
        with self.connect() as connection:
            connection.sendall(request)
            return read(connection)

    def head(self, method: str, path: str, headers: dict[str, str | None]) -> bytes:
        lines = {'Host': self.host, 'Connection': 'close', 'X-Tryck': '1', **headers}
        if self.cookie and 'Cookie' not in lines:
            lines['Cookie'] = f'tryck_session={self.cookie}'
        text = ''.join(f'{name}: {value}\r\n' for name, value in lines.items() if value is not None)
        return f'{method} {self.prefix}{path} HTTP/1.1\r\n{text}\r\n'.encode()

    def call(self, method: str, path: str, body: Any = None, **headers: str | None) -> Answer:
        named = {name.replace('_', '-'): value for name, value in headers.items()}
        octets = b'' if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        if method in ('POST', 'PUT'):
            named.setdefault('Content-Length', str(len(octets)))
        return self.raw(self.head(method, path, named) + octets)

    def get(self, path: str, **headers: str | None) -> Answer:
        return self.call('GET', path, **headers)

    def post(self, path: str, body: Any = None, **headers: str | None) -> Answer:
        return self.call('POST', path, body, **headers)

    def sign_in(self, password: str = PASSWORD) -> None:
        answer = self.post('/login', {'password': password})
        if answer.status != 204:
            raise Failure(f'signing in: {answer}')
        self.cookie = answer.headers['set-cookie'].split('tryck_session=')[1].split(';')[0]


def read(connection: socket.socket) -> Answer:
    """Reads one response to the end of the connection."""
    octets = b''
    while chunk := connection.recv(65536):
        octets += chunk
    head, _, body = octets.partition(b'\r\n\r\n')
    lines = head.decode().split('\r\n')
    if len(lines[0].split()) < 2:
        return Answer(0, {}, b'')
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(':') for line in lines[1:])}
    if headers.get('transfer-encoding') == 'chunked':
        body = unchunked(body)
    return Answer(int(lines[0].split()[1]), headers, body)


def unchunked(octets: bytes) -> bytes:
    body = b''
    while octets:
        size, _, octets = octets.partition(b'\r\n')
        body, octets = body + octets[:int(size, 16)], octets[int(size, 16) + 2:]
    return body


@dataclass
class Event:
    name: str
    id: str
    data: Any


class Stream:
    """The live stream of one reader."""

    def __init__(self, client: Client, last: str | None = None, query: str = '') -> None:
        self.connection = client.connect()
        self.connection.sendall(client.head('GET', '/api/events' + query, {'Last-Event-ID': last, 'Connection': None}))
        self._text = self.connection.makefile('rb')
        # What has arrived of a line that a chunk did not complete.
        self._rest = b''
        self.status = int(self._text.readline().split()[1])
        self.headers: dict[str, str] = {}
        while line := self._text.readline().decode().strip():
            name, _, value = line.partition(':')
            self.headers[name.lower()] = value.strip()

    def lines(self) -> Iterator[str]:
        while size := self._text.readline().strip():
            chunk = self._text.read(int(size, 16))
            self._text.readline()
            if not chunk:
                return
            *lines, self._rest = (self._rest + chunk).split(b'\n')
            yield from (line.decode() for line in lines)

    def events(self) -> Iterator[Event]:
        event = Event('', '', None)
        for line in self.lines():
            if line.startswith('event: '):
                event.name = line[7:]
            elif line.startswith('id: '):
                event.id = line[4:]
            elif line.startswith('data: '):
                event.data = json.loads(line[6:])
            elif not line and event.data is not None:
                yield event
                event = Event('', '', None)

    def next(self, name: str = '', **members: Any) -> Event:
        """The next event with this name and these members."""
        for event in self.events():
            if event.name == name and all(event.data.get(key) == value for key, value in members.items()):
                return event
        raise Failure(f'the stream has ended before an event "{name}" with {members}')

    def close(self) -> None:
        self._text.close()
        self.connection.close()


class House:
    def __init__(self, directory: Path, build: Path, public: Path) -> None:
        self.directory, self._build, self._public = directory, build, public
        self._ends = ExitStack()
        (directory / 'rules' / 'rooms').mkdir(parents=True)
        (directory / 'state').mkdir(mode=0o700)
        (directory / 'simulator.yaml').write_text('buttons: {kitchen: {}, hall: {}}\n')
        (directory / 'rules' / 'home.yaml').write_text(RULES)
        (directory / 'rules' / 'rooms' / 'hall.yaml').write_text('buttons:\n  hall: {address: "80:E4:DA:00:00:02"}\n')
        secrets = directory / 'rules' / 'secrets.yaml'
        secrets.write_text(f'hue: {SECRET}\n')
        secrets.chmod(0o600)
        self.daemon: Program
        self.pages: list[Program] = []

    def configuration(self, web: str, name: str = 'tryck.yaml') -> Path:
        path = self.directory / name
        path.write_text(
            'bluetooth: {transport: "simulated:simulator.yaml"}\nmqtt: {broker: none}\ncontrol_socket: control.sock\nstate_directory: state\n'
            f'web: {web}\n')
        return path

    def start_daemon(self) -> None:
        self.daemon = Program(
            'tryckd', self._build / 'tryckd', '--config', 'tryck.yaml', '--state-directory', 'state', '--log-level', 'debug',
            directory=self.directory)
        self._ends.callback(self.daemon.end)
        self.daemon.line('commands reach it')
        self.daemon.line('Bluetooth adapter 00:00:5E:00:53:01')

    def start_page(self, web: str, name: str = 'page.yaml', state: str = 'page') -> Program:
        """A tryck-web with its own configuration and state."""
        self.configuration(web, name)
        page = Program(
            'tryck-web', self._build / 'tryck-web', '--config', name, '--state-directory', state, '--public', self._public,
            directory=self.directory)
        self._ends.callback(page.end)
        page.line('tryck-web listens')
        self.pages.append(page)
        return page

    def link(self, name: str = 'page.yaml') -> str:
        """A link of tryck web."""
        program = Program(
            'tryck', self._build / 'tryck', 'web', directory=self.directory,
            environment={'TRYCK_CONFIG': str(self.directory / name)})
        line = program.line('token=')
        program.wait(10)
        return line

    def pair(self) -> None:
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(self.directory / 'control.sock'))
        client.settimeout(60)
        text = client.makefile('rw')
        for request in ({'request': 'watch'}, {'request': 'permit_join', 'data': {'time': 60}}):
            text.write(json.dumps(request) + '\n')
        text.flush()
        ready = set()
        for line in text:
            value = json.loads(line)
            if value.get('kind') == 'button' and value.get('state') == 'ready':
                ready.add(value['id'])
            if len(ready) == 2:
                break
        text.write(json.dumps({'request': 'permit_join', 'data': {'time': 0}}) + '\n')
        text.flush()
        client.close()

    def flood(self, octets: int) -> None:
        """Presses a button until the live stream has had that many octets."""
        control, watching = (socket.socket(socket.AF_UNIX) for _ in range(2))
        for connection in (control, watching):
            connection.settimeout(60)
            connection.connect(str(self.directory / 'control.sock'))
        watching.sendall(b'{"request":"watch"}\n')
        lines, answers = watching.makefile('rb'), control.makefile('rb')
        seen = len(lines.readline())
        while seen < octets:
            for press in ('down', 'up'):
                control.sendall(json.dumps({'request': 'simulator/press', 'data': {'button': 'hall', 'press': press}}).encode() + b'\n')
                answers.readline()
                line = b''
                while b'"event":"' + press.encode() + b'"' not in line:
                    line = lines.readline()
                    seen += len(line)
        for connection in (control, watching):
            connection.close()

    def end(self) -> None:
        self._ends.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]
