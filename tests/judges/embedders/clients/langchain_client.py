# /// script
# dependencies = ["langchain-huggingface", "langchain-openai", "langchain-cohere", "langchain-voyageai"]
# ///
from expected import DOCUMENTS, EMBED_URL, EXPECTED, QUERY, TEXTS, check_ranking, check_vector, check_vectors
from huggingface_hub import InferenceClient
from langchain_cohere import CohereRerank
from langchain_core.documents import Document
from langchain_huggingface import HuggingFaceEndpointEmbeddings
from langchain_openai import OpenAIEmbeddings
from langchain_voyageai import VoyageAIRerank
from scenarios import URL, run

PAGES = [Document(page_content=one) for one in DOCUMENTS]


def huggingface_endpoint_with_a_client():
    """Since 1.2 it refuses an address, but takes a client that has one."""
    embeddings = HuggingFaceEndpointEmbeddings(model="embed", huggingfacehub_api_token="none")
    embeddings.client = InferenceClient(EMBED_URL)
    check_vectors(embeddings.embed_documents(DOCUMENTS), EXPECTED["document_vectors"])
    check_vector(embeddings.embed_query(QUERY))


def openai():
    embeddings = OpenAIEmbeddings(model="embed", check_embedding_ctx_length=False, base_url=f"{URL}/v1", api_key="none")
    check_vectors(embeddings.embed_documents(TEXTS))
    check_vector(embeddings.embed_query(QUERY))


async def openai_async():
    embeddings = OpenAIEmbeddings(model="embed", check_embedding_ctx_length=False, base_url=f"{URL}/v1", api_key="none")
    check_vectors(await embeddings.aembed_documents(TEXTS))


def cohere_rerank():
    compressor = CohereRerank(model="rerank", base_url=URL, cohere_api_key="none", top_n=3)
    found = compressor.rerank(DOCUMENTS, QUERY, top_n=3)
    check_ranking([(one["index"], one["relevance_score"]) for one in found])
    assert len(compressor.compress_documents(PAGES, QUERY)) == 3


def voyageai_rerank():
    """VoyageAIEmbeddings counts tokens with a tokenizer of the hub."""
    reranker = VoyageAIRerank(model="rerank", base_url=f"{URL}/v1", api_key="none", top_k=2)
    found = reranker.compress_documents(PAGES, QUERY)
    check_ranking([(DOCUMENTS.index(one.page_content), one.metadata["relevance_score"]) for one in found])


run(huggingface_endpoint_with_a_client, openai, openai_async, cohere_rerank, voyageai_rerank)
