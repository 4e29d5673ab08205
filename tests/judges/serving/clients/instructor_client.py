# /// script
# dependencies = ["instructor"]
# ///
import instructor
from openai import OpenAI
from pydantic import BaseModel, ConfigDict, Field
from scenarios import MESSAGES, URL, run


class City(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str = Field(max_length=20)


def mode(one):
    client = instructor.from_openai(OpenAI(base_url=f"{URL}/v1", api_key="none"), mode=one)
    answer = client.chat.completions.create(model="chat", messages=MESSAGES, response_model=City, max_tokens=200, max_retries=1)
    assert isinstance(answer, City)


def tools():
    mode(instructor.Mode.TOOLS)


def json_schema():
    mode(instructor.Mode.JSON_SCHEMA)


run(tools, json_schema)
