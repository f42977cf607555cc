"""Conversion of igraph graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..batch import GraphBatch
from .attributed import Attributed, from_attributed
from .parts import checked_items, is_from


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
    attributed = [
        Attributed(
            graph.vs["name"] if "name" in graph.vs.attributes() else range(graph.vcount()),
            _rows(graph.vs),
            graph.get_edgelist(),
            _rows(graph.es),
            graph.is_directed(),
            {name: graph[name] for name in graph.attributes()},
        )
        for graph in checked_items(graphs, is_igraph, "an igraph graph")
    ]
    options = vertex_label, edge_label, vertex_attributes, edge_attributes, direction
    return from_attributed(attributed, *options)


def _rows(items: Any) -> list[dict[str, Any]]:
    """Return the attributes of each vertex or edge."""
    names = items.attributes()
    if not names:
        return [{} for _ in items]
    columns = (items[name] for name in names)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
