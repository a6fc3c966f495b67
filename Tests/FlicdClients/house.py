"""A tryckd with one simulated button, and the clients that are started beside it."""
import json
import socket
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from program import Failure, Program

CONFIGURATION = """\
bluetooth: {transport: "simulated:simulator.yaml"}
mqtt: {broker: none}
flicd: {listen: "127.0.0.1:5551"}
"""


class House:
    def __init__(self, directory: Path, tryckd: Path) -> None:
        self._control = directory / 'control.sock'
        self._ends = ExitStack()
        (directory / 'state').mkdir(mode=0o700)
        (directory / 'simulator.yaml').write_text('buttons: {kitchen: {}}\n')
        (directory / 'tryck.yaml').write_text(CONFIGURATION)
        self._daemon = Program(
            'tryckd', tryckd, '--config', 'tryck.yaml', '--state-directory', 'state', '--control-socket', self._control,
            '--log-level', 'debug', directory=directory)
        self._ends.callback(self._daemon.end)
        try:
            self._daemon.line('flicd clients are served')
            self._daemon.line('kitchen: advertising, public')
            self.address = self._daemon.line('kitchen: 80:').split('kitchen: ')[1].split()[0].lower()
        except Failure:
            self.end()
            raise

    def client(self, *command: str | Path, directory: Path) -> Program:
        client = Program(str(command[-1]), *command, directory=directory)
        self._ends.callback(client.end)
        return client

    def end(self) -> None:
        self._ends.close()

    def ask(self, request: str, **data: str) -> Any:
        with socket.socket(socket.AF_UNIX) as control:
            control.connect(str(self._control))
            control.sendall(json.dumps({'request': request, 'data': data}).encode() + b'\n')
            answer = json.loads(control.makefile().readline())
        if answer['status'] != 'ok':
            raise Failure(f'{request} {data}: {answer}')
        return answer['data']

    # --- The button

    def press(self, press: str) -> None:
        """Until it is released, for the first time."""
        mark = self._daemon.mark
        self.ask('simulator/press', button='kitchen', press=press)
        self._daemon.line('simulated kitchen: up', since=mark)

    def leave(self) -> None:
        """The button goes out of range for a while, and stores its presses."""
        mark = self._daemon.mark
        self.ask('button/disconnect', id='kitchen')
        self._daemon.line('simulated kitchen: disconnected', since=mark)

    def come_back(self) -> None:
        mark = self._daemon.mark
        self.ask('button/connect', id='kitchen')
        self._daemon.line('kitchen is ready', since=mark)

    def offer_button(self) -> None:
        """The button is not paired, and in public mode."""
        if self.ask('buttons'):
            mark = self._daemon.mark
            self.ask('button/remove', id='kitchen')
            self._daemon.line('simulated kitchen: disconnected', since=mark)
            self.press('make_public')
            self._daemon.line('kitchen: advertising, public', since=mark)

    def wait_for_channels(self, count: int) -> None:
        deadline = time.monotonic() + 30
        while self.ask('status')['flicd']['channels'] < count:
            if time.monotonic() > deadline:
                raise Failure(f'there are not {count} channels')
            time.sleep(0.1)
