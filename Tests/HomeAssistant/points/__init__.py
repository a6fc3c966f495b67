"""All points, in order."""
from points import (
    discovery, gestures, notices, commands, duo, twist, dimming, naming, outages, neighbours, restart, link_loss,
    removal)
from points.point import POINTS

__all__ = ['POINTS']
