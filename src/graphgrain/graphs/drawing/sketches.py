"""The shapes of one graph in a picture: a molecule as RDKit draws it, or vertices and lines."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from ..batch import GraphBatch
from ..convert.to_rdkit import SourceMolecule, source_molecule
from .common_part import shared_part
from .layouts import attribute_points, root_of, scaled_layout, tree_layout
from .molecules import BOND, SMALLEST_SHARED, draw_formula, place_atoms, turn
from .shapes import Circle, Palette, Path, Shape, Text, text_width

#: Values below this fraction of the largest value are not coloured.
FAINT = 0.02
#: Radius and width of the colours behind atoms and bonds, in bond lengths.
_HALO, _BAND = 0.36, 0.46
#: Largest length of an edge and radius of a vertex, and margin, in pixels.
_EDGE, _RADIUS, _MARGIN = 70.0, 14.0, 18.0
#: Font sizes of labels and of edge labels; smaller letters are put beside their vertex.
FONT_SIZE, _EDGE_FONT, _SMALLEST_FONT = 11.0, 9.0, 7.5
#: Longer labels of edges do not widen a tree, in pixels.
_LONGEST_EDGE_LABEL = 80.0
#: Radius of the vertices of a tree, and distances of its rows and columns, in pixels.
_DOT, _ROW, _COLUMN = 5.0, 16.0, 26.0


class Style(NamedTuple):
    """What a drawing shows besides the graph."""

    palette: Palette
    vertices: np.ndarray | None  # between -1 and 1
    edges: np.ndarray | None
    faded: np.ndarray  # mask of vertices
    categories: np.ndarray | None  # number of the colour of each vertex

    def ink(self, vertices: list[int]) -> str:
        """Return the colour of what belongs to some vertices: grey if all are faded."""
        every = bool(vertices) and bool(self.faded[vertices].all())
        return self.palette.grey if every else self.palette.ink

    def bands(self, pairs: list[list[int]], ends: np.ndarray, width: float) -> list[Shape]:
        """Return the colours of edges: their values, or else the values of their ends, blended."""
        shapes: list[Shape] = []
        for row, (u, v) in enumerate(pairs):
            strengths = self._strengths(row, u, v)
            if max(map(abs, strengths)) >= FAINT:
                first, second = map(self.palette.of, strengths)
                colour = first if first == second else (first, second)
                line = [(x, y) for x, y in ends[row].tolist()]
                shapes.append(Path(line, colour, width, part=("e", row)))
        return shapes

    def _strengths(self, row: int, u: int, v: int) -> tuple[float, float]:
        if self.edges is not None:
            return float(self.edges[row]), float(self.edges[row])
        if self.vertices is not None:
            return float(self.vertices[u]), float(self.vertices[v])
        return 0.0, 0.0

    def fill(self, vertex: int, empty: str) -> str:
        """Return the colour of a vertex."""
        if self.vertices is not None and abs(self.vertices[vertex]) >= FAINT:
            return self.palette.of(float(self.vertices[vertex]))
        if self.categories is not None and not self.faded[vertex]:
            return self.palette.category(int(self.categories[vertex]))
        return empty


class Sketch(NamedTuple):
    """Shapes, and the place of each vertex and the length of an edge in pixels."""

    shapes: list[Shape]
    points: np.ndarray
    unit: float


def aligned_molecule(source: SourceMolecule, graph: GraphBatch, like: GraphBatch | None) -> object:
    """Return the molecule with coordinates, aligned with another graph if it is a molecule."""
    reference = None if like is None else source_molecule(like)
    if like is None or reference is None:
        return place_atoms(source.molecule)
    shared = shared_part(like, graph)
    atoms = np.column_stack((reference.atoms[shared[:, 0]], source.atoms[shared[:, 1]]))
    return place_atoms(source.molecule, place_atoms(reference.molecule), atoms)


def sketch_molecule(
    source: SourceMolecule,
    graph: GraphBatch,
    like: GraphBatch | None,
    style: Style,
    width: int,
    height: int,
) -> Sketch:
    """Draw a molecule, with colours behind bonds and atoms."""
    formula = draw_formula(aligned_molecule(source, graph, like), width, height)
    points, pairs = formula.points[source.atoms], graph.edges.tolist()
    lengths = np.linalg.norm(points[graph.edges[:, 0]] - points[graph.edges[:, 1]], axis=1)
    unit = float(np.median(lengths)) if len(lengths) else BOND
    shapes = style.bands(pairs, points[graph.edges], _BAND * unit)
    for vertex in range(graph.n_vertices):
        fill = style.fill(vertex, "transparent")
        shapes.append(_disc(graph, points, vertex, _HALO * unit, fill))
    vertex_of = {atom: vertex for vertex, atom in enumerate(source.atoms.tolist())}
    for stroke in formula.strokes:
        ink = style.ink([vertex_of[atom] for atom in stroke.atoms if atom in vertex_of])
        if stroke.kind == "text":
            shapes.append(Text(stroke.points[0], stroke.text, stroke.size, ink))
        elif stroke.kind == "polygon":
            shapes.append(Path(stroke.points, fill=ink))
        else:
            line = Path(stroke.points, ink, stroke.size, dashed=stroke.kind == "dashes")
            shapes.append(line)
    return Sketch(shapes, points, unit)


def _disc(
    graph: GraphBatch,
    points: np.ndarray,
    vertex: int,
    radius: float,
    fill: str,
    stroke: str = "none",
    width: float = 0.0,
) -> Circle:
    """Return the circle of a vertex, with a tooltip."""
    x, y = points[vertex].tolist()
    title = f"{graph.labels[vertex]} (vertex {vertex})" if graph.labelled else f"vertex {vertex}"
    return Circle((x, y), radius, fill, stroke, width, title, ("v", vertex))


# -------------------------------------------------------------------- other graphs


def graph_points(graph: GraphBatch, like: GraphBatch | None = None) -> np.ndarray:
    """Return coordinates of the vertices of a graph that is no tree; edges have a length of 1."""
    points = attribute_points(graph)
    if points is not None:
        return points
    points = scaled_layout(graph)
    shared = np.empty((0, 2), dtype=int) if like is None else shared_part(like, graph)
    if like is not None and len(shared) >= SMALLEST_SHARED:
        goal = graph_points(like)[shared[:, 0]]
        points = turn(points, shared[:, 1].tolist(), goal)
    return points


def arcs_of(graph: GraphBatch) -> np.ndarray:
    """Return the pairs of the column ``arcs`` that are edges, in their direction."""
    arcs = np.asarray(graph.columns["arcs"][0] if "arcs" in graph.columns else [])
    if arcs.ndim != 2 or arcs.shape[1] != 2 or arcs.dtype.kind not in "iu":
        return np.empty((0, 2), dtype=np.int64)
    edges = set(map(tuple, graph.edges.tolist()))
    return arcs[[tuple(sorted(arc)) in edges for arc in arcs.tolist()]]


def sketch_graph(
    graph: GraphBatch, like: GraphBatch | None, style: Style, width: int, height: int
) -> Sketch:
    """Draw a graph as vertices and lines, with labels as text."""
    arcs, root = arcs_of(graph), tree_root(graph)
    if root is not None:
        return _sketch_tree(graph, root, arcs, style, width, height)
    points = graph_points(graph, like)
    low, high = points.min(axis=0), points.max(axis=0)
    size = np.array([width, height])
    unit = float(min(*((size - 2 * _MARGIN) / np.maximum(high - low, 1e-9)), _EDGE))
    points = (points - (low + high) / 2) * unit + size / 2
    # One in ten vertices may be closer to another than this.
    gaps = cdist(points, points) + np.diag(np.full(len(points), 1e9))
    gap = float(np.quantile(gaps.min(axis=1), 0.1))
    radius = float(np.clip(min(0.3 * unit, 0.45 * gap), 2.5, _RADIUS))
    ends = points[graph.edges] if graph.n_edges else np.empty((0, 2, 2))
    shapes = _lines(graph, ends, points, radius, arcs, style, 0.7 * radius + 2)
    shapes += _edge_labels(graph, ends, points, radius, style.palette)
    for vertex in range(graph.n_vertices):
        fill = style.fill(vertex, style.palette.page)
        shapes.append(_disc(graph, points, vertex, radius, fill, style.ink([vertex]), 1.1))
    shapes += _labels(graph, points, radius, style, width, height) if graph.labelled else []
    return Sketch(shapes, points, unit)


def _lines(
    graph: GraphBatch,
    ends: np.ndarray,
    points: np.ndarray,
    radius: float,
    arcs: np.ndarray,
    style: Style,
    band: float,
) -> list[Shape]:
    """Return the lines of edges, with arrow heads where there are arcs."""
    pairs = graph.edges.tolist()
    shapes = style.bands(pairs, ends, band)
    directed = set(map(tuple, arcs.tolist()))
    for (u, v), line in zip(pairs, ends, strict=True):
        grey = style.faded[u] and style.faded[v]
        colour = style.palette.grey if grey else style.palette.soft
        shapes.append(Path([tuple(end) for end in line.tolist()], colour, 1.2))
        for arc, (start, end) in (((u, v), line), ((v, u), line[::-1])):
            if arc in directed:
                shapes.append(_arrow(start, end, points[arc[1]], radius, colour))
    return shapes


def _arrow(
    start: np.ndarray, end: np.ndarray, centre: np.ndarray, radius: float, colour: str
) -> Path:
    """Return an arrow head that touches the circle of a vertex."""
    along = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
    across = np.array([-along[1], along[0]])
    tip = centre - (radius + 1) * along
    long, wide = max(5.0, 0.7 * radius), max(2.5, 0.35 * radius)
    corners = tip, tip - long * along + wide * across, tip - long * along - wide * across
    return Path([tuple(corner.tolist()) for corner in corners], fill=colour)


def _labels(
    graph: GraphBatch, points: np.ndarray, radius: float, style: Style, width: int, height: int
) -> list[Shape]:
    """Write labels inside their vertices or, if they do not fit, beside where there is space."""
    shapes: list[Shape] = []
    boxes = np.column_stack((points - radius, points + radius))
    crowded = FONT_SIZE if graph.n_vertices <= 40 else 9.0
    for vertex, label in enumerate(map(str, graph.labels.tolist())):
        x, y = points[vertex].tolist()
        ink = style.ink([vertex])
        inside = min(FONT_SIZE, (2 * radius - 3) / (text_width(label, 1.0) or 1.0))
        if inside >= _SMALLEST_FONT:
            shapes.append(Text((x, y + 0.36 * inside), label, inside, ink, "middle"))
            continue
        wide, away = text_width(label, crowded), radius + 2
        lefts = [x + away, x - away - wide, x - wide / 2, x - wide / 2]
        bottoms = [y + 0.36 * crowded] * 2 + [y - away, y + away + 0.75 * crowded]
        options = np.column_stack((
            np.clip(lefts, 1, max(1.0, width - wide - 1)), np.array(bottoms) - 0.8 * crowded,
            np.clip(lefts, 1, max(1.0, width - wide - 1)) + wide, bottoms,
        ))  # fmt: skip
        low = np.maximum(options[:, None, :2], boxes[None, :, :2])
        high = np.minimum(options[:, None, 2:], boxes[None, :, 2:])
        overlaps = np.prod(np.maximum(high - low, 0), axis=2).sum(axis=1)
        best = options[int(np.argmin(overlaps + 1e3 * (options[:, 3] > height)))]
        boxes = np.vstack((boxes, best))
        halo = style.palette.page
        shapes.append(Text((best[0], best[3]), label, crowded, ink, halo=halo))
    return shapes


def _edge_labels(
    graph: GraphBatch, ends: np.ndarray, points: np.ndarray, radius: float, palette: Palette
) -> list[Shape]:
    """Write the labels of edges that have enough space for them."""
    if graph.edge_labels is None:
        return []
    taken = np.column_stack((points - radius, points + radius)).tolist()
    shapes: list[Shape] = []
    for (first, second), name in zip(ends, map(str, graph.edge_labels.tolist()), strict=True):
        wide = text_width(name, _EDGE_FONT)
        x, y = ((first + second) / 2).tolist()
        left, top, right, bottom = box = (x - wide / 2, y - 3 - _EDGE_FONT, x + wide / 2, y)
        if wide <= float(np.linalg.norm(first - second)) - 2 * radius and not any(
            left < x2 and x1 < right and top < y2 and y1 < bottom for x1, y1, x2, y2 in taken
        ):
            taken.append(list(box))
            shapes.append(Text((x, y - 3), name, _EDGE_FONT, palette.soft, "middle"))
    return shapes


class TreePlan(NamedTuple):
    """Places of the vertices of a tree at full size, widths of labels, and size of all."""

    points: np.ndarray
    widths: np.ndarray
    size: np.ndarray


def tree_root(graph: GraphBatch) -> int | None:
    """Return the root of a graph that is drawn as a tree, otherwise None."""
    return root_of(graph, arcs_of(graph)) if attribute_points(graph) is None else None


def plan_tree(graph: GraphBatch, root: int) -> TreePlan:
    level, rows = tree_layout(graph, root)
    names = map(str, graph.labels.tolist()) if graph.labelled else [""] * graph.n_vertices
    widths = np.array([text_width(name, FONT_SIZE) for name in names])
    columns = np.zeros(level.max() + 2)
    np.maximum.at(columns[1:], level, widths)
    edge_labels = [] if graph.edge_labels is None else graph.edge_labels.tolist()
    longest = max((text_width(str(name), _EDGE_FONT) for name in edge_labels), default=0.0)
    columns[1:] += 2 * _DOT + _COLUMN + min(longest, _LONGEST_EDGE_LABEL)
    left = columns.cumsum()
    points = np.column_stack((left[level] + _DOT, _ROW * (rows + 0.5)))
    return TreePlan(points, widths, np.array([left[-1] - _COLUMN + 6, _ROW * (rows.max() + 1)]))


def natural_size(graph: GraphBatch) -> tuple[int, int]:
    """Return a width and height in pixels in which the labels of a graph are legible."""
    root = tree_root(graph)
    if root is not None:
        wide, high = (plan_tree(graph, root).size + 2 * 8).tolist()
        return round(max(420, min(wide, 900))), round(max(300, min(high, 1200)))
    times = float(np.clip(np.sqrt(graph.n_vertices / 25), 1.0, 2.2))
    return round(420 * times), round(300 * times)


def _sketch_tree(
    graph: GraphBatch, root: int, arcs: np.ndarray, style: Style, width: int, height: int
) -> Sketch:
    """Draw a tree from left to right, with each label at the right of its vertex."""
    plan = plan_tree(graph, root)
    scale = float(min(1.4, *((np.array([width, height]) - 16) / plan.size)))
    points = plan.points * scale + (np.array([width, height]) - plan.size * scale) / 2
    radius, font, level = _DOT * scale, FONT_SIZE * scale, plan.points[:, 0]
    ends = points[graph.edges].copy()
    for row, pair in enumerate(graph.edges.tolist()):
        parent = int(level[pair[1]] < level[pair[0]])
        ends[row, parent, 0] += radius + (plan.widths[pair[parent]] + 5) * scale
    shapes = _lines(graph, ends, points, radius, arcs, style, radius)
    shapes += _edge_labels(graph, ends, points, radius, style.palette)
    for vertex in range(graph.n_vertices):
        fill = style.fill(vertex, style.palette.page)
        ink = style.ink([vertex])
        shapes.append(_disc(graph, points, vertex, radius, fill, ink, 1.1))
        if graph.labelled:
            x, y = points[vertex].tolist()
            at = (x + radius + 3 * scale, y + 0.36 * font)
            text = str(graph.labels[vertex])
            shapes.append(Text(at, text, font, ink, halo=style.palette.page))
    return Sketch(shapes, points, _COLUMN)
