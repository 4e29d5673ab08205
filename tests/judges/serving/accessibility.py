#!/usr/bin/env python3
"""accessibility.py HEED AXE [CHAT_MODEL]: axe-core in every tab of the page, in light and dark, on a phone and a desk.

AXE is the file axe.min.js of axe-core (npm, or the package axe-core-python of PyPI). Needs Chromium."""

import contextlib
import os
import pathlib
import sys
import time

from page_scenes import Scenes


def main():
    heed, axe = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
    failures = 0
    with contextlib.ExitStack() as stack:
        scenes = Scenes(stack, heed, *sys.argv[3:4])
        for width, height in ((390, 844), (1400, 900)):
            for scheme in ("light", "dark"):
                for name, show in scenes.all().items():
                    scenes.open(width, height, scheme)
                    show()
                    time.sleep(0.5)
                    scenes.browser.evaluate(axe + "; 0")
                    report = "axe.run().then((r) => [r.passes.length, r.violations.map((v) => [v.id, v.help, " \
                        "v.nodes.map((n) => n.html.slice(0, 200) + '  ' + (n.any[0]?.message || ''))])])"
                    passed, violations = scenes.browser.evaluate(report)
                    print(f"{name}, {width} px, {scheme}: {passed} rules passed, {len(violations)} violated")
                    failures += len(violations)
                    for rule, text, nodes in violations:
                        print(f"  {rule}: {text}", *nodes[:6], sep="\n    ")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
