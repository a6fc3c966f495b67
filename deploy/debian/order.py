"""Lists the functions that a running tryckd calls. The linker places them in this order, so that the running code is in few
pages, and only these are read from the disk and kept in memory.

    order.py PROGRAM TRYCK > symbols

First come the functions that presses call, then what a running service calls besides, then what only its start needs, and last
what is rare: a first start, pairing and reloading. The service forgets the pages of its start when it is ready, and again half a
minute later.

PROGRAM, a tryckd, must have symbols, but no debugging information, which callgrind does not always understand. It runs slowly.
"""
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from trial import BUTTONS, Air, Broker, Daemon, alone, directory, whole

PRESSES = ('click', 'double_click', 'hold')
SETTLING = 31.0  # seconds


def functions(profile: Path) -> Iterator[str]:
    """The functions of the program itself. callgrind writes a name at its first use, and its number after that."""
    known: dict[tuple[str, str], str] = {}
    file = ''
    for line in profile.read_text(errors='replace').splitlines():
        if match := re.match(r'c?(ob|fn)=(\(\d+\))(?: (.*))?', line):
            kind, number, name = match.groups()
            if name:
                known[kind, number] = name
            if line.startswith('ob='):
                file = known[kind, number]
            elif line.startswith('fn=') and file == str(program):
                # The text after the apostrophe is the depth of the recursion.
                yield known[kind, number].split("'")[0]


def start(configuration: Path) -> tuple[Daemon, set[str]]:
    """A daemon that is ready, and the functions that it has called before that."""
    daemon = Daemon(str(program), configuration, callgrind)
    called = new_functions(daemon)
    if not called:
        sys.exit(f'{sys.argv[0]}: the daemon was ready without calling linux_forget_code')
    return daemon, called


def dump(daemon: Daemon) -> set[str]:
    """The functions that the daemon has called since it was asked last."""
    # The daemon has no environment, and valgrind finds its pipes by variables such as LOGNAME.
    subprocess.run(['callgrind_control', '--dump', str(daemon.process.pid)], check=True, capture_output=True,
                   env={'PATH': os.environ['PATH']})
    return new_functions(daemon)


def end(daemon: Daemon) -> set[str]:
    """Ends the daemon. The functions that it has called since it was asked last."""
    daemon.end()
    return new_functions(daemon) | set(functions(directory / f'profile.{daemon.process.pid}'))


def new_functions(daemon: Daemon) -> set[str]:
    """The functions in the parts of the profile that have been written since the last call."""
    parts = set(directory.glob(f'profile.{daemon.process.pid}.*')) - read
    read.update(parts)
    return {name for part in parts for name in functions(part)}


read: set[Path] = set()
program = Path(sys.argv[1]).resolve()
# A part of the profile is written before the daemon forgets the pages of its start, which it does when it is ready.
callgrind = ('valgrind', '--quiet', '--tool=callgrind', '--demangle=no', '--dump-before=linux_forget_code',
             f'--callgrind-out-file={directory}/profile.%p')

daemon, rare = start(alone())
rare |= end(daemon)
broker = Broker()
air = Air(Path(sys.argv[2]).resolve())
configuration = whole(broker, air)
daemon, _ = start(configuration)
daemon.pair()
daemon.wait_until_all_is_well()
rare |= end(daemon)

daemon, usual_start = start(configuration)
daemon.wait_until_all_is_well()
# The daemon forgets the pages of its start once more.
time.sleep(SETTLING)
service = dump(daemon)
for index in range(BUTTONS):
    air.press(f'button_{index}', PRESSES[index % len(PRESSES)])
# Clicks and holds end, and the buttons get their acknowledgements.
time.sleep(20)
presses = dump(daemon)
daemon.ask('rules')
service |= dump(daemon)
daemon.process.send_signal(signal.SIGHUP)
daemon.wait_until_all_is_well()
rare |= end(daemon)
air.end()
broker.end()

named: set[str] = set()
for group in (presses, service, usual_start, rare):
    print(*sorted(group - named), sep='\n')
    print(f'{sys.argv[0]}: {len(group - named)} functions', file=sys.stderr)
    named |= group
