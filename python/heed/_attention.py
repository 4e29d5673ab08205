"""The attention of one text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from . import _heed

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray


class AttentionMap:
    """The attention weights of one layer."""

    def __init__(self, one: _heed.AttentionMap) -> None:
        self._figures: _heed.AttentionMap | None = one
        self._values = (one.kind, one.layer, one.first_head, one.heads, one.queries, one.keys, one.weights)

    @property
    def kind(self) -> str:
        """'encoder_self', 'decoder_self' or 'cross'"""
        return self._values[0]

    @property
    def layer(self) -> int:
        """counted from 0"""
        return self._values[1]

    @property
    def first_head(self) -> int:
        """counted from 0; 0 unless a head was chosen"""
        return self._values[2]

    @property
    def heads(self) -> int:
        """H, the number of heads"""
        return self._values[3]

    @property
    def queries(self) -> list[str]:
        """the tokens that look, as text"""
        return self._values[4]

    @property
    def keys(self) -> list[str]:
        """the tokens that are looked at"""
        return self._values[5]

    @property
    def weights(self) -> NDArray[numpy.float32]:
        """[heads, queries, keys]; each row sums to 1"""
        return self._values[6]

    def svg(self, head: int | None = None, figure: str = "lines") -> str:
        """A figure of one head, or of the mean of all: "lines" or a "heatmap". Raises Error for a map that was
        unpickled, which has no figures."""
        if self._figures is None:
            raise _heed.Error("the map was unpickled and has no figures, expected one of Model.attention()")
        return self._figures.svg(head, figure)

    def _repr_svg_(self) -> str | None:
        return self.svg() if self._figures is not None else None  # None: a notebook shows the text

    def to_dict(self) -> dict[str, Any]:
        """The attributes in a dict, of numbers, texts and lists, as JSON has them."""
        names = ("kind", "layer", "first_head", "heads", "queries", "keys")
        return {**dict(zip(names, self._values)), "weights": self.weights.tolist()}

    def __repr__(self) -> str:
        return f"AttentionMap(kind={self.kind!r}, layer={self.layer}, weights={list(self.weights.shape)})"

    def _compared(self) -> tuple[object, ...]:
        return (*self._values[:4], tuple(self.queries), tuple(self.keys), self.weights.tobytes())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AttentionMap) and self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def __getstate__(self) -> dict[str, Any]:
        return {"_figures": None, "_values": self._values}


class Attention(Sequence[AttentionMap]):
    """A map for each layer, encoder first. A notebook draws it as an interactive page."""

    def __init__(self, attention: _heed.Attention) -> None:
        self._maps = [AttentionMap(one) for one in attention.maps]
        self._page = attention.page

    @overload
    def __getitem__(self, index: int) -> AttentionMap: ...
    @overload
    def __getitem__(self, index: slice) -> list[AttentionMap]: ...
    def __getitem__(self, index: int | slice) -> AttentionMap | list[AttentionMap]:
        return self._maps[index]

    def __len__(self) -> int:
        return len(self._maps)

    def page(self) -> str:
        """A page of HTML that shows all maps, without network or other files."""
        return self._page()

    def to_dict(self) -> dict[str, Any]:
        """The maps in a dict, of numbers, texts and lists, as JSON has them."""
        return {"maps": [one.to_dict() for one in self]}

    def __repr__(self) -> str:
        return f"Attention({len(self)} maps: {', '.join(dict.fromkeys(one.kind for one in self))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attention) and self._maps == other._maps

    def __hash__(self) -> int:
        return hash(tuple(self._maps))

    def __getstate__(self) -> tuple[list[AttentionMap], str]:
        return self._maps, self.page()

    def __setstate__(self, state: tuple[list[AttentionMap], str]) -> None:
        self._maps, page = state
        self._page = lambda: page

    def _repr_html_(self) -> str:
        import html  # a part of the time that `import heed` may take

        # A frame keeps the page's styles and scripts apart from those of the notebook.
        page = html.escape(self.page(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 640px; border: 0"></iframe>'
