"""heed: a Transformer engine.

    import heed
    model = heed.load("SmolLM2-135M.gguf")
    for piece in model.generate("Once upon a time", max_new_tokens=40, stream=True):
        print(piece, end="")

Every function raises heed.Error when the model cannot do what is asked or an input is out of range, and
TypeError or ValueError for arguments that are no such thing.
"""

from __future__ import annotations

import importlib
import os
import threading
from typing import TYPE_CHECKING, Any

from . import _heed
from ._async_calls import aconvert, adistill, aload, amake_shortlist, aquantize, atrain
from ._async_model import AsyncModel
from ._attention import Attention, AttentionMap
from ._heed import (
    AddedToken,
    AlignedWords,
    Candidate,
    ChatAnswer,
    ChatPrompt,
    ChatResult,
    ConfidenceReport,
    Delta,
    DetectedLanguage,
    DirectionScores,
    DistillResult,
    DistillStage,
    DocumentSentence,
    DocumentTranslation,
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
    ShortlistResult,
    TokenLogProbability,
    TokenProbability,
    ToolCall,
    TrainResult,
    TrainStep,
    Translation,
    ValidationRecord,
    ValidationSample,
    WordConfidence,
)
from ._language import detect_language, detectable_languages
from ._model import Model, load
from ._serving import Server, serve
from ._session import ChatStream, Session, TextStream
from ._signatures import like
from ._tokenizer import Tokenizer
from ._training import convert, distill, make_shortlist, quantize, train

if TYPE_CHECKING:
    from . import options

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
    "ConfidenceReport",
    "Delta",
    "DetectedLanguage",
    "DirectionScores",
    "DistillResult",
    "DistillStage",
    "DocumentSentence",
    "DocumentTranslation",
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
    "ShortlistResult",
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
    "WordConfidence",
    "__version__",
    "aconvert",
    "adistill",
    "aload",
    "amake_shortlist",
    "aquantize",
    "atrain",
    "convert",
    "detect_language",
    "detectable_languages",
    "distill",
    "load",
    "make_shortlist",
    "options",
    "quantize",
    "serve",
    "train",
]


__version__: str = _heed.version

for _name in vars(AsyncModel):
    if _name.startswith("a"):
        like(getattr(Model, _name[1:]))(getattr(AsyncModel, _name))
for _name in ("aload", "atrain", "aquantize", "aconvert", "amake_shortlist", "adistill"):
    like(globals()[_name[1:]])(globals()[_name])
del _name


def __getattr__(name: str) -> Any:
    if name == "options":  # for type checkers, seldom needed at run time
        return importlib.import_module(".options", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _main_thread() -> int:
    return threading.main_thread().ident or 0


_heed.set_main_thread(_main_thread())
# A child has only the thread that forked, which is its main thread.
os.register_at_fork(after_in_child=lambda: _heed.after_fork(threading.get_ident()))
