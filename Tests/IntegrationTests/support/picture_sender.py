#!/usr/bin/env python3
"""The picture sender on Bumble's host: a central that sends one file to the first receiver it finds.

  picture_sender.py TRANSPORT FILE [--drop OCTETS]

The service is described in Tests/PictureTransfer/PictureService.swift. With --drop the sender ends the link once,
when it has handed over so many octets.
"""
import argparse
import asyncio
import struct

from bumble.core import UUID, AdvertisingData
from bumble.device import Device, Peer
from bumble.hci import Address
from bumble.l2cap import LeCreditBasedChannelSpec
from bumble.transport import open_transport

SERVICE, DETAILS, RECEIPT, PROGRESS, PSM = (UUID(f'504900{n:02x}-7470-4b8e-9a3c-000000000000') for n in range(5))


async def find(device):
    """The address of a receiver that advertises."""
    found = asyncio.get_running_loop().create_future()

    def advertised(advertisement):
        services = advertisement.data.get(AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS) or []
        if SERVICE in services and not found.done():
            found.set_result(advertisement.address)

    device.on('advertisement', advertised)
    await device.start_scanning()
    address = await found
    await device.stop_scanning()
    return address


async def transfer(device, address, picture, drop):
    """One link. Returns whether the receiver has the whole picture."""
    connection = await device.connect(address)
    try:
        is_complete = await connection.cancel_on_disconnection(talk(connection, picture, drop))
    except asyncio.CancelledError:
        print('link lost', flush=True)
        return False
    await connection.disconnect()
    return is_complete


async def talk(connection, picture, drop):
    peer = Peer(connection)
    await peer.request_mtu(300)
    [service] = await peer.discover_service(SERVICE)
    await service.discover_characteristics()
    [details, receipt, progress, psm] = (
        service.get_characteristics_by_uuid(uuid)[0] for uuid in (DETAILS, RECEIPT, PROGRESS, PSM))
    print(f'details: {(await details.read_value()).decode()}', flush=True)
    complete = asyncio.Event()
    await progress.subscribe(
        lambda value: complete.set() if struct.unpack('<I', value)[0] == len(picture) else None,
        prefer_notify=False)
    await receipt.write_value(struct.pack('<I', len(picture)) + b'from Bumble', with_response=True)
    start = struct.unpack('<I', await progress.read_value())[0]
    print(f'from {start}', flush=True)
    if start < len(picture):
        spsm = struct.unpack('<H', await psm.read_value())[0]
        channel = await connection.create_l2cap_channel(LeCreditBasedChannelSpec(psm=spsm, mtu=256, mps=128))
        channel.write(picture[start:drop])
        if drop:
            await channel.drain()
            return False
        await complete.wait()
        await channel.disconnect()
    return True


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('transport')
    parser.add_argument('file')
    parser.add_argument('--drop', type=int)
    arguments = parser.parse_args()
    with open(arguments.file, 'rb') as file:
        picture = file.read()
    async with await open_transport(arguments.transport) as (source, sink):
        device = Device.with_hci('camera', Address('F0:F1:F2:F3:F4:F6'), source, sink)
        await device.power_on()
        address = await find(device)
        drop = arguments.drop
        while not await transfer(device, address, picture, drop):
            drop = None
        print('complete', flush=True)


asyncio.run(main())
