"""Another program that uses BlueZ: scans as Home Assistant does, connects to the first device that it hears, and stays."""
import asyncio

from bleak import BleakClient, BleakScanner


async def main() -> None:
    heard = asyncio.Queue()
    scanner = BleakScanner(lambda device, _: heard.put_nowait(device))
    await scanner.start()
    print('scanning', flush=True)
    device = await asyncio.wait_for(heard.get(), 60)
    # The scanner goes on, as Home Assistant's does.
    async with BleakClient(device, timeout=30) as client:
        print(f'connected, {len(list(client.services))} services', flush=True)
        await asyncio.sleep(3600)


asyncio.run(main())
