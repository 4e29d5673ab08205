#!/usr/bin/env python3
"""The `openai` Python client against heed serve, with the validation of every answer.

    pip install openai
    tests/judges/serving/openai_client.py HEED CHAT_MODEL EMBEDDING_MODEL

CHAT_MODEL has a chat template (SmolLM2-135M-Instruct), EMBEDDING_MODEL is all-MiniLM-L6-v2 or the like. Strict
validation refuses two things that OpenAI's own API answers as well: `finish_reason: null` in the parts of a text
completion, and embeddings in base64, which the client asks for by itself and decodes after the validation. These two
are checked without it."""

import asyncio
import pathlib
import sys
import tempfile

import openai

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
from load.server import Server  # noqa: E402

HELLO = [{"role": "user", "content": "Hello!"}]
TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]
failed = passed = 0


def check(name, condition):
    global failed, passed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print(f"failed: {name}")


def raises(kind, code, call):
    """Whether a call raises this error with this code."""
    try:
        call()
    except kind as error:
        return error.code == code
    return False


def completions(strict, plain):
    one = strict.completions.create(model="chat", prompt="The sea", max_tokens=8, logprobs=2, n=2)
    check("n outputs", [choice.index for choice in one.choices] == [0, 1])
    check("logprobs of each token", len(one.choices[0].logprobs.top_logprobs) == 8)
    check("usage", (one.usage.completion_tokens, one.usage.prompt_tokens) == (16, 4))
    same = strict.completions.create(model="chat", prompt="The sea", max_tokens=8)
    check("greedy outputs are the same", one.choices[0].text == one.choices[1].text == same.choices[0].text)
    parts = plain.completions.create(model="chat", prompt="The sea", max_tokens=8, stream=True)
    check("a stream is the answer in parts", "".join(e.choices[0].text for e in parts) == same.choices[0].text)
    seeds = [strict.completions.create(model="chat", prompt="The sea", max_tokens=12, temperature=1.5, seed=seed)
             .choices[0].text for seed in (1, 1, 2)]
    check("the seed decides", seeds[0] == seeds[1] != seeds[2])
    token = "a" + same.choices[0].text[1:4]
    stopped = strict.completions.create(model="chat", prompt="The sea", max_tokens=8, stop=[token[1:]])
    check("stop strings", stopped.choices[0].finish_reason == "stop" and token[1:] not in stopped.choices[0].text)


def chats(strict):
    answer = strict.chat.completions.create(model="chat", messages=HELLO, max_tokens=8, logprobs=True, top_logprobs=3)
    choice = answer.choices[0]
    check("finish_reason length", choice.finish_reason == "length")
    check("top_logprobs", [len(one.top_logprobs) for one in choice.logprobs.content] == [3] * 8)
    check("tokens are the text", "".join(one.token for one in choice.logprobs.content) == choice.message.content)
    events = list(strict.chat.completions.create(model="chat", messages=HELLO, max_tokens=8, stream=True, logprobs=True,
                                                 top_logprobs=3, stream_options={"include_usage": True}))
    text = "".join(e.choices[0].delta.content or "" for e in events if e.choices)
    check("a stream is the answer in parts", text == choice.message.content)
    logprobs = [one for e in events if e.choices and e.choices[0].logprobs for one in e.choices[0].logprobs.content]
    check("with the same log-probabilities", logprobs == choice.logprobs.content)
    check("and the same usage", events[-1].usage == answer.usage)
    banned = choice.logprobs.content[0].token
    first = strict.chat.completions.create(model="chat", messages=HELLO, max_tokens=1, logit_bias={"19556": -100})
    check("logit_bias", first.choices[0].message.content != banned)
    with_tools = strict.chat.completions.create(model="chat", messages=HELLO, tools=TOOLS, max_tokens=8)
    check("tools are part of the prompt", with_tools.usage.prompt_tokens > answer.usage.prompt_tokens)
    many = strict.chat.completions.create(model="chat", messages=HELLO, max_tokens=8, n=3, temperature=1.2)
    check("n answers differ when they are sampled", len({one.message.content for one in many.choices}) > 1)


def embeddings(strict, plain):
    floats = strict.embeddings.create(model="embed", input=["a ship", "b"], encoding_format="float")
    check("a list has an embedding each", [one.index for one in floats.data] == [0, 1])
    base64 = plain.embeddings.create(model="embed", input=["a ship", "b"])
    check("base64 has the same numbers", all(
        abs(x - y) < 1e-7 for one, two in zip(floats.data, base64.data) for x, y in zip(one.embedding, two.embedding)))
    short = strict.embeddings.create(model="embed", input="a ship", dimensions=5, encoding_format="float")
    check("dimensions", len(short.data[0].embedding) == 5)


def errors(strict, server):
    check("BadRequestError", raises(openai.BadRequestError, None, lambda: strict.completions.create(
        model="chat", prompt="a", max_tokens=-1)))
    check("context_length_exceeded", raises(openai.BadRequestError, "context_length_exceeded", lambda: (
        strict.completions.create(model="chat", prompt="a " * 20000))))
    check("NotFoundError", raises(openai.NotFoundError, "model_not_found", lambda: strict.completions.create(
        model="absent", prompt="a")))
    check("InternalServerError for a deadline", raises(openai.InternalServerError, "deadline_exceeded", lambda: (
        strict.completions.create(model="chat", prompt="a", max_tokens=4000, extra_headers={"X-Request-Timeout": "0.2"}))))
    keyless = openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="wrong", max_retries=0)
    check("AuthenticationError", raises(openai.AuthenticationError, "invalid_api_key", lambda: keyless.models.list()))
    check("APITimeoutError", raises_timeout(strict))


def raises_timeout(strict):
    try:
        strict.with_options(timeout=0.2).completions.create(model="chat", prompt="a", max_tokens=4000)
    except openai.APITimeoutError:
        return True
    return False


async def many_at_once(client):
    answers = await asyncio.gather(*(client.chat.completions.create(model="chat", messages=HELLO, max_tokens=16)
                                     for _ in range(32)))
    check("32 at once are the same", len({one.choices[0].message.content for one in answers}) == 1)
    left = await client.chat.completions.create(model="chat", messages=HELLO, max_tokens=4000, stream=True)
    async for _ in left:
        break
    await left.close()
    refused = await asyncio.gather(*(client.chat.completions.create(
        model="chat", messages=HELLO, max_tokens=200) for _ in range(300)), return_exceptions=True)
    kinds = {type(one).__name__ for one in refused}
    check(f"RateLimitError when too much waits: {kinds}", kinds == {"ChatCompletion", "RateLimitError"})


def main():
    heed, chat, embed = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        keys = pathlib.Path(folder) / "keys"
        keys.write_text("secret\n")
        keys.chmod(0o600)
        with Server(heed, {"chat": chat, "embed": embed}, 2, settings={"api_key_file": str(keys)},
                    queued_requests=100) as server:
            options = {"base_url": f"http://127.0.0.1:{server.port}/v1", "api_key": "secret", "max_retries": 0}
            strict = openai.OpenAI(**options, _strict_response_validation=True)
            plain = openai.OpenAI(**options)
            check("models", [one.id for one in strict.models.list()] == ["chat", "embed"])
            check("one model", strict.models.retrieve("embed").id == "embed")
            completions(strict, plain)
            chats(strict)
            embeddings(strict, plain)
            errors(strict, server)
            asyncio.run(many_at_once(openai.AsyncOpenAI(**options, _strict_response_validation=True)))
    print(f"openai {openai.__version__}: {passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
