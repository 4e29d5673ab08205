"""Model.encode(): the arguments of sentence-transformers, each honoured or refused."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

PRECISIONS = ("float32", "binary", "ubinary")


def prompt_of(path: str | os.PathLike[str], prompt_name: str | None, prompt: str | None) -> str:
    """What encode() puts before each text, besides what heed itself puts there: the default prompt of the model."""
    file = os.path.join(path, "config_sentence_transformers.json")
    settings: dict[str, Any] = {}
    if os.path.exists(file):
        with open(file, encoding="utf-8") as source:
            settings = json.load(source)
    prompts = settings.get("prompts") or {}
    standard = prompts.get(settings.get("default_prompt_name") or "", "")
    if prompt is None and prompt_name is not None:
        if prompt_name not in prompts:
            names = ", ".join(sorted(prompts)) or "none"
            raise ValueError(f"prompt_name is {prompt_name!r}; the prompts of the model's files are: {names}")
        prompt = str(prompts[prompt_name])
    if prompt is None or prompt == standard:
        return ""
    if standard:
        raise ValueError(
            f"the model's files put {standard!r} before each text, which heed cannot replace by another prompt")
    return prompt


def check(output_value: object, precision: object, device: object, gpu: str, batch_size: object) -> None:
    """Refuses what heed cannot do."""
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"batch_size is {batch_size!r}, expected an integer of at least 1")
    if output_value != "sentence_embedding":
        raise ValueError(f"output_value is {output_value!r}; heed computes 'sentence_embedding' only")
    if precision not in PRECISIONS:
        raise ValueError(
            f"precision is {precision!r}, expected one of {', '.join(PRECISIONS)}; int8 and uint8 would depend on the "
            "other texts of a call")
    have = "cuda" if gpu else "cpu"
    if device is not None and str(device).split(":")[0] != have:
        raise ValueError(
            f"device is {str(device)!r}, the model computes on {have!r}: heed.load(..., device=) chooses where")


def finished(
    vectors: NDArray[numpy.float32], normalize: bool, truncate_dim: int | None, precision: str
) -> NDArray[Any]:
    """Vectors in fewer dimensions and in another precision, as sentence-transformers makes them."""
    import numpy

    if truncate_dim is not None:
        size = vectors.shape[-1]
        if isinstance(truncate_dim, bool) or not isinstance(truncate_dim, int) or not 1 <= truncate_dim <= size:
            raise ValueError(f"truncate_dim is {truncate_dim!r}, expected 1 to {size}")
        vectors = vectors[..., :truncate_dim]
        if normalize:
            lengths = numpy.linalg.norm(vectors, axis=-1, keepdims=True)
            vectors = vectors / numpy.maximum(lengths, numpy.float32(1e-12))
        vectors = numpy.ascontiguousarray(vectors)
    if precision == "float32":
        return vectors
    bits = numpy.packbits(vectors > 0, axis=-1)
    return bits if precision == "ubinary" else (bits.astype(numpy.int16) - 128).astype(numpy.int8)


def as_tensor(vectors: NDArray[Any]) -> Any:
    """A tensor of torch that shares the memory."""
    import importlib

    try:
        torch = importlib.import_module("torch")
    except ModuleNotFoundError as error:
        raise ImportError("convert_to_tensor needs torch, which is not installed") from error
    return torch.from_numpy(vectors)


def cosines(first: Any, second: Any) -> NDArray[numpy.float32]:
    """The cosine of each vector of `first` with each of `second`."""
    import numpy

    sides = []
    for name, vectors in (("first", first), ("second", second)):
        array = numpy.atleast_2d(numpy.asarray(vectors, dtype=numpy.float32))
        if array.ndim != 2:
            raise ValueError(f"{name} has {array.ndim} axes, expected a vector or a list of vectors")
        sides.append(array / numpy.maximum(numpy.linalg.norm(array, axis=1, keepdims=True), numpy.float32(1e-12)))
    if sides[0].shape[1] != sides[1].shape[1]:
        raise ValueError(f"the vectors have {sides[0].shape[1]} and {sides[1].shape[1]} elements")
    return cast("NDArray[numpy.float32]", sides[0] @ sides[1].T)
