"""Calls for asyncio: on a thread, and ended when their task is cancelled."""

from __future__ import annotations

from typing import AsyncIterator, Callable, Generic, Iterator, Protocol, TypeVar, cast

from . import _heed

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


async def on_thread(function: Callable[[], T]) -> T:
    """Calls a function on a thread of the event loop. What it computes ends when the task is cancelled."""
    import asyncio  # half of the time that `import heed` may take
    import contextvars

    cancellation = _heed.Cancellation()
    context = contextvars.copy_context()
    try:
        loop = asyncio.get_running_loop()
        return cast(T, await loop.run_in_executor(None, lambda: context.run(cancellation.run, function)))
    except asyncio.CancelledError:
        cancellation.cancel()
        raise


class Stream(Protocol[T_co]):
    """An iterator that can be closed early."""

    def __iter__(self) -> Iterator[T_co]: ...
    def __next__(self) -> T_co: ...
    def close(self) -> None: ...


class AsyncStream(AsyncIterator[T], Generic[T]):
    """The parts of a stream, each computed on a thread."""

    def __init__(self, begin: Callable[[], Stream[T]]) -> None:
        self._begin = begin
        self._stream: Stream[T] | None = None

    def __aiter__(self) -> AsyncStream[T]:
        return self

    async def __anext__(self) -> T:
        end = object()

        def step() -> object:
            if self._stream is None:
                self._stream = self._begin()
            return next(self._stream, end)

        part = await on_thread(step)
        if part is end:
            raise StopAsyncIteration
        return cast(T, part)

    async def aclose(self) -> None:
        """Ends the output early."""
        if self._stream is not None:
            self._stream.close()
