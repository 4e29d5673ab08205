"""heed.serve() and heed.Server."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from typing import TYPE_CHECKING, Any, Callable, Mapping, Union

from . import _heed
from ._model import Model
from ._process import OfOneProcess
from ._signatures import takes

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import Path, ServedModel, ServerOptions

    Served = Union[Model, Path, ServedModel]


def _source(name: str, served: object) -> dict[str, Any]:
    """A model as the extension takes it."""
    if isinstance(served, Model):
        return {"name": name, "model": served._model}
    if isinstance(served, (str, os.PathLike)):
        return {"name": name, "path": served}
    if not isinstance(served, Mapping):
        raise TypeError(f"the model {name!r} has the type {type(served).__name__}, expected a heed.Model or a path")
    model = served.get("model")
    return {**served, "name": name, "model": model._model if isinstance(model, Model) else model}


def _last_part(path: str) -> str:
    return os.path.basename(os.path.normpath(path))


def _sources(models: object) -> list[dict[str, Any]]:
    if isinstance(models, Model):
        return [_source(_last_part(models._model.name), models)]
    if isinstance(models, (str, os.PathLike)):
        return [_source(_last_part(os.fsdecode(models)), models)]
    if not isinstance(models, Mapping):
        raise TypeError(f"models has the type {type(models).__name__}, expected a dict, a heed.Model or a path")
    return [_source(name, served) for name, served in models.items()]


class _Log:
    """Calls a function for each request, until it raises: that ends wait(), and stop() raises it."""

    def __init__(self, function: Callable[[str], object], ended: threading.Event) -> None:
        self._function = function
        self._ended = ended
        self.failure: BaseException | None = None

    def __call__(self, line: str) -> None:
        if self.failure is not None:
            return
        try:
            self._function(line)
        except BaseException as failure:
            self.failure = failure
            self._ended.set()


class Server(OfOneProcess):
    """The server of `heed serve` in this process (docs/serving.md): OpenAI's API and others over HTTP, for models by
    name.

    `models` has for each name a Model, a path, or a dict of heed.options.ServedModel; one Model or path alone is served
    by the last part of its path. `port=0` chooses a free port. `log` is called with a line of JSON for each request, on
    a thread of the server, which waits for it.

    It serves from its construction to stop(), on threads of its own, and computes while Python does not. Signals stay
    Python's. A forked child does not serve.
    """

    @takes("ServerOptions")
    def __init__(
        self,
        models: Mapping[str, Served] | Model | Path,
        *,
        log: Callable[[str], object] | None = None,
        drain_seconds: float = 30.0,
        **options: Unpack[ServerOptions],
    ) -> None:
        if log is not None and not callable(log):
            raise TypeError(f"log has the type {type(log).__name__}, expected a function")
        self._drain_seconds = _seconds(drain_seconds)
        self._ended = threading.Event()
        self._lock = threading.RLock()
        self._log = _Log(log, self._ended) if log is not None else None
        self._host = str(options.get("host") or "127.0.0.1")
        self._server = _heed.Server(_sources(models), dict(options), self._log)
        _running.add(self)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"heed.Server({self.url!r})"

    @property
    def port(self) -> int:
        """The port that it listens on, also where the system chose it."""
        return self._server.port

    @property
    def url(self) -> str:
        """"http://127.0.0.1:8080"; the API of OpenAI is below `url + "/v1"`."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}"

    def reload(self, models: Mapping[str, Served] | Model | Path) -> None:
        """Serves these models from now on. Those that are served already from the same source stay loaded; others end
        when their requests have ended. No request is dropped."""
        with self._lock:
            self._server.reload(_sources(models))

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until another thread calls stop(), or `log` raises. Returns whether it has ended. Ctrl-C raises
        KeyboardInterrupt."""
        return self._ended.wait(timeout)

    def stop(self, drain_seconds: float | None = None) -> bool:
        """Accepts no more requests, completes those that are being answered, for at most `drain_seconds`, and ends.
        Returns whether all were completed. Raises what `log` has raised."""
        seconds = self._drain_seconds if drain_seconds is None else _seconds(drain_seconds)
        with self._lock:
            try:
                completed = self._server.stop(seconds)
            finally:
                self._ended.set()
                _running.discard(self)
        if self._log is not None and self._log.failure is not None:
            failure, self._log.failure = self._log.failure, None
            raise failure
        return completed

    def _forget(self) -> None:
        """In a forked child."""
        self._lock = threading.RLock()
        self._server.forget()
        self._ended.set()


_running: weakref.WeakSet[Server] = weakref.WeakSet()


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"drain_seconds has the type {type(value).__name__}, expected a number")
    if not 0 <= value <= 1e7:
        raise ValueError(f"drain_seconds is {value}, expected 0 to 10,000,000")
    return float(value)


@atexit.register
def _stop_all() -> None:
    """The threads of a server must not outlive the interpreter."""
    for server in list(_running):
        server.stop(0)


def _forget_all() -> None:
    for server in list(_running):
        server._forget()


os.register_at_fork(after_in_child=_forget_all)


@takes("ServerOptions")
def serve(
    models: Mapping[str, Served] | Model | Path,
    *,
    log: Callable[[str], object] | None = None,
    drain_seconds: float = 30.0,
    **options: Unpack[ServerOptions],
) -> None:
    """Serves until Ctrl-C, which raises KeyboardInterrupt once the requests that are being answered are completed. The
    arguments are those of Server."""
    with Server(models, log=log, drain_seconds=drain_seconds, **options) as server:
        server.wait()
