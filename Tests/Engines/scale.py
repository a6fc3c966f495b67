#!/usr/bin/env python3
"""Measures one real engine on a real mosquitto with many sites of 100 buttons each, which this program plays.

For each number of sites: the time from the start of the engine until it leads and has taken one press of each site, the memory of
the engine and of the broker, and then presses at a fixed rate, each from the site's message to the message of the rule. At last as
many presses as the engine takes: always a hundred of them wait for their lamps. The times depend on the load of the machine, which
also runs this program and the broker.

With `--night`, the broker is killed instead, and forgets all that it retains. Each button is pressed PRESSES times before it is back, so
that all sites and the engine say everything again and each site sends its journal. Each press must switch its lamp once.

With `--persistent`, the broker writes what it retains, with the settings of deploy/many.md.

Usage: scale.py [--rate PRESSES_A_SECOND] [--seconds SECONDS] [--night PRESSES] [--persistent] TRYCKD SITES...
"""

import argparse
import json
import os
import random
import selectors
import signal
import socket
import time

from takeover import House, wait

BUTTONS = 100
# The presses that are made as fast as the engine takes them, and how many of them wait for their lamps at a time. Few sites make fewer,
# because the rule of a site starts at most 600 times a minute.
FLOOD, FLOOD_OF_SITE, WAITING = 4000, 400, 100
SITES_OF_A_FILE = 10
# One for each site, because a rule starts at most 600 times a minute.
RULE = """  - id: RULE
    mode: parallel
    max: 100
    triggers: {button: [NAMES], event: down}
    actions:
      - publish: {topic: "lamp/{{ trigger.button }}", payload: "on"}
"""


def number(value, octets):
    return value.to_bytes(octets, "big")


def text(value):
    octets = value.encode()
    return number(len(octets), 2) + octets


def varint(value):
    octets = bytearray()
    while True:
        value, digit = divmod(value, 128)
        octets.append(digit | (128 if value else 0))
        if not value:
            return bytes(octets)


class Persistent(House):
    is_persistent = True


class Client:
    """A connection with MQTT 5 that publishes with QoS 1 and does not wait for acknowledgements."""

    def __init__(self, port, name, heard=None):
        self.heard = heard
        self.unread = b""
        self.identifier = 0
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.send(0x10, text("MQTT") + b"\x05\x02" + number(0, 2) + b"\x00" + text(name))
        self.socket.recv(4096)

    def send(self, kind, body):
        self.socket.sendall(bytes([kind]) + varint(len(body)) + body)

    def next(self):
        self.identifier = self.identifier % 65_535 + 1
        return number(self.identifier, 2)

    def subscribe(self, topic):
        self.send(0x82, self.next() + b"\x00" + text(topic) + b"\x01")

    def publish(self, topic, payload, retain=False):
        # Property 2 is the message expiry interval.
        self.send(0x33 if retain else 0x32, text(topic) + self.next() + b"\x05\x02" + number(3600, 4) + payload)

    def read(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise SystemExit("failed: the broker has closed a connection")
        self.unread += data
        while len(self.unread) > 4:
            length, shift, at = 0, 0, 1
            while at < len(self.unread):
                digit = self.unread[at]
                length |= (digit & 127) << shift
                shift, at = shift + 7, at + 1
                if not digit & 128:
                    break
            else:
                return
            if len(self.unread) < at + length:
                return
            kind, body, self.unread = self.unread[0], self.unread[at:at + length], self.unread[at + length:]
            if kind & 0xF0 == 0x30 and self.heard:
                self.took(kind, body)

    def took(self, kind, body):
        end = 2 + int.from_bytes(body[:2], "big")
        topic = body[2:end].decode()
        if kind & 6:
            self.send(0x40, body[end:end + 2])
            end += 2
        properties = body[end]
        self.heard(topic, body[end + 1 + properties:])


class Scale:
    def __init__(self, house, daemon, sites):
        self.house, self.sites = house, sites
        self.pressed, self.times = {}, []
        self.lead_at = None
        self.numbers = {}
        self.lamps, self.claimed = {}, {}
        self.selector = selectors.DefaultSelector()
        self.connect(1, {})
        # The rules of all sites have more values than one file may have.
        os.makedirs(house.path("a1/rules/sites"))
        with open(house.path("a1/rules/home.yaml"), "w") as file:
            file.write('version: 1\ndefaults: {queued: accept}\ninclude: "sites/*.yaml"\n')
        for first in range(0, sites, SITES_OF_A_FILE):
            some = range(first, min(first + SITES_OF_A_FILE, sites))
            with open(house.path(f"a1/rules/sites/s{first}.yaml"), "w") as file:
                file.write("buttons:\n")
                for site in some:
                    for place in range(BUTTONS):
                        name = self.button(site, place).upper()
                        address = ":".join(name[at:at + 2] for at in range(0, 12, 2))
                        file.write(f"  s{site}b{place}: {{address: \"{address}\"}}\n")
                file.write("rules:\n")
                for site in some:
                    names = ", ".join(f"s{site}b{place}" for place in range(BUTTONS))
                    file.write(RULE.replace("RULE", f"s{site}").replace("NAMES", names))
        with open(house.path("a1/tryck.yaml"), "w") as file:
            file.write(
                f"bluetooth: {{transport: none}}\nhomeassistant: {{discovery: false}}\nhistory: none\n"
                f"mqtt: {{broker: \"mqtt://127.0.0.1:{house.port}\", base_topic: a1}}\n"
                "engine: {name: a1}\nsources:\n  - {mqtt: \"tryck/+\"}\n")
        self.began = time.monotonic()
        with open(house.path("a1/log"), "w") as log:
            self.engine = house.start(
                [daemon, "--config", house.path("a1/tryck.yaml"), "--state-directory", house.path("a1/state"),
                 "--control-socket", f"/dev/shm/tryck-scale-{os.getpid()}.sock", "--log-level", "warning"],
                stdout=log, stderr=log)

    def connect(self, session, claimed):
        """Connects all sites, which say hello. `claimed` has the number up to which an engine has claimed the messages of a button."""
        self.listener = self.add(Client(self.house.port, "listener", self.heard))
        for topic in ("lamp/+", "engines/1/state"):
            self.listener.subscribe(topic)
        self.clients = [self.add(Client(self.house.port, f"site{index}", self.told)) for index in range(self.sites)]
        for index, client in enumerate(self.clients):
            client.subscribe(f"tryck/s{index}/feed/+/want")
            client.subscribe(f"tryck/s{index}/feed/+/cursor")
            ids = {}
            for place in range(BUTTONS):
                name = self.button(index, place)
                before = claimed.get(name, 0)
                ids[name] = {
                    "serial": f"s{index}b{place}", "model": "flic2", "name": f"s{index}b{place}", "firmware": 11,
                    "n": self.numbers.get(name, 0), "claimed": before, "done": before}
            hello = {"v": 1, "site": f"s{index}", "installation": "9f3c", "session": session, "term": 0, "buttons": ids}
            client.publish(f"tryck/s{index}/feed/hello", json.dumps(hello).encode(), retain=True)
            self.turn(0)

    @staticmethod
    def button(site, place):
        return f"80e4{site:06x}{place:02x}"

    def add(self, client):
        self.selector.register(client.socket, selectors.EVENT_READ, client)
        return client

    def turn(self, seconds):
        for key, _ in self.selector.select(seconds):
            key.data.read()

    def heard(self, topic, payload):
        if topic == "engines/1/state" and json.loads(payload or b"{}").get("state") == "online":
            self.lead_at = self.lead_at or time.monotonic()
        if topic.startswith("lamp/"):
            name = topic.removeprefix("lamp/")
            self.lamps[name] = self.lamps.get(name, 0) + 1
            began = self.pressed.pop(name, None)
            if began:
                self.times.append(time.monotonic() - began)

    def until(self, what, is_true, limit=300):
        end = time.monotonic() + limit
        while not is_true():
            if time.monotonic() > end:
                print(open(self.house.path("a1/log")).read()[-3000:], list(self.pressed)[:5], self.lead_at)
                raise SystemExit(f"failed: {what} did not happen in {limit} s")
            self.turn(0.1)

    def told(self, topic, payload):
        """The engine wants the messages of a button after a number, or has claimed those up to a number."""
        _, site, _, name, kind = topic.split("/")
        if kind == "want":
            self.send(int(site[1:]), name, json.loads(payload)["after"])
        else:
            self.claimed[name] = max(self.claimed.get(name, 0), json.loads(payload)["n"])

    def press(self, site, place):
        name = self.button(site, place)
        count = self.numbers.get(name, 0)
        self.numbers[name] = count + 2
        self.pressed[f"s{site}b{place}"] = time.monotonic()
        self.send(site, name, count)

    def send(self, site, name, after):
        """Sends the messages of a button after a number. The odd ones press it, the even ones release it."""
        for n in range(after + 1, self.numbers.get(name, 0) + 1):
            self.clients[site].publish(f"tryck/s{site}/feed/{name}", json.dumps({
                "n": n, "prev": n - 1, "boot": 7, "count": n, "step": "down" if n % 2 else "up_click",
                "ticks": 32_768 * n, "age_ms": 0, "queued": False}).encode())

    def figures(self, program):
        status = open(f"/proc/{program.pid}/status").read()
        used = [int(word) for word in open(f"/proc/{program.pid}/stat").read().split()[13:15]]
        resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        return resident / 1024, sum(used) / os.sysconf("SC_CLK_TCK")

    def press_any(self):
        """Presses a button at random, unless its last press waits for its lamp."""
        site, place = random.randrange(self.sites), random.randrange(BUTTONS)
        if f"s{site}b{place}" not in self.pressed:
            self.press(site, place)

    def know(self):
        """Waits until the engine leads and has acted on a press of each site."""
        self.until("the engine leads", lambda: self.lead_at)
        for site in range(self.sites):
            self.press(site, 0)
            self.turn(0)
        self.until("each site is known", lambda: not self.pressed)
        return time.monotonic() - self.began

    def night(self, presses):
        self.know()
        self.until("each press is claimed", lambda: all(
            self.claimed.get(name, 0) >= number for name, number in self.numbers.items()))
        claimed, lamps = dict(self.claimed), dict(self.lamps)
        for client in [self.listener] + self.clients:
            self.selector.unregister(client.socket)
            client.socket.close()
        self.house.broker.kill()
        self.house.broker.wait()
        for site in range(self.sites):
            for place in range(BUTTONS):
                name = self.button(site, place)
                self.numbers[name] = self.numbers.get(name, 0) + 2 * presses
        _, before = self.figures(self.engine)
        began = time.monotonic()
        self.house.start_broker()
        wait("the broker", self.house.is_broker_up)
        self.connect(2, claimed)
        self.until("each press of the night is claimed", lambda: all(
            self.claimed.get(name, 0) >= number for name, number in self.numbers.items()))
        self.until("each lamp of the night", lambda: sum(self.lamps.values()) - sum(lamps.values()) >= (
            presses * self.sites * BUTTONS), 30)
        took = time.monotonic() - began
        resident, after = self.figures(self.engine)
        broker, _ = self.figures(self.house.broker)
        wrong = [name for name, count in self.lamps.items() if count - lamps.get(name, 0) != presses]
        if wrong:
            raise SystemExit(f"failed: lamps that were not switched {presses} times: {wrong[:5]}")
        print(
            f"{self.sites:5} sites, {self.sites * BUTTONS:6} buttons: {presses * self.sites * BUTTONS} presses of a night without "
            f"the broker have acted once each {took:.1f} s after it is back ({after - before:.1f} s of a processor), engine "
            f"{resident:.1f} MB, mosquitto {broker:.1f} MB", flush=True)

    def flood(self):
        """Presses as fast as the engine takes them.

        Returns the presses that have acted in a second, and those that would occupy a processor.
        """
        self.times = []
        count = min(FLOOD, self.sites * FLOOD_OF_SITE)
        _, before = self.figures(self.engine)
        began = time.monotonic()
        while len(self.times) < count:
            while len(self.pressed) < WAITING and len(self.times) + len(self.pressed) < count:
                self.press_any()
            self.turn(1)
            if time.monotonic() > began + 120:
                raise SystemExit(f"failed: {len(self.times)} of {count} presses acted in 120 s")
        took = time.monotonic() - began
        _, after = self.figures(self.engine)
        return count / took, count / (after - before)

    def run(self, rate, seconds):
        known = self.know()
        self.times = []
        _, before = self.figures(self.engine)
        next_at = began = time.monotonic()
        while time.monotonic() < began + seconds:
            if time.monotonic() >= next_at:
                self.press_any()
                next_at += 1 / rate
            self.turn(max(0, next_at - time.monotonic()))
        self.until("the last press", lambda: not self.pressed, 30)
        resident, after = self.figures(self.engine)
        broker, _ = self.figures(self.house.broker)
        times = sorted(self.times)
        at = lambda share: 1000 * times[int(share * (len(times) - 1))]
        print(
            f"{self.sites:5} sites, {self.sites * BUTTONS:6} buttons: leads and knows all after {known:6.1f} s "
            f"({before:.1f} s of a processor), engine {resident:6.1f} MB, mosquitto {broker:6.1f} MB; {len(times)} presses at {rate} a second: p50 {at(0.5):.1f} ms, "
            f"p99 {at(0.99):.1f} ms, {1000 * (after - before) / len(times):.2f} ms of a processor each", end="", flush=True)
        whole, alone = self.flood()
        print(f"; at most {whole:.0f} a second, and {alone:.0f} if the engine has a processor for itself", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=int, default=60)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--night", type=int, metavar="PRESSES")
    parser.add_argument("--persistent", action="store_true")
    parser.add_argument("daemon")
    parser.add_argument("sites", type=int, nargs="+")
    options = parser.parse_args()
    random.seed(3)
    for sites in options.sites:
        house = Persistent() if options.persistent else House()
        try:
            scale = Scale(house, options.daemon, sites)
            if options.night:
                scale.night(options.night)
            else:
                scale.run(options.rate, options.seconds)
        finally:
            house.close()


if __name__ == "__main__":
    main()
