#!/usr/bin/env python3
"""A Bluetooth proxy of ESPHome without the board: the native API for the hub, and Bumble's host on a controller.

  esphome_proxy.py --hci tcp-client:HOST:PORT [--psk BASE64] [--listen HOST:PORT] [--control HOST:PORT] ...

It prints "ready HOST:PORT" once it takes connections, then "control HOST:PORT" if it takes commands. A command is a
line, and so is its answer, a JSON object:

    drop                  closes the connections of all clients without a word
    reboot [S]            is away for so many seconds (2), and has forgotten all
    mute, unmute          answers nothing any more, not even pings; answers again
    busy on|off           somebody else is its subscriber
    hang N                the next N attempts to connect last as long as they may, and fail
    fail N CODE           the next N attempts to connect fail at once
    lose ADDR [REASON]    loses that link, for this reason (8)
    state                 says what there is

The messages and the encryption are those of other authors, aioesphomeapi and noiseprotocol. How a proxy behaves is
written here, after the sources of ESPHome 2026.6: it has one subscriber, hears nothing while it connects, cannot end
an attempt, hears only during its scan window, sends advertisements in batches, and says the MTU of a link with cache
before it knows it.
"""

import argparse
import asyncio
import base64
import contextlib
import json
import logging
import struct
import sys

from aioesphomeapi import api_pb2 as pb
from aioesphomeapi.core import MESSAGE_TYPE_TO_PROTO
from bumble import hci
from bumble.device import Device
from bumble.transport import open_transport
from noise.connection import NoiseConnection

MESSAGE_IDS = {message: number for number, message in MESSAGE_TYPE_TO_PROTO.items()}
VERSION, API_VERSION, SCANNER_STATE_FEATURE = "2026.6.5", (1, 14), 1 << 6
# Octets.
LARGEST_MESSAGE, LARGEST_HANDSHAKE, SERVICES_OF_A_MESSAGE, DEFAULT_MTU, OWN_MTU = 32768, 128, 1360, 23, 517
# Seconds.
HANDSHAKE_LIMIT, PING_AFTER, CLOSE_AFTER, BATCH_TIME, CLOSING_TIME = 60, 60, 150, 0.1, 0.02
BATCH_SIZE = 16
# What "error" says in the messages.
NOT_CONNECTED, TIMED_OUT, ENDED_HERE, GATT_ERROR = -1, 0x08, 0x16, 0x85
WITH_CACHE, WITHOUT_CACHE, DISCONNECT, CLEAR_CACHE = (
    pb.BluetoothDeviceRequestType.Value(f"BLUETOOTH_DEVICE_REQUEST_TYPE_{name}")
    for name in ("CONNECT_V3_WITH_CACHE", "CONNECT_V3_WITHOUT_CACHE", "DISCONNECT", "CLEAR_CACHE"))


class Failed(Exception):
    """The radio did not do what was asked; the argument is the code that the proxy says then."""


class Refused(Exception):
    """The client says something that ends its connection."""


class Link:
    """A link to a peripheral. Its GATT requests are carried out in the order in which they were made."""

    def __init__(self, connection, has_notified, has_ended):
        self.connection, self.client = connection, connection.gatt_client
        self.has_notified, self.has_ended = has_notified, has_ended
        self.order = asyncio.Lock()
        # The reason is that of "lose", or else what the controller says.
        self.is_up, self.reason = True, None
        connection.on("disconnection", self.ended)

    def ended(self, reason):
        self.is_up, self.reason = False, self.reason or reason
        self.has_ended(self)

    async def request(self, function, *arguments):
        async with self.order:
            if not self.is_up:
                raise Failed(NOT_CONNECTED)
            try:
                return await function(*arguments)
            except asyncio.CancelledError:
                # Bumble cancels what waits for an answer on a link that ends.
                if self.is_up or asyncio.current_task().cancelling():
                    raise
                raise Failed(NOT_CONNECTED) from None
            except Exception as error:
                raise Failed(getattr(error, "error_code", None) or GATT_ERROR) from error

    async def exchange_mtu(self):
        with contextlib.suppress(Failed):
            await self.request(self.client.request_mtu, OWN_MTU)
        return self.client.mtu

    async def discover(self):
        """Finds the services with their characteristics, and these with their descriptors."""
        for service in await self.request(self.client.discover_services):
            for characteristic in await self.request(self.client.discover_characteristics, (), service):
                await self.request(self.client.discover_descriptors, characteristic)
        return self.client.services

    def listen(self, handle, is_wanted):
        """Hands on the values of a handle; the descriptor of the peripheral is the business of the client."""
        subscribers = {lambda value: self.has_notified(handle, value)} if is_wanted else set()
        self.client.notification_subscribers[handle] = self.client.indication_subscribers[handle] = subscribers

    async def disconnect(self):
        # The link may end by itself meanwhile.
        with contextlib.suppress(Exception):
            await self.connection.disconnect()


class Radio:
    """Bumble's host. It scans all the time: the proxy passes over what it does not hear."""

    async def start(self, transport, has_heard):
        self.transport = await open_transport(transport)
        # Bumble wants a random address; the controller's public one is used.
        address = hci.Address("F0:E5:D0:00:00:01")
        self.device = Device.with_hci("proxy", address, self.transport.source, self.transport.sink)
        await self.device.power_on()

        def advertised(report):
            # Bumble puts the advertisement before its scan response.
            data = bytes(report.data) if report.is_scan_response else report.data_bytes
            if report.is_legacy:
                address, address_type = int.from_bytes(bytes(report.address), "little"), int(report.address.is_random)
                has_heard(address=address, address_type=address_type, rssi=report.rssi, data=data)

        self.device.on("advertisement", advertised)

    async def scan(self, is_active):
        if self.device.is_scanning:
            await self.device.stop_scanning()
        await self.device.start_scanning(
            active=is_active, own_address_type=hci.OwnAddressType.PUBLIC, scanning_phys=[hci.HCI_LE_1M_PHY])

    async def connect(self, address, address_type, limit, *callbacks):
        peer = hci.Address(address.to_bytes(6, "little"), hci.AddressType(address_type & 1))
        try:
            connection = await self.device.connect(peer, own_address_type=hci.OwnAddressType.PUBLIC, timeout=limit)
        except asyncio.CancelledError:
            await self.device.send_sync_command(hci.HCI_LE_Create_Connection_Cancel_Command())
            raise
        except Exception as error:
            raise Failed(TIMED_OUT if "Timeout" in type(error).__name__ else GATT_ERROR) from error
        if self.device.connections.get(connection.handle) is not connection:
            raise Failed(GATT_ERROR)
        return Link(connection, *callbacks)

    async def disconnect_all(self):
        for connection in list(self.device.connections.values()):
            with contextlib.suppress(Exception):
                await connection.disconnect()


class Slot:
    """A place for one link: free, reserved, waiting, connecting, up or ending.

    It is reserved for ever if it was asked for without an address type. Its MTU stays when a link has ended.
    """

    def __init__(self):
        self.mtu = DEFAULT_MTU
        self.clear()

    def clear(self):
        self.address, self.state, self.link, self.services = 0, "free", None, None
        self.has_cache = self.is_unwanted = False


class Proxy:
    def __init__(self, options):
        self.options, self.radio = options, Radio()
        self.one_attempt = asyncio.Lock()
        self.clients, self.tasks = set(), set()
        self.is_mute = self.is_busy = False
        self.hangs = self.failures = self.failure_code = 0
        self.forget()

    def forget(self):
        self.slots = [Slot() for _ in range(self.options.slots)]
        self.batch = pb.BluetoothLERawAdvertisementsResponse()
        self.subscriber = None
        self.is_active = self.was_deaf = False

    async def run(self):
        self.started = asyncio.get_running_loop().time()
        await self.radio.start(self.options.hci, self.heard)
        await self.radio.scan(self.is_active)
        self.server, self.address = await serve(self.accept, self.options.listen)
        print("ready", self.address, flush=True)
        if self.options.control:
            control, address = await serve(self.take_commands, self.options.control)
            print("control", address, flush=True)
        self.flushing = asyncio.create_task(self.flush())
        await self.radio.transport.source.terminated
        sys.exit("The controller is gone.")

    async def accept(self, reader, writer):
        client = Client(self, reader, writer)
        self.clients.add(client)
        try:
            await client.run()
        except* (OSError, EOFError, asyncio.CancelledError):
            pass
        except* Exception as group:
            logging.error("A connection ends: %r", group.exceptions)
        finally:
            self.clients.discard(client)
            self.unsubscribe(client)
            writer.close()

    def begin(self, coroutine):
        task = asyncio.create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def subscribe(self, client):
        if self.subscriber or self.is_busy:
            return logging.error("Only one API subscription is allowed at a time")
        self.subscriber = client
        self.say_scanner_state()

    def unsubscribe(self, client):
        if self.subscriber is client:
            self.subscriber = None
            self.batch.Clear()

    def say(self, message):
        """Says it to the subscriber, whoever asked."""
        if self.subscriber:
            self.subscriber.send(message)

    def say_connection(self, address, is_connected, **more):
        self.say(pb.BluetoothDeviceConnectionResponse(address=address, connected=is_connected, **more))
        self.say(self.free_slots())

    def say_scanner_state(self):
        if self.options.features & SCANNER_STATE_FEATURE:
            state = pb.BLUETOOTH_SCANNER_STATE_IDLE if self.is_deaf else pb.BLUETOOTH_SCANNER_STATE_RUNNING
            self.say(pb.BluetoothScannerStateResponse(state=state, mode=int(self.is_active)))

    def free_slots(self):
        used, limit = [slot.address for slot in self.slots if slot.state != "free"], len(self.slots)
        return pb.BluetoothConnectionsFreeResponse(free=limit - len(used), limit=limit, allocated=used)

    @property
    def is_deaf(self):
        return any(slot.state in ("waiting", "connecting") for slot in self.slots)

    def heard(self, **advertisement):
        interval, window = self.options.scan
        since_start = asyncio.get_running_loop().time() - self.started
        if self.subscriber and not self.is_deaf and since_start * 1000 % interval <= window:
            self.batch.advertisements.add(**advertisement)
            if len(self.batch.advertisements) == BATCH_SIZE:
                self.say_batch()

    def say_batch(self):
        if self.batch.advertisements:
            self.say(self.batch)
            self.batch = pb.BluetoothLERawAdvertisementsResponse()

    async def flush(self):
        while True:
            await asyncio.sleep(BATCH_TIME)
            self.say_batch()
            if not self.subscriber:
                # Nobody else wants the links.
                for slot in self.slots:
                    await self.part(slot)

    async def set_mode(self, is_active):
        self.is_active = is_active
        await self.radio.scan(is_active)
        self.say_scanner_state()

    def slot(self, address, *states):
        of_address = (slot for slot in self.slots if slot.state != "free" and slot.address == address)
        return next((slot for slot in of_address if not states or slot.state in states), None)

    def has_changed(self, slot, state):
        slot.state = state
        if self.is_deaf != self.was_deaf:
            self.was_deaf = self.is_deaf
            self.say_scanner_state()

    async def device_request(self, m):
        slot = self.slot(m.address)
        if m.request_type in (WITH_CACHE, WITHOUT_CACHE):
            self.connect(m, slot)
        elif m.request_type == DISCONNECT and slot:
            await self.part(slot)
        elif m.request_type == DISCONNECT:
            self.say_connection(m.address, False)
        elif m.request_type == CLEAR_CACHE:
            self.say(pb.BluetoothDeviceClearCacheResponse(address=m.address, success=True))
        else:
            self.say(pb.BluetoothDeviceConnectionResponse(address=m.address))

    def connect(self, m, slot):
        if slot is None and (slot := next((slot for slot in self.slots if slot.state == "free"), None)):
            slot.address, slot.state = m.address, "reserved"
        if slot is None or slot.state == "reserved" and not m.has_address_type:
            self.say(pb.BluetoothDeviceConnectionResponse(address=m.address))
        elif slot.state == "up":
            self.say_connection(m.address, True)
        elif slot.state != "reserved":
            # It connects already, or the former link is still ending and this is passed over.
            slot.is_unwanted = False
        else:
            slot.has_cache = m.request_type == WITH_CACHE
            self.say(self.free_slots())
            self.has_changed(slot, "waiting")
            self.begin(self.attempt(slot, m.address_type))

    async def attempt(self, slot, address_type):
        async with self.one_attempt:
            self.has_changed(slot, "connecting")
            try:
                await self.establish(slot, address_type)
            except Failed as failure:
                [code] = failure.args
                if slot.link:
                    await slot.link.disconnect()
                    code = slot.link.reason or code
                self.release(slot, code)

    async def establish(self, slot, address_type):
        if self.failures:
            self.failures -= 1
            raise Failed(self.failure_code)
        if self.hangs:
            self.hangs -= 1
            await asyncio.sleep(self.options.connect_limit)
            raise Failed(GATT_ERROR)

        def has_notified(handle, value):
            self.say(pb.BluetoothGATTNotifyDataResponse(address=slot.address, handle=handle, data=value))

        def has_ended(link):
            if slot.state == "up":
                self.begin(self.end(slot, link.reason))

        slot.link = await self.radio.connect(
            slot.address, address_type, self.options.connect_limit, has_notified, has_ended)
        if slot.is_unwanted:
            raise Failed(ENDED_HERE)
        if slot.has_cache:
            # It says the MTU before it knows it: the one that the slot had before.
            self.say_up(slot)
            slot.mtu = await slot.link.exchange_mtu()
        else:
            slot.mtu = await slot.link.exchange_mtu()
            slot.services = await slot.link.discover()
            if not slot.link.is_up:
                raise Failed(NOT_CONNECTED)
            self.say_up(slot)

    def say_up(self, slot):
        slot.state = "up"
        self.say_connection(slot.address, True, mtu=slot.mtu)
        self.has_changed(slot, "up")

    async def part(self, slot):
        if slot.link:
            await slot.link.disconnect()
        elif slot.state in ("waiting", "connecting"):
            # An attempt goes on to its end.
            slot.is_unwanted = True

    async def end(self, slot, reason):
        """Says that a link has ended twice: when it is down, and when its slot is free."""
        slot.state = "ending"
        self.say(pb.BluetoothDeviceConnectionResponse(address=slot.address, error=reason))
        await asyncio.sleep(CLOSING_TIME)
        self.release(slot, reason)

    def release(self, slot, reason):
        address = slot.address
        slot.clear()
        self.say_connection(address, False, error=reason)
        self.has_changed(slot, "free")

    async def gatt_request(self, m, takes_short_uuids):
        handle = getattr(m, "handle", 0)
        named = {"address": m.address, "handle": handle}
        try:
            if not (slot := self.slot(m.address, "up")):
                raise Failed(NOT_CONNECTED)
            link = slot.link
            match m:
                case pb.BluetoothGATTGetServicesRequest():
                    self.say_services(slot, takes_short_uuids)
                case pb.BluetoothGATTReadRequest() | pb.BluetoothGATTReadDescriptorRequest():
                    value = await link.request(link.client.read_value, handle)
                    self.say(pb.BluetoothGATTReadResponse(data=value, **named))
                case pb.BluetoothGATTNotifyRequest():
                    link.listen(handle, m.enable)
                    self.say(pb.BluetoothGATTNotifyResponse(**named))
                case pb.BluetoothGATTWriteRequest() | pb.BluetoothGATTWriteDescriptorRequest():
                    await link.request(link.client.write_value, handle, m.data, getattr(m, "response", True))
                    # Its stack answers what the peripheral does not, too.
                    self.say(pb.BluetoothGATTWriteResponse(**named))
        except Failed as failure:
            self.say(pb.BluetoothGATTErrorResponse(error=failure.args[0], **named))

    def say_services(self, slot, takes_short_uuids):
        if slot.services is None and not slot.has_cache:
            # It has said them, and has forgotten them.
            return
        message = pb.BluetoothGATTGetServicesResponse(address=slot.address)
        for service in slot.services or []:
            said = pb.BluetoothGATTService(handle=service.handle)
            put_uuid(said, service.uuid, takes_short_uuids)
            for characteristic in service.characteristics:
                part = said.characteristics.add(handle=characteristic.handle, properties=int(characteristic.properties))
                put_uuid(part, characteristic.uuid, takes_short_uuids)
                for descriptor in characteristic.descriptors:
                    put_uuid(part.descriptors.add(handle=descriptor.handle), descriptor.type, takes_short_uuids)
            if message.services and message.ByteSize() + said.ByteSize() > SERVICES_OF_A_MESSAGE:
                self.say(message)
                message = pb.BluetoothGATTGetServicesResponse(address=slot.address)
            message.services.append(said)
        if message.services:
            self.say(message)
        self.say(pb.BluetoothGATTGetServicesDoneResponse(address=slot.address))
        slot.services = None

    async def set_parameters(self, m):
        error = NOT_CONNECTED
        if slot := self.slot(m.address, "up"):
            command = hci.HCI_LE_Connection_Update_Command(
                connection_handle=slot.link.connection.handle, connection_interval_min=m.min_interval,
                connection_interval_max=m.max_interval, max_latency=m.latency, supervision_timeout=m.timeout,
                min_ce_length=0, max_ce_length=0)
            try:
                await slot.link.request(self.radio.device.send_async_command, command)
                error = 0
            except Failed as failure:
                [error] = failure.args
        self.say(pb.BluetoothSetConnectionParamsResponse(address=m.address, error=error))

    async def take_commands(self, reader, writer):
        with contextlib.suppress(OSError, asyncio.CancelledError):
            while line := await reader.readline():
                try:
                    answer = {"ok": True} | (await self.command(*line.decode().split()) or {})
                except Exception as error:
                    answer = {"ok": False, "error": repr(error)}
                writer.write(json.dumps(answer).encode() + b"\n")
        writer.close()

    async def command(self, *words):
        match words:
            case ["drop"]:
                self.drop()
            case ["reboot", *seconds]:
                await self.reboot(*map(float, seconds))
            case ["mute" | "unmute" as word]:
                self.is_mute = word == "mute"
            case ["busy", "on" | "off" as word]:
                self.is_busy = word == "on"
            case ["hang", count]:
                self.hangs = int(count)
            case ["fail", count, code]:
                self.failures, self.failure_code = int(count), int(code, 0)
            case ["lose", address, *reason]:
                if not (slot := self.slot(int(address.replace(":", ""), 16), "up")):
                    raise ValueError("there is no such link")
                slot.link.reason = int(reason[0], 0) if reason else TIMED_OUT
                await slot.link.disconnect()
            case ["state"]:
                used = [slot for slot in self.slots if slot.state != "free"]
                slots = [[slot.address.to_bytes(6, "big").hex(":").upper(), slot.state] for slot in used]
                return {"clients": len(self.clients), "subscribed": self.subscriber is not None, "slots": slots}
            case _:
                raise ValueError("unknown command")

    def drop(self):
        for client in self.clients:
            client.writer.transport.abort()

    async def reboot(self, seconds=2.0):
        self.server.close()
        self.drop()
        tasks = list(self.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.forget()
        await self.radio.disconnect_all()
        await self.radio.scan(self.is_active)
        await asyncio.sleep(seconds)
        self.server, _ = await serve(self.accept, self.address)


class Frames:
    """The frames of one connection, which are encrypted after a handshake."""

    def __init__(self, reader, writer):
        self.reader, self.writer, self.noise = reader, writer, None

    async def shake_hands(self, options):
        try:
            hello = await self.read_body(LARGEST_HANDSHAKE)
            mac = options.mac.replace(":", "").lower()
            self.write_body(b"\1%b\0%b\0" % (options.name.encode(), mac.encode()))
            noise = NoiseConnection.from_name(b"Noise_NNpsk0_25519_ChaChaPoly_SHA256")
            noise.set_as_responder()
            noise.set_psks(base64.b64decode(options.psk))
            noise.set_prologue(b"NoiseAPIInit" + struct.pack(">H", len(hello)) + hello)
            noise.start_handshake()
            message = await self.read_body(LARGEST_HANDSHAKE)
            if message[:1] != b"\0":
                raise Refused("Bad handshake error byte" if message else "Empty handshake message")
            try:
                noise.read_message(message[1:])
            except Exception:
                raise Refused("Handshake MAC failure") from None
            self.write_body(b"\0" + noise.write_message())
            self.noise = noise
        except Refused as refusal:
            self.write_body(b"\1" + str(refusal).encode())
            raise

    async def read(self):
        """The number and the payload of a message."""
        if self.noise:
            plain = self.noise.decrypt(await self.read_body(LARGEST_MESSAGE))
            return int.from_bytes(plain[:2], "big"), plain[4:]
        if await self.reader.readexactly(1) != b"\0":
            # The first octet tells the client that there is no key.
            self.writer.write(b"\0Bad indicator byte")
            raise Refused("an encrypted frame")
        size, number = await self.read_varint(), await self.read_varint()
        if size > LARGEST_MESSAGE:
            raise Refused("a long message")
        return number, await self.reader.readexactly(size)

    async def read_varint(self):
        value = 0
        for shift in range(0, 28, 7):
            [octet] = await self.reader.readexactly(1)
            value |= (octet & 0x7F) << shift
            if octet < 0x80:
                return value
        raise Refused("a long number")

    async def read_body(self, limit):
        indicator, size = struct.unpack(">BH", await self.reader.readexactly(3))
        if indicator != 1:
            raise Refused("Bad indicator byte")
        if size > limit:
            raise Refused("Bad handshake packet len")
        return await self.reader.readexactly(size)

    def write_body(self, body):
        self.writer.write(struct.pack(">BH", 1, len(body)) + body)

    def write(self, number, payload):
        if self.noise:
            return self.write_body(self.noise.encrypt(struct.pack(">HH", number, len(payload)) + payload))
        head = bytearray(1)
        for value in (len(payload), number):
            while value > 0x7F:
                head.append(value & 0x7F | 0x80)
                value >>= 7
            head.append(value)
        self.writer.write(bytes(head) + payload)


class Way:
    """One way between the hub and the proxy: it hands on what it is given in that order, each after the same time."""

    def __init__(self, seconds, receive):
        self.seconds, self.receive, self.queue = seconds, receive, asyncio.Queue()

    def put(self, message):
        self.queue.put_nowait((asyncio.get_running_loop().time() + self.seconds, message))

    async def run(self):
        while True:
            due, message = await self.queue.get()
            await asyncio.sleep(due - asyncio.get_running_loop().time())
            self.receive(message)


class Client:
    def __init__(self, proxy, reader, writer):
        self.proxy, self.options, self.writer, self.version = proxy, proxy.options, writer, None
        self.frames = Frames(reader, writer)
        self.incoming, self.outgoing = Way(self.options.delay, self.take), Way(self.options.delay, self.write)

    async def run(self):
        if self.options.psk:
            await asyncio.wait_for(self.frames.shake_hands(self.options), HANDSHAKE_LIMIT)
        async with asyncio.TaskGroup() as group:
            group.create_task(self.incoming.run())
            group.create_task(self.outgoing.run())
            while True:
                number, payload = await self.read()
                # A newer client may say more than this proxy knows.
                if kind := MESSAGE_TYPE_TO_PROTO.get(number):
                    self.incoming.put(kind.FromString(payload))

    async def read(self):
        """Waits for a message; a client that is silent is asked for a sign, and closed when it gives none."""
        reading = asyncio.ensure_future(self.frames.read())
        try:
            if (await asyncio.wait([reading], timeout=PING_AFTER))[1]:
                self.send(pb.PingRequest())
            return await asyncio.wait_for(reading, CLOSE_AFTER - PING_AFTER)
        finally:
            reading.cancel()

    def send(self, message):
        if not self.proxy.is_mute:
            self.outgoing.put(message)

    def write(self, message):
        if not self.writer.transport.is_closing():
            self.frames.write(MESSAGE_IDS[type(message)], message.SerializeToString())
        if isinstance(message, pb.DisconnectResponse):
            self.writer.close()

    def take(self, m):
        proxy, name, mac = self.proxy, self.options.name, self.options.mac
        match m:
            case pb.HelloRequest():
                self.version, (major, minor) = (m.api_version_major, m.api_version_minor), API_VERSION
                self.send(pb.HelloResponse(
                    api_version_major=major, api_version_minor=minor, server_info=VERSION, name=name))
            case pb.PingRequest():
                self.send(pb.PingResponse())
            case pb.DisconnectRequest():
                self.send(pb.DisconnectResponse())
            case _ if self.version is None:
                self.writer.close()
            case pb.DeviceInfoRequest():
                self.send(pb.DeviceInfoResponse(
                    name=name, friendly_name=name, mac_address=mac, bluetooth_mac_address=mac, esphome_version=VERSION,
                    manufacturer="test", model="host", bluetooth_proxy_feature_flags=self.options.features,
                    api_encryption_supported=bool(self.options.psk)))
            case pb.ListEntitiesRequest():
                self.send(pb.ListEntitiesDoneResponse())
            case pb.SubscribeBluetoothLEAdvertisementsRequest():
                proxy.subscribe(self)
            case pb.UnsubscribeBluetoothLEAdvertisementsRequest():
                proxy.unsubscribe(self)
            case pb.SubscribeBluetoothConnectionsFreeRequest():
                self.send(proxy.free_slots())
            case pb.BluetoothScannerSetModeRequest():
                proxy.begin(proxy.set_mode(m.mode == pb.BLUETOOTH_SCANNER_MODE_ACTIVE))
            case pb.BluetoothDeviceRequest():
                proxy.begin(proxy.device_request(m))
            case pb.BluetoothSetConnectionParamsRequest():
                proxy.begin(proxy.set_parameters(m))
            case _ if type(m).__name__.startswith("BluetoothGATT"):
                proxy.begin(proxy.gatt_request(m, self.version >= (1, 12)))


def put_uuid(message, uuid, is_short_allowed):
    octets = uuid.to_bytes(force_128=True)[::-1]
    if is_short_allowed and len(uuid.to_bytes()) < 16:
        message.short_uuid = int.from_bytes(octets[:4], "big")
    else:
        message.uuid.extend(struct.unpack(">QQ", octets))


async def serve(handler, address):
    """Listens, and returns the server and the address with its port."""
    host, port = address.rsplit(":", 1)
    server = await asyncio.start_server(handler, host, int(port))
    return server, f"{host}:{server.sockets[0].getsockname()[1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, convert, default, text in [
        ("--hci", str, None, "the transport to a controller, as Bumble writes it"),
        ("--listen", str, "127.0.0.1:6053", "where hubs connect"),
        ("--control", str, None, "where commands are taken"),
        ("--psk", str, None, "the key; without one nothing is encrypted"),
        ("--slots", int, 3, "how many links there can be"),
        ("--scan", lambda text: [float(part) for part in text.split("/")], "320/30", "interval/window, in ms"),
        ("--features", lambda text: int(text, 0), 0xFF, "the feature flags; with 0 it is no proxy"),
        ("--name", str, "proxy", "what it says of itself"),
        ("--mac", str, "06:35:69:AB:F6:79", "what it says of itself"),
        ("--delay", lambda text: float(text) / 1000, 0.0, "how long a message takes each way, in ms"),
        ("--connect-limit", float, 20.0, "how long an attempt to connect may take, in s"),
    ]:
        parser.add_argument(name, type=convert, default=default, help=text, required=name == "--hci")
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(Proxy(options).run())


if __name__ == "__main__":
    main()
