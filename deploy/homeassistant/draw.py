"""Draws the add-on's icon.png and logo.png: the button of the page's icon.svg, and the name beside it.

The pictures are part of the sources; run this again after a change of the drawing.
"""
import struct
import zlib
from math import cos, hypot, radians, sin
from pathlib import Path

Point = tuple[float, float]

PRESS, FACE = (217, 72, 15), (255, 255, 255)
# How many samples of each pixel are averaged, in each direction.
SAMPLES = 4
# Half the width of a stroke of the name.
PEN = 3.4


def arc(x: float, y: float, radius: float, start: int, end: int) -> list[Point]:
    """The points of an arc, clockwise from an angle to another in degrees; 0 is on the right."""
    return [(x + radius * cos(radians(angle)), y + radius * sin(radians(angle))) for angle in range(start, end + 1, 10)]


# The strokes of the name in the logo, in pixels.
NAME: list[list[Point]] = [
    [(106, 34), (132, 34)], [(119, 34), (119, 67)],
    [(143, 46), (143, 67)], arc(155, 58, 12, 180, 270),
    [(165, 46), (174, 67)], [(184, 46), (171, 78)],
    arc(203, 56.5, 10.5, 50, 310),
    [(222, 32), (222, 67)], [(237, 46), (222, 59)], [(228, 55), (238, 67)],
]


def is_near(x: float, y: float, start: Point, end: Point) -> bool:
    """Whether a place is within half a pen's width of a line."""
    (left, top), (right, bottom) = start, end
    across, down = right - left, bottom - top
    share = ((x - left) * across + (y - top) * down) / (across * across + down * down)
    share = min(1, max(0, share))
    return hypot(x - left - share * across, y - top - share * down) <= PEN


def colour(x: float, y: float, radius: float, strokes: list[list[Point]]) -> tuple[int, int, int, int]:
    """The colour at a place in pixels. The middle of the button is as far from the left as from the top."""
    distance = hypot(x - radius / 0.94, y - radius / 0.94) / radius
    if distance <= 1:
        return (*(FACE if 4 / 15 < distance <= 10 / 15 else PRESS), 255)
    is_name = any(is_near(x, y, *line) for stroke in strokes for line in zip(stroke, stroke[1:]))
    return (*PRESS, 255) if is_name else (0, 0, 0, 0)


def pixel(column: int, row: int, radius: float, strokes: list[list[Point]]) -> bytes:
    total = [0, 0, 0, 0]
    for index in range(SAMPLES * SAMPLES):
        x = column + (index % SAMPLES + 0.5) / SAMPLES
        y = row + (index // SAMPLES + 0.5) / SAMPLES
        red, green, blue, alpha = colour(x, y, radius, strokes)
        for place, value in enumerate((red * alpha, green * alpha, blue * alpha, alpha)):
            total[place] += value
    alpha = total[3]
    return bytes([*(round(value / alpha) if alpha else 0 for value in total[:3]), round(alpha / SAMPLES ** 2)])


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def png(width: int, height: int, strokes: list[list[Point]]) -> bytes:
    radius = height / 2 * 0.94
    rows = b''.join(
        b'\0' + b''.join(pixel(column, row, radius, strokes) for column in range(width)) for row in range(height))
    header = struct.pack('>IIBBBBB', width, height, 8, 6, 0, 0, 0)
    return (
        b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(rows, 9)) + chunk(b'IEND', b''))


folder = Path(__file__).with_name('addon')
(folder / 'icon.png').write_bytes(png(128, 128, []))
(folder / 'logo.png').write_bytes(png(250, 100, NAME))
