"""Draw graphs: molecules as skeletal formulas, other graphs as dots and lines.

Notebooks display the drawings with HTML templates, which escape all inserted text.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist

from ...errors import InvalidGraphError, InvalidParameterError
from ...templating import environment
from ..batch import GraphBatch, counted
from ..convert.dispatch import as_graphs
from .layout import Placed, place
from .shapes import (
    Circle,
    Line,
    Palette,
    Picture,
    Polygon,
    Shape,
    Text,
    check_theme,
    write_picture,
)
from .skeletal import draw_formula

if TYPE_CHECKING:
    from markupsafe import Markup

#: Larger graphs would be unreadable and take minutes to lay out.
MOST_VERTICES = 600
#: Values below this fraction of the largest value are not coloured.
FAINT = 0.02
#: Height of the legend in pixels.
_LEGEND = 44
#: The largest edge value gets a slightly weaker colour than the largest vertex value.
_EDGE_STRENGTH = 0.75
#: Maximum number of characters of a label inside a vertex.
_LONGEST_LABEL = 5
#: Maximum length of a bond in pixels.
_LONGEST_BOND = 34.0


def draw(
    graph: Any,
    *,
    vertices: Any = None,
    edges: Any = None,
    positive: Any = None,
    negative: Any = None,
    limit: float | None = None,
    faded: Any = (),
    like: Any = None,
    theme: str = "light",
    width: int = 420,
    height: int = 300,
    legend: bool = True,
) -> str:
    """Draw a graph as SVG, with vertices and edges coloured by values.

    Parameters
    ----------
    graph : GraphBatch with one graph, or a list with one graph
        A graph whose labels are atoms and bonds (as written by :func:`from_smiles` and
        :func:`load_molecules` with any options) is drawn as a molecule, with coordinates from
        RDKit if it is installed, and otherwise with those stored for the bundled drugs. Hydrogens
        and charges that the labels do not contain are inferred from valence rules. The layout of
        all other graphs approximates the distances between vertices.
    vertices, edges : array-like, optional
        One value per vertex, and one per row of ``graph.edges``. Positive values are orange and
        negative values blue, a scale suitable for colour-blind readers.
    positive, negative : optional
        Names for positive and negative values in the legend, such as class labels.
    limit : float, optional
        Value with the strongest colour; by default the largest absolute value. Use the same
        limit for several drawings to make them comparable. Edges beside vertices are coloured
        relative to the largest value of an edge.
    faded : sequence of int, default=()
        Vertices to draw in grey, together with the edges between them, such as those that another
        graph has as well.
    like : GraphBatch with one graph, or a list with one graph, optional
        Another graph; the part that both have in common is drawn in the same orientation.
    theme : {"light", "dark", "auto"}, default="light"
        Colour scheme; ``"auto"`` follows the setting of the reader's system.
    width, height : int, default=420 and 300
        Size in pixels, including the legend.
    legend : bool, default=True
        Whether to draw the colour scale if there are values.

    Returns
    -------
    svg : str

    Examples
    --------
    >>> import graphgrain as gg
    >>> ethanol = [([(0, 1), (1, 2)], ["C", "C", "O"], ["single", "single"])]
    >>> gg.draw(ethanol, vertices=[0.0, 0.2, 1.0])[:4]
    '<svg'
    """
    return picture(**locals()).svg()


def picture(
    graph: Any,
    *,
    vertices: Any = None,
    edges: Any = None,
    positive: Any = None,
    negative: Any = None,
    limit: float | None = None,
    faded: Any = (),
    like: Any = None,
    theme: str = "light",
    width: int = 420,
    height: int = 300,
    legend: bool = True,
    marks: Sequence[Sequence[int]] = (),
) -> Picture:
    """Return the drawing of :func:`draw` before it is written as SVG or PNG.

    ``marks`` are groups of vertices to be numbered 1, 2, ... in the drawing.
    """
    check_theme(theme)
    batch = _one(graph)
    if batch.n_vertices > MOST_VERTICES:
        raise InvalidGraphError(
            f"draw shows graphs of up to {MOST_VERTICES} vertices; this one has "
            f"{batch.n_vertices:,}, of which nothing could be seen. Its values are in "
            "explanation.vertices; draw the part around the largest of them."
        )
    on_vertices = _values(vertices, batch.n_vertices, "vertices")
    on_edges = _values(edges, batch.n_edges, "edges")
    pale = _faded(faded, batch.n_vertices)
    palette = Palette(theme)
    coloured = vertices is not None or edges is not None
    below = _LEGEND if legend and coloured else 0
    largest = limit or _largest(on_vertices) or _largest(on_edges) or 1.0
    # Beside vertices, edges distribute the same contributions a second time, so they have a scale
    # of their own.
    of_edges = largest if vertices is None else _largest(on_edges) or 1.0
    shares = on_vertices / largest, _EDGE_STRENGTH * on_edges / of_edges
    drawn = Picture(width, height, palette, _described(batch, on_vertices, vertices is not None))
    if batch.n_vertices:
        placed = place(batch, None if like is None else _one(like))
        sketch = _Sketch(batch, placed, pale, palette, width, height - below)
        shapes = sketch.plain if placed.molecule is None else sketch.formula
        drawn.shapes += shapes(*shares) + sketch.marks(marks)
    else:
        middle = width / 2, (height - below) / 2
        drawn.shapes.append(Text(middle, "no vertices", 13, palette.soft, "middle"))
    if below:
        drawn.shapes += _legend(palette, largest, positive, negative, width, height - below)
    return drawn


def fragment_list(
    fragments: Sequence[tuple[str, float]], palette: Palette, height: float
) -> Picture:
    """Draw a list of marked fragments with their contributions, to place next to a drawing."""
    width = max(220, 100 + round(6.6 * max((len(name) for name, _ in fragments), default=0)))
    words = "; ".join(f"{name} {value:+.2g}" for name, value in fragments)
    drawn = Picture(width, height, palette, words)
    largest = max((abs(value) for _, value in fragments), default=0.0) or 1.0
    top = height / 2 - 22.0 * len(fragments)
    for number, (name, value) in enumerate(fragments, start=1):
        y = top + 44.0 * (number - 1) + 18
        long = (width - 36) * abs(value) / largest
        corners = [(24.0, y + 7), (24 + long, y + 7), (24 + long, y + 13), (24.0, y + 13)]
        drawn.shapes += [
            Circle((10, y - 4), 8.0, palette.ink),
            Text((10, y), str(number), 11.0, palette.page, "middle"),
            Text((24, y), name, 13.0, palette.ink),
            Text((width - 12, y), f"{value:+.2f}".replace("-", "\u2212"), 13.0, palette.ink, "end"),
            Polygon(corners, palette.of(1.0 if value > 0 else -1.0)),
        ]
    return drawn


def save_svg(
    make: Callable[..., Picture], path: str | os.PathLike[str] | None, **options: Any
) -> str:
    """Return the SVG of the picture that ``make`` draws, and write it to ``path`` if given."""
    text = make(**options).svg()
    if path is not None:
        write_picture(text.encode(), path, "svg")
    return text


def save_png(
    make: Callable[..., Picture],
    path: str | os.PathLike[str] | None,
    scale: float,
    **options: Any,
) -> bytes:
    """Return the PNG of the picture that ``make`` draws, and write it to ``path`` if given.

    Themes that depend on the reader's system become light.
    """
    if options.get("theme") in ("auto", "page"):
        options["theme"] = "light"
    content = make(**options).png(scale)
    if path is not None:
        write_picture(content, path, "png")
    return content


class Pictured:
    """Mixin with ``to_svg`` and ``to_png`` for classes that define ``_picture``."""

    _picture: Callable[..., Picture]

    def to_svg(self, path: str | os.PathLike[str] | None = None, **options: Any) -> str:
        """Draw as SVG, coloured by values.

        Parameters
        ----------
        path : path, optional
            File to write as well; its name must end in ``.svg``.
        **options
            Options of :func:`graphgrain.draw` (``width``, ``height``, ``theme``, ``legend``, ...)
            and those documented by the class.

        Returns
        -------
        svg : str
        """
        return save_svg(self._picture, path, **options)

    def to_png(
        self, path: str | os.PathLike[str] | None = None, *, scale: float = 2.0, **options: Any
    ) -> bytes:
        """Draw as PNG with matplotlib (``pip install 'graphgrain[plot]'``).

        Parameters
        ----------
        path : path, optional
            File to write as well; its name must end in ``.png``.
        scale : float, default=2.0
            Pixels of the image per pixel of ``width`` and ``height``.
        **options
            As in :meth:`to_svg`.

        Returns
        -------
        png : bytes
        """
        return save_png(self._picture, path, scale, **options)


def _one(graph: Any) -> GraphBatch:
    batch = as_graphs(graph)
    if len(batch) != 1:
        raise InvalidGraphError(f"draw shows one graph; got {len(batch)}. Use graphs[i].")
    return batch


def _values(values: Any, count: int, what: str) -> np.ndarray:
    if values is None:
        return np.zeros(count)
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (count,) or not np.isfinite(array).all():
        raise InvalidParameterError(
            f"{what} must be {count} finite numbers, one for each; got the shape {array.shape}"
            f"{'' if np.isfinite(array).all() else ' with values that are not finite'}."
        )
    return array


def _faded(vertices: Any, count: int) -> np.ndarray:
    """Return a mask of the faded vertices."""
    numbers = np.asarray(vertices)
    inside = not numbers.size or (
        numbers.ndim == 1
        and numbers.dtype.kind in "iu"
        and numbers.min() >= 0
        and numbers.max() < count
    )
    if not inside:
        raise InvalidParameterError(
            f"faded must be numbers of vertices from 0 to {count - 1}; got {str(vertices)[:60]}."
        )
    pale = np.zeros(count, dtype=bool)
    pale[numbers.astype(np.int64).ravel()] = True
    return pale


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))


def _described(batch: GraphBatch, values: np.ndarray, coloured: bool) -> str:
    vertices = counted(batch.n_vertices, "vertex", "vertices")
    text = f"A graph of {vertices} and {counted(batch.n_edges, 'edge')}"
    if coloured and len(values):
        strongest = np.argsort(-np.abs(values), kind="stable")[:3].tolist()
        labels = batch.labels
        parts = [f"{labels[v]} (vertex {v}): {values[v]:+.3g}" for v in strongest]
        text += f"; largest values: {', '.join(parts)}"
    return text


class _Sketch:
    """The shapes of one nonempty graph, scaled to the given size."""

    def __init__(
        self,
        batch: GraphBatch,
        placed: Placed,
        pale: np.ndarray,
        palette: Palette,
        width: int,
        height: int,
    ) -> None:
        self.batch, self.placed, self.pale, self.palette = batch, placed, pale, palette
        self.pairs, self.labels = batch.edges.tolist(), batch.labels.tolist()
        # Maximum edge length in pixels, and extent of texts beyond the points in edge lengths.
        longest, beyond = (70.0, 0.0) if placed.molecule is None else (_LONGEST_BOND, 0.75)
        margin = 6.0 if beyond else 18.0
        self.size = np.array([width, height])
        low, high = placed.points.min(axis=0) - beyond, placed.points.max(axis=0) + beyond
        scales = (self.size - 2 * margin) / np.maximum(high - low, 1e-9)
        self.unit = float(min(scales.min(), longest))
        self.shift = self.size / 2 - (low + high) / 2 * self.unit
        self.points = placed.points * self.unit + self.shift

    def _line(self, row: int, *style: Any, **options: Any) -> Line:
        first, second = self.pairs[row]
        ends = (*self.points[first].tolist(), *self.points[second].tolist())
        return Line(ends, *style, **options)

    def _disc(
        self, vertex: int, radius: float, fill: str, stroke: str = "none", width: float = 0.0
    ) -> Circle:
        """Return the circle of a vertex, with a tooltip."""
        centre = self.points[vertex, 0], self.points[vertex, 1]
        title = f"{self.labels[vertex]} (vertex {vertex})"
        return Circle(centre, radius, fill, stroke, width, title, ("v", vertex))

    def formula(self, vertices: np.ndarray, edges: np.ndarray) -> list[Shape]:
        """Draw a molecule, with colours behind bonds and atoms."""
        formula, palette = draw_formula(self.placed), self.palette
        radius, thick = 0.36 * self.unit, max(0.9, 0.055 * self.unit)
        shapes: list[Shape] = [
            self._line(row, palette.of(value), 1.2 * radius, part=("e", row))
            for row, value in enumerate(edges)
            if abs(value) >= FAINT
        ]
        for vertex, value in enumerate(vertices):
            fill = palette.of(value) if abs(value) >= FAINT else "transparent"
            shapes.append(self._disc(vertex, radius, fill))
        for lines, dashed in ((formula.lines, False), (formula.dashes, True)):
            for line in lines:
                colour = self._ink(line[:2], line[2:])
                shapes.append(Line(self._scaled(*line), colour, thick, dashed))
        shapes += [
            Polygon([self._scaled(x, y) for x, y in corners], self._ink(*corners))
            for corners in formula.wedges
        ]
        for x, y, radius in formula.circles:
            ring = self.placed.points[cdist([(x, y)], self.placed.points)[0] < 2 * radius]
            colour = self._ink(*map(tuple, ring))
            shapes.append(Circle(self._scaled(x, y), radius * self.unit, "none", colour, thick))
        for glyphs in formula.texts:
            x, y, text, size = glyphs
            colour = self._ink((x + glyphs.width / 2, y - 0.35 * size))
            shapes.append(Text(self._scaled(x, y), text, size * self.unit, colour))
        return shapes

    def _scaled(self, *numbers: float) -> Any:
        return tuple(number * self.unit + self.shift[i % 2] for i, number in enumerate(numbers))

    def _ink(self, *corners: Any) -> str:
        """Return grey if the atoms nearest to the points are all faded."""
        if not self.pale.any():
            return self.palette.ink
        nearest = cdist(np.array(corners), self.placed.points).argmin(axis=1)
        return self.palette.grey if self.pale[nearest].all() else self.palette.ink

    def marks(self, groups: Sequence[Sequence[int]]) -> list[Shape]:
        """Draw a number next to each group of vertices, where there is most space."""
        taken = self.points
        angles = np.arange(0, 2 * np.pi, np.pi / 12)
        around = 0.8 * self.unit * np.column_stack((np.cos(angles), np.sin(angles)))
        shapes: list[Shape] = []
        for number, group in enumerate(groups, start=1):
            places = (self.points[list(group)][:, None] + around).reshape(-1, 2)
            inside = ((places > 9) & (places < self.size - 9)).all(axis=1)
            free = cdist(places, taken).min(axis=1)
            x, y = places[int(np.argmax(np.where(inside, free, -1.0)))].tolist()
            taken = np.vstack((taken, [[x, y]]))
            shapes.append(Circle((x, y), 8.0, self.palette.ink))
            shapes.append(Text((x, y + 3.9), str(number), 11.0, self.palette.page, "middle"))
        return shapes

    def plain(self, vertices: np.ndarray, edges: np.ndarray) -> list[Shape]:
        """Draw a graph with dots and lines."""
        palette, pale = self.palette, self.pale
        # One in ten vertices may be closer to another than this.
        distances = cdist(self.points, self.points) + np.diag(np.full(len(self.points), 1e9))
        gap = np.quantile(distances.min(axis=1), 0.1)
        radius = float(np.clip(min(0.3 * self.unit, 0.48 * gap), 2.0, 14.0))
        shapes: list[Shape] = []
        for row, (first, second) in enumerate(self.pairs):
            if abs(edges[row]) >= FAINT:
                colour = palette.of(edges[row])
                shapes.append(self._line(row, colour, 0.7 * radius + 2, part=("e", row)))
            both = pale[first] and pale[second]
            shapes.append(self._line(row, palette.grey if both else palette.soft, 1.2))
        shapes += self._edge_labels(radius)
        for vertex, value in enumerate(vertices):
            ink = palette.grey if pale[vertex] else palette.ink
            shapes.append(self._disc(vertex, radius, palette.of(value), ink, 1.1))
            if self.batch.labelled and radius >= 6:
                text = _shortened(str(self.labels[vertex]), _LONGEST_LABEL)
                size = min(11.0, 2.6 * radius / max(2, len(text)))
                x, y = self.points[vertex].tolist()
                shapes.append(Text((x, y + 0.35 * size), text, size, ink, "middle"))
        return shapes

    def _edge_labels(self, radius: float) -> list[Shape]:
        """Draw the labels of edges that have enough space for them."""
        names = self.batch.edge_labels
        size = 9.0
        taken = [(x - radius, y - radius, x + radius, y + radius) for x, y in self.points.tolist()]
        shapes: list[Shape] = []
        for pair, name in zip(self.pairs, [] if names is None else names.tolist(), strict=False):
            text = str(name)
            wide = 0.56 * size * len(text)
            first, second = self.points[pair]
            x, y = ((first + second) / 2).tolist()
            left, top, right, bottom = box = (x - wide / 2, y - 3 - size, x + wide / 2, y)
            if wide <= float(np.linalg.norm(first - second)) - 2 * radius and not any(
                left < x2 and x1 < right and top < y2 and y1 < bottom for x1, y1, x2, y2 in taken
            ):
                taken.append(box)
                shapes.append(Text((x, y - 3), text, size, self.palette.soft, "middle"))
        return shapes


def _shortened(text: str, letters: int) -> str:
    """Cut a text to a number of letters, the last one an ellipsis.

    >>> _shortened("carbon", 6), _shortened("carbon", 4)
    ('carbon', 'car…')
    """
    return text if len(text) <= letters else text[: letters - 1] + "…"


def _legend(
    palette: Palette, largest: float, positive: Any, negative: Any, width: int, top: int
) -> list[Shape]:
    """Draw the colour scale, labelled with the largest value at both ends."""
    left, right = 16.0, width - 16.0
    steps = 41
    step = (right - left) / steps
    shapes: list[Shape] = []
    for i in range(steps):
        x1, x2 = left + i * step, left + (i + 1) * step + (0.3 if i < steps - 1 else 0)
        corners = [(x1, top + 6), (x2, top + 6), (x2, top + 15), (x1, top + 15)]
        shapes.append(Polygon(corners, palette.of(2 * i / (steps - 1) - 1)))
    room = int((width / 2 - 26) / 5.8) - 7  # letters beside a number, up to the middle
    low, high = (
        word if name is None else _shortened(f"for {name}", room)
        for word, name in (("against", negative), ("for", positive))
    )
    ink, base = palette.ink, top + 30
    shapes.append(Text((left, base), f"{low} {-largest:.2g}", 11, ink))
    shapes.append(Text((width / 2, base), "0", 11, ink, "middle"))
    shapes.append(Text((right, base), f"{high} {largest:+.2g}", 11, ink, "end"))
    return shapes


# -------------------------------------------------------------------- data for interactive pages


def outline(graph: GraphBatch, like: GraphBatch | None = None) -> dict[str, Any]:
    """Return the drawing of a graph as compact JSON data, in hundredths of an edge length."""
    placed = place(graph, like)
    shown: dict[str, Any] = {
        "points": np.round(100 * placed.points).astype(int).tolist(),
        "edges": graph.edges.tolist(),
    }
    if placed.molecule is None:
        labels = [str(label) for label in graph.labels.tolist()] if graph.labelled else []
        return shown | {"labels": labels}
    formula = draw_formula(placed)

    def path(lines: list[tuple[float, float, float, float]]) -> str:
        return "".join("M{} {}L{} {}".format(*_hundredths(line)) for line in lines)

    wedges = "".join(
        "M" + "L".join("{} {}".format(*_hundredths(point)) for point in corners) + "Z"
        for corners in formula.wedges
    )
    texts = [[*_hundredths((t.x, t.y)), t.text, round(100 * t.size)] for t in formula.texts]
    drawn = {
        "lines": path(formula.lines),
        "dashes": path(formula.dashes),
        "wedges": wedges,
        "circles": [_hundredths(circle) for circle in formula.circles],
        "texts": texts,
    }
    return shown | {name: value for name, value in drawn.items() if value}


def _hundredths(numbers: tuple[float, ...]) -> list[int]:
    return [round(100 * number) for number in numbers]


# -------------------------------------------------------------------- notebooks

#: Number of graphs of a batch that are drawn.
_GRAPHS = 8


def card(package: str, template: str, macro: str, *values: Any) -> str:
    """Render a template macro inside a box with its own light and dark colours."""
    box: Any = environment("graphgrain.graphs.drawing").get_template("card.html").module
    found = getattr(environment(package).get_template(template).module, macro)
    return f'<div class="gg-card">{box.style()}{found(*values)}</div>'


def picture_or_reason(make: Callable[..., str], **options: Any) -> Markup:
    """Return the SVG, or the reason as a paragraph if the graph cannot be drawn."""
    from markupsafe import Markup

    try:
        return Markup(make(theme="page", **options))  # texts in the SVG are already escaped
    except InvalidGraphError as reason:
        return Markup("<p><small>{}</small></p>").format(str(reason))


def graphs_html(batch: GraphBatch) -> str:
    """Return HTML with small drawings of the first graphs of a batch."""
    shown = []
    for number, graph in enumerate(batch[:_GRAPHS]):
        vertices = counted(graph.n_vertices, "vertex", "vertices")
        words = f"{number}: {vertices}, {counted(graph.n_edges, 'edge')}"
        shown.append((picture_or_reason(partial(draw, graph), width=180, height=130), words))
    more = len(batch) - len(shown)
    rest = f"{more:,}" if more else ""
    return card("graphgrain.graphs.drawing", "card.html", "multiples", repr(batch), shown, rest)
