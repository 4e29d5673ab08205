"""The scenarios of OpenAI's package, whose versions have the same interface."""
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel
from scenarios import MESSAGES, URL, WEATHER, run

client = OpenAI(base_url=f"{URL}/v1", api_key="none", max_retries=0)
TOOL = {"type": "function"} | WEATHER["function"]  # of a response


class City(BaseModel):
    name: str


def chat():
    answer = client.chat.completions.create(model="chat", messages=MESSAGES, max_tokens=8, user="me", store=True,
                                            metadata={"a": "b"}, reasoning_effort="low", service_tier="auto")
    assert answer.choices[0].message.content and answer.usage.completion_tokens <= 8


def stream():
    chunks = client.chat.completions.create(model="chat", messages=MESSAGES, max_tokens=8, stream=True,
                                            stream_options={"include_usage": True})
    chunks = list(chunks)
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) and chunks[-1].usage.total_tokens


async def asynchronous():
    own = AsyncOpenAI(base_url=f"{URL}/v1", api_key="none")
    answer = await own.chat.completions.create(model="chat", messages=MESSAGES, max_completion_tokens=4)
    assert answer.choices[0].finish_reason in ("stop", "length")


def forced_tool():
    messages = MESSAGES
    for _ in range(2):
        answer = client.chat.completions.create(model="chat", messages=messages, tools=[WEATHER], tool_choice="required",
                                                parallel_tool_calls=False, max_tokens=100)
        [call] = answer.choices[0].message.tool_calls
        assert call.function.name == "weather"
        messages = messages + [answer.choices[0].message, {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]


def structured_output():
    answer = client.chat.completions.parse(model="chat", messages=MESSAGES, response_format=City, max_tokens=300)
    assert isinstance(answer.choices[0].message.parsed, City) or answer.choices[0].finish_reason == "length"


def responses():
    answer = client.responses.create(model="chat", input="Say hello.", max_output_tokens=8, store=False, reasoning={"effort": "low"},
                                     include=["reasoning.encrypted_content"], previous_response_id=None)
    assert answer.output_text
    more = client.responses.create(model="chat", max_output_tokens=8,
                                   input=[{"role": "user", "content": "Hello."}] + answer.output + [{"role": "user", "content": "Again."}])
    assert more.output_text


def responses_with_a_tool():
    question = [{"role": "user", "content": "The weather in Rome?"}]
    answer = client.responses.create(model="chat", input=question, tools=[TOOL], tool_choice={"type": "function", "name": "weather"},
                                     parallel_tool_calls=False, max_output_tokens=100)
    [call] = [item for item in answer.output if item.type == "function_call"]
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}
    assert client.responses.create(model="chat", input=question + answer.output + [result], tools=[TOOL], tool_choice="none",
                                   max_output_tokens=8).output_text


def responses_stream():
    with client.responses.stream(model="chat", input="Say hello.", temperature=0) as events:
        kinds = [event.type for event in events]
        assert "response.output_text.delta" in kinds and events.get_final_response().output_text


def completions():
    answer = client.completions.create(model="chat", prompt=["The sea", "The sun"], max_tokens=4, logprobs=2, echo=True)
    assert len(answer.choices) == 2 and answer.choices[0].logprobs.tokens


def embeddings():
    answer = client.embeddings.create(model="embed", input=["a", "b"])
    assert len(answer.data) == 2 and isinstance(answer.data[0].embedding[0], float)


def models():
    assert "chat" in [one.id for one in client.models.list()] and client.models.retrieve("chat").id == "chat"


def run_all():
    run(chat, stream, asynchronous, forced_tool, structured_output, responses, responses_with_a_tool, responses_stream,
        completions, embeddings, models)
