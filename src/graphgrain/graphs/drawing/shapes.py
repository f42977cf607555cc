"""Shapes and colours of a picture, and writing it as SVG or PNG.

Values are coloured with a diverging scale suitable for colour-blind readers: positive values are
orange, negative values blue, and 0 has the colour of the background. Pictures that support both
themes contain both colours, through the CSS function ``light-dark``.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import PurePath
from typing import Any, NamedTuple

from ...errors import InvalidParameterError, needed
from ...writing import atomic_write

#: These fonts have the same metrics, so text has the same width everywhere.
FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"

_POSITIVE = {"light": (217, 95, 2), "dark": (245, 133, 24)}
_NEGATIVE = {"light": (33, 102, 172), "dark": (72, 149, 239)}
_PAGE = {"light": (255, 255, 255), "dark": (18, 22, 28)}
_INK = {"light": (24, 32, 43), "dark": (232, 236, 242)}
_GREY = {"light": (134, 142, 153), "dark": (122, 132, 145)}
_SOFT = {"light": (83, 96, 114), "dark": (163, 174, 189)}

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
        ends = _POSITIVE if strength > 0 else _NEGATIVE
        amount = min(1.0, abs(strength))
        return self._css(
            {
                theme: tuple(
                    round(amount * high + (1 - amount) * low)
                    for low, high in zip(page, ends[theme], strict=True)
                )
                for theme, page in _PAGE.items()
            }
        )

    def _css(self, colours: Mapping[str, tuple[int, ...]]) -> str:
        codes = {name: "#" + bytes(colour).hex() for name, colour in colours.items()}
        return codes.get(self.theme) or f"light-dark({codes['light']},{codes['dark']})"


class Line(NamedTuple):
    """A straight line; ``part`` is what it represents, such as ``("e", 3)`` for edge 3."""

    ends: tuple[float, float, float, float]
    colour: str
    width: float
    dashed: bool = False
    part: tuple[str, int] | None = None

    def moved(self, by: float) -> Line:
        x1, y1, x2, y2 = self.ends
        return self._replace(ends=(x1 + by, y1, x2 + by, y2))

    def svg(self) -> str:
        x1, y1, x2, y2 = self.ends
        dashes = f' stroke-dasharray="{2.2 * self.width:.1f}"' if self.dashed else ""
        return (
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"{_data(self.part)} '
            f'stroke="{self.colour}" stroke-width="{self.width:.1f}" stroke-linecap="round"'
            f"{dashes}/>"
        )

    def add_to(self, axes: Any, order: int) -> None:
        x1, y1, x2, y2 = self.ends
        axes.plot(
            [x1, x2],
            [y1, y2],
            color=self.colour,
            linewidth=self.width * _POINT,
            solid_capstyle="round",
            linestyle=(0, (2.2, 2.2)) if self.dashed else "-",
            zorder=order,
        )


class Polygon(NamedTuple):
    """A filled polygon."""

    points: Sequence[tuple[float, float]]
    fill: str

    def moved(self, by: float) -> Polygon:
        return self._replace(points=[(x + by, y) for x, y in self.points])

    def svg(self) -> str:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in self.points)
        return f'<polygon points="{points}" fill="{self.fill}"/>'

    def add_to(self, axes: Any, order: int) -> None:
        x, y = zip(*self.points, strict=True)
        axes.fill(x, y, facecolor=self.fill, edgecolor="none", zorder=order)


class Circle(NamedTuple):
    """A circle; ``title`` is its tooltip."""

    centre: tuple[float, float]
    radius: float
    fill: str
    stroke: str = "none"
    stroke_width: float = 0.0
    title: str = ""
    part: tuple[str, int] | None = None

    def moved(self, by: float) -> Circle:
        return self._replace(centre=(self.centre[0] + by, self.centre[1]))

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

        axes.add_patch(
            Patch(
                self.centre,
                self.radius,
                facecolor="none" if self.fill == "transparent" else self.fill,
                edgecolor=self.stroke,
                linewidth=self.stroke_width * _POINT,
                zorder=order,
            )
        )


class Text(NamedTuple):
    """Text whose baseline has its start, middle or end (``anchor``) at a point."""

    place: tuple[float, float]
    text: str
    size: float
    colour: str
    anchor: str = "start"

    def moved(self, by: float) -> Text:
        return self._replace(place=(self.place[0] + by, self.place[1]))

    def svg(self) -> str:
        x, y = self.place
        anchor = f' text-anchor="{self.anchor}"' if self.anchor != "start" else ""
        return (
            f'<text x="{x:.1f}" y="{y:.1f}"{anchor} font-size="{self.size:.1f}" '
            f'fill="{self.colour}" pointer-events="none">{escape(self.text)}</text>'
        )

    def add_to(self, axes: Any, order: int) -> None:
        axes.text(
            *self.place,
            self.text,
            fontsize=self.size * _POINT,
            color=self.colour,
            ha={"start": "left", "middle": "center", "end": "right"}[self.anchor],
            va="baseline",
            family=_font_family(),
            zorder=order,
            parse_math=False,
        )


def _data(part: tuple[str, int] | None) -> str:
    return "" if part is None else f' data-{part[0]}="{part[1]}"'


@cache
def _font_family() -> str:
    """Return the first font with Arial's metrics that matplotlib finds, or its default."""
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    return next((n for n in ("Arial", "Helvetica", "Liberation Sans") if n in known), "sans-serif")


Shape = Line | Polygon | Circle | Text


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
            f'height="{self.height}" role="img" aria-label="{escape(self.description)}" '
            f'style="{self.palette.root_style}" font-family="{FONT}">{inside}</svg>'
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
