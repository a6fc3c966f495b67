"""How soon a tryckd is ready, and what it holds and does when nothing happens: 100 rules, MQTT over TLS, 8 buttons.

    measure.py NAME=PROGRAM...
"""
import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / 'deploy/debian'))
from trial import BUTTONS, RULES, Broker, Daemon, alone, forget, whole  # noqa: E402

STARTS = 21
START_BUDGET = 20.0  # milliseconds
MEMORY_BUDGET = 14.0  # megabytes
WAKEUP_BUDGET = 0.2  # each second
REST = 60.0  # seconds, a keep-alive of the broker among them


def start(program: str) -> float:
    starts = []
    for _ in range(STARTS):
        daemon = Daemon(program, alone())
        starts.append(daemon.milliseconds)
        daemon.end()
    return statistics.median(starts)


def rest(program: str) -> tuple[dict[str, int], float]:
    """Memory of a daemon with connected buttons, and its wake-ups without any."""
    broker = Broker()
    configuration = whole(broker)
    daemon = Daemon(program, configuration)
    daemon.pair()
    daemon.wait_until_all_is_well()
    daemon.end()
    # Memory that pairing needed is not part of the measurement, because a service pairs rarely.
    daemon = Daemon(program, configuration)
    daemon.wait_until_all_is_well(ready=0)
    before = daemon.fields()['voluntary_ctxt_switches']
    time.sleep(REST)
    wakeups = (daemon.fields()['voluntary_ctxt_switches'] - before) / REST
    for index in range(BUTTONS):
        daemon.ask('simulator/press', button=f'button_{index}', press='click')
    daemon.wait_until_all_is_well()
    fields = daemon.fields()
    daemon.end()
    broker.end()
    forget()
    return fields, wakeups


for argument in sys.argv[1:]:
    name, program = argument.split('=', 1)
    ready = start(program)
    fields, wakeups = rest(program)
    threads = fields['Threads']
    print(f'{name}: {os.path.getsize(program) / 1e6:.1f} MB on disk; '
          f'ready in {ready:.1f} ms with {RULES} rules (budget {START_BUDGET:g}); '
          f'{fields["VmRSS"] / 1024:.1f} MB with {BUTTONS} buttons and MQTT over TLS (budget {MEMORY_BUDGET:g}), '
          f'{fields["RssAnon"] / 1024:.1f} MB of it its own; {threads} thread{"s" * (threads != 1)}; '
          f'{wakeups:.2f} wakeups a second at rest (budget {WAKEUP_BUDGET:g})')
