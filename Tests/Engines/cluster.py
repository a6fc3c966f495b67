#!/usr/bin/env python3
"""Runs a real site, an engine and its stand-by on a cluster of three nats-servers, and kills one server after the other.

The servers speak MQTT 3.1.1 and share what is retained (JetStream, three replicas). They have one address, as behind a floating
address or a balancer: a relay in this process connects each client to a server that runs. Each press must switch its lamp
exactly once. A press may wait until its site has found another server.

Usage: cluster.py [TRYCKD]
"""

import os
import random
import socket
import subprocess
import sys
import threading
import time

from sites import RealSite, lamps
from takeover import RULES, Engine, House, free_port, wait

SERVERS = 3
PRESSES = 30


class Cluster(House):
    """A house whose broker is a cluster of nats-servers behind one address."""

    def start_broker(self):
        self.servers = [None] * SERVERS
        self.routes = [free_port() for _ in range(SERVERS)]
        self.mqtt = [free_port() for _ in range(SERVERS)]
        for index in range(SERVERS):
            self.start_server(index)
        self.relay = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.accept, daemon=True).start()

    def start_server(self, index):
        configuration = self.path(f"nats{index}.conf")
        routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in self.routes)
        with open(configuration, "w") as file:
            file.write(
                f"server_name: n{index}\nlisten: \"127.0.0.1:{free_port()}\"\n"
                f"jetstream {{ store_dir: \"{self.path(f'nats{index}')}\" }}\n"
                f"cluster {{ name: house, listen: \"127.0.0.1:{self.routes[index]}\", routes: [{routes}] }}\n"
                f"mqtt {{ listen: \"127.0.0.1:{self.mqtt[index]}\" }}\n")
        log = open(self.path(f"nats{index}.log"), "a")
        self.servers[index] = self.start(["/usr/sbin/nats-server", "-c", configuration], stdout=log, stderr=log)

    def kill_server(self, index):
        self.servers[index].kill()
        self.servers[index].wait()

    def accept(self):
        while True:
            try:
                client, _ = self.relay.accept()
            except OSError:
                return
            for port in random.sample(self.mqtt, SERVERS):
                try:
                    server = socket.create_connection(("127.0.0.1", port), 2)
                    break
                except OSError:
                    continue
            else:
                client.close()
                continue
            for source, sink in ((client, server), (server, client)):
                source.settimeout(None)
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.carry, args=(source, sink), daemon=True).start()

    @staticmethod
    def carry(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def is_broker_up(self):
        """True if the servers have agreed on a leader, so that they accept clients."""
        return subprocess.run(
            ["/usr/bin/mosquitto_pub", "-p", str(self.port), "-q", "1", "-t", "test/ready", "-m", "1"],
            stderr=subprocess.DEVNULL).returncode == 0

    def close(self):
        super().close()
        self.relay.close()


def main():
    daemon = sys.argv[1] if len(sys.argv) > 1 else ".build/debug/tryckd"
    # The servers keep what the subscriber misses while it looks for another server.
    house = Cluster("-V", "311", "-c", "-i", "listener")
    site = RealSite(house, daemon)
    # A message with QoS 0 is lost with the server that has taken it.
    rules = RULES.replace('payload: "on"', 'payload: "on", qos: 1').replace("mode: parallel", "mode: parallel\n    max: 100")
    engines = [Engine(house, name, daemon, site.ids, rules=rules) for name in ("a1", "a2")]
    try:
        random.seed(11)
        site.start()
        site.pair()
        engines[0].start()
        wait("the engine leads", lambda: house.last("engines/1/state").get("state") == "online")
        engines[1].start()
        wait("the stand-by", lambda: "connected to" in engines[1].log())
        wait("the site knows the engine", lambda: site.ask("status")["uplink"]["engine_online"])
        uplink = site.ask("status")["uplink"]
        if uplink["expiry"]:
            raise SystemExit(f"failed: the site believes that the broker has message expiry: {uplink}")
        expected = []
        down = None
        for turn in range(PRESSES):
            if turn % 10 == 5:
                down = turn // 10 % SERVERS
                house.kill_server(down)
            if turn % 10 == 9:
                house.start_server(down)
            name = site.ids[turn % len(site.ids)]
            site.press(turn % len(site.ids))
            expected.append(f"b{name}")
            time.sleep(random.uniform(0.1, 0.6))
        wait("each press switches its lamp", lambda: len(lamps(house)) >= len(expected), 120)
        wait("nothing waits", lambda: site.ask("status")["uplink"]["unclaimed"] == 0)
        time.sleep(2)
        if sorted(lamps(house)) != sorted(expected):
            raise SystemExit(f"failed: the lamps {sorted(lamps(house))}, expected {sorted(expected)}")
        print(f"cluster: {len(expected)} presses, each switched its lamp once; 3 kills of a server", flush=True)
    except SystemExit:
        for name in ("site", "a1", "a2"):
            if os.path.exists(house.path(f"{name}/log")):
                print(name, open(house.path(f"{name}/log")).read()[-5000:])
        for index in range(SERVERS):
            print(index, open(house.path(f"nats{index}.log")).read()[-1500:])
        raise
    finally:
        house.close()


if __name__ == "__main__":
    main()
