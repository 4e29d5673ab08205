# /// script
# dependencies = ["llama-index-embeddings-text-embeddings-inference", "llama-index-embeddings-openai-like",
#   "llama-index-postprocessor-tei-rerank", "llama-index-embeddings-cohere", "llama-index-postprocessor-cohere-rerank",
#   "llama-index-postprocessor-jinaai-rerank"]
# ///
from expected import (DOCUMENTS, EMBED_URL, EXPECTED, QUERY, RERANK_URL, TEXTS, check_ranking, check_vector, check_vectors)
from llama_index.core.schema import NodeWithScore, TextNode
from scenarios import URL, run


def nodes():
    return [NodeWithScore(node=TextNode(text=one), score=0.5) for one in DOCUMENTS]


def ranking_of(found):
    return [(DOCUMENTS.index(one.node.get_content()), one.score) for one in found]


def text_embeddings_inference():
    from llama_index.embeddings.text_embeddings_inference import TextEmbeddingsInference
    embeddings = TextEmbeddingsInference(model_name="embed", base_url=EMBED_URL, timeout=60, embed_batch_size=3)
    check_vectors(embeddings.get_text_embedding_batch(DOCUMENTS), EXPECTED["document_vectors"])
    check_vector(embeddings.get_query_embedding(QUERY))


async def text_embeddings_inference_async():
    from llama_index.embeddings.text_embeddings_inference import TextEmbeddingsInference
    embeddings = TextEmbeddingsInference(model_name="embed", base_url=EMBED_URL)
    check_vector(await embeddings.aget_query_embedding(QUERY))


def tei_rerank():
    from llama_index.postprocessor.tei_rerank import TextEmbeddingInference
    check_ranking(ranking_of(TextEmbeddingInference(base_url=RERANK_URL, top_n=3).postprocess_nodes(nodes(), query_str=QUERY)))


def openai_like():
    from llama_index.embeddings.openai_like import OpenAILikeEmbedding
    embeddings = OpenAILikeEmbedding(model_name="embed", api_base=f"{URL}/v1", api_key="none")
    check_vectors(embeddings.get_text_embedding_batch(TEXTS[:4]), EXPECTED["vectors"][:4])


def cohere():
    """It knows the names of Cohere's models alone."""
    from llama_index.embeddings.cohere import CohereEmbedding
    documents = CohereEmbedding(api_key="none", base_url=URL, model_name="embed-english-v3.0", input_type="search_document")
    check_vectors(documents.get_text_embedding_batch(DOCUMENTS), EXPECTED["prompted_documents"])


def cohere_rerank():
    from llama_index.postprocessor.cohere_rerank import CohereRerank
    ranker = CohereRerank(api_key="none", base_url=URL, model="rerank", top_n=3)
    check_ranking(ranking_of(ranker.postprocess_nodes(nodes(), query_str=QUERY)))


def jina_rerank():
    """JinaEmbedding takes no address."""
    from llama_index.postprocessor.jinaai_rerank import JinaRerank
    ranker = JinaRerank(api_key="none", base_url=f"{URL}/v1", model="rerank", top_n=3)
    check_ranking(ranking_of(ranker.postprocess_nodes(nodes(), query_str=QUERY)))


run(text_embeddings_inference, text_embeddings_inference_async, tei_rerank, openai_like, cohere, cohere_rerank, jina_rerank)
