# /// script
# dependencies = ["huggingface_hub", "tei-client", "numpy", "httpx"]
# ///
"""Clients of TEI (Text Embeddings Inference)."""
import httpx
from expected import (DOCUMENTS, EMBED_URL, EXPECTED, PROMPTED_URL, QUERY, RERANK_URL, SPARSE_URL, TEXTS, check_numbers,
                      check_ranking, check_vector, check_vectors)
from huggingface_hub import AsyncInferenceClient, InferenceClient
from scenarios import run
from tei_client import HttpClient


def feature_extraction():
    client = InferenceClient(EMBED_URL)
    check_vectors(client.feature_extraction(TEXTS))
    check_vector(client.feature_extraction(QUERY, truncate=True, truncation_direction="right")[0])
    check_vectors(client.feature_extraction(TEXTS, model=f"{EMBED_URL}/embed", normalize=False), EXPECTED["raw_vectors"])
    assert client.feature_extraction(TEXTS, dimensions=16).shape == (len(TEXTS), 16)


def prompt_name():
    client = InferenceClient(PROMPTED_URL)
    check_vector(client.feature_extraction(QUERY, prompt_name="query")[0], EXPECTED["prompted_query"])
    check_vectors(client.feature_extraction(DOCUMENTS, prompt_name="document"), EXPECTED["prompted_documents"])


async def async_feature_extraction():
    check_vectors(await AsyncInferenceClient(EMBED_URL).feature_extraction(TEXTS))


def sentence_similarity():
    found = InferenceClient(f"{EMBED_URL}/similarity").sentence_similarity(QUERY, other_sentences=DOCUMENTS)
    check_numbers(found, EXPECTED["cosines"])


def endpoint_info_and_health():
    client = InferenceClient(EMBED_URL, provider="hf-inference", token="none")
    assert client.get_endpoint_info()["model_type"] == {"embedding": {"pooling": "mean"}} and client.health_check()


def tei_client_embed():
    client = HttpClient(EMBED_URL)
    check_vector(client.embed(QUERY)[0])
    check_vectors(client.embed(TEXTS, normalize=False), EXPECTED["raw_vectors"])
    assert len(client.embed_all(QUERY)[0]) > 2 and client.health()


async def tei_client_async():
    check_vectors(await HttpClient(EMBED_URL).async_embed(TEXTS))


def tei_client_rerank():
    client = HttpClient(RERANK_URL)
    for raw in (False, True):
        ranks = client.rerank(query=QUERY, texts=DOCUMENTS, raw_scores=raw, return_text=True).ranks
        check_ranking([(one.index, one.score) for one in ranks], raw)
        assert all(one.text == DOCUMENTS[one.index] for one in ranks)


def sparse():
    answer = httpx.post(f"{SPARSE_URL}/embed_sparse", json={"inputs": TEXTS}).raise_for_status().json()
    for found, expected in zip(answer, EXPECTED["sparse"], strict=True):
        own = {str(one["index"]): one["value"] for one in found}
        names = sorted(own.keys() | expected.keys())  # a logit may be zero in one of them
        check_numbers([own.get(name, 0) for name in names], [expected.get(name, 0) for name in names])


run(feature_extraction, prompt_name, async_feature_extraction, sentence_similarity, endpoint_info_and_health,
    tei_client_embed, tei_client_async, tei_client_rerank, sparse)
