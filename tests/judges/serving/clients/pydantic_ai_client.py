# /// script
# dependencies = ["pydantic-ai-slim[openai]"]
# ///
from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai import Agent, NativeOutput, ToolOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider
from scenarios import URL, run

provider = OpenAIProvider(base_url=f"{URL}/v1", api_key="none")
LIMIT = {"max_tokens": 200}


class City(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str = Field(max_length=20)


def chat():
    assert Agent(OpenAIChatModel("chat", provider=provider), model_settings=LIMIT).run_sync("Say hello.").output


async def stream():
    async with Agent(OpenAIChatModel("chat", provider=provider), model_settings=LIMIT).run_stream("Say hello.") as result:
        assert await result.get_output()


def tool_output():
    agent = Agent(OpenAIChatModel("chat", provider=provider), output_type=ToolOutput(City), model_settings=LIMIT)
    assert isinstance(agent.run_sync("A city.").output, City)


def native_output():
    agent = Agent(OpenAIChatModel("chat", provider=provider), output_type=NativeOutput(City), model_settings=LIMIT)
    assert isinstance(agent.run_sync("A city.").output, City)


def responses():
    assert Agent(OpenAIResponsesModel("chat", provider=provider), model_settings=LIMIT).run_sync("Say hello.").output


def responses_tool_output():
    agent = Agent(OpenAIResponsesModel("chat", provider=provider), output_type=ToolOutput(City), model_settings=LIMIT)
    assert isinstance(agent.run_sync("A city.").output, City)


run(chat, stream, tool_output, native_output, responses, responses_tool_output)
