# /// script
# dependencies = ["chromadb", "openai"]
# ///
import chromadb
from chromadb.utils.embedding_functions import OpenAIEmbeddingFunction
from scenarios import URL, run


def embeddings():
    function = OpenAIEmbeddingFunction(api_key="none", api_base=f"{URL}/v1", model_name="embed")
    collection = chromadb.EphemeralClient().create_collection("texts", embedding_function=function)
    collection.add(ids=["1", "2"], documents=["A ship sails.", "A cat sleeps."])
    assert collection.query(query_texts=["A cat sleeps."], n_results=1)["ids"] == [["2"]]


run(embeddings)
