#!/usr/bin/env python3
"""Runs a real site, an engine and a stand-by on a real mosquitto with the access rules of deploy/many.md, word for word.

Nothing may be refused, and each press must switch its lamp exactly once, also after a takeover. A stand-by that may write
`engines/#` and not read it, or only the states there, must say so, and must not keep the leader from leading.

Usage: access.py [TRYCKD]
"""

import os
import re
import subprocess
import sys
import time

from sites import RealSite
from takeover import RULES, SITE, Engine, House, wait

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../deploy/many.md")
PASSWORD = "only-for-this-test"
# Like the engine, but it may not read what engines say.
DEAF = "deaf"


def access_rules():
    """The blocks of the page: with a user for each machine, and with a pattern for all sites."""
    with open(PAGE) as file:
        # Every second part is between the lines that begin and end a block.
        parts = re.split(r"^```.*\n", file.read(), flags=re.MULTILINE)
    blocks = [block for block in parts[1::2] if re.search(r"^(topic|pattern) ", block, re.MULTILINE)]
    users, patterns = blocks
    engine = users.split("\n# for each site")[0]
    return {"a user for each machine": users, "a pattern for all sites": engine + "\n" + patterns}


def engine_lines(rules):
    return re.search(r"^user engine\n((?:topic .*\n)+)", rules, re.MULTILINE).group(1)


class GuardedHouse(House):
    """A house whose broker knows users."""

    def __init__(self, rules):
        self.rules = rules
        super().__init__("-V", "5", "-u", "watcher", "-P", PASSWORD, "-t", "lamps/#")

    def start_broker(self):
        for user in ("watcher", "engine", DEAF, SITE.split("/")[-1]):
            new = [] if os.path.exists(self.path("passwd")) else ["-c"]
            subprocess.run(["/usr/bin/mosquitto_passwd", "-b", *new, self.path("passwd"), user, PASSWORD], check=True)
        deaf = engine_lines(self.rules).replace("readwrite engines/#", "write engines/#").replace("a2/#", "a3/#")
        with open(self.path("acl"), "w") as file:
            # Lines for a pattern follow those of the users, so they belong to none of them.
            file.write(f"user watcher\ntopic readwrite #\n\nuser {DEAF}\n{deaf}\n{self.rules}")
        with open(self.path("mosquitto.conf"), "w") as file:
            file.write(f"listener {self.port} 127.0.0.1\nuser root\nallow_anonymous false\npersistence false\n")
            file.write(f"password_file {self.path('passwd')}\nacl_file {self.path('acl')}\n")
            file.write("max_queued_messages 0\nset_tcp_nodelay true\n")
        self.broker = self.start(["/usr/sbin/mosquitto", "-c", self.path("mosquitto.conf")], stderr=subprocess.DEVNULL)

    def sign_in(self, name, user):
        """Gives the daemon of this name a user at the broker."""
        path = self.path(f"{name}/tryck.yaml")
        with open(path) as file:
            text = file.read()
        address = f"broker: \"mqtt://{self.address}:{self.port}\""
        with open(path, "w") as file:
            file.write(text.replace(address, f"{address}, username: {user}, password: {PASSWORD}"))


class KnownEngine(Engine):
    """An engine that answers requests."""

    ask = RealSite.ask

    def status(self):
        return (self.ask("status") or {}).get("engine", {})


def engine_of(house, name, daemon, ids, user="engine"):
    # The rule with a program names a folder of the engine, but engines of one share should have the same rules.
    rules = RULES.replace("lamp/", "lamps/").partition("  - id: program")[0]
    engine = KnownEngine(house, name, daemon, ids, rules=rules)
    house.sign_in(name, user)
    return engine


def lamps(house):
    return [topic for topic, _ in list(house.heard) if topic.startswith("lamps/")]


def press(house, site, index, expected, what):
    site.press(index)
    expected.append(f"lamps/b{site.ids[index]}")
    wait(what, lambda: len(lamps(house)) >= len(expected))


def check(part, who):
    if part.get("fault") or part.get("refused") or part.get("warnings"):
        raise SystemExit(f"failed: {who} says {part}")


def story(title, rules, daemon):
    house = GuardedHouse(rules)
    site = RealSite(house, daemon)
    house.sign_in("site", SITE.split("/")[-1])
    names = ["a1", "a2"]
    engines = [engine_of(house, name, daemon, site.ids) for name in names]
    try:
        site.start()
        site.pair()
        expected = []
        engines[0].start()
        wait("the engine leads", lambda: engines[0].status().get("state") == "leading")
        engines[1].start()
        wait("the stand-by says that it could lead", lambda: house.last("engines/1/standby").get("engine") == "a2")
        press(house, site, 0, expected, "a press switches its lamp")
        for engine in engines:
            check(engine.status(), engine.name)
        engines[0].kill()
        press(house, site, 1, expected, "a press switches its lamp after a takeover")
        wait("all is claimed", lambda: site.ask("status")["uplink"]["unclaimed"] == 0)
        check(engines[1].status(), "a2")
        check(site.ask("status")["uplink"], "the site")
        # The patterns let every user read the states.
        deaf = engine_of(house, "a3", daemon, site.ids, DEAF)
        deaf.start()
        wait("a stand-by that cannot read says so", lambda: deaf.status().get("refused") == ["read engines/1/#"])
        wait("the other engine leads again", lambda: engines[1].status().get("state") == "leading")
        press(house, site, 2, expected, "a press switches its lamp beside an engine that cannot read")
        time.sleep(15)
        press(house, site, 0, expected, "it does so later, too")
        time.sleep(1)
        if sorted(lamps(house)) != sorted(expected):
            raise SystemExit(f"failed: the lamps {sorted(lamps(house))}, expected {sorted(expected)}")
        print(f"{title}: {len(expected)} presses, each switched its lamp once, and nothing was refused", flush=True)
    except SystemExit:
        for name in ("site", "a1", "a2", "a3"):
            if os.path.exists(house.path(f"{name}/log")):
                print(name, open(house.path(f"{name}/log")).read()[-4000:])
        raise
    finally:
        house.close()


def main():
    daemon = sys.argv[1] if len(sys.argv) > 1 else ".build/debug/tryckd"
    for title, rules in access_rules().items():
        story(title, rules, daemon)


if __name__ == "__main__":
    main()
