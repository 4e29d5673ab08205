"""A bar for each row of a table of bench/results/: heed's speed as a multiple of the best peer's.

The axis is logarithmic and bars begin at 1x: twice as fast and half as fast are equally long. Grid lines
would cross the figures behind the bars, so the axis has tick marks alone."""
import csv

from .svg import BLUE, ORANGE, TEXT, Drawing, Scale

# Rows of these groups are in the table alone.
TABLE_ONLY = {"prefill of 4,096 tokens", "start", "training memory", "decode memory"}
LOW, HIGH, TICKS = 0.8, 14, (1, 2, 4, 8)  # one axis for all machines, so that charts compare
LABELS, WIDTH, END = 240, 800, 56  # columns: names, the whole, room behind the last bar
ROW, HEADING, TOP, BOTTOM = 20, 30, 12, 50


def grouped(path):
    """The rows to draw, as (group, rows), in the order of the file."""
    groups = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["group"] not in TABLE_ONLY:
                groups.setdefault(row["group"], []).append(row)
    return groups.items()


def draw_axis(drawing, x, bottom):
    drawing.line(x(1), TOP, x(1), bottom, TEXT, 1.5)
    drawing.line(x(LOW), bottom, x(HIGH), bottom, TEXT)
    for tick in TICKS:
        drawing.line(x(tick), bottom, x(tick), bottom + 5, TEXT)
        drawing.text(x(tick), bottom + 14, f"{tick}x", "middle")
    drawing.text(x(1), bottom + 36, "heed's speed / the best other program's (logarithmic)")


def draw_speed(table, out):
    groups = grouped(table)
    bottom = TOP + sum(HEADING + ROW * len(rows) for _, rows in groups)
    drawing = Drawing(WIDTH, bottom + BOTTOM)
    x = Scale(LOW, HIGH, LABELS, WIDTH - END, log=True)
    draw_axis(drawing, x, bottom)
    y = TOP
    for group, rows in groups:
        peer = rows[0]["peer"].split()[0].rstrip(",")
        drawing.text(0, y + HEADING / 2 + 3, f"{group} (vs {peer})", bold=True)
        y += HEADING
        for row in rows:
            ratio = float(row["ratio"])
            drawing.text(LABELS - 12, y + ROW / 2, row["work"], "end")
            drawing.bar(x(1), x(ratio), y + ROW / 2, ROW - 6, BLUE if ratio >= 1 else ORANGE)
            drawing.text(x(max(ratio, 1)) + 6, y + ROW / 2, row["ratio"])
            y += ROW
    drawing.save(out)
