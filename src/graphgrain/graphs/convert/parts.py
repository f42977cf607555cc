"""Helpers shared by the converters: join single graphs into a batch, with checks per graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError
from ..batch import (
    GraphBatch,
    all_or_none,
    checked_pairs,
    counted,
    joined_attributes,
    running_sum,
)
from ..tables import items_of, names_beside, read_table, the_column

#: Labels of the vertices that represent the two ends of an arc, and of unlabelled vertices.
TAIL, HEAD, UNLABELLED = "(tail)", "(head)", "(vertex)"


#: What to keep in mind with direction="vertices".
ARC_LENGTH = "with paths three times as long: choose depths accordingly"


class Part(NamedTuple):
    """One graph with vertices 0 to ``size - 1`` and one label or attribute row per vertex or edge.

    In a directed graph, edges point from the first to the second vertex; ``directed`` is None for
    a list of pairs, which can mean either. ``weights`` are edge weights that were not asked for.
    """

    size: int
    edges: Any
    labels: Any = None
    edge_labels: Any = None
    vertex_attributes: Any = None
    edge_attributes: Any = None
    directed: bool | None = False
    weights: Any = None


def joined(parts: Sequence[Part], direction: str = "ignore", hint: str = "") -> GraphBatch:
    """Join single graphs into a batch, and warn about ignored directions and weights.

    With direction ``"vertices"`` arcs are kept, see :func:`with_arcs`. ``hint`` is the part of
    the warning that explains how to read weights.
    """
    check_direction(direction)
    lists = [
        checked_pairs(part.edges, np.array([0, part.size]), f" of graph {number}")
        for number, part in enumerate(parts)
    ]
    sizes = np.array([part.size for part in parts], dtype=np.int64)
    counts = [len(pairs) for pairs in lists]
    base = np.repeat(running_sum(sizes)[:-1], counts)
    pairs = np.concatenate([np.empty((0, 2), dtype=np.int64), *lists]) + base[:, np.newaxis]
    directed = np.array([-1 if part.directed is None else part.directed for part in parts])
    directed = np.repeat(directed, counts).astype(int)
    if direction == "ignore":
        one_way = _one_way(pairs[directed == 1]) + shown_directions(sizes, pairs, directed < 0)
        warn_about_ignored(one_way, _weighted([part.weights for part in parts]), hint)
    vertices, edgeful = [part.size > 0 for part in parts], [count > 0 for count in counts]
    return with_arcs(
        directed != 0 if direction == "vertices" else None,
        sizes,
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


def with_arcs(
    is_arc: np.ndarray | None,
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

    ``is_arc`` marks the pairs that are arcs; if it is None, all pairs are undirected edges and
    labels are not changed. The other parameters are those of :meth:`GraphBatch.from_edges`.
    """
    if is_arc is None:
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
    names = [UNLABELLED] * count if labels is None else _free_of_ends(labels)
    arcs = np.flatnonzero(is_arc)
    graph = np.searchsorted(offsets, pairs[arcs, 0], side="right") - 1
    arcs = arcs[np.argsort(graph, kind="stable")]
    graph = np.sort(graph, kind="stable")
    per_graph = np.bincount(graph, minlength=len(sizes))
    new_sizes = sizes + 2 * per_graph
    begins = running_sum(new_sizes)[:-1]
    new_numbers = np.arange(count) + np.repeat(begins - offsets[:-1], sizes)
    before = running_sum(per_graph)[:-1]
    tail = (begins + sizes)[graph] + 2 * (np.arange(len(arcs)) - before[graph])
    source, target = new_numbers[pairs[arcs, 0]], new_numbers[pairs[arcs, 1]]
    undirected = np.flatnonzero(~is_arc)
    rows = np.concatenate((undirected, arcs, arcs, arcs))  # original pair of each new edge
    new_pairs = np.concatenate(
        (
            new_numbers[pairs[undirected]].reshape(-1, 2),
            np.column_stack((source, tail)),
            np.column_stack((tail, tail + 1)),
            np.column_stack((tail + 1, target)),
        )
    )
    new_names = np.empty(int(new_sizes.sum()), dtype=object)
    new_names[new_numbers], new_names[tail], new_names[tail + 1] = names, TAIL, HEAD
    if vertex_attributes is not None:
        table = np.empty((len(new_names), vertex_attributes.shape[1]))
        table[new_numbers] = vertex_attributes
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


def _free_of_ends(labels: Iterable[Any]) -> list[str]:
    """Return labels as strings; none may be that of the end of an arc."""
    names = [str(label) for label in labels]
    clash = next((name for name in names if name in (TAIL, HEAD)), None)
    if clash is not None:
        raise InvalidGraphError(
            f"With direction='vertices' the label {clash!r} is that of the end of an arc; a vertex "
            "has it already. Give the vertex another label."
        )
    return names


def _one_way(arcs: np.ndarray) -> int:
    """Count the arcs whose reverse is missing."""
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    if not len(arcs):
        return 0
    base = int(arcs.max()) + 1
    forward, backward = np.unique(arcs[:, 0] * base + arcs[:, 1]), arcs[:, 1] * base + arcs[:, 0]
    return int(np.isin(forward, backward, invert=True).sum())


def shown_directions(sizes: np.ndarray, pairs: np.ndarray, free: np.ndarray) -> int:
    """Count the one-way edges of lists of pairs that show a direction.

    A list of pairs usually means undirected edges, in any order of their ends. Directions show
    where a graph lists some edges in both directions and others in one, or where two graphs
    differ in nothing but the directions of their edges.
    """
    offsets = running_sum(sizes)
    pairs = np.unique(pairs[free & (pairs[:, 0] != pairs[:, 1])], axis=0)
    if not len(pairs):
        return 0
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    count = np.unique(low * offsets[-1] + high, return_inverse=True, return_counts=True)
    single = (count[2] == 1)[count[1].reshape(-1)]
    graph = np.searchsorted(offsets, low, side="right") - 1
    in_both = np.bincount(graph[~single], minlength=len(sizes)) > 0
    in_one = np.bincount(graph[single], minlength=len(sizes))
    total = int(in_one[in_both].sum())
    order = np.lexsort((high, low))
    ends = np.column_stack((low, high, pairs[:, 0]))[order] - offsets[graph[order]][:, np.newaxis]
    begins = running_sum(np.bincount(graph, minlength=len(sizes)))
    sources: dict[tuple[int, bytes], bytes] = {}
    for number in np.flatnonzero((in_one > 0) & ~in_both).tolist():
        rows = ends[begins[number] : begins[number + 1]]
        key = int(sizes[number]), rows[:, :2].tobytes()
        if sources.setdefault(key, rows[:, 2].tobytes()) != rows[:, 2].tobytes():
            total += len(rows)
    return total


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


def warn_about_ignored(one_way: int, weights: int = 0, hint: str = "") -> None:
    """Warn once for all graphs about ignored directions and weights."""
    ignored, ways_out = [], []
    if one_way:
        ignored.append(f"the direction of {counted(one_way, 'one-way edge')}")
        ways_out.append(f"direction='vertices' keeps directions exactly, {ARC_LENGTH}")
    if weights:
        ignored.append(f"the weight{'s' * (weights > 1)} of {counted(weights, 'edge')}")
        ways_out.append(hint)
    if ignored:
        warnings.warn(
            f"Graphs are undirected and unweighted here. Ignored: {', '.join(ignored)} "
            f"({'; '.join(ways_out)}).",
            GraphgrainWarning,
            stacklevel=4,
        )


# -------------------------------------------------------------------- labels and attributes

#: Names under which a lone attribute of strings or small integers is read as vertex label.
_LABEL_NAMES = ("label", "type", "element", "symbol", "kind", "name")
#: Vertex attributes that networkx's generators set: positions and parts, no labels.
_GENERATED = frozenset({"block", "bipartite", "community", "pos", "subset"})
#: Larger integers are numbers of something rather than kinds.
_SMALL = 1000


def label_attribute(
    columns: Mapping[str, Sequence[Any]], size: int, read: str | Sequence[str] | None
) -> str | None:
    """Choose the attribute that labels the vertices of graphs without the attribute "label".

    ``columns`` are the values of each attribute on the vertices that have it, ``size`` is the
    number of vertices, and ``read`` the attributes that are read as numbers.
    """
    skipped = {*_GENERATED, *([read] if isinstance(read, str) else read or ())}
    names = [name for name in columns if name not in skipped]
    usable = [name for name in names if len(columns[name]) == size and _are_kinds(columns[name])]
    chosen = usable[0] if len(usable) == 1 and usable[0] in _LABEL_NAMES else None
    if names:
        warnings.warn(
            f"The vertices have no attribute 'label'; their attribute {chosen!r} is read as label "
            "(vertex_label chooses another, vertex_label=None none)."
            if chosen
            else "The vertices have no attribute 'label', so that the graphs are unlabelled; their "
            f"attributes are {', '.join(map(repr, names))}. Choose a label with vertex_label=..., "
            "read numbers with vertex_attributes=..., or say vertex_label=None.",
            GraphgrainWarning,
            stacklevel=3,
        )
    return chosen


def _are_kinds(values: Sequence[Any]) -> bool:
    """Return whether values are all strings or all small integers."""
    types = set(map(type, values))
    if not all(issubclass(kind, int | np.integer) and kind is not bool for kind in types):
        return all(issubclass(kind, str) for kind in types)
    return all(-_SMALL < value < _SMALL for value in values)


def graph_columns(
    attributes: Sequence[Mapping[str, Any]], vertices: Sequence[Sequence[Any]]
) -> dict[str, list[Any]]:
    """Return columns with the attributes of graphs, and the names of their vertices.

    Vertices that are called by their numbers need no names.
    """
    names = names_beside({"vertices"}, dict.fromkeys(name for some in attributes for name in some))
    columns = {shown: [some.get(name) for some in attributes] for name, shown in names.items()}
    if any(list(some) != list(range(len(some))) for some in vertices):
        columns["vertices"] = [list(some) for some in vertices]
    return columns


def requested(graphs: GraphBatch, attributes: bool) -> GraphBatch:
    """Mark graphs whose attributes the caller asked for: kernels that ignore them say so."""
    if attributes:
        graphs.told = set()
    return graphs


# -------------------------------------------------------------------- checks and small helpers


#: Hint for :func:`joined` of converters with a parameter ``edge_attributes``.
READ_WEIGHTS = "edge_attributes='weight' reads weights"


def is_from(x: Any, package: str) -> bool:
    """Return whether an object's class is from a package, without importing the package."""
    return any(kind.__module__.split(".")[0] == package for kind in type(x).__mro__)


def checked_items(items: Iterable[Any], right: Callable[[Any], bool], kind: str) -> list[Any]:
    """Return the items as a list; raise an error if one is not of the expected kind."""
    listed = items_of(items)
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
    table = read_table(x)
    if table is not None:
        return items_of(table[the_column(table, None, "graphs")])
    if isinstance(x, np.ndarray) and x.ndim == 2 and x.shape[1] == 1 and x.dtype.kind in "OUT":
        return list(x[:, 0])  # scikit-learn passes a column as a two-dimensional array
    return items_of(x)


def is_sequence(x: Any) -> bool:
    """Return whether ``x`` is a sequence or an array but not a string."""
    return isinstance(x, Sequence | np.ndarray) and not isinstance(x, str)


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


def _flat(labels: list[Any], needed: list[bool], what: str) -> Any:
    """Concatenate the labels of all graphs; None if there are none."""
    parts = _present(labels, needed, what)
    if not parts:
        return None
    if {part.dtype.kind if isinstance(part, np.ndarray) else "" for part in parts} == {"i"}:
        return np.concatenate(parts)
    # Concatenating arrays of different types would turn 1 into "1" or 1.0.
    lists = (part.tolist() if isinstance(part, np.ndarray) else part for part in parts)
    return [label for values in lists for label in values]


def _stacked(tables: list[Any], needed: list[bool], what: str) -> np.ndarray | None:
    parts = _present(tables, needed, what)
    return joined_attributes([part for part in parts if len(part)] or parts[:1], what)


def _present(values: list[Any], needed: list[bool], what: str) -> list[Any]:
    """Return what the graphs have, or nothing if graphs that need it do not have it."""
    present = [
        value is not None if need else None for value, need in zip(values, needed, strict=True)
    ]
    all_or_none(present, what, "graph")
    return [] if False in present else [value for value in values if value is not None]
