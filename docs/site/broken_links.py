"""Names each link of a site of static HTML that leads to no file or to no anchor of one.

    broken_links.py FOLDER
"""

import pathlib
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The anchors of a page, and where its links lead."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__()
        self.anchors: set[str] = {""}
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" or name == "name" and tag == "a":
                self.anchors.add(value or "")
            elif name in ("href", "src"):
                self.links.append(value or "")


def main(folder: pathlib.Path) -> None:
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    checked, broken = 0, []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            checked += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file() or target in pages and unquote(parts.fragment) not in pages[target].anchors:
                broken.append(f"{path.relative_to(folder)}: {link} leads nowhere")
    print("\n".join([*broken, f"{checked} links inside the site, {len(broken)} broken"]))
    sys.exit(1 if broken or not checked else 0)


main(pathlib.Path(sys.argv[1]).resolve())
