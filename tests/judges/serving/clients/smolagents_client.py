# /// script
# dependencies = ["smolagents[openai]"]
# ///
from scenarios import URL, run
from smolagents import OpenAIModel, tool

model = OpenAIModel(model_id="chat", api_base=f"{URL}/v1", api_key="none", max_tokens=200, temperature=0)
MESSAGES = [{"role": "user", "content": [{"type": "text", "text": "Say hello."}]}]


@tool
def weather(city: str) -> str:
    """The weather of a city.

    Args:
        city: The city.
    """
    return "sunny"


def chat():
    assert model.generate(MESSAGES).content


def stream():
    assert "".join(delta.content or "" for delta in model.generate_stream(MESSAGES))


def required_tool():
    assert model.generate(MESSAGES, tools_to_call_from=[weather]).tool_calls[0].function.name == "weather"


run(chat, stream, required_tool)
