"""Conversion of igraph graphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..batch import GraphBatch
from .parts import READ_WEIGHTS, Attributed, attributed_parts, checked_items, is_from, joined


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
        (
            _attributed(range(graph.vcount()), graph.vs),
            _attributed(graph.get_edgelist(), graph.es),
            graph.is_directed(),
        )
        for graph in checked_items(graphs, is_igraph, "an igraph graph")
    ]
    names = vertex_label, edge_label, vertex_attributes, edge_attributes
    return joined(attributed_parts(attributed, *names), direction, READ_WEIGHTS)


def _attributed(names: Sequence[Any], items: Any) -> Attributed:
    """Return vertices or edges with their attributes, read column by column, which is fast."""
    known = items.attributes()
    rows = zip(*(items[name] for name in known), strict=True) if known else [()] * len(names)
    return [
        (name, dict(zip(known, row, strict=True))) for name, row in zip(names, rows, strict=True)
    ]
