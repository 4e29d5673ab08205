#!/usr/bin/env python3
"""Renders published templates with jinja2 and with heed and compares the bytes.

    published.py PROGRAM FOLDER    PROGRAM is build/release/tests/render_chat_template

A rendering that jinja2 refuses must be refused by heed. Exits with 1 if anything differs.
"""

import argparse
import pathlib
import sys

from conversations import CONVERSATIONS
from reference import Heed, render_reference


def first_difference(wanted, found):
    at = next((i for i, (a, b) in enumerate(zip(wanted, found)) if a != b),
              min(len(wanted), len(found)))
    part = slice(max(at - 30, 0), at + 30)
    return f"at {at}: wanted {wanted[part]!r}, found {found[part]!r}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    heed = Heed(arguments.program)
    files = sorted(arguments.folder.rglob("*.jinja"))
    equal = refused = 0
    different = []
    for path in files:
        template = path.read_bytes().decode("utf-8")
        for name, context in CONVERSATIONS.items():
            wanted = render_reference(template, context)
            found = heed.render(template, context)
            if wanted[0] != found[0]:
                different.append(f"{path.name}, {name}: wanted {wanted[0]} {wanted[1][:200]!r}, "
                                 f"found {found[0]} {found[1][:200]!r}")
            elif wanted[0] == "error":
                refused += 1
            elif wanted[1] != found[1]:
                different.append(f"{path.name}, {name}: {first_difference(wanted[1], found[1])}")
            else:
                equal += 1
    print("\n".join(different))
    print(f"{len(files)} templates, {len(CONVERSATIONS)} conversations: {equal} equal, "
          f"{refused} refused by both, {len(different)} different")
    return 1 if different or not equal else 0


if __name__ == "__main__":
    sys.exit(main())
