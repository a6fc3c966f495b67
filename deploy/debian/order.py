"""Which functions a running tryckd calls, by name, for the linker to put together: what runs lies in few pages then, and
only those are read from the disk and held in memory.

    order.py PROGRAM > symbols

PROGRAM has its symbols, but nothing for debuggers, which callgrind does not always understand. It is slow there.
"""
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from trial import BUTTONS, PATIENCE, Broker, Daemon, alone, directory, whole

PRESSES = ('click', 'double_click', 'hold')


def functions(profile: Path, program: Path) -> Iterator[str]:
    """Those of the program itself. Names are written where they come up first, numbers stand for them later."""
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
                # What follows tells the recursions apart.
                yield known[kind, number].split("'")[0]


program = Path(sys.argv[1]).resolve()
callgrind = ('valgrind', '--quiet', '--tool=callgrind', '--demangle=no', f'--callgrind-out-file={directory}/profile.%p')

# A house that is set up, and then lived in.
Daemon(str(program), alone(), callgrind).end()
broker = Broker()
configuration = whole(broker)
daemon = Daemon(str(program), configuration, callgrind)
daemon.ask('permit_join', time=int(PATIENCE))
daemon.wait_until_all_is_well()
daemon.end()
daemon = Daemon(str(program), configuration, callgrind)
for index in range(BUTTONS):
    daemon.ask('simulator/press', button=f'button_{index}', press=PRESSES[index % len(PRESSES)])
daemon.wait_until_all_is_well()
daemon.process.send_signal(signal.SIGHUP)
daemon.ask('rules')
daemon.wait_until_all_is_well()
daemon.end()
broker.end()

names = {name for profile in directory.glob('profile.*') for name in functions(profile, program)}
print(*sorted(names), sep='\n')
