"""What a point is."""
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from house import House

Check = Callable[[House], Awaitable[None]]


@dataclass(frozen=True)
class Point:
    sentence: str
    check: Check


# In the order they are written in, which is the order of the story.
POINTS: list[Point] = []


def point(sentence: str) -> Callable[[Check], Check]:
    def add(check: Check) -> Check:
        POINTS.append(Point(sentence, check))
        return check

    return add
