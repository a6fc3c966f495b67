"""What a point is."""
from collections.abc import Callable
from dataclasses import dataclass

from box import Box

Check = Callable[[Box], None]


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
