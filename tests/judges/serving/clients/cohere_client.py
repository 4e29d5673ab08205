# /// script
# dependencies = ["cohere"]
# ///
import cohere
from scenarios import URL, run

second = cohere.ClientV2(api_key="none", base_url=URL)
first = cohere.Client(api_key="none", base_url=URL)
DOCUMENTS = ["the ship", "the old sea", "a cat " * 5000]


def rerank():
    answer = second.rerank(model="rerank", query="the sea", documents=DOCUMENTS, top_n=2, max_tokens_per_doc=20)
    assert len(answer.results) == 2 and answer.results[0].relevance_score >= answer.results[1].relevance_score
    assert answer.meta.tokens.input_tokens > 0 and len(answer.meta.warnings) == 1


def rerank_of_the_first_API():
    answer = first.rerank(model="rerank", query="the sea", documents=DOCUMENTS[:2], return_documents=True)
    assert sorted(one.document.text for one in answer.results) == sorted(DOCUMENTS[:2])


async def async_rerank():
    client = cohere.AsyncClientV2(api_key="none", base_url=URL)
    assert len((await client.rerank(model="rerank", query="the sea", documents=DOCUMENTS)).results) == 3


def embed():
    answer = second.embed(model="embed", texts=["the sea", "a ship"], input_type="search_document",
                          embedding_types=["float", "base64", "ubinary"], output_dimension=16)
    assert [len(one) for one in answer.embeddings.float_] == [16, 16] and len(answer.embeddings.ubinary[0]) == 2
    assert answer.texts == ["the sea", "a ship"]


def errors():
    try:
        second.embed(model="embed", texts=["the sea"], input_type="search_query", embedding_types=["int8"])
    except cohere.errors.BadRequestError as error:
        assert "embedding_types" in error.body["message"]
    else:
        raise AssertionError("int8 was not refused")


run(rerank, rerank_of_the_first_API, async_rerank, embed, errors)
