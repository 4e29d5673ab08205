# /// script
# dependencies = ["cohere"]
# ///
import cohere
from expected import DOCUMENTS, EXPECTED, QUERY, TEXTS, check_ranking, check_vectors
from scenarios import URL, run

client = cohere.ClientV2(api_key="none", base_url=URL)


def embed():
    answer = client.embed(model="embed", texts=TEXTS, input_type="search_document", embedding_types=["float"])
    check_vectors(answer.embeddings.float_)


def input_type():
    for purpose, texts, expected in (("search_query", [QUERY], [EXPECTED["prompted_query"]]),
                                     ("search_document", DOCUMENTS, EXPECTED["prompted_documents"])):
        answer = client.embed(model="prompted", texts=texts, input_type=purpose, embedding_types=["float"])
        check_vectors(answer.embeddings.float_, expected)


def rerank():
    answer = client.rerank(model="rerank", query=QUERY, documents=DOCUMENTS, top_n=3)
    check_ranking([(one.index, one.relevance_score) for one in answer.results])


run(embed, input_type, rerank)
