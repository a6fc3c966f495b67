#!/usr/bin/env python3
"""The picture receiver on Bumble's host: a peripheral that takes one picture and writes it to a file.

  picture_receiver.py TRANSPORT FILE [--drop OCTETS]

The service is described in Tests/PictureTransfer/PictureService.swift. With --drop the receiver ends the link once,
when it has so many octets.
"""
import argparse
import asyncio
import struct

from bumble.core import UUID, AdvertisingData
from bumble.device import Device
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.hci import Address
from bumble.l2cap import LeCreditBasedChannelSpec
from bumble.transport import open_transport

SERVICE, DETAILS, RECEIPT, PROGRESS, PSM = (UUID(f'504900{n:02x}-7470-4b8e-9a3c-000000000000') for n in range(5))


class Receiver:
    def __init__(self, device, drop):
        self.device, self.drop = device, drop
        self.receipt, self.picture = b'', b''
        self.complete = asyncio.Event()
        read, write, indicate = (
            Characteristic.Properties.READ, Characteristic.Properties.WRITE, Characteristic.Properties.INDICATE)
        server = device.create_l2cap_server(
            LeCreditBasedChannelSpec(psm=0x82, mtu=2000, mps=200, max_credits=12), self.opened)
        self.progress = Characteristic(
            PROGRESS, read | indicate, Characteristic.READABLE,
            CharacteristicValue(read=lambda _: struct.pack('<I', len(self.picture))))
        device.add_service(Service(SERVICE, [
            Characteristic(DETAILS, read, Characteristic.READABLE, b'a paper frame, 800 x 480. ' * 15),
            Characteristic(RECEIPT, write, Characteristic.WRITEABLE, CharacteristicValue(write=self.announced)),
            self.progress,
            Characteristic(PSM, read, Characteristic.READABLE, struct.pack('<H', server.psm)),
        ]))

    def announced(self, _connection, receipt):
        if receipt != self.receipt:
            self.picture = b''
        self.receipt = bytes(receipt)
        print(f'receipt: {self.receipt[4:].decode()}', flush=True)

    def opened(self, channel):
        print(f'channel from {len(self.picture)}', flush=True)
        channel.sink = lambda part: self.received(channel, part)

    def received(self, channel, part):
        self.picture += part
        if self.drop and len(self.picture) >= self.drop:
            self.drop = None
            print(f'drop at {len(self.picture)}', flush=True)
            asyncio.get_running_loop().create_task(channel.connection.disconnect())
        if len(self.picture) == struct.unpack('<I', self.receipt[:4])[0]:
            self.complete.set()


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('transport')
    parser.add_argument('file')
    parser.add_argument('--drop', type=int)
    arguments = parser.parse_args()
    async with await open_transport(arguments.transport) as (source, sink):
        device = Device.with_hci('frame', Address('F0:F1:F2:F3:F4:F5'), source, sink)
        receiver = Receiver(device, arguments.drop)
        device.advertising_data = bytes(AdvertisingData([
            (AdvertisingData.FLAGS, bytes([0x06])),
            (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, bytes(SERVICE)),
        ]))
        await device.power_on()
        await device.start_advertising(auto_restart=True)
        print('advertising', flush=True)
        await receiver.complete.wait()
        with open(arguments.file, 'wb') as file:
            file.write(receiver.picture)
        await device.indicate_subscribers(receiver.progress)
        print('complete', flush=True)
        # The sender ends the link; what it still says is heard.
        await asyncio.get_running_loop().create_future()


asyncio.run(main())
