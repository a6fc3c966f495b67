#!/usr/bin/env python3
"""Runs two real sites, an engine and its stand-by on a real mosquitto that keeps what it retains. One of the five, chosen at random, is
killed with SIGKILL again and again while buttons are pressed. With `--forgetful`, the broker forgets what it retains when it is killed.

A press must start its program once, or be reported. A button is pressed again only when that is known of its last press, so each
program belongs to one press. Some presses are lost with the simulated button, whose memory is that of the killed site: those of
the last moments before the kill that no message is about.

Usage: torture.py [--seed SEED] [--forgetful] [--logs DIRECTORY] [TRYCKD [KILLS]]
"""

import argparse
import json
import os
import random
import re
import shutil
import threading
import time
from datetime import datetime, timezone

from sites import RealSite
from takeover import Engine, House, wait

BUTTONS = 6
# The topic of the lines about kills among the messages that are printed.
KILL = "--"
# How long before the kill of its site a press may have been in the simulated button only, in seconds.
MOMENT = 1
RULES = """version: 1
defaults: {queued: accept}
buttons:
BUTTONS
rules:
"""
RULE = """  - id: bNAME
    mode: parallel
    max: 100
    triggers: {button: bNAME, event: down}
    actions:
      - run: [/bin/sh, -c, "echo NAME >> PROGRAMS/../../acted"]
"""


class Persistent(House):
    is_persistent = True


class Press:
    def __init__(self, name, former):
        self.name, self.at = name, time.monotonic()
        self.moment = datetime.now(timezone.utc)
        self.number = None
        # Messages up to this one may be about the press before.
        self.after = former.number or former.after if former else 0
        self.acted = 0
        self.accounted_at = None
        self.is_reported = self.is_doubtful = False

    def account(self):
        self.accounted_at = self.accounted_at or time.monotonic()

    def is_in(self, report):
        """True if the report is about this press, not only about a message that says that it was pressed."""
        if "last_n" in report:
            return self.number is not None and report["first_n"] <= self.number <= report["last_n"]
        # An engine that was killed reports its runs when it is back.
        return report.get("rule") is not None and datetime.fromisoformat(report["started_at"]) >= self.moment


class Torture:
    def __init__(self, daemon, is_forgetful):
        self.house = (House if is_forgetful else Persistent)("-V", "311", "-c", "-i", "listener")
        self.lock = threading.Lock()
        self.sites = [
            RealSite(self.house, daemon, f"site{index}", f"tryck/site{index}", 256 * index + 1, BUTTONS)
            for index in (1, 2)]
        self.ids = [name for site in self.sites for name in site.ids]
        rules = RULES + "".join(RULE.replace("NAME", name) for name in self.ids)
        self.engines = [Engine(self.house, name, daemon, self.ids, rules=rules) for name in ("a1", "a2")]
        self.presses = []
        self.last = {}
        self.claimed = {}
        self.lines = 0
        open(self.house.path("acted"), "w").close()
        self.house.listeners.append(self.heard)

    def heard(self, topic, payload):
        """A message of the feed has the number of a press. A report names a button, and perhaps numbers."""
        if not payload:
            return
        parts = topic.split("/")
        with self.lock:
            if len(parts) == 4 and parts[2] == "feed" and parts[3] in self.last:
                message = json.loads(payload)
                press = self.last[parts[3]]
                steps = message.get("steps", [message])
                if press.number is None and message["n"] > press.after and any(step.get("step") == "down" for step in steps):
                    press.number = message["n"]
            elif topic.endswith("/bridge/event"):
                event = json.loads(payload)
                data = event.get("data") or {}
                press = self.last.get(data.get("button"))
                if event["type"] == "interrupted" and press and press.is_in(data):
                    press.is_reported = True
                    self.settle(press)
            elif len(parts) == 5 and parts[4] == "cursor" and parts[3] in self.last:
                self.claimed[parts[3]] = max(self.claimed.get(parts[3], 0), json.loads(payload)["n"])
                self.settle(self.last[parts[3]])

    def settle(self, press):
        """A press that was reported is over when it is claimed: an engine can report it whose claim nobody else has heard, and the next
        one acts on it."""
        if press.is_reported and press.number and self.claimed.get(press.name, 0) >= press.number:
            press.account()

    def read_acted(self):
        with open(self.house.path("acted")) as file:
            lines = file.read().split()
        with self.lock:
            for name in lines[self.lines:]:
                self.last[name].acted += 1
                self.last[name].account()
        self.lines = len(lines)

    def idle(self, site):
        """The buttons of a site whose last press is accounted for, with time for a program that runs late."""
        now = time.monotonic()
        return [
            index for index, name in enumerate(site.ids)
            if name not in self.last or (self.last[name].accounted_at or now) < now - 1]

    def press(self):
        self.read_acted()
        site = random.choice(self.sites)
        idle = self.idle(site)
        if not idle:
            return
        index = random.choice(idle)
        name = site.ids[index]
        with self.lock:
            press = self.last[name] = Press(name, self.last.get(name))
            self.presses.append(press)
        site.press(index)

    def kill(self, victim):
        program = self.house.broker if victim is self.house else victim.program
        if victim in self.sites:
            with self.lock:
                for name in victim.ids:
                    press = self.last.get(name)
                    if press and not press.accounted_at and press.at > time.monotonic() - MOMENT:
                        press.is_doubtful = True
        name = "the broker" if victim is self.house else victim.name
        self.house.heard.append((KILL, f"{name} is killed at {datetime.now(timezone.utc):%T.%f}"))
        program.kill()
        program.wait()
        time.sleep(random.choice((0, 0, 0.3)))
        if victim is self.house:
            self.house.start_broker()
        else:
            victim.start()
        with self.lock:
            for press in self.last.values():
                # No message was about it before the site was killed, and none can be any more.
                if press.is_doubtful and press.number is None and press.at < time.monotonic() - 20:
                    press.account()

    def run(self, kills, seed):
        random.seed(seed)
        for site in self.sites:
            site.start()
            site.pair()
        self.engines[0].start()
        wait("the engine leads", lambda: self.house.last("engines/1/state").get("state") == "online")
        self.engines[1].start()
        wait("the stand-by", lambda: "connected to" in self.engines[1].log())
        victims = self.sites + self.engines + [self.house]
        counts = dict.fromkeys(["site", "engine", "broker"], 0)
        for _ in range(kills):
            end = time.monotonic() + random.uniform(0.2, 1.5)
            while time.monotonic() < end:
                self.press()
                time.sleep(random.uniform(0, 0.1))
            victim = random.choice(victims)
            counts["broker" if victim is self.house else "site" if victim in self.sites else "engine"] += 1
            self.kill(victim)
        end = time.monotonic() + 60
        while time.monotonic() < end and not all(press.accounted_at or press.is_reported for press in self.last.values()):
            time.sleep(0.5)
            self.read_acted()
            if all(press.accounted_at or press.is_reported or press.is_doubtful for press in self.last.values()):
                end = min(end, time.monotonic() + 15)
        time.sleep(2)
        self.read_acted()
        return counts

    def account(self, counts):
        journals = [site.ask("status")["uplink"]["unclaimed"] for site in self.sites]
        lives = [site.ask("status")["uplink"]["installation"] for site in self.sites]
        once = [press for press in self.presses if press.acted == 1]
        twice = [press for press in self.presses if press.acted > 1]
        never = [press for press in self.presses if press.acted == 0]
        reported = [press for press in never if press.is_reported]
        silent = [press for press in never if not press.is_reported]
        with_button = [press for press in silent if press.is_doubtful and press.number is None]
        missing = [press for press in silent if press not in with_button]
        print(
            f"torture: kills {counts}; {len(self.presses)} presses, {len(once)} acted on once, {len(twice)} twice, "
            f"{len(reported)} reported and not acted on, {len(with_button)} lost with the simulated button, "
            f"{len(missing)} not accounted for; messages in journals {journals}, lives {lives}", flush=True)
        for press in twice + missing:
            print(f"{press.name} n={press.number} acted {press.acted} times, pressed {time.monotonic() - press.at:.1f} s ago")
        if twice or missing or any(journals):
            for topic, payload in self.house.heard:
                is_about = any(press.name in topic + payload for press in twice + missing) and "hello" not in topic
                if is_about or topic == KILL:
                    print(" ", topic, payload)
            raise SystemExit("failed: " + self.house.directory)
        if any("." in life for life in lives):
            raise SystemExit(f"failed: a site believes that it was restored from a copy: {lives}")
        if len(never) > len(self.presses) // 4:
            raise SystemExit("failed: too many presses had no effect")

    def logs(self, directory):
        """Prints the ends of the logs, and copies the whole of them into a directory if one is given."""
        for name in [site.name for site in self.sites] + [engine.name for engine in self.engines]:
            if os.path.exists(self.house.path(f"{name}/log")):
                with open(self.house.path(f"{name}/log")) as file:
                    print(name, re.sub(r"(?m)^.*(DEBUG|debug).*\n", "", file.read())[-9000:])
                if directory:
                    os.makedirs(directory, exist_ok=True)
                    shutil.copy(self.house.path(f"{name}/log"), os.path.join(directory, f"{name}.log"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--forgetful", action="store_true")
    parser.add_argument("--logs", metavar="DIRECTORY", help="where the logs go if something fails")
    parser.add_argument("daemon", nargs="?", default=".build/debug/tryckd")
    parser.add_argument("kills", nargs="?", type=int, default=20)
    options = parser.parse_args()
    torture = Torture(options.daemon, options.forgetful)
    try:
        torture.account(torture.run(options.kills, options.seed))
    except SystemExit:
        torture.logs(options.logs)
        raise
    finally:
        torture.house.close()


if __name__ == "__main__":
    main()
