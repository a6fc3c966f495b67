"""Runs a tryckd for measurements, with 8 simulated buttons, 100 rules and MQTT over TLS, on loopback and in a temporary
directory that is removed at the end. The buttons are in another process, because tryckd has no simulator.
"""
import atexit
import getpass
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

BUTTONS = 8
RULES = 100
PATIENCE = 120.0  # seconds

directory = Path(tempfile.mkdtemp())
children: list[subprocess.Popen] = []


@atexit.register
def clean_up() -> None:
    for child in children:
        child.kill()
        child.wait()
    shutil.rmtree(directory)


def forget() -> None:
    """Deletes the state of the daemon: pairings and rule state."""
    shutil.rmtree(directory / 'state')


def rules() -> str:
    """The rules as JSON, which is valid YAML."""
    names = [f'button_{index % BUTTONS}' for index in range(RULES)]
    return json.dumps({
        'version': 1,
        'buttons': {f'button_{index}': f'80:E4:DA:00:00:{index:02X}' for index in range(BUTTONS)},
        'rules': [
            {'id': f'rule_{index}', 'triggers': {'button': name, 'event': 'click'},
             'actions': [{'publish': {'topic': f'lamp/{index}/set', 'json': {'state': 'TOGGLE'}}}]}
            for index, name in enumerate(names)]})


def configure(**keys: object) -> Path:
    (directory / 'rules').mkdir(exist_ok=True)
    (directory / 'rules/home.yaml').write_text(rules())
    file = directory / 'tryck.yaml'
    file.write_text(json.dumps(keys))
    return file


class Daemon:
    """A tryckd that has reported that it is ready, with an empty environment."""

    def __init__(self, program: str, configuration: Path, under: Sequence[str] = ()) -> None:
        notify = directory / 'notify'
        notify.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        listener.bind(str(notify))
        listener.settimeout(PATIENCE)
        self.log = (directory / 'log').open('w+')
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [*under, program, '--config', configuration, '--state-directory', directory / 'state', '--control-socket',
             directory / 'control.sock', '--log-level', 'debug'],
            env={'NOTIFY_SOCKET': str(notify)}, stdout=subprocess.DEVNULL, stderr=self.log)
        children.append(self.process)
        while b'READY=1' not in listener.recv(4096):
            pass
        self.milliseconds = (time.perf_counter() - began) * 1000
        listener.close()

    def ask(self, request: str, **data: object) -> dict:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(PATIENCE)
            connection.connect(str(directory / 'control.sock'))
            connection.sendall(json.dumps({'request': request, 'data': data}).encode() + b'\n')
            return json.loads(connection.makefile().readline())['data']

    def pair(self) -> None:
        """Begins to search for new buttons, as soon as the adapter is ready."""
        deadline = time.monotonic() + PATIENCE
        while self.ask('status')['adapter']['state'] != 'powered_on':
            if time.monotonic() > deadline:
                sys.exit(f'{sys.argv[0]}: the adapter is not ready: {self.ask("status")}')
            time.sleep(0.1)
        self.ask('permit_join', time=int(PATIENCE))

    def wait_until_all_is_well(self, ready: int = BUTTONS) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            status = self.ask('status')
            if status['buttons']['ready'] >= ready and status['broker']['state'] == 'connected':
                return
            if time.monotonic() > deadline:
                self.log.seek(0)
                sys.exit(f'{sys.argv[0]}: the buttons or the broker are not ready: {status}\n{self.log.read()[-2000:]}')
            time.sleep(0.1)

    def fields(self) -> dict[str, int]:
        """The numbers of /proc/PID/status; memory is in KiB."""
        lines = Path(f'/proc/{self.process.pid}/status').read_text().splitlines()
        words = ((name, value.split()) for name, value in (line.split(':', 1) for line in lines))
        return {name: int(value[0]) for name, value in words if value and value[0].isdigit()}

    def end(self) -> None:
        self.process.terminate()
        status = self.process.wait(PATIENCE)
        children.remove(self.process)
        self.log.close()
        if status:
            sys.exit(f'{sys.argv[0]}: {self.process.args[0]} ended with status {status}')


class Broker:
    def __init__(self) -> None:
        subprocess.run(
            ['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost',
             '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', directory / 'key.pem', '-out', directory / 'ca.pem'],
            check=True, stderr=subprocess.DEVNULL)
        with socket.socket() as listener:
            listener.bind(('127.0.0.1', 0))
            self.port = listener.getsockname()[1]
        file = directory / 'mosquitto.conf'
        file.write_text(
            f'listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\nuser {getpass.getuser()}\n'
            f'certfile {directory}/ca.pem\nkeyfile {directory}/key.pem\n')
        self.process = subprocess.Popen(
            ['/usr/sbin/mosquitto', '-c', file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        children.append(self.process)

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE)
        children.remove(self.process)


class Air:
    """A controller with simulated buttons, which tryck serves at the socket NAME.sock."""

    def __init__(self, tryck: Path, name: str = 'air') -> None:
        file = directory / f'{name}.yaml'
        file.write_text(json.dumps({'buttons': {
            f'button_{index}': {'address': f'80:E4:DA:00:00:{index:02X}', 'public': True}
            for index in range(BUTTONS)}}))
        log = directory / f'{name}.log'
        with log.open('w') as output:
            self.process = subprocess.Popen(
                [tryck, 'simulate', file, '--listen', directory / f'{name}.sock', '--json'], stdin=subprocess.PIPE,
                stdout=output, text=True)
        children.append(self.process)
        deadline = time.monotonic() + PATIENCE
        while '"listening"' not in log.read_text():
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f'{sys.argv[0]}: {tryck} simulate does not listen: {log.read_text()}')
            time.sleep(0.02)
        self.root = json.loads(log.read_text().splitlines()[0])['key']

    def press(self, button: str, press: str) -> None:
        self.process.stdin.write(f'{button} {press}\n')
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE)
        children.remove(self.process)


def whole(broker: Broker, air: Air) -> Path:
    return configure(
        bluetooth={'transport': f'h4:unix:{directory}/air.sock', 'trust_roots': [air.root]},
        mqtt={'broker': f'mqtts://127.0.0.1:{broker.port}', 'tls': {'ca': f'{directory}/ca.pem'}})


def alone() -> Path:
    return configure(bluetooth={'transport': 'none'}, mqtt={'broker': 'none'})
