"""What sentence-transformers gives for the texts of the scenarios, and the comparison with it."""
import atexit
import json
import math
import os
import pathlib

LIMIT = 1e-5
EXPECTED = json.loads(pathlib.Path(os.environ["HEED_EXPECTED"]).read_text())
TEXTS, QUERY, DOCUMENTS = EXPECTED["texts"], EXPECTED["query"], EXPECTED["documents"]
VECTORS, QUERY_VECTOR, LOGITS = EXPECTED["vectors"], EXPECTED["query_vector"], EXPECTED["logits"]
EMBED_URL, RERANK_URL, SPARSE_URL, PROMPTED_URL = (
    os.environ[f"HEED_{name}_URL"] for name in ("EMBED", "RERANK", "SPARSE", "PROMPTED"))
largest = [0.0]


@atexit.register
def tell():
    pathlib.Path(os.environ["HEED_DIFFERENCES"]).write_text(f"{largest[0]:.1e}")


def check_numbers(found, expected):
    assert len(found) == len(expected), (len(found), len(expected))
    difference = max(abs(a - b) for a, b in zip(found, expected))
    largest[0] = max(largest[0], difference)
    assert difference <= LIMIT, f"differs by {difference}"


def check_vector(found, expected=QUERY_VECTOR):
    check_numbers(list(found), expected)


def check_vectors(found, expected=VECTORS):
    assert len(found) == len(expected), (len(found), len(expected))
    for one, other in zip(found, expected):
        check_numbers(list(one), other)


def check_ranking(found, raw=False):
    """`found`: (index, score), best first, perhaps not all."""
    scores = LOGITS if raw else [1 / (1 + math.exp(-one)) for one in LOGITS]
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    assert [index for index, _ in found] == order[:len(found)], (found, order)
    check_numbers([score for _, score in found], [scores[i] for i in order[:len(found)]])
