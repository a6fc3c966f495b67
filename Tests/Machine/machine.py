"""A machine in QEMU, which is controlled over its serial port."""
import base64
import itertools
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from program import Failure, Program

# The time limit for the start of systemd, on a busy machine without KVM.
BOOT = 300


@dataclass(frozen=True)
class Answer:
    status: int
    output: str


class Machine:
    def __init__(self, directory: Path, kernel: Path, initramfs: Path, disk: Path, packages: Path, air: int) -> None:
        self._numbers = itertools.count(1)
        self._directory = directory
        self._commands = directory / 'commands'
        self.console = directory / 'console'
        overlay = directory / 'overlay'
        subprocess.run(
            ['qemu-img', 'create', '-q', '-f', 'qcow2', '-b', disk, '-F', 'raw', overlay], check=True)
        self._qemu_command = [
            'qemu-system-x86_64', '-machine', 'q35', '-cpu', 'max', '-accel', 'tcg,thread=multi',
            '-m', '1024', '-smp', '2', '-nodefaults', '-display', 'none', '-no-reboot',
            '-serial', f'file:{self.console}',
            '-drive', f'file={overlay},if=virtio,format=qcow2,cache=unsafe',
            '-drive', f'file={packages},if=virtio,format=raw,readonly=on',
            '-netdev', 'user,id=outside', '-device', 'virtio-net-pci,netdev=outside,romfile=',
            '-device', 'virtio-serial-pci', '-chardev', f'socket,id=commands,path={self._commands},server=on,wait=off',
            '-device', 'virtserialport,chardev=commands,name=commands',
            '-kernel', kernel, '-initrd', initramfs,
            '-append', f'console=ttyS0 quiet loglevel=3 net.ifnames=0 mitigations=off panic=-1 cryptomgr.notests air={air} '
            'systemd.wants=commands.service systemd.wants=air.service systemd.wants=names.service']
        self._start()

    def _start(self) -> None:
        self._qemu = Program('qemu', *self._qemu_command, directory=self._directory)
        self._rest = b''
        self._port = self._connect()
        self._wait_until_booted()

    def _connect(self) -> socket.socket:
        deadline = time.monotonic() + 30
        while True:
            port = socket.socket(socket.AF_UNIX)
            try:
                port.connect(str(self._commands))
                return port
            except OSError:
                port.close()
                if time.monotonic() > deadline:
                    raise Failure('QEMU does not start:\n' + '\n'.join(self._qemu.lines)) from None
                time.sleep(0.05)

    def run(self, script: str, within: float = 120) -> Answer:
        """Runs a script in a shell of root."""
        number = self._send(script)
        deadline = time.monotonic() + within
        while True:
            # A late answer to an earlier command is ignored.
            words = self._line(deadline, script).split()
            if len(words) in (2, 3) and words[0] == number:
                return Answer(int(words[1]), base64.b64decode(''.join(words[2:])).decode(errors='replace').rstrip('\n'))

    def _send(self, script: str) -> str:
        number = f'{next(self._numbers)}'
        try:
            self._port.sendall(f'{number} {base64.b64encode(script.encode()).decode()}\n'.encode())
        except OSError:
            raise Failure('the machine has ended:\n' + '\n'.join(self._qemu.lines)) from None
        return number

    def _line(self, deadline: float, script: str) -> str:
        while b'\n' not in self._rest:
            self._port.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                octets = self._port.recv(65536)
            except TimeoutError:
                raise Failure(f'the machine does not get to the end of: {script}') from None
            except OSError:
                octets = b''
            if not octets:
                raise Failure('the machine has ended:\n' + '\n'.join(self._qemu.lines))
            self._rest += octets
        line, _, self._rest = self._rest.partition(b'\n')
        return line.decode(errors='replace')

    def do(self, script: str, within: float = 120) -> str:
        """Returns the output of the script, which must end with status 0."""
        answer = self.run(script, within)
        if answer.status:
            raise Failure(f'{script}: status {answer.status}: {answer.output}')
        return answer.output

    def until(self, script: str, what: str, within: float = 60) -> str:
        """Repeats the script until it ends with status 0, and returns its output."""
        deadline = time.monotonic() + within
        while (answer := self.run(script)).status:
            if time.monotonic() > deadline:
                raise Failure(f'{what}: not within {within:g} s; {script}: {answer.output[-2000:]}')
            time.sleep(0.1)
        return answer.output

    # --- Off and on

    def reboot(self) -> None:
        """Reboots the machine normally; QEMU ends at a reboot, as configured, and is started again."""
        # The shell may end before it answers.
        self._send('systemctl --no-block reboot')
        self._qemu.wait(BOOT)
        self._port.close()
        self._start()

    def cut_power(self) -> None:
        """Cuts the power for a moment; data that was written to the disk is kept."""
        self._port.close()
        self._qemu.end(signal.SIGKILL)
        self._start()

    def _wait_until_booted(self) -> None:
        """Waits until systemd has finished the boot, with or without failed units."""
        self.run('systemctl is-system-running --wait', within=BOOT)

    def end(self) -> None:
        self._port.close()
        self._qemu.end()
