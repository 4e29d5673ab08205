#!/usr/bin/env python3
"""screenshots.py HEED FOLDER [CHAT_MODEL]: pictures of every tab of the page at three widths, light and dark.

Written for people who look at them. Needs Chromium."""

import contextlib
import os
import pathlib
import sys
import time

from page_scenes import Scenes

SIZES = {390: 844, 820: 1100, 1400: 900}


def main():
    heed, folder = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        scenes = Scenes(stack, heed, *sys.argv[3:4])
        for scheme in ("light", "dark"):
            for width, height in SIZES.items():
                for name, show in scenes.all().items():
                    scenes.open(width, height, scheme)
                    show()
                    time.sleep(0.5)  # for what is drawn in the next frames
                    scenes.browser.screenshot(folder / f"{name}-{width}-{scheme}.png")
        assert scenes.browser.problems == [], scenes.browser.problems


if __name__ == "__main__":
    main()
