#!/usr/bin/env python3
"""Compares heed's sentences with pysbd's and minisbd's.

    compare.py JUDGE FOLDER [--golden PYSBD_TESTS] [--paragraph 12] [--show heed]

JUDGE is the program sentences_judge (ninja -C build/release sentences_judge). FOLDER has files of
Universal Dependencies, LANGUAGE_TREEBANK-ud-SPLIT.conllu, which fetch.sh gets, and PYSBD_TESTS is
tests/lang of pysbd's repository, which it gets as well. The sentences of a file are joined, a dozen
to a paragraph, by a space or in Chinese and Japanese by nothing, and split again. A sentence is
found if both its ends are. The last end of a paragraph is always found, so it counts for little.

Needs `pip install pysbd`; minisbd takes part if it is installed and finds its models. Exits with 1
if the F1 of heed is below that of another in a language.
"""

import argparse
import ast
import collections
import importlib.util
import pathlib
import subprocess
import sys

UNSPACED = {"zh", "ja"}


def spans(sentences):
    """(first, last) of each sentence in characters, white space left out."""
    found, at = [], 0
    for sentence in sentences:
        length = len("".join(sentence.split()))
        if length:
            found.append((at, at + length))
        at += length
    return found


class Heed:
    def __init__(self, judge, language):
        self.command = [judge, language]

    def split(self, paragraphs):
        # Ends of lines end sentences, so one call splits all.
        text = "\n".join(paragraphs).encode()
        out = subprocess.run(self.command, input=text, stdout=subprocess.PIPE, check=True).stdout
        found = [tuple(map(int, line.split())) for line in out.decode().splitlines()]
        results, begin, i = [], 0, 0
        for paragraph in paragraphs:
            end = begin + len(paragraph.encode())
            own = []
            while i < len(found) and found[i][0] < end:
                own.append(text[found[i][0] : found[i][1]].decode())
                i += 1
            results.append(own)
            begin = end + 1
        return results


class Pysbd:
    def __init__(self, language):
        import pysbd

        self.segmenter = pysbd.Segmenter(language=language, clean=False)

    def split(self, paragraphs):
        return [self.segmenter.segment(paragraph) for paragraph in paragraphs]


class Minisbd:
    def __init__(self, language):
        from minisbd import SBDetect

        self.detect = SBDetect({"zh": "zh-hans"}.get(language, language), use_gpu=False)

    def split(self, paragraphs):
        return [self.detect.sentences(paragraph) for paragraph in paragraphs]


def splitters(judge, language):
    found = {"heed": Heed(judge, language)}
    for name, make in {"pysbd": Pysbd, "minisbd": Minisbd}.items():
        if importlib.util.find_spec(name):
            try:
                found[name] = make(language)
            except Exception as error:  # no such language, no model
                print(f"{name} {language}: {error}", file=sys.stderr)
    return found


def paragraphs_of(path, size):
    groups, sentences = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# newdoc") and sentences and "ja_gsd" not in path.name:
            groups.append(sentences)
            sentences = []
        if line.startswith("# text = "):
            sentences.append(line[len("# text = ") :].strip())
            if len(sentences) == size:
                groups.append(sentences)
                sentences = []
    return groups + [sentences] * bool(sentences)


class Score:
    def __init__(self):
        self.right = self.found = self.true = 0

    def add(self, expected, found):
        self.right += len(set(expected) & set(found))
        self.found += len(found)
        self.true += len(expected)

    @property
    def f1(self):
        return 200 * self.right / max(self.found + self.true, 1)


def judge_texts(name, language, groups, joined, args, wins):
    texts = [joined(group) for group in groups]
    scores = {}
    for splitter, program in splitters(args.judge, language).items():
        score = scores[splitter] = Score()
        for text, group, found in zip(texts, groups, program.split(texts)):
            score.add(spans(group), spans(found))
            if splitter == args.show and spans(group) != spans(found):
                for sentence in sorted(set(map(str.strip, found)) - set(group)):
                    print("   ", sentence)
    wins[language].append(scores)
    print(f"{name:24}", *(f"{key} {score.f1:6.2f}" for key, score in scores.items()))


def golden_cases(path):
    """The first list of (text, sentences) of a test of pysbd, without those it fails itself."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and "GOLDEN" in node.targets[0].id:
            for case in node.value.elts:
                if isinstance(case, ast.Tuple):
                    yield ast.literal_eval(case)


GOLDEN = {"english": "en", "spanish": "es", "deutsch": "de", "french": "fr", "russian": "ru",
          "chinese": "zh", "japanese": "ja", "italian": "it", "dutch": "nl", "polish": "pl",
          "hindi": "hi", "arabic": "ar", "persian": "fa", "urdu": "ur", "greek": "el"}  # fmt: skip


def judge_golden(folder, args):
    for name, language in GOLDEN.items():
        cases = list(golden_cases(folder / f"test_{name}.py"))
        for splitter, program in splitters(args.judge, language).items():
            right = 0
            for text, expected in cases:
                found = program.split([text])[0]
                right += spans(found) == spans(expected)
                if splitter == args.show and spans(found) != spans(expected):
                    print("   ", [sentence.strip() for sentence in found])
            print(f"golden {name:17} {splitter:8} {right} of {len(cases)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("judge")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--golden", type=pathlib.Path)
    parser.add_argument("--paragraph", type=int, default=12)
    parser.add_argument("--only", default="*.conllu")
    parser.add_argument("--show", help="a splitter whose errors are printed")
    args = parser.parse_args()
    scores = collections.defaultdict(list)
    for path in sorted(args.folder.glob(args.only)):
        language = path.name[:2]
        groups = paragraphs_of(path, args.paragraph)
        between = "" if language in UNSPACED else " "
        judge_texts(path.stem, language, groups, between.join, args, scores)
    if args.golden:
        judge_golden(args.golden, args)
    lost = [
        language
        for language, files in scores.items()
        for file in files
        if any(file["heed"].f1 < score.f1 for score in file.values())
    ]
    if lost:
        sys.exit(f"heed is behind in {', '.join(sorted(set(lost)))}")


if __name__ == "__main__":
    main()
