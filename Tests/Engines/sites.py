#!/usr/bin/env python3
"""Runs a real site and a real engine on a real mosquitto. Each press must switch its lamp exactly once.

The buttons of the site are simulated in its process, and lose their presses when it is killed. So the site is killed only after
the first message about a press, which shows that the press is on its disk.

Usage: sites.py [TRYCKD]
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time

from takeover import SITE, Engine, House, wait

BUTTONS = 3


class RealSite:
    """A daemon with simulated buttons and an uplink."""

    def __init__(self, house, daemon, name="site", topic=SITE, first=1, count=BUTTONS):
        """`first` is the end of the first button's address."""
        self.house, self.daemon, self.name = house, daemon, name
        self.ids = [f"80e4da{index:06x}" for index in range(first, first + count)]
        os.makedirs(house.path(name))
        with open(house.path(f"{name}/simulator.yaml"), "w") as file:
            file.write("buttons:\n")
            for index, button in enumerate(self.ids):
                address = ":".join(button[at:at + 2] for at in range(0, 12, 2)).upper()
                serial = f"BA00-W{first + index:05}"
                file.write(f"  button{index}: {{address: \"{address}\", serial: \"{serial}\", public: true}}\n")
        with open(house.path(f"{name}/tryck.yaml"), "w") as file:
            file.write(
                "bluetooth: {transport: \"simulated:simulator.yaml\"}\nmqtt: {broker: none}\n"
                f"uplink: {{broker: \"mqtt://{house.address}:{house.port}\", topic: {topic}}}\n")
        self.program = None

    def start(self):
        with open(self.house.path(f"{self.name}/log"), "a") as log:
            self.program = self.house.start(
                [self.daemon, "--config", self.house.path(f"{self.name}/tryck.yaml"), "--state-directory",
                 self.house.path(f"{self.name}/state"), "--control-socket", self.house.path(f"{self.name}/socket"),
                 "--log-level", "debug"], stdout=log, stderr=log)
        wait("the site answers", lambda: self.ask("status") is not None)
        wait("its adapter is ready", lambda: self.ask("status")["adapter"]["state"] == "powered_on")

    def kill(self):
        self.program.send_signal(signal.SIGKILL)
        self.program.wait()

    def ask(self, request, data=None):
        """The data of the answer; `None` if there is no daemon."""
        try:
            with socket.socket(socket.AF_UNIX) as control:
                control.settimeout(10)
                control.connect(self.house.path(f"{self.name}/socket"))
                control.sendall(json.dumps({"request": request, "data": data or {}}).encode() + b"\n")
                line = control.makefile().readline()
        except OSError:
            return None
        answer = json.loads(line) if line else {}
        if answer.get("status") != "ok":
            raise SystemExit(f"failed: {request}: {line}")
        return answer.get("data", {})

    def pair(self):
        for _ in self.ids:
            self.ask("permit_join", {"time": 60})
            known = len(self.ask("buttons"))
            wait("a button is paired", lambda: len(self.ask("buttons")) > known)
        self.are_ready()

    def are_ready(self):
        wait("the buttons are ready", lambda: all(button["state"] == "ready" for button in self.ask("buttons")))

    def press(self, index):
        self.ask("simulator/press", {"button": f"button{index}", "press": "click"})


def lamps(house):
    return [topic.removeprefix("lamp/") for topic, _ in list(house.heard) if topic.startswith("lamp/")]


def feeds(house, name):
    return [payload for topic, payload in list(house.heard) if topic == f"{SITE}/feed/{name}"]


def press(house, site, index, expected, what, kills=False):
    """Presses a button, and waits until its lamp is switched and the button has decided that it was a click."""
    name = site.ids[index]
    heard = len(feeds(house, name))
    site.press(index)
    wait("the press is sent", lambda: len(feeds(house, name)) > heard)
    if kills:
        time.sleep(random.uniform(0, 0.01))
        site.kill()
        site.start()
    expected.append(f"b{name}")
    wait(what, lambda: len(lamps(house)) >= len(expected))
    # The simulated button begins anew with its process, so it decides nothing after a kill.
    if not kills:
        wait("the click is decided", lambda: len(feeds(house, name)) >= heard + 3)


def main():
    daemon = sys.argv[1] if len(sys.argv) > 1 else ".build/debug/tryckd"
    house = House()
    site = RealSite(house, daemon)
    engine = Engine(house, "a1", daemon, site.ids)
    try:
        random.seed(7)
        site.start()
        site.pair()
        engine.start()
        wait("the engine leads", lambda: house.last("engines/1/state").get("state") == "online")
        expected = []
        for turn in range(6):
            press(house, site, turn % BUTTONS, expected, "a press switches its lamp")
        for turn in range(4):
            press(house, site, turn % BUTTONS, expected, "a press before a kill switches its lamp", kills=True)
        engine.kill()
        for index in range(BUTTONS):
            site.press(index)
        wait("the presses wait", lambda: site.ask("status")["uplink"]["unclaimed"] >= 3 * BUTTONS)
        site.kill()
        site.start()
        engine.start()
        expected += [f"b{name}" for name in site.ids]
        wait("presses without an engine switch their lamps later", lambda: len(lamps(house)) >= len(expected))
        wait("nothing waits", lambda: site.ask("status")["uplink"]["unclaimed"] == 0)
        time.sleep(1)
        if sorted(lamps(house)) != sorted(expected):
            raise SystemExit(f"failed: the lamps {sorted(lamps(house))}, expected {sorted(expected)}")
        print(f"site and engine: {len(expected)} presses, each switched its lamp once; 5 kills of the site, 1 of the engine")
    except SystemExit:
        for name in ("site", "a1"):
            if os.path.exists(house.path(f"{name}/log")):
                print(open(house.path(f"{name}/log")).read()[-5000:])
        raise
    finally:
        house.close()


if __name__ == "__main__":
    main()
