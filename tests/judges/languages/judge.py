#!/usr/bin/env python3
"""Compares heed, langid 1.1.6 and lingua 2.2: the accuracy and the speed with which they tell languages.

usage: judge.py HELD_OUT HEED LANGID_PYTHON LINGUA_PYTHON [TEXTS [TURNS]]

HELD_OUT is the folder that held_out.py writes, HEED the program, the others interpreters that have the packages
langid and lingua-language-detector (one Python may have both; lingua 2.2 needs Python 3.12 or newer). TEXTS of each
language are asked for in each set (default: all), TURNS times (default: 3). Prints a table:
for each set of texts, the mean of the languages' accuracies and the microseconds of processor time a text takes,
loading left out, on one thread. All three choose between the same languages, those of the set that all know; a second
table has the twenty languages with most speakers, a third the languages that heed and lingua know. Programs take
turns, and the least time counts.
"""
import collections
import json
import os
import resource
import subprocess
import sys
import tempfile

ONE_THREAD = {"RAYON_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
SETS = ["news.short", "news.sentences", "treebank.short", "treebank.sentences"]
TWENTY = "ar cs de el en es fr he hi id it ja ko nl pl pt ru tr vi zh".split()

# What runs in the interpreters of the peers: prints the languages it knows, or of each text its answer, and at last
# the seconds of processor time.
PEER = r"""
import json, sys, time
request = json.load(sys.stdin)
if request["program"] == "lingua":
    from lingua import Language, LanguageDetectorBuilder
    known = {l.iso_code_639_1.name.lower(): l for l in Language.all()}
    if request["languages"]:
        wanted = [known[code] for code in request["languages"]]
        detector = LanguageDetectorBuilder.from_languages(*wanted).with_preloaded_language_models().build()
        def answer(text):
            found = detector.detect_language_of(text)
            return found.iso_code_639_1.name.lower() if found else ""
else:
    from langid.langid import LanguageIdentifier, model
    identifier = LanguageIdentifier.from_modelstring(model)
    known = identifier.nb_classes
    if request["languages"]:
        identifier.set_languages(request["languages"])
    answer = lambda text: identifier.classify(text)[0]
if not request["languages"]:
    print(json.dumps(sorted(known)))
else:
    for text in request["texts"][:50]:
        answer(text)
    begin = time.process_time()
    answers = [answer(text) for text in request["texts"]]
    print(json.dumps([answers, time.process_time() - begin]))
"""


class Peer:
    def __init__(self, program, python):
        self.program, self.python = program, python

    def ask(self, languages, texts):
        request = {"program": self.program, "languages": languages, "texts": texts}
        done = subprocess.run([self.python, "-c", PEER], input=json.dumps(request), text=True, check=True,
                              capture_output=True, env={**os.environ, **ONE_THREAD})
        return json.loads(done.stdout)

    def languages(self):
        return self.ask([], [])

    def detect(self, languages, texts):
        return self.ask(languages, texts)


class Heed:
    program = "heed"

    def __init__(self, path):
        self.path = path

    def languages(self):
        done = subprocess.run([self.path, "detect", "--list"], check=True, capture_output=True, text=True)
        return done.stdout.split()

    def run(self, languages, texts):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            file.writelines(text + "\n" for text in texts)
            file.flush()
            done = subprocess.run([self.path, "detect", file.name, "--languages", ",".join(languages)], check=True,
                                  capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return [line.split()[0] for line in done.stdout.splitlines()], seconds

    def detect(self, languages, texts):
        loading = min(self.run(languages, texts[:1])[1] for _ in range(3))
        answers, seconds = self.run(languages, texts)
        return answers, seconds - loading


def read(path, most):
    """The first `most` texts of each language."""
    examples, count = [], collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            language, text = line.rstrip("\n").split("\t", 1)
            count[language] += 1
            if count[language] <= most:
                examples.append((language, text))
    return examples


def accuracy(examples, answers):
    right, total = collections.Counter(), collections.Counter()
    for (language, _), answer in zip(examples, answers):
        total[language] += 1
        right[language] += answer == language
    return {language: right[language] / total[language] for language in total}


def table(title, folder, programs, languages, most, turns):
    print(f"\n{title}\n")
    print("| texts | languages |" + "".join(f" {p.program} | µs |" for p in programs))
    print("| --- | --- |" + " --- | --- |" * len(programs))
    for name in SETS:
        examples = [example for example in read(f"{folder}/{name}.tsv", most) if example[0] in languages]
        present = sorted({language for language, _ in examples})
        texts = [text for _, text in examples]
        shares, times = {}, collections.defaultdict(list)
        for _ in range(turns):
            for program in programs:
                answers, seconds = program.detect(present, texts)
                times[program].append(seconds)
                shares[program] = accuracy(examples, answers)
        row = f"| {name} | {len(present)} |"
        for program in programs:
            mean = sum(shares[program].values()) / len(present)
            row += f" {100 * mean:.1f}% | {1e6 * min(times[program]) / len(texts):.0f} |"
        print(row, flush=True)
        for language in present:
            print(name, language, *(f"{p.program} {100 * shares[p][language]:.1f}" for p in programs), file=sys.stderr)


def main():
    folder, heed, langid, lingua, *rest = sys.argv[1:]
    most, turns = [*map(int, rest), *(10**9, 3)[len(rest):]]
    programs = [Heed(heed), Peer("langid", langid), Peer("lingua", lingua)]
    known = {program.program: set(program.languages()) for program in programs}
    all_know = set.intersection(*known.values())
    table("Languages that all know", folder, programs, all_know, most, turns)
    table("Twenty languages", folder, programs, all_know & set(TWENTY), most, turns)
    table("Languages that heed and lingua know", folder, [programs[0], programs[2]], known["heed"] & known["lingua"],
          most, turns)


if __name__ == "__main__":
    main()
