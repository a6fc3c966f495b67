"""All points, in order."""
from points import installed, paired, faults, rebooted, upgraded
from points.point import POINTS

__all__ = ['POINTS']
