"""tryckd, its control socket, and simulated buttons."""
import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from broker import Broker
from program import Program, free_port
from tape import Failure, limit

NO_RULES = 'version: 1\n'
PROJECT = Path(__file__).resolve().parents[2]


def built(program: str, configuration: str = 'debug') -> Path:
    return PROJECT / '.build' / configuration / program


def prepared(variable: str, pattern: str) -> str:
    """The path of a tool in .build/test-tools, or in a variable."""
    found = os.environ.get(variable) or next(
        (str(path) for path in (PROJECT / '.build/test-tools').glob(pattern)), None)
    if not found:
        raise Failure(f'there is no {pattern} in .build/test-tools; ./deploy/test puts it there')
    return found


class Air:
    """A virtual controller, and buttons on it that outlive tryckd."""

    def __init__(self, directory: Path) -> None:
        self.transport = ''
        self.trust_root = ''
        self._directory = directory
        self._rootcanal: Program | None = None
        self._buttons: dict[str, Program] = {}

    async def start(self) -> None:
        ports = [free_port() for _ in range(4)]
        names = ('hci_port', 'test_port', 'link_port', 'link_ble_port')
        self._rootcanal = await Program.start(
            'rootcanal', prepared('TRYCK_ROOTCANAL', f'python/**/linux-{os.uname().machine}/rootcanal'),
            *(f'-{name}={port}' for name, port in zip(names, ports)), directory=self._directory,
            environment={'LD_PRELOAD': prepared('TRYCK_NODELAY', 'nodelay.so')})
        await self._rootcanal.line(f'Listening on: {ports[0]}')
        self.transport = f'h4:tcp:127.0.0.1:{ports[0]}'

    async def add(self, name: str, button: dict[str, Any]) -> None:
        file = self._directory / f'{name}.yaml'
        file.write_text(json.dumps({'buttons': {name: button}}))
        program = self._buttons[name] = await Program.start(
            name, built('tryck'), 'simulate', file, '--attach', self.transport, directory=self._directory)
        self.trust_root = (await program.line('trust_roots')).split('"')[1]

    async def press(self, button: str, press: str) -> None:
        await self._buttons[button].write(f'{button} {press}')

    async def lose(self, button: str) -> None:
        """Ends a button in the middle of whatever it does, as an empty battery would."""
        await self._buttons[button].end(signal.SIGKILL)

    async def end(self) -> None:
        for program in (*self._buttons.values(), self._rootcanal):
            if program:
                await program.end()


@dataclass(frozen=True)
class Control:
    """A connection to the control socket: a line of JSON is a request, another its answer."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, request: str, **data: Any) -> Any:
        self.writer.write(json.dumps({'request': request, 'data': data}).encode() + b'\n')
        async with limit(20, f'tryckd answers {request}'):
            answer = json.loads(await self.reader.readline())
        if answer['status'] != 'ok':
            raise Failure(f'tryckd refuses {request}: {answer["error"]}')
        return answer['data']


class Bridge:
    """A tryckd with a state directory of its own."""

    def __init__(
        self, directory: Path, broker: Broker, transport: str, *, base: str = 'tryck', trust_root: str = '',
        rules: str = NO_RULES, build: str = 'debug'
    ) -> None:
        self.base = base
        self._directory = directory
        self._build = build
        self._program: Program | None = None
        (directory / 'rules').mkdir(parents=True)
        (directory / 'state').mkdir(mode=0o700)
        self._rules = directory / 'rules/home.yaml'
        self._rules.write_text(rules)
        # JSON is valid YAML.
        (directory / 'tryck.yaml').write_text(json.dumps({
            'bluetooth': {'transport': transport, **({'trust_roots': [trust_root]} if trust_root else {})},
            'mqtt': {'broker': f'mqtt://127.0.0.1:{broker.port}', 'base_topic': base},
            'control': {'mqtt': 'all'}}))

    @property
    def log(self) -> list[str]:
        return self._program.lines.items if self._program else []

    @property
    def state_directory(self) -> Path:
        return self._directory / 'state'

    async def start(self) -> None:
        self._program = await Program.start(
            'tryckd', built('tryckd', self._build), '--config', self._directory / 'tryck.yaml', '--state-directory',
            self.state_directory, '--control-socket', self._directory / 'control.sock', '--log-level', 'debug',
            directory=self._directory)
        for text in ('commands reach it at', 'connected to', 'is ready'):
            await self._program.line(text)

    async def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._program:
            await self._program.end(how)

    def send(self, number: signal.Signals) -> None:
        assert self._program
        self._program.send(number)

    @asynccontextmanager
    async def control(self) -> AsyncIterator['Control']:
        reader, writer = await asyncio.open_unix_connection(self._directory / 'control.sock')
        try:
            yield Control(reader, writer)
        finally:
            writer.close()

    async def ask(self, request: str, **data: Any) -> Any:
        async with self.control() as control:
            return await control.ask(request, **data)

    async def ready(self, button: str, within: float = 30) -> None:
        """Waits until the button with this id is connected and verified."""
        async with limit(within, f'{button} of {self.base} is ready'):
            while not any((each['id'], each['state']) == (button, 'ready') for each in await self.ask('buttons')):
                await asyncio.sleep(0.05)

    async def load(self, rules: str) -> None:
        self._rules.write_text(rules)
        await self.ask('rules/reload')
