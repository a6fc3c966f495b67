"""A client of flicd with the library from PyPI, on a thread of its own; what it hears is a line each.

flicd_client.py PORT CONTROL_SOCKET; commands come in on the standard input:

    wizard              looks for a new button
    cancel              … and gives up
    channel ADDRESS     a channel to a button
    remove ADDRESS      … and its end
    force ADDRESS       ends everybody's channels to a button
    battery ADDRESS     listens to a battery
    scan                listens to advertisements, until the first
    info                what flicd says of itself
    button ADDRESS      what it says of a button
    delete ADDRESS      a button is to be forgotten
    press NAME WORD     a button of the simulator is pressed
    close               the end
"""

import json
import socket
import sys
import threading

import pyflic

client = pyflic.FlicClient("127.0.0.1", int(sys.argv[1]))
channels = {}
wizards = []


def say(*words):
    print(*[word.name if hasattr(word, "name") else word for word in words], flush=True)


def wizard():
    made = pyflic.ScanWizard()
    made.on_found_private_button = lambda wizard: say("wizard: private")
    made.on_found_public_button = lambda wizard, address, name: say("wizard: public", address, name)
    made.on_button_connected = lambda wizard, address, name: say("wizard: connected", address)
    made.on_completed = lambda wizard, result, address, name: say("wizard:", result, address)
    wizards.append(made)
    client.add_scan_wizard(made)


def channel(address):
    made = pyflic.ButtonConnectionChannel(address)
    made.on_create_connection_channel_response = lambda channel, error, status: say("channel:", error, status)
    made.on_connection_status_changed = lambda channel, status, reason: say("status:", status, reason)
    made.on_removed = lambda channel, reason: say("removed:", reason)
    for family, name in [
        (4, "up_or_down"),
        (5, "click_or_hold"),
        (6, "single_or_double_click"),
        (7, "single_or_double_click_or_hold"),
    ]:

        def hear(channel, click_type, was_queued, time_diff, family=family):
            say("press:", family, click_type, "queued" if was_queued else "live", time_diff)

        setattr(made, "on_button_" + name, hear)
    channels[address] = made
    client.add_connection_channel(made)


def battery(address):
    listener = pyflic.BatteryStatusListener(address)
    listener.on_battery_status = lambda listener, percentage, time: say("battery:", percentage, time > 1_700_000_000)
    client.add_battery_status_listener(listener)


def scan():
    scanner = pyflic.ButtonScanner()

    def heard(scanner, address, name, rssi, is_private, verified, here, elsewhere):
        client.remove_scanner(scanner)
        say("advertised:", address, name, rssi < 0, is_private, verified, here, elsewhere)

    scanner.on_advertisement_packet = heard
    client.add_scanner(scanner)


def info():
    client.get_info(
        lambda info: say(
            "info:", info["bluetooth_controller_state"], info["my_bd_addr"],
            info["max_pending_connections"], *info["bd_addr_of_verified_buttons"],
        )
    )


def button(address):
    client.get_button_info(address, lambda *fields: say("button:", *fields))


def press(name, word):
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(sys.argv[2])
        control.sendall(json.dumps({"request": "simulator/press", "data": {"button": name, "press": word}}).encode() + b"\n")
        control.recv(1000)


commands = {
    "wizard": wizard,
    "cancel": lambda: client.cancel_scan_wizard(wizards[-1]),
    "channel": channel,
    "remove": lambda address: client.remove_connection_channel(channels[address]),
    "force": client.force_disconnect,
    "battery": battery,
    "scan": scan,
    "info": info,
    "button": button,
    "delete": client.delete_button,
}


def read():
    for line in sys.stdin:
        name, *arguments = line.split()
        if name == "press":
            press(*arguments)
        elif name == "close":
            break
        else:
            client.run_on_handle_events_thread(lambda name=name, arguments=arguments: commands[name](*arguments))
    # From this thread it may miss the answer that is to wake it.
    client.run_on_handle_events_thread(client.close)


client.on_new_verified_button = lambda address: say("new:", address)
client.on_button_deleted = lambda address, by_us: say("deleted:", address, by_us)
client.on_bluetooth_controller_state_change = lambda state: say("controller:", state)
say("connected")
threading.Thread(target=read, daemon=True).start()
client.handle_events()
say("closed")
