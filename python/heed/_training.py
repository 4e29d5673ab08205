"""heed.train(), heed.quantize() and heed.convert()."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence

from . import _heed

if TYPE_CHECKING:
    from .options import AdapterOptions, HubOptions, Path, WeightType


def _assignment(key: object, value: object) -> str:
    """section.key=value, as TOML."""
    if not isinstance(key, str):
        raise TypeError(f"a name in settings has the type {type(key).__name__}, expected str")
    return f"{key}={_toml(value)}"


def _toml(value: object) -> str:
    """A value as TOML; all but tables look like JSON."""
    if isinstance(value, os.PathLike):
        return json.dumps(os.fspath(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    return json.dumps(value)


def train(
    config: Path | None = None,
    *,
    out: Path = "model",
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    resume: bool = False,
    on_step: Callable[[_heed.TrainStep], object] | None = None,
    on_validation: Callable[[_heed.ValidationRecord], object] | None = None,
    on_log: Callable[[str], object] | None = None,
    threads: int | None = None,
    hub: HubOptions | None = None,
) -> _heed.TrainResult:
    """Trains a model, or an adapter of one, as `heed train` does, in the directory `out`.

    The configuration is a preset, then the TOML file `config`, then `settings`: {"run.minutes": 10, "data.text":
    "corpus.txt"}; a list of tables is a list of dicts: {"data.corpora": [{"tsv": "a.tsv", "weight": 2}]}. The functions are called on the calling thread. When one of them raises, and on Ctrl-C, the run saves
    a checkpoint and ends; with `resume` it continues to the same bits. Raises Error on a wrong configuration, on texts
    that are missing or damaged, and when training diverges.
    """
    if settings is not None and not isinstance(settings, Mapping):
        raise TypeError(f"settings has the type {type(settings).__name__}, expected a dict")
    for name, function in (("on_step", on_step), ("on_validation", on_validation), ("on_log", on_log)):
        if function is not None and not callable(function):
            raise TypeError(f"{name} has the type {type(function).__name__}, expected a function")
    options: dict[str, Any] = {
        "out": out,
        "preset": preset,
        "assignments": [_assignment(key, value) for key, value in (settings or {}).items()],
        "resume": resume,
        "threads": threads,
        "hub": hub,
    }
    if config is not None:
        with open(os.fspath(config), encoding="utf-8") as file:
            options["config"] = file.read()
        options["config_name"] = os.fspath(config)
    return _heed.train(options, on_step, on_validation, on_log)


def quantize(
    source: Path,
    target: Path,
    weights: WeightType = "q8_0",
    *,
    calibration: Path | tuple[Path, Path] | None = None,
    held_out: Path | tuple[Path, Path] | None = None,
    threads: int | None = None,
    hub: HubOptions | None = None,
) -> _heed.QuantizeResult:
    """Writes a quantised copy of a model to a new directory or GGUF file, as `heed quantize` does.

    `calibration` is a text on which the outputs shall change least, `held_out` one on which the loss of quality is
    measured; for an encoder-decoder each is a pair of files, sources and references. Calibration is GPTQ (Frantar et
    al. 2022). Raises Error when `target` exists or a file cannot be read or written.
    """
    options = {"weights": weights, "calibration": calibration, "held_out": held_out, "threads": threads, "hub": hub}
    return _heed.quantize(source, target, options)


def convert(
    source: Path,
    target: Path,
    weights: str | None = None,
    *,
    adapters: Sequence[Path | AdapterOptions] | None = None,
    base: Path | None = None,
    threads: int | None = None,
    hub: HubOptions | None = None,
) -> list[str]:
    """Writes a model directory or a GGUF file as a GGUF file if `target` ends with .gguf, otherwise as a directory, as
    `heed convert` does.

    `weights` is the type of the matrices in a GGUF file: f16 unless given, f32, bf16 or a block type; or of all weights
    in a directory: f32 unless given, f16 or bf16. `adapters` are added to the weights. With `base`, a model, `source`
    is a LoRA adapter of it, which is converted alone: f32 unless given, in a GGUF file also f16, bf16 or q8_0. Returns
    warnings about what the target leaves out. Raises Error when `target` exists, and when its format cannot say what
    the files say.
    """
    options = {"weights": weights, "adapters": adapters, "base": base, "threads": threads, "hub": hub}
    return _heed.convert(source, target, options)
