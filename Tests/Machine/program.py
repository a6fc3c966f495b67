"""The programs outside the virtual machine; each is ended by its process id."""
import os
import signal
import subprocess
import threading
import time
from pathlib import Path


class Failure(Exception):
    """A failure, with a sentence for people."""


class Program:
    """A process, and the lines of its output."""

    def __init__(self, name: str, *command: str | Path, directory: Path, environment: dict[str, str] | None = None) -> None:
        self.name = name
        self.lines: list[str] = []
        self._news = threading.Condition()
        self._process = subprocess.Popen(
            command, cwd=directory, env={**os.environ, **(environment or {})}, text=True, errors='replace',
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self._copying = threading.Thread(target=self._copy, daemon=True)
        self._copying.start()

    def _copy(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            with self._news:
                self.lines.append(line.rstrip())
                self._news.notify_all()

    @property
    def mark(self) -> int:
        """A mark of the present moment, for `line`."""
        return len(self.lines)

    def line(self, text: str, *, since: int = 0, within: float = 60) -> str:
        """Waits for the first line with this text after a mark."""
        deadline = time.monotonic() + within
        with self._news:
            while True:
                for line in self.lines[since:]:
                    if text in line:
                        return line
                left = deadline - time.monotonic()
                if left <= 0 or not self._copying.is_alive():
                    raise Failure(
                        f'{self.name} does not say "{text}" within {within:g} s; its last lines:\n'
                        + '\n'.join(self.lines[-12:]))
                self._news.wait(min(left, 1))

    def write(self, line: str) -> None:
        assert self._process.stdin
        self._process.stdin.write(line + '\n')
        self._process.stdin.flush()

    def wait(self, within: float) -> None:
        """Waits until the process has ended by itself."""
        try:
            self._process.wait(within)
        except subprocess.TimeoutExpired:
            raise Failure(f'{self.name} does not end within {within:g} s') from None

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        self._process.send_signal(how)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
