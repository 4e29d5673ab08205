# /// script
# dependencies = ["anthropic"]
# ///
import anthropic
from scenarios import MESSAGES, URL, WEATHER, run

client = anthropic.Anthropic(base_url=URL, api_key="none", max_retries=0)
CHAT = {"model": "chat", "messages": MESSAGES}
TOOL = {"name": "weather", "description": "The weather of a city", "input_schema": WEATHER["function"]["parameters"]}


def chat():
    answer = client.messages.create(max_tokens=8, system="Be brief.", **CHAT)
    assert answer.content[0].text and answer.usage.output_tokens <= 8


def stream():
    with client.messages.stream(max_tokens=8, **CHAT) as events:
        assert "".join(events.text_stream) and events.get_final_message().stop_reason


def forced_tool():
    tool = {"tools": [TOOL], "tool_choice": {"type": "tool", "name": "weather", "disable_parallel_tool_use": True}}
    answer = client.messages.create(max_tokens=100, **tool, **CHAT)
    [call] = [part for part in answer.content if part.type == "tool_use"]
    assert call.input["city"] in ("Paris", "Rome")
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "sunny"}]}
    messages = MESSAGES + [{"role": "assistant", "content": answer.content}, result]
    assert client.messages.create(model="chat", messages=messages, tools=[TOOL], max_tokens=8).content


def count_tokens():
    assert client.messages.count_tokens(**CHAT).input_tokens > 0


def errors():
    try:
        client.messages.create(max_tokens=8, model="none", messages=MESSAGES)
    except anthropic.NotFoundError as error:
        assert error.body["error"]["type"] == "not_found_error", error.body
    else:
        raise AssertionError("a model that does not exist answers")


run(chat, stream, forced_tool, count_tokens, errors)
