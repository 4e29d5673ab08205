# /// script
# dependencies = ["litellm"]
# ///
import litellm
from scenarios import MESSAGES, URL, WEATHER, run

CHAT = {"model": "openai/chat", "api_base": f"{URL}/v1", "api_key": "none"}


def chat():
    assert litellm.completion(messages=MESSAGES, max_tokens=8, **CHAT).choices[0].message.content


def stream():
    chunks = litellm.completion(messages=MESSAGES, max_tokens=8, stream=True, **CHAT)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


def forced_tool():
    answer = litellm.completion(messages=MESSAGES, tools=[WEATHER], tool_choice="required", max_tokens=100, **CHAT)
    assert answer.choices[0].message.tool_calls[0].function.name == "weather"


def responses():
    answer = litellm.responses(input="Say hello.", max_output_tokens=8, **CHAT)
    assert answer.output[-1].content[0].text


def text_completion():
    assert litellm.text_completion(prompt="The sea", max_tokens=4, **CHAT | {"model": "text-completion-openai/chat"}).choices[0].text


def embeddings():
    answer = litellm.embedding(input=["a", "b"], **CHAT | {"model": "openai/embed"})
    assert len(answer.data) == 2


run(chat, stream, forced_tool, responses, text_completion, embeddings)
