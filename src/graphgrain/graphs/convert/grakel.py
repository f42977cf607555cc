"""Graphs of GraKeL as a GraphBatch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..batch import GraphBatch
from .parts import is_from
from .plain import from_plain


def is_grakel(x: Any) -> bool:
    """Whether this is a GraKeL ``Graph`` object."""
    return is_from(x, "grakel") and hasattr(x, "get_edges")


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
