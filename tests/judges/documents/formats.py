#!/usr/bin/env python3
"""Random documents of the other formats, whose structure their own readers compare before and after.

    pip install polib lxml markdown-it-py; apt install gettext
    ninja -C build/release document_judge
    tests/judges/documents/formats.py build/release/tests/document_judge [DOCUMENTS [FILE.md...]]

- XML and XLIFF by lxml: the same elements, attributes, comments and instructions; siblings beside text may
  follow their words. Every unit of an XLIFF file has a target with the inline elements of its source.
- Message catalogs by polib and by `msgfmt --check`: the same entries, none empty, formats that fit.
- Markdown by markdown-it (CommonMark with tables and ~~): the same blocks, and in each the same inline
  elements with their nesting. The files given are judged, too.
- Subtitles by their lines: the same numbers, times and numbers of lines at most.
"""
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter

import polib
from lxml import etree
from markdown_it import MarkdownIt

from judge import TRANSLATIONS, Judge

WORDS = "the red old house of Moses burns in a field near water and stone while nobody sees it".split()


def words(rng, least=1, most=6):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(least, most)))


# XML.

def xml_mixed(rng, depth):
    parts = []
    for _ in range(rng.randint(1, 5)):
        kind = rng.random()
        if kind < 0.55 or depth > 3:
            parts.append(words(rng) + rng.choice([" ", "", ", ", " &amp; ", " &lt;", "&#x20AC;", "\n  ", " %1$s ", " {name}"]))
        elif kind < 0.65:
            parts.append(rng.choice(["<br/>", "<!-- c -->", "<?pi x?>", "<![CDATA[a < b]]>", "<ref to='x'/>"]))
        else:
            tag = rng.choice(["b", "link url=\"http://x/?a=b&amp;c\"", "emph", "code translate='no'"])
            parts.append(f"<{tag}>{xml_mixed(rng, depth + 1)}</{tag.split()[0]}>")
    return "".join(parts)


def xml_document(rng, depth=0):
    tag = rng.choice(["section", "list", "p", "item xml:space='preserve'", "x:y"])
    if depth > 3 or rng.random() < 0.4:
        content = xml_mixed(rng, 0)
    else:
        content = "\n  ".join(["", *(xml_document(rng, depth + 1) for _ in range(rng.randint(1, 4))), ""])
    end = tag.split()[0]
    if depth:
        return f"<{tag}>{content}</{end}>"
    return f"<?xml version='1.0' encoding='UTF-8'?>\n<!-- head -->\n<root xmlns:x='u'>{content}</root>\n"


def xml_tree(node, ordered):
    if node.tag is etree.Comment or node.tag is etree.PI:
        return (str(node.tag), node.text)
    children = [xml_tree(child, ordered) for child in node]
    return (node.tag, tuple(sorted(node.attrib.items())), tuple(children if ordered else sorted(children, key=repr)))


def check_xml(judge, rng):
    text = xml_document(rng)
    answer = judge.ask(text, "xml")
    for name in TRANSLATIONS:
        after = answer["documents"][name]
        ordered = name in ("identity", "nothing")
        same = xml_tree(etree.fromstring(text.encode()), ordered) == xml_tree(etree.fromstring(after.encode()), ordered)
        judge.check(f"XML, {name}", same, text, after)


# XLIFF.

def xliff_inline(rng, version, depth, ids):
    parts = []
    for _ in range(rng.randint(1, 4)):
        parts.append(words(rng) + rng.choice([" ", "", " &amp; "]))
        if rng.random() < 0.5:
            continue
        ids[0] += 1
        i = ids[0]
        inner = xliff_inline(rng, version, depth + 1, ids) if depth < 3 else words(rng)
        if version == "1.2":
            parts.append(rng.choice([f"<x id='{i}'/>", f"<g id='{i}'>{inner}</g>", f"<ph id='{i}'>&lt;br></ph>",
                                     f"<bpt id='{i}'>&lt;b></bpt>{inner}<ept id='{i}'>&lt;/b></ept>",
                                     f"<mrk mtype='protected'>{words(rng)}</mrk>", f"<bx id='{i}'/>{inner}<ex id='{i}'/>"]))
        else:
            parts.append(rng.choice([f"<ph id='{i}'/>", f"<pc id='{i}'>{inner}</pc>", f"<sc id='{i}'/>{inner}<ec startRef='{i}'/>",
                                     f"<mrk id='{i}' translate='no'>{words(rng)}</mrk>"]))
    return "".join(parts)


def check_xliff(judge, rng):
    version = rng.choice(["1.2", "2.0"])
    units = []
    for i in range(rng.randint(1, 5)):
        source = f"<source>{xliff_inline(rng, version, 0, [0])}</source>" + rng.choice(["", "\n", "<target/>", "<target></target>"])
        units.append(f"<trans-unit id='{i}'>\n {source}</trans-unit>" if version == "1.2" else
                     f"<unit id='{i}'><segment>{source}</segment></unit>")
    text = f"<xliff version='{version}'><file original='f'><body>{''.join(units)}</body></file></xliff>"
    answer = judge.ask(text, "xliff")
    for name in TRANSLATIONS:
        tree = etree.fromstring(answer["documents"][name].encode())
        if name == "nothing":
            continue
        right = True
        for source in tree.iter("source"):
            target = source.getparent().find("target")
            right &= target is not None and Counter(e.tag + str(e.attrib) for e in source.iter() if e is not source) == Counter(
                e.tag + str(e.attrib) for e in target.iter() if e is not target)
        judge.check(f"XLIFF, {name}", right, text, answer["documents"][name])


# Message catalogs.

def check_po(judge, rng):
    catalog = polib.POFile(wrapwidth=rng.choice([0, 78]))
    catalog.metadata = {"Content-Type": "text/plain; charset=UTF-8", "Language": "de",
                        "Plural-Forms": "nplurals=2; plural=(n != 1);"}
    for i in range(rng.randint(1, 8)):
        flag = rng.choice([[], ["c-format"], ["python-format"], ["python-brace-format"], ["fuzzy", "c-format"]])
        holes = {"c-format": [" %s", " %d", " 5%%"], "python-format": [" %(name)s"], "python-brace-format": [" {name}", " {0}"]}
        message = words(rng) + "".join(rng.choice(holes[f] + [""]) for f in flag if f in holes)
        message += rng.choice(["", " \"x\"", "\n", "\nnext line\n", " \\ back"])
        entry = polib.POEntry(msgid=f"{message} {i}" if not message.endswith("\n") else f"{i} {message}", flags=flag,
                              msgctxt=rng.choice([None, "menu"]), comment=rng.choice(["", "note"]))
        if rng.random() < 0.3:
            entry.msgid_plural = entry.msgid.replace(" ", " more ", 1)
            entry.msgstr_plural = {0: "", 1: ""}
        catalog.append(entry)
    text = str(catalog)
    answer = judge.ask(text, "po")
    if "error" in answer:
        judge.check("PO is read", False, text, answer["error"])
        return
    for name in TRANSLATIONS:
        after = polib.pofile(answer["documents"][name])
        same = [(e.msgid, e.msgctxt, e.msgid_plural, e.flags, e.comment) for e in catalog] == \
               [(e.msgid, e.msgctxt, e.msgid_plural, e.flags, e.comment) for e in after]
        filled = name == "nothing" or all(e.msgstr or all(e.msgstr_plural.values()) and e.msgstr_plural for e in after)
        judge.check(f"PO entries, {name}", same and filled, text, answer["documents"][name])
        with tempfile.NamedTemporaryFile("w", suffix=".po") as file:
            file.write(answer["documents"][name])
            file.flush()
            # msgfmt leaves fuzzy entries out unless it is told not to.
            run = subprocess.run(["msgfmt", "--check-format", "--use-fuzzy", "-o", "/dev/null", file.name], capture_output=True)
        judge.check(f"PO passes msgfmt, {name}", run.returncode == 0, run.stderr.decode(), answer["documents"][name])


# Markdown.

MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def inline_md(rng, depth=0):
    parts = []
    for _ in range(rng.randint(1, 4)):
        kind = rng.random()
        inner = words(rng) if depth > 2 else inline_md(rng, depth + 1)
        parts.append(words(rng) if kind < 0.5 else rng.choice([
            f"*{inner}*", f"**{inner}**", f"_{inner}_", f"__{inner}__", f"[{words(rng)}](http://x/a_b*c \"t\")", f"`{words(rng)}`",
            f"![{words(rng)}](i.png)", "<http://a.b/c>", "&amp;", "\\*", f"[{words(rng, 1, 1)}]", f"[{words(rng)}][stone]", f"<b>{words(rng)}</b>",
            "{name}", "snake_case", "2 * 3", f"~~{words(rng)}~~", "a@b.org", "<!-- c -->", "wo**rd**s"]))
    # GitHub reads four tildes as text, markdown-it as an end and a beginning.
    joined = rng.choice([" ", " ", " ", ""]).join(parts).replace("~~~~", "~~ ~~")
    return joined + rng.choice(["", "", ".", ",", "!"])


def block_md(rng, depth=0):
    kind = rng.randint(0, 9)
    if kind < 4 or depth > 2:
        return rng.choice(["\n", "  \n", "\\\n", " "]).join(inline_md(rng) for _ in range(rng.randint(1, 3)))
    if kind == 4:
        return "#" * rng.randint(1, 6) + " " + inline_md(rng)
    if kind == 5:
        return re.sub("^", "> ", block_md(rng, depth + 1) + "\n\n" + block_md(rng, depth + 1), flags=re.M)
    if kind == 6:
        mark = rng.choice(["- ", "* ", "1. ", "10) "])
        item = lambda: mark + block_md(rng, depth + 1).replace("\n", "\n" + " " * len(mark))
        return rng.choice(["\n", "\n\n"]).join(item() for _ in range(rng.randint(1, 3)))
    if kind == 7:
        cells = lambda: "| " + " | ".join(words(rng) for _ in range(2)) + " |"
        return cells() + "\n|---|:-:|\n" + cells() + "\n" + cells()
    return rng.choice(["```py\nx = *y*\n```", "    code", "<div>\n*html*\n</div>", "***", "heading\n===", "[stone]: http://s.t 'u'",
                       "~~~\n# a\n~~~", "<!-- c -->"])


def md_tree(text):
    """Blocks in their order, each with its inline elements and their parents."""
    blocks = []
    for token in MARKDOWN.parse(text):
        blocks.append((token.type, token.tag, token.info, token.content if not token.children else ""))
        inline, path = [], []

        def add(child):
            name = (child.type, str(child.attrs), child.content if child.type in ("code_inline", "html_inline") else "")
            inline.append((tuple(path), name))
            return name

        for child in token.children or []:
            if child.type in ("text", "softbreak", "text_special"):
                continue
            if child.type.endswith("_close"):
                path.pop()
                continue
            name = add(child)
            if child.type.endswith("_open"):
                path.append(name)
            if child.type == "image":
                path.append(name)
                for part in child.children:
                    if part.type not in ("text", "softbreak", "text_special") and not part.type.endswith("_close"):
                        add(part)
                path.pop()
        blocks.append(tuple(sorted(inline, key=repr)))
    return blocks


def check_md(judge, text, what):
    answer = judge.ask(text, "markdown")
    for name in TRANSLATIONS:
        after = answer["documents"][name]
        judge.check(f"{what}, {name}", md_tree(text) == md_tree(after), text, "-----", after)
        if name == "identity":
            judge.check(f"{what}, bytes", text == after, text, "-----", after)


# Subtitles.

def check_subtitles(judge, rng):
    vtt = rng.random() < 0.5
    cues = []
    for i in range(rng.randint(1, 5)):
        lines = "\n".join(rng.choice(["- ", "", ""]) + rng.choice(["<i>", "", "{\\an8}"]) + words(rng) + rng.choice(["</i>", "", "!"])
                          for _ in range(rng.randint(1, 3)))
        cues.append(f"{i}\n00:00:0{i},000 --> 00:00:0{i},900\n{lines}\n")
    text = ("WEBVTT\n\n" if vtt else "") + "\n".join(cues)
    answer = judge.ask(text, "vtt" if vtt else "srt")
    shape = lambda t: [(c.split("\n")[:2], len(c.strip().split("\n")), sorted(re.findall(r"<[^>]*>|\{\\an8\}", c))) for c in t.split("\n\n")]
    for name in TRANSLATIONS:
        if name == "random":
            continue  # its words have tags
        before, after = shape(text), shape(answer["documents"][name])
        same = len(before) == len(after) and all(b[0] == a[0] and a[1] <= b[1] and b[2] == a[2] for b, a in zip(before, after))
        judge.check(f"subtitles, {name}", same, text, answer["documents"][name])


def main():
    judge = Judge(sys.argv[1])
    documents = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    rng = random.Random(1)
    for _ in range(documents):
        check_xml(judge, rng)
        check_xliff(judge, rng)
        check_po(judge, rng)
        check_subtitles(judge, rng)
        check_md(judge, "\n\n".join(block_md(rng) for _ in range(rng.randint(1, 6))) + "\n\n[stone]: http://s.t 'u'\n", "Markdown")
    for path in sys.argv[3:]:
        with open(path, encoding="utf-8") as file:
            check_md(judge, file.read(), "Markdown of files")
    judge.finish()


main()
