"""Conversion from and to networkx graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...errors import needed
from ..batch import GraphBatch
from .attributed import Attributed, from_attributed
from .parts import checked_items, is_from


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
    attributed = []
    for graph in checked_items(graphs, is_networkx, "a networkx graph"):
        names = list(graph)
        position = dict(zip(names, range(len(names)), strict=True))
        edges = graph.edges(data=True)
        attributed.append(
            Attributed(
                names,
                [graph.nodes[vertex] for vertex in names],
                [(position[u], position[v]) for u, v, _ in edges],
                [data for *_, data in edges],
                graph.is_directed(),
                graph.graph,
            )
        )
    options = vertex_label, edge_label, vertex_attributes, edge_attributes, direction
    return from_attributed(attributed, *options)


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
    present = {name: values.tolist() for name, values in columns.items() if values is not None}
    return [{name: values[row] for name, values in present.items()} for row in range(count)]
