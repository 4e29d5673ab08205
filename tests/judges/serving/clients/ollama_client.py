# /// script
# dependencies = ["ollama"]
# ///
import json

import ollama
from scenarios import MESSAGES, URL, WEATHER, run

client = ollama.Client(host=URL)
OPTIONS = {"num_predict": 20, "temperature": 0.5, "num_ctx": 2048}


def chat():
    assert client.chat(model="chat:latest", messages=MESSAGES, options=OPTIONS).message.content


def stream():
    parts = list(client.chat(model="chat", messages=MESSAGES, options=OPTIONS, stream=True))
    assert "".join(part.message.content for part in parts) and parts[-1].done_reason


def generate():
    assert client.generate(model="chat", prompt="The sea", options=OPTIONS).response


def schema():
    schema = {"type": "object", "properties": {"age": {"type": "integer", "minimum": 0, "maximum": 99}}, "required": ["age"],
              "additionalProperties": False}
    answer = client.chat(model="chat", messages=MESSAGES, format=schema, options=OPTIONS | {"num_predict": 200})
    assert 0 <= json.loads(answer.message.content)["age"] <= 99


def tools_are_offered():
    assert client.chat(model="chat", messages=MESSAGES, tools=[WEATHER], options=OPTIONS).message.role == "assistant"


def embed():
    assert len(client.embed(model="embed", input=["a", "b"]).embeddings) == 2


def models():
    assert "chat" in [one.model for one in client.list().models] and client.show("chat").capabilities


run(chat, stream, generate, schema, tools_are_offered, embed, models)
