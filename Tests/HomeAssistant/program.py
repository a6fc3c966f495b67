"""The started programs; each is ended by its process id."""
import asyncio
import os
import signal
import socket
from pathlib import Path

from tape import Failure, Tape


def free_port() -> int:
    """A port that is free at this moment."""
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        return listener.getsockname()[1]


class Program:
    """A process, and the lines of its output."""

    def __init__(self, name: str, process: asyncio.subprocess.Process) -> None:
        self.name = name
        self.lines = Tape[str]()
        self._process = process
        self._copying = asyncio.create_task(self._copy())

    @classmethod
    async def start(
        cls, name: str, *command: str | Path, directory: Path, environment: dict[str, str] | None = None
    ) -> 'Program':
        process = await asyncio.create_subprocess_exec(
            *command, cwd=directory, env={**os.environ, **(environment or {})}, limit=1 << 20,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT)
        return cls(name, process)

    async def _copy(self) -> None:
        assert self._process.stdout
        async for line in self._process.stdout:
            self.lines.append(line.decode(errors='replace').rstrip())

    async def line(self, text: str, within: float = 20) -> str:
        """Waits for the first line with this text."""
        try:
            return await self.lines.wait(
                lambda line: text in line, f'{self.name} says "{text}"', since=0, within=within)
        except Failure as failure:
            raise Failure(f'{failure}; its last lines:\n' + '\n'.join(self.lines.items[-12:])) from None

    async def write(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(line.encode() + b'\n')
        await self._process.stdin.drain()

    def send(self, number: signal.Signals) -> None:
        try:
            self._process.send_signal(number)
        except ProcessLookupError:
            raise Failure(f'{self.name} has ended; its last lines:\n' + '\n'.join(self.lines.items[-12:])) from None

    async def end(self, how: signal.Signals = signal.SIGTERM, within: float = 20) -> int:
        """Ends the process if it still runs, if necessary with SIGKILL, and returns its status."""
        if self._process.returncode is None:
            self.send(how)
        try:
            async with asyncio.timeout(within):
                status = await self._process.wait()
                await self._copying
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
            raise Failure(f'{self.name} was asked to end and did not within {within:g} s') from None
        return status
