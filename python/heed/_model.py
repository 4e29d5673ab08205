"""heed.load() and heed.Model."""

from __future__ import annotations

import math
import warnings
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Iterable,
    Literal,
    Mapping,
    Sequence,
    cast,
    overload,
)

from . import _heed
from ._async_model import AsyncModel
from ._attention import Attention
from ._json import json_text, with_schema_text
from ._process import OfOneProcess
from ._progress import counted_bar, download_bar, in_parts
from ._sentences import as_tensor, check, check_unused, cosines, in_precision, with_prompt
from ._session import ChatStream, Session, TextStream
from ._signatures import like, suggesting, takes

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from .options import (
        AttentionOptions,
        ChatOptions,
        ClassifyOptions,
        DocumentOptions,
        EmbedOptions,
        EncodeOptions,
        GenerateOptions,
        LoadOptions,
        Path,
        Prompt,
        PromptOptions,
        Prompts,
        RequestOptions,
        ScoreOptions,
        SearchOptions,
        SessionOptions,
        Texts,
        TranslateOptions,
    )

    Vectors = NDArray[numpy.float32]

Message = Mapping[str, Any]
_TEMPLATE_OPTIONS = (
    "add_generation_prompt",
    "control_tokens_in_messages",
    "chat_template",
    "tool_choice",
    "parallel_tool_calls",
)


@takes("LoadOptions")
def load(
    path: Path,
    *,
    on_progress: Callable[[str, int, int, int, int, bool], object] | None = None,
    progress: bool = False,
    **options: Unpack[LoadOptions],
) -> Model:
    """Opens a model directory, a GGUF file, or OWNER/NAME[@REVISION][:FILE.gguf] of the Hugging Face hub, which
    is downloaded unless the cache holds it. During a download `on_progress` is called with the model, the bytes
    that are there and all bytes, the files that are there and all files, and whether another process downloads;
    `progress` draws a bar (tqdm) instead. Warns (UserWarning) of settings in the files that have no effect. Raises Error when a file is missing or damaged, or a download fails."""
    given: dict[str, object] = dict(options)
    if on_progress is not None and not callable(on_progress):
        raise TypeError(f"on_progress has the type {type(on_progress).__name__}, expected a function")
    if not progress:
        return _warned(Model(_heed.load(path, {**given, "on_progress": on_progress})))
    with download_bar() as show:
        return _warned(Model(_heed.load(path, {**given, "on_progress": show})))


def _warned(model: Model) -> Model:
    """The model, once its warnings are shown as those of the caller of load(), which @takes wraps."""
    for warning in model.warnings:
        warnings.warn(warning, stacklevel=4)
    return model


def _is_text_or_tokens(prompt: object) -> bool:
    """Whether it is one prompt: a str, or a list of numbers."""
    if isinstance(prompt, str):
        return True
    if not isinstance(prompt, Sequence):
        return hasattr(prompt, "dtype")  # an array of token ids
    return len(prompt) > 0 and not isinstance(prompt[0], (str, Sequence)) and not hasattr(prompt[0], "__len__")


def _json_texts(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a chat template, those that are JSON as JSON."""
    given = dict(options)
    for name in ("tools", "chat_template_kwargs"):
        if given.get(name) is not None:
            given[name] = json_text(given[name], name)
    return given


def _with_model_of_then(options: Mapping[str, Any]) -> dict[str, Any]:
    given = dict(options)
    if isinstance(given.get("then"), Model):
        given["then"] = given["then"]._model
    return given


class Model(OfOneProcess, AsyncModel):
    """A loaded model with its tokenizer and its defaults. Any number of threads may use it at once.

    `options` of the functions are those of the C++ headers (heed.options). The functions whose names begin with
    `a` are for asyncio: they compute on a thread, and end when their task is cancelled. Every function raises Error
    when the model cannot do what is asked or an input is out of range, TypeError or ValueError for arguments that are
    no such thing. Results depend neither on the other inputs of a call nor on the number of threads.
    """

    def __init__(self, model: _heed.Model) -> None:
        self._model = model

    def close(self) -> None:
        """Frees the weights once no running call and no session needs them. Afterwards every function raises
        Error."""
        self._model.close()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"heed.Model({self._model.name!r})"

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: object) -> Model:
        return self  # scikit-learn copies the parameters of transformers

    @property
    def family(self) -> str:
        """The family, as config.json names it: "llama", "marian", "bert"."""
        return self._model.family

    @property
    def gpu(self) -> str:
        """The GPU on which it computes: "GPU 0 (NVIDIA H100 80GB HBM3)"; empty: the CPU."""
        return self._model.gpu

    @property
    def warnings(self) -> list[str]:
        """What the model's files say that has no effect, one sentence for each."""
        return self._model.warnings

    @property
    def has_encoder(self) -> bool:
        """Whether it reads an input in both directions: an encoder-decoder, an encoder-only model."""
        return self._model.has_encoder

    @property
    def has_decoder(self) -> bool:
        """Whether it generates: an encoder-decoder, a decoder-only model."""
        return self._model.has_decoder

    @property
    def context_length(self) -> int:
        """Largest number of tokens of an input, and of a prompt with its output; 0: not limited."""
        return self._model.context_length

    @property
    def vocab_size(self) -> int:
        """Tokens are 0 to vocab_size - 1."""
        return self._model.vocab_size

    @property
    def embedding_size(self) -> int:
        """The number of elements of an embedding."""
        return self._model.embedding_size

    @property
    def eos_ids(self) -> list[int]:
        """The tokens that end an output."""
        return self._model.eos_ids

    @property
    def has_tokenizer(self) -> bool:
        """Whether the model's tokenizer was read."""
        return self._model.has_tokenizer

    @property
    def has_chat_template(self) -> bool:
        """Whether the model was made for conversations."""
        return self._model.has_chat_template

    def tokenize(self, text: str, special: bool = True) -> list[int]:
        """The token ids of a text, with those that belong around it if `special`."""
        return self._model.tokenize(text, special)

    def detokenize(self, tokens: Iterable[int], skip_special: bool = True) -> str:
        """The text of token ids. Raises Error on ids outside the vocabulary."""
        return self._model.detokenize(tokens, skip_special)

    def token_text(self, token: int) -> str:
        """A single token for display."""
        return self._model.token_text(token)

    def token_bytes(self, token: int) -> bytes:
        """What a token between others adds to a text, with its leading space: any bytes, perhaps a
        part of a character."""
        return self._model.token_bytes(token)

    @takes("SessionOptions")
    def session(self, **options: Unpack[SessionOptions]) -> Session:
        """A Session of this model."""
        return Session(self, **options)

    @overload
    def generate(
        self, prompt: Prompt, *, stream: Literal[False] = ..., progress: bool = ..., **options: Unpack[GenerateOptions]
    ) -> _heed.Generation: ...
    @overload
    def generate(
        self,
        prompt: Prompts,
        *,
        stream: Literal[False] = ...,
        progress: bool = ...,
        **options: Unpack[GenerateOptions],
    ) -> list[_heed.Generation]: ...
    @overload
    def generate(self, prompt: Prompt, *, stream: Literal[True], **options: Unpack[RequestOptions]) -> TextStream: ...
    @overload
    def generate(
        self, prompt: Prompt, *, stream: bool, **options: Unpack[GenerateOptions]
    ) -> _heed.Generation | TextStream: ...
    @takes("GenerateOptions")
    def generate(
        self, prompt: Any, *, stream: bool = False, progress: bool = False, **options: Any
    ) -> _heed.Generation | list[_heed.Generation] | TextStream:
        """The output that follows a prompt, which is a text or token ids; of each, in batches, for a list of
        prompts. With `stream`, an iterator over the text as it is generated."""
        options = with_schema_text(options)
        if stream:
            return TextStream(_heed.Session(self._model, {"max_cached_tokens": 0}), prompt, options)
        if _is_text_or_tokens(prompt):
            return self._model.generate([prompt], options, 1)[0]
        return in_parts(prompt, progress, lambda part, first: self._model.generate(part, options, first))

    @takes("SearchOptions")
    def search(self, prompts: Prompts, **options: Unpack[SearchOptions]) -> list[list[_heed.Candidate]]:
        """The `n_best` outputs of each prompt, best first, by beam search (Wu et al. 2016)."""
        return self._model.search(prompts, dict(options))

    @overload
    def chat(
        self,
        messages: Sequence[Message],
        *,
        stream: Literal[False] = ...,
        tools: Sequence[Message] | str | None = ...,
        chat_template_kwargs: Mapping[str, Any] | str | None = ...,
        **options: Unpack[ChatOptions],
    ) -> _heed.ChatResult: ...
    @overload
    def chat(
        self,
        messages: Sequence[Message],
        *,
        stream: Literal[True],
        tools: Sequence[Message] | str | None = ...,
        chat_template_kwargs: Mapping[str, Any] | str | None = ...,
        **options: Unpack[ChatOptions],
    ) -> ChatStream: ...
    @overload
    def chat(
        self,
        messages: Sequence[Message],
        *,
        stream: bool,
        tools: Sequence[Message] | str | None = ...,
        chat_template_kwargs: Mapping[str, Any] | str | None = ...,
        **options: Unpack[ChatOptions],
    ) -> _heed.ChatResult | ChatStream: ...
    @takes("ChatOptions")
    def chat(
        self,
        messages: Sequence[Message],
        *,
        stream: bool = False,
        tools: Sequence[Message] | str | None = None,
        chat_template_kwargs: Mapping[str, Any] | str | None = None,
        **options: Any,
    ) -> _heed.ChatResult | ChatStream:
        """The answer that follows messages, which have the fields of OpenAI's API, as `tools` do. With `stream`,
        an iterator over parts of the answer."""
        template = {name: options.pop(name) for name in _TEMPLATE_OPTIONS if name in options}
        template |= _json_texts({"tools": tools, "chat_template_kwargs": chat_template_kwargs})
        text = json_text(messages, "messages")
        options = with_schema_text(options)
        if not stream:
            return self._model.chat(text, {**template, **options})
        prompt = self._model.chat_prompt(text, template)
        session = _heed.Session(self._model, {"max_cached_tokens": 0})
        return ChatStream(prompt, TextStream(session, prompt, options))

    @takes("PromptOptions")
    def chat_prompt(self, messages: Sequence[Message], **options: Unpack[PromptOptions]) -> _heed.ChatPrompt:
        """The prompt that the model's chat template makes of messages."""
        return self._model.chat_prompt(json_text(messages, "messages"), _json_texts(options))

    @overload
    def translate(self, lines: str, *, progress: bool = ..., **options: Unpack[TranslateOptions]) -> _heed.Translation: ...
    @overload
    def translate(
        self, lines: Texts, *, progress: bool = ..., **options: Unpack[TranslateOptions]
    ) -> list[_heed.Translation]: ...
    @takes("TranslateOptions")
    def translate(
        self, lines: str | Texts, *, progress: bool = False, **options: Unpack[TranslateOptions]
    ) -> _heed.Translation | list[_heed.Translation]:
        """The translations of a line, or of each of many, by beam search."""
        given = _with_model_of_then(options)
        if isinstance(lines, str):
            return self._model.translate([lines], given, 1)[0]
        return in_parts(lines, progress, lambda part, first: self._model.translate(part, given, first))

    @takes("DocumentOptions")
    def translate_document(
        self, text: str, *, progress: bool = False, **options: Unpack[DocumentOptions]
    ) -> _heed.DocumentTranslation:
        """The translation of a document: its paragraphs, which in plain text are its lines, sentence by sentence."""
        given = _with_model_of_then(options)
        if not progress:
            return self._model.translate_document(text, given, None)
        with counted_bar() as show:
            return self._model.translate_document(text, given, show)

    @takes("TranslateOptions")
    def evaluate_confidence(
        self, sources: Texts, references: Texts, **options: Unpack[TranslateOptions]
    ) -> _heed.ConfidenceReport:
        """Compares the confidences of translations with references, one for each source."""
        return self._model.evaluate_confidence(sources, references, _with_model_of_then(options))

    @takes("TranslateOptions")
    def calibrate_confidence(
        self, sources: Texts, references: Texts, **options: Unpack[TranslateOptions]
    ) -> _heed.ConfidenceReport:
        """Calibrates confidence with held-out text and writes confidence.json into the model's directory, which a
        model has that is loaded afterwards. The report is of fifths of the text that were left out."""
        return self._model.calibrate_confidence(sources, references, _with_model_of_then(options))

    @takes("EmbedOptions")
    def embed(
        self, texts: str | Texts, *, progress: bool = False, **options: Unpack[EmbedOptions]
    ) -> Vectors:
        """The vector [D] of a text, or the vectors [n, D] of many, in float32: the hidden states of its tokens,
        pooled. A translator cannot embed."""
        given = dict(options)
        if isinstance(texts, str):
            vector: Vectors = self._model.embed([texts], given, 1)[0]
            return vector
        if not progress:
            return self._model.embed(texts, given, 1)
        import numpy

        parts = in_parts(texts, True, lambda part, first: [self._model.embed(part, given, first)])
        return numpy.concatenate(parts) if parts else self._model.embed([], given, 1)

    @overload
    def embed_windows(self, texts: str, **options: Unpack[EmbedOptions]) -> list[_heed.WindowEmbedding]: ...
    @overload
    def embed_windows(self, texts: Texts, **options: Unpack[EmbedOptions]) -> list[list[_heed.WindowEmbedding]]: ...
    @takes("EmbedOptions")
    def embed_windows(
        self, texts: str | Texts, **options: Unpack[EmbedOptions]
    ) -> list[_heed.WindowEmbedding] | list[list[_heed.WindowEmbedding]]:
        """The windows of a text, or of each of many, with their vectors: `window` says how many tokens they have, and
        `overlap` how many of them are those of the one before."""
        given = dict(options)
        if isinstance(texts, str):
            return self._model.embed_windows([texts], given, 1)[0]
        return self._model.embed_windows(texts, given, 1)

    @overload
    def embed_sparse(self, texts: str, **options: Unpack[EmbedOptions]) -> _heed.SparseEmbedding: ...
    @overload
    def embed_sparse(self, texts: Texts, **options: Unpack[EmbedOptions]) -> list[_heed.SparseEmbedding]: ...
    @takes("EmbedOptions")
    def embed_sparse(
        self, texts: str | Texts, **options: Unpack[EmbedOptions]
    ) -> _heed.SparseEmbedding | list[_heed.SparseEmbedding]:
        """The sparse vector of a text, or of each of many, by a SPLADE model (a SparseEncoder of
        sentence-transformers, or a masked language model as it is) or by BGE-M3."""
        given = dict(options)
        if isinstance(texts, str):
            return self._model.embed_sparse([texts], given, 1)[0]
        return self._model.embed_sparse(texts, given, 1)

    @overload
    def embed_multi_vector(self, texts: str, **options: Unpack[EmbedOptions]) -> Vectors: ...
    @overload
    def embed_multi_vector(self, texts: Texts, **options: Unpack[EmbedOptions]) -> list[Vectors]: ...
    @takes("EmbedOptions")
    def embed_multi_vector(self, texts: str | Texts, **options: Unpack[EmbedOptions]) -> Vectors | list[Vectors]:
        """A vector [tokens, D] for each token of a text, or of each of many, by a MultiVectorEncoder of
        sentence-transformers, a model of PyLate or BGE-M3. `task` is "query" or "document". max_sim() compares them."""
        given = dict(options)
        if isinstance(texts, str):
            return self._model.embed_multi_vector([texts], given, 1)[0]
        return self._model.embed_multi_vector(texts, given, 1)

    @staticmethod
    def max_sim(query: Any, document: Any) -> float:
        """The score of a document's vectors [m, D] for a query's [n, D]: for each of the query's the largest inner
        product, summed (MaxSim, Khattab and Zaharia 2020). ValueError unless both have finite vectors of one width."""
        import numpy

        first, second = numpy.asarray(query), numpy.asarray(document)
        if first.ndim != 2 or second.ndim != 2 or first.shape[1] != second.shape[1] or len(second) == 0:
            raise ValueError(
                f"the vectors have the shapes {first.shape} and {second.shape}, expected [n, D] and [m, D], m at least 1"
            )
        score = float((first @ second.T).max(axis=1).sum())
        if not math.isfinite(score):
            raise ValueError("the vectors have a number that is not finite")
        return score

    @suggesting
    def encode(
        self,
        sentences: str | Texts,
        *,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        output_value: str | None = "sentence_embedding",
        precision: str = "float32",
        ranges: Any = None,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: object = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        pool: None = None,
        chunk_size: None = None,
        task: None = None,
    ) -> Any:
        """embed() with the arguments of sentence-transformers' encode(), by their names. A numpy array, or a tensor of
        torch with `convert_to_tensor`, or without `convert_to_numpy` a list of vectors; one vector for one text.

        `prompt` stands before each text, `prompt_name` is one of the model's files, of which `prompt` comes first.
        `precision` may be "float32", "int8", "uint8", "binary" or "ubinary"; the integers are scaled by `ranges`
        [2, D], the least and the largest number of each dimension, or else by those of the vectors of this call.
        With the `output_value` "token_embeddings" the result has an array [tokens, D] of each text's states, which are
        neither normalised nor shortened. `batch_size` is without effect: heed forms batches by tokens, and results do
        not depend on them. Raises ValueError for what heed cannot do: another `output_value`, another `device` than the
        model's, and a `pool`, a `chunk_size` or a `task`, for each of which the error says what there is instead; and
        Error for a prompt that the files do not name, and more dimensions than vectors have."""
        check(output_value, precision, device, self.gpu, batch_size)
        check_unused({"pool": pool, "chunk_size": chunk_size, "task": task})
        name = prompt_name if prompt is None else None
        if output_value == "token_embeddings":
            lines = [sentences] if isinstance(sentences, str) else sentences
            states = self._model.token_embeddings(lines, {"prompt": prompt, "prompt_name": name}, 1)
            tensors = [as_tensor(one) for one in states] if convert_to_tensor else states
            return tensors[0] if isinstance(sentences, str) else tensors
        vectors = in_precision(
            self.embed(
                sentences,
                progress=bool(show_progress_bar),
                normalize=True if normalize_embeddings else None,  # else as the model's files say
                prompt=prompt,
                prompt_name=name,
                dimensions=truncate_dim,
            ),
            precision, ranges)
        if convert_to_tensor:
            return as_tensor(vectors)
        return vectors if convert_to_numpy or isinstance(sentences, str) else list(vectors)

    @like(encode)
    def encode_query(self, sentences: str | Texts, **arguments: Unpack[EncodeOptions]) -> Any:
        """encode() with the prompt "query" of the model's files, if no other is given; none if they have none."""
        return self.encode(sentences, **with_prompt("query", arguments))

    @like(encode)
    def encode_document(self, sentences: str | Texts, **arguments: Unpack[EncodeOptions]) -> Any:
        """encode() with the prompt "document" of the model's files, if no other is given; none if they have none. As in
        sentence-transformers, a prompt of another name ("passage") is taken only by `prompt_name`."""
        return self.encode(sentences, **with_prompt("document", arguments))

    def similarity(self, first: Any, second: Any) -> Vectors:
        """The cosines [n, m] of the vectors `first` [n, D], or one [D], with those of `second` [m, D]."""
        return cosines(first, second)

    def logits(self, tokens: Any, source_tokens: Any = None) -> Vectors:
        """The logits [len(tokens), vocab_size] of the token after each of `tokens`, by a model with a language model
        head. `source_tokens` are for the encoder of an encoder-decoder, which other models do not have."""
        return self._model.logits(tokens, source_tokens)

    @takes("PromptOptions")
    def count_tokens(
        self, prompt: str | Sequence[int] | Sequence[Message], **options: Unpack[PromptOptions]
    ) -> int:
        """The tokens of a prompt: of a text, of token ids, or of messages with their chat template, whose options are
        those of chat_prompt()."""
        if isinstance(prompt, str):
            return len(self.tokenize(prompt))
        if _is_text_or_tokens(prompt):
            return len(prompt)
        return len(self.chat_prompt(cast("Sequence[Message]", prompt), **options).tokens)

    @overload
    def score(self, text: str, **options: Unpack[ScoreOptions]) -> _heed.Score: ...
    @overload
    def score(self, text: Texts, **options: Unpack[ScoreOptions]) -> list[_heed.Score]: ...
    @takes("ScoreOptions")
    def score(self, text: str | Texts, **options: Unpack[ScoreOptions]) -> _heed.Score | list[_heed.Score]:
        """The log-probability (natural) of each token of a text after the first, by a decoder-only model. The text
        has at least 2 tokens."""
        given = dict(options)
        if isinstance(text, str):
            return self._model.score(text, given)
        return [self._model.score(one, given) for one in text]

    def score_pair(self, source: str, target: str) -> _heed.Score:
        """The log-probability (natural) of each token of a target given its source, by an encoder-decoder."""
        return self._model.score_pair(source, target)

    def fill(self, text: str, top: int = 5) -> _heed.FilledText:
        """The `top` most probable tokens for each [MASK] or <mask> of a text, by an encoder-only model with a
        language model head."""
        return self._model.fill(text, top)

    @overload
    def classify(self, texts: str | tuple[str, str], **options: Unpack[ClassifyOptions]) -> list[_heed.LabelScore]: ...
    @overload
    def classify(
        self, texts: list[str] | list[tuple[str, str]], **options: Unpack[ClassifyOptions]
    ) -> list[list[_heed.LabelScore]]: ...
    @takes("ClassifyOptions")
    def classify(
        self, texts: str | tuple[str, str] | list[str] | list[tuple[str, str]], **options: Unpack[ClassifyOptions]
    ) -> list[_heed.LabelScore] | list[list[_heed.LabelScore]]:
        """The labels of a text or a pair (a tuple), highest score first; of each, for a list of them. The model is
        one for the classification of texts."""
        given = dict(options)
        if isinstance(texts, (str, tuple)):
            return self._model.classify([texts], given)[0]
        return self._model.classify(texts, given)

    @takes("ClassifyOptions")
    def rerank(
        self, query: str, documents: Texts, **options: Unpack[ClassifyOptions]
    ) -> list[_heed.RankedDocument]:
        """Documents by how well they answer a query, best first, by a cross-encoder."""
        return self._model.rerank(query, documents, dict(options))

    @overload
    def label_tokens(self, texts: str, **options: Unpack[ClassifyOptions]) -> _heed.LabelledText: ...
    @overload
    def label_tokens(self, texts: Texts, **options: Unpack[ClassifyOptions]) -> list[_heed.LabelledText]: ...
    @takes("ClassifyOptions")
    def label_tokens(
        self, texts: str | Texts, **options: Unpack[ClassifyOptions]
    ) -> _heed.LabelledText | list[_heed.LabelledText]:
        """The entities of a text, or of each of many, by a model for the classification of tokens."""
        given = dict(options)
        if isinstance(texts, str):
            return self._model.label_tokens([texts], given)[0]
        return self._model.label_tokens(texts, given)

    @takes("AttentionOptions")
    def attention(self, text: str, **options: Unpack[AttentionOptions]) -> Attention:
        """The attention weights softmax(Q K^T / sqrt(d)) of one pass over a text (Vaswani et al. 2017, section
        3.2.1), a map for each layer."""
        return Attention(self._model.attention(text, dict(options)))
