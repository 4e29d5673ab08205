"""What belongs to the process that made it."""

from __future__ import annotations

from typing import Any


class OfOneProcess:
    """Its weights, threads or sockets are not copied by pickle: multiprocessing raises a TypeError that says so."""

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(f"a heed.{type(self).__name__} cannot be sent to another process: make one there")
