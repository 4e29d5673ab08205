"""The keyword options of heed's functions, for type checkers. The C++ headers say what each means."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal, Mapping, Sequence, TypedDict, Union

if TYPE_CHECKING:
    from ._model import Model

Texts = Union["list[str]", "tuple[str, ...]"]  # a str is a Sequence[str], too
Prompt = Union[str, Sequence[int]]
Prompts = Union["list[str]", "list[list[int]]", "list[str | list[int]]"]
Path = Union[str, "os.PathLike[str]"]
WeightType = Literal["f32", "bf16", "q8_0", "q6_K", "q5_1", "q5_0", "q5_K", "q4_1", "q4_0", "q4_K"]
Pooling = Literal["mean", "cls", "max", "pooler", "last"]
AttentionKind = Literal["encoder_self", "decoder_self", "cross"]


class AdapterOptions(TypedDict, total=False):
    """heed/adapter.h"""

    path: Path
    name: str
    scale: float


class HubOptions(TypedDict, total=False):
    """heed/hub.h"""

    endpoint: str
    cache: Path
    token: str
    offline: bool


class SpeculationOptions(TypedDict, total=False):
    """heed/load_options.h"""

    ngram: bool
    draft: Path
    draft_weights: WeightType


class LoadOptions(TypedDict, total=False):
    """heed/load_options.h; `threads` are those of an Executor of the model's own."""

    weights: WeightType | None
    compute: Literal["f32", "bf16", "int8"] | None
    cache: Literal["f32", "bf16", "int8"] | None
    random_weights: int | None
    rope_context: int | None
    adapters: Sequence[Path | AdapterOptions] | None
    speculation: SpeculationOptions | None
    threads: int | None
    hub: HubOptions | None


class ServedModel(LoadOptions, total=False):
    """ModelSource of heed/server.h: a `model` that is loaded, or the `path` of one and how it is loaded."""

    model: Model
    path: Path
    on_first_use: bool | None
    source_language: str | None
    target_language: str | None
    max_active_tokens: int | None
    max_active_requests: int | None
    max_cached_tokens: int | None
    max_prefill_tokens: int | None


class ServerOptions(TypedDict, total=False):
    """heed/server.h; `threads` compute, for models that the server loads, `model_memory` is in bytes."""

    host: str | None
    port: int | None
    threads: int | None
    api_keys: Sequence[str] | None
    cors_origins: Sequence[str] | None
    log_texts: bool | None
    model_memory: int | None
    queued_requests: int | None
    queued_tokens: int | None
    connections: int | None
    header_bytes: int | None
    body_bytes: int | None
    request_seconds: float | None
    idle_seconds: float | None
    header_seconds: float | None
    body_seconds: float | None
    write_seconds: float | None


class GenerateOptions(TypedDict, total=False):
    """heed/generation.h"""

    max_new_tokens: int | None
    repetition_penalty: float | None
    presence_penalty: float | None
    frequency_penalty: float | None
    logit_bias: Mapping[int, float] | None
    sample: bool | None
    temperature: float | None
    top_k: int | None
    top_p: float | None
    min_p: float | None
    seed: int | None
    stop: Sequence[str] | None
    end_tokens: Sequence[int] | None
    skip_special_tokens: bool | None
    top_log_probabilities: int | None
    batch_tokens: int | None


class SearchOptions(TypedDict, total=False):
    """heed/search.h; `beam` is short for `num_beams`."""

    beam: int | None
    num_beams: int | None
    n_best: int | None
    length_penalty: float | None
    max_new_tokens: int | None
    max_new_tokens_over_source: int | None
    scores: bool | None
    batch_tokens: int | None


class TranslateOptions(SearchOptions, total=False):
    """heed/translation.h"""

    source_language: str | None
    target_language: str | None
    alignments: bool | None


class EmbedOptions(TypedDict, total=False):
    """heed/embedding.h"""

    pooling: Pooling | None
    normalize: bool | None
    max_seq_length: int | None
    batch_tokens: int | None


class ClassifyOptions(TypedDict, total=False):
    """heed/classification.h"""

    max_seq_length: int | None
    batch_tokens: int | None


class ScoreOptions(TypedDict, total=False):
    """heed/score.h"""

    window: int | None
    stride: int | None


class AttentionOptions(TypedDict, total=False):
    """heed/attention.h"""

    target: str | None
    source_language: str | None
    target_language: str | None
    kind: AttentionKind | None
    layer: int | None
    head: int | None
    max_weights: int | None


class ChatOptions(GenerateOptions, total=False):
    """heed/chat.h, and how the answer is generated."""

    add_generation_prompt: bool | None
    control_tokens_in_messages: bool | None
    chat_template: str | None


class SessionOptions(TypedDict, total=False):
    """heed/session.h"""

    max_active_tokens: int | None
    max_active_requests: int | None
    max_prefill_tokens: int | None
    balance_prefill: bool | None
    max_cached_tokens: int | None
    reserved_tokens: int | None


class RequestOptions(GenerateOptions, total=False):
    """Request of heed/session.h; with an option of a search, outputs are searched for."""

    beam: int | None
    num_beams: int | None
    n_best: int | None
    length_penalty: float | None
    source_language: str | None
    target_language: str | None
    adapters: Sequence[str] | None
    number: int | None
