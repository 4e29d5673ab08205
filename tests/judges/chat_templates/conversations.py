"""Eight conversations, each a context as apply_chat_template() gives it to a template."""

TOOLS = [
    {"type": "function", "function": {
        "name": "get_weather", "description": "The weather at a place.\nToday's only.",
        "parameters": {"type": "object", "properties": {
            "city": {"type": "string", "description": "Name of the city"},
            "days": {"type": "integer", "enum": [1, 2, 3], "default": 1},
            "options": {"type": ["object", "null"], "properties": {"metric": {"type": "boolean"}}}},
            "required": ["city"]},
        "return": {"type": "string", "description": "A sentence"}}},
    {"type": "function", "function": {
        "name": "add", "description": "Adds \"two\" numbers <fast> & exactly",
        "parameters": {"type": "object", "properties": {
            "a": {"type": "number"}, "b": {"type": "array", "items": {"type": "number"}}}}}},
]


def context(messages, tools=None, **more):
    return {"messages": messages, "tools": tools, "documents": None, "add_generation_prompt": True,
            "bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>",
            **more}


def message(role, content, **more):
    return {"role": role, "content": content, **more}


def call(name, arguments, identity):
    return {"id": identity, "type": "function",
            "function": {"name": name, "arguments": arguments}}


CONVERSATIONS = {
    "system": context([message("system", "You are brief."), message("user", "Hi there")]),
    "tools": context([message("system", "Use tools."), message("user", "Weather in Oslo?")],
                     TOOLS),
    "tool results": context([
        message("user", "Weather in Oslo and 1+2?"),
        message("assistant", "", tool_calls=[
            call("get_weather", {"city": "Oslo", "days": 2, "options": {"metric": True}},
                 "abcdefgh1")]),
        message("tool", "{\"sky\": \"clear\", \"t\": -3.5}", name="get_weather",
                tool_call_id="abcdefgh1"),
        message("assistant", "Clear, -3.5.", tool_calls=[call("add", {"a": 1.0, "b": [2, None]},
                                                               "abcdefgh2")]),
        message("tool", "3", name="add", tool_call_id="abcdefgh2"),
        message("assistant", "It is 3."), message("user", "Thanks")], TOOLS),
    "thinking": context([
        message("user", "17 * 3?"),
        message("assistant", "<think>\n10*3 + 7*3\n</think>\n\n51",
                reasoning_content="10*3 + 7*3"),
        message("user", "And 18 * 3?"),
        message("assistant", "54", reasoning_content="one more 3", thinking="one more 3")],
        enable_thinking=True, reasoning_effort="high", add_generation_prompt=False),
    "empty": context([]),
    "unicode": context([
        message("system", "  Sprich Deutsch: äöüß ẞ \u00a0\u2028"),
        message("user", "Ça va? 漢字 😀 ﬁ \u0130 'quotes' \"and\" \\ \t\r\n </s><|im_end|> {{ x }}"),
        message("assistant", "Όλα ΚΑΛΑΣ"), message("user", "ǆ नमस्ते\n\n")]),
    "many turns": context(
        [message("user" if i % 2 == 0 else "assistant", f"turn {i} " * (i + 1)) for i in range(9)],
        enable_thinking=False, date_string="26 Jul 2024"),
    "parts": context([
        message("system", [{"type": "text", "text": "You see pictures."}]),
        message("user", [{"type": "image", "url": "a.png"}, {"type": "text", "text": "What is it? "},
                         {"type": "text", "text": "And why?"}]),
        message("assistant", [{"type": "text", "text": "A cat."}]),
        message("user", "Sure?")], add_generation_prompt=False),
}
