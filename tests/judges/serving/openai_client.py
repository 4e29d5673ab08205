#!/usr/bin/env python3
"""The `openai` Python client with strict validation of responses, sync and async, against heed serve.

    python3 -m venv venv && venv/bin/pip install openai
    venv/bin/python tests/judges/serving/openai_client.py HEED CHAT_MODEL EMBEDDING_MODEL

CHAT_MODEL is an instruction-tuned model, EMBEDDING_MODEL an encoder (tests/golden/encoders/embed-bert does).
"""
import asyncio
import inspect
import pathlib
import sys
import tempfile
import time
import traceback

import openai

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
from load.server import Server  # noqa: E402

MESSAGES = [{"role": "user", "content": "Name three colors."}]
SHORT = {"model": "chat", "messages": MESSAGES, "max_tokens": 8, "temperature": 0}
LENIENT = {"_strict_response_validation": False}
TOOLS = [{"type": "function", "function": {
    "name": "weather", "description": "The weather of a city",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]


async def models(client):
    listed = [model.id async for model in client.models.list()]
    assert sorted(listed) == ["chat", "embed"], listed


async def retrieve_model(client):
    assert (await client.models.retrieve("chat")).id == "chat"


async def completion(client):
    answer = await client.completions.create(model="chat", prompt="Once upon", max_tokens=6,
                                             temperature=0, logprobs=2)
    assert answer.usage.completion_tokens <= 6
    assert len(answer.choices[0].logprobs.tokens) == answer.usage.completion_tokens
    # Chunks before the last have no finish_reason, as OpenAI's; the strict client demands one.
    lenient = client.with_options(_extra_kwargs=LENIENT)
    stream = await lenient.completions.create(model="chat", prompt="Once upon", max_tokens=6,
                                              temperature=0, stream=True)
    text = "".join([c.choices[0].text async for c in stream if c.choices])
    assert text == answer.choices[0].text, (text, answer.choices[0].text)


async def chat(client):
    answer = await client.chat.completions.create(**SHORT)
    usage = answer.usage
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert answer.choices[0].finish_reason in ("stop", "length")


async def chat_stream(client):
    whole = await client.chat.completions.create(**SHORT)
    stream = await client.chat.completions.create(**SHORT, stream=True,
                                                  stream_options={"include_usage": True})
    chunks = [chunk async for chunk in stream]
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content, text
    assert not chunks[-1].choices and chunks[-1].usage == whole.usage, chunks[-1]


async def chat_tools(client):
    for choice in ("auto", "none"):
        answer = await client.chat.completions.create(**SHORT, tools=TOOLS, tool_choice=choice)
        assert answer.choices[0].finish_reason in ("stop", "length", "tool_calls")


async def chat_logprobs(client):
    answer = await client.chat.completions.create(**SHORT, logprobs=True, top_logprobs=3)
    content = answer.choices[0].logprobs.content
    assert len(content) == answer.usage.completion_tokens
    assert all(len(token.top_logprobs) == 3 and token.logprob <= 0 for token in content)


async def chat_n(client):
    answer = await client.chat.completions.create(**SHORT | {"temperature": 1}, n=3, seed=5)
    assert [choice.index for choice in answer.choices] == [0, 1, 2]


async def chat_stop(client):
    whole = (await client.chat.completions.create(**SHORT)).choices[0].message.content
    stop = whole[len(whole) // 2]
    answer = await client.chat.completions.create(**SHORT, stop=[stop])
    assert answer.choices[0].message.content == whole.split(stop)[0]
    assert answer.choices[0].finish_reason == "stop"


async def chat_seed(client):
    sampled = SHORT | {"temperature": 1, "seed": 7}
    texts = {(await client.chat.completions.create(**sampled)).choices[0].message.content
             for _ in range(3)}
    assert len(texts) == 1, texts


async def embeddings(client):
    texts = ["A cat", "A much longer text about dogs"]
    # base64 on the wire, which the strict client refuses before it decodes it.
    lenient = client.with_options(_extra_kwargs=LENIENT)
    encoded = await lenient.embeddings.create(model="embed", input=texts)
    floats = await client.embeddings.create(model="embed", input=texts, encoding_format="float")
    for one, other in zip(encoded.data, floats.data, strict=True):
        assert max(abs(a - b) for a, b in zip(one.embedding, other.embedding, strict=True)) < 1e-6
    small = await client.embeddings.create(model="embed", input="A cat", dimensions=8,
                                           encoding_format="float")
    assert len(small.data[0].embedding) == 8


async def expect(kind, call):
    try:
        await call
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


async def bad_request(client):
    error = await expect(openai.BadRequestError,
                         client.chat.completions.create(**SHORT | {"temperature": -1}))
    assert error.param == "temperature", error.param


async def not_found(client):
    await expect(openai.NotFoundError, client.chat.completions.create(**SHORT | {"model": "none"}))


async def authentication(client):
    wrong = client.with_options(api_key="wrong")
    await expect(openai.AuthenticationError, wrong.chat.completions.create(**SHORT))


async def rate_limit(client):
    long = SHORT | {"max_tokens": 100}
    calls = [client.chat.completions.create(**long) for _ in range(24)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    refused = [a for a in answers if isinstance(a, Exception)]
    assert refused and len(refused) < len(answers), f"{len(refused)} of {len(answers)} refused"
    for error in refused:
        assert isinstance(error, openai.RateLimitError), repr(error)
        assert int(error.response.headers["retry-after"]) > 0


async def leave_a_stream(client):
    stream = await client.chat.completions.create(**SHORT | {"max_tokens": 500}, stream=True)
    async for _ in stream:
        break
    await stream.close()
    await client.chat.completions.create(**SHORT)


async def timeout(client):
    hurried = client.with_options(timeout=0.02)
    await expect(openai.APITimeoutError,
                 hurried.chat.completions.create(**SHORT | {"max_tokens": 500}))
    await client.chat.completions.create(**SHORT)


CHECKS = [models, retrieve_model, completion, chat, chat_stream, chat_tools, chat_logprobs, chat_n, chat_stop,
          chat_seed, embeddings, bad_request, not_found, authentication, leave_a_stream,
          timeout]


class Awaited:
    """The sync client, with the async one's face: each call runs in a thread."""

    def __init__(self, inner):
        self.inner = inner

    def with_options(self, **options):
        return Awaited(self.inner.with_options(**options))

    def __getattr__(self, name):
        value = getattr(self.inner, name)
        return call_in_thread(value) if inspect.ismethod(value) else Awaited(value)


def call_in_thread(function):
    def call(*args, **options):
        return Answer(asyncio.to_thread(function, *args, **options))
    return call


class Answer:
    def __init__(self, coroutine):
        self.coroutine = coroutine

    def __await__(self):
        return self.value().__await__()

    async def value(self):
        result = await self.coroutine
        return Stream(result) if isinstance(result, openai.Stream) else result

    async def __aiter__(self):
        for item in await self.value():
            yield item


class Stream:
    def __init__(self, stream):
        self.stream = stream

    async def __aiter__(self):
        for item in self.stream:
            yield item

    async def close(self):
        self.stream.close()


async def judge(server, key, checks):
    options = {"base_url": f"http://127.0.0.1:{server.port}/v1", "api_key": key, "max_retries": 0,
               "timeout": 120, "_strict_response_validation": True}
    failed = 0
    for kind, client in (("sync", Awaited(openai.OpenAI(**options))),
                         ("async", openai.AsyncOpenAI(**options))):
        for check in checks:
            began = time.monotonic()
            try:
                await check(client)
                result = "passed"
            except Exception as error:  # a failure is a row of the table
                failed += 1
                where = traceback.extract_tb(error.__traceback__)[-1].lineno
                result = f"FAILED line {where}: {type(error).__name__}: {str(error)[:300]}"
            print(f"{kind:6} {check.__name__:16} {time.monotonic() - began:5.1f} s  {result}",
                  flush=True)
    return failed


def main():
    heed, chat_model, embedding_model = sys.argv[1:]
    print(f"openai {openai.__version__}")
    with tempfile.NamedTemporaryFile("w", suffix=".keys") as keys:
        keys.write("judge-key-0123456789\n")
        keys.flush()
        served = {"chat": chat_model, "embed": embedding_model}
        with KeyedServer(heed, served, 2, keys.name) as server:
            failed = asyncio.run(judge(server, "judge-key-0123456789", CHECKS))
    with Server(heed, served, 2, queued_requests=2) as server:
        failed += asyncio.run(judge(server, "none", [rate_limit]))
    print(f"{2 * (len(CHECKS) + 1) - failed} passed, {failed} failed, 0 skipped")
    raise SystemExit(failed > 0)


class KeyedServer(Server):
    """A server whose requests need a key."""

    def __init__(self, heed, models, threads, keys):
        super().__init__(heed, models, threads)
        self.config = f'api_key_file = "{keys}"\n' + self.config


if __name__ == "__main__":
    main()
