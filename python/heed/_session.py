"""Sessions, and streams of single requests."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Callable, Iterator, Sequence

from . import _heed
from ._json import with_schema_text
from ._process import OfOneProcess
from ._signatures import takes

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._model import Model
    from .options import RequestOptions, SessionOptions

OnDelta = Callable[[_heed.Delta], object]


class Session(OfOneProcess):
    """Generates for many requests at a time, step by step: requests join and leave at any step::

        session = heed.Session(model)
        session.add("Once upon a time", max_new_tokens=40)
        for delta in session:
            print(delta.request, delta.text)

    The output of a request depends neither on the other requests nor on the options of the session. One
    thread at a time may use a session.
    """

    @takes("SessionOptions")
    def __init__(self, model: Model, **options: Unpack[SessionOptions]) -> None:
        self._session = _heed.Session(model._model, dict(options))
        self._on_delta: dict[int, OnDelta] = {}
        self._kept: list[_heed.Delta] = []  # until step() returns them
        self._in_callback = False

    @takes("RequestOptions")
    def add(
        self,
        prompt: str | Sequence[int] | _heed.ChatPrompt,
        on_delta: OnDelta | None = None,
        **options: Unpack[RequestOptions],
    ) -> int:
        """Adds a request, which joins a later step, and returns its number. The output of a prompt that
        Model.chat_prompt() made is an answer. With `on_delta`, step() calls it with what is added to the output
        and does not return that; if it returns False, the request ends. Raises Error, and adds nothing, when the
        model cannot do what it asks or the prompt is longer than its context."""
        if on_delta is not None and not callable(on_delta):
            raise TypeError(f"on_delta has the type {type(on_delta).__name__}, expected a function")
        request = self._session.add(prompt, with_schema_text(options))
        if on_delta is not None:
            self._on_delta[request] = on_delta
        return request

    def step(self) -> list[_heed.Delta]:
        """Computes the next tokens of all running requests and returns what they add. An exception of an
        `on_delta` ends its request; it is raised when all others were called, and the next step returns what
        this one had to."""
        if self._in_callback:
            raise _heed.Error("step() was called from the function of a request")
        self._kept += self._session.step()
        if self._on_delta:
            self._call_functions()
        deltas, self._kept = self._kept, []
        return deltas

    def _call_functions(self) -> None:
        """Gives deltas to the functions of their requests; keeps the others."""
        failure: BaseException | None = None
        deltas, self._kept = deque(self._kept), []
        self._in_callback = True
        try:
            while deltas:
                delta = deltas.popleft()
                function = self._on_delta.get(delta.request)
                if function is None:
                    self._kept.append(delta)
                    continue
                try:
                    goes_on = function(delta) is not False
                except BaseException as error:  # a KeyboardInterrupt, too, ends the request
                    failure = failure or error
                    goes_on = False
                if not goes_on:
                    self.cancel(delta.request)
                elif not self._session.has(delta.request):
                    self._on_delta.pop(delta.request, None)
        finally:
            self._in_callback = False
            self._kept += deltas
        if failure is not None:
            raise failure

    def __iter__(self) -> Iterator[_heed.Delta]:
        """What steps add, until no request is left."""
        left = True
        while left:
            deltas = self.step()
            left = self.requests > 0
            yield from deltas

    def cancel(self, request: int) -> None:
        """Ends a request. Does nothing if it has ended."""
        self._on_delta.pop(request, None)
        self._session.cancel(request)

    def close(self) -> None:
        """Cancels all requests. Afterwards every function raises Error."""
        if self._in_callback:
            raise _heed.Error("close() was called from the function of a request")
        self._on_delta.clear()
        self._session.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def has(self, request: int) -> bool:
        """Whether a request runs or waits."""
        return self._session.has(request)

    @property
    def requests(self) -> int:
        """Requests that run or wait."""
        return self._session.requests

    @property
    def waiting_requests(self) -> int:
        """Requests that wait."""
        return self._session.waiting_requests

    @property
    def rows_in_use(self) -> int:
        """Rows of the kv cache in use by running requests and kept prefixes."""
        return self._session.rows_in_use

    @property
    def reused_tokens(self) -> int:
        """Prompt tokens that were not computed again, because their keys and values were kept."""
        return self._session.reused_tokens

    def clear_cached_tokens(self) -> None:
        """Forgets the keys and values of ended requests."""
        self._session.clear_cached_tokens()


class TextStream(OfOneProcess, Iterator[str]):
    """The output of one request while it is generated: whole code points. `generation` is the whole output
    once it has ended; of a search, `candidates` are."""

    def __init__(
        self,
        session: _heed.Session,
        prompt: str | Sequence[int] | _heed.ChatPrompt,
        options: dict[str, object],
    ) -> None:
        self.generation: _heed.Generation | None = None
        self.candidates: list[_heed.Candidate] | None = None
        self._session = session
        self._request = session.add(prompt, options)
        self._pieces: deque[str] = deque()
        self._open = True

    def __next__(self) -> str:
        while not self._pieces and self._open:
            for delta in self._session.step():
                self._take(delta)
        if not self._pieces:
            raise StopIteration
        return self._pieces.popleft()

    def _take(self, delta: _heed.Delta) -> None:
        text = delta.text
        if delta.error is not None:
            self.close()
            raise _heed.Error(delta.error)
        if delta.candidates is not None:
            self.candidates = delta.candidates
            text = delta.candidates[0].text if delta.candidates else ""
        if delta.generation is not None:
            self.generation = delta.generation
        if text:
            self._pieces.append(text)
        if not self._session.has(self._request):
            self._open = False

    def close(self) -> None:
        """Ends the output early."""
        if self._open:
            self._session.cancel(self._request)
        self._open = False
        self._pieces.clear()

    def __enter__(self) -> TextStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ChatStream(OfOneProcess, Iterator[_heed.ChatAnswer]):
    """The parts of an answer while it is generated. `answer` is what has come so far."""

    def __init__(self, prompt: _heed.ChatPrompt, text: TextStream) -> None:
        self.answer = _heed.ChatAnswer()
        self._reader = _heed.AnswerReader(prompt)
        self._text = text
        self._finished = False

    @property
    def generation(self) -> _heed.Generation | None:
        """How the answer was generated, once it has ended."""
        return self._text.generation

    def __next__(self) -> _heed.ChatAnswer:
        while not self._finished:
            piece = next(self._text, None)
            self._finished = piece is None
            part = self._reader.finish() if piece is None else self._reader.feed(piece)
            self.answer.add(part)
            if part:
                return part
        raise StopIteration

    def close(self) -> None:
        """Ends the answer early."""
        self._finished = True
        self._text.close()

    def __enter__(self) -> ChatStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
