"""Shapes and colours of a picture, and writing it as SVG or PNG.

Values are coloured with a diverging scale suitable for colour-blind readers: positive values are
orange, negative values blue, and 0 has the colour of the background. Pictures that support both
themes contain both colours, through the CSS function ``light-dark``.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from html import escape
from itertools import pairwise
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from ...errors import InvalidParameterError, needed
from ...writing import atomic_write

#: These fonts have the same metrics, so text has the same width everywhere.
FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"
#: Mean width of a letter, as a fraction of the font size.
LETTER = 0.56

RGB = tuple[int, ...]
#: Each colour in the light and in the dark theme. Ink is legible on all of them but grey.
_POSITIVE = (224, 105, 16), (166, 78, 10)
_NEGATIVE = (72, 142, 212), (43, 104, 187)
_PAGE = (255, 255, 255), (18, 22, 28)
_INK = (24, 32, 43), (232, 236, 242)
_GREY = (158, 165, 175), (102, 112, 125)
_SOFT = (83, 96, 114), (163, 174, 189)
_CATEGORIES = (
    ((158, 202, 225), (38, 92, 126)),
    ((253, 190, 133), (140, 76, 14)),
    ((161, 217, 155), (36, 102, 50)),
    ((250, 178, 203), (146, 48, 92)),
    ((203, 190, 224), (92, 70, 140)),
    ((240, 224, 120), (104, 88, 8)),
    ((150, 220, 214), (14, 98, 96)),
    ((216, 190, 168), (104, 78, 58)),
)
N_CATEGORIES = len(_CATEGORIES)

#: Points, matplotlib's unit of line widths and font sizes, per pixel.
_POINT = 72 / 100
#: "auto" follows the reader's system, "page" the page that contains the picture.
THEMES = ("light", "dark", "auto", "page")


def check_theme(theme: str) -> None:
    if theme not in THEMES:
        raise InvalidParameterError(f"theme must be one of {', '.join(THEMES)}; got {theme!r}.")


class Palette:
    """The colours of a picture as CSS; ``grey`` is for faded parts."""

    def __init__(self, theme: str) -> None:
        self.theme = theme
        self.page, self.ink = self._css(_PAGE), self._css(_INK)
        self.soft, self.grey = self._css(_SOFT), self._css(_GREY)

    @property
    def root_style(self) -> str:
        """CSS of the outermost element."""
        scheme = "color-scheme:light dark;" if self.theme == "auto" else ""
        return f"{scheme}background:{self.page};color:{self.ink}"

    def of(self, strength: float) -> str:
        """Return the colour of a value between -1 and 1."""
        return self._css(_scale(strength))

    def category(self, number: int) -> str:
        """Return the colour of a label; grey after the last."""
        return self._css(_CATEGORIES[number]) if number < N_CATEGORIES else self.grey

    def _css(self, colours: Sequence[RGB]) -> str:
        light, dark = ("#" + bytes(colour).hex() for colour in colours)
        return {"light": light, "dark": dark}.get(self.theme, f"light-dark({light},{dark})")


def _scale(strength: float) -> list[RGB]:
    """Return the colour of a value between -1 and 1 in both themes."""
    amount = min(1.0, abs(strength))
    return [
        tuple(round(amount * high + (1 - amount) * low) for low, high in zip(*ends, strict=True))
        for ends in zip(_PAGE, _POSITIVE if strength > 0 else _NEGATIVE, strict=True)
    ]


Point = tuple[float, float]


class Path(NamedTuple):
    """Straight lines through points; closed and filled if there is a ``fill``.

    ``stroke`` is one colour, or those of both ends, which are blended. ``part`` is what the path
    represents, such as ``("e", 3)`` for edge 3.
    """

    points: Sequence[Point]
    stroke: str | tuple[str, str] = "none"
    width: float = 0.0
    fill: str = "none"
    dashed: bool = False
    part: tuple[str, int] | None = None

    def moved(self, right: float, down: float = 0) -> Path:
        return self._replace(points=[(x + right, y + down) for x, y in self.points])

    def svg(self) -> str:
        corners = "L".join(f"{x:.1f} {y:.1f}" for x, y in self.points)
        if self.fill != "none":
            return f'<path d="M{corners}Z" fill="{self.fill}"/>'
        gradient, stroke = self._gradient()
        dashes = ' stroke-dasharray="2"' if self.dashed else ""
        return (
            f'{gradient}<path d="M{corners}"{_data(self.part)} fill="none" stroke="{stroke}" '
            f'stroke-width="{self.width:.1f}" stroke-linecap="round"{dashes}/>'
        )

    def _gradient(self) -> tuple[str, str]:
        """Return the definition of the gradient between two colours, and the stroke."""
        if isinstance(self.stroke, str):
            return "", self.stroke
        first, second = self.stroke
        (x1, y1), (x2, y2) = self.points
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        # The name follows from the content, so several pictures can stand on one page.
        name = "g" + blake2b(f"{ends}{self.stroke}".encode(), digest_size=6).hexdigest()
        return (
            f'<linearGradient id="{name}" gradientUnits="userSpaceOnUse" {ends}>'
            f'<stop offset="0" stop-color="{first}"/><stop offset="1" stop-color="{second}"/>'
            "</linearGradient>"
        ), f"url(#{name})"

    def add_to(self, axes: Any, order: int) -> None:
        x, y = np.array(self.points).T
        if self.fill != "none":
            axes.fill(x, y, facecolor=self.fill, edgecolor="none", zorder=order)
            return
        style: dict[str, Any] = {"linewidth": self.width * _POINT, "zorder": order}
        if isinstance(self.stroke, str):
            style["linestyle"] = (0, (1.5, 1.5)) if self.dashed else "-"
            axes.plot(x, y, color=self.stroke, solid_capstyle="round", **style)
            return
        from matplotlib.colors import LinearSegmentedColormap

        colours = LinearSegmentedColormap.from_list("", list(self.stroke))
        steps = np.linspace(0, 1, 13)
        for begin, end in pairwise(steps):
            part = np.array([begin, end])
            ends = x[0] + part * (x[1] - x[0]), y[0] + part * (y[1] - y[0])
            axes.plot(*ends, color=colours((begin + end) / 2), solid_capstyle="round", **style)


class Circle(NamedTuple):
    """A circle; ``title`` is its tooltip."""

    centre: Point
    radius: float
    fill: str
    stroke: str = "none"
    stroke_width: float = 0.0
    title: str = ""
    part: tuple[str, int] | None = None

    def moved(self, right: float, down: float = 0) -> Circle:
        return self._replace(centre=(self.centre[0] + right, self.centre[1] + down))

    def svg(self) -> str:
        x, y = self.centre
        title = f"<title>{escape(self.title)}</title>" if self.title else ""
        edge = f' stroke="{self.stroke}" stroke-width="{self.stroke_width:.1f}"'
        return (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{self.radius:.1f}" fill="{self.fill}"'
            f"{_data(self.part)}{edge if self.stroke != 'none' else ''}>{title}</circle>"
        )

    def add_to(self, axes: Any, order: int) -> None:
        from matplotlib.patches import Circle as Patch

        style = {"edgecolor": self.stroke, "linewidth": self.stroke_width * _POINT}
        fill = "none" if self.fill == "transparent" else self.fill
        axes.add_patch(Patch(self.centre, self.radius, facecolor=fill, zorder=order, **style))


class Text(NamedTuple):
    """Text whose baseline has its start, middle or end (``anchor``) at a point.

    ``halo`` is the colour of an outline that separates it from lines below.
    """

    at: Point
    text: str
    size: float
    colour: str
    anchor: str = "start"
    halo: str = ""

    def moved(self, right: float, down: float = 0) -> Text:
        return self._replace(at=(self.at[0] + right, self.at[1] + down))

    def svg(self) -> str:
        x, y = self.at
        anchor = f' text-anchor="{self.anchor}"' if self.anchor != "start" else ""
        halo = f' stroke="{self.halo}" stroke-width="3" paint-order="stroke"' if self.halo else ""
        return (
            f'<text x="{x:.1f}" y="{y:.1f}"{anchor} font-size="{self.size:.1f}" '
            f'fill="{self.colour}"{halo} pointer-events="none">{escape(self.text)}</text>'
        )

    def add_to(self, axes: Any, order: int) -> None:
        from matplotlib.patheffects import withStroke

        outline = [withStroke(linewidth=3 * _POINT, foreground=self.halo)] if self.halo else None
        axes.text(
            *self.at,
            self.text,
            fontsize=self.size * _POINT,
            color=self.colour,
            ha={"start": "left", "middle": "center", "end": "right"}[self.anchor],
            va="baseline",
            family=_font_family(),
            zorder=order,
            parse_math=False,
            path_effects=outline,
        )


def text_width(text: str, size: float) -> float:
    """Return the approximate width of a text in pixels."""
    return LETTER * size * len(text)


def _data(part: tuple[str, int] | None) -> str:
    return "" if part is None else f' data-{part[0]}="{part[1]}"'


@cache
def _font_family() -> str:
    """Return the first font with Arial's metrics that matplotlib finds, or its default."""
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    return next((n for n in ("Arial", "Helvetica", "Liberation Sans") if n in known), "sans-serif")


Shape = Path | Circle | Text


@dataclass
class Picture:
    """Shapes in an area of a given width and height in pixels."""

    width: float
    height: float
    palette: Palette
    description: str
    shapes: list[Shape] = field(default_factory=list)

    def beside(self, other: Picture) -> Picture:
        """Return a picture with ``other`` to the right of this one."""
        return Picture(
            self.width + other.width,
            max(self.height, other.height),
            self.palette,
            f"{self.description}. Beside it: {other.description}",
            [*self.shapes, *(shape.moved(self.width) for shape in other.shapes)],
        )

    def svg(self) -> str:
        """Return the picture as SVG."""
        inside = "".join(shape.svg() for shape in self.shapes)
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img" style="{self.palette.root_style}" '
            f'font-family="{FONT}"><title>{escape(self.description)}</title>{inside}</svg>'
        )

    def png(self, scale: float = 2.0) -> bytes:
        """Return the picture as PNG, drawn by matplotlib."""
        instead = "'graphgrain[plot]', or write SVG with to_svg."
        with needed("PNG is drawn with matplotlib", instead):
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        figure = Figure(figsize=(self.width / 100, self.height / 100), dpi=100 * scale)
        FigureCanvasAgg(figure)
        figure.patch.set_facecolor(self.palette.page)
        axes: Any = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, self.width), ylim=(self.height, 0))
        axes.axis("off")
        for order, shape in enumerate(self.shapes):
            shape.add_to(axes, order)
        file = io.BytesIO()
        figure.savefig(file, format="png", facecolor=figure.get_facecolor())
        return file.getvalue()


def write_picture(content: bytes, path: str | os.PathLike[str], kind: str) -> None:
    """Write SVG or PNG to a file whose name ends in ``.svg`` or ``.png``."""
    ending, other = PurePath(path).suffix.lower(), "png" if kind == "svg" else "svg"
    if ending != f".{kind}":
        way_out = f"Use to_{other} for .{other}" if ending == f".{other}" else f"Name it *.{kind}"
        raise InvalidParameterError(
            f"A {kind.upper()} picture is written to a file that ends in .{kind}; got "
            f"{os.fspath(path)!r}. {way_out}."
        )
    with atomic_write(path, "The picture") as file:
        file.write(content)
