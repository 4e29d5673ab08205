"""The functions of a Model for asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Awaitable, Literal, Mapping, Sequence, cast, overload

from . import _heed
from ._async import AsyncStream, on_thread
from ._attention import Attention

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._model import Model
    from .options import (
        AttentionOptions,
        ChatOptions,
        ClassifyOptions,
        DocumentOptions,
        EmbedOptions,
        EncodeOptions,
        GenerateOptions,
        Prompt,
        Prompts,
        RequestOptions,
        ScoreOptions,
        SearchOptions,
        Texts,
        TranslateOptions,
    )

Message = Mapping[str, Any]


class AsyncModel:
    """Each function computes as the one without `a` does, on a thread, and ends when its task is cancelled."""

    @property
    def _calls(self) -> Model:
        return cast("Model", self)

    @overload
    def agenerate(
        self, prompt: Prompt, *, stream: Literal[False] = ..., progress: bool = ..., **options: Unpack[GenerateOptions]
    ) -> Awaitable[_heed.Generation]: ...
    @overload
    def agenerate(
        self, prompt: Prompts, *, stream: Literal[False] = ..., progress: bool = ..., **options: Unpack[GenerateOptions]
    ) -> Awaitable[list[_heed.Generation]]: ...
    @overload
    def agenerate(
        self, prompt: Prompt, *, stream: Literal[True], **options: Unpack[RequestOptions]
    ) -> AsyncIterator[str]: ...
    def agenerate(
        self, prompt: Any, *, stream: bool = False, **options: Any
    ) -> Awaitable[Any] | AsyncIterator[str]:
        """generate() for asyncio."""
        if stream:
            return AsyncStream(lambda: self._calls.generate(prompt, stream=True, **options))
        return on_thread(lambda: self._calls.generate(prompt, **options))

    @overload
    def achat(
        self,
        messages: Sequence[Message],
        *,
        stream: Literal[False] = ...,
        tools: Sequence[Message] | str | None = ...,
        chat_template_kwargs: Mapping[str, Any] | str | None = ...,
        **options: Unpack[ChatOptions],
    ) -> Awaitable[_heed.ChatResult]: ...
    @overload
    def achat(
        self,
        messages: Sequence[Message],
        *,
        stream: Literal[True],
        tools: Sequence[Message] | str | None = ...,
        chat_template_kwargs: Mapping[str, Any] | str | None = ...,
        **options: Unpack[ChatOptions],
    ) -> AsyncIterator[_heed.ChatAnswer]: ...
    def achat(
        self, messages: Sequence[Message], *, stream: bool = False, **options: Any
    ) -> Awaitable[_heed.ChatResult] | AsyncIterator[_heed.ChatAnswer]:
        """chat() for asyncio."""
        if stream:
            return AsyncStream(lambda: self._calls.chat(messages, stream=True, **options))
        return on_thread(lambda: self._calls.chat(messages, **options))

    async def asearch(self, prompts: Prompts, **options: Unpack[SearchOptions]) -> list[list[_heed.Candidate]]:
        """search() for asyncio."""
        return await on_thread(lambda: self._calls.search(prompts, **options))

    @overload
    def atranslate(
        self, lines: str, *, progress: bool = ..., **options: Unpack[TranslateOptions]
    ) -> Awaitable[_heed.Translation]: ...
    @overload
    def atranslate(
        self, lines: Texts, *, progress: bool = ..., **options: Unpack[TranslateOptions]
    ) -> Awaitable[list[_heed.Translation]]: ...
    def atranslate(self, lines: Any, **options: Any) -> Awaitable[Any]:
        """translate() for asyncio."""
        return on_thread(lambda: self._calls.translate(lines, **options))

    async def atranslate_document(
        self, text: str, *, progress: bool = False, **options: Unpack[DocumentOptions]
    ) -> _heed.DocumentTranslation:
        """translate_document() for asyncio."""
        return await on_thread(lambda: self._calls.translate_document(text, progress=progress, **options))

    async def aevaluate_confidence(
        self, sources: Texts, references: Texts, **options: Unpack[TranslateOptions]
    ) -> _heed.ConfidenceReport:
        """evaluate_confidence() for asyncio."""
        return await on_thread(lambda: self._calls.evaluate_confidence(sources, references, **options))

    async def acalibrate_confidence(
        self, sources: Texts, references: Texts, **options: Unpack[TranslateOptions]
    ) -> _heed.ConfidenceReport:
        """calibrate_confidence() for asyncio."""
        return await on_thread(lambda: self._calls.calibrate_confidence(sources, references, **options))

    async def aembed(
        self, texts: str | Texts, *, progress: bool = False, **options: Unpack[EmbedOptions]
    ) -> NDArray[numpy.float32]:
        """embed() for asyncio."""
        return await on_thread(lambda: self._calls.embed(texts, progress=progress, **options))

    async def aembed_windows(self, texts: str | Texts, **options: Unpack[EmbedOptions]) -> Any:
        """embed_windows() for asyncio."""
        return await on_thread(lambda: self._calls.embed_windows(texts, **options))

    async def aembed_sparse(self, texts: str | Texts, **options: Unpack[EmbedOptions]) -> Any:
        """embed_sparse() for asyncio."""
        return await on_thread(lambda: self._calls.embed_sparse(texts, **options))

    async def aembed_multi_vector(self, texts: str | Texts, **options: Unpack[EmbedOptions]) -> Any:
        """embed_multi_vector() for asyncio."""
        return await on_thread(lambda: self._calls.embed_multi_vector(texts, **options))

    async def aencode_query(self, sentences: str | Texts, **arguments: Unpack[EncodeOptions]) -> Any:
        """encode_query() for asyncio."""
        return await on_thread(lambda: self._calls.encode_query(sentences, **arguments))

    async def aencode_document(self, sentences: str | Texts, **arguments: Unpack[EncodeOptions]) -> Any:
        """encode_document() for asyncio."""
        return await on_thread(lambda: self._calls.encode_document(sentences, **arguments))

    async def aencode(self, sentences: str | Texts, **arguments: Unpack[EncodeOptions]) -> Any:
        """encode() for asyncio."""
        return await on_thread(lambda: self._calls.encode(sentences, **arguments))

    async def alogits(self, tokens: Any, source_tokens: Any = None) -> NDArray[numpy.float32]:
        """logits() for asyncio."""
        return await on_thread(lambda: self._calls.logits(tokens, source_tokens))

    @overload
    def ascore(self, text: str, **options: Unpack[ScoreOptions]) -> Awaitable[_heed.Score]: ...
    @overload
    def ascore(self, text: Texts, **options: Unpack[ScoreOptions]) -> Awaitable[list[_heed.Score]]: ...
    def ascore(self, text: Any, **options: Any) -> Awaitable[Any]:
        """score() for asyncio."""
        return on_thread(lambda: self._calls.score(text, **options))

    async def ascore_pair(self, source: str, target: str) -> _heed.Score:
        """score_pair() for asyncio."""
        return await on_thread(lambda: self._calls.score_pair(source, target))

    async def afill(self, text: str, top: int = 5) -> _heed.FilledText:
        """fill() for asyncio."""
        return await on_thread(lambda: self._calls.fill(text, top))

    @overload
    def aclassify(
        self, texts: str | tuple[str, str], **options: Unpack[ClassifyOptions]
    ) -> Awaitable[list[_heed.LabelScore]]: ...
    @overload
    def aclassify(
        self, texts: list[str] | list[tuple[str, str]], **options: Unpack[ClassifyOptions]
    ) -> Awaitable[list[list[_heed.LabelScore]]]: ...
    def aclassify(self, texts: Any, **options: Any) -> Awaitable[Any]:
        """classify() for asyncio."""
        return on_thread(lambda: self._calls.classify(texts, **options))

    async def arerank(
        self, query: str, documents: Texts, **options: Unpack[ClassifyOptions]
    ) -> list[_heed.RankedDocument]:
        """rerank() for asyncio."""
        return await on_thread(lambda: self._calls.rerank(query, documents, **options))

    @overload
    def alabel_tokens(self, texts: str, **options: Unpack[ClassifyOptions]) -> Awaitable[_heed.LabelledText]: ...
    @overload
    def alabel_tokens(
        self, texts: Texts, **options: Unpack[ClassifyOptions]
    ) -> Awaitable[list[_heed.LabelledText]]: ...
    def alabel_tokens(self, texts: Any, **options: Any) -> Awaitable[Any]:
        """label_tokens() for asyncio."""
        return on_thread(lambda: self._calls.label_tokens(texts, **options))

    async def aattention(self, text: str, **options: Unpack[AttentionOptions]) -> Attention:
        """attention() for asyncio."""
        return await on_thread(lambda: self._calls.attention(text, **options))
