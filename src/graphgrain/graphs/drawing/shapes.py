"""Shapes of a picture, in pixels, their colours, and the two ways to write them: SVG and PNG.

The colours of values are a diverging scale that colour-blind readers can tell apart, light and
dark: positive values are orange, negative ones blue, nothing is the colour of the background. Pages
in both themes carry both colours of everything, through the CSS function ``light-dark``.
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

from ...errors import InvalidParameterError, MissingDependencyError
from ...writing import atomic_write

#: Arial's metrics are those of Helvetica and Liberation Sans: text has the same width everywhere.
FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"

_POSITIVE = {"light": (217, 95, 2), "dark": (245, 133, 24)}
_NEGATIVE = {"light": (33, 102, 172), "dark": (72, 149, 239)}
_PAGE = {"light": (255, 255, 255), "dark": (18, 22, 28)}
_INK = {"light": (24, 32, 43), "dark": (232, 236, 242)}
_GREY = {"light": (134, 142, 153), "dark": (122, 132, 145)}
_SOFT = {"light": (83, 96, 114), "dark": (163, 174, 189)}

#: Themes of a picture: one of both, as the system says, or as the page around it says.
THEMES = ("light", "dark", "auto", "page")


def check_theme(theme: str) -> None:
    if theme not in THEMES:
        raise InvalidParameterError(f"theme must be one of {', '.join(THEMES)}; got {theme!r}.")


@dataclass(frozen=True)
class Palette:
    """The colours of one picture, as CSS."""

    theme: str

    @property
    def page(self) -> str:
        return self._both(_PAGE)

    @property
    def ink(self) -> str:
        return self._both(_INK)

    @property
    def soft(self) -> str:
        return self._both(_SOFT)

    @property
    def grey(self) -> str:
        """Of what is there but is not what the picture is about."""
        return self._both(_GREY)

    @property
    def root_style(self) -> str:
        """What the outermost element needs so that the colours mean what they should."""
        scheme = "color-scheme:light dark;" if self.theme == "auto" else ""
        return f"{scheme}background:{self.page};color:{self.ink}"

    def of(self, strength: float) -> str:
        """The colour of a value between -1 and 1.

        Examples
        --------
        >>> from graphgrain.graphs.drawing.shapes import Palette
        >>> Palette("light").of(0.0), Palette("light").of(1.0)
        ('#ffffff', '#d95f02')
        """
        strength = max(-1.0, min(1.0, strength))
        ends = _POSITIVE if strength > 0 else _NEGATIVE
        amount = abs(strength)
        mixed = {
            theme: tuple(
                round(amount * high + (1 - amount) * low)
                for low, high in zip(_PAGE[theme], ends[theme], strict=True)
            )
            for theme in _PAGE
        }
        return self._both(mixed)

    def _both(self, colours: Mapping[str, tuple[int, ...]]) -> str:
        if self.theme in colours:
            return _hex(colours[self.theme])
        return f"light-dark({_hex(colours['light'])},{_hex(colours['dark'])})"


def _hex(colour: tuple[int, ...]) -> str:
    return "#" + "".join(f"{part:02x}" for part in colour)


class Line(NamedTuple):
    """A straight line; ``part`` names what it stands for, such as ``("e", 3)``."""

    ends: tuple[float, float, float, float]
    colour: str
    width: float
    dashed: bool = False
    part: tuple[str, int] | None = None


class Polygon(NamedTuple):
    """A filled polygon."""

    points: Sequence[tuple[float, float]]
    fill: str


class Circle(NamedTuple):
    """A circle; ``title`` is shown where the pointer rests on it."""

    centre: tuple[float, float]
    radius: float
    fill: str
    stroke: str = "none"
    stroke_width: float = 0.0
    title: str = ""
    part: tuple[str, int] | None = None


class Text(NamedTuple):
    """Text whose baseline begins, or has its middle or end, at a point."""

    place: tuple[float, float]
    text: str
    size: float
    colour: str
    anchor: str = "start"


Shape = Line | Polygon | Circle | Text


@dataclass
class Picture:
    """Shapes on a page of some width and height."""

    width: float
    height: float
    palette: Palette
    description: str
    shapes: list[Shape] = field(default_factory=list)

    def beside(self, other: Picture) -> Picture:
        """Both pictures in one, the other at the right."""
        return Picture(
            self.width + other.width,
            max(self.height, other.height),
            self.palette,
            f"{self.description}. Beside it: {other.description}",
            [*self.shapes, *(_moved(shape, self.width) for shape in other.shapes)],
        )

    def svg(self) -> str:
        """The picture as SVG."""
        inside = "".join(_svg(shape) for shape in self.shapes)
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img" aria-label="{escape(self.description)}" '
            f'style="{self.palette.root_style}" font-family="{FONT}">{inside}</svg>'
        )

    def png(self, scale: float = 2.0) -> bytes:
        """The picture as PNG, drawn by matplotlib."""
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError:
            raise MissingDependencyError(
                "PNG is drawn with matplotlib, which is not installed. Install it with: "
                "pip install 'graphgrain[plot]', or write SVG with to_svg."
            ) from None
        figure = Figure(figsize=(self.width / 100, self.height / 100), dpi=100 * scale)
        FigureCanvasAgg(figure)
        figure.patch.set_facecolor(self.palette.page)
        axes: Any = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, self.width), ylim=(self.height, 0))
        axes.axis("off")
        for order, shape in enumerate(self.shapes):
            _add_to_axes(axes, shape, order)
        file = io.BytesIO()
        figure.savefig(file, format="png", facecolor=figure.get_facecolor())
        return file.getvalue()


def write_svg(text: str, path: str | os.PathLike[str]) -> None:
    """Write SVG to a file whose name ends in .svg."""
    _write(text.encode(), path, ".svg", ".png", "to_png")


def write_png(content: bytes, path: str | os.PathLike[str]) -> None:
    """Write PNG to a file whose name ends in .png."""
    _write(content, path, ".png", ".svg", "to_svg")


def _write(
    content: bytes, path: str | os.PathLike[str], suffix: str, other: str, method: str
) -> None:
    ending = PurePath(path).suffix
    if ending.lower() != suffix:
        way_out = f"Use {method} for {other}" if ending.lower() == other else f"Name it *{suffix}"
        raise InvalidParameterError(
            f"A {suffix[1:].upper()} picture is written to a file that ends in {suffix}; got "
            f"{os.fspath(path)!r}. {way_out}."
        )
    with atomic_write(path, "The picture") as file:
        file.write(content)


def _moved(shape: Shape, by: float) -> Shape:
    if isinstance(shape, Line):
        x1, y1, x2, y2 = shape.ends
        return shape._replace(ends=(x1 + by, y1, x2 + by, y2))
    if isinstance(shape, Polygon):
        return shape._replace(points=[(x + by, y) for x, y in shape.points])
    if isinstance(shape, Circle):
        return shape._replace(centre=(shape.centre[0] + by, shape.centre[1]))
    return shape._replace(place=(shape.place[0] + by, shape.place[1]))


def _svg(shape: Shape) -> str:
    if isinstance(shape, Line):
        x1, y1, x2, y2 = shape.ends
        dashes = f' stroke-dasharray="{2.2 * shape.width:.1f}"' if shape.dashed else ""
        return (
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"{_part(shape.part)} '
            f'stroke="{shape.colour}" stroke-width="{shape.width:.1f}" stroke-linecap="round"'
            f"{dashes}/>"
        )
    if isinstance(shape, Polygon):
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
        return f'<polygon points="{points}" fill="{shape.fill}"/>'
    if isinstance(shape, Circle):
        x, y = shape.centre
        title = f"<title>{escape(shape.title)}</title>" if shape.title else ""
        edge = f' stroke="{shape.stroke}" stroke-width="{shape.stroke_width:.1f}"'
        return (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{shape.radius:.1f}" fill="{shape.fill}"'
            f"{_part(shape.part)}{edge if shape.stroke != 'none' else ''}>{title}</circle>"
        )
    x, y = shape.place
    anchor = f' text-anchor="{shape.anchor}"' if shape.anchor != "start" else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}"{anchor} font-size="{shape.size:.1f}" '
        f'fill="{shape.colour}" pointer-events="none">{escape(shape.text)}</text>'
    )


def _part(part: tuple[str, int] | None) -> str:
    return "" if part is None else f' data-{part[0]}="{part[1]}"'


@cache
def _font_family() -> str:
    """The first font of those with Arial's metrics that matplotlib finds, else its own."""
    from matplotlib.font_manager import fontManager

    known = {font.name for font in fontManager.ttflist}
    return next((n for n in ("Arial", "Helvetica", "Liberation Sans") if n in known), "sans-serif")


def _add_to_axes(axes: Any, shape: Shape, order: int) -> None:
    from matplotlib import patches

    point = 72 / 100  # a pixel, in the unit of line widths and fonts
    if isinstance(shape, Line):
        x1, y1, x2, y2 = shape.ends
        axes.plot(
            [x1, x2],
            [y1, y2],
            color=shape.colour,
            linewidth=shape.width * point,
            solid_capstyle="round",
            linestyle=(0, (2.2, 2.2)) if shape.dashed else "-",
            zorder=order,
        )
    elif isinstance(shape, Polygon):
        axes.add_patch(
            patches.Polygon(
                list(shape.points), facecolor=shape.fill, edgecolor="none", zorder=order
            )
        )
    elif isinstance(shape, Circle):
        axes.add_patch(
            patches.Circle(
                shape.centre,
                shape.radius,
                facecolor="none" if shape.fill == "transparent" else shape.fill,
                edgecolor=shape.stroke,
                linewidth=shape.stroke_width * point,
                zorder=order,
            )
        )
    else:
        axes.text(
            *shape.place,
            shape.text,
            fontsize=shape.size * point,
            color=shape.colour,
            ha={"start": "left", "middle": "center", "end": "right"}[shape.anchor],
            va="baseline",
            family=_font_family(),
            zorder=order,
            parse_math=False,
        )
