"""Lists the functions that a running tryckd calls. The linker places them together, so that the running code is in few
pages, and only these are read from the disk and kept in memory.

    order.py PROGRAM TRYCK > symbols

PROGRAM, a tryckd, must have symbols, but no debugging information, which callgrind does not always understand. It runs slowly.
"""
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from trial import BUTTONS, Air, Broker, Daemon, alone, directory, whole

PRESSES = ('click', 'double_click', 'hold')


def functions(profile: Path, program: Path) -> Iterator[str]:
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


program = Path(sys.argv[1]).resolve()
callgrind = ('valgrind', '--quiet', '--tool=callgrind', '--demangle=no', f'--callgrind-out-file={directory}/profile.%p')

# Profiles a first start, a pairing, and normal operation.
Daemon(str(program), alone(), callgrind).end()
broker = Broker()
air = Air(Path(sys.argv[2]).resolve())
configuration = whole(broker, air)
daemon = Daemon(str(program), configuration, callgrind)
daemon.pair()
daemon.wait_until_all_is_well()
daemon.end()
daemon = Daemon(str(program), configuration, callgrind)
for index in range(BUTTONS):
    air.press(f'button_{index}', PRESSES[index % len(PRESSES)])
daemon.wait_until_all_is_well()
daemon.process.send_signal(signal.SIGHUP)
daemon.ask('rules')
daemon.wait_until_all_is_well()
daemon.end()
air.end()
broker.end()

names = {name for profile in directory.glob('profile.*') for name in functions(profile, program)}
print(*sorted(names), sep='\n')
