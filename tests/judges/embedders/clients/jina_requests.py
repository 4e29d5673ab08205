# /// script
# dependencies = ["requests"]
# ///
"""Jina has no client of its own: requests as its documentation has them."""
import requests
from expected import DOCUMENTS, EXPECTED, QUERY, TEXTS, check_ranking, check_vectors
from scenarios import URL, run


def post(path, body):
    answer = requests.post(f"{URL}{path}", headers={"Authorization": "Bearer none"}, json=body, timeout=60)
    answer.raise_for_status()
    return answer.json()


def vectors_of(answer):
    return [one["embedding"] for one in answer["data"]]


def embed():
    check_vectors(vectors_of(post("/v1/embeddings", {"model": "embed", "input": TEXTS, "normalized": True})))


def task():
    for name, texts, expected in (("retrieval.query", [QUERY], [EXPECTED["prompted_query"]]),
                                  ("retrieval.passage", DOCUMENTS, EXPECTED["prompted_documents"])):
        check_vectors(vectors_of(post("/v1/embeddings", {"model": "prompted", "task": name, "input": texts})), expected)


def rerank():
    answer = post("/v1/rerank", {"model": "rerank", "query": QUERY, "documents": DOCUMENTS, "top_n": 3, "return_documents": True})
    check_ranking([(one["index"], one["relevance_score"]) for one in answer["results"]])


run(embed, task, rerank)
