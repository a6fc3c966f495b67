"""The definition of a point."""
from collections.abc import Callable
from dataclasses import dataclass

from box import Box

Check = Callable[[Box], None]


@dataclass(frozen=True)
class Point:
    sentence: str
    check: Check


# The points in the order in which they are written, which is the order in which they run.
POINTS: list[Point] = []


def point(sentence: str) -> Callable[[Check], Check]:
    def add(check: Check) -> Check:
        POINTS.append(Point(sentence, check))
        return check

    return add
