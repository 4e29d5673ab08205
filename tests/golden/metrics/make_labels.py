"""Writes labels.json: metrics of classes, numbers and rankings as scikit-learn, SciPy and ranx compute them.

Needs scikit-learn 1.9, SciPy 1.17, ranx 0.3 and seqeval 1.2.
"""

import json
import pathlib

import numpy as np
from ranx import Qrels, Run, evaluate
from scipy import stats
from seqeval.metrics import f1_score as span_f1
from sklearn import metrics

random = np.random.default_rng(7)


def scores(expected, predicted):
    return {
        "accuracy": metrics.accuracy_score(expected, predicted),
        "f1_macro": metrics.f1_score(expected, predicted, average="macro", zero_division=0),
        "f1_micro": metrics.f1_score(expected, predicted, average="micro", zero_division=0),
    }


def classes():
    for size, count in [(1, 2), (7, 2), (40, 3), (200, 9)]:
        expected = random.integers(0, count, size)
        predicted = np.where(random.random(size) < 0.6, expected, random.integers(0, count, size))
        yield {"expected": expected.tolist(), "predicted": predicted.tolist(), **scores(expected, predicted)}


def several():
    for size, count in [(1, 2), (30, 4), (100, 7)]:
        expected = (random.random((size, count)) < 0.3).astype(int)
        predicted = np.where(random.random((size, count)) < 0.8, expected, 1 - expected)
        expected[:, 0] = predicted[:, 0] = 0
        yield {"count": count, "expected": expected.ravel().tolist(), "predicted": predicted.ravel().tolist(),
               **scores(expected, predicted)}


def numbers():
    for size in [2, 5, 60]:
        a = np.round(random.normal(size=size), 1)
        b = np.round(a + random.normal(size=size), 1)
        relevant = (random.random(size) < 0.4).astype(int)
        relevant[0] = 1
        yield {"a": a.tolist(), "b": b.tolist(), "pearson": stats.pearsonr(a, b)[0],
               "spearman": stats.spearmanr(a, b)[0], "relevant": relevant.tolist(),
               "average_precision": metrics.average_precision_score(relevant, b)}


def rankings():
    for documents, answers in [(3, 1), (30, 1), (50, 4), (200, 25)]:
        values = random.permutation(documents).astype(np.float32)
        found = sorted(random.choice(documents, answers, replace=False).tolist())
        qrels = Qrels({"q": {str(d): 1 for d in found}})
        run = Run({"q": {str(d): float(v) for d, v in enumerate(values)}})
        got = evaluate(qrels, run, ["ndcg@10", "mrr@10", "recall@1", "recall@10"])
        yield {"scores": values.tolist(), "answers": found, **{k: float(v) for k, v in got.items()}}


def spans():
    """Labels of tokens as they come, also an inside without a beginning, and after one of another kind."""
    for kinds, lengths in [(["PER", "LOC"], (1, 6, 12, 20)), (["A"], (9, 9, 30)), (["A", "B", "C-D"], (40,) * 8),
                           (["A", "B", "C"], (3,) * 40)]:
        names = ["O"] + [f"{place}-{kind}" for kind in kinds for place in "BI"]
        any_label = lambda: int(random.integers(0, len(names)))
        expected = [[any_label() for _ in range(n)] for n in lengths]
        predicted = [[c if random.random() < 0.7 else any_label() for c in line] for line in expected]
        named = [[[names[c] for c in line] for line in lines] for lines in (expected, predicted)]
        yield {"names": names, "expected": expected, "predicted": predicted, "f1_spans": float(span_f1(*named))}


def main():
    golden = {"classes": list(classes()), "several": list(several()), "numbers": list(numbers()),
              "rankings": list(rankings()), "spans": list(spans())}
    path = pathlib.Path(__file__).with_name("labels.json")
    path.write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
