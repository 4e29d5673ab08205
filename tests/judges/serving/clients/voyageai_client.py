# /// script
# dependencies = ["voyageai"]
# ///
import voyageai
from scenarios import URL, run

client = voyageai.Client(api_key="none", base_url=f"{URL}/v1", max_retries=1)
DOCUMENTS = ["the ship", "the old sea", "a cat " * 5000]


def rerank():
    answer = client.rerank("the sea", DOCUMENTS, model="rerank", top_k=2)
    assert len(answer.results) == 2 and answer.total_tokens > 0
    assert all(one.document == DOCUMENTS[one.index] for one in answer.results)


def embed():
    answer = client.embed(["the sea", "a ship " * 5000], model="embed", input_type="document", output_dimension=16)
    assert [len(one) for one in answer.embeddings] == [16, 16]
    assert len(client.embed(["the sea"], model="embed", output_dtype="binary", output_dimension=16).embeddings[0]) == 2


async def async_embed():
    own = voyageai.AsyncClient(api_key="none", base_url=f"{URL}/v1", max_retries=1)
    assert len((await own.embed(["the sea"], model="embed")).embeddings) == 1


def errors():
    for call in (lambda: client.rerank("the sea", DOCUMENTS, model="rerank", truncation=False),
                 lambda: client.embed(["the sea"], model="embed", output_dtype="int8")):
        try:
            call()
        except voyageai.error.InvalidRequestError as error:
            assert "documents[2]" in str(error) or "output_dtype" in str(error) or "tokens" in str(error), error
        else:
            raise AssertionError("not refused")


run(rerank, embed, async_embed, errors)
