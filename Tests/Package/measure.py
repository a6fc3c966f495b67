"""How soon a tryckd is ready, and how much memory it holds when nothing happens: 100 rules, MQTT over TLS, 8 buttons.

    measure.py NAME=PROGRAM...

The buttons are simulated, in the same process. All of it is on loopback, in a temporary directory.
"""
import atexit
import getpass
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STARTS = 21
BUTTONS = 8
RULES = 100
START_BUDGET = 20.0  # milliseconds
MEMORY_BUDGET = 14.0  # megabytes
PATIENCE = 60.0  # seconds

directory = Path(tempfile.mkdtemp())
children: list[subprocess.Popen] = []


@atexit.register
def clean_up() -> None:
    for child in children:
        child.kill()
        child.wait()
    shutil.rmtree(directory)


def rules() -> str:
    """JSON is YAML."""
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
    """A tryckd that has said it is ready, with nothing of ours in its environment."""

    def __init__(self, program: str, configuration: Path) -> None:
        notify = directory / 'notify'
        notify.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        listener.bind(str(notify))
        listener.settimeout(PATIENCE)
        self.log = (directory / 'log').open('w+')
        began = time.perf_counter()
        self.process = subprocess.Popen(
            [program, '--config', configuration, '--state-directory', directory / 'state', '--control-socket',
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

    def wait_until_all_is_well(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while True:
            status = self.ask('status')
            if status['buttons']['ready'] == BUTTONS and status['broker']['state'] == 'connected':
                return
            if time.monotonic() > deadline:
                self.log.seek(0)
                sys.exit(f'measure: the buttons or the broker are not there: {status}\n{self.log.read()[-2000:]}')
            time.sleep(0.1)

    def memory(self) -> dict[str, float]:
        """Megabytes: all of it, and what is not a part of files."""
        lines = Path(f'/proc/{self.process.pid}/status').read_text().splitlines()
        fields = dict(line.split(':', 1) for line in lines)
        return {name: int(fields[name].split()[0]) / 1024 for name in ('VmRSS', 'RssAnon', 'RssFile')}

    def end(self) -> None:
        self.process.terminate()
        status = self.process.wait(PATIENCE)
        children.remove(self.process)
        self.log.close()
        if status:
            sys.exit(f'measure: {self.process.args[0]} ended with status {status}')


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


def measure(program: str) -> tuple[float, dict[str, float]]:
    alone = configure(bluetooth={'transport': 'none'}, mqtt={'broker': 'none'})
    starts = []
    for _ in range(STARTS):
        daemon = Daemon(program, alone)
        starts.append(daemon.milliseconds)
        daemon.end()

    (directory / 'air.yaml').write_text(json.dumps({'buttons': {
        f'button_{index}': {'address': f'80:E4:DA:00:00:{index:02X}', 'public': True} for index in range(BUTTONS)}}))
    broker = Broker()
    whole = configure(
        bluetooth={'transport': f'simulated:{directory}/air.yaml'},
        mqtt={'broker': f'mqtts://127.0.0.1:{broker.port}', 'tls': {'ca': f'{directory}/ca.pem'}})
    daemon = Daemon(program, whole)
    daemon.ask('permit_join', time=int(PATIENCE))
    daemon.wait_until_all_is_well()
    daemon.end()
    # What pairing took is no part of a service that has run for a year. A button connects when it is pressed.
    daemon = Daemon(program, whole)
    for index in range(BUTTONS):
        daemon.ask('simulator/press', button=f'button_{index}', press='click')
    daemon.wait_until_all_is_well()
    memory = daemon.memory()
    daemon.end()
    broker.end()
    shutil.rmtree(directory / 'state')
    return statistics.median(starts), memory


for argument in sys.argv[1:]:
    name, program = argument.split('=', 1)
    start, memory = measure(program)
    print(f'{name}: {os.path.getsize(program) / 1e6:.1f} MB on disk; '
          f'ready in {start:.1f} ms with {RULES} rules (budget {START_BUDGET:g}); '
          f'{memory["VmRSS"]:.1f} MB with {BUTTONS} buttons and MQTT over TLS (budget {MEMORY_BUDGET:g}), '
          f'{memory["RssAnon"]:.1f} MB of it its own')
