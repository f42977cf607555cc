"""Graphs of igraph as a GraphBatch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...errors import InvalidGraphError
from ..batch import GraphBatch
from .parts import Part, as_columns, check_items, is_from, joined


def is_igraph(x: Any) -> bool:
    """Whether this is an igraph graph."""
    return is_from(x, "igraph") and hasattr(x, "get_edgelist")


def from_igraph(
    graphs: Iterable[Any],
    vertex_label: str | None = "label",
    edge_label: str | None = "label",
    *,
    vertex_attributes: str | Sequence[str] | None = None,
    edge_attributes: str | Sequence[str] | None = None,
    direction: str = "ignore",
) -> GraphBatch:
    """Turn igraph graphs into a :class:`GraphBatch`.

    Parameters
    ----------
    graphs : iterable of igraph graphs
    vertex_label, edge_label : str or None
        Attribute that holds the label. Graphs without any ``"label"`` are unlabelled.
    vertex_attributes, edge_attributes : str or list of str, optional
        Attributes that hold numbers, or one that holds a sequence of numbers. Weights that are not
        asked for are mentioned in a warning.
    direction : {"ignore", "vertices"}
        What becomes of the edges of directed graphs. By default directions are ignored, with a
        warning that counts them. With ``"vertices"`` the arc u -> v becomes a path
        u - tail - head - v with two vertices of their own, so that every kernel sees the direction
        exactly. Labels are strings then.

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
    names = [edge_attributes] if isinstance(edge_attributes, str) else list(edge_attributes or ())
    weights_read = "weight" in (edge_label, *names)
    return joined(
        [
            Part(
                graph.vcount(),
                graph.get_edgelist(),
                _igraph_column(graph.vs, vertex_label, f"The vertices of graph {number}"),
                _igraph_column(graph.es, edge_label, f"The edges of graph {number}"),
                _igraph_table(graph.vs, vertex_attributes, f"The vertices of graph {number}"),
                _igraph_table(graph.es, edge_attributes, f"The edges of graph {number}"),
                graph.is_directed(),
                graph.es["weight"] if graph.is_weighted() and not weights_read else None,
            )
            for number, graph in enumerate(graphs)
        ],
        direction,
        "edge_attributes='weight' reads weights",
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
