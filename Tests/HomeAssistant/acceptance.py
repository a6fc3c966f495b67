"""Home Assistant and tryckd, point by point; Tests/HomeAssistant/run starts this."""
import argparse
import asyncio
import signal
import sys
import tempfile
import time
from pathlib import Path

import bench
from house import House
from points import POINTS
from points.point import Point
from tape import Failure, limit

# The time limit in seconds for a point on a busy machine.
LIMIT = 180


async def accept(directory: Path) -> int:
    house = House(directory)
    failures = 0
    try:
        await house.start()
        await house.add_air()
        house.bridge = await house.add_bridge('tryck', house.air.transport, trust_root=house.air.trust_root)
        for point in POINTS:
            failures += not await holds(point, house)
        if failures:
            house.tell()
    finally:
        await house.end()
    print(f'{len(POINTS) - failures} of {len(POINTS)} points hold.', flush=True)
    return 1 if failures else 0


async def holds(point: Point, house: House) -> bool:
    start, reason = time.monotonic(), ''
    try:
        async with limit(LIMIT, 'the end of it'):
            await point.check(house)
    except Failure as failure:
        reason = f'\n    {failure}'
    except (LookupError, TypeError, ValueError) as unexpected:
        reason = f'\n    an answer of another shape: {unexpected!r}'
    print(f'{"✗" if reason else "✓"} {time.monotonic() - start:5.1f} s  {point.sentence}{reason}', flush=True)
    return not reason


async def run(work: str | None, directory: Path) -> int:
    task = asyncio.current_task()
    assert task
    # The handler also ends all started programs.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        return await (bench.measure if work == 'bench' else accept)(directory)
    except Failure as failure:
        print(f'Tests/HomeAssistant/run: {failure}', file=sys.stderr)
        return 1
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM


def main() -> int:
    parser = argparse.ArgumentParser(prog='Tests/HomeAssistant/run')
    parser.add_argument('--bench', dest='work', action='store_const', const='bench', help='measure presses instead')
    with tempfile.TemporaryDirectory(prefix='tryck-home-') as directory:
        return asyncio.run(run(parser.parse_args().work, Path(directory)))


sys.exit(main())
