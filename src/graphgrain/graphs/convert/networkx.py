"""Conversion from and to networkx graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import InvalidGraphError, needed
from ..batch import GraphBatch
from .parts import (
    READ_WEIGHTS,
    Part,
    as_columns,
    checked_items,
    graph_columns,
    is_from,
    joined,
    label_attribute,
    requested,
    weights_read,
)


def is_networkx(x: Any) -> bool:
    """Return whether ``x`` is a networkx graph."""
    return is_from(x, "networkx") and hasattr(x, "nodes") and hasattr(x, "edges")


def from_networkx(
    graphs: Iterable[Any],
    vertex_label: str | None = "label",
    edge_label: str | None = "label",
    *,
    vertex_attributes: str | Sequence[str] | None = None,
    edge_attributes: str | Sequence[str] | None = None,
    direction: str = "ignore",
) -> GraphBatch:
    """Convert networkx graphs to a :class:`GraphBatch`.

    Parallel edges of multigraphs are merged. Vertices keep their networkx order.

    Parameters
    ----------
    graphs : iterable of networkx graphs
    vertex_label, edge_label : str or None, default="label"
        Vertex or edge attribute to use as label; any other name than the default must be present
        on every vertex or edge. With the default, vertices without the attribute ``"label"`` are
        labelled by their only attribute of strings or small integers if it is called type,
        element, symbol, kind or name, which a warning says; otherwise a warning lists the
        attributes, and the graphs are unlabelled. None reads no labels.
    vertex_attributes, edge_attributes : str or list of str, optional
        Attributes to read into ``vertex_attributes`` and ``edge_attributes``: one name whose
        values are numbers or sequences of numbers, or several names whose values are numbers.
        By default none are read, and a warning mentions edge weights.
    direction : {"ignore", "vertices"}, default="ignore"
        Treatment of directed edges. With ``"ignore"`` directions are dropped, with a warning that
        counts them. With ``"vertices"`` the arc u -> v becomes a path u - tail - head - v with
        two additional vertices, so that every kernel takes the direction into account exactly;
        labels then become strings. Paths become three times as long: a kernel that looked three
        steps far needs a depth of nine.

    Returns
    -------
    graphs : GraphBatch
        Attributes of the graphs become :attr:`GraphBatch.columns`, and the names of their
        vertices the column ``"vertices"``, unless they are 0, 1, 2, ...

    See Also
    --------
    to_networkx

    Examples
    --------
    >>> import graphgrain as gg, networkx as nx
    >>> ring = nx.cycle_graph(6)
    >>> nx.set_node_attributes(ring, "C", "symbol")
    >>> gg.from_networkx([ring], vertex_label="symbol")
    GraphBatch(1 graph, 6 vertices, 6 edges, 1 vertex label)
    """
    graphs = checked_items(graphs, is_networkx, "a networkx graph")
    if vertex_label == "label" and not _anywhere("label", (graph.nodes for graph in graphs)):
        rows = [data for graph in graphs for _, data in graph.nodes(data=True)]
        columns: dict[str, list[Any]] = {}
        for data in filter(None, rows):
            for name, value in data.items():
                columns.setdefault(name, []).append(value)
        vertex_label = label_attribute(columns, len(rows), vertex_attributes)
    if edge_label == "label" and not _anywhere("label", (graph.edges for graph in graphs)):
        edge_label = None
    read = weights_read(edge_label, edge_attributes)
    parts = []
    for number, graph in enumerate(graphs):
        position = {vertex: place for place, vertex in enumerate(graph)}
        vertices = [
            (f"vertex {vertex!r} of graph {number}", data)
            for vertex, data in graph.nodes(data=True)
        ]
        edges = [
            (f"edge ({u!r}, {v!r}) of graph {number}", data)
            for u, v, data in graph.edges(data=True)
        ]
        parts.append(
            Part(
                len(graph),
                [(position[u], position[v]) for u, v in graph.edges()],
                _values(vertices, vertex_label),
                _values(edges, edge_label),
                _columns(vertices, vertex_attributes, f"the vertices of graph {number}"),
                _columns(edges, edge_attributes, f"the edges of graph {number}"),
                graph.is_directed(),
                None if read else [data.get("weight") for _, data in edges],
            )
        )
    columns = graph_columns([graph.graph for graph in graphs], graphs)
    batch = joined(parts, direction, READ_WEIGHTS).with_columns(columns)
    return requested(batch, vertex_attributes is not None or edge_attributes is not None)


def to_networkx(graphs: GraphBatch) -> list[Any]:
    """Convert a :class:`GraphBatch` to a list of networkx graphs.

    Labels are stored in the attribute ``"label"`` of vertices and edges, attributes as a list of
    numbers in ``"attributes"``. The vertices of each graph are 0, 1, 2, ...

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = gg.as_graphs([([(0, 1), (1, 2)], ["C", "C", "O"])])
    >>> gg.to_networkx(graphs)[0].nodes(data="label")
    NodeDataView({0: 'C', 1: 'C', 2: 'O'}, data='label')
    >>> gg.from_networkx(gg.to_networkx(graphs)) == graphs
    True
    """
    with needed("to_networkx makes graphs of networkx", "networkx"):
        import networkx
    result = []
    for graph in graphs:
        labels = graph.labels if graph.labelled else None
        vertices = _data(graph.n_vertices, labels, graph.vertex_attributes)
        numbers = graph.edge_attributes
        numbers = None if numbers is None else numbers[graph.edge_entries]
        edges = _data(graph.n_edges, graph.edge_labels, numbers)
        made = networkx.Graph()
        made.add_nodes_from(enumerate(vertices))
        pairs = zip(graph.edges.tolist(), edges, strict=True)
        made.add_edges_from((u, v, data) for (u, v), data in pairs)
        result.append(made)
    return result


def _data(
    count: int, labels: np.ndarray | None, attributes: np.ndarray | None
) -> list[dict[str, Any]]:
    """Return the attribute dictionary of each vertex or edge."""
    columns = {"label": labels, "attributes": attributes}
    known = {name: values.tolist() for name, values in columns.items() if values is not None}
    return [{name: values[row] for name, values in known.items()} for row in range(count)]


_Items = list[tuple[str, Mapping[str, Any]]]


def _anywhere(name: str, views: Iterable[Any]) -> bool:
    return any(name in item[-1] for view in views for item in view(data=True))


def _values(items: _Items, name: str | None) -> list[Any] | None:
    if name is None:
        return None
    return [found(data, name, where) for where, data in items]


def _columns(items: _Items, names: str | Sequence[str] | None, where: str) -> Any:
    if names is None:
        return None
    if isinstance(names, str):
        values: Any = _values(items, names)
    else:
        values = [[found(data, name, place) for name in names] for place, data in items]
    return as_columns(values, len(items), where)


def found(data: Mapping[str, Any], name: str, where: str) -> Any:
    """Return an attribute of a vertex or an edge; raise an error if it is missing."""
    if name in data and data[name] is None:
        raise InvalidGraphError(
            f"Every vertex and edge must have a value of the attribute asked for; {where} has None "
            f"as its {name!r}. Give it a value of its own, such as 'unknown'."
        )
    if name not in data:
        there = ", ".join(repr(key) for key in data) or "none"
        raise InvalidGraphError(
            f"Every vertex and edge must have the attribute asked for; {where} has no {name!r} "
            f"(its attributes: {there}). Set it, or name another attribute."
        )
    return data[name]
