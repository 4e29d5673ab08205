"""The keyword options of heed's functions, with the units and defaults of those that are not given."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, Mapping, Sequence, TypedDict, Union

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._model import Model

Texts = Union["list[str]", "tuple[str, ...]"]  # a str is a Sequence[str], too
Prompt = Union[str, Sequence[int], "NDArray[Any]"]
Prompts = Union["list[str]", "list[list[int]]", "list[str | list[int]]", "list[NDArray[Any]]"]
Path = Union[str, "os.PathLike[str]"]
WeightType = Literal["f32", "bf16", "q8_0", "q6_K", "q5_1", "q5_0", "q5_K", "q4_1", "q4_0", "q4_K"]
Pooling = Literal["mean", "cls", "max", "pooler", "last", "mean_sqrt_len_tokens", "weightedmean"]
Schema = Union[Mapping[str, Any], bool, Any]  # a JSON Schema, a type, or pydantic's TypeAdapter
Glossary = Union[Mapping[str, Union[str, Sequence[str]]], Path]  # terms and targets, or a file
EmbedTask = Literal["query", "document"]
AttentionKind = Literal["encoder_self", "decoder_self", "cross"]


class AdapterOptions(TypedDict, total=False):
    """heed/adapter.h"""

    path: Path  #: of a directory, or OWNER/NAME of the hub
    name: str  #: by which a request chooses it
    scale: float  #: factor of what it adds [1]


class HubOptions(TypedDict, total=False):
    """heed/hub.h"""

    endpoint: str  #: else HF_ENDPOINT, else https://huggingface.co
    cache: Path  #: else HF_HUB_CACHE, else as huggingface_hub chooses it
    token: str  #: sent to the endpoint only; else HF_TOKEN
    offline: bool  #: use the cache alone; else HF_HUB_OFFLINE


class SpeculationOptions(TypedDict, total=False):
    """heed/load_options.h"""

    ngram: bool  #: drafts what followed the last tokens before (Saxena 2023)
    draft: Path  #: a smaller model with the same tokenizer, which drafts
    draft_weights: WeightType  #: of the draft, as `weights`


class LoadOptions(TypedDict, total=False):
    """heed/load_options.h; `threads` are those of an Executor of the model's own."""

    weights: WeightType | None  #: what matrices are converted to [as they are stored]
    compute: Literal["f32", "bf16", "int8"] | None  #: arithmetic [int8 if weights are quantised, else f32]
    cache: Literal["f32", "bf16", "int8"] | None  #: the type of cached keys and values
    device: str | None  #: "cpu", "gpu", "gpu:1" ["auto": a GPU that the model fits, else the CPU]
    random_weights: int | None  #: a seed: weights are initialised, not read
    rope_context: int | None  #: longest text in tokens, for scaled rotary positions
    weight_cache: Path | None  #: a local directory where processes share packed weights [None: not shared]
    shortlist: Path | None  #: a translator's lexical shortlist: only tokens likely for a source are computed
    adapters: Sequence[Path | AdapterOptions] | None  #: LoRA adapters, which apply together
    speculation: SpeculationOptions | None  #: speculative decoding (Leviathan et al. 2023)
    threads: int | None  #: 1 to 1024 [all processors]
    hub: HubOptions | None  #: how models of the hub are found


class ServedModel(LoadOptions, total=False):
    """ModelSource of heed/server.h: a `model` that is loaded, or the `path` of one and how it is loaded."""

    model: Model
    path: Path
    served_name: Sequence[str] | None  #: further names of it; "*": any that no model has
    on_first_use: bool | None
    source_language: str | None
    target_language: str | None
    embedding_ranges: Path | None  #: numpy.save() of [2, D]: how an embedder's int8 and uint8 vectors are scaled
    max_active_tokens: int | None
    max_active_requests: int | None
    max_cached_tokens: int | None
    max_prefill_tokens: int | None


class ServerOptions(TypedDict, total=False):
    """heed/server.h; `threads` compute, for models that the server loads, `model_memory` is in bytes."""

    host: str | None  #: an address, or "localhost" ["127.0.0.1"]
    port: int | None  #: 0: the system chooses one
    threads: int | None  #: that compute
    api_keys: Sequence[str] | None  #: requests need one of these; none: no key is needed
    cors_origins: Sequence[str] | None  #: whose pages may call the server
    log_texts: bool | None  #: with the bodies of requests
    log_health: bool | None  #: also requests to /health and /metrics [True]
    seed: int | None  #: of requests that have none; without it another one for each
    unknown_fields: Literal["ignore", "refuse"] | None  #: of requests ["ignore"]
    model_memory: int | None  #: bytes of the files of models that are loaded on first use; 0: no limit
    queued_requests: int | None  #: that may wait
    queued_tokens: int | None  #: of these
    connections: int | None  #: at a time
    header_bytes: int | None  #: of a request, at most
    body_bytes: int | None  #: of a request, at most
    request_seconds: float | None  #: of a request that says nothing else
    idle_seconds: float | None  #: between two requests of a connection
    header_seconds: float | None  #: from the first byte of a request to the last of its header
    body_seconds: float | None  #: in which its body arrives
    write_seconds: float | None  #: in which a client has to read 64 kB
    pending_bytes: int | None  #: of a stream that its client does not read, at most


class GenerateOptions(TypedDict, total=False):
    """heed/generation.h"""

    max_new_tokens: int | None  #: of each output; at least 1 [256]
    min_new_tokens: int | None  #: before as many no token ends an output; stop strings do [0]
    repetition_penalty: float | None  #: of tokens in prompt or output (Keskar et al. 2019) [1]
    presence_penalty: float | None  #: subtracted from logits of tokens in the output
    frequency_penalty: float | None  #: subtracted once per occurrence in the output
    logit_bias: Mapping[int, float] | None  #: added to the logits of tokens; -inf forbids one
    sample: bool | None  #: else greedy, unless one of the next four is set
    temperature: float | None  #: logits are divided by it; 0: greedy [1]
    top_k: int | None  #: from the k most probable tokens; 0: all [0]
    top_p: float | None  #: from the smallest set with this probability (Holtzman et al. 2020) [1]
    min_p: float | None  #: excludes tokens below min_p times the most probable [0]
    seed: int | None  #: of random numbers [1]
    schema: Schema | str | None  #: the output is JSON of it: a JSON Schema, or a type of which pydantic makes one
    white_space: Literal["free", "compact", "spaced"] | None  #: of that JSON ["free"]
    complete: bool | None  #: completes such an output within its limit, by the shortest valid text [False]
    free_log_probabilities: bool | None  #: over all tokens, not over those allowed [False]
    regex: str | None  #: the output matches it (ECMA-262) as a whole
    grammar: str | None  #: the output is derived by it: GBNF, which has "::=", or else Lark
    choice: Sequence[str] | None  #: the output is one of these
    stop: Sequence[str] | None  #: strings that end an output; not part of its text
    end_tokens: Sequence[int] | None  #: end an output, besides those of the model
    skip_special_tokens: bool | None  #: in the text of an output [True]
    top_log_probabilities: int | None  #: reports so many tokens at each place; -1: none [-1]
    batch_tokens: int | None  #: largest number of tokens of a batch; does not change results


class SearchOptions(TypedDict, total=False):
    """heed/search.h; `beam` is short for `num_beams`."""

    beam: int | None  #: short for `num_beams`
    num_beams: int | None  #: hypotheses kept, 1 to 256; 1: greedy [1; translate: 4]
    n_best: int | None  #: hypotheses returned, at most num_beams [1]
    length_penalty: float | None  #: alpha of Wu et al. 2016, equation 14 [0.6]
    max_new_tokens: int | None  #: of a translation [that of its source plus the next]
    max_new_tokens_over_source: int | None  #: in tokens [50]
    scores: bool | None  #: whether greedy search computes them
    batch_tokens: int | None  #: of a batch; does not change results


class TranslateOptions(SearchOptions, total=False):
    """heed/translation.h"""

    source_language: str | None  #: code of the model's tokenizer, such as 'eng_Latn'
    target_language: str | None  #: likewise
    via: str | None  #: translates into this language first, such as 'en'
    then: Model | None  #: the model of the second step [the same]
    alignments: bool | None  #: computes Candidate.alignment [False]
    glossary: Glossary | None  #: how terms must be translated: a dict or the path of a file
    do_not_translate: Texts | None  #: terms that stay as they are
    confidence: bool | None  #: computes Candidate.confidence and words [False]


class DocumentOptions(TranslateOptions, total=False):
    """heed/translation.h"""

    format: str | None  #: 'text', 'html', 'xml', 'markdown', 'srt', 'vtt', 'po' or 'xliff' ['text']
    sentence_language: str | None  #: whose abbreviations do not end sentences [the source's, or all]
    max_sentence_tokens: int | None  #: longer sentences are cut at clauses [as in the training, or 128]
    translate_placeholders: bool | None  #: whether URLs and the like are translated as words [False]
    keep_numbers: bool | None  #: whether numbers stay unchanged [False]


class EmbedOptions(TypedDict, total=False):
    """heed/embedding.h"""

    pooling: Pooling | None  #: how the states of tokens become one vector [mean]
    normalize: bool | None  #: to length 1 [False]
    prompt: str | None  #: before each text [the default prompt of the model's files]
    prompt_name: str | None  #: the same by its name in these files
    task: EmbedTask | None  #: 'query' or 'document': selects the prompt of that name
    dimensions: int | None  #: the first numbers of a vector [truncate_dim of the model's files, or all]
    max_seq_length: int | None  #: longer texts are truncated; tokens [those of the model's files]
    window: int | None  #: longer texts are read in windows of so many tokens, whose vectors are pooled [truncated]
    overlap: int | None  #: tokens that a window has in common with the one before [0]
    batch_tokens: int | None  #: of a batch; does not change results [512; on a GPU 16384]


class EncodeOptions(TypedDict, total=False):
    """Model.encode(), by the names of sentence-transformers"""

    prompt_name: str | None
    prompt: str | None
    batch_size: int
    show_progress_bar: bool | None
    output_value: str | None
    precision: str
    ranges: Any
    convert_to_numpy: bool
    convert_to_tensor: bool
    device: object
    normalize_embeddings: bool
    truncate_dim: int | None
    pool: None
    chunk_size: None
    task: None


class ClassifyOptions(TypedDict, total=False):
    """heed/classification.h"""

    max_seq_length: int | None  #: longer texts are truncated; tokens [those of the model's files]
    prompt: str | None  #: of rerank(): before the query, or the instruction [that of the model's files]
    batch_tokens: int | None  #: of a batch; does not change results [512; on a GPU 16384]


class ScoreOptions(TypedDict, total=False):
    """heed/score.h"""

    window: int | None  #: tokens; longer texts are scored in windows [the model's context length]
    stride: int | None  #: tokens from one window to the next [half the window]


class AttentionOptions(TypedDict, total=False):
    """heed/attention.h"""

    target: str | None  #: of an encoder-decoder [its greedy output]
    source_language: str | None  #: of a multilingual translator
    target_language: str | None  #: likewise
    kind: AttentionKind | None  #: [all]
    layer: int | None  #: counted from 0 [all]
    head: int | None  #: counted from 0 [all]
    max_weights: int | None  #: Error if there are more [2^28]


class ChatOptions(GenerateOptions, total=False):
    """heed/chat.h, and how the answer is generated."""

    add_generation_prompt: bool | None  #: ends the prompt where the answer begins [True]
    control_tokens_in_messages: bool | None  #: recognises them in contents of messages, too [False]
    chat_template: str | None  #: Jinja in place of the model's own
    tool_choice: str | None  #: "auto", "none", "required" or the function that must be called ["auto"]
    parallel_tool_calls: bool | None  #: whether an answer may have several calls [True]


class PromptOptions(TypedDict, total=False):
    """heed/chat.h: how a chat template makes a prompt of messages."""

    tools: Sequence[Mapping[str, Any]] | str | None  #: the functions that may be called, as OpenAI's API has them
    chat_template_kwargs: Mapping[str, Any] | str | None  #: further variables of the template
    add_generation_prompt: bool | None  #: as in ChatOptions
    control_tokens_in_messages: bool | None  #: as in ChatOptions
    chat_template: str | None  #: as in ChatOptions
    tool_choice: str | None  #: as in ChatOptions
    parallel_tool_calls: bool | None  #: as in ChatOptions


class SessionOptions(TypedDict, total=False):
    """heed/session.h"""

    max_active_tokens: int | None  #: of running requests, prompts and outputs of all beams [16384]
    max_active_requests: int | None  #: 0: no limit [0]
    max_prefill_tokens: int | None  #: prompt tokens computed in one step [512]
    balance_prefill: bool | None  #: a long prompt at most halves the speed of others [False]
    max_cached_tokens: int | None  #: of ended requests, kept for the next turn [8192]
    reserved_tokens: int | None  #: of the kv cache, reserved by the first step [0]


class RequestOptions(GenerateOptions, total=False):
    """Request of heed/session.h; with an option of a search, outputs are searched for."""

    beam: int | None  #: short for `num_beams`
    num_beams: int | None  #: as in SearchOptions
    n_best: int | None  #: as in SearchOptions
    length_penalty: float | None  #: as in SearchOptions
    source_language: str | None  #: as in TranslateOptions
    target_language: str | None  #: as in TranslateOptions
    alignments: bool | None  #: as in TranslateOptions
    confidence: bool | None  #: as in TranslateOptions
    adapters: Sequence[str] | None  #: names of those that apply; []: none [all]
    number: int | None  #: selects the random numbers, with `seed` [1]
