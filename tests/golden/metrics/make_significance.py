"""Records what sacrebleu says of TER, of several references and of tests of significance, and numpy's random numbers.

    pip install sacrebleu==2.6.* 'numpy>=2'
    python tests/golden/metrics/make_significance.py

Writes significance.json beside this file. It has the scores of the corpora of expected.json, which make.py writes.
"""

import json
import pathlib

import numpy
from make import random_corpus
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

HERE = pathlib.Path(__file__).resolve().parent
OPTIONS = [
    {},
    {"normalized": True},
    {"normalized": True, "no_punct": True, "asian_support": True},
    {"no_punct": True, "case_sensitive": True},
]
METRICS = {
    "bleu": BLEU,
    "chrf": CHRF,
    "chrf++": lambda: CHRF(word_order=2),
    "ter": lambda: TER(normalized=True),
}


def several(seed):
    """A corpus with three references and two systems, which are equal in half of the lines."""
    pairs = [random_corpus(seed + r, 12) for r in range(2)]
    references = [[reference for _, reference in pairs[0]], [hypothesis for hypothesis, _ in pairs[0]]]
    references.append([a[: len(a) // 2] + b for a, b in zip(*references)])
    first = [a + b[len(b) // 2 :] for a, b in zip(references[1], references[0])]
    second = [one if i % 2 else one + " " + other for i, (one, (other, _)) in enumerate(zip(first, pairs[1]))]
    return references, [first, second]


def tested(make, references, systems):
    metric = make()
    score = metric.corpus_score(systems[0], references, n_bootstrap=100)
    found = {
        "scores": [make().corpus_score(system, references).score for system in systems],
        "text": str(score),
        "confidence": [float(score._mean), float(score._ci)],
        "signatures": [str(metric.get_signature()).rsplit("|", 1)[0]],
    }
    for test in ("bs", "ar"):
        signatures, scores = PairedTest(list(zip("ab", systems)), {"x": make()}, references, test, 100)()
        found["signatures"] += [str(signature).rsplit("|", 1)[0] for signature in signatures.values()]
        results = next(value for name, value in scores.items() if name != "System")
        found[test] = [
            {k: float(v) for k, v in vars(result).items() if v is not None and k != "score"} for result in results
        ]
    return found


def main():
    corpora = json.loads((HERE / "expected.json").read_text())["corpora"]
    ter = {
        corpus["name"]: [
            TER(**options).corpus_score(corpus["hypotheses"], [corpus["references"]]).score for options in OPTIONS
        ]
        for corpus in corpora
    }
    drawn = []
    for seed in (12345, 1, 2**40 + 3):
        rng = numpy.random.default_rng(seed)
        draws = [rng.integers(0, count, size=5).tolist() for count in (1, 2, 7, 1000, 3 * 2**30)]
        draws.append(rng.integers(2, size=70, dtype=bool).astype(int).tolist())
        draws.append(rng.integers(0, 10, size=3).tolist())
        drawn.append({"seed": seed, "draws": draws})
    expected = {
        "options": OPTIONS,
        "signatures": [],
        "ter": ter,
        "random": drawn,
        "tests": [],
    }
    for options in OPTIONS:
        metric = TER(**options)
        metric.corpus_score(["a"], [["a"]])
        expected["signatures"].append(str(metric.get_signature()).rsplit("|", 1)[0])
    for seed in (3, 8):
        references, systems = several(seed)
        results = {name: tested(make, references, systems) for name, make in METRICS.items()}
        expected["tests"].append({"references": references, "systems": systems, "results": results})
    text = json.dumps(expected, ensure_ascii=True, separators=(",", ":"))
    text = text.replace('{"references"', '\n{"references"').replace('"ter":{', '\n"ter":{')
    (HERE / "significance.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
