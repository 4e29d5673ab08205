#!/usr/bin/env python3
"""Writes texts of known languages that the identifier is not trained with.

usage: held_out.py CACHE OUT

OUT/SET.sentences.tsv and OUT/SET.short.tsv get a language and a text in each line. CACHE is that of
scripts/language_identifier/make, with these git repositories in repositories/OWNER/NAME as well. The sets:

news      the sentences that lingua's author measures with, from the Leipzig corpora, in lingua's 75 languages
treebank  treebanks of Universal Dependencies: the parallel ones (PUD), translations of the same news and
          encyclopedia articles, and for languages without one another that is not trained with

A short text is a part of a sentence, from the beginning of a random word to the end of the last word that fits
into 20 characters; in scripts that do not separate words, 20 characters.
"""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../scripts/language_identifier"))
import corpus  # noqa: E402
import readers  # noqa: E402

SHORT = 20
MOST = 1000  # texts of a language in a set
WITHOUT_SPACES = {"ja", "km", "lo", "my", "th", "zh"}
TREEBANKS = {
    "ar": "Arabic-PUD", "bg": "Bulgarian-BTB", "cs": "Czech-PUD", "da": "Danish-DDT", "de": "German-PUD",
    "el": "Greek-GDT", "en": "English-PUD", "es": "Spanish-PUD", "fi": "Finnish-PUD", "fr": "French-PUD",
    "he": "Hebrew-HTB", "hi": "Hindi-PUD", "hu": "Hungarian-Szeged", "id": "Indonesian-PUD", "it": "Italian-PUD",
    "ja": "Japanese-PUD", "ko": "Korean-PUD", "nl": "Dutch-Alpino", "pl": "Polish-PUD", "pt": "Portuguese-PUD",
    "ru": "Russian-PUD", "sv": "Swedish-PUD", "th": "Thai-PUD", "tr": "Turkish-PUD", "uk": "Ukrainian-IU",
    "vi": "Vietnamese-VTB", "zh": "Chinese-PUD",
}


def news(cache):
    folder = "src/accuracyReport/resources/language-testdata/sentences/"
    for path, content in corpus.repository_files(cache, "pemistahl/lingua", folder, r"\.txt$"):
        yield path.split("/")[-1][:-len(".txt")], readers.lines(content)


def treebank(cache):
    for language, name in TREEBANKS.items():
        repository = f"UniversalDependencies/UD_{name}"
        for _, content in corpus.repository_files(cache, repository, "./", r"^[^/]*-test\.conllu$"):
            yield language, readers.conllu(content)


def short_part(text, language, draw):
    """A random part of a text of at most SHORT characters; none of a text without one of half that."""
    if language in WITHOUT_SPACES:
        begin = draw.randrange(max(1, len(text) - SHORT))
        return text[begin:begin + SHORT]
    words = text.split()
    begins = list(range(len(words)))
    draw.shuffle(begins)
    for begin in begins:
        part = ""
        for word in words[begin:]:
            if len(part) + 1 + len(word) > SHORT:
                break
            part = f"{part} {word}".strip()
        if len(part) >= SHORT / 2 and readers.is_prose(part, SHORT / 3):
            return part
    return None


def main():
    cache, out = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    for texts_of in (news, treebank):
        whole, short = [], []
        for language, texts in texts_of(cache):
            draw = random.Random(language)
            kept = [text for text in dict.fromkeys(map(str.strip, texts)) if readers.is_prose(text, SHORT / 2)]
            draw.shuffle(kept)
            kept = kept[:MOST]
            whole += [(language, text) for text in kept]
            short += [(language, part) for text in kept if (part := short_part(text, language, draw))]
        for kind, examples in (("sentences", whole), ("short", short)):
            with open(f"{out}/{texts_of.__name__}.{kind}.tsv", "w", encoding="utf-8") as file:
                file.writelines(f"{language}\t{text}\n" for language, text in examples)


if __name__ == "__main__":
    main()
