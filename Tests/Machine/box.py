"""A small box with Tryck on it, and what is asked of it again and again."""
import argparse
import re
import subprocess
from contextlib import ExitStack
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
