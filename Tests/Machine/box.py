"""A machine with Tryck, and operations that several points use."""
import argparse
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from machine import Machine
from outside import Air, Button, WebServer
from program import Failure

Part = TypeVar('Part', Machine, Air, Button, WebServer)
SERIAL = 'BA11-A00001'


def equal(found: object, expected: object, what: str) -> None:
    if found != expected:
        raise Failure(f'{what}: {found}, expected {expected}')


class Box:
    machine: Machine
    air: Air
    button: Button
    web: WebServer

    def __init__(self, directory: Path, arguments: argparse.Namespace) -> None:
        self.figures: list[str] = []
        self._directory = directory
        self._arguments = arguments
        self._ends = ExitStack()

    def start(self) -> None:
        given, directory = self._arguments, self._directory
        subprocess.run(['dpkg-deb', '--extract', given.package, directory / 'package'], check=True)
        self.web = self._started(WebServer())
        self.air = self._started(Air(directory, given.rootcanal, given.nodelay))
        self.button = self._started(Button('kitchen', SERIAL, self.air, directory, directory / 'package/usr/bin/tryck'))
        self.machine = self._started(
            Machine(directory, given.kernel, given.initramfs, given.disk, self._packages(), self.air.port))
        self.machine.do('mkdir -p packages && tar -C packages -xf /dev/vdb')

    def _started(self, part: Part) -> Part:
        self._ends.callback(part.end)
        return part

    def _packages(self) -> Path:
        """A tar archive with `tryck_1.deb`, and with `tryck_2.deb`, which is the same but for a higher version."""
        directory, archive = self._directory / 'packages', self._directory / 'packages.tar'
        directory.mkdir()
        (directory / 'tryck_1.deb').write_bytes(self._arguments.package.read_bytes())
        subprocess.run(['dpkg-deb', '--raw-extract', self._arguments.package, self._directory / 'newer'], check=True)
        control = self._directory / 'newer/DEBIAN/control'
        control.write_text(re.sub(r'(?m)^(Version: .*)$', r'\1+newer', control.read_text()))
        subprocess.run(
            ['dpkg-deb', '-Zgzip', '-z1', '--root-owner-group', '--build', self._directory / 'newer',
             directory / 'tryck_2.deb'], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(['tar', '-C', directory, '-cf', archive, '.'], check=True)
        return archive

    def end(self) -> None:
        self._ends.close()

    def figure(self, sentence: str) -> None:
        self.figures.append(sentence)

    def tell(self) -> None:
        """Logs that help to understand a failure."""
        try:
            print(self.machine.run('systemctl --no-pager --full --lines=25 status tryck').output, flush=True)
        except Failure as failure:
            print(failure, self.machine.console.read_text(errors='replace')[-2000:], sep='\n', flush=True)

    # --- The service

    def show(self, name: str) -> str:
        """A property of the service in systemd."""
        return self.machine.do(f'systemctl show --property {name} --value tryck')

    def exposure(self) -> float:
        said = self.machine.do('systemd-analyze --no-pager security tryck.service | tail -n 1')
        return float(said.partition(': ')[2].split()[0])

    @property
    def pid(self) -> int:
        if pid := int(self.show('MainPID')):
            return pid
        raise Failure('tryckd does not run')

    def well(self, within: float = 60) -> None:
        """Waits until adapter, broker, rules and buttons have no fault."""
        self.machine.until('tryck status', 'all is well', within)

    def restart(self) -> None:
        """Also waits until the button has reconnected."""
        mark = self.button.mark
        self.machine.do('systemctl restart tryck')
        self.button.notes('session ready', since=mark)

    @contextmanager
    def same_process(self) -> Iterator[None]:
        before = self.pid
        yield
        equal(self.pid, before, 'its process')

    # --- Log and messages

    def journal_mark(self) -> str:
        """A mark of the present moment, for `journal`."""
        return self.machine.do('date +%s.%6N')

    def journal(self, since: str, *options: str) -> list[str]:
        return self.machine.do(f"journalctl {self._journal(since)} {' '.join(options)}").splitlines()

    def journal_until(self, text: str, since: str, within: float = 60) -> str:
        return self.machine.until(
            f"journalctl {self._journal(since)} | grep -m 1 -F -e '{text}'", f'the journal has "{text}"', within)

    @staticmethod
    def _journal(since: str) -> str:
        return f"--quiet --no-pager --output cat --unit tryck --since @{since}"

    def listen(self) -> None:
        """Records all messages, including retained ones."""
        self.machine.do(
            'rm -f /run/messages; '
            'systemd-run --quiet --unit messages --property StandardOutput=file:/run/messages mosquitto_sub -v -t "#"')
        self.machine.until('grep -q bridge/state /run/messages', 'mosquitto_sub hears something')

    def message_mark(self) -> int:
        """A mark of the present moment, for `message`."""
        return int(self.machine.do('wc -l </run/messages'))

    def message(self, pattern: str, since: int, within: float = 60) -> str:
        """Waits for the first topic and payload that match this extended regular expression."""
        return self.machine.until(
            f"tail -n +{since + 1} /run/messages | grep -m 1 -E -e '{pattern}'", f'a message with {pattern}', within)

    def press_arrives(self) -> None:
        mark = self.message_mark()
        self.button.press()
        self.message('/action click$', mark)
