"""The functions of the module for asyncio: they compute on a thread, and end when their task is cancelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Coroutine, TypeVar

from ._async import on_thread
from ._model import load
from ._training import convert, distill, make_shortlist, quantize, train

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")
    T = TypeVar("T")


def _for_asyncio(function: Callable[P, T], note: str = "") -> Callable[P, Coroutine[Any, Any, T]]:
    async def call(*arguments: P.args, **options: P.kwargs) -> T:
        return await on_thread(lambda: function(*arguments, **options))

    call.__name__ = call.__qualname__ = f"a{function.__name__}"
    call.__doc__ = f"{function.__name__}() for asyncio.{note}"
    return call


aload = _for_asyncio(load)
atrain = _for_asyncio(train, " A cancelled run saves a checkpoint.")
aquantize = _for_asyncio(quantize)
aconvert = _for_asyncio(convert)
amake_shortlist = _for_asyncio(make_shortlist)
adistill = _for_asyncio(distill, " A cancelled call can be continued.")
