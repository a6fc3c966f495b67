"""A client of flicd with the other library that is in the same package: it listens to one button and says what it hears.

flicd_asyncio.py PORT
"""

import asyncio
import queue
import sys

import pyflic.asyncio

# What it uses of this module it has not imported.
pyflic.asyncio.queue = queue


def say(*words):
    print(*[word.name if hasattr(word, "name") else word for word in words], flush=True)


async def main():
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    client = pyflic.asyncio.FlicClient(loop)
    client.connection_lost = lambda error: over.set_result(None)

    def informed(info):
        say("info:", info["bluetooth_controller_state"], *info["bd_addr_of_verified_buttons"])
        for address in info["bd_addr_of_verified_buttons"]:
            client.get_button_info(address, lambda *fields: say("button:", *fields))
            channel = pyflic.asyncio.ButtonConnectionChannel(address, latency_mode=pyflic.asyncio.LatencyMode.LowLatency)
            channel.on_create_connection_channel_response = lambda channel, error, status: say(
                "channel:", error, status
            )
            channel.on_connection_status_changed = lambda channel, status, reason: say("status:", status, reason)
            channel.on_removed = lambda channel, reason: say("removed:", reason)
            channel.on_button_single_or_double_click_or_hold = (
                lambda channel, click_type, was_queued, time_diff: say("press:", click_type)
            )
            client.add_connection_channel(channel)

    client.on_get_info = informed
    await loop.create_connection(lambda: client, "127.0.0.1", int(sys.argv[1]))
    client.get_info()
    await over
    say("closed")


asyncio.run(main())
