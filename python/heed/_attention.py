"""The attention of one text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from . import _heed


class Attention(Sequence[_heed.AttentionMap]):
    """A map for each layer, encoder first. A notebook draws it as an interactive page."""

    def __init__(self, attention: _heed.Attention) -> None:
        self._attention = attention
        self._maps = attention.maps

    @overload
    def __getitem__(self, index: int) -> _heed.AttentionMap: ...
    @overload
    def __getitem__(self, index: slice) -> list[_heed.AttentionMap]: ...
    def __getitem__(self, index: int | slice) -> _heed.AttentionMap | list[_heed.AttentionMap]:
        return self._maps[index]

    def __len__(self) -> int:
        return len(self._maps)

    def page(self) -> str:
        """A page of HTML that shows all maps, without network or other files."""
        return self._attention.page()

    def _repr_html_(self) -> str:
        import html  # a part of the time that `import heed` may take

        # A frame keeps the page's styles and scripts apart from those of the notebook.
        page = html.escape(self.page(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 640px; border: 0"></iframe>'
