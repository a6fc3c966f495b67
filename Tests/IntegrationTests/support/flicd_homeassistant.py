"""A client of flicd with the library that Home Assistant shipped in 2018. As its integration did, it looks for new
buttons without end, and listens to all there are.

flicd_homeassistant.py PORT LIBRARY; commands come in on the standard input:

    uuid ADDRESS        what it says of a button
    force ADDRESS       ends everybody's channels to a button
    close               the end
"""

import sys
import threading

sys.path.insert(0, sys.argv[2])

import pyflic

client = pyflic.FlicClient("127.0.0.1", int(sys.argv[1]))


def say(*words):
    print(*[word.name if hasattr(word, "name") else word for word in words], flush=True)


def look():
    wizard = pyflic.ScanWizard()
    wizard.on_found_public_button = lambda wizard, address, name: say("wizard: public", address, name)

    def completed(wizard, result, address, name):
        say("wizard:", result, address)
        look()

    wizard.on_completed = completed
    client.add_scan_wizard(wizard)


def listen(address):
    channel = pyflic.ButtonConnectionChannel(address)
    channel.on_create_connection_channel_response = lambda channel, error, status: say("channel:", error, status)
    channel.on_connection_status_changed = lambda channel, status, reason: say("status:", status, reason)
    channel.on_removed = lambda channel, reason: say("removed:", reason)
    channel.on_button_up_or_down = lambda channel, click_type, was_queued, time_diff: say("press:", 4, click_type)
    channel.on_button_single_or_double_click_or_hold = lambda channel, click_type, was_queued, time_diff: say(
        "press:", 7, click_type
    )
    client.add_connection_channel(channel)


def new(address):
    say("new:", address)
    listen(address)


def informed(info):
    say("info:", info["bluetooth_controller_state"], *info["bd_addr_of_verified_buttons"])
    for address in info["bd_addr_of_verified_buttons"]:
        listen(address)


def read():
    for line in sys.stdin:
        name, *arguments = line.split()
        if name == "uuid":
            client.get_button_uuid(*arguments, lambda address, uuid: say("uuid:", address, len(uuid or "")))
        elif name == "force":
            client.force_disconnect(*arguments)
        elif name == "close":
            break
    # From this thread it may miss the answer that is to wake it.
    client.run_on_handle_events_thread(client.close)


client.on_new_verified_button = new
look()
client.get_info(informed)
threading.Thread(target=read, daemon=True).start()
client.handle_events()
say("closed")
