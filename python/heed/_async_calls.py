"""The functions of the module for asyncio: they compute on a thread, and end when their task is cancelled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _heed
from ._async import on_thread
from ._model import Model, load
from ._training import convert, distill, make_shortlist, quantize, train

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import LoadOptions, Path, WeightType


async def aload(path: Path, **options: Unpack[LoadOptions]) -> Model:
    """load() for asyncio."""
    return await on_thread(lambda: load(path, **options))


async def atrain(config: Path | None = None, **arguments: Any) -> _heed.TrainResult:
    """train() for asyncio. A cancelled run saves a checkpoint."""
    return await on_thread(lambda: train(config, **arguments))


async def aquantize(
    source: Path, target: Path, weights: WeightType = "q8_0", **arguments: Any
) -> _heed.QuantizeResult:
    """quantize() for asyncio."""
    return await on_thread(lambda: quantize(source, target, weights, **arguments))


async def aconvert(source: Path, target: Path, weights: str | None = None, **arguments: Any) -> list[str]:
    """convert() for asyncio."""
    return await on_thread(lambda: convert(source, target, weights, **arguments))


async def amake_shortlist(model: Path, file: Path, **arguments: Any) -> _heed.ShortlistResult:
    """make_shortlist() for asyncio."""
    return await on_thread(lambda: make_shortlist(model, file, **arguments))


async def adistill(teacher: Path, text: Path, out: Path, **arguments: Any) -> _heed.DistillResult:
    """distill() for asyncio. A cancelled call can be continued."""
    return await on_thread(lambda: distill(teacher, text, out, **arguments))
