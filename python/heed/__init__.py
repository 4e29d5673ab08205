"""heed: a Transformer engine for the CPU.

    import heed
    model = heed.load("SmolLM2-135M.gguf")
    for piece in model.generate("Once upon a time", max_new_tokens=40, stream=True):
        print(piece, end="")

Every function raises heed.Error when the model cannot do what is asked or an input is out of range, and
TypeError or ValueError for arguments that are no such thing.
"""

from __future__ import annotations

import os
import threading

from . import _heed
from ._attention import Attention
from ._heed import (
    AddedToken,
    AlignedWords,
    AttentionMap,
    Candidate,
    ChatAnswer,
    ChatPrompt,
    ChatResult,
    Delta,
    Encoding,
    Entity,
    Error,
    FilledMask,
    FilledText,
    Generation,
    LabelledText,
    LabelScore,
    QualityChange,
    QuantizeResult,
    RankedDocument,
    Score,
    TokenLogProbability,
    TokenProbability,
    ToolCall,
    TrainResult,
    TrainStep,
    Translation,
    ValidationRecord,
    ValidationSample,
)
from ._model import Model, load
from ._serving import Server, serve
from ._session import ChatStream, Session, TextStream
from ._tokenizer import Tokenizer
from ._training import convert, quantize, train

__all__ = [
    "AddedToken",
    "AlignedWords",
    "Attention",
    "AttentionMap",
    "Candidate",
    "ChatAnswer",
    "ChatPrompt",
    "ChatResult",
    "ChatStream",
    "Delta",
    "Encoding",
    "Entity",
    "Error",
    "FilledMask",
    "FilledText",
    "Generation",
    "LabelScore",
    "LabelledText",
    "Model",
    "QualityChange",
    "QuantizeResult",
    "RankedDocument",
    "Score",
    "Server",
    "Session",
    "TextStream",
    "TokenLogProbability",
    "TokenProbability",
    "Tokenizer",
    "ToolCall",
    "TrainResult",
    "TrainStep",
    "Translation",
    "ValidationRecord",
    "ValidationSample",
    "convert",
    "load",
    "quantize",
    "serve",
    "train",
]


def _main_thread() -> int:
    return threading.main_thread().ident or 0


_heed.set_main_thread(_main_thread())
# A child has only the thread that forked, which is its main thread.
os.register_at_fork(after_in_child=lambda: _heed.after_fork(threading.get_ident()))
