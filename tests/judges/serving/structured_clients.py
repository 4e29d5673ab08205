#!/usr/bin/env python3
"""Clients that ask for a type and parse the answer, against heed serve: openai, instructor, pydantic-ai, langchain.

    python3 -m venv venv && venv/bin/pip install openai instructor 'pydantic-ai-slim[openai]' langchain-openai
    venv/bin/python tests/judges/serving/structured_clients.py HEED CHAT_MODEL [--tools]

CHAT_MODEL is an instruction-tuned model. However small it is, its answers are valid, since heed enforces the schema;
where a client asks for any JSON object, the answer is one. --tools also runs the modes that demand the call of a tool.
"""
import argparse
import importlib.metadata
import pathlib
import sys
import time
import traceback
from typing import Literal

import instructor
import openai
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, ConfigDict, Field
from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "bench"))
from load.server import Server  # noqa: E402

TEXT = "Describe a red cat that is 3 years old, in JSON."
SHORT_TEXT = 'Repeat this JSON: {"cat": "red"}'  # for any object: the model has to end it
MESSAGES = [{"role": "user", "content": TEXT}]
LIMITS = {"max_tokens": 1000, "temperature": 0}


class Toy(BaseModel):
    model_config = ConfigDict(extra="forbid")  # so that the answer has an end
    kind: Literal["ball", "mouse"]
    price: float = Field(ge=0, le=100, multiple_of=0.01)


class Cat(BaseModel):
    """A cat."""

    model_config = ConfigDict(extra="forbid")
    name: str = Field(pattern="^[A-Z][a-z]{1,10}$")
    colour: Literal["red", "black", "white"]
    age: int = Field(ge=0, le=30)
    toys: list[Toy] = Field(max_length=2)
    friend: str | None = Field(max_length=10)


class AnyObject(BaseModel):
    """Any JSON object."""

    model_config = ConfigDict(extra="allow")


class Judge:
    """The clients of one server; each function is a check."""

    def __init__(self, url):
        self.url = url
        self.openai = openai.OpenAI(**self.options(), _strict_response_validation=True)

    def options(self):
        return {"base_url": self.url, "api_key": "none", "max_retries": 0, "timeout": 300}

    def openai_chat_parse(self):
        answer = self.openai.chat.completions.parse(model="chat", messages=MESSAGES, response_format=Cat, **LIMITS)
        return answer.choices[0].message.parsed

    def openai_beta_chat_parse(self):
        chat = self.openai.beta.chat.completions
        return chat.parse(model="chat", messages=MESSAGES, response_format=Cat, **LIMITS).choices[0].message.parsed

    def openai_chat_stream(self):
        lenient = self.openai.with_options(_extra_kwargs={"_strict_response_validation": False})
        with lenient.chat.completions.stream(model="chat", messages=MESSAGES, response_format=Cat, **LIMITS) as stream:
            return stream.get_final_completion().choices[0].message.parsed

    def openai_responses_parse(self):
        answer = self.openai.responses.parse(model="chat", input=TEXT, text_format=Cat, max_output_tokens=1000,
                                             temperature=0)
        assert answer.text.format.type == "json_schema" and answer.text.format.strict, answer.text
        return answer.output_parsed

    def openai_guided_choice(self):
        answer = self.openai.chat.completions.create(model="chat", messages=MESSAGES, **LIMITS,
                                                     extra_body={"guided_choice": ["red", "blue"]})
        return answer.choices[0].message.content in ("red", "blue")

    def instructor(self, mode, kind, text=TEXT):
        client = instructor.from_openai(openai.OpenAI(**self.options()), mode=mode)
        return client.chat.completions.create(model="chat", messages=[{"role": "user", "content": text}],
                                              response_model=kind, max_retries=0, **LIMITS)

    def instructor_json(self):
        return self.instructor(instructor.Mode.JSON, AnyObject, SHORT_TEXT)

    def instructor_json_schema(self):
        return self.instructor(instructor.Mode.JSON_SCHEMA, Cat)

    def tools_instructor(self):
        return self.instructor(instructor.Mode.TOOLS, Cat)

    def pydantic_ai(self, output, kind=OpenAIChatModel, text=TEXT):
        provider = OpenAIProvider(openai_client=openai.AsyncOpenAI(**self.options()))
        agent = Agent(kind("chat", provider=provider), output_type=output, retries=0)
        return agent.run_sync(text, model_settings=LIMITS).output

    def pydantic_ai_native(self):
        return self.pydantic_ai(NativeOutput(Cat))

    def pydantic_ai_native_responses(self):
        return self.pydantic_ai(NativeOutput(Cat), OpenAIResponsesModel)

    def pydantic_ai_prompted(self):
        return self.pydantic_ai(PromptedOutput(AnyObject), text=SHORT_TEXT)

    def tools_pydantic_ai(self):
        return self.pydantic_ai(ToolOutput(Cat))

    def langchain(self, kind, method, text=TEXT):
        chat = ChatOpenAI(model="chat", **self.options(), **LIMITS)
        return chat.with_structured_output(kind, method=method).invoke(text)

    def langchain_json_schema(self):
        return self.langchain(Cat, "json_schema")

    def langchain_json_mode(self):
        return self.langchain(AnyObject, "json_mode", SHORT_TEXT)

    def tools_langchain(self):
        return self.langchain(Cat, "function_calling")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("heed")
    parser.add_argument("chat_model")
    parser.add_argument("--tools", action="store_true")
    arguments = parser.parse_args()
    for package in ("openai", "instructor", "pydantic-ai-slim", "langchain-openai", "pydantic"):
        print(package, importlib.metadata.version(package))
    prefixes = ("openai_", "instructor_", "pydantic_ai_", "langchain_") + (("tools_",) if arguments.tools else ())
    checks = [name for name in vars(Judge) if name.startswith(prefixes)]
    failed = 0
    with Server(arguments.heed, {"chat": arguments.chat_model}, 2) as server:
        judge = Judge(f"http://127.0.0.1:{server.port}/v1")
        for check in checks:
            began = time.monotonic()
            try:
                found = getattr(judge, check)()
                assert isinstance(found, (Cat, AnyObject)) or found is True, found
                result = f"passed: {str(found)[:100]}"
            except Exception as error:  # a failure is a row of the table
                failed += 1
                where = traceback.extract_tb(error.__traceback__)[-1].lineno
                result = f"FAILED line {where}: {type(error).__name__}: {str(error)[:300]}"
            print(f"{check:30} {time.monotonic() - began:5.1f} s  {result}", flush=True)
    print(f"{len(checks) - failed} passed, {failed} failed, 0 skipped")
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()
