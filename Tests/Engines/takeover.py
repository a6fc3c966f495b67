#!/usr/bin/env python3
"""Kills the engines of a site with SIGKILL, on a real mosquitto, while buttons are pressed.

This program plays the site; the engines are real daemons. Each button of the site is pressed once. A press must switch its lamp
once, or be reported as interrupted if it switches no lamp. It must never switch its lamp twice.

In three stories, the leader is not killed: it is stopped until the stand-by leads, and then woken, once with a short patience; or it is
ended in order, and has to hand over within a second.

Usage: takeover.py [TRYCKD]
"""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

SITE = "tryck/berlin7"
RULES = """version: 1
buttons:
BUTTONS
defaults: {queued: accept}
rules:
  - id: lamp
    mode: parallel
    triggers: {button: any, event: down}
    actions:
      - publish: {topic: "lamp/{{ trigger.button }}", payload: "on"}
  - id: program
    mode: parallel
    triggers: {button: any, event: down}
    actions:
      - run: [/usr/bin/touch, "PROGRAMS/{{ trigger.button }}"]
"""
# The broker sends a copy of each message of engines for the subscription of this state.
STATES = """states: {engines: {topic: "engines/#", as: count}}
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def wait(what, is_true, limit=60):
    end = time.monotonic() + limit
    while not is_true():
        if time.monotonic() > end:
            raise SystemExit(f"failed: {what} did not happen in {limit} s")
        time.sleep(0.02)


class House:
    """A directory, a broker, and the messages that were received from it."""

    address = "127.0.0.1"
    # True if the broker keeps what it has retained when it is killed.
    is_persistent = False
    # When such a broker writes: every second, as deploy/many.md says.
    autosave = "autosave_interval 1\n"

    def __init__(self, *options):
        """`options` are those of the subscriber, by default of one that speaks MQTT 5."""
        self.directory = tempfile.mkdtemp(prefix="tryck-engines-")
        self.port = free_port()
        self.broker = None
        self.programs = []
        self.heard = []
        self.listeners = []
        self.start_broker()
        wait("the broker", self.is_broker_up)
        subscriber = self.start(
            ["/usr/bin/mosquitto_sub", *(options or ("-V", "5")), "-p", str(self.port), "-q", "1", "-F", "%r %t %p"]
            + [part for topic in ("lamp/#", "engines/#", "+/bridge/event", "tryck/#") for part in ("-t", topic)],
            stdout=subprocess.PIPE)
        threading.Thread(target=self.listen, args=(subscriber,), daemon=True).start()

    def start_broker(self):
        with open(self.path("mosquitto.conf"), "w") as file:
            file.write(f"listener {self.port} 127.0.0.1\nallow_anonymous true\n")
            file.write("max_queued_messages 0\nset_tcp_nodelay true\n")
            if self.is_persistent:
                file.write(f"persistence true\npersistence_location {self.directory}/\n")
                file.write(f"{self.autosave}user root\n")
            else:
                file.write("persistence false\n")
        self.broker = self.start(
            ["/usr/sbin/mosquitto", "-c", self.path("mosquitto.conf")], stderr=subprocess.DEVNULL)

    def path(self, name):
        return os.path.join(self.directory, name)

    def is_broker_up(self):
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
            return True
        except OSError:
            return False

    def start(self, command, **options):
        program = subprocess.Popen(command, **options)
        self.programs.append(program)
        return program

    def listen(self, subscriber):
        for line in subscriber.stdout:
            _, topic, payload = line.decode().rstrip("\n").split(" ", 2)
            self.heard.append((topic, payload))
            for listener in self.listeners:
                listener(topic, payload)

    def publish(self, topic, payload, *options):
        subprocess.run(
            ["/usr/bin/mosquitto_pub", "-V", "5", "-p", str(self.port), "-q", "1", "-t", topic, "-m", payload, *options],
            check=True)

    def last(self, topic):
        """The last payload of a topic as JSON."""
        payloads = [payload for name, payload in list(self.heard) if name == topic and payload]
        return json.loads(payloads[-1]) if payloads else {}

    def close(self):
        for program in reversed(self.programs):
            if program.poll() is None:
                program.kill()
                program.wait()
        shutil.rmtree(self.directory)


class Site:
    """A site with a journal in memory. Messages of one button go out in their order."""

    def __init__(self, house, count):
        self.house = house
        self.ids = [f"80e4da{index:06x}" for index in range(1, count + 1)]
        self.journal = {name: [] for name in self.ids}
        self.claimed = dict.fromkeys(self.ids, 0)
        self.orders = []
        self.pressed = set()
        self.lock = threading.Condition()
        house.listeners.append(self.took)
        threading.Thread(target=self.send, daemon=True).start()

    def hello(self):
        buttons = {
            name: {"serial": f"BA00-A{name[-5:].upper()}", "model": "flic2", "name": name, "firmware": 11,
                   "n": len(self.journal[name]), "claimed": self.claimed[name], "done": 0}
            for name in self.ids
        }
        text = {"v": 1, "site": "berlin7", "installation": "9f3c", "session": 1, "term": 0, "buttons": buttons}
        self.house.publish(f"{SITE}/feed/hello", json.dumps(text), "-r")

    def took(self, topic, payload):
        parts = topic.removeprefix(f"{SITE}/feed/").split("/")
        if len(parts) != 2 or not payload or parts[0] not in self.journal:
            return
        with self.lock:
            if parts[1] == "cursor":
                self.claimed[parts[0]] = max(self.claimed[parts[0]], json.loads(payload)["n"])
            if parts[1] == "want":
                self.orders.append((parts[0], json.loads(payload)["after"]))
                self.lock.notify()

    def press(self, name):
        self.pressed.add(name)
        for step in ("down", "up_click"):
            number = len(self.journal[name]) + 1
            with self.lock:
                self.journal[name].append((
                    time.monotonic(),
                    {"n": number, "prev": number - 1, "boot": 7, "count": number, "step": step,
                     "ticks": 32768 + 3277 * number, "queued": False}))
                self.orders.append((name, number - 1))
                self.lock.notify()

    def send(self):
        while True:
            with self.lock:
                while not self.orders:
                    self.lock.wait()
                name, after = self.orders.pop(0)
                messages = self.journal[name][after:]
            for at, message in messages:
                text = json.dumps({**message, "age_ms": int((time.monotonic() - at) * 1000)})
                self.house.publish(
                    f"{SITE}/feed/{name}", text, "-D", "PUBLISH", "message-expiry-interval", "3600")

    def is_done(self):
        return all(self.claimed[name] == len(self.journal[name]) for name in self.ids)


class Engine:
    def __init__(self, house, name, daemon, ids, patience="10s", rules=RULES + STATES):
        self.house, self.name, self.daemon = house, name, daemon
        os.makedirs(house.path(f"{name}/rules"))
        os.makedirs(house.path(f"{name}/programs"))
        with open(house.path(f"{name}/rules/home.yaml"), "w") as file:
            buttons = [
                f"  b{button}: {{address: \"{':'.join(button[at:at + 2] for at in range(0, 12, 2)).upper()}\"}}"
                for button in ids
            ]
            rules = rules.replace("PROGRAMS", house.path(f"{name}/programs"))
            file.write(rules.replace("BUTTONS", "\n".join(buttons)))
        with open(house.path(f"{name}/tryck.yaml"), "w") as file:
            file.write(
                f"bluetooth: {{transport: none}}\n"
                f"mqtt: {{broker: \"mqtt://{house.address}:{house.port}\", base_topic: {name}}}\n"
                f"engine: {{name: {name}, patience: {patience}}}\nsources:\n  - {{mqtt: \"tryck/+\"}}\n")
        self.program = None

    def start(self):
        with open(self.house.path(f"{self.name}/log"), "a") as log:
            self.program = self.house.start(
                [self.daemon, "--config", self.house.path(f"{self.name}/tryck.yaml"), "--state-directory",
                 self.house.path(f"{self.name}/state"), "--control-socket", self.house.path(f"{self.name}/socket"),
                 "--log-level", "debug"], stdout=log, stderr=log)

    def kill(self):
        self.program.send_signal(signal.SIGKILL)
        self.program.wait()

    def log(self):
        with open(self.house.path(f"{self.name}/log")) as file:
            return file.read()


def account(house, site, engines, title):
    """Checks that each press was acted on once, or was reported, and that no program ran twice."""
    acted = {name: 0 for name in site.pressed}
    reported = set()
    for topic, payload in house.heard:
        if topic.startswith("lamp/"):
            acted[topic.removeprefix("lamp/b")] += 1
        if topic.endswith("/bridge/event"):
            event = json.loads(payload)
            data = event.get("data", event)
            if event.get("type") == "interrupted" and "first_n" in data and data["first_n"] <= 1:
                reported.add(data["button"])
    twice = [name for name, count in acted.items() if count > 1]
    never = [name for name, count in acted.items() if count == 0]
    silent = [name for name in never if name not in reported]
    ran = [name for engine in engines for name in os.listdir(house.path(f"{engine.name}/programs"))]
    doubled = {name for name in ran if ran.count(name) > 1}
    print(
        f"{title}: {len(acted)} presses, {len(acted) - len(never)} acted on, {len(never)} never, "
        f"{len(reported)} reported as interrupted, {len(twice)} twice, {len(ran)} programs", flush=True)
    if twice or silent or doubled:
        for engine in engines:
            print(engine.log()[-6000:])
        raise SystemExit(f"failed: twice {twice}, without a report {silent}, programs twice {doubled}")
    if len(never) > len(acted) // 4:
        raise SystemExit("failed: too many presses had no effect")


def story(title, daemon, names, count, kills, seed, how="kill", patience="10s"):
    """`how` the leader goes away: by `kill`, by `stop`, after which it wakes up, or in order by `term`."""
    house = House()
    try:
        random.seed(seed)
        site = Site(house, count)
        engines = [Engine(house, name, daemon, site.ids, patience) for name in names]
        site.hello()
        engines[0].start()
        wait("the first engine leads", lambda: house.last("engines/1/state").get("state") == "online")
        if len(engines) > 1:
            engines[1].start()
            wait("the stand-by", lambda: "connected to" in engines[1].log())
            time.sleep(0.5)
        moments = sorted(random.sample(range(5, count - 5), kills))
        leader = 0
        took = []
        for index, name in enumerate(site.ids):
            site.press(name)
            if index in moments:
                time.sleep(random.uniform(0, 0.03))
                if patience == "3s":
                    # The connection of a leader that is stopped between claim and action outlasts this patience.
                    time.sleep(0.2)
                began = time.monotonic()
                if how == "stop":
                    engines[leader].program.send_signal(signal.SIGSTOP)
                elif how == "term":
                    engines[leader].program.send_signal(signal.SIGTERM)
                else:
                    engines[leader].kill()
                term = house.last("engines/1/leader").get("term", 0)
                if len(engines) > 1:
                    leader = 1 - leader
                    wait("a takeover", lambda: house.last("engines/1/leader").get("engine") == names[leader]
                         and house.last("engines/1/state").get("state") == "online"
                         and house.last("engines/1/state").get("engine") == names[leader])
                    took.append(time.monotonic() - began)
                    if how == "stop":
                        engines[1 - leader].program.send_signal(signal.SIGCONT)
                    else:
                        engines[1 - leader].program.wait(timeout=15)
                        engines[1 - leader].start()
                        if how == "term":
                            presence = len(house.heard)
                            wait("the stand-by", lambda: any(
                                topic == "engines/1/standby" for topic, _ in house.heard[presence:]))
                else:
                    engines[leader].start()
                    wait("the engine leads again", lambda: house.last("engines/1/leader").get("term", 0) > term
                         and house.last("engines/1/state").get("state") == "online")
                    took.append(time.monotonic() - began)
            else:
                time.sleep(0.05)
        wait("all presses are claimed", site.is_done)
        time.sleep(2)
        account(house, site, engines, title)
        print(f"  led again after {', '.join(f'{seconds:.2f} s' for seconds in took)}", flush=True)
        if patience == "3s" and max(took) > 6:
            raise SystemExit("failed: a stand-by with a patience of 3 s waited longer")
        if how == "term" and max(took) > 1:
            raise SystemExit("failed: a leader that ends in order did not hand over at once")
    finally:
        house.close()


def main():
    daemon = sys.argv[1] if len(sys.argv) > 1 else ".build/debug/tryckd"
    story("one engine, killed", daemon, ["a1"], 60, 4, 1)
    story("an engine and its stand-by, killed in turn", daemon, ["a1", "a2"], 80, 5, 2)
    story("an engine and its stand-by, stopped in turn and woken", daemon, ["a1", "a2"], 80, 3, 3, how="stop")
    story("the same with a patience of 3 s", daemon, ["a1", "a2"], 80, 5, 5, how="stop", patience="3s")
    story("an engine and its stand-by, ended in order in turn", daemon, ["a1", "a2"], 80, 4, 4, how="term")


if __name__ == "__main__":
    main()
