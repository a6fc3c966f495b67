"""The maker's clients of flicd, point by point; Tests/FlicdClients/run starts this."""
import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from house import House
from program import Failure, Program

Check = Callable[[], None]

# The program, and its output at the end.
WIZARDS = {
    'new_scan_wizard.py': 'Your button is now ready. The bd addr is {}.',
    'scan_wizard.py': 'Button {} was successfully added!',
    'newscanwizard.js': 'Your new button is {}',
    'scanwizard.js': 'Button {} successfully added!',
    'NewScanWizard': 'Your new button is: {}',
}
# The program, and its output for a press.
LISTENERS = {
    'test_client.py': ('{} ClickType.ButtonDown', '{} ClickType.ButtonUp'),
    'thread_example.py': ('{} ClickType.ButtonDown', '{} ClickType.ButtonUp'),
    'aioflic_test.py': ('Simple or Double or hold {} ClickType.ButtonSingleClick 0',),
    'example.js': ('{} ButtonDown notQueued 0 seconds ago', '{} ButtonUp notQueued 0 seconds ago'),
    'TestClient': ('{} Down', '{} Up'),
}
# The module lacks an import.
ASYNCIO = """\
import builtins, queue, runpy
builtins.queue = queue
runpy.run_path('aioflic_test.py', run_name='__main__')
"""


class NotHere(Exception):
    """The name of a tool that is not installed."""


def needs(tool: str) -> None:
    if not shutil.which(tool):
        raise NotHere(tool)


class Clients:
    def __init__(self, house: House, fliclib: Path, directory: Path) -> None:
        self._house = house
        self._fliclib = fliclib
        self._directory = directory

    def points(self) -> list[tuple[str, Check]]:
        return [
            *((f'{name} pairs a button', lambda name=name: self.pairs(name)) for name in WIZARDS),
            ('all that listen hear the same press', self.listen),
            ('thread_example.py ends when it is told to', self.ends),
            ('simpleclient: info, a button, its battery', self.info),
            ('simpleclient: a press in four families', self.families),
            ('simpleclient: a press is stored while the button is away', self.stored),
            ('simpleclient: two of them, and one forces the button off', self.forced),
            ('simpleclient: a wizard is cancelled, a button deleted, its advertisements scanned', self.deleted),
        ]

    # --- The examples of the libraries

    def start(self, name: str) -> Program:
        library = self._fliclib / 'clientlib'
        match name.rpartition('.')[2]:
            case 'py':
                script = ['-c', ASYNCIO] if name == 'aioflic_test.py' else [name]
                return self._house.client(sys.executable, '-u', *script, directory=library / 'python')
            case 'js':
                needs('node')
                return self._house.client('node', name, directory=library / 'nodejs')
            case _:
                return self._house.client('java', '-cp', self.classes(), name, directory=self._directory)

    def classes(self) -> Path:
        needs('javac')
        classes = self._directory / 'classes'
        if not classes.exists():
            java = self._fliclib / 'clientlib/java'
            # Its ScanWizard no longer compiles with its own library.
            examples = [java / f'testapp/src/{name}.java' for name in ('NewScanWizard', 'TestClient')]
            build('javac', '-nowarn', '-d', classes, *java.glob('lib/src/**/*.java'), *examples)
        return classes

    def pairs(self, name: str) -> None:
        self._house.offer_button()
        wizard = self.start(name)
        wizard.line(WIZARDS[name].format(self._house.address))
        wizard.wait(20)

    def listen(self) -> None:
        clients: dict[str, Program] = {}
        for name in LISTENERS:
            try:
                clients[name] = self.start(name)
            except NotHere as tool:
                print(f'    without {name}: there is no {tool} here')
        self._house.wait_for_channels(len(clients))
        self._house.press('click')
        for name, client in clients.items():
            for line in LISTENERS[name]:
                client.line(line.format(self._house.address))
        for client in clients.values():
            client.end()

    def ends(self) -> None:
        client = self.start('thread_example.py')
        client.line('Available commands')
        client.write('startScan')
        client.write('exit')
        client.wait(20)

    # --- The client for a terminal

    def terminal(self) -> 'Terminal':
        needs('g++')
        program = self._directory / 'simpleclient'
        if not program.exists():
            # The client uses ctime() without including its header.
            build('g++', '-w', '-include', 'ctime', '-o', program, self._fliclib / 'simpleclient/simpleclient.cpp')
        return Terminal(self._house.client('stdbuf', '-oL', program, 'localhost', directory=self._directory))

    def info(self) -> None:
        address, client = self._house.address, self.terminal()
        client.asks('getInfo', 'Got info: Attached', address)
        client.asks(f'getButtonInfo {address}', f'Button info response: {address} ')
        client.asks('getButtonInfo 80:e4:da:00:00:01', f'80:e4:da:00:00:01 {32 * "0"}   0 0')
        client.asks(f'createBatteryStatusListener {address} 3', 'Battery status report for id 3, percentage: ')
        client.asks('createBatteryStatusListener 80:e4:da:00:00:01 4', 'report for id 4, percentage: -1%')

    def families(self) -> None:
        client = self.terminal()
        client.asks(f'connect {self._house.address} 7', 'Create conn: 7 NoError Ready')
        client.asks('changeModeParameters 7 LowLatency 511')
        for press, last, expected in (
            ('click', '/hold: 7, ButtonSingleClick', 'Down Up Click SingleClick SingleClick'),
            ('double_click', '/hold: 7, ButtonDoubleClick', 'Down Up Click Down Up Click DoubleClick DoubleClick'),
            ('hold', 'click: 7, ButtonSingleClick', 'Down Hold Hold Up SingleClick'),
        ):
            mark = client.program.mark
            self._house.press(press)
            client.program.line(last, since=mark)
            # "Button up/down: 7, ButtonDown, not queued, 0 seconds ago"
            heard = [line.split(', ') for line in client.program.lines[mark:]]
            if [words[1].removeprefix('Button') for words in heard] != expected.split():
                raise Failure(f'{press}: {heard}')
            if any(words[2:] != ['not queued', '0 seconds ago'] for words in heard):
                raise Failure(f'{press} is not live: {heard}')

    def stored(self) -> None:
        client = self.terminal()
        client.asks(f'connect {self._house.address} 7', 'Create conn: 7 NoError Ready')
        mark = client.program.mark
        self._house.leave()
        client.program.line('Connection status changed: 7 Disconnected', since=mark)
        self._house.press('click')
        self._house.come_back()
        for line in ('7 Connected', '7 Ready', 'ButtonDown, queued', 'ButtonUp, queued', 'ButtonClick, queued'):
            client.program.line(line, since=mark)

    def forced(self) -> None:
        address, client, other = self._house.address, self.terminal(), self.terminal()
        for each in (client, other):
            each.asks(f'connect {address} 7', 'Create conn: 7 NoError Ready')
        client.asks(f'connect {address} 8', 'Create conn: 8 NoError Ready')
        client.asks('disconnect 8', 'Connection removed: 8 RemovedByThisClient')
        client.asks(f'forceDisconnect {address}', 'Connection removed: 7 ForceDisconnectedByThisClient')
        other.program.line('Connection removed: 7 ForceDisconnectedByOtherClient')

    def deleted(self) -> None:
        address, client, other = self._house.address, self.terminal(), self.terminal()
        client.asks('startScanWizard', 'Please click and hold down')
        client.asks('cancelScanWizard', 'Scan wizard done with status WizardCancelledByUser')
        other.asks(f'connect {address} 7', 'Create conn: 7 NoError Ready')
        client.asks(f'delete {address}', f'Button {address} deleted by this client')
        other.program.line('Connection removed: 7 DeletedByOtherClient')
        other.program.line(f'Button {address} deleted not by this client')
        client.asks('startScan')
        self._house.press('make_public')
        client.program.line(f'ADV: {address} ')
        client.program.line('public unverified')


class Terminal:
    """At the end of its input this client does not end, but repeats the last line."""

    def __init__(self, program: Program) -> None:
        self.program = program
        program.line('Available commands')

    def asks(self, command: str, *answers: str) -> None:
        mark = self.program.mark
        self.program.write(command)
        for answer in answers:
            self.program.line(answer, since=mark)


def build(*command: str | Path) -> None:
    if (done := subprocess.run(command, capture_output=True, text=True)).returncode:
        raise Failure(f'{command[0]}: {done.stderr}')


def try_out(sentence: str, check: Check) -> str:
    """The beginning of the line of this point."""
    start, sign, reason = time.monotonic(), '✓', ''
    try:
        check()
    except NotHere as tool:
        sign, reason = '–', f': there is no {tool} here'
    except Failure as failure:
        sign, reason = '✗', f'\n    {failure}'
    print(f'{sign} {time.monotonic() - start:5.1f} s  {sentence}{reason}', flush=True)
    return sign


def main() -> int:
    parser = argparse.ArgumentParser(prog='Tests/FlicdClients/run')
    for name in ('fliclib', 'tryckd'):
        parser.add_argument(f'--{name}', type=Path, required=True)
    arguments = parser.parse_args()
    # The handler also ends all started programs.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix='tryck-flicd-') as directory:
        try:
            house = House(Path(directory), arguments.tryckd)
        except Failure as failure:
            print(f'Tests/FlicdClients/run: {failure}', file=sys.stderr)
            return 1
        try:
            signs = [try_out(*point) for point in Clients(house, arguments.fliclib, Path(directory)).points()]
        finally:
            house.end()
    print(f'{signs.count("✓")} of {len(signs)} points hold, {signs.count("–")} were left out.')
    return 1 if '✗' in signs else 0


sys.exit(main())
