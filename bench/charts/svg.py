"""A drawing as SVG text. Its colours are readable on light and dark pages. The same calls give the same
bytes."""
import math
from xml.sax.saxutils import escape

TEXT, GRID = "#78828d", "#78828d55"
BLUE, ORANGE = "#3987d6", "#d9622b"
FONT = 13  # height of the text


class Scale:
    """Maps values in [low, high] to positions in [begin, end]; with `log`, in octaves. A range of one
    value maps to `begin`."""

    def __init__(self, low, high, begin, end, log=False):
        self.of = math.log2 if log else float
        self.low, self.begin = self.of(low), begin
        self.unit = (end - begin) / ((self.of(high) - self.low) or 1)

    def __call__(self, value):
        return self.begin + (self.of(value) - self.low) * self.unit


class Drawing:
    def __init__(self, width, height):
        self.width, self.height = width, height
        self.parts = []

    def text(self, x, y, words, anchor="start", bold=False, upwards=False):
        """`y` is the middle of the line; with `upwards` the text is rotated to read from below."""
        weight = ' font-weight="600"' if bold else ""
        rotation = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if upwards else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y + FONT * 0.35:.1f}" text-anchor="{anchor}"'
                          f'{weight}{rotation}>{escape(words)}</text>')

    def line(self, x1, y1, x2, y2, colour=GRID, width=1.0):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'stroke="{colour}" stroke-width="{width}"/>')

    def bar(self, x1, x2, y, height, colour):
        self.parts.append(f'<rect x="{min(x1, x2):.1f}" y="{y - height / 2:.1f}" '
                          f'width="{abs(x2 - x1):.1f}" height="{height:.1f}" rx="2" '
                          f'fill="{colour}"/>')

    def curve(self, points, colour):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                          'stroke-width="2"/>')
        self.parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'
                       for x, y in points]

    def save(self, path):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" font-family="sans-serif" '
                f'font-size="{FONT}" fill="{TEXT}">')
        path.write_text("\n".join([head, *self.parts, "</svg>"]) + "\n")
