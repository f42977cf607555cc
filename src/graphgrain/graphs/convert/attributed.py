"""Conversion of graphs whose vertices and edges carry attributes by name: networkx and igraph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ...errors import InvalidGraphError
from ..batch import GraphBatch
from .parts import (
    READ_WEIGHTS,
    Part,
    as_columns,
    graph_columns,
    joined,
    label_attribute,
    requested,
)

Rows = Sequence[Mapping[str, Any]]


class Attributed(NamedTuple):
    """A graph of another library, with a dictionary of attributes per vertex and edge."""

    names: Sequence[Any]  # of the vertices
    vertices: Rows
    pairs: Sequence[tuple[int, int]]
    edges: Rows
    directed: bool
    attributes: Mapping[str, Any]  # of the graph


def from_attributed(
    graphs: Sequence[Attributed],
    vertex_label: str | None,
    edge_label: str | None,
    vertex_attributes: str | Sequence[str] | None,
    edge_attributes: str | Sequence[str] | None,
    direction: str,
) -> GraphBatch:
    """Convert graphs with attributes; see :func:`from_networkx`."""
    if vertex_label == "label" and not _has_label(graph.vertices for graph in graphs):
        columns: dict[str, list[Any]] = {}
        for row in (row for graph in graphs for row in graph.vertices if row):
            for name, value in row.items():
                columns.setdefault(name, []).append(value)
        size = sum(len(graph.names) for graph in graphs)
        vertex_label = label_attribute(columns, size, vertex_attributes)
    if edge_label == "label" and not _has_label(graph.edges for graph in graphs):
        edge_label = None
    read = [edge_attributes] if isinstance(edge_attributes, str) else edge_attributes or ()
    weights_read = "weight" in (edge_label, *read)
    parts = [
        Part(
            len(graph.names),
            graph.pairs,
            _values(graph.vertices, vertex_label, _vertex(graph, number)),
            _values(graph.edges, edge_label, _edge(graph, number)),
            _table(graph.vertices, vertex_attributes, _vertex(graph, number)),
            _table(graph.edges, edge_attributes, _edge(graph, number)),
            graph.directed,
            None if weights_read else [row.get("weight") for row in graph.edges],
        )
        for number, graph in enumerate(graphs)
    ]
    graph_table = graph_columns(
        [graph.attributes for graph in graphs], [graph.names for graph in graphs]
    )
    batch = joined(parts, direction, READ_WEIGHTS).with_columns(graph_table)
    return requested(batch, vertex_attributes is not None or edge_attributes is not None)


def _has_label(parts: Any) -> bool:
    return any("label" in row for rows in parts for row in rows)


def _vertex(graph: Attributed, number: int) -> Callable[[int], str]:
    return lambda row: f"vertex {graph.names[row]!r} of graph {number}"


def _edge(graph: Attributed, number: int) -> Callable[[int], str]:
    def where(row: int) -> str:
        u, v = (graph.names[end] for end in graph.pairs[row])
        return f"edge ({u!r}, {v!r}) of graph {number}"

    return where


def _values(rows: Rows, name: str | None, where: Callable[[int], str]) -> list[Any] | None:
    """Return an attribute of all vertices or edges; raise an error where it is missing."""
    if name is None:
        return None
    values = [row.get(name) for row in rows]
    at = next((at for at, value in enumerate(values) if value is None), None)
    if at is None:
        return values
    listed = ", ".join(map(repr, rows[at])) or "none"
    raise InvalidGraphError(
        f"Every vertex and edge must have a value of the attribute asked for; {where(at)} has "
        + (
            f"None as its {name!r}. Give it a value of its own, such as 'unknown'."
            if name in rows[at]
            else f"no {name!r} (its attributes: {listed}). Set it, or name another attribute."
        )
    )


def _table(rows: Rows, names: str | Sequence[str] | None, where: Callable[[int], str]) -> Any:
    """Return attributes as numbers, one row per vertex or edge."""
    if names is None:
        return None
    several = [
        _values(rows, name, where) for name in ([names] if isinstance(names, str) else names)
    ]
    values = several[0] if isinstance(names, str) else list(zip(*several, strict=True))
    return as_columns(values, len(rows), where(0) if rows else "an empty graph")
