"""schema=, white_space=, regex=, grammar= and choice=: what outputs must match."""

import asyncio
import enum
import json
import re
import warnings
from typing import Literal

import pytest
from conftest import make_decoder_of_bytes

import heed

LIMIT = {"max_new_tokens": 2000, "temperature": 1.5}
CONSTANT = {"const": ["a", {"b": None}]}
MESSAGES = [{"role": "user", "content": "x"}]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return heed.load(make_decoder_of_bytes(tmp_path_factory.mktemp("models") / "bytes"), random_weights=7)


def test_a_schema_is_a_dict_or_json(model):
    for schema in (CONSTANT, json.dumps(CONSTANT)):
        output = model.generate("x", schema=schema, **LIMIT)
        assert json.loads(output.text) == CONSTANT["const"] and output.finish_reason == "stop"
    with pytest.raises(heed.Error, match="no value satisfies the schema"):
        model.generate("x", schema=False)


def test_white_space_is_chosen(model):
    for white_space, text in (("compact", '["a",{"b":null}]'), ("spaced", '["a", {"b": null}]')):
        assert model.generate("x", schema=CONSTANT, white_space=white_space, **LIMIT).text == text
    with pytest.raises(ValueError, match="white_space is 'none', expected one of free, compact, spaced"):
        model.generate("x", schema=CONSTANT, white_space="none")
    with pytest.raises(heed.Error, match="white_space is compact without"):
        model.generate("x", regex="a", white_space="compact")


def test_other_forms(model):
    assert re.fullmatch("[0-9]{4}-[ab]", model.generate("x", regex="[0-9]{4}-[ab]", **LIMIT).text)
    assert model.generate("x", choice=["red", "blue"], **LIMIT).text in ("red", "blue")
    assert re.fullmatch("x[yz]", model.generate("x", grammar='root ::= "x" [yz]', **LIMIT).text)
    assert re.fullmatch("x[yz]", model.generate("x", grammar='start: "x" /[yz]/', **LIMIT).text)
    with pytest.raises(heed.Error, match="found 2"):
        model.generate("x", regex="a", choice=["b"])


def test_chats_streams_sessions_and_asyncio_have_them(model):
    options = {"schema": CONSTANT, "white_space": "compact", **LIMIT}
    text = '["a",{"b":null}]'
    assert model.chat(MESSAGES, **options).content == text
    assert "".join(part.content for part in model.chat(MESSAGES, stream=True, **options)) == text
    assert "".join(model.generate("x", stream=True, **options)) == text
    session = model.session()
    session.add("x", **options)
    assert "".join(delta.text for delta in session) == text
    assert asyncio.run(model.agenerate("x", **options)).text == text
    assert asyncio.run(model.achat(MESSAGES, **options)).content == text


def test_keywords_that_assert_nothing_are_warnings(model):
    schema = {"const": True, "title": "A", "colour": 1}
    with pytest.warns(UserWarning, match="assert nothing: colour$"):
        model.generate("x", schema=schema, **LIMIT)
    with pytest.warns(UserWarning, match="assert nothing: colour$"):
        model.session().add("x", schema=schema, **LIMIT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning):
            model.chat(MESSAGES, schema=schema, **LIMIT)
        model.chat(MESSAGES, schema={"const": True, "title": "A"}, **LIMIT)


class TestTypes:
    """Types of which pydantic makes a schema."""

    @pytest.fixture(autouse=True)
    def pydantic(self):
        return pytest.importorskip("pydantic")

    def test_a_model_reads_its_output(self, model, pydantic):
        class Cat(pydantic.BaseModel):
            name: str = pydantic.Field(pattern="^[a-z]{1,5}$")
            colour: Literal["red", "black"]
            mother: "Cat | None"

        for seed in range(5):
            output = model.generate("x", schema=Cat, seed=seed, **LIMIT)
            if output.finish_reason == "stop":
                assert Cat.model_validate_json(output.text).colour in ("red", "black")
        assert any(model.generate("x", schema=Cat, seed=seed, **LIMIT).finish_reason == "stop" for seed in range(5))

    def test_other_types(self, model, pydantic):
        class Colour(enum.Enum):
            RED = "red"
            BLUE = "blue"

        assert set(json.loads(model.generate("x", schema=list[Literal["a", "b"]], **LIMIT).text)) <= {"a", "b"}
        assert Colour(json.loads(model.generate("x", schema=Colour, **LIMIT).text))
        assert json.loads(model.generate("x", schema=pydantic.TypeAdapter(bool), **LIMIT).text) in (True, False)

    def test_what_is_no_schema_is_a_type_error(self, model):
        for schema in (3, object(), [1]):
            with pytest.raises(TypeError, match="schema is"):
                model.generate("x", schema=schema)
