#!/usr/bin/env python3
"""Cuts the network between a real site, an engine, its stand-by and their broker, while buttons are pressed.

Site and engines have a network namespace each, with a cable to a switch beside the broker. A cable is pulled for a moment, after
which all connections go on, or for longer than the keep-alive, after which the broker has closed them. Or a cable loses what an
engine sends, and still brings it presses. Each press must switch its lamp once, or be reported as interrupted if it switches no
lamp.

Usage: split.py [TRYCKD]
"""

import json
import os
import random
import subprocess
import sys
import time

from sites import RealSite, lamps
from takeover import Engine, House, wait

PLACES = ("site", "a1", "a2")
# In seconds. The keep-alive of an engine is 5 s, so the broker closes a silent connection after 7.5 s.
SHORT, LONG = 3, 12


def run(*command):
    subprocess.run(command, check=True)


class Town(House):
    """A house in which the site and the engines are behind a cable each."""

    address = "10.77.0.1"

    def start_broker(self):
        self.place = None
        self.namespaces = {}
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "switch", "type", "bridge")
        run("ip", "address", "add", f"{self.address}/24", "dev", "switch")
        run("ip", "link", "set", "switch", "up")
        for index, place in enumerate(PLACES):
            keeper = self.start(["/usr/bin/unshare", "--net", "/usr/bin/tail", "-f", "/dev/null"])
            self.namespaces[place] = keeper.pid
            own = os.readlink("/proc/self/ns/net")
            wait("a namespace", lambda: os.readlink(f"/proc/{keeper.pid}/ns/net") != own)
            run("ip", "link", "add", place, "type", "veth", "peer", "name", "cable", "netns", str(keeper.pid))
            run("ip", "link", "set", place, "master", "switch", "up")
            inside = ("nsenter", "-t", str(keeper.pid), "-n")
            run(*inside, "ip", "link", "set", "lo", "up")
            run(*inside, "ip", "address", "add", f"10.77.0.{index + 2}/24", "dev", "cable")
            run(*inside, "ip", "link", "set", "cable", "up")
        with open(self.path("mosquitto.conf"), "w") as file:
            file.write(f"listener {self.port}\nallow_anonymous true\npersistence false\nmax_queued_messages 0\n"
                       "user root\n")
        self.start(["/usr/sbin/mosquitto", "-c", self.path("mosquitto.conf")], stderr=subprocess.DEVNULL)

    def start(self, command, **options):
        place = ["nsenter", "-t", str(self.namespaces[self.place]), "-n"] if self.place else []
        return super().start(place + command, **options)

    def at(self, place, action):
        """Starts the programs of an action in the namespace of a place."""
        self.place = place
        action()
        self.place = None

    def pull(self, place):
        run("ip", "link", "set", place, "down")

    def plug(self, place):
        run("ip", "link", "set", place, "up")

    def mute(self, place):
        """Loses all packets from a place to the broker, because they go to a hardware address that nobody has."""
        self.change_neighbour(place, "replace", "lladdr", "02:00:00:00:00:99", "nud", "permanent")

    def unmute(self, place):
        self.change_neighbour(place, "del")

    def change_neighbour(self, place, action, *options):
        inside = ("nsenter", "-t", str(self.namespaces[place]), "-n")
        run(*inside, "ip", "neighbour", action, self.address, "dev", "cable", *options)


class Story:
    def __init__(self, daemon):
        self.town = Town()
        self.site = RealSite(self.town, daemon)
        self.engines = {name: Engine(self.town, name, daemon, self.site.ids) for name in ("a1", "a2")}
        self.pressed = dict.fromkeys(self.site.ids, 0)

    def leader(self):
        state = self.town.last("engines/1/state")
        return state.get("engine") if state.get("state") == "online" else None

    def press_for(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            index = random.randrange(len(self.site.ids))
            self.site.press(index)
            self.pressed[self.site.ids[index]] += 1
            time.sleep(random.uniform(0.2, 0.5))

    def cut(self, places, seconds):
        self.disturb(places, seconds, self.town.pull, self.town.plug, "without a cable")

    def mute(self, places, seconds):
        self.disturb(places, seconds, self.town.mute, self.town.unmute, "not heard")

    def disturb(self, places, seconds, begin, end, what):
        self.press_for(1)
        for place in places:
            begin(place)
        self.press_for(seconds)
        for place in places:
            end(place)
        self.press_for(1)
        wait("nothing waits", lambda: self.site.ask("status")["uplink"]["unclaimed"] == 0)
        time.sleep(2)
        self.account(f"{' and '.join(places)} {what} for {seconds} s")

    def account(self, title):
        """A press is three messages, of which the first switches the lamp."""
        reported = {name: set() for name in self.pressed}
        for topic, payload in list(self.town.heard):
            event = json.loads(payload) if topic.endswith("/bridge/event") else {}
            data = event.get("data", event)
            if event.get("type") == "interrupted" and "first_n" in data:
                reported[data["button"]] |= {n for n in range(data["first_n"], data["last_n"] + 1) if n % 3 == 1}
        acted = {name: lamps(self.town).count(f"b{name}") for name in self.pressed}
        twice = [name for name in acted if acted[name] > self.pressed[name]]
        silent = [name for name in acted if acted[name] + len(reported[name]) < self.pressed[name]]
        print(
            f"{title}: {sum(self.pressed.values())} presses, {sum(acted.values())} acted on, "
            f"{sum(map(len, reported.values()))} reported as interrupted", flush=True)
        if twice or silent:
            raise SystemExit(f"failed: twice {twice}, without a report {silent}")
        if sum(acted.values()) < sum(self.pressed.values()) * 0.9:
            raise SystemExit("failed: too many presses had no effect")

    def run(self):
        self.town.at("site", self.site.start)
        self.site.pair()
        self.town.at("a1", self.engines["a1"].start)
        wait("the engine leads", lambda: self.leader() == "a1")
        self.town.at("a2", self.engines["a2"].start)
        wait("the stand-by", lambda: "connected to" in self.engines["a2"].log())
        wait("the site knows the engine", lambda: self.site.ask("status")["uplink"]["engine_online"])
        self.cut(["site"], SHORT)
        self.cut(["site"], LONG)
        self.cut(["a1"], SHORT)
        self.cut(["a2"], LONG)
        leader = self.leader()
        self.cut([leader], LONG)
        other = "a2" if leader == "a1" else "a1"
        if self.leader() != other:
            raise SystemExit(f"failed: {other} did not take over from {leader}")
        self.cut(["site", other], LONG)
        self.cut(["a1", "a2"], LONG)
        self.mute([self.leader()], SHORT)
        leader = self.leader()
        self.mute([leader], LONG)
        if self.leader() == leader:
            raise SystemExit(f"failed: nobody took over from {leader}, which nobody heard")


def main():
    daemon = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else ".build/debug/tryckd")
    if "TRYCK_SPLIT" not in os.environ:
        os.environ["TRYCK_SPLIT"] = "1"
        os.execvp("unshare", ["unshare", "--map-root-user", "--net", sys.executable, os.path.abspath(__file__), daemon])
    random.seed(5)
    story = Story(daemon)
    try:
        story.run()
    except SystemExit:
        for name in PLACES:
            path = story.town.path(f"{name}/log")
            if os.path.exists(path):
                print(name, open(path).read()[-4000:])
        raise
    finally:
        story.town.close()


if __name__ == "__main__":
    main()
