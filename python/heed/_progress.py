"""Progress bars of long calls: tqdm's, which is imported when one is asked for, or plain ones without it."""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from typing import Any, Callable, Iterator, Sequence, TypeVar

T = TypeVar("T")
DownloadProgress = Callable[[str, int, int, int, int, bool], None]

# A part is large enough for full batches; results do not depend on it.
_INPUTS_OF_A_PART = 512


class _PlainBar:
    """What is drawn without tqdm: "acme/small: 3/12", on standard error, again at most ten times a second."""

    def __init__(self, total: int | None = None, desc: str = "", **_: Any) -> None:
        self.n, self.total, self._desc, self._drawn = 0, total, desc, 0.0

    def update(self, count: int) -> None:
        self.n += count
        now = time.monotonic()
        if now - self._drawn >= 0.1 or self.n == self.total:
            self._drawn = now
            sys.stderr.write(f"\r{self._desc}{': ' if self._desc else ''}{self.n}/{self.total}")
            sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\n")

    def __enter__(self) -> _PlainBar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _bar(**options: Any) -> Any:
    try:
        return importlib.import_module("tqdm.auto").tqdm(**options)
    except ModuleNotFoundError:
        return _PlainBar(**options)


@contextlib.contextmanager
def counted_bar() -> Iterator[Callable[[int, int], None]]:
    """A bar for a call that says how much it has done, of how much."""
    with contextlib.ExitStack() as stack:
        bars: list[Any] = []

        def show(done: int, total: int) -> None:
            if not bars:
                bars.append(stack.enter_context(_bar(total=total)))
            bars[0].update(done - bars[0].n)

        yield show


def in_parts(inputs: Sequence[Any], progress: bool, compute: Callable[[Sequence[Any], int], list[T]]) -> list[T]:
    """compute(inputs, 1), or, with a bar, part by part: compute(part, number of its first input)."""
    if not progress:
        return compute(inputs, 1)
    inputs = list(inputs)
    results: list[T] = []
    with _bar(total=len(inputs)) as bar:
        for first in range(0, len(inputs), _INPUTS_OF_A_PART):
            part = inputs[first : first + _INPUTS_OF_A_PART]
            results += compute(part, first + 1)
            bar.update(len(part))
    return results


@contextlib.contextmanager
def download_bar() -> Iterator[DownloadProgress]:
    """A function that draws the progress of a download; nothing is drawn before it is called."""
    bar: Any = None

    def show(model: str, have: int, total: int, files: int, total_files: int, waiting: bool) -> None:
        nonlocal bar
        if bar is None:
            bar = _bar(desc=model, unit="B", unit_scale=True)
        bar.total = total
        bar.update(have - bar.n)

    try:
        yield show
    finally:
        if bar is not None:
            bar.close()
