"""A transformer for pipelines of scikit-learn, which is not imported unless it is used."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any, Iterable

from ._model import Model, load

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from .options import Path, Pooling


class Embedder:
    """Turns texts into vectors: Pipeline([("embed", Embedder("all-MiniLM-L6-v2")), ("classify", ...)]).

    `model` is what heed.load() opens, or a heed.Model. The others are the options of Model.embed(). It has
    nothing to learn: fit() loads the model.
    """

    def __init__(
        self,
        model: Path | Model,
        pooling: Pooling | None = None,
        normalize: bool | None = None,
        max_seq_length: int | None = None,
    ) -> None:
        self.model = model
        self.pooling = pooling
        self.normalize = normalize
        self.max_seq_length = max_seq_length
        self._loaded: Model | None = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **parameters: Any) -> Embedder:
        """Changes arguments of the constructor."""
        known = self.get_params()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"Embedder has no parameter {name!r}, expected one of {', '.join(known)}")
            setattr(self, name, value)
            if name == "model":
                self._loaded = None
        return self

    def fit(self, texts: Iterable[str] | None = None, labels: Any = None) -> Embedder:
        """Loads the model."""
        if self._loaded is None:
            self._loaded = self.model if isinstance(self.model, Model) else load(self.model)
        return self

    def transform(self, texts: Iterable[str]) -> NDArray[numpy.float32]:
        """The vectors [n, D] of texts."""
        if isinstance(texts, str):
            raise ValueError("texts is a str, expected a list of them")
        self.fit()
        assert self._loaded is not None
        return self._loaded.embed(
            list(texts), pooling=self.pooling, normalize=self.normalize, max_seq_length=self.max_seq_length
        )

    def fit_transform(self, texts: Iterable[str], labels: Any = None) -> NDArray[numpy.float32]:
        """transform() after fit()."""
        return self.fit(texts, labels).transform(texts)

    def __getstate__(self) -> dict[str, Any]:
        # Joblib's processes load the model themselves.
        return {**self.__dict__, "_loaded": None}

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        utils = importlib.import_module("sklearn.utils")
        return utils.Tags(
            estimator_type=None,
            target_tags=utils.TargetTags(required=False),
            transformer_tags=utils.TransformerTags(preserves_dtype=[]),
            input_tags=utils.InputTags(one_d_array=True, two_d_array=False, string=True),
            requires_fit=False,
        )
