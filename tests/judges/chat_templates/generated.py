#!/usr/bin/env python3
"""Renders random template programs with jinja2 and with heed and compares the bytes.

    generated.py PROGRAM [--count 100000] [--seed 0]

What jinja2 refuses, heed must refuse. Not compared are renderings that show the address of an
object, and those that heed refuses because it does not support something (ints beyond 64 bits,
complex numbers, ...); both are counted. Exits with 1 if anything differs.
"""

import argparse
import re
import sys

from generator import CONTEXT, Generator
from reference import Heed, render_reference

# What heed refuses and Python does not.
# "No filter": heed looks at code, too, that jinja2 drops because a constant decides.
UNSUPPORTED = re.compile(r"No filter named|64 bits|not supported|nest|more than \d+ (steps|bytes)|too (wide|large)")
ADDRESS = re.compile(r"[ab]t 0x[0-9a-f]{6}", re.IGNORECASE)  # "bt": after replace("a", "b")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=20, help="differences to show")
    arguments = parser.parse_args()
    heed = Heed(arguments.program)
    counts = dict.fromkeys(["equal", "refused by both", "with an address", "unsupported", "different"], 0)
    for number in range(arguments.count):
        template = Generator(arguments.seed * 1_000_000_007 + number).template()
        wanted = render_reference(template, CONTEXT)
        found = heed.render(template, CONTEXT)
        if wanted == found:
            outcome = "equal"
        elif wanted[0] == found[0] == "error":
            outcome = "refused by both"
        elif found[0] == "error" and UNSUPPORTED.search(found[1]):
            outcome = "unsupported"
        elif wanted[0] == "output" and ADDRESS.search(wanted[1]):
            outcome = "with an address"
        else:
            outcome = "different"
            if counts["different"] < arguments.show:
                print(f"--- {number}: {template!r}\nwanted {wanted}\nfound  {found}\n")
        counts[outcome] += 1
    print(f"{arguments.count} programs:", ", ".join(f"{n} {name}" for name, n in counts.items()))
    return 1 if counts["different"] or not counts["equal"] else 0


if __name__ == "__main__":
    sys.exit(main())
