"""Graphs of other libraries, and plain Python data, as a GraphBatch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InvalidGraphError
from .batch import GraphBatch

ACCEPTED = (
    "a GraphBatch, or a list whose items are networkx graphs, (edges, labels) or "
    "(adjacency, labels) tuples"
)


def as_graphs(x: Any) -> GraphBatch:
    """Turn whatever holds graphs into a :class:`GraphBatch`.

    Parameters
    ----------
    x : GraphBatch or sequence of graphs
        The items may be

        - networkx graphs (vertex attribute ``"label"`` if there is one; see
          :func:`from_networkx` for other names and for edge labels),
        - ``(edges, labels)`` or ``(edges, labels, edge_labels)`` with edges as pairs of vertex
          numbers counted from 0,
        - ``(adjacency, labels)`` with a square NumPy array or SciPy sparse matrix, whose
          entries other than 0 are edges,
        - GraphBatches, which are joined.

        ``labels`` is a sequence, a dictionary from vertex to label, or None.

    Examples
    --------
    >>> import graphgrain as gg
    >>> gg.as_graphs([([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "N"])])
    GraphBatch(2 graphs, 5 vertices, 3 edges, 3 vertex labels)
    """
    if isinstance(x, GraphBatch):
        return x
    if isinstance(x, str | bytes | Mapping) or not isinstance(x, Iterable):
        raise InvalidGraphError(
            f"Graphs are expected as {ACCEPTED}; got {_shown(x)}. "
            "A file is read with graphgrain.load_tu(path) or graphgrain.load_mat(path)."
        )
    if _is_networkx(x):
        raise InvalidGraphError(
            f"A list of graphs is expected; got a single networkx graph {_shown(x)}. "
            "Put it in a list: [graph]."
        )
    items = list(x)
    if all(isinstance(item, GraphBatch) for item in items):
        return GraphBatch.concatenate(items)
    if all(_is_networkx(item) for item in items):
        return from_networkx(items)
    if all(isinstance(item, tuple | list) and 2 <= len(item) <= 3 for item in items):
        return _joined([_from_tuple(item, number) for number, item in enumerate(items)])
    wrong = next(
        (
            (number, item)
            for number, item in enumerate(items)
            if not isinstance(item, GraphBatch | tuple | list) and not _is_networkx(item)
        ),
        None,
    )
    if wrong is None:
        raise InvalidGraphError(
            f"Graphs are expected as {ACCEPTED}, all of one kind; got a mixture of "
            f"{', '.join(sorted({type(item).__name__ for item in items}))}."
        )
    raise InvalidGraphError(
        f"Graphs are expected as {ACCEPTED}; item {wrong[0]} is {_shown(wrong[1])}."
    )


def from_networkx(
    graphs: Iterable[Any], node_label: str | None = "label", edge_label: str | None = None
) -> GraphBatch:
    """Turn networkx graphs into a :class:`GraphBatch`.

    Directed graphs and multigraphs are accepted: direction is dropped, parallel edges are
    merged. Vertices keep the order in which networkx holds them.

    Parameters
    ----------
    graphs : iterable of networkx graphs
    node_label : str or None
        Vertex attribute that holds the label. Graphs without any ``"label"`` are unlabelled;
        a name of your own must be there on every vertex.
    edge_label : str, optional
        Edge attribute that holds the edge label.

    Examples
    --------
    >>> import graphgrain as gg, networkx as nx
    >>> ring = nx.cycle_graph(6)
    >>> nx.set_node_attributes(ring, "C", "symbol")
    >>> gg.from_networkx([ring], node_label="symbol")
    GraphBatch(1 graph, 6 vertices, 6 edges, 1 vertex label)
    """
    graphs = list(graphs)
    for number, graph in enumerate(graphs):
        if not _is_networkx(graph):
            raise InvalidGraphError(f"Item {number} is not a networkx graph: {_shown(graph)}.")
    if node_label == "label" and not any(
        "label" in data for graph in graphs for _, data in graph.nodes(data=True)
    ):
        node_label = None
    parts = []
    for number, graph in enumerate(graphs):
        position = {vertex: place for place, vertex in enumerate(graph)}
        labels = None
        if node_label is not None:
            labels = [
                _found(data, node_label, f"Vertex {vertex!r} of graph {number}")
                for vertex, data in graph.nodes(data=True)
            ]
        edges, edge_labels = [], []
        for u, v, data in graph.edges(data=True):
            edges.append((position[u], position[v]))
            if edge_label is not None:
                where = f"Edge ({u!r}, {v!r}) of graph {number}"
                edge_labels.append(_found(data, edge_label, where))
        parts.append((len(graph), edges, labels, edge_labels if edge_label is not None else None))
    return _joined(parts)


# One graph on its way into a batch: number of vertices, edges, labels, edge labels.
_Part = tuple[int, Any, Any, Any]


def _joined(parts: Sequence[_Part]) -> GraphBatch:
    """One batch from many small parts, checked graph by graph so that errors can name it."""
    sizes, edges, labels, edge_labels = [], [], [], []
    base = 0
    for number, (size, pairs, vertex_values, edge_values) in enumerate(parts):
        pairs = np.asarray(pairs).reshape(-1, 2) if len(pairs) else np.empty((0, 2), dtype=int)
        if pairs.dtype.kind not in "iu":
            raise InvalidGraphError(
                f"Edges are pairs of vertex numbers; graph {number} has edges of type {pairs.dtype}."
            )
        outside = np.flatnonzero(((pairs < 0) | (pairs >= size)).any(axis=1))
        if outside.size:
            raise InvalidGraphError(
                f"An edge must join vertices of its graph; edge {tuple(pairs[outside[0]].tolist())} "
                f"of graph {number} points outside its {size} vertices, which are counted from 0."
            )
        sizes.append(size)
        edges.append(pairs + base)
        labels.append(vertex_values)
        edge_labels.append(edge_values)
        base += size
    return GraphBatch.from_edges(
        sizes,
        np.concatenate(edges) if edges else [],
        _flat(labels, [size > 0 for size in sizes], "vertex labels"),
        edge_labels=_flat(edge_labels, [len(pairs) > 0 for pairs in edges], "edge labels"),
    )


def _flat(values: list[Any], needed: list[bool], what: str) -> list[Any] | None:
    """All labels in one list, or None; a graph that needs them must not be the odd one out."""
    having = [n for n, value in enumerate(values) if value is not None and needed[n]]
    lacking = [n for n, value in enumerate(values) if value is None and needed[n]]
    if having and lacking:
        raise InvalidGraphError(
            f"Either all graphs have {what} or none has; graph {having[0]} has them, graph "
            f"{lacking[0]} does not. Add them, or leave them out everywhere."
        )
    if lacking or all(value is None for value in values):
        return None
    return [label for value in values if value is not None for label in value]


def _from_tuple(item: Sequence[Any], number: int) -> _Part:
    structure, labels = item[0], item[1]
    edge_labels = item[2] if len(item) == 3 else None
    if _is_adjacency(structure, labels):
        if edge_labels is not None:
            raise InvalidGraphError(
                f"Edge labels go with a list of edges; graph {number} has them with an adjacency "
                "matrix. Give (edges, labels, edge_labels)."
            )
        return _from_adjacency(structure, labels, number)
    edges = list(structure) if not isinstance(structure, np.ndarray) else structure
    if len(edges) and any(np.ndim(edge) != 1 or len(edge) != 2 for edge in edges):
        wrong = next(edge for edge in edges if np.ndim(edge) != 1 or len(edge) != 2)
        raise InvalidGraphError(
            f"An edge is a pair of vertex numbers; graph {number} has {_shown(wrong)}."
        )
    if labels is None:
        size = int(np.max(edges)) + 1 if len(edges) else 0
    else:
        labels = _label_list(labels, None, number)
        size = len(labels)
    if edge_labels is not None:
        edge_labels = list(edge_labels)
        if len(edge_labels) != len(edges):
            raise InvalidGraphError(
                f"There must be as many edge labels as edges; graph {number} has "
                f"{len(edge_labels)} for {len(edges)} edges."
            )
    return size, edges, labels, edge_labels


def _is_adjacency(structure: Any, labels: Any) -> bool:
    if hasattr(structure, "tocoo"):
        return True
    if not isinstance(structure, np.ndarray) or structure.ndim != 2:
        return False
    rows, columns = structure.shape
    # A 2 x 2 array could be two edges as well: with two labels it is read as an adjacency matrix.
    return columns != 2 or (rows == 2 and labels is not None and len(labels) == 2)


def _from_adjacency(adjacency: Any, labels: Any, number: int) -> _Part:
    if adjacency.ndim != 2 or adjacency.shape[0] != adjacency.shape[1]:
        raise InvalidGraphError(
            f"An adjacency matrix must be square; graph {number} has shape {adjacency.shape}."
        )
    if hasattr(adjacency, "tocoo"):
        coo = adjacency.tocoo()
        row, column, values = coo.row, coo.col, coo.data
        row, column = row[values != 0], column[values != 0]
    else:
        row, column = np.nonzero(adjacency)
        values = adjacency
    if np.asarray(values).dtype.kind == "f" and np.isnan(values).any():
        raise InvalidGraphError(
            f"An adjacency matrix must not hold NaN; graph {number} does. Use 0 for 'no edge'."
        )
    size = adjacency.shape[0]
    edges = np.column_stack((row, column)).astype(np.int64)
    return size, edges, None if labels is None else _label_list(labels, size, number), None


def _label_list(labels: Any, size: int | None, number: int) -> list[Any]:
    """Labels in vertex order, from a sequence or a dictionary."""
    if isinstance(labels, str):
        raise InvalidGraphError(
            f"Labels are a sequence with one item per vertex; graph {number} has the string "
            f"{_shown(labels)}. Use list(...) if each letter is a label."
        )
    count = size if size is not None else len(labels)
    if isinstance(labels, Mapping):
        missing = next((vertex for vertex in range(count) if vertex not in labels), None)
        if missing is not None:
            raise InvalidGraphError(
                f"Every vertex needs a label; vertex {missing} of graph {number} has none "
                f"(vertices are 0 to {count - 1})."
            )
        labels = [labels[vertex] for vertex in range(count)]
    labels = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    if len(labels) != count:
        raise InvalidGraphError(
            f"Every vertex needs a label; graph {number} has {count} vertices and {len(labels)} "
            "labels."
        )
    return labels


def _found(data: Mapping[str, Any], name: str, where: str) -> Any:
    if data.get(name) is None:
        there = ", ".join(repr(key) for key in data) or "none"
        raise InvalidGraphError(
            f"Every vertex and edge needs its label; {where} has no {name!r} (its attributes: "
            f"{there}). Set it, or name another attribute."
        )
    return data[name]


def _is_networkx(x: Any) -> bool:
    return any(kind.__module__.startswith("networkx") for kind in type(x).__mro__)


def _shown(x: Any) -> str:
    text = repr(x)
    return f"{text[:60]}{'...' if len(text) > 60 else ''} ({type(x).__name__})"
