"""Draws the add-on's icon.png and logo.png: a round button with a lamp in its middle.

The pictures are part of the sources; run this again after a change of the drawing.
"""
import struct
import zlib
from pathlib import Path

BODY, RIM, LAMP = (38, 43, 54), (72, 80, 97), (64, 196, 140)
# How many samples of each pixel are averaged, in each direction.
SAMPLES = 4


def colour(x: float, y: float) -> tuple[int, int, int, int]:
    """The colour at a place, where the button has the radius 1."""
    distance = (x * x + y * y) ** 0.5
    if distance > 1:
        return (0, 0, 0, 0)
    ring = RIM if distance > 0.86 else LAMP if distance < 0.16 else BODY
    return (*ring, 255)


def pixel(column: int, row: int, width: int, height: int) -> bytes:
    radius = min(width, height) / 2 * 0.94
    total = [0, 0, 0, 0]
    for index in range(SAMPLES * SAMPLES):
        x = column + (index % SAMPLES + 0.5) / SAMPLES - width / 2
        y = row + (index // SAMPLES + 0.5) / SAMPLES - height / 2
        red, green, blue, alpha = colour(x / radius, y / radius)
        for place, value in enumerate((red * alpha, green * alpha, blue * alpha, alpha)):
            total[place] += value
    alpha = total[3]
    return bytes([*(round(value / alpha) if alpha else 0 for value in total[:3]), round(alpha / SAMPLES ** 2)])


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def png(width: int, height: int) -> bytes:
    rows = b''.join(
        b'\0' + b''.join(pixel(column, row, width, height) for column in range(width)) for row in range(height))
    header = struct.pack('>IIBBBBB', width, height, 8, 6, 0, 0, 0)
    return (
        b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', header) + chunk(b'IDAT', zlib.compress(rows, 9)) + chunk(b'IEND', b''))


folder = Path(__file__).with_name('addon')
(folder / 'icon.png').write_bytes(png(128, 128))
(folder / 'logo.png').write_bytes(png(250, 100))
