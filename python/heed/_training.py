"""heed.train(), heed.distill(), heed.make_shortlist(), heed.quantize() and heed.convert()."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Callable, Literal, Mapping, Sequence

from . import _heed
from ._signatures import suggesting

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


@suggesting
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


@suggesting
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


@suggesting
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


@suggesting
def make_shortlist(
    model: Path,
    file: Path,
    *,
    source: Path,
    target: Path,
    alignments: Path | None = None,
    best: int = 50,
    frequent: int = 100,
    threads: int | None = None,
    hub: HubOptions | None = None,
) -> _heed.ShortlistResult:
    """Makes a lexical shortlist of a translator, as `heed shortlist` does, for load(..., shortlist=file).

    Line i of the file `target` is the translation of line i of `source`; `alignments` has links of their words, as
    0-0 1-2, which IBM Model 1 finds otherwise. `best` tokens of each token of the source, and the `frequent` most
    frequent ones, are kept, at most 100 of each. Raises Error when a file cannot be read or written.
    """
    options = {"source": source, "target": target, "alignments": alignments, "best": best, "frequent": frequent,
               "threads": threads, "hub": hub}  # fmt: skip
    return _heed.make_shortlist(model, file, options)


@suggesting
def distill(
    teacher: Path,
    text: Path,
    out: Path,
    *,
    test_source: Path | None = None,
    test_target: Path | None = None,
    num_beams: int | None = None,
    compute: Literal["f32", "bf16", "int8"] | None = None,
    drop: float | None = None,
    max_ratio: float | None = None,
    minutes: float | None = None,
    preset: str | None = None,
    settings: Mapping[str, Any] | None = None,
    int8_settings: Mapping[str, Any] | None = None,
    resume: bool = False,
    on_log: Callable[[str], object] | None = None,
    threads: int | None = None,
    hub: HubOptions | None = None,
) -> _heed.DistillResult:
    """Makes a small translator in the directory `out` that learns from the translator `teacher` what it makes of the
    sentences in the file `text`, as `heed distill` does. `num_beams` and `compute` are those of the teacher.

    `settings` and `int8_settings` are those of train(), for the student and for its last steps, which compute in int8.
    With `resume`, the work in `out` is continued, however it was ended. Raises Error on options out of range, on texts
    that cannot be read, and as train() does.
    """
    for name, mapping in (("settings", settings), ("int8_settings", int8_settings)):
        if mapping is not None and not isinstance(mapping, Mapping):
            raise TypeError(f"{name} has the type {type(mapping).__name__}, expected a dict")
    if on_log is not None and not callable(on_log):
        raise TypeError(f"on_log has the type {type(on_log).__name__}, expected a function")
    options = {
        "teacher": teacher,
        "text": text,
        "out": out,
        "test_source": test_source,
        "test_target": test_target,
        "num_beams": num_beams,
        "compute": compute,
        "drop": drop,
        "max_ratio": max_ratio,
        "minutes": minutes,
        "preset": preset,
        "assignments": [_assignment(key, value) for key, value in (settings or {}).items()],
        "int8_assignments": [_assignment(key, value) for key, value in (int8_settings or {}).items()],
        "resume": resume,
        "threads": threads,
        "hub": hub,
    }
    return _heed.distill(options, on_log)
