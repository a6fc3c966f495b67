"""A house for the page: a real broker, tryckd with simulated buttons, and tryck-web. All on loopback, in a temporary directory."""
from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
PASSWORD = 'open sesame'
PAIRED = ('kitchen', 'hall', 'sofa', 'desk')

# The fifth button is not paired: the page pairs it.
SIMULATOR = '''\
buttons:
  kitchen: {address: "80:E4:DA:00:00:01", serial: BA00-K00001, public: true}
  hall: {address: "80:E4:DA:00:00:02", serial: BA00-H00002, public: true}
  sofa: {model: duo, address: "80:E4:DA:00:00:03", serial: DA01-D00042, public: true}
  desk: {model: twist, address: "80:E4:DA:00:00:04", serial: TA01-T00007, public: true}
  porch: {address: "80:E4:DA:00:00:05", serial: BA00-P00005, public: false}
'''


def wait(what: str, answer: Callable[[], Any], within: float = 60) -> Any:
    """Asks every 20 ms until the answer is true; returns it."""
    deadline = time.monotonic() + within
    while True:
        found = answer()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f'waited {within:g} s for {what}')
        time.sleep(0.02)


def free_port() -> int:
    """A port that is free at this moment."""
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        return listener.getsockname()[1]


class Program:
    """A started program, whose output goes to a file."""

    def __init__(self, log: Path, *command: str | Path, environment: dict[str, str] | None = None) -> None:
        self.log = log
        with log.open('ab') as output:
            self._process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                cwd=log.parent, env={**os.environ, **(environment or {})})

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self.is_running:
            self._process.send_signal(how)
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise AssertionError(f'{self.log.stem} did not end within 15 s') from None


class Subscriber:
    """Collects the messages of a broker, with Debian's mosquitto_sub."""

    def __init__(self, directory: Path, port: int, topic: str) -> None:
        self._log = directory / 'messages.txt'
        self._log.write_text('')
        self._program = Program(
            self._log, 'mosquitto_sub', '-h', '127.0.0.1', '-p', str(port), '-t', topic, '-t', 'test/ready', '-v')
        wait('a subscription', lambda: self._ping(port) or 'test/ready' in self._log.read_text())

    def _ping(self, port: int) -> None:
        subprocess.run(['mosquitto_pub', '-h', '127.0.0.1', '-p', str(port), '-t', 'test/ready', '-m', '1'], check=True)

    @property
    def messages(self) -> list[str]:
        return [line for line in self._log.read_text().splitlines() if not line.startswith('test/ready')]

    def end(self) -> None:
        self._program.end()


class House:
    """
    - Parameter programs: the folder with tryckd and tryck-web.
    - Parameter buttons: lines of the simulator file; the five of `SIMULATOR` if there are none.
    """

    def __init__(self, programs: Path, *, simulator: str = SIMULATOR, rules: str | None = None, web: str = '') -> None:
        self.programs = programs
        self.directory = Path(tempfile.mkdtemp(prefix='tryck-web-', dir='/dev/shm' if os.access('/dev/shm', os.W_OK) else None))
        self.broker_port = free_port()
        self.port = free_port()
        self.rules = self.directory / 'rules' / 'home.yaml'
        self.rules.parent.mkdir()
        self.rules.write_text(rules if rules is not None else (PROJECT / 'rules' / 'home.yaml').read_text())
        (self.directory / 'simulator.yaml').write_text(simulator)
        (self.directory / 'state').mkdir(mode=0o700)
        (self.directory / 'web').mkdir(mode=0o700)
        (self.directory / 'tryck.yaml').write_text(f'''\
bluetooth: {{transport: "simulated:{self.directory}/simulator.yaml"}}
mqtt: {{broker: "mqtt://127.0.0.1:{self.broker_port}"}}
rules: rules/home.yaml
state_directory: {self.directory}/state
control_socket: {self.socket}
web: {{listen: "127.0.0.1:{self.port}", password: {PASSWORD}{web}}}
''')
        self.broker = self._start_broker()
        self.daemon = self.start_daemon()
        self.server = self.start_server()

    @property
    def socket(self) -> Path:
        return self.directory / 'control.sock'

    @property
    def address(self) -> str:
        return f'http://127.0.0.1:{self.port}/'

    def _start_broker(self) -> Program:
        configuration = self.directory / 'mosquitto.conf'
        configuration.write_text(f'listener {self.broker_port} 127.0.0.1\nallow_anonymous true\n')
        program = shutil.which('mosquitto', path=f'{os.environ["PATH"]}:/usr/sbin') or 'mosquitto'
        broker = Program(self.directory / 'mosquitto.log', program, '-c', configuration)
        wait('the broker', lambda: self._answers(self.broker_port))
        return broker

    @staticmethod
    def _answers(port: int) -> bool:
        try:
            socket.create_connection(('127.0.0.1', port), 1).close()
            return True
        except OSError:
            return False

    def start_daemon(self) -> Program:
        self.daemon = Program(
            self.directory / 'tryckd.log', self.programs / 'tryckd', '--config', self.directory / 'tryck.yaml')
        wait('tryckd', lambda: self._status() or not self.daemon.is_running)
        assert self.daemon.is_running, (self.directory / 'tryckd.log').read_text()
        return self.daemon

    def start_server(self) -> Program:
        self.server = Program(
            self.directory / 'tryck-web.log', self.programs / 'tryck-web', '--config', self.directory / 'tryck.yaml',
            '--state-directory', self.directory / 'web', '--public', PROJECT / 'Sources' / 'TryckWeb' / 'Public')
        wait('tryck-web', lambda: self._answers(self.port) or not self.server.is_running)
        assert self.server.is_running, (self.directory / 'tryck-web.log').read_text()
        return self.server

    def ask(self, request: str, **data: Any) -> Any:
        """A request of the control socket, and the data of its answer."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(str(self.socket))
            connection.sendall(json.dumps({'request': request, 'data': data}).encode() + b'\n')
            answer = json.loads(connection.makefile().readline())
        assert answer['status'] == 'ok', answer
        return answer['data']

    def _status(self) -> Any:
        try:
            return self.ask('status')
        except (OSError, ValueError):
            return None

    def pair(self, count: int = len(PAIRED)) -> None:
        """Pairs the simulated buttons that are in pairing mode; waits until there are that many."""
        def step() -> bool:
            if not self.ask('status')['permit_join']:
                self.ask('permit_join', time=60)
            return len(self.ask('buttons')) >= count

        wait(f'{count} buttons', step, within=60)
        self.ask('permit_join', time=0)
        if count == len(PAIRED):
            self.wait_ready()

    def wait_ready(self) -> None:
        """Waits until the buttons are connected again after a restart. A button that sleeps connects when it is pressed."""
        def ready() -> bool:
            asleep = [button['name'] for button in self.ask('buttons') if button['name'] in PAIRED and button['state'] != 'ready']
            for name in asleep:
                self.press(name, 'click')
            return not asleep or bool(time.sleep(0.3))

        wait('the buttons', ready)

    # Whether a button was pressed.
    pressed = False

    def press(self, button: str, press: str) -> None:
        self.pressed = True
        self.ask('simulator/press', button=button, press=press)

    def end(self) -> None:
        for program in (self.server, self.daemon, self.broker):
            program.end()
        shutil.rmtree(self.directory)
