"""Pictures of what is explained, as text, as files, and in notebooks."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ..graphs.drawing.picture import as_png
from ..graphs.drawing.shapes import Picture, write_png, write_svg


class Pictured:
    """What can be drawn, by a function that makes the picture."""

    _picture: Callable[..., Picture]

    @classmethod
    def by(cls, make: Callable[..., Picture]) -> Pictured:
        drawn = cls()
        drawn._picture = make
        return drawn

    def to_svg(self, path: str | os.PathLike[str] | None = None, **options: Any) -> str:
        """A picture, coloured by values, as SVG.

        Parameters
        ----------
        path : path, optional
            Where to write it as well; its name ends in ``.svg``.
        options
            As in :func:`graphgrain.draw`: ``width``, ``height``, ``theme``, ``legend``, ...; and
            those that the class names.
        """
        text = self._picture(**options).svg()
        if path is not None:
            write_svg(text, path)
        return text

    def to_png(
        self, path: str | os.PathLike[str] | None = None, *, scale: float = 2.0, **options: Any
    ) -> bytes:
        """The same picture as PNG, drawn by matplotlib (``pip install 'graphgrain[plot]'``).

        Parameters
        ----------
        path : path, optional
            Where to write it as well; its name ends in ``.png``.
        scale : float, default=2.0
            Pixels of the file per pixel of ``width`` and ``height``.
        options
            As in :meth:`to_svg`.
        """
        content = as_png(self._picture, scale, **options)
        if path is not None:
            write_png(content, path)
        return content
