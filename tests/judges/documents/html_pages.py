#!/usr/bin/env python3
"""Random HTML pages, right and wrong, whose tags are compared by html5lib before and after.

    pip install html5lib
    ninja -C build/release document_judge
    tests/judges/documents/html_pages.py build/release/tests/document_judge [PAGES [SEED]]

A page is translated in several ways: unchanged, with a word more, with its words in reverse or in random
order and their alignment, the same without one, with random words and a random alignment, as one word,
and as nothing. Every page must keep its tree: the elements with their attributes, comments and nesting.
Where words keep their order (or nothing moves), siblings must, too; else they may follow their words.
Placeholders must be there as often as before.
"""
import collections
import random
import re
import sys

import html5lib

from judge import TRANSLATIONS, Judge

WORDS = "the red old house of Moses burns in a field near water and stone while nobody sees it".split()
PLACEHOLDERS = ["%1$s", "{name}", "{{ user.name }}", "${total}", "https://example.org/a?b=c&amp;d=(e)", "a.b@example.org",
                "%(count)d", "{n, plural, one {# file} other {# files}}"]
INLINE = ["b", "i", "em", "strong", "a href='#x'", "span class=\"c d\"", "code", "u", "small", "q", "kbd", "label", "sup",
          "span translate=no", "font color=red", "abbr title='a > b'", "tt", "s"]
VOID = ["<img src=x>", "<br>", "<wbr>", "<input>", "<!-- c -->", "<hr>", "&copy;", "&unknown;", "<svg><path d='M0'/></svg>", "<br/>"]
BLOCK = ["div", "p", "ul", "section", "h1", "h2", "blockquote", "pre", "center", "article", "form", "fieldset", "dl",
         "details", "table", "button", "nav", "object", "noscript", "select", "template", "main", "ruby"]


def text(rng):
    words = [rng.choice(WORDS) for _ in range(rng.randint(1, 6))]
    if rng.random() < 0.15:
        words.insert(rng.randrange(len(words) + 1), rng.choice(PLACEHOLDERS))
    return rng.choice([" ", " ", ""]) + " ".join(words) + rng.choice([" ", " ", "", ".", ",\n"])


def inline(rng, depth, sound):
    result = ""
    for _ in range(rng.randint(1, 4)):
        kind = rng.random()
        if kind < 0.5 or depth > 4:
            result += text(rng)
        elif kind < 0.6:
            result += rng.choice(VOID)
        else:
            tag = rng.choice(INLINE)
            result += f"<{tag}>" + inline(rng, depth + 1, sound)
            if sound or rng.random() < 0.85:
                result += f"</{tag.split()[0]}>"
            if not sound and rng.random() < 0.08:
                result += f"</{rng.choice(INLINE + BLOCK).split()[0]}>"
    return result


def table(rng, depth, sound):
    result = "<table>"
    if rng.random() < 0.3:
        result += "<caption>" + inline(rng, 2, sound) + rng.choice(["</caption>", ""])
    if not sound and rng.random() < 0.2:
        result += inline(rng, 3, sound)
    for _ in range(rng.randint(1, 3)):
        result += rng.choice(["<tr>", "<tbody><tr>", "<thead>", ""])
        for _ in range(rng.randint(1, 3)):
            tag = rng.choice(["td", "th"])
            result += f"<{tag}>" + flow(rng, depth + 2, sound) + rng.choice([f"</{tag}>", ""])
        result += rng.choice(["</tr>", "", "</tr></tbody>", "</thead>"])
    return result + "</table>"


def flow(rng, depth, sound):
    result = ""
    for _ in range(rng.randint(1, 3)):
        if depth > 4 or rng.random() < 0.4:
            result += inline(rng, 0, sound)
            continue
        tag = rng.choice(BLOCK)
        if tag == "table":
            result += table(rng, depth, sound)
            continue
        end = f"</{tag}>" if sound or rng.random() < 0.85 else ""
        if tag == "ul":
            item = lambda: "<li>" + flow(rng, depth + 1, sound) + rng.choice(["</li>", ""])
            content = "".join(item() for _ in range(rng.randint(1, 3)))
        elif tag == "dl":
            content = "<dt>" + inline(rng, 1, sound) + "<dd>" + flow(rng, depth + 1, sound)
        elif tag == "select":
            content = "<option>" + text(rng) + "<option>" + text(rng) + "</option>"
        elif tag == "ruby":
            content = "漢<rp>(</rp><rt>kan</rt><rp>)</rp>"
        elif tag in ("p", "h1", "h2", "button", "pre") or rng.random() < 0.3:
            content = inline(rng, 0, sound)
        else:
            content = flow(rng, depth + 1, sound)
        result += f"<{tag}>{content}{end}"
        if not sound and rng.random() < 0.05:
            result += rng.choice(["</p>", "</div>", "</table>", "</body>", "</td>", "<td>", "<tr>", "</form>", "<body class=b>",
                                  "<frameset>", "</html>", "<title>a b</title>", "<style>x { }</style>", "<math><mi>x</mi></math>",
                                  "<script>a<b</script>", "</b>", "</a>", "<svg><p>", "<![CDATA[x]]>", "<?php x ?>", "<plaintext>"])
    return result


def page(rng):
    sound = rng.random() < 0.4
    body = flow(rng, 0, sound)
    kind = rng.random()
    if kind < 0.4:
        return f"<!DOCTYPE html>\n<html lang=en>\n<head><title>{text(rng)}</title></head>\n<body>{body}</body>\n</html>\n"
    if kind < 0.5:
        return f"<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 3.2//EN\"><body>{body}"
    if kind < 0.6:
        return f"<!-- a --> {body}</html> <!-- z -->"
    return body


def tree(html, ordered):
    """The elements and comments of a document, without its texts."""
    builder = html5lib.getTreeBuilder("etree", fullTree=True)
    root = html5lib.HTMLParser(tree=builder, namespaceHTMLElements=False).parse(html)

    def shape(node):
        if not isinstance(node.tag, str):
            return ("comment", node.text)
        children = [shape(child) for child in node]
        return (node.tag, tuple(sorted(node.attrib.items())), tuple(children if ordered else sorted(children, key=repr)))

    return shape(root)


def placeholders(html):
    text = re.sub(r"<[^>]*>", "\n", html)
    return collections.Counter(name for name in PLACEHOLDERS for _ in range(text.count(name)))


def main():
    judge = Judge(sys.argv[1])
    pages = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    sentences = 0
    for _ in range(pages):
        html = page(rng)
        answer = judge.ask(html, "html")
        if "error" in answer:
            sys.exit(f"{answer['error']}: {html}")
        sentences += len(answer["segments"])
        for name in TRANSLATIONS:
            translated = answer["documents"][name]
            # Elements that are kept are where the translation has their text.
            keeps = "translate=no" in html or re.search("<(code|kbd|ruby)", html) or any(p in html for p in PLACEHOLDERS)
            ordered = name in ("identity", "nothing") or (name in ("longer", "reversed_unaligned", "one_word") and not keeps)
            judge.check(f"tree, {name}", tree(html, ordered) == tree(translated, ordered), html, translated)
            if name == "identity":
                judge.check("identity keeps every byte", html == translated, html, translated)
            if name != "random":
                judge.check(f"placeholders, {name}", placeholders(html) == placeholders(translated), html, translated)
    print(f"{pages} pages with {sentences} segments")
    judge.finish()


main()
