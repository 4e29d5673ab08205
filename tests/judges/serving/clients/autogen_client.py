# /// script
# dependencies = ["autogen-ext[openai]", "autogen-agentchat"]
# ///
from autogen_core.models import UserMessage
from autogen_core.tools import FunctionTool
from autogen_ext.models.openai import OpenAIChatCompletionClient
from scenarios import URL, run

INFO = {"vision": False, "function_calling": True, "json_output": True, "structured_output": True, "family": "unknown"}


def weather(city: str) -> str:
    return f"sunny in {city}"


def client():
    return OpenAIChatCompletionClient(model="chat", base_url=f"{URL}/v1", api_key="none", model_info=INFO, max_tokens=100)


MESSAGES = [UserMessage(content="Say hello.", source="user")]


async def chat():
    assert (await client().create(MESSAGES)).content


async def stream():
    assert [part async for part in client().create_stream(MESSAGES)][-1].content


async def forced_tool():
    answer = await client().create(MESSAGES, tools=[FunctionTool(weather, description="The weather of a city")], tool_choice="required")
    assert answer.content[0].name == "weather"


run(chat, stream, forced_tool)
