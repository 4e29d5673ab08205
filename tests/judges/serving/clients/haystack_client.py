# /// script
# dependencies = ["haystack-ai"]
# ///
from haystack.components.embedders import OpenAITextEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from haystack.utils import Secret
from scenarios import URL, run

OPTIONS = {"api_base_url": f"{URL}/v1", "api_key": Secret.from_token("none")}
MESSAGES = [ChatMessage.from_user("Say hello.")]


def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


def chat():
    model = OpenAIChatGenerator(model="chat", generation_kwargs={"max_tokens": 20}, **OPTIONS)
    assert model.run(MESSAGES)["replies"][0].text


def stream():
    parts = []
    OpenAIChatGenerator(model="chat", streaming_callback=parts.append, generation_kwargs={"max_tokens": 20}, **OPTIONS).run(MESSAGES)
    assert parts


def forced_tool():
    model = OpenAIChatGenerator(model="chat", tools=[create_tool_from_function(weather)],
                                generation_kwargs={"tool_choice": "required", "max_tokens": 300}, **OPTIONS)
    assert model.run(MESSAGES)["replies"][0].tool_calls[0].tool_name == "weather"


def embeddings():
    assert OpenAITextEmbedder(model="embed", **OPTIONS).run("a")["embedding"]


run(chat, stream, forced_tool, embeddings)
