"""Pictures of graphs: molecules as chemists draw them, other graphs as dots and lines.

Notebooks show them through templates, and everything that is put into one is escaped.
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
from ..batch import GraphBatch
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
    write_png,
    write_svg,
)
from .skeletal import draw_formula

if TYPE_CHECKING:
    from markupsafe import Markup

#: Larger graphs would be a grey cloud, and take minutes to lay out.
MOST_VERTICES = 600
#: Below this share of the largest value nothing is coloured.
FAINT = 0.02
_LEGEND = 44
#: The strongest edge is a little weaker than the strongest vertex.
_EDGE_STRENGTH = 0.75
#: Labels inside a vertex are cut to this many characters.
_LONGEST_LABEL = 5
#: Pixels per bond of a molecule, at most.
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
    """Draw a graph as SVG, its vertices and edges coloured by values.

    Parameters
    ----------
    graph : GraphBatch with one graph, or a list with one graph
        If its labels are atoms and bonds (as :func:`from_smiles` and :func:`load_molecules` write
        them, with any of their options) it is drawn as a molecule: with the coordinates of RDKit
        where that is installed, else with those of the bundled drugs. Hydrogens and charges
        that labels leave out follow from the rules of valence. All other graphs have a layout that
        keeps distances.
    vertices, edges : array-like, optional
        One value per vertex, and one per row of ``graph.edges``. Positive values are orange,
        negative ones blue: a scale that colour-blind readers can tell apart.
    positive, negative : optional
        What such values mean, said in the legend.
    limit : float, optional
        The value with the strongest colour; by default the largest of the picture. Give the same
        to several pictures to make them comparable.
    faded : sequence of int
        Vertices that are drawn in grey, with the edges between them: what another graph has, too.
    like : GraphBatch with one graph, or a list with one graph, optional
        Another graph: the part that both share is drawn in the same orientation.
    theme : {"light", "dark", "auto"}, default="light"
        ``"auto"`` follows the reader's system.
    width, height : int
        In pixels, the legend included.
    legend : bool, default=True
        Whether the scale is drawn below a graph with values.

    Returns
    -------
    str

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
    """What :func:`draw` draws, before it is written as SVG or PNG.

    ``marks`` are groups of vertices that get the numbers 1, 2, ... beside them.
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
    # Edges share the same contributions again: they are seen against their own largest value.
    shares = on_vertices / largest, _EDGE_STRENGTH * on_edges / (_largest(on_edges) or 1.0)
    drawn = Picture(width, height, palette, _described(batch, on_vertices, coloured))
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
    """Names of marked fragments with what they add, to be set beside a picture of them."""
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


def as_png(make: Any, scale: float, **options: Any) -> bytes:
    """The PNG of a function that makes pictures; themes that follow the reader become light."""
    if options.get("theme", "light") not in ("light", "dark"):
        options["theme"] = "light"
    return make(**options).png(scale)


def save_svg(
    make: Callable[..., Picture], path: str | os.PathLike[str] | None, **options: Any
) -> str:
    """The SVG of a function that makes pictures, also in a file if there is a path."""
    text = make(**options).svg()
    if path is not None:
        write_svg(text, path)
    return text


def save_png(
    make: Callable[..., Picture],
    path: str | os.PathLike[str] | None,
    scale: float,
    **options: Any,
) -> bytes:
    """The PNG of a function that makes pictures, also in a file if there is a path."""
    content = as_png(make, scale, **options)
    if path is not None:
        write_png(content, path)
    return content


class Pictured:
    """What can be drawn, by a function that makes the picture."""

    _picture: Callable[..., Picture]

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
        return save_svg(self._picture, path, **options)

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
    """Whether each vertex is faded."""
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
    text = f"A graph of {batch.n_vertices} vertices and {batch.n_edges} edges"
    if coloured and len(values):
        strongest = np.argsort(-np.abs(values), kind="stable")[:3].tolist()
        labels = batch.labels
        parts = [f"{labels[v]} (vertex {v}): {values[v]:+.3g}" for v in strongest]
        text += f"; largest values: {', '.join(parts)}"
    return text


class _Sketch:
    """The shapes of one graph that has vertices, in some room."""

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
        # How long an edge may be, how far texts reach beyond the outermost points, in edges.
        longest, beyond = (70.0, 0.0) if placed.molecule is None else (_LONGEST_BOND, 0.75)
        margin = 6.0 if beyond else 18.0
        self.size = np.array([width, height])
        low, high = placed.points.min(axis=0) - beyond, placed.points.max(axis=0) + beyond
        room = (self.size - 2 * margin) / np.maximum(high - low, 1e-9)
        self.unit = float(min(room.min(), longest))
        self.shift = self.size / 2 - (low + high) / 2 * self.unit
        self.points = placed.points * self.unit + self.shift

    def _line(self, row: int, *style: Any, **options: Any) -> Line:
        first, second = self.pairs[row]
        ends = (*self.points[first].tolist(), *self.points[second].tolist())
        return Line(ends, *style, **options)

    def _disc(
        self, vertex: int, radius: float, fill: str, stroke: str = "none", width: float = 0.0
    ) -> Circle:
        """The circle of a vertex, which the pointer finds."""
        centre = self.points[vertex, 0], self.points[vertex, 1]
        title = f"{self.labels[vertex]} (vertex {vertex})"
        return Circle(centre, radius, fill, stroke, width, title, ("v", vertex))

    def formula(self, vertices: np.ndarray, edges: np.ndarray) -> list[Shape]:
        """A molecule; colours under bonds and atoms."""
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
        """Grey if all atoms that these points are nearest to are faded."""
        if not self.pale.any():
            return self.palette.ink
        nearest = cdist(np.array(corners), self.placed.points).argmin(axis=1)
        return self.palette.grey if self.pale[nearest].all() else self.palette.ink

    def marks(self, groups: Sequence[Sequence[int]]) -> list[Shape]:
        """Numbers beside groups of vertices, where there is most room."""
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
        """Dots and lines."""
        palette, pale = self.palette, self.pale
        # Of ten vertices one may come closer to another than this.
        distances = cdist(self.points, self.points) + np.diag(np.full(len(self.points), np.inf))
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
                text = str(self.labels[vertex])
                if len(text) > _LONGEST_LABEL:
                    text = text[: _LONGEST_LABEL - 1] + "…"
                size = min(11.0, 2.6 * radius / max(2, len(text)))
                x, y = self.points[vertex].tolist()
                shapes.append(Text((x, y + 0.35 * size), text, size, ink, "middle"))
        return shapes

    def _edge_labels(self, radius: float) -> list[Shape]:
        """Labels of edges that have room beside them, whole or not at all."""
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


def _legend(
    palette: Palette, largest: float, positive: Any, negative: Any, width: int, top: int
) -> list[Shape]:
    """The scale: from against to for, with the largest value at its ends."""
    left, right = 16.0, width - 16.0
    steps = 41
    step = (right - left) / steps
    shapes: list[Shape] = []
    for i in range(steps):
        x1, x2 = left + i * step, left + (i + 1) * step + (0.3 if i < steps - 1 else 0)
        corners = [(x1, top + 6), (x2, top + 6), (x2, top + 15), (x1, top + 15)]
        shapes.append(Polygon(corners, palette.of(2 * i / (steps - 1) - 1)))
    low = "against" if negative is None else f"for {negative}"
    high = "for" if positive is None else f"for {positive}"
    ink, base = palette.ink, top + 30
    shapes.append(Text((left, base), f"{low} {-largest:.2g}", 11, ink))
    shapes.append(Text((width / 2, base), "0", 11, ink, "middle"))
    shapes.append(Text((right, base), f"{high} {largest:+.2g}", 11, ink, "end"))
    return shapes


# -------------------------------------------------------------------- pages that draw themselves


def outline(graph: GraphBatch, like: GraphBatch | None = None) -> dict[str, Any]:
    """What there is to draw of a graph, as small plain data, in hundredths of an edge."""
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

#: How many graphs of a batch are drawn.
_GRAPHS = 8


def card(package: str, template: str, macro: str, *values: Any) -> str:
    """What a macro writes, in a box that brings its own colours, light or dark."""
    box: Any = environment("graphgrain.graphs.drawing").get_template("card.html").module
    found = getattr(environment(package).get_template(template).module, macro)
    return f'<div class="gg-card">{box.style()}{found(*values)}</div>'


def picture_or_reason(make: Callable[..., str], **options: Any) -> Markup:
    """A picture by the function, or the reason why there is none."""
    from markupsafe import Markup

    try:
        return Markup(make(theme="page", **options))  # its own texts are escaped already
    except InvalidGraphError as reason:
        return Markup("<p><small>{}</small></p>").format(str(reason))


def graphs_html(batch: GraphBatch) -> str:
    """The first graphs of a batch as small pictures."""
    shown = []
    for number, graph in enumerate(batch[:_GRAPHS]):
        words = f"{number}: {graph.n_vertices} vertices, {graph.n_edges} edges"
        shown.append((picture_or_reason(partial(draw, graph), width=180, height=130), words))
    more = len(batch) - len(shown)
    rest = f"{more:,}" if more else ""
    return card("graphgrain.graphs.drawing", "card.html", "multiples", repr(batch), shown, rest)
