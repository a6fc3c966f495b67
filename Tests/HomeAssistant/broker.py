"""A private mosquitto on loopback, and a client that receives all messages."""
import asyncio
import getpass
import json
import socket
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion

from program import Program, free_port
from tape import Tape, limit


class Broker:
    """A broker without persistence: a restart deletes retained messages."""

    def __init__(self, directory: Path) -> None:
        self.port = free_port()
        self._directory = directory
        self._program: Program | None = None

    async def start(self) -> None:
        file = self._directory / 'mosquitto.conf'
        file.write_text(
            f'listener {self.port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\npersistence false\n'
            f'user {getpass.getuser()}\n')
        self._program = await Program.start(
            'mosquitto', '/usr/sbin/mosquitto', '-v', '-c', file, directory=self._directory)
        await self._program.line('running')

    async def subscribed(self, topic: str) -> None:
        """Waits until a client has subscribed to exactly this topic."""
        assert self._program
        await self._program.line(f'\t{topic} (QoS')

    async def end(self) -> None:
        if self._program:
            await self._program.end()


@dataclass(frozen=True)
class Message:
    topic: str
    payload: str
    is_retained: bool
    """Whether the message was retained before the subscription."""
    at: float = field(default_factory=time.perf_counter)

    @property
    def json(self) -> Any:
        return json.loads(self.payload)


class Listener:
    """All messages of the broker since `start`, also over broken connections."""

    def __init__(self, port: int) -> None:
        self.tape = Tape[Message]()
        self._port = port
        self._loop = asyncio.get_running_loop()
        self._client = Client(CallbackAPIVersion.VERSION2)
        self._client.reconnect_delay_set(min_delay=1, max_delay=1)
        self._client.on_connect = self._connected
        self._client.on_subscribe = lambda *_: self._loop.call_soon_threadsafe(self._ready.set)
        self._client.on_message = self._received
        self._client.on_socket_open = lambda _client, _data, opened: opened.setsockopt(
            socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._ready = asyncio.Event()

    async def start(self) -> None:
        self._client.connect('127.0.0.1', self._port)
        self._client.loop_start()
        async with limit(10, 'the broker takes a subscription'):
            await self._ready.wait()

    def end(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def publish(self, topic: str, payload: str, *, qos: int = 1, retain: bool = False) -> None:
        self._client.publish(topic, payload, qos, retain)

    async def wait(self, topic: str, *, since: int, within: float = 10, payload: str | None = None) -> Message:
        return await self.tape.wait(
            lambda message: message.topic == topic and payload in (None, message.payload),
            f'{topic} {payload or ""}'.strip(), since=since, within=within)

    def _connected(self, client: Client, *_: object) -> None:
        client.subscribe('#', qos=0)

    def _received(self, _client: Client, _data: object, message: MQTTMessage) -> None:
        heard = Message(message.topic, message.payload.decode(errors='replace'), bool(message.retain))
        self._loop.call_soon_threadsafe(self.tape.append, heard)


async def retained(port: int) -> dict[str, str]:
    """The retained messages by topic, which all arrive before the echo of a message of our own."""
    listener = Listener(port)
    await listener.start()
    end = f'acceptance/end/{time.monotonic_ns()}'
    listener.publish(end, '')
    await listener.wait(end, since=0)
    listener.end()
    return {message.topic: message.payload for message in listener.tape.items if message.is_retained}
