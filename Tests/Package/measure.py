"""How soon a tryckd is ready, and what it holds and does when nothing happens: 100 rules, MQTT over TLS, 8 buttons.

    measure.py NAME=PROGRAM...

It fails if the first program exceeds a budget. Others are measured for comparison. The buttons are simulated by the tryck
beside the first program.
"""
import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / 'deploy/debian'))
from trial import BUTTONS, RULES, Air, Broker, Daemon, alone, forget, whole  # noqa: E402

STARTS = 21
START_BUDGET = 20.0  # milliseconds
MEMORY_BUDGET = 14.0  # megabytes
OWN_MEMORY_BUDGET = 3.5  # megabytes
WAKEUP_BUDGET = 0.2  # each second
REST = 60.0  # seconds, a keep-alive of the broker among them
SETTLING = 35.0  # seconds, after which the daemon has forgotten what only the start needed


def start(program: str) -> float:
    starts = []
    for _ in range(STARTS):
        daemon = Daemon(program, alone())
        starts.append(daemon.milliseconds)
        daemon.end()
    return statistics.median(starts)


def rest(program: str, tryck: Path) -> tuple[dict[str, int], float]:
    """Memory of a daemon with connected buttons, and its wake-ups without any."""
    broker = Broker()
    air = Air(tryck)
    configuration = whole(broker, air)
    daemon = Daemon(program, configuration)
    daemon.wait_until_all_is_well(ready=0)
    before = daemon.fields()['voluntary_ctxt_switches']
    time.sleep(REST)
    wakeups = (daemon.fields()['voluntary_ctxt_switches'] - before) / REST
    daemon.pair()
    daemon.wait_until_all_is_well()
    daemon.end()
    # Memory that pairing needed is not part of the measurement, because a service pairs rarely.
    daemon = Daemon(program, configuration)
    daemon.wait_until_all_is_well(ready=0)
    for index in range(BUTTONS):
        air.press(f'button_{index}', 'click')
    daemon.wait_until_all_is_well()
    time.sleep(SETTLING)
    for index in range(BUTTONS):
        air.press(f'button_{index}', 'click')
    time.sleep(2)
    daemon.wait_until_all_is_well()
    fields = daemon.fields()
    daemon.end()
    air.end()
    broker.end()
    forget()
    return fields, wakeups


def measure(name: str, program: str, tryck: Path) -> list[str]:
    """Prints the figures, and returns those that exceed their budgets."""
    fields, wakeups = rest(program, tryck)
    threads = fields['Threads']
    figures = [
        (f'ready in {{:.1f}} ms with {RULES} rules', start(program), START_BUDGET),
        (f'{{:.1f}} MB with {BUTTONS} buttons and MQTT over TLS', fields['VmRSS'] / 1024, MEMORY_BUDGET),
        ('{:.1f} MB of it its own', fields['RssAnon'] / 1024, OWN_MEMORY_BUDGET),
        ('{:.2f} wakeups a second at rest', wakeups, WAKEUP_BUDGET)]
    words = [f'{text.format(value)} (budget {budget:g})' for text, value, budget in figures]
    print(f'{name}: {os.path.getsize(program) / 1e6:.1f} MB on disk; {"; ".join(words)}; '
          f'{threads} thread{"s" * (threads != 1)}')
    return [word for word, (_, value, budget) in zip(words, figures) if value > budget]


arguments = [argument.split('=', 1) for argument in sys.argv[1:]]
tryck = Path(arguments[0][1]).resolve().parent / 'tryck'
exceeded = [measure(name, program, tryck) for name, program in arguments]
for words in exceeded[:1]:
    if words:
        sys.exit(f'{arguments[0][0]} is above its budget: {"; ".join(words)}')
