# /// script
# dependencies = ["haystack-ai", "huggingface-api-haystack", "cohere-haystack", "jina-haystack"]
# ///
from expected import (DOCUMENTS, EMBED_URL, EXPECTED, QUERY, RERANK_URL, TEXTS, check_ranking, check_vector, check_vectors)
from haystack import Document
from haystack.components.embedders import OpenAIDocumentEmbedder, OpenAITextEmbedder
from haystack.utils import Secret
from haystack_integrations.components.embedders.cohere import CohereDocumentEmbedder, CohereTextEmbedder
from haystack_integrations.components.embedders.huggingface_api import HuggingFaceAPIDocumentEmbedder, HuggingFaceAPITextEmbedder
from haystack_integrations.components.embedders.jina import JinaDocumentEmbedder, JinaTextEmbedder
from haystack_integrations.components.rankers.cohere import CohereRanker
from haystack_integrations.components.rankers.huggingface_api import HuggingFaceTEIRanker
from haystack_integrations.components.rankers.jina import JinaRanker
from scenarios import URL, run

KEY = Secret.from_token("none")
TEI = {"api_type": "text_embeddings_inference", "api_params": {"url": EMBED_URL}}


def documents(texts=DOCUMENTS):
    return [Document(content=one) for one in texts]


def vectors_of(result):
    return [one.embedding for one in result["documents"]]


def ranking_of(result):
    return [(DOCUMENTS.index(one.content), one.score) for one in result["documents"]]


def openai():
    options = {"model": "embed", "api_base_url": f"{URL}/v1", "api_key": KEY}
    check_vector(OpenAITextEmbedder(**options).run(QUERY)["embedding"])
    check_vectors(vectors_of(OpenAIDocumentEmbedder(**options).run(documents())), EXPECTED["document_vectors"])


def huggingface_API():
    """Not normalised by default."""
    check_vector(HuggingFaceAPITextEmbedder(**TEI).run(TEXTS[0])["embedding"], EXPECTED["raw_vectors"][0])
    check_vectors(vectors_of(HuggingFaceAPIDocumentEmbedder(**TEI).run(documents(TEXTS))), EXPECTED["raw_vectors"])
    check_vector(HuggingFaceAPITextEmbedder(**TEI, normalize=True).run(QUERY)["embedding"])


def TEI_ranker():
    check_ranking(ranking_of(HuggingFaceTEIRanker(url=RERANK_URL, top_k=3).run(query=QUERY, documents=documents())))
    raw = HuggingFaceTEIRanker(url=RERANK_URL, raw_scores=True).run(query=QUERY, documents=documents())
    check_ranking(ranking_of(raw), raw=True)


def cohere():
    options = {"model": "prompted", "api_base_url": URL, "api_key": KEY}
    check_vector(CohereTextEmbedder(**options).run(QUERY)["embedding"], EXPECTED["prompted_query"])
    check_vectors(vectors_of(CohereDocumentEmbedder(**options).run(documents())), EXPECTED["prompted_documents"])


def cohere_ranker():
    ranker = CohereRanker(model="rerank", api_base_url=URL, api_key=KEY, top_k=3)
    check_ranking(ranking_of(ranker.run(query=QUERY, documents=documents())))


def jina():
    options = {"model": "prompted", "base_url": f"{URL}/v1/embeddings", "api_key": KEY}
    check_vector(JinaTextEmbedder(task="retrieval.query", **options).run(QUERY)["embedding"], EXPECTED["prompted_query"])
    check_vectors(vectors_of(JinaDocumentEmbedder(task="retrieval.passage", **options).run(documents())),
                  EXPECTED["prompted_documents"])


def jina_ranker():
    ranker = JinaRanker(model="rerank", base_url=f"{URL}/v1/rerank", api_key=KEY, top_k=3)
    check_ranking(ranking_of(ranker.run(query=QUERY, documents=documents())))


run(openai, huggingface_API, TEI_ranker, cohere, cohere_ranker, jina, jina_ranker)
