"""Model.encode(): the arguments of sentence-transformers, each honoured or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, cast

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from .options import EncodeOptions

OUTPUTS = ("sentence_embedding", "token_embeddings")
PRECISIONS = ("float32", "int8", "uint8", "binary", "ubinary")


def check(output_value: object, precision: object, device: object, gpu: str, batch_size: object) -> None:
    """Refuses what heed cannot do."""
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"batch_size is {batch_size!r}, expected an integer of at least 1")
    if output_value not in OUTPUTS:
        raise ValueError(f"output_value is {output_value!r}, expected one of {', '.join(OUTPUTS)}")
    if output_value == "token_embeddings" and precision != "float32":
        raise ValueError(f"precision is {precision!r}; vectors of tokens are float32")
    if precision not in PRECISIONS:
        raise ValueError(f"precision is {precision!r}, expected one of {', '.join(PRECISIONS)}")
    have = "cuda" if gpu else "cpu"
    if device is not None and str(device).split(":")[0] != have:
        raise ValueError(
            f"device is {str(device)!r}, the model computes on {have!r}: heed.load(..., device=) chooses where")


#: Arguments of sentence-transformers without a use here, and what there is instead.
UNUSED = {
    "pool": "heed computes with threads, load(..., threads=), not with a pool of processes",
    "chunk_size": "it divides texts among processes; heed computes with threads, load(..., threads=)",
    "task": 'encode_query(), encode_document() and embed(..., task="query") choose the prompt of a task',
}


def check_unused(arguments: Mapping[str, object]) -> None:
    """Refuses those of UNUSED that are not None."""
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"{name} is given, expected None: {UNUSED[name]}")


def in_precision(vectors: NDArray[numpy.float32], precision: str, ranges: Any = None) -> NDArray[Any]:
    """Vectors in another precision, as quantize_embeddings() of sentence-transformers makes them."""
    import numpy

    if precision == "float32":
        return vectors
    if precision.endswith("int8"):
        rows = numpy.atleast_2d(vectors)
        if ranges is None:
            some = rows if rows.size else numpy.zeros((1, rows.shape[-1]))
            ranges = numpy.stack([some.min(axis=0), some.max(axis=0)])
        ranges = numpy.asarray(ranges, dtype=numpy.float32)
        if ranges.shape != (2, rows.shape[-1]):
            raise ValueError(f"ranges has the shape {ranges.shape}, expected {(2, rows.shape[-1])}")
        steps = (ranges[1] - ranges[0]) / numpy.float32(255)
        numbers = numpy.clip(numpy.floor((vectors - ranges[0]) / numpy.where(steps == 0, 1, steps)), 0, 255)
        is_signed = precision == "int8"
        scaled: NDArray[Any] = (numbers - 128).astype(numpy.int8) if is_signed else numbers.astype(numpy.uint8)
        return scaled
    bits = numpy.packbits(vectors > 0, axis=-1)
    return bits if precision == "ubinary" else (bits.astype(numpy.int16) - 128).astype(numpy.int8)


def with_prompt(name: str, arguments: EncodeOptions) -> EncodeOptions:
    """Arguments of encode() with a prompt by its name, unless they have one."""
    if arguments.get("prompt") is None and arguments.get("prompt_name") is None:
        return {**arguments, "prompt_name": name}
    return arguments


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
