"""Everything that has to hold, in order."""
from points import installed
from points.point import POINTS

__all__ = ['POINTS']
