"""Conversion of igraph graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...errors import InvalidGraphError
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


def is_igraph(x: Any) -> bool:
    """Return whether ``x`` is an igraph graph."""
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
    """Convert igraph graphs to a :class:`GraphBatch`.

    Parameters
    ----------
    graphs : iterable of igraph graphs
    vertex_label, edge_label, vertex_attributes, edge_attributes, direction
        As in :func:`from_networkx`.

    Examples
    --------
    >>> import graphgrain as gg, igraph
    >>> ring = igraph.Graph.Ring(6)
    >>> ring.vs["label"] = list("CCCCCN")
    >>> gg.from_igraph([ring])
    GraphBatch(1 graph, 6 vertices, 6 edges, 2 vertex labels)
    """
    graphs = checked_items(graphs, is_igraph, "an igraph graph")
    if vertex_label == "label" and not any("label" in g.vs.attributes() for g in graphs if g.vs):
        columns: dict[str, list[Any]] = {}
        for graph in graphs:
            for name in graph.vs.attributes():
                columns.setdefault(name, []).extend(graph.vs[name])
        size = sum(graph.vcount() for graph in graphs)
        vertex_label = label_attribute(columns, size, vertex_attributes)
    if edge_label == "label" and not any("label" in g.es.attributes() for g in graphs if g.es):
        edge_label = None
    read = weights_read(edge_label, edge_attributes)
    parts = []
    for number, graph in enumerate(graphs):
        vertices = graph.vs, f"the vertices of graph {number}"
        edges = graph.es, f"the edges of graph {number}"
        parts.append(
            Part(
                graph.vcount(),
                graph.get_edgelist(),
                _column(*vertices, vertex_label),
                _column(*edges, edge_label),
                _table(*vertices, vertex_attributes),
                _table(*edges, edge_attributes),
                graph.is_directed(),
                graph.es["weight"] if graph.is_weighted() and not read else None,
            )
        )
    attributes = [{name: graph[name] for name in graph.attributes()} for graph in graphs]
    named = [graph.vs["name"] if "name" in graph.vs.attributes() else range(0) for graph in graphs]
    batch = joined(parts, direction, READ_WEIGHTS).with_columns(graph_columns(attributes, named))
    return requested(batch, vertex_attributes is not None or edge_attributes is not None)


def _column(items: Any, where: str, name: str | None) -> list[Any] | None:
    if name is None:
        return None
    if not len(items):
        return []
    if name not in items.attributes():
        there = ", ".join(map(repr, items.attributes())) or "none"
        raise InvalidGraphError(
            f"Every vertex and edge must have the attribute asked for; {where} have no {name!r} "
            f"(their attributes: {there}). Set it, or name another attribute."
        )
    return items[name]


def _table(items: Any, where: str, names: str | Sequence[str] | None) -> Any:
    if names is None:
        return None
    if isinstance(names, str):
        return as_columns(_column(items, where, names), len(items), where)
    columns = [_column(items, where, name) for name in names]
    return as_columns(np.array(columns, dtype=object).T, len(items), where)
