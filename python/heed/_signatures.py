"""Signatures and docstrings at run time that have the options by name, as type checkers see them, and errors that say
which name may have been meant.

`import heed` must stay short, so it neither imports inspect nor options: whoever asks for a signature does.
"""

from __future__ import annotations

import functools
import os
import re
from typing import TYPE_CHECKING, Any, Callable, TypeVar, cast

if TYPE_CHECKING:
    import inspect

F = TypeVar("F", bound=Callable[..., Any])


class _LazySignature:
    """An inspect.Signature that is made when it is looked at. It says that it is one, as isinstance() asks."""

    def __init__(self, function: Callable[..., Any], make: Callable[[], inspect.Signature]) -> None:
        self._function, self._make = function, make

    def _made(self) -> inspect.Signature:
        function = self._function
        if function.__dict__.get("__signature__") is self:
            del function.__dict__["__signature__"]
            function.__dict__["__signature__"] = self._make()
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


def _signature_of(function: Callable[..., Any]) -> inspect.Signature:
    import inspect

    return inspect.signature(function).replace()  # a _LazySignature as what it makes


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


@functools.lru_cache(maxsize=None)
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


def _did_you_mean(error: Exception, function: Callable[..., Any], options: dict[str, Any]) -> None:
    """Adds to the text of an error the option, or the value of one, that is most like what was given."""
    import difflib
    import inspect

    unknown = re.search(r"unexpected keyword argument '(\w+)'$", str(error))
    wrong = re.search(r" is '(.*)', expected one of ([^;]*)$", str(error))
    if unknown and unknown[1] in options:
        given, known = unknown[1], list(inspect.signature(function).parameters)
    elif wrong:
        given, known = wrong[1], wrong[2].split(", ")
    else:
        return
    names = {name.lower(): name for name in known}
    for near in difflib.get_close_matches(given.lower(), names, n=1):
        error.args = (f"{error}; did you mean '{names[near]}'?",)


def suggesting(function: F) -> F:
    """The function with TypeErrors and ValueErrors that say what a misspelt option or value may have meant."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except (TypeError, ValueError) as error:
            _did_you_mean(error, call, options)
            raise

    return cast(F, call)


def takes(table: str) -> Callable[[F], F]:
    """Gives a function with **options the signature and the docstring of the options of a table; its errors suggest."""

    def decorate(function: F) -> F:
        call = suggesting(function)
        setattr(call, "__signature__", _LazySignature(call, lambda: _signature(function, table)))
        comments = _comments().get(table)
        if call.__doc__ is None or comments is None:  # python -OO; no source
            return call
        own = function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]
        lines = [f"{name}: {text}".rstrip(": ") for name, text in comments.items() if name not in own]
        call.__doc__ = "\n    ".join(
            [f"{_dedented(call.__doc__)}\n\nOptions, with what holds without them in brackets:\n", *lines])
        return call

    return decorate


def like(other: Callable[..., Any]) -> Callable[[F], F]:
    """Gives a function that passes its arguments on the signature and the docstring of the one that takes them."""

    def decorate(function: F) -> F:
        setattr(function, "__signature__", _LazySignature(function, lambda: _signature_of(other)))
        if function.__doc__ is not None and other.__doc__ is not None:  # python -OO
            function.__doc__ = f"{_dedented(function.__doc__)}\n\n{_dedented(other.__doc__)}"
        return function

    return decorate


def _dedented(text: str) -> str:
    return "\n".join(line.removeprefix("        ").removeprefix("    ") for line in text.splitlines())
