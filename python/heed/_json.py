"""Values and types as JSON."""

from __future__ import annotations

import json
from typing import Any, Mapping


def json_text(value: object, name: str) -> str:
    """Anything JSON, as JSON; a str is JSON already."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise ValueError(f"{name} is nested too deeply") from None


def _schema_of_type(value: Any) -> object:
    """The JSON Schema that pydantic has for a type, or for a TypeAdapter of one."""
    try:
        from pydantic import PydanticUserError, TypeAdapter
    except ImportError:
        raise TypeError(f"schema is {value!r}: a type needs the package pydantic") from None
    if isinstance(value, TypeAdapter):
        return value.json_schema()
    try:
        return TypeAdapter(value).json_schema()
    except PydanticUserError:
        raise TypeError(
            f"schema is {value!r}, expected a dict, JSON, or a type of which pydantic makes a JSON Schema"
        ) from None


def with_schema_text(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of generation whose `schema` is JSON."""
    schema = options.get("schema")
    if schema is None or isinstance(schema, str):
        return dict(options)
    if not isinstance(schema, (Mapping, bool)):
        schema = _schema_of_type(schema)
    return {**options, "schema": json_text(schema, "schema")}
