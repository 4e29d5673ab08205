# /// script
# dependencies = ["langchain-openai"]
# ///
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel
from scenarios import URL, WEATHER, run

OPTIONS = {"base_url": f"{URL}/v1", "api_key": "none"}
model = ChatOpenAI(model="chat", max_tokens=100, **OPTIONS)


class City(BaseModel):
    name: str


def chat():
    assert model.invoke("Say hello.").content


def stream():
    assert "".join(chunk.content for chunk in model.stream("Say hello."))


def batch():
    assert len(model.batch(["a", "b"])) == 2


def forced_tool():
    [call] = model.bind_tools([WEATHER], tool_choice="weather", parallel_tool_calls=False).invoke("Rome?").tool_calls
    assert call["name"] == "weather"


def structured_output():
    assert model.with_structured_output(City).invoke("A city, in JSON.")


def responses():
    assert ChatOpenAI(model="chat", max_tokens=20, use_responses_api=True, **OPTIONS).invoke("Say hello.").text


def embeddings():
    embedder = OpenAIEmbeddings(model="embed", check_embedding_ctx_length=False, **OPTIONS)
    assert len(embedder.embed_documents(["a", "b"])) == 2 and embedder.embed_query("a")


run(chat, stream, batch, forced_tool, structured_output, responses, embeddings)
