"""Reads running text out of the files of translated programs, treebanks, Bibles and word lists.

Each reader yields texts, one or a few sentences each, as they stand in the file.
"""
import gettext
import gzip
import html
import random
import re
import unicodedata

LETTERS = re.compile(r"[^\W\d_]", re.UNICODE)


def is_prose(text, least=12):
    """Whether most of a text is letters, so that it is neither code nor a table."""
    letters = sum(unicodedata.category(character)[0] in "LM" for character in text)
    return letters >= least and letters >= 0.65 * len(text)


def clean(text):
    """A text without tags, accelerators, placeholders and line breaks."""
    text = html.unescape(re.sub(r"<[^>]*>", " ", text))
    text = re.sub(r"\$\{?\(?\w+\)?\}?|%\(?\w+\)?[sdiuq]?|%\w|\{\w*\}|https?://\S+|\S+@\S+|\\n", " ", text)
    return re.sub(r"\s+", " ", re.sub(r"[~&_](?=\w)", "", text)).strip()


def lines(data):
    """Sentence files of Common Voice: one sentence in a line."""
    yield from data.decode("utf-8", "replace").splitlines()


def conllu(data):
    """Sentences of a treebank of Universal Dependencies, as they were before they were split."""
    for line in data.decode("utf-8").splitlines():
        if line.startswith("# text ="):
            yield line[len("# text ="):].strip()


def bible(data):
    """Verses of a Bible in the Corpus Encoding Standard."""
    for verse in re.findall(r"<seg[^>]*>(.*?)</seg>", data.decode("utf-8", "replace"), re.DOTALL):
        yield clean(verse)


def catalogue(path):
    """Translations of a program's messages (.mo) that differ from the originals."""
    with open(path, "rb") as file:
        messages = gettext.GNUTranslations(file)._catalog
    for original, translation in messages.items():
        if isinstance(original, str) and original and translation != original:
            yield clean(translation)


def markup(path, english=frozenset()):
    """Paragraphs of a help page (HTML or Mallard) that `english` does not hold."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    for paragraph in re.findall(r"<(?:p|title|td)\b[^>]*>(.*?)</(?:p|title|td)>", text, re.DOTALL):
        paragraph = clean(paragraph)
        if paragraph not in english:
            yield paragraph


def manual(path):
    """Paragraphs of a manual page, without requests of roff."""
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        paragraph = []
        for line in file:
            if line[0] in ".'\n":
                yield clean(" ".join(paragraph))
                paragraph = []
            else:
                paragraph.append(re.sub(r"\\f.|\\[-&,/%e]|\\\(..|\\\*?\[[^\]]*\]", "", line.strip()))
        yield clean(" ".join(paragraph))


def words(path, count, seed):
    """`count` texts of one to four words drawn from a list of frequencies of the package wordfreq.

    A list is in steps of 1/100 of a logarithm. Its root flattens it, so that rare words come up, too.
    """
    import msgpack
    with gzip.open(path, "rb") as file:
        steps = msgpack.load(file, raw=False)[1:]
    pool, weights = [], []
    for step, members in enumerate(steps):
        for word in members:
            if LETTERS.search(word):
                pool.append(word)
                weights.append(10 ** (-0.6 * step / 100))
    draw = random.Random(seed)
    drawn = iter(draw.choices(pool, weights, k=5 * count))
    for _ in range(count):
        yield " ".join(next(drawn) for _ in range(draw.randint(1, 4)))


CYRILLIC = dict(zip("abvgdđežzijklmnoprstćufhcčš", "абвгдђежзијклмнопрстћуфхцчш"), lj="љ", nj="њ", dž="џ")


def in_serbian_cyrillic(text):
    """A text of small Latin letters in the Cyrillic ones of Serbian."""
    return re.sub("lj|nj|dž|.", lambda letter: CYRILLIC.get(letter.group(), letter.group()), text)
