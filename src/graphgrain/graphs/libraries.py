"""Graphs of igraph, PyTorch Geometric and GraKeL as a GraphBatch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import InvalidGraphError
from .batch import GraphBatch
from .parts import Part, as_columns, check_items, is_from, joined
from .plain import from_plain


def is_igraph(x: Any) -> bool:
    """Whether this is an igraph graph."""
    return is_from(x, "igraph") and hasattr(x, "get_edgelist")


def is_pyg(x: Any) -> bool:
    """Whether this looks like a PyTorch Geometric ``Data`` object."""
    return hasattr(x, "edge_index") and hasattr(x, "num_nodes")


def is_grakel(x: Any) -> bool:
    """Whether this is a GraKeL ``Graph`` object."""
    return is_from(x, "grakel") and hasattr(x, "get_edges")


def from_igraph(
    graphs: Iterable[Any],
    vertex_label: str | None = "label",
    edge_label: str | None = "label",
    *,
    vertex_attributes: str | Sequence[str] | None = None,
    edge_attributes: str | Sequence[str] | None = None,
) -> GraphBatch:
    """Turn igraph graphs into a :class:`GraphBatch`.

    Parameters
    ----------
    graphs : iterable of igraph graphs
    vertex_label, edge_label : str or None
        Attribute that holds the label. Graphs without any ``"label"`` are unlabelled.
    vertex_attributes, edge_attributes : str or list of str, optional
        Attributes that hold numbers, or one that holds a sequence of numbers.

    Examples
    --------
    >>> import graphgrain as gg, igraph
    >>> ring = igraph.Graph.Ring(6)
    >>> ring.vs["label"] = list("CCCCCN")
    >>> gg.from_igraph([ring])
    GraphBatch(1 graph, 6 vertices, 6 edges, 2 vertex labels)
    """
    graphs = list(graphs)
    check_items(graphs, is_igraph, "an igraph graph")
    if vertex_label == "label" and not any(
        "label" in g.vs.attributes() for g in graphs if g.vcount()
    ):
        vertex_label = None
    if edge_label == "label" and not any(
        "label" in g.es.attributes() for g in graphs if g.ecount()
    ):
        edge_label = None
    return joined(
        [
            Part(
                graph.vcount(),
                graph.get_edgelist(),
                _igraph_column(graph.vs, vertex_label, f"The vertices of graph {number}"),
                _igraph_column(graph.es, edge_label, f"The edges of graph {number}"),
                _igraph_table(graph.vs, vertex_attributes, f"The vertices of graph {number}"),
                _igraph_table(graph.es, edge_attributes, f"The edges of graph {number}"),
            )
            for number, graph in enumerate(graphs)
        ]
    )


def _igraph_column(items: Any, name: str | None, where: str) -> list[Any] | None:
    if name is None:
        return None
    if not len(items):
        return []
    if name not in items.attributes():
        there = ", ".join(map(repr, items.attributes())) or "none"
        raise InvalidGraphError(
            f"{where} have no attribute {name!r} (there are: {there}). Name another attribute."
        )
    return items[name]


def _igraph_table(items: Any, names: str | Sequence[str] | None, where: str) -> Any:
    if names is None:
        return None
    if isinstance(names, str):
        return as_columns(_igraph_column(items, names, where), len(items), where)
    columns = [_igraph_column(items, name, where) for name in names]
    return as_columns(np.array(columns, dtype=object).T, len(items), where)


def from_pyg(
    data: Iterable[Any], vertex_label: str | None = "x", edge_label: str | None = "edge_attr"
) -> GraphBatch:
    """Turn PyTorch Geometric ``Data`` objects (or a data set of them) into a GraphBatch.

    Parameters
    ----------
    data : iterable of Data
    vertex_label, edge_label : str or None
        Attribute that says what the vertices and the edges are. One column of integers, or a
        one-hot table (as ``TUDataset`` gives it), becomes labels; any other table of numbers
        becomes ``vertex_attributes`` or ``edge_attributes``. For molecules of ``QM9`` say
        ``vertex_label="z"`` to have the atomic numbers. Missing attributes are skipped.

    Examples
    --------
    The targets are ``y = [int(item.y) for item in data]``.

    >>> from types import SimpleNamespace as Data  # stands for torch_geometric.data.Data
    >>> import graphgrain as gg, numpy as np
    >>> path = Data(num_nodes=3, edge_index=np.array([[0, 1, 1, 2], [1, 0, 2, 1]]),
    ...             x=np.array([[1, 0], [1, 0], [0, 1]]))
    >>> gg.from_pyg([path]).labels
    array([0, 0, 1])
    """
    items = list(data)
    check_items(items, is_pyg, "a PyTorch Geometric Data object")
    n_edges = [0 if item.edge_index is None else item.edge_index.shape[1] for item in items]
    sizes = [int(item.num_nodes or 0) for item in items]
    labels, attributes = _pyg_columns(items, vertex_label, sizes)
    edge_labels, edge_attributes = _pyg_columns(items, edge_label, n_edges)
    return joined(
        [
            Part(
                sizes[number],
                _array(item.edge_index).T if n_edges[number] else [],
                labels[number],
                edge_labels[number],
                attributes[number],
                edge_attributes[number],
            )
            for number, item in enumerate(items)
        ]
    )


def _pyg_columns(
    items: list[Any], name: str | None, rows: list[int]
) -> tuple[list[np.ndarray | None], list[np.ndarray | None]]:
    """What an attribute holds, as labels or as attributes: one decision for all graphs."""
    nothing: list[np.ndarray | None] = [None] * len(items)
    raw = [None if name is None else getattr(item, name, None) for item in items]
    tables: list[np.ndarray | None] = []
    for number, values in enumerate(raw):
        if values is None:
            tables.append(None)
            continue
        table = _array(values)
        if len(table) != rows[number]:
            raise InvalidGraphError(
                f"{name!r} of graph {number} must have {rows[number]} rows; it has {len(table)}."
            )
        tables.append(table.reshape(len(table), int(np.prod(table.shape[1:]))))
    filled = [table for table in tables if table is not None and len(table)]
    if not filled:
        return nothing, nothing
    if all(table.shape[1] == 1 and table.dtype.kind in "iu" for table in filled):
        return [None if table is None else table[:, 0] for table in tables], nothing
    if all(_one_hot(table) for table in filled):
        return [
            None if table is None or not len(table) else table.argmax(axis=1) for table in tables
        ], nothing
    where = f"{name!r}"
    return nothing, [
        None if table is None or not len(table) else as_columns(table, len(table), where)
        for table in tables
    ]


def _one_hot(table: np.ndarray) -> bool:
    return table.shape[1] > 1 and bool(
        ((table == 0) | (table == 1)).all() and (table.sum(axis=1) == 1).all()
    )


def _array(tensor: Any) -> np.ndarray:
    """A tensor as a NumPy array, wherever it lives."""
    for step in ("detach", "cpu", "numpy"):
        if hasattr(tensor, step):
            tensor = getattr(tensor, step)()
    return np.asarray(tensor)


def from_grakel(graphs: Iterable[Any]) -> GraphBatch:
    """Turn graphs as GraKeL takes and gives them into a :class:`GraphBatch`.

    Parameters
    ----------
    graphs : iterable
        ``Graph`` objects, or sequences ``(structure, labels, edge_labels)`` with the last one
        or two left out. The structure is an adjacency matrix, a collection of edges, or a
        dictionary of neighbours; ``labels`` is a dictionary from vertex to label, or to a
        sequence of numbers, which become attributes; ``edge_labels`` is the same for pairs
        of vertices. The data of ``grakel.datasets.fetch_dataset(...)`` is of this kind.

    Examples
    --------
    >>> import graphgrain as gg
    >>> water = [{(1, 2), (2, 1), (1, 3), (3, 1)}, {1: "O", 2: "H", 3: "H"}]
    >>> gg.from_grakel([water])
    GraphBatch(1 graph, 3 vertices, 2 edges, 2 vertex labels)
    """
    return from_plain([_grakel_parts(graph) if is_grakel(graph) else graph for graph in graphs])


def _grakel_parts(graph: Any) -> tuple[Any, Any, Any]:
    """Structure, labels and edge labels of a GraKeL Graph object, in the form that it is in."""
    if graph._format == "dictionary":
        purpose = "dictionary"
        structure = {vertex: [] for vertex in graph.get_vertices(purpose)} | {
            vertex: list(neighbours) for vertex, neighbours in graph.edge_dictionary.items()
        }
    else:
        purpose = "adjacency"
        structure = graph.adjacency_matrix
    labels, edge_labels = (
        graph.get_labels(kind, purpose, return_none=True) for kind in ("vertex", "edge")
    )
    return structure, labels, edge_labels
