"""Home Assistant and tryckd, point by point; Tests/HomeAssistant/run starts this."""
import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

from house import House
from points import POINTS
from tape import Failure

# As long as a busy machine may take over one point.
LIMIT = 180


async def accept(directory: Path) -> int:
    house = House(directory)
    failed = 0
    try:
        await house.start()
        await house.add_air()
        house.bridge = await house.add_bridge('tryck', house.air.transport, trust_root=house.air.trust_root)
        for point in POINTS:
            start = time.monotonic()
            try:
                async with asyncio.timeout(LIMIT):
                    await point.check(house)
                mark, reason = '✓', ''
            except (Failure, TimeoutError) as failure:
                mark, reason = '✗', f'\n    {failure or f"not within {LIMIT} s"}'
                failed += 1
            print(f'{mark} {time.monotonic() - start:5.1f} s  {point.sentence}{reason}', flush=True)
    finally:
        for name, log in house.logs().items() if failed else ():
            print(f'--- the end of what {name} said', *log[-30:], sep='\n')
        await house.end()
    print(f'{len(POINTS) - failed} of {len(POINTS)} points hold.', flush=True)
    return 1 if failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog='Tests/HomeAssistant/run')
    parser.add_argument('--bench', action='store_true', help='measure presses instead')
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix='tryck-home-') as directory:
        if arguments.bench:
            import bench
            return asyncio.run(bench.measure(Path(directory)))
        return asyncio.run(accept(Path(directory)))


sys.exit(main())
