#!/usr/bin/env python3
"""Collects the texts that the language identifier is trained with: OUT/LANGUAGE.txt, a text a line.

usage: corpus.py CACHE OUT

CACHE holds what `make` has downloaded: packages/ (Debian packages, unpacked), wordfreq/ (the word lists
of that package) and repositories/OWNER/NAME (git repositories).
"""
import glob
import os
import random
import re
import subprocess
import sys

import readers

# Files of repositories that are not smaller are left out.
FILE_LIMIT = 4 << 20
# Characters that a source gives a language at most. What people write counts more than what programs say.
SOURCE_LIMITS = {
    "common_voice": 3_000_000, "treebanks": 3_000_000, "bibles": 800_000, "word_lists": 1_200_000,
    "help_pages": 800_000, "manual_pages": 500_000, "catalogues": 500_000,
}
# Treebanks hold news and articles, of which the other sources have little.
TREEBANK_COPIES = 3
# Texts of a few words that a word list gives a language.
WORD_TEXTS = 60_000
# A language with less text than this cannot be learned.
LEAST_CHARACTERS = 60_000

# Languages, by ISO 639-1.
LANGUAGES = """af am ar be bg bn ca cs cy da de el en eo es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja
ka kk km kn ko ky lt lv mk ml mn mr ms mt nb ne nl nn pa pl pt ro ru rw si sk sl sr st sv sw ta te th tl
tr tt ug uk ur uz vi zh zu""".split()

# Names in the sources that are not those above.
RENAMED = {"fil": "tl"}

TREEBANKS = {
    "af": ["Afrikaans-AfriBooms"], "be": ["Belarusian-HSE"], "cs": ["Czech-CAC"], "cy": ["Welsh-CCG"],
    "de": ["German-GSD"], "en": ["English-EWT"], "es": ["Spanish-GSD"],
    "fa": ["Persian-Seraji"], "fi": ["Finnish-TDT"], "fr": ["French-GSD"], "ga": ["Irish-IDT"],
    "hr": ["Croatian-SET"], "hy": ["Armenian-ArmTDP"], "id": ["Indonesian-GSD"],
    "is": ["Icelandic-Modern"], "ja": ["Japanese-GSD"], "ko": ["Korean-GSD"], "lt": ["Lithuanian-ALKSNIS"],
    "lv": ["Latvian-LVTB"], "mt": ["Maltese-MUDT"], "nb": ["Norwegian-Bokmaal"], "nl": ["Dutch-LassySmall"],
    "nn": ["Norwegian-Nynorsk"], "pt": ["Portuguese-GSD"], "ro": ["Romanian-RRT"], "ru": ["Russian-GSD"],
    "sk": ["Slovak-SNK"], "sl": ["Slovenian-SSJ"], "sr": ["Serbian-SET"], "sv": ["Swedish-Talbanken"],
    "tr": ["Turkish-BOUN"], "zh": ["Chinese-GSDSimp"],
}

BIBLES = {
    "eu": "Basque-NT", "gu": "Gujarati-NT", "hy": "Armenian-PART", "lv": "Latvian-NT", "et": "Estonian-PART",
    "sw": "Swahili-NT", "uk": "Ukranian-NT", "zu": "Zulu-NT",
}


def repository_files(cache, repository, folder, name):
    """(path, content) of the files of a repository in a folder whose names match."""
    git = ["git", "-C", f"{cache}/repositories/{repository}"]
    listing = subprocess.run([*git, "ls-tree", "-r", "-l", "HEAD", folder], check=True, capture_output=True, text=True)
    for line in sorted(listing.stdout.splitlines(), key=lambda line: line.split("\t")[1]):
        facts, path = line.split("\t")
        size = facts.split()[3]
        if size.isdigit() and 0 < int(size) < FILE_LIMIT and re.search(name, path):
            yield path, subprocess.run([*git, "show", f"HEAD:{path}"], check=True, capture_output=True).stdout


def language_of(name):
    """The language of a locale such as pt_BR, sr@latin or sv-SE; none for one that is not trained."""
    code = re.split(r"[-_@]", name)[0]
    code = RENAMED.get(code, code)
    return code if code in LANGUAGES and name != "zh-HK" else None


def common_voice(cache):
    for path, content in repository_files(cache, "mozilla/common-voice", "server/data/", r"\.txt$"):
        yield language_of(path.split("/")[2]), readers.lines(content)


def treebanks(cache):
    for language, names in TREEBANKS.items():
        for name in names:
            repository = f"UniversalDependencies/UD_{name}"
            for _, content in repository_files(cache, repository, "./", r"^[^/]*-(dev|test)\.conllu$"):
                yield language, readers.conllu(content)


def bibles(cache):
    for language, name in BIBLES.items():
        for _, content in repository_files(cache, "christos-c/bible-corpus", "bibles/", rf"/{re.escape(name)}\.xml$"):
            yield language, readers.bible(content)


def catalogues(cache):
    for pattern, part in (("usr/share/games/wesnoth/*/locale/*/LC_MESSAGES/*.mo", -3),
                          ("usr/lib/libreoffice/program/resource/*/LC_MESSAGES/*.mo", -3)):
        for path in sorted(glob.glob(f"{cache}/packages/{pattern}")):
            language = language_of(path.split("/")[part])
            if language != "en":
                yield language, readers.catalogue(path)


def help_pages(cache):
    for folder, original, pages in (("usr/share/libreoffice/help", "en-US", "text/**/*.html"),
                                    ("usr/share/help", "C", "gnome-help/*.page")):
        root = f"{cache}/packages/{folder}"
        english = set()
        for path in sorted(glob.glob(f"{root}/{original}/{pages}", recursive=True)):
            english.update(readers.markup(path))
        yield "en", sorted(english)
        for locale in sorted(os.listdir(root)):
            language = language_of(locale)
            if language and language != "en":
                for path in sorted(glob.glob(f"{root}/{locale}/{pages}", recursive=True)):
                    yield language, readers.markup(path, english)


def manual_pages(cache):
    for path in sorted(glob.glob(f"{cache}/packages/usr/share/man/*/man*/*.gz")):
        if not os.path.islink(path):
            yield language_of(path.split("/")[-3]), readers.manual(path)


# What the package wordfreq calls the languages that it has by another name. Its words of all that is spoken in
# Croatia, Serbia and Bosnia are in Latin script.
WORD_LISTS = {"tl": "fil", "hr": "sh", "sr": "sh"}


def word_lists(cache):
    for language in LANGUAGES:
        name = WORD_LISTS.get(language, language)
        for size in ("large", "small"):
            path = f"{cache}/wordfreq/{size}_{name}.msgpack.gz"
            if os.path.exists(path):
                texts = readers.words(path, WORD_TEXTS, seed=language)
                yield language, map(readers.in_serbian_cyrillic, texts) if language == "sr" else texts
                break


SOURCES = [common_voice, treebanks, bibles, catalogues, help_pages, manual_pages, word_lists]


def collect(cache):
    """language -> {source -> texts}: shuffled, without duplicates, within SOURCE_LIMITS."""
    corpus = {language: {} for language in LANGUAGES}
    for source in SOURCES:
        is_list = source is word_lists
        for language, texts in source(cache):
            if language in corpus:
                found = corpus[language].setdefault(source.__name__, {})
                for text in texts:
                    text = " ".join(text.split())
                    if is_list or readers.is_prose(text):
                        found[text] = None
    for language, sources in corpus.items():
        for source, texts in sources.items():
            shuffled = list(texts)
            random.Random(f"{language} {source}").shuffle(shuffled)
            kept, size = [], 0
            for text in shuffled:
                size += len(text)
                if size > SOURCE_LIMITS[source]:
                    break
                kept.append(text)
            sources[source] = kept * (TREEBANK_COPIES if source == "treebanks" else 1)
    return corpus


def main():
    cache, out = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    for language, sources in collect(cache).items():
        sizes = {source: sum(map(len, texts)) for source, texts in sources.items()}
        kept = sum(sizes.values()) >= LEAST_CHARACTERS
        print(language, "" if kept else "LEFT OUT", *(f"{source} {size // 1000}k" for source, size in sizes.items()))
        if kept:
            texts = [text for source in sources.values() for text in source]
            random.Random(language).shuffle(texts)
            with open(f"{out}/{language}.txt", "w", encoding="utf-8") as file:
                file.writelines(text + "\n" for text in texts)


if __name__ == "__main__":
    main()
