"""Progress bars of long calls, drawn by tqdm, which is imported when one is asked for."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any, Callable, Iterator, Sequence, TypeVar

T = TypeVar("T")
DownloadProgress = Callable[[str, int, int, int, int, bool], None]

# A part is large enough for full batches; results do not depend on it.
_INPUTS_OF_A_PART = 512


def _tqdm(**options: Any) -> Any:
    return importlib.import_module("tqdm.auto").tqdm(**options)


def in_parts(inputs: Sequence[Any], progress: bool, compute: Callable[[Sequence[Any], int], list[T]]) -> list[T]:
    """compute(inputs, 1), or, with a bar, part by part: compute(part, number of its first input)."""
    if not progress:
        return compute(inputs, 1)
    inputs = list(inputs)
    results: list[T] = []
    with _tqdm(total=len(inputs)) as bar:
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
            bar = _tqdm(desc=model, unit="B", unit_scale=True)
        bar.total = total
        bar.update(have - bar.n)

    try:
        yield show
    finally:
        if bar is not None:
            bar.close()
