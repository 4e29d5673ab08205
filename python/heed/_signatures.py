"""Signatures and docstrings at run time that have the options by name, as type checkers see them.

`import heed` takes 50 ms at most, so it neither imports inspect nor options: whoever asks for a signature does.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    import inspect


class _LazySignature:
    """An inspect.Signature that is made when it is looked at. It says that it is one, as isinstance() asks."""

    def __init__(self, function: Callable[..., Any], table: str) -> None:
        self._function, self._table = function, table

    def _made(self) -> inspect.Signature:
        function = self._function
        if function.__dict__.get("__signature__") is self:
            del function.__dict__["__signature__"]
            function.__dict__["__signature__"] = _signature(function, self._table)
        made: inspect.Signature = function.__dict__["__signature__"]
        return made

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._made())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made(), name)

    def __str__(self) -> str:
        return str(self._made())

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return self._made() == other

    def __hash__(self) -> int:
        return hash(self._made())


def _text_of(hint: Any) -> Any:
    """An annotation as it is written."""
    return getattr(hint, "__forward_arg__", hint)


def _signature(function: Callable[..., Any], table: str) -> inspect.Signature:
    """The function's own parameters and, in place of **options, those of the table by their names."""
    import inspect

    from . import options

    signature = inspect.signature(function)
    given = [one for one in signature.parameters.values() if one.kind != inspect.Parameter.VAR_KEYWORD]
    known = {one.name for one in given}
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_text_of(hint))
        for name, hint in getattr(options, table).__annotations__.items()
        if name not in known
    ]
    return signature.replace(parameters=given + added)


def _comments() -> dict[str, dict[str, str]]:
    """What options.py says of each option, by the class, with what it inherits; nothing where there is no source."""
    found: dict[str, dict[str, str]] = {}
    try:
        with open(os.path.join(os.path.dirname(__file__), "options.py"), encoding="utf-8") as source:
            lines = source.read().splitlines()
    except OSError:
        return found
    fields: dict[str, str] = {}
    for line in lines:
        if line.startswith("class "):
            name, _, rest = line[6:].partition("(")
            fields = found[name] = dict(found.get(rest.split(",")[0].split(")")[0], {}))
        elif line.startswith("    ") and line[4:5].isalpha():
            field, _, comment = line.partition("#:")
            fields[field.split(":")[0].strip()] = comment.strip()
    return found


def document(functions: dict[Callable[..., Any], str]) -> None:
    """Gives functions with **options the signatures and docstrings of the options of a table."""
    comments = _comments()
    for function, table in functions.items():
        setattr(function, "__signature__", _LazySignature(function, table))
        if function.__doc__ is None or table not in comments:  # python -OO; no source
            continue
        own = function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]
        lines = [f"{name}: {text}".rstrip(": ") for name, text in comments[table].items() if name not in own]
        body = "\n".join(line.removeprefix("        ").removeprefix("    ") for line in function.__doc__.splitlines())
        function.__doc__ = "\n    ".join([f"{body}\n\nOptions, with what holds without them in brackets:\n", *lines])
