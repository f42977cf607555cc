"""Pictures of graphs as SVG: molecules as chemists draw them, other graphs as dots and lines."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ...errors import InvalidGraphError, InvalidParameterError
from ..batch import GraphBatch
from ..convert.dispatch import as_graphs
from .colours import Palette, check_theme
from .layout import layout
from .molecule import FAINT, as_molecule, draw_molecule

#: Larger graphs would be a grey cloud, and take minutes to lay out.
MOST_VERTICES = 600
_LEGEND = 44
#: The strongest edge is a little weaker than the strongest vertex.
_EDGE_STRENGTH = 0.75
#: Labels inside a vertex are cut to this many characters.
_LONGEST_LABEL = 5


def draw(
    graph: Any,
    *,
    vertices: Any = None,
    edges: Any = None,
    positive: Any = None,
    negative: Any = None,
    limit: float | None = None,
    theme: str = "light",
    width: int = 420,
    height: int = 300,
    legend: bool = True,
) -> str:
    """Draw a graph as SVG, its vertices and edges coloured by values.

    Parameters
    ----------
    graph : GraphBatch with one graph, or a list with one graph
        If its labels are atoms (as :func:`from_smiles` and :func:`load_molecules` write them) and
        RDKit is installed, it is drawn as a molecule, else with a layout that keeps distances.
    vertices, edges : array-like, optional
        One value per vertex, and one per row of ``graph.edges``. Positive values are orange,
        negative ones blue: a scale that colour-blind readers can tell apart.
    positive, negative : optional
        What such values speak for, said in the legend.
    limit : float, optional
        The value with the strongest colour; by default the largest of the picture. Give the same
        to several pictures to make them comparable.
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
    >>> ethanol = [([(0, 1), (1, 2)], ["C", "C", "O"])]
    >>> gg.draw(ethanol, vertices=[0.0, 0.2, 1.0])[:4]
    '<svg'
    """
    check_theme(theme)
    batch = as_graphs(graph)
    if len(batch) != 1:
        raise InvalidGraphError(f"draw shows one graph; got {len(batch)}. Use graphs[i].")
    if batch.n_vertices > MOST_VERTICES:
        raise InvalidGraphError(
            f"draw shows graphs of up to {MOST_VERTICES} vertices; this one has "
            f"{batch.n_vertices:,}, of which nothing could be seen. Its values are in "
            "explanation.vertices; draw the part around the largest of them."
        )
    on_vertices = _values(vertices, batch.n_vertices, "vertices")
    on_edges = _values(edges, batch.n_edges, "edges")
    palette = Palette(theme)
    coloured = vertices is not None or edges is not None
    below = _LEGEND if legend and coloured else 0
    largest = limit or _largest(on_vertices) or _largest(on_edges) or 1.0
    # Edges share the same contributions again: they are seen against their own largest value.
    shares = on_vertices / largest, _EDGE_STRENGTH * on_edges / (_largest(on_edges) or 1.0)
    room = height - below
    molecule = as_molecule(batch)
    if molecule is not None:
        inside = draw_molecule(molecule, *shares, batch.edges, palette, width, room)
    else:
        inside = _draw_plain(batch, *shares, palette, width, room)
    if below:
        inside += _legend(palette, largest, positive, negative, width, room)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{_spoken(batch, on_vertices, coloured)}" '
        f'style="{palette.root_style}" font-family="system-ui, sans-serif">{inside}</svg>'
    )


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


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))


def _spoken(batch: GraphBatch, values: np.ndarray, coloured: bool) -> str:
    text = f"A graph of {batch.n_vertices} vertices and {batch.n_edges} edges"
    if coloured and len(values):
        strongest = np.argsort(-np.abs(values), kind="stable")[:3].tolist()
        labels = batch.labels
        parts = [f"{labels[v]} (vertex {v}): {values[v]:+.3g}" for v in strongest]
        text += f"; largest values: {', '.join(parts)}"
    return escape(text, quote=True)


# -------------------------------------------------------------------- dots and lines


def _draw_plain(
    batch: GraphBatch,
    vertices: np.ndarray,
    edges: np.ndarray,
    palette: Palette,
    width: int,
    height: int,
) -> str:
    if not batch.n_vertices:
        middle = f'x="{width / 2:.0f}" y="{height / 2:.0f}" text-anchor="middle"'
        return f'<text {middle} font-size="13" fill="{palette.soft}">no vertices</text>'
    points, unit = _fitted(layout(batch), width, height)
    radius = float(np.clip(min(0.3 * unit, 0.48 * _gap(points)), 2.0, 14.0))
    parts = []
    pairs = batch.edges
    names = batch.edge_labels
    for row, (first, second) in enumerate(pairs.tolist()):
        (x1, y1), (x2, y2) = points[first].tolist(), points[second].tolist()
        line = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        if abs(edges[row]) >= FAINT:
            glow = f'stroke="{palette.of(edges[row])}" stroke-width="{0.7 * radius + 2:.1f}"'
            parts.append(f'<line {line} {glow} stroke-linecap="round"/>')
        parts.append(f'<line {line} stroke="{palette.soft}" stroke-width="1.2"/>')
        if names is not None and batch.n_edges <= 40 and radius >= 7:
            parts.append(
                f'<text x="{(x1 + x2) / 2:.1f}" y="{(y1 + y2) / 2 - 3:.1f}" font-size="9" '
                f'text-anchor="middle" fill="{palette.soft}">{_short(names[row])}</text>'
            )
    labels = batch.labels.tolist()
    for vertex, (x, y) in enumerate(points.tolist()):
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" '
            f'fill="{palette.of(vertices[vertex])}" stroke="{palette.ink}" stroke-width="1.1">'
            f"<title>{escape(str(labels[vertex]))} (vertex {vertex})</title></circle>"
        )
        if batch.labelled and radius >= 6:
            text = _short(labels[vertex])
            size = min(11.0, 2.6 * radius / max(2, len(str(labels[vertex])[:_LONGEST_LABEL])))
            parts.append(
                f'<text x="{x:.1f}" y="{y:.1f}" dy=".35em" text-anchor="middle" '
                f'font-size="{size:.1f}" fill="{palette.ink}" pointer-events="none">{text}</text>'
            )
    return "".join(parts)


def _short(label: Any) -> str:
    text = str(label)
    cut = text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 1] + "…"
    return escape(cut)


def _fitted(points: np.ndarray, width: int, height: int) -> tuple[np.ndarray, float]:
    """Points in the middle of the picture, and how long an edge is there."""
    margin = 18.0
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.maximum(high - low, 1e-9)
    room = np.array([width - 2 * margin, height - 2 * margin])
    unit = float(min((room / span).min(), 70.0))
    return (points - (low + high) / 2) * unit + np.array([width, height]) / 2, unit


def _gap(points: np.ndarray) -> float:
    """How close the nearest vertices come to each other; a few may come closer."""
    if len(points) < 2:
        return np.inf
    distances = cdist(points, points)
    np.fill_diagonal(distances, np.inf)
    return float(np.quantile(distances.min(axis=1), 0.1))


def _legend(
    palette: Palette, largest: float, positive: Any, negative: Any, width: int, top: int
) -> str:
    """The scale: from against to for, with the largest value at its ends."""
    left, right = 16.0, width - 16.0
    steps = 41
    step = (right - left) / steps
    bar = "".join(
        f'<rect x="{left + i * step:.2f}" y="{top + 6}" width="{step + 0.3:.2f}" height="9" '
        f'fill="{palette.of(2 * i / (steps - 1) - 1)}"/>'
        for i in range(steps)
    )
    low = "against" if negative is None else f"for {negative}"
    high = "for" if positive is None else f"for {positive}"
    style = f'font-size="11" fill="{palette.ink}" y="{top + 30}"'
    return (
        f'{bar}<rect x="{left:.2f}" y="{top + 6}" width="{right - left:.2f}" height="9" '
        f'fill="none" stroke="{palette.soft}" stroke-width=".6"/>'
        f'<text x="{left}" {style}>{escape(low)} {-largest:.2g}</text>'
        f'<text x="{width / 2:.1f}" text-anchor="middle" {style}>0</text>'
        f'<text x="{right}" text-anchor="end" {style}>{escape(high)} {largest:+.2g}</text>'
    )
