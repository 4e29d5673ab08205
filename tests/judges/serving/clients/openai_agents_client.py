# /// script
# dependencies = ["openai-agents"]
# ///
from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
from openai import AsyncOpenAI
from scenarios import URL, run


def client():
    return AsyncOpenAI(base_url=f"{URL}/v1", api_key="none")


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city[:20]}"


async def answer(model, **settings):
    agent = Agent(name="a", instructions="Be brief.", model=model, model_settings=ModelSettings(max_tokens=200, temperature=0, **settings),
                  tools=[weather] if settings else [], tool_use_behavior="stop_on_first_tool")
    result = await Runner.run(agent, "The weather in Rome?" if settings else "Say hello.", max_turns=2)
    assert result.final_output
    if settings:
        assert str(result.final_output).startswith("sunny"), result.final_output


async def chat():
    await answer(OpenAIChatCompletionsModel("chat", client()))


async def chat_with_a_tool():
    await answer(OpenAIChatCompletionsModel("chat", client()), tool_choice="weather", parallel_tool_calls=False)


async def responses():
    await answer(OpenAIResponsesModel("chat", client()))


async def responses_with_a_tool():
    await answer(OpenAIResponsesModel("chat", client()), tool_choice="weather", parallel_tool_calls=False)


async def stream():
    result = Runner.run_streamed(Agent(name="a", model=OpenAIResponsesModel("chat", client()), model_settings=ModelSettings(max_tokens=200, temperature=0)),
                                 "Say hello.")
    assert [event async for event in result.stream_events()] and result.final_output


run(chat, chat_with_a_tool, responses, responses_with_a_tool, stream)
