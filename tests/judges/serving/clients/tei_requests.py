# /// script
# dependencies = ["huggingface_hub", "llama-index-embeddings-text-embeddings-inference", "numpy", "httpx"]
# ///
"""Clients of TEI (Text Embeddings Inference)."""
import httpx
import huggingface_hub
from scenarios import URL, run

client = huggingface_hub.InferenceClient(f"{URL}/embed", token="none")


def embed():
    vectors = client.feature_extraction(["the sea", "a ship"])
    assert vectors.shape[0] == 2 and abs((vectors[0] ** 2).sum() - 1) < 1e-5
    assert client.feature_extraction("a ship " * 5000, truncate=True, truncation_direction="right").shape[0] == 1


def llama_index():
    from llama_index.embeddings.text_embeddings_inference import TextEmbeddingsInference
    embeddings = TextEmbeddingsInference(model_name="embed", base_url=URL, auth_token="none")
    assert len(embeddings.get_text_embedding_batch(["the sea", "a ship"])) == 2
    assert len(embeddings.get_query_embedding("the sea")) > 1


def rerank_and_info():
    body = {"query": "the sea", "texts": ["the ship", "the old sea"], "raw_scores": True, "return_text": True}
    ranks = httpx.post(f"{URL}/rerank", json=body).raise_for_status().json()
    assert [sorted(one) for one in ranks] == [["index", "score", "text"]] * 2
    info = httpx.get(f"{URL}/info", params={"model": "rerank"}).raise_for_status().json()
    assert "reranker" in info["model_type"]


def errors():
    try:
        client.feature_extraction("a ship " * 5000)
    except huggingface_hub.errors.HfHubHTTPError as error:
        assert "tokens" in str(error)
    else:
        raise AssertionError("a long text was not refused")


run(embed, llama_index, rerank_and_info, errors)
