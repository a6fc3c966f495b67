"""Presses the simulated button, and measures the time until a subscriber has the rule's message.

  latency.py KIND PRESSES PIPE FILE

PIPE takes the presses. FILE keeps the medians of the kinds that were measured before, the first of which is the one that the
others are compared with. One line is printed.
"""
import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

kind, count, pipe, kept = sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
LIMIT = 60
subscriber = subprocess.Popen(
    ['timeout', '600', 'mosquitto_sub', '-h', '127.0.0.1', '-t', 'test/step', '-t', '$SYS/broker/version'],
    stdout=subprocess.PIPE, bufsize=0)
assert subscriber.stdout
# The broker sends its version once the subscription stands.
subscriber.stdout.readline()
times = []
with open(pipe, 'w', buffering=1) as buttons:
    for number in range(count + 3):
        begin = time.monotonic()
        buttons.write('kitchen down\n')
        if subscriber.stdout.readline() != b'down\n':
            sys.exit('the first message after a press is not that of the press')
        # The first presses read pages of the programs.
        if number >= 3:
            times.append((time.monotonic() - begin) * 1000)
        buttons.write('kitchen up\n')
        if subscriber.stdout.readline() != b'up\n':
            sys.exit('the first message after a release is not that of the release')
        time.sleep(0.3 + random.random() * 0.2)
subscriber.terminate()
times.sort()
median, p95 = statistics.median(times), times[int(len(times) * 0.95)]
medians = json.loads(kept.read_text()) if kept.exists() else {}
medians[kind] = median
kept.write_text(json.dumps(medians))
first = next(iter(medians.values()))
print(f'{kind:<12}  {count} presses: median {median:6.1f} ms, 95 % {p95:6.1f} ms, {median / first:.2f} times {next(iter(medians))}')
