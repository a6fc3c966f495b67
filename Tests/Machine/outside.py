"""Programs outside the machine, which outlive it: virtual controllers with a button, and a web server."""
import json
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, Queue
from threading import Thread

from program import Failure, Program


def free_port() -> int:
    """A port that is free at this moment."""
    with socket.socket() as listener:
        listener.bind(('127.0.0.1', 0))
        return listener.getsockname()[1]


class Air:
    """Virtual controllers within radio range of each other; each connection to `port` gets one."""

    def __init__(self, directory: Path, rootcanal: Path, nodelay: Path) -> None:
        ports = [free_port() for _ in range(4)]
        self.port = ports[0]
        names = ('hci_port', 'test_port', 'link_port', 'link_ble_port')
        self._program = Program(
            'rootcanal', rootcanal, *(f'-{name}={port}' for name, port in zip(names, ports)),
            directory=directory, environment={'LD_PRELOAD': str(nodelay)})
        self._program.line(f'Listening on: {self.port}')

    def end(self) -> None:
        self._program.end()


class Button:
    def __init__(self, name: str, serial: str, air: Air, directory: Path, tryck: Path) -> None:
        self.name = name
        self.serial = serial
        file = directory / 'simulator.yaml'
        # JSON is valid YAML.
        file.write_text(json.dumps({'buttons': {name: {'serial': serial}}}))
        self._program = Program(
            name, tryck, 'simulate', file, '--attach', f'h4:tcp:127.0.0.1:{air.port}', directory=directory)
        self.trust_root = self._program.line('trust_roots').split('"')[1]

    @property
    def mark(self) -> int:
        return self._program.mark

    def press(self, press: str = 'click') -> None:
        self._program.write(f'{self.name} {press}')

    def notes(self, note: str, *, since: int, within: float = 60) -> None:
        """Waits until the button itself has reported it."""
        self._program.line(note, since=since, within=within)

    def end(self) -> None:
        self._program.end()


class WebServer:
    """Keeps the path of every request."""

    def __init__(self) -> None:
        requests: Queue[str] = Queue()
        self._requests = requests

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get('Content-Length', 0)))
                requests.put(f'{self.headers["Host"].partition(":")[0]}{self.path}')
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.port = self._server.server_address[1]
        Thread(target=self._server.serve_forever, daemon=True).start()

    def request(self, within: float = 30) -> str:
        try:
            return self._requests.get(timeout=within)
        except Empty:
            raise Failure(f'there is no web request within {within:g} s') from None

    def end(self) -> None:
        self._server.shutdown()
