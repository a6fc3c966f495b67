"""How much memory each further radio of a tryckd needs: an adapter at a socket, one behind a program, and an ESPHome proxy.

    radios.py PROGRAM

It fails if one of them exceeds the budget. The adapters are those of the tryck beside the program. The proxy is a few
messages without encryption, and hears nothing.
"""
import contextlib
import socket
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / 'deploy/debian'))
from trial import PATIENCE, Air, Daemon, configure, directory, forget  # noqa: E402

MOST = 5
BUDGET = 300.0  # kB
SETTLING = 5.0  # seconds

# Joins its standard input and output to the socket of an adapter.
JOIN = '''
import os, select, socket, sys
far = socket.socket(socket.AF_UNIX)
far.connect(sys.argv[1])
while True:
    for ready in select.select([0, far], [], [])[0]:
        data = os.read(0, 4096) if ready == 0 else far.recv(4096)
        if not data:
            sys.exit()
        far.sendall(data) if ready == 0 else os.write(1, data)
'''


def proxy(index: int) -> str:
    """The address of a proxy that answers what a client asks before it is ready."""
    server = socket.create_server(('127.0.0.1', 0))
    threading.Thread(target=serve, args=(server, index), daemon=True).start()
    return f'127.0.0.1:{server.getsockname()[1]}'


def serve(server: socket.socket, index: int) -> None:
    def text(field: int, value: str) -> bytes:
        return bytes([field << 3 | 2, len(value)]) + value.encode()

    # Hello, Disconnect, Ping, DeviceInfo and SubscribeBluetoothConnectionsFree.
    answers = {
        1: (2, b'\x08\x01\x10\x0e' + text(3, '2026.6.5') + text(4, f'proxy{index}')),
        5: (6, b''), 7: (8, b''),
        9: (10, text(2, f'proxy{index}') + text(3, f'06:35:69:AB:F6:0{index}') + text(4, '2026.6.5') + b'\x78\x3f'),
        80: (81, b'\x08\x03\x10\x03')}
    while True:
        with contextlib.suppress(ConnectionResetError):
            client = server.accept()[0]
            stream = client.makefile('rb')
            # The messages of the client are short, so that each number in front of one is an octet.
            while head := stream.read(3):
                stream.read(head[1])
                if head[2] in answers:
                    number, payload = answers[head[2]]
                    client.sendall(bytes([0, len(payload), number]) + payload)


def memory(program: str, radios: list[dict]) -> float:
    """The kB that are the daemon's own when all radios are ready."""
    daemon = Daemon(program, configure(radios=radios, mqtt={'broker': 'none'}))
    deadline = time.monotonic() + PATIENCE
    while [radio['state'] for radio in daemon.ask('status')['radios']] != ['ready'] * len(radios):
        if time.monotonic() > deadline:
            sys.exit(f'{sys.argv[0]}: the radios are not ready: {daemon.ask("status")["radios"]}')
        time.sleep(0.1)
    time.sleep(SETTLING)
    own = daemon.fields()['RssAnon'] * 1.024
    daemon.end()
    forget()
    return own


program = sys.argv[1]
sockets = [directory / f'air_{index}.sock' for index in range(MOST)]
for path in sockets:
    Air(Path(program).resolve().parent / 'tryck', path.stem)
kinds = {
    'h4:unix': [{'adapter': f'h4:unix:{path}'} for path in sockets],
    'command': [{'command': [sys.executable, '-c', JOIN, str(path)]} for path in sockets],
    'esphome': [{'esphome': proxy(index)} for index in range(MOST)]}
exceeded = []
for kind, radios in kinds.items():
    each = (memory(program, [radio | {'name': f'radio_{index}'} for index, radio in enumerate(radios)])
            - memory(program, [radios[0] | {'name': 'radio_0'}])) / (MOST - 1)
    print(f'{kind}: {each:.0f} kB for each further radio (budget {BUDGET:g})')
    if each > BUDGET:
        exceeded.append(kind)
if exceeded:
    sys.exit(f'{program} needs too much memory for each further radio: {", ".join(exceeded)}')
