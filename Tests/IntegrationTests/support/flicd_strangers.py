"""Clients of flicd that want it to fall, all at once, until the standard input ends. Then it says how often each did
what it does.

flicd_strangers.py PORT ADDRESS
"""

import collections
import socket
import struct
import sys
import threading

port = int(sys.argv[1])
address = bytes(reversed(bytes.fromhex(sys.argv[2].replace(":", ""))))
counts = collections.Counter()
are_at_work = threading.Event()
is_over = threading.Event()


def connect():
    return socket.create_connection(("127.0.0.1", port), 10)


def frame(opcode, fields=b""):
    return struct.pack("<HB", 1 + len(fields), opcode) + fields


def number(count):
    return struct.pack("<I", count & 0xFFFFFFFF)


def channel(count):
    return frame(3, number(count) + address + struct.pack("<BH", 0, 511))


def comes_and_goes(count):
    connect().close()


def makes_no_sense(count):
    stream = connect()
    stream.sendall(b"GET / HTTP/1.1\r\n\r\n")
    stream.recv(100)
    stream.close()


def finishes(count):
    stream = connect()
    stream.sendall(channel(count) + frame(7, number(count)))
    stream.shutdown(socket.SHUT_WR)
    while stream.recv(1000):
        pass
    stream.close()


def sends(*frames):
    """One packet after the other, each read by itself; what is answered is read, too."""
    stream = connect()
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def step(count):
        for made in frames:
            stream.sendall(made(count))
        stream.sendall(frame(7, number(count)))
        stream.recv(65536)

    return step


def never_reads():
    stream = connect()
    stream.settimeout(0.5)

    def step(count):
        nonlocal stream
        try:
            stream.sendall(frame(0) * 1000)
        except OSError:
            stream.close()
            stream = connect()
            stream.settimeout(0.5)

    return step


def reads_an_octet():
    stream = connect()
    stream.sendall(frame(0) * 1000)

    def step(count):
        stream.recv(1)
        is_over.wait(1)

    return step


strangers = {
    "comes and goes": lambda: comes_and_goes,
    "makes no sense": lambda: makes_no_sense,
    "finishes": lambda: finishes,
    "changes its mind": lambda: sends(
        lambda count: channel(0), lambda count: frame(6, number(0) + struct.pack("<BH", count % 3, 400 + count % 100))
    ),
    "scans": lambda: sends(lambda count: frame(1, number(count)), lambda count: frame(2, number(count))),
    "looks": lambda: sends(lambda count: frame(9, number(count)), lambda count: frame(10, number(count))),
    "wants others": lambda: sends(
        lambda count: frame(3, number(1) + number(count) + b"\xda\xe4\x00\xff\x01"), lambda count: frame(4, number(1))
    ),
    "ends everybody": lambda: sends(lambda count: frame(5, number(count) + b"\xe4\x80")),
    "never reads": never_reads,
    "reads an octet": reads_an_octet,
}


def act(name):
    step = None
    while not is_over.is_set():
        try:
            step = step or strangers[name]()
            step(counts[name])
            counts[name] += 1
            if all(counts[name] for name in strangers):
                are_at_work.set()
        except OSError:
            # Thrown out: it comes back.
            counts[name + ", thrown out"] += 1
            step = None


silent = [connect() for _ in range(40)]
threads = [threading.Thread(target=act, args=[name], daemon=True) for name in strangers]
for thread in threads:
    thread.start()
are_at_work.wait(60)
print("at work", flush=True)
sys.stdin.read()
is_over.set()
for thread in threads:
    thread.join(20)
print("done:", dict(counts), flush=True)
