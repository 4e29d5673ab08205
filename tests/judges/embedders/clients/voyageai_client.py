# /// script
# dependencies = ["voyageai"]
# ///
import voyageai
from expected import DOCUMENTS, EXPECTED, QUERY, TEXTS, check_ranking, check_vectors
from scenarios import URL, run

client = voyageai.Client(api_key="none", base_url=f"{URL}/v1", max_retries=1)


def embed():
    check_vectors(client.embed(TEXTS, model="embed").embeddings)


def input_type():
    check_vectors(client.embed([QUERY], model="prompted", input_type="query").embeddings, [EXPECTED["prompted_query"]])
    check_vectors(client.embed(DOCUMENTS, model="prompted", input_type="document").embeddings, EXPECTED["prompted_documents"])


def rerank():
    answer = client.rerank(QUERY, DOCUMENTS, model="rerank", top_k=3)
    check_ranking([(one.index, one.relevance_score) for one in answer.results])


run(embed, input_type, rerank)
