"""Draw graphs: molecules as structural formulas, other graphs as vertices and lines.

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
from ..convert.to_rdkit import SourceMolecule, source_molecule
from .molecules import BOND, draw_formula, unseen
from .shapes import (
    N_CATEGORIES,
    Circle,
    Palette,
    Path,
    Picture,
    Shape,
    Text,
    check_theme,
    text_width,
    write_picture,
)
from .sketches import (
    FONT_SIZE,
    Sketch,
    Style,
    aligned_molecule,
    graph_points,
    natural_size,
    plan_tree,
    sketch_graph,
    sketch_molecule,
    tree_root,
)

if TYPE_CHECKING:
    from markupsafe import Markup

#: Larger graphs would be unreadable and take minutes to lay out.
MOST_VERTICES = 600
#: Font size of the labels of trees in draw_graph.js.
_TREE_FONT = 34
#: Size in pixels that leaves space for molecules of all sizes.
_LARGE = 10_000
#: Height of the legend in pixels.
_LEGEND = 44


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
    width: int | None = None,
    height: int | None = None,
    legend: bool = True,
    footnote: bool = False,
) -> str:
    """Draw a graph as SVG, with vertices and edges coloured by values.

    Parameters
    ----------
    graph : GraphBatch with one graph, or a list with one graph
        RDKit draws the molecule that was read (columns ``"smiles"`` or ``"molecule"``) with its
        charges, hydrogens, isotopes and stereo, whatever the labels contain; without these columns,
        labels that are atoms and bonds are drawn as a molecule. All other graphs, and all graphs
        without RDKit, are drawn as vertices with their labels: trees from left to right, others by
        two or three attributes of each vertex, which are its position, or so that distances
        approximate those in the graph. The column ``"arcs"``, pairs of vertices, adds arrows.
    vertices, edges : array-like, optional
        One value per vertex, and one per row of ``graph.edges``. Positive values are orange and
        negative values blue, a scale suitable for colour-blind readers. By default, edges blend the
        colours of their vertices; without any values, vertices are coloured by label unless the
        graph is a molecule.
    positive, negative : optional
        Names for positive and negative values in the legend, such as class labels.
    limit : float, optional
        Value with the strongest colour; by default the largest absolute value. Use the same
        limit for several drawings to make them comparable.
    faded : sequence of int, default=()
        Vertices to draw in grey, together with the edges between them, such as those that another
        graph has as well.
    like : GraphBatch with one graph, or a list with one graph, optional
        Another graph; the part that both have in common is drawn in the same orientation.
    theme : {"light", "dark", "auto"}, default="light"
        Colour scheme; ``"auto"`` follows the setting of the reader's system.
    width, height : int, optional
        Size in pixels, including the legend; by default 420 and 300, and more for graphs whose
        labels would not be legible.
    legend : bool, default=True
        Whether to draw the colour scale if there are values, or the colours of labels.
    footnote : bool, default=False
        Whether to say which properties of a molecule its labels, and so kernels, do not contain:
        charges, isotopes and stereo.

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
    width: int | None = None,
    height: int | None = None,
    legend: bool = True,
    footnote: bool = False,
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
    reference = None if like is None else _one(like)
    palette = Palette(theme)
    largest = limit or _largest(on_vertices) or _largest(on_edges) or 1.0
    scaled = [None if own is None else own / largest for own in (on_vertices, on_edges)]
    source = source_molecule(batch)
    coloured = on_vertices is not None or on_edges is not None
    names, categories = _categories(batch) if source is None and not coloured else ([], None)
    natural = (420, 0) if source is not None else natural_size(batch)
    width = width or natural[0]
    below: list[Shape] = []
    foot = 0.0  # height of what is below the drawing
    if legend and coloured:
        below, foot = _legend(palette, largest, positive, negative, width), _LEGEND
    elif legend and names:
        below, foot = _label_legend(palette, names, width)
    words = _left_out(source, batch) if footnote else ""
    if words:
        below.append(Text((16, foot + 14), words, 11, palette.soft))
        foot += 22
    total = height or max(300, round(natural[1] + foot))
    style = Style(palette, scaled[0], scaled[1], pale, categories)
    drawn = Picture(width, total, palette, _described(batch, on_vertices, source is not None))
    if not batch.n_vertices:
        middle = width / 2, (total - foot) / 2
        drawn.shapes.append(Text(middle, "no vertices", 13, palette.soft, "middle"))
    else:
        size = width, round(total - foot)
        if source is None:
            sketch = sketch_graph(batch, reference, style, *size)
        else:
            sketch = sketch_molecule(source, batch, reference, style, *size)
        drawn.shapes += sketch.shapes + _marks(sketch, marks, palette, *size)
    drawn.shapes += [shape.moved(0, total - foot) for shape in below]
    return drawn


def _left_out(source: SourceMolecule | None, graph: GraphBatch) -> str:
    """Say what the molecule has and the labels of its graph, and so a kernel, have not."""
    if source is None:
        return ""
    bonds = [] if graph.edge_labels is None else graph.edge_labels.tolist()
    missing = unseen(source.molecule, list(map(str, graph.labels.tolist())), list(map(str, bonds)))
    return f"The model does not see {' or '.join(missing)}." if missing else ""


def _categories(graph: GraphBatch) -> tuple[list[str], np.ndarray | None]:
    """Return the labels by decreasing frequency, and the number of each vertex's label."""
    if not graph.labelled:
        return [], None
    labels, codes, counts = np.unique(
        graph.labels.astype(str), return_inverse=True, return_counts=True
    )
    order = np.argsort(-counts, kind="stable")
    return labels[order].tolist(), np.argsort(order)[codes]


def _label_legend(palette: Palette, names: list[str], width: int) -> tuple[list[Shape], float]:
    """Return the names of the labels beside their colours, in rows, and the height."""
    entries = [(palette.category(number), name) for number, name in enumerate(names)]
    if len(names) > N_CATEGORIES:
        entries = [*entries[:N_CATEGORIES], (palette.grey, f"{len(names) - N_CATEGORIES} others")]
    shapes: list[Shape] = []
    x, y = 16.0, 14.0
    for colour, name in entries:
        wide = 24 + text_width(name, 11)
        if x > 16 and x + wide > width:
            x, y = 16.0, y + 17
        shapes.append(Circle((x, y), 5.0, colour, palette.ink, 0.8))
        shapes.append(Text((x + 9, y + 4), name, 11, palette.ink))
        x += wide
    return shapes, y + 12


def _marks(
    sketch: Sketch, groups: Sequence[Sequence[int]], palette: Palette, width: int, height: int
) -> list[Shape]:
    """Draw a number next to each group of vertices, where there is most space."""
    taken, size = sketch.points, np.array([width, height])
    angles = np.arange(0, 2 * np.pi, np.pi / 12)
    around = 0.8 * sketch.unit * np.column_stack((np.cos(angles), np.sin(angles)))
    shapes: list[Shape] = []
    for number, group in enumerate(groups, start=1):
        places = (sketch.points[list(group)][:, None] + around).reshape(-1, 2)
        inside = ((places > 9) & (places < size - 9)).all(axis=1)
        free = cdist(places, taken).min(axis=1)
        x, y = places[int(np.argmax(np.where(inside, free, -1.0)))].tolist()
        taken = np.vstack((taken, [[x, y]]))
        shapes.append(Circle((x, y), 8.0, palette.ink))
        shapes.append(Text((x, y + 3.9), str(number), 11.0, palette.page, "middle"))
    return shapes


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
            Path(corners, fill=palette.of(1.0 if value > 0 else -1.0)),
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
            Options of :func:`graphgrain.draw` (``width``, ``height``, ``theme``, ``legend``,
            ``footnote``, ...) and those documented by the class.

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


def _values(values: Any, count: int, what: str) -> np.ndarray | None:
    if values is None:
        return None
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


def _largest(values: np.ndarray | None) -> float:
    return 0.0 if values is None else float(np.abs(values).max(initial=0.0))


def _described(batch: GraphBatch, values: np.ndarray | None, molecule: bool) -> str:
    """Describe the picture of a graph for screen readers."""
    if molecule:
        text = f"A molecule of {counted(batch.n_vertices, 'atom')}"
        text += f" and {counted(batch.n_edges, 'bond')}"
    else:
        text = f"A graph of {counted(batch.n_vertices, 'vertex', 'vertices')}"
        text += f" and {counted(batch.n_edges, 'edge')}"
    if "id" in batch.columns:
        text = f"{batch.columns['id'][0]}: {text[0].lower()}{text[1:]}"
    if values is not None and len(values):
        strongest = np.argsort(-np.abs(values), kind="stable")[:3].tolist()
        labels = batch.labels
        parts = [f"{labels[v]} (vertex {v}): {values[v]:+.3g}" for v in strongest]
        text += f"; largest values: {', '.join(parts)}"
    return text


def _shortened(text: str, letters: int) -> str:
    """Cut a text to a number of letters, the last one an ellipsis.

    >>> _shortened("carbon", 6), _shortened("carbon", 4)
    ('carbon', 'car…')
    """
    return text if len(text) <= letters else text[: letters - 1] + "…"


def _legend(
    palette: Palette, largest: float, positive: Any, negative: Any, width: int
) -> list[Shape]:
    """Draw the colour scale, labelled with the largest value at both ends."""
    left, right = 16.0, width - 16.0
    steps = 41
    step = (right - left) / steps
    shapes: list[Shape] = []
    for i in range(steps):
        x1, x2 = left + i * step, left + (i + 1) * step + (0.3 if i < steps - 1 else 0)
        corners = [(x1, 6.0), (x2, 6.0), (x2, 15.0), (x1, 15.0)]
        shapes.append(Path(corners, fill=palette.of(2 * i / (steps - 1) - 1)))
    room = int((width / 2 - 26) / 5.8) - 7  # letters beside a number, up to the middle
    low, high = (
        word if name is None else _shortened(f"for {name}", room)
        for word, name in (("against", negative), ("for", positive))
    )
    ink, base = palette.ink, 30.0
    shapes.append(Text((left, base), f"{low} {-largest:.2g}", 11, ink))
    shapes.append(Text((width / 2, base), "0", 11, ink, "middle"))
    shapes.append(Text((right, base), f"{high} {largest:+.2g}", 11, ink, "end"))
    return shapes


# -------------------------------------------------------------------- data for interactive pages


def outline(graph: GraphBatch, like: GraphBatch | None = None) -> dict[str, Any]:
    """Return the drawing of a graph as compact JSON data, in hundredths of an edge length."""
    edges = graph.edges.tolist()
    source = source_molecule(graph)
    if source is None:
        labels = [str(label) for label in graph.labels.tolist()] if graph.labelled else []
        shown: dict[str, Any] = {"edges": edges, "labels": labels}
        root = tree_root(graph)
        if root is not None:
            points = plan_tree(graph, root).points * (_TREE_FONT / FONT_SIZE)
            return {"points": _hundredths(points / 100), **shown, "tree": True}
        points = graph_points(graph, like) if graph.n_vertices else np.empty((0, 2))
        return {"points": _hundredths(points), **shown}
    formula = draw_formula(aligned_molecule(source, graph, like), _LARGE, _LARGE)
    shown = {"points": _hundredths(formula.points[source.atoms] / BOND), "edges": edges}
    for stroke in formula.strokes:
        corners = _hundredths(np.array(stroke.points) / BOND)
        if stroke.kind == "text":
            text = [*corners[0], stroke.text, round(100 * stroke.size / BOND)]
            shown.setdefault("texts", []).append(text)
        else:
            path = "M" + "L".join(f"{x} {y}" for x, y in corners)
            name = {"line": "lines", "dashes": "dashes", "polygon": "wedges"}[stroke.kind]
            end = "Z" if stroke.kind == "polygon" else ""
            shown[name] = shown.get(name, "") + path + end
    return shown


def _hundredths(points: np.ndarray) -> list[list[int]]:
    rounded: list[list[int]] = np.round(100 * points).astype(int).reshape(-1, 2).tolist()
    return rounded


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
        drawn = partial(draw, graph, width=180, height=130, legend=False)
        shown.append((picture_or_reason(drawn), words))
    more = len(batch) - len(shown)
    rest = f"{more:,}" if more else ""
    return card("graphgrain.graphs.drawing", "card.html", "multiples", repr(batch), shown, rest)
