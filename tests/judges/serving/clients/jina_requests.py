# /// script
# dependencies = ["requests"]
# ///
"""Jina has no client of its own: requests as its documentation has them."""
import requests
from scenarios import URL, run

HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer none", "Accept": "application/json"}


def post(path, body):
    return requests.post(f"{URL}{path}", headers=HEADERS, json=body, timeout=60)


def rerank():
    answer = post("/v1/rerank", {"model": "rerank", "query": "the sea", "top_n": 2, "return_documents": True,
                                 "documents": ["the ship", "the old sea", "a cat " * 5000]})
    results = answer.json()["results"]
    assert answer.ok and len(results) == 2 and answer.json()["usage"]["total_tokens"] > 0
    assert results[0]["relevance_score"] >= results[1]["relevance_score"] and results[0]["document"]["text"]


def embed():
    answer = post("/v1/embeddings", {"model": "embed", "task": "retrieval.query", "dimensions": 16, "normalized": True,
                                     "embedding_type": "float", "truncate": True,
                                     "input": ["the sea", "a ship " * 5000]})
    assert answer.ok and [len(one["embedding"]) for one in answer.json()["data"]] == [16, 16]
    bits = post("/v1/embeddings", {"model": "embed", "embedding_type": "ubinary", "input": "the sea"})
    assert all(0 <= byte <= 255 for byte in bits.json()["data"][0]["embedding"])


def errors():
    answer = post("/v1/embeddings", {"model": "embed", "late_chunking": True, "input": ["the sea"]})
    assert answer.status_code == 400 and "late_chunking" in answer.json()["error"]["message"]


run(rerank, embed, errors)
