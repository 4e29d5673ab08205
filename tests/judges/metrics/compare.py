"""Compares heed evaluate with sacrebleu: scores, intervals and p-values.

    pip install sacrebleu==2.6.* 'numpy>=2' django polib
    python tests/judges/metrics/compare.py build/release/heed [FIRST] [END]

Compares corpora FIRST to END (default 0 to 200). Each is a random corpus of 1 to 60 lines, one to three references and two systems. Half are
made of Django's translated messages in up to 40 languages, with words exchanged, moved, dropped and repeated; half of
punctuation, entities, digits, white space and letters of many scripts. For each, BLEU, chrF, chrF++ and TER with
random settings are computed, with the tests of sacrebleu. Every number must be equal to 1e-9 (relative to 100); where
sacrebleu ends with a TypeError (a resample of chrF or TER without any match beside others), nothing is compared.
"""

import contextlib
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import django
import polib
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

TOLERANCE = 1e-7  # of scores up to 100
PIECES = (
    "the a Wort l'eau niño 漢字 東京 カタカナ ひらがな ｱｲｳ 한국어 маяк ΟΔΟΣ ΑΣ. Σ İstanbul ǅ ẞ שלום مرحبا ไทย नमस्ते 🦉 👩\u200d👧 "
    ". , ? : ; ! \" ( ) 。 、 「 」 ・ ， ． ？ ！ ： ； （ ） ｡ ㈱ ㍿ ⺀ ㇀ 豈 ︰ 'S it's dogs' 's 1,000 3.14 2-3 x-1 5. ,5 "
    "&quot; &amp; &lt; &gt; &amp;lt; <skipped> - -- … \u00a0 \u3000 \u2028 \u200b \x1c \x0b \x01 A"
).split(" ")


def messages():
    """Lists of the same message in several languages."""
    found = {}
    root = pathlib.Path(django.__file__).parent / "contrib"
    for path in sorted(root.glob("*/locale/*/LC_MESSAGES/django.po"))[::2]:
        for entry in polib.pofile(str(path)):
            if entry.msgstr:
                found.setdefault(entry.msgid, []).append(entry.msgstr.replace("\n", " "))
    return [texts for texts in found.values() if len(texts) > 5]


def changed(text, rng):
    words = text.split(" ")
    for _ in range(rng.randint(0, 5)):
        at = rng.randint(0, len(words))
        end = min(len(words), at + rng.randint(0, 4))
        kind = rng.random()
        if kind < 0.5:  # a block is moved
            block = words[at:end]
            del words[at:end]
            there = rng.randint(0, len(words))
            words[there:there] = block
        elif kind < 0.7:
            del words[at:end]
        elif kind < 0.8:
            words[at:end] = words[at:end] * 2
        else:
            words[at:end] = rng.choices(PIECES, k=rng.randint(0, 3))
    return " ".join(words)


def line(rng, texts):
    if texts and rng.random() < 0.95:
        return " ".join(rng.choice(rng.choice(texts)) for _ in range(rng.choice([1, 1, 1, 2, 6])))
    length = rng.choice([0, 1, 3, 10, 30, 80])
    return "".join(rng.choice(PIECES) + rng.choice(["", " ", " ", " "]) for _ in range(length))


def corpus(seed, texts):
    rng = random.Random(seed)
    pool = texts if seed % 2 else None
    originals = [line(rng, pool) for _ in range(rng.choice([1, 2, 10, 60]))]
    references = [[changed(text, rng) if r else text for text in originals] for r in range(rng.randint(1, 3))]
    systems = [[changed(changed(text, rng), rng) for text in originals] for _ in range(2)]
    if rng.random() < 0.1:  # nearly equal systems: ties in the tests
        systems[1] = [a if rng.random() < 0.8 else b for a, b in zip(*systems)]
    return references, systems


def metrics(seed):
    rng = random.Random(seed)
    ter = {name: rng.random() < 0.5 for name in ("normalized", "no_punct", "asian_support", "case_sensitive")}
    flags = [f"--{name.replace('_', '-')}" for name, value in ter.items() if value]
    return [
        (["bleu"], BLEU),
        (["chrf"], CHRF),
        (["chrf", "--word-order", "2"], lambda: CHRF(word_order=2)),
        (["ter", *flags], lambda: TER(**ter)),
    ]


def heed(program, arguments, references, folder):
    command = [program, "evaluate", *arguments, "--json", "--threads", "2"]
    for number in range(len(references)):
        command += ["--reference", str(folder / f"reference{number}")]
    done = subprocess.run(command, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    return json.loads(done.stdout)


def write(path, lines):
    path.write_bytes("".join(line + "\n" for line in lines).encode())


class Judge:
    def __init__(self):
        self.compared = self.different = self.skipped = 0

    def equal(self, what, ours, theirs):
        self.compared += 1
        if ours is None or abs(ours - theirs) > TOLERANCE:
            self.different += 1
            print(f"{what}: heed {ours}, sacrebleu {theirs}")

    def same_text(self, what, ours, theirs):
        self.compared += 1
        if ours != theirs:
            self.different += 1
            print(f"{what}: heed {ours!r}, sacrebleu {theirs!r}")

    def paired(self, what, ours, make, systems, references, test, samples):
        _, scores = PairedTest([("a", systems[0]), ("b", systems[1])], {"x": make()}, references, test, samples)()
        for place, theirs in enumerate(next(v for k, v in scores.items() if k != "System")):
            one = ours["systems"][place]
            self.equal(f"{what} score {place}", one["score"], theirs.score)
            if theirs.mean is not None:
                self.equal(f"{what} mean {place}", one.get("mean"), theirs.mean)
                self.equal(f"{what} interval {place}", one.get("ci"), theirs.ci)
            if theirs.p_value is not None:
                self.equal(f"{what} p {place}", one.get("p_value"), theirs.p_value)

    def one(self, program, seed, texts, folder):
        references, systems = corpus(seed, texts)
        if any(not any(lines) for lines in systems + references):
            return  # a file without text is an error of heed's
        for number, lines in enumerate(references):
            write(folder / f"reference{number}", lines)
        write(folder / "a", systems[0])
        write(folder / "b", systems[1])
        for arguments, make in metrics(seed):
            what = f"corpus {seed} {' '.join(arguments)}"
            alone = [*arguments, "--input", str(folder / "a"), "--confidence", "--confidence-n", "300"]
            ours = heed(program, alone, references, folder)
            metric = make()
            score = metric.corpus_score(systems[0], references)
            self.equal(f"{what} score", ours["score"], score.score)
            try:
                score = make_score(metric, systems[0], references)
                self.equal(f"{what} mean", ours["mean"], float(score._mean))
                self.equal(f"{what} interval", ours["ci"], float(score._ci))
                if score._mean > 0:
                    self.same_text(f"{what} text", ours["text"], str(score))
            except TypeError:
                self.skipped += 1
            self.same_text(f"{what} signature", ours["signature"].rsplit("|", 1)[0],
                           str(metric.get_signature()).rsplit("|", 1)[0])
            pair = [*arguments, "--baseline", str(folder / "a"), "--input", str(folder / "b")]
            for test, samples in (("bs", 300), ("ar", 700)):
                ours = heed(program, [*pair, f"--paired-{test}", f"--paired-{test}-n", str(samples)], references, folder)
                self.paired(f"{what} {test}", ours, make, systems, references, test, samples)


def make_score(metric, system, references):
    return metric.corpus_score(system, references, n_bootstrap=300)


def main():
    program = sys.argv[1]
    corpora = range(*map(int, sys.argv[2:])) if len(sys.argv) > 2 else range(200)
    texts, judge = messages(), Judge()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        for seed in corpora:
            judge.one(program, seed, texts, pathlib.Path(folder))
    print(f"{judge.compared} numbers and texts compared, {judge.different} different, {judge.skipped} without")
    sys.exit(judge.different > 0)


if __name__ == "__main__":
    main()
