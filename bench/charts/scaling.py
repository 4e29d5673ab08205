"""How speed changes with the batch, the length of the text and the threads: four panels."""
import json

from .svg import BLUE, ORANGE, Drawing, Scale

COLOURS = {"decode": ORANGE, "prefill": BLUE}
WIDTH, HEIGHT = 420, 270  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 70, 32, 34, 52


def round_step(largest):
    """The distance between grid lines, at most eight up to `largest`: 1, 2 or 5 times a power of ten."""
    power = 1
    while True:
        for step in (power, 2 * power, 5 * power):
            if largest / step <= 8:
                return step
        power *= 10


def draw_panel(drawing, panel, left, top):
    numbers, curves = panel["values"], panel["tokens_per_second"]
    highest = max(rate for rates in curves.values() for rate in rates)
    x = Scale(numbers[0], numbers[-1], left + LEFT + 8, left + WIDTH - RIGHT, log=True)
    y = Scale(0, highest * 1.08, top + HEIGHT - BOTTOM, top + TOP)
    step = round_step(highest)
    for rate in range(0, int(highest * 1.08) + 1, step):
        drawing.line(left + LEFT, y(rate), left + WIDTH - RIGHT, y(rate))
        drawing.text(left + LEFT - 8, y(rate), f"{rate:,}", "end")
    for number in numbers[::-(-len(numbers) // 7)]:
        drawing.text(x(number), y(0) + 14, f"{number:,}", "middle")
    drawing.text(left + (LEFT + WIDTH - RIGHT) / 2, y(0) + 36, panel["axis"], "middle")
    drawing.text(left + 14, top + (TOP + HEIGHT - BOTTOM) / 2, "tokens/s", "middle", upwards=True)
    for place, (name, rates) in enumerate(curves.items()):
        drawing.curve([(x(number), y(rate)) for number, rate in zip(numbers, rates)], COLOURS[name])
        key = left + LEFT + 100 * place
        drawing.line(key, top + 16, key + 22, top + 16, COLOURS[name], 2)
        drawing.text(key + 28, top + 16, name)


def draw_scaling(figures, out):
    panels = json.loads(figures.read_text())["panels"]
    drawing = Drawing(2 * WIDTH, HEIGHT * ((len(panels) + 1) // 2))
    for place, panel in enumerate(panels):
        draw_panel(drawing, panel, place % 2 * WIDTH, place // 2 * HEIGHT)
    drawing.save(out)
