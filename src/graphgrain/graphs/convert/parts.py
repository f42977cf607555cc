"""Helpers shared by the converters: join single graphs into a batch, with checks per graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from ...errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError
from ..batch import GraphBatch, joined_attributes, running_sum

#: Labels of the vertices that represent the two ends of an arc, and of unlabelled vertices.
TAIL, HEAD, UNLABELLED = "(tail)", "(head)", "(vertex)"


class Part(NamedTuple):
    """One graph with vertices 0 to ``size - 1`` and one label or attribute row per vertex or edge.

    In a directed graph, edges point from the first to the second vertex. ``weights`` are edge
    weights that the caller did not request.
    """

    size: int
    edges: Any
    labels: Any = None
    edge_labels: Any = None
    vertex_attributes: Any = None
    edge_attributes: Any = None
    directed: bool = False
    weights: Any = None


def joined(parts: Sequence[Part], direction: str = "ignore", hint: str = "") -> GraphBatch:
    """Join single graphs into a batch, and warn about ignored directions and weights.

    With direction ``"vertices"`` arcs are kept, see :func:`undirected`. ``hint`` is the part of
    the warning that explains how to read weights.
    """
    check_direction(direction)
    edges, base = [np.empty((0, 2), dtype=np.int64)], 0
    for number, part in enumerate(parts):
        edges.append(_pairs(part, number) + base)
        base += part.size
    pairs = np.concatenate(edges)
    vertices = [part.size > 0 for part in parts]
    edgeful = [len(some) > 0 for some in edges[1:]]
    directed = np.repeat([part.directed for part in parts], [len(some) for some in edges[1:]])
    directed = directed.astype(bool)
    one_way = _one_way(pairs, directed) if direction == "ignore" else 0
    _warn_about_ignored(one_way, _weighted([part.weights for part in parts]), hint)
    return undirected(
        directed if direction == "vertices" else None,
        np.array([part.size for part in parts], dtype=np.int64),
        pairs,
        _flat([part.labels for part in parts], vertices, "vertex labels"),
        _flat([part.edge_labels for part in parts], edgeful, "edge labels"),
        _stacked([part.vertex_attributes for part in parts], vertices, "vertex attributes"),
        _stacked([part.edge_attributes for part in parts], edgeful, "edge attributes"),
    )


# -------------------------------------------------------------------- directions and weights


def check_direction(direction: Any) -> None:
    """Validate the parameter ``direction`` of the converters."""
    if direction not in ("ignore", "vertices"):
        raise InvalidParameterError(f"direction must be 'ignore' or 'vertices'; got {direction!r}.")


def undirected(
    directed: np.ndarray | None,
    sizes: np.ndarray,
    pairs: np.ndarray,
    labels: Any,
    edge_labels: Any,
    vertex_attributes: np.ndarray | None,
    edge_attributes: np.ndarray | None,
) -> GraphBatch:
    """Convert (partly) directed graphs to undirected graphs with the same information.

    The arc u -> v becomes u - tail - head - v. The two new vertices come after all others of
    their graph and have labels of their own, so labels become strings. They have the attributes
    of the vertices next to them; all three edges have the label and the attributes of the arc.
    Loops, parallel arcs and arcs in both directions remain distinguishable.

    ``directed`` marks the pairs that are arcs; if it is None, all pairs are undirected edges and
    labels are not changed. The other parameters are those of :meth:`GraphBatch.from_edges`.
    """
    if directed is None:
        return GraphBatch.from_edges(
            sizes,
            pairs,
            labels,
            edge_labels=edge_labels,
            vertex_attributes=vertex_attributes,
            edge_attributes=edge_attributes,
        )
    offsets = running_sum(sizes)
    count = int(offsets[-1])
    names = [UNLABELLED] * count if labels is None else [str(label) for label in labels]
    taken = next((name for name in names if name in (TAIL, HEAD)), None)
    if taken is not None:
        raise InvalidGraphError(
            f"With direction='vertices' the label {taken!r} is that of the end of an arc; a vertex "
            "has it already. Give the vertex another label."
        )
    arcs = np.flatnonzero(directed)
    graph = np.searchsorted(offsets, pairs[arcs, 0], side="right") - 1
    arcs = arcs[np.argsort(graph, kind="stable")]
    graph = np.sort(graph, kind="stable")
    per_graph = np.bincount(graph, minlength=len(sizes))
    new_sizes = sizes + 2 * per_graph
    begins = running_sum(new_sizes)[:-1]
    place = np.arange(count) + np.repeat(begins - offsets[:-1], sizes)
    before = running_sum(per_graph)[:-1]
    tail = (begins + sizes)[graph] + 2 * (np.arange(len(arcs)) - before[graph])
    source, target = place[pairs[arcs, 0]], place[pairs[arcs, 1]]
    kept = np.flatnonzero(~directed)
    rows = np.concatenate((kept, arcs, arcs, arcs))  # original pair of each new edge
    new_pairs = np.concatenate(
        (
            place[pairs[kept]].reshape(-1, 2),
            np.column_stack((source, tail)),
            np.column_stack((tail, tail + 1)),
            np.column_stack((tail + 1, target)),
        )
    )
    new_names = np.empty(int(new_sizes.sum()), dtype=object)
    new_names[place], new_names[tail], new_names[tail + 1] = names, TAIL, HEAD
    if vertex_attributes is not None:
        table = np.empty((len(new_names), vertex_attributes.shape[1]))
        table[place] = vertex_attributes
        table[tail], table[tail + 1] = table[source], table[target]
        vertex_attributes = table
    return GraphBatch.from_edges(
        new_sizes,
        new_pairs,
        new_names,
        edge_labels=None if edge_labels is None else [edge_labels[row] for row in rows.tolist()],
        vertex_attributes=vertex_attributes,
        edge_attributes=None if edge_attributes is None else edge_attributes[rows],
    )


def _one_way(pairs: np.ndarray, directed: np.ndarray) -> int:
    """Count the arcs whose reverse is missing."""
    arcs = pairs[directed & (pairs[:, 0] != pairs[:, 1])]
    if not len(arcs):
        return 0
    base = int(arcs.max()) + 1
    forward, backward = np.unique(arcs[:, 0] * base + arcs[:, 1]), arcs[:, 1] * base + arcs[:, 0]
    return int(np.isin(forward, backward, invert=True).sum())


def _weighted(values: list[Any]) -> int:
    """Count the edges that have a weight; 0 if all weights are equal."""
    weights = [
        weight
        for some in values
        if some is not None
        for weight in (some.tolist() if isinstance(some, np.ndarray) else some)
        if weight is not None
    ]
    return len(weights) if any(weight != weights[0] for weight in weights) else 0


def _warn_about_ignored(one_way: int, weights: int, hint: str) -> None:
    """Warn once for all graphs about ignored directions and weights."""
    found, ways_out = [], []
    if one_way:
        found.append(f"the direction of {one_way:,} one-way edge{'s' * (one_way > 1)}")
        ways_out.append("direction='vertices' keeps directions exactly")
    if weights:
        found.append(f"the weight{'s' * (weights > 1)} of {weights:,} edge{'s' * (weights > 1)}")
        ways_out.append(hint)
    if found:
        warnings.warn(
            f"Graphs are undirected and unweighted here. Ignored: {', '.join(found)} "
            f"({'; '.join(ways_out)}).",
            GraphgrainWarning,
            stacklevel=4,
        )


# -------------------------------------------------------------------- checks and small helpers


#: Hint for :func:`joined` of converters with a parameter ``edge_attributes``.
READ_WEIGHTS = "edge_attributes='weight' reads weights"


def weights_read(edge_label: str | None, edge_attributes: str | Sequence[str] | None) -> bool:
    """Return whether the caller requested the attribute ``"weight"``."""
    names = [edge_attributes] if isinstance(edge_attributes, str) else edge_attributes or ()
    return "weight" in (edge_label, *names)


def is_from(x: Any, package: str) -> bool:
    """Return whether an object's class is from a package, without importing the package."""
    return any(kind.__module__.split(".")[0] == package for kind in type(x).__mro__)


def checked_items(items: Iterable[Any], right: Callable[[Any], bool], kind: str) -> list[Any]:
    """Return the items as a list; raise an error if one is not of the expected kind."""
    listed = [item for item in items]  # noqa: C416 - see column_items
    for number, item in enumerate(listed):
        if not right(item):
            raise InvalidGraphError(f"Item {number} is not {kind}: {shown(item)}.")
    return listed


def shown(x: Any) -> str:
    """Format a value for messages: shortened, with its type."""
    return f"{cut(repr(x))} ({type(x).__name__})"


def cut(text: str) -> str:
    """Shorten a text for messages."""
    return text if len(text) <= 63 else f"{text[:60]}..."


def column_items(x: Any) -> list[Any]:
    """Return the items of a list, a Series, an array, or a table with one column."""
    shape = getattr(x, "shape", ())
    if hasattr(x, "columns") and len(shape) == 2:
        names = list(x.columns)
        if len(names) != 1:
            raise InvalidGraphError(
                "A table of graphs has one column; this one has "
                f"{len(names)} ({', '.join(map(str, names[:8]))}{', ...' if len(names) > 8 else ''}"
                "). Choose the column with the graphs: table['smiles']."
            )
        return list(x[names[0]])
    if isinstance(x, np.ndarray) and x.ndim == 2 and x.shape[1] == 1 and x.dtype.kind in "OUT":
        return list(x[:, 0])  # scikit-learn passes a column as a two-dimensional array
    # list() would first ask for the number of items, and RDKit's SmilesMolSupplier ends then
    return [item for item in x]  # noqa: C416


def is_sequence(x: Any) -> bool:
    """Return whether ``x`` is a sequence or an array but not a string."""
    return isinstance(x, Sequence | np.ndarray) and not isinstance(x, str)


def is_missing(item: Any) -> bool:
    """Return whether an item is None, NaN, or pandas' NA or NaT."""
    return (
        item is None
        or type(item).__name__ in ("NAType", "NaTType")
        or (isinstance(item, float | np.floating | Decimal) and item != item)
    )


def as_columns(values: Any, rows: int, where: str) -> np.ndarray:
    """Convert the attributes of one graph to a table with one row per vertex or edge."""
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidGraphError(
            f"Attributes must be numbers, equally many each time; those of {where} are not."
        ) from None
    if table.size == 0:
        return table.reshape(rows, -1) if rows else table.reshape(0, table.shape[-1])
    table = table.reshape(len(table), -1)
    if len(table) != rows:
        raise InvalidGraphError(f"{where} needs {rows} rows of attributes; it has {len(table)}.")
    return table


def _pairs(part: Part, number: int) -> np.ndarray:
    pairs = part.edges
    if not len(pairs):
        return np.empty((0, 2), dtype=np.int64)
    try:
        pairs = np.asarray(pairs)
    except ValueError:
        raise InvalidGraphError(
            f"Edges are pairs of vertex numbers; those of graph {number} are not all of one length."
        ) from None
    if pairs.dtype.kind not in "iu" or pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InvalidGraphError(
            f"Edges are pairs of vertex numbers; graph {number} has edges of type {pairs.dtype} "
            f"and shape {pairs.shape}."
        )
    outside = np.flatnonzero(((pairs < 0) | (pairs >= part.size)).any(axis=1))
    if outside.size:
        raise InvalidGraphError(
            f"An edge must join vertices of its graph; edge {tuple(pairs[outside[0]].tolist())} "
            f"of graph {number} points outside its {part.size} vertices, which are counted from 0."
        )
    return pairs.astype(np.int64)


def _flat(values: list[Any], needed: list[bool], what: str) -> Any:
    """Concatenate the labels of all graphs; None if there are none."""
    given = _all_or_none(values, needed, what)
    if given is None:
        return None
    if {value.dtype.kind if isinstance(value, np.ndarray) else "" for value in given} == {"i"}:
        return np.concatenate(given)
    # Concatenating arrays of different types would turn 1 into "1" or 1.0.
    lists = (value.tolist() if isinstance(value, np.ndarray) else value for value in given)
    return [label for labels in lists for label in labels]


def _stacked(values: list[Any], needed: list[bool], what: str) -> np.ndarray | None:
    given = _all_or_none(values, needed, what)
    if not given:
        return None
    return joined_attributes([table for table in given if len(table)] or given[:1], what)


def _all_or_none(values: list[Any], needed: list[bool], what: str) -> list[Any] | None:
    """Return the values that were given, or None; all graphs that need one must agree."""
    having = [n for n, value in enumerate(values) if value is not None and needed[n]]
    lacking = [n for n, value in enumerate(values) if value is None and needed[n]]
    if having and lacking:
        raise InvalidGraphError(
            f"Either all graphs have {what} or none has; graph {having[0]} has them, graph "
            f"{lacking[0]} does not. Add them, or leave them out everywhere."
        )
    given = [value for value in values if value is not None]
    return None if lacking or not given else given
