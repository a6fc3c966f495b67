"""A machine with systemd, point by point; Tests/Machine/run starts this."""
import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from box import Box
from points import POINTS
from points.point import Point
from program import Failure


def accept(box: Box) -> int:
    began, failures = time.monotonic(), 0
    try:
        box.start()
        print(f'  {time.monotonic() - began:5.1f} s  the machine is started: {box.machine.do("uname -sr")}', flush=True)
        for point in POINTS:
            failures += not holds(point, box)
    except Failure as failure:
        print(f'Tests/Machine/run: {failure}', file=sys.stderr)
        return 1
    finally:
        box.end()
    for figure in box.figures:
        print(f'figure: {figure}')
    print(f'{len(POINTS) - failures} of {len(POINTS)} points hold, in {time.monotonic() - began:.0f} s.', flush=True)
    return 1 if failures else 0


def holds(point: Point, box: Box) -> bool:
    start, reason = time.monotonic(), ''
    try:
        point.check(box)
    except Failure as failure:
        reason = f'\n    {failure}'
    except (LookupError, TypeError, ValueError) as unexpected:
        reason = f'\n    an answer of another shape: {unexpected!r}'
    print(f'{"✗" if reason else "✓"} {time.monotonic() - start:5.1f} s  {point.sentence}{reason}', flush=True)
    if reason:
        box.tell()
    return not reason


def main() -> int:
    parser = argparse.ArgumentParser(prog='Tests/Machine/run')
    for name in ('package', 'disk', 'kernel', 'initramfs', 'rootcanal', 'nodelay'):
        parser.add_argument(f'--{name}', type=Path, required=True)
    arguments = parser.parse_args()
    # The handler also ends all started programs.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix='tryck-machine-') as directory:
        return accept(Box(Path(directory), arguments))


sys.exit(main())
