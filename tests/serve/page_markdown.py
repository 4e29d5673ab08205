"""What models say, as Markdown: rendered, and never markup."""

import time

from page_steps import press, says, tags


MARKDOWN = """\
# Title

Some *soft*, **strong**, ***both***, ~~gone~~ and `co*d*e`, a_b_c, 2 * 3 * 4.
A second line.

- one
  continued
- two
    - nested
      1. deeper

1. first

   second paragraph
2. next

| a | b |
| --- | ---: |
| `x` | 1 \\| 2 |

> quoted
> - list

```python
if x < 1:

    pass
```
---
[page](https://example.org/a_(b) "title"), <https://example.org/c>, https://example.org/d. and [mail](mailto:a@example.org)
"""


def markdown_is_rendered(browser):
    content = says(browser, MARKDOWN)
    found = tags(browser, content)
    for expected in ("h3:Title", "em:soft", "strong:strong", "del:gone", "code:co*d*e", "strong:both", "th:a", "td:1 | 2",
                     "code:x", "a:page", "a:https://example.org/c", "a:https://example.org/d", "a:mail",
                     "code:if x < 1:\n\n    pass", "span:python", "button:Copy"):
        assert expected in found, (expected, found)
    assert "a_b_c, 2 * 3 * 4.\nA second line." in browser.text(content)
    assert sum(one.startswith("hr:") for one in found) == 1
    count = lambda selector: browser.evaluate(f"document.querySelectorAll('{content} {selector}').length")
    assert count("> ul > li") == 2 and count("ul ul > li") == 1 and count("ul ul ol > li") == 1
    assert count("> ol > li") == 2 and count("> ol > li:first-child > p") == 2 and count("blockquote li") == 1
    links = browser.evaluate(f"[...document.querySelectorAll('{content} a')].map(a => [a.href, a.rel, a.target])")
    safe = ["noreferrer noopener", "_blank"]
    assert links == [["https://example.org/a_(b)", *safe], ["https://example.org/c", *safe],
                     ["https://example.org/d", *safe], ["mailto:a@example.org", *safe]], links
    # Its source is what is copied, and code alone by the button of the code.
    browser.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    press(browser, "Copy", content)
    assert browser.evaluate("copied") == "if x < 1:\n\n    pass"
    press(browser, "Copy", ".answer .foot")
    assert browser.evaluate("copied") == MARKDOWN


HOSTILE = [
    "<script>document.title = 1</script>", "<img src=x onerror='document.title=1'>", "<iframe src=/></iframe>",
    "[press](javascript:document.title=1)", "[press](JaVaScRiPt:document.title=1)", "[press](java\tscript:alert(1))",
    "[press](<javascript:alert(1)>)", "[press](&#106;avascript:alert(1))", "[press]( javascript:alert(1))",
    "[press](data:text/html,<script>document.title=1</script>)", "[press](vbscript:x)", "[press](//example.org/x)",
    "[press](/v1/models)", "[press](file:///etc/passwd)", "[press](blob:x)", "<javascript:alert(1)>",
    "![picture](x onerror=alert(1))", "![picture](javascript:alert(1))", "[a](https://e.org\" onmouseover=\"alert(1))",
    "`<script>`", "```<img src=x>\n<script>document.title=1</script>\n```", "| <img src=x> |\n| --- |\n| <script>x</script> |",
    "# <svg onload=document.title=1>", "- <details open ontoggle=document.title=1>", "> <style>*{display:none}</style>",
    "<form action=/x><input name=q></form>", "<a href=javascript:alert(1)>press</a>", "<!-- comment -->", "{{nonce}}",
]


def markdown_of_an_enemy_stays_text(browser):
    content = says(browser, "\n\n".join(HOSTILE))
    allowed = {"p", "h3", "ul", "li", "blockquote", "code", "pre", "div", "span", "button", "table", "thead", "tbody", "tr",
               "th", "td"}
    found = {one.split(":")[0] for one in tags(browser, content)}
    assert found - {"a"} <= allowed, found - allowed
    # The only address that leads to a page is that before the quotation mark.
    assert browser.evaluate(f"[...document.querySelectorAll('{content} a')].map(a => a.href)") == ["https://e.org/"]
    allowed_attributes = {"class", "dir", "type", "tabindex", "role", "aria-label", "href", "rel", "target", "title"}
    attributes = browser.evaluate(f"""[...new Set([...document.querySelectorAll('{content} *')]
        .flatMap((e) => e.getAttributeNames()))]""")
    assert set(attributes) <= allowed_attributes, attributes
    for text in ("<script>document.title = 1</script>", "<img src=x onerror='document.title=1'>",
                 "[press](javascript:document.title=1)", "![picture](javascript:alert(1))", "<!-- comment -->", "{{nonce}}"):
        assert text in browser.text(content), text
    assert browser.evaluate("document.title") == "heed"
    # A picture of the web is a link, and nothing is fetched.
    content = says(browser, "![a *cat*](https://example.org/cat.png)")
    assert tags(browser, content) == ["p:a cat", "a:a cat", "em:cat"], tags(browser, content)


def markdown_is_the_same_in_any_pieces(browser):
    """A text that arrives a character at a time ends as the text at once, also without the ends of its marks."""
    for text in (MARKDOWN, "```js\nlet a = 1;", "**bold", "| a | b |\n| - | - |\n| 1", "1. a\n\n   ```\n   code", "> ```\n> x",
                 "- a\n-", "[link](https://exa", "a\n\n" * 40 + "**end**"):
        whole = tags(browser, says(browser, text))
        parts = tags(browser, says(browser, text, script=list(text)))
        assert parts == whole, (text, parts, whole)
    assert tags(browser, says(browser, "```js\nlet a = 1;"))[-1] == "code:let a = 1;"


def markdown_survives_its_size(browser):
    """Texts that make some parsers slow, or nest without an end."""
    size = 20000
    for text in ("*" * size, "**a " * (size // 4), "[" * size, "](" * (size // 2), "[a](" * (size // 4), "`" * size,
                 "` `` " * (size // 5), "> " * size, "- " * size, "  " * size + "x", "_a" * size, "| " * size + "\n" + "|-" * size,
                 "http://" * (size // 7), "~~a~~ " * (size // 6), "\\" * size, "#" * size, "# " + "#" * size + "x",
                 "-" + " " * size + "x", "a\n" * size, "- a\n" * (size // 4), "*a **b " * (size // 7) + "** *" * (size // 4),
                 "".join("  " * i + "- deep\n" for i in range(100)), "x" * 500000):
        begin = time.monotonic()
        content = says(browser, text)
        seconds = time.monotonic() - begin
        assert seconds < 10, (text[:20], seconds)
        depth = browser.evaluate(f"""(() => {{
            let most = 0;
            for (const e of document.querySelectorAll('{content} *')) {{
                let depth = 0;
                for (let at = e; at; at = at.parentElement) ++depth;
                most = Math.max(most, depth);
            }}
            return most;
        }})()""")
        assert depth < 60, (text[:20], depth)
        squeezed = "".join(c for c in text if c.isalpha())
        shown = "".join(c for c in browser.text(content) if c.isalpha())
        assert squeezed in (shown, shown.removeprefix("text").removeprefix("Copy")), text[:20]  # nothing is lost


CHECKS = (markdown_is_rendered, markdown_of_an_enemy_stays_text, markdown_is_the_same_in_any_pieces,
          markdown_survives_its_size)
