"""Conversion of adjacency matrices and ``(edges, labels)`` tuples.

GraKeL uses the same representations, and a ``Graph`` class that wraps them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import Any

import numpy as np

from ...errors import InvalidGraphError, InvalidParameterError
from ..batch import GraphBatch
from ..tables import items_of
from .parts import Part, as_columns, is_from, is_sequence, joined, requested, shown

_READ_WEIGHTS = "from_adjacency(..., values='attributes') or values='labels' reads weights"


def from_adjacency(
    adjacency: Iterable[Any],
    labels: Iterable[Any] | None = None,
    *,
    values: str | None = None,
    direction: str = "ignore",
) -> GraphBatch:
    """Convert adjacency matrices to a :class:`GraphBatch`.

    Parameters
    ----------
    adjacency : iterable of square matrices
        NumPy arrays or SciPy sparse matrices whose nonzero entries are edges. An entry on one
        side of the diagonal is enough; edges without a second one are counted in a warning, as
        their direction is ignored.
    labels : iterable of sequences, optional
        Vertex labels of each graph.
    values : {"labels", "attributes"}, optional
        Read the entries as edge labels (integers, such as bond orders) or as edge attributes. By
        default they only indicate the presence of an edge, and a warning is issued if nonzero
        entries differ. If the two entries of an edge differ, the smaller is kept.
    direction : {"ignore", "vertices"}, default="ignore"
        With ``"vertices"`` each entry is an arc from its row to its column; see
        :func:`from_networkx`.

    Returns
    -------
    graphs : GraphBatch

    Examples
    --------
    >>> import graphgrain as gg, numpy as np
    >>> carbon_dioxide = np.array([[0, 2, 0], [2, 0, 2], [0, 2, 0]])
    >>> gg.from_adjacency([carbon_dioxide], [["O", "C", "O"]], values="labels")
    GraphBatch(1 graph, 3 vertices, 2 edges, 2 vertex labels, 1 edge label)
    """
    if values not in (None, "labels", "attributes"):
        raise InvalidParameterError(f"values must be 'labels' or 'attributes'; got {values!r}.")
    matrices = items_of(adjacency)
    label_lists = [None] * len(matrices) if labels is None else list(labels)
    if len(label_lists) != len(matrices):
        raise InvalidGraphError(
            f"Labels are given graph by graph; got {len(label_lists)} for {len(matrices)} graphs."
        )
    parts = [
        _from_adjacency(matrix, labels, number, values)
        for number, (matrix, labels) in enumerate(zip(matrices, label_lists, strict=True))
    ]
    return requested(joined(parts, direction, _READ_WEIGHTS), values == "attributes")


def is_adjacency(x: Any) -> bool:
    """Return whether ``x`` is a matrix: a SciPy sparse one, or a two-dimensional array."""
    return hasattr(x, "tocoo") or (
        isinstance(x, np.ndarray) and x.ndim == 2 and x.dtype.kind != "O"
    )


def is_grakel(x: Any) -> bool:
    """Return whether ``x`` is a GraKeL ``Graph`` object."""
    return is_from(x, "grakel") and hasattr(x, "get_edges")


def from_grakel(graphs: Iterable[Any]) -> GraphBatch:
    """Convert graphs in GraKeL's formats to a :class:`GraphBatch`.

    Parameters
    ----------
    graphs : iterable
        ``Graph`` objects, or sequences ``(structure, labels, edge_labels)`` of which the last one
        or two items may be omitted. The structure is an adjacency matrix, a collection of edges,
        or a dictionary of neighbours; ``labels`` is a dictionary from vertex to label, or to a
        sequence of numbers, which become attributes; ``edge_labels`` is the same for pairs
        of vertices. The data of ``grakel.datasets.fetch_dataset(...)`` have this format.

    Returns
    -------
    graphs : GraphBatch

    Examples
    --------
    >>> import graphgrain as gg
    >>> water = [{(1, 2), (2, 1), (1, 3), (3, 1)}, {1: "O", 2: "H", 3: "H"}]
    >>> gg.from_grakel([water])
    GraphBatch(1 graph, 3 vertices, 2 edges, 2 vertex labels)
    """
    return from_plain(
        [_grakel_parts(graph) if is_grakel(graph) else graph for graph in items_of(graphs)]
    )


def from_plain(items: Iterable[Any], *, direction: str = "ignore") -> GraphBatch:
    """Convert ``(structure, labels, edge_labels)`` tuples; see :func:`as_graphs`."""
    items = list(items)
    if items and all(map(_is_edge, items)):
        raise InvalidGraphError(
            f"A graph is a tuple (edges, labels); got pairs like the edges of one graph, such as "
            f"{items[0]!r}. Write [(edges, labels)], or [(edges, None)] without labels; "
            "graphgrain.from_edge_list(edges) reads vertices of any names."
        )
    if items and all(len(item) and all(map(_is_edge, item)) for item in items):
        raise InvalidGraphError(
            "A graph is a tuple (edges, labels); got lists of edges alone, such as "
            f"{shown(items[0])}. Write [(edges, None) for edges in graphs], or give labels."
        )
    parts = [_from_tuple(item, number) for number, item in enumerate(items)]
    return joined(parts, direction, _READ_WEIGHTS)


def _is_edge(x: Any) -> bool:
    """Return whether ``x`` is a pair of numbers or names."""
    return (
        isinstance(x, tuple | list)
        and len(x) == 2
        and all(isinstance(end, int | np.integer | str) for end in x)
    )


def is_plain(x: Any) -> bool:
    """Return whether ``x`` could be a graph given as a tuple."""
    return isinstance(x, tuple | list) and 2 <= len(x) <= 3


def _from_tuple(item: Any, number: int) -> Part:
    if not isinstance(item, tuple | list) or not 1 <= len(item) <= 3:
        raise InvalidGraphError(
            f"A graph is a tuple (structure, labels, edge_labels); item {number} is {shown(item)}."
        )
    structure, labels, edge_labels = (*item, None, None)[:3]
    if _is_adjacency(structure, labels):
        part = _from_adjacency(structure, labels, number)
    elif isinstance(labels, Mapping) or isinstance(structure, Mapping):
        return _from_named(structure, labels, edge_labels, number)
    else:
        part = _from_numbers(structure, labels, number)
    if isinstance(edge_labels, Mapping):
        edges = [tuple(edge) for edge in np.asarray(part.edges).tolist()]
        return part._replace(weights=None, **_of_edges(edge_labels, edges, number))
    if edge_labels is not None:
        if not is_sequence(structure) or _is_adjacency(structure, labels):
            raise InvalidGraphError(
                f"Edge labels in a row go with a list of edges; graph {number} has them with "
                f"{type(structure).__name__}. Give a dictionary from (u, v) to label."
            )
        edge_labels = _listed(edge_labels)
        if len(edge_labels) != len(part.edges):
            raise InvalidGraphError(
                f"There must be as many edge labels as edges; graph {number} has "
                f"{len(edge_labels)} for {len(part.edges)} edges."
            )
        return part._replace(edge_labels=edge_labels)
    return part


def _from_numbers(structure: Any, labels: Any, number: int) -> Part:
    """Convert edges between vertices numbered from 0, with labels in a sequence."""
    edges = structure if isinstance(structure, np.ndarray) else _pairs_of(structure, number)
    if labels is None:
        ends = np.asarray(edges)
        if len(edges) and ends.dtype.kind not in "iu":
            raise InvalidGraphError(
                f"Vertices are numbers counted from 0; graph {number} has the edge "
                f"{shown(edges[0])}. Other names need a dictionary of labels."
            )
        size = int(ends.max()) + 1 if len(edges) else 0
        if size > 2 * len(edges):
            raise InvalidGraphError(
                f"Without labels the vertices of the edges must be all that there are; graph "
                f"{number} has {len(edges)} edges, but a vertex {size - 1}. Count from 0, and "
                "give labels where there are isolated vertices."
            )
        return Part(size, edges, directed=None)
    labels = _label_list(labels, None, number)
    return Part(len(labels), edges, labels, directed=None)


def _from_named(structure: Any, labels: Any, edge_labels: Any, number: int) -> Part:
    """Convert a graph whose vertices are the keys of the labels or of the neighbour lists."""
    edges = _pairs_of(structure, number)
    keys = list(structure) if isinstance(structure, Mapping) and not _pair_keys(structure) else []
    if labels is not None and not isinstance(labels, Mapping):
        raise InvalidGraphError(
            f"A dictionary of neighbours needs a dictionary of labels; graph {number} has "
            f"{shown(labels)}."
        )
    if labels is None:
        vertices = _in_order(dict.fromkeys([*keys, *(end for edge in edges for end in edge)]))
    else:
        vertices = _in_order(labels)
        for vertex in keys:
            if vertex not in labels:
                raise InvalidGraphError(
                    f"Every vertex needs a label; vertex {vertex!r} of graph {number} has none."
                )
    index = {vertex: position for position, vertex in enumerate(vertices)}
    for end in chain.from_iterable(edges):
        if end not in index:
            raise InvalidGraphError(
                f"Every end of an edge must be a vertex; graph {number} has an edge at {end!r}, "
                "which is not among its vertices and so has no label."
            )
    pairs = [(index[u], index[v]) for u, v in edges]
    part = Part(len(vertices), pairs, directed=None)
    if labels is not None:
        values = [labels[vertex] for vertex in vertices]
        table = _rows(values, f"the vertices of graph {number}")
        part = part._replace(labels=values if table is None else None, vertex_attributes=table)
    if edge_labels is not None:
        return part._replace(**_of_edges(edge_labels, edges, number))
    return part._replace(weights=_weights(structure, edges))


def _of_edges(edge_labels: Any, edges: Sequence[tuple[Any, Any]], number: int) -> dict[str, Any]:
    """Look up the labels or attributes of the edges in a dictionary, in either direction."""
    if not isinstance(edge_labels, Mapping):
        raise InvalidGraphError(
            f"Named vertices need edge labels in a dictionary from (u, v) to label; graph {number} "
            f"has {shown(edge_labels)}."
        )
    values = []
    for u, v in edges:
        if (u, v) not in edge_labels and (v, u) not in edge_labels:
            raise InvalidGraphError(
                f"Every edge needs a label; edge ({u!r}, {v!r}) of graph {number} has none."
            )
        values.append(edge_labels[u, v] if (u, v) in edge_labels else edge_labels[v, u])
    table = _rows(values, f"the edges of graph {number}")
    return {"edge_labels": values if table is None else None, "edge_attributes": table}


def _rows(values: list[Any], where: str) -> np.ndarray | None:
    """Return values that are sequences of numbers as attributes, and None for labels."""
    return as_columns(values, len(values), where) if any(map(is_sequence, values)) else None


def _pairs_of(structure: Any, number: int) -> list[tuple[Any, Any]]:
    """Return the edges of a collection of pairs or of one of GraKeL's dictionaries."""
    if isinstance(structure, Mapping) and not _pair_keys(structure):
        try:
            return [(u, v) for u, neighbours in structure.items() for v in neighbours]
        except TypeError:
            raise InvalidGraphError(
                f"A dictionary must give the neighbours of each vertex; graph {number} does not."
            ) from None
    if not isinstance(structure, Iterable) or isinstance(structure, str | bytes):
        raise InvalidGraphError(
            f"The edges of a graph are a list of pairs; graph {number} has {shown(structure)}."
        )
    edges = list(structure)
    for edge in edges:
        if not is_sequence(edge) or len(edge) != 2:
            raise InvalidGraphError(
                f"An edge is a pair of vertices; graph {number} has {shown(edge)}."
            )
    return [(u, v) for u, v in edges]


def _weights(structure: Any, edges: list[tuple[Any, Any]]) -> list[Any] | None:
    """Return the weights of one of GraKeL's dictionaries, each edge once if that tells all."""
    if not isinstance(structure, Mapping):
        return None
    if _pair_keys(structure):
        weights = list(structure.values())
    elif all(isinstance(neighbours, Mapping) for neighbours in structure.values()):
        weights = [weight for neighbours in structure.values() for weight in neighbours.values()]
    else:
        return None
    once = list({frozenset(edge): w for edge, w in zip(edges, weights, strict=True)}.values())
    return once if any(weight != once[0] for weight in once) else weights


def _pair_keys(structure: Mapping[Any, Any]) -> bool:
    """Return whether a dictionary maps edges to weights."""
    return bool(structure) and all(
        isinstance(key, tuple) and len(key) == 2 and not isinstance(value, Mapping | Set | list)
        for key, value in structure.items()
    )


def _in_order(vertices: Iterable[Any]) -> list[Any]:
    """Sort vertices if they can be compared."""
    listed = list(vertices)
    try:
        return sorted(listed)
    except TypeError:
        return listed


def _is_adjacency(structure: Any, labels: Any) -> bool:
    if hasattr(structure, "tocoo"):
        return True
    if not isinstance(structure, np.ndarray) or structure.ndim != 2:
        return False
    rows, columns = structure.shape
    # A 2 x 2 array could also be two edges; with two labels it is read as an adjacency matrix.
    return columns != 2 or (rows == 2 and labels is not None and len(labels) == 2)


def _from_adjacency(adjacency: Any, labels: Any, number: int, values: str | None = None) -> Part:
    if not hasattr(adjacency, "tocoo"):
        adjacency = np.asarray(adjacency)
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise InvalidGraphError(
            f"An adjacency matrix must be square; graph {number} has shape {adjacency.shape}. "
            "Edges are given as (edges, labels), or (edges, None) without labels."
        )
    if hasattr(adjacency, "tocoo"):
        matrix = adjacency.tocoo(copy=True)
        matrix.sum_duplicates()  # SciPy defines entries at the same position to be added
        row, column, entries = matrix.row, matrix.col, np.asarray(matrix.data)
    else:
        if adjacency.dtype.kind not in "biuf":
            raise InvalidGraphError(
                f"An adjacency matrix must hold numbers; graph {number} has {adjacency.dtype}."
            )
        row, column = np.nonzero(adjacency)
        entries = adjacency[row, column]
    if entries.dtype.kind == "f" and np.isnan(entries).any():
        raise InvalidGraphError(
            f"An adjacency matrix must not hold NaN; graph {number} does. Use 0 for 'no edge'."
        )
    edge = entries != 0
    size = adjacency.shape[0]
    edges = np.column_stack((row[edge], column[edge])).astype(np.int64)
    labels = None if labels is None else _label_list(labels, size, number)
    part = Part(size, edges, labels, directed=True)
    if values == "labels":
        return part._replace(edge_labels=entries[edge].tolist())
    if values == "attributes":
        return part._replace(edge_attributes=entries[edge].astype(np.float64)[:, None])
    low, high = edges.min(axis=1), edges.max(axis=1)
    once = np.unique(low * size + high, return_index=True)[1]  # an edge has up to two entries
    weights = entries[edge]
    if len(np.unique(weights[once])) > 1:  # else weights may still differ between directions
        weights = weights[once]
    return part._replace(weights=weights)


def _label_list(labels: Any, size: int | None, number: int) -> list[Any]:
    """Return the labels in vertex order, from a sequence or a dictionary."""
    if isinstance(labels, str | Set) or not isinstance(labels, Iterable):
        raise InvalidGraphError(
            f"Labels are a sequence with one item per vertex; graph {number} has {shown(labels)}. "
            "Use list(...) if each letter of a string is a label."
        )
    if isinstance(labels, Mapping) and size is not None:
        for vertex in range(size):
            if vertex not in labels:
                raise InvalidGraphError(
                    f"Every vertex needs a label; vertex {vertex} of graph {number} has none "
                    f"(vertices are 0 to {size - 1})."
                )
        labels = [labels[vertex] for vertex in range(size)]
    labels = _listed(labels)
    if size is not None and len(labels) != size:
        raise InvalidGraphError(
            f"Every vertex needs a label; graph {number} has {size} vertices and {len(labels)} "
            "labels."
        )
    return labels


def _listed(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _grakel_parts(graph: Any) -> tuple[Any, Any, Any]:
    """Return structure, labels and edge labels of a GraKeL Graph, in its current format."""
    if graph._format == "dictionary":
        purpose = "dictionary"
        structure = {key: {} for key in graph.get_vertices(purpose)} | graph.edge_dictionary
    else:
        purpose = "adjacency"
        structure = graph.adjacency_matrix
    labels, edge_labels = (
        graph.get_labels(kind, purpose, return_none=True) for kind in ("vertex", "edge")
    )
    return structure, labels, edge_labels
