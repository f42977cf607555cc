"""Distribute contributions of patterns over vertices and edges.

A pattern's contribution is divided equally among its occurrences, the part of an occurrence among
all shortest paths that spell the pattern, and that of a path equally among its vertices.
``share`` is one of

path
    The vertices of the paths keep their parts. Default for regression.
tree
    Each vertex of a path passes its part on to all vertices of the tree rooted there. Default for
    classification. Both defaults agreed best with the ground truth on training molecules
    (docs/explaining.md).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..core.attribution import Links, share_values, share_with_trees
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..kernels.features import Occurrences

SHARES = ("path", "tree")


def check_share(share: str) -> None:
    if share not in SHARES:
        raise InvalidParameterError(f"share must be {' or '.join(SHARES)}; got {share!r}.")


def links_of(graph: GraphBatch) -> Links:
    """Return the edges of one graph with their rows in ``edges``."""
    source = graph.sources
    low, high = np.minimum(source, graph.indices), np.maximum(source, graph.indices)
    order = np.lexsort((high, low))  # makes the two entries of an edge adjacent
    rows = np.empty(len(order), dtype=np.int64)
    rows[order] = np.arange(len(order)) // 2
    labels = graph.edge_label_codes
    if labels is None:
        labels = np.zeros(1, dtype=np.int32)
    return Links(graph.indptr, graph.indices, labels, rows)


def share_occurrences(
    graph: GraphBatch, parts: Iterable[tuple[Occurrences, np.ndarray]], share: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return vertex and edge values of one graph from one value per occurrence."""
    links, vertices = links_of(graph), np.zeros(graph.n_vertices)
    edges = np.zeros(len(links.rows) // 2)
    for level, values in parts:
        if share == "path" or level.trees.shape[1] == 1:
            share_values(values, level.paths, level.spelling, links, vertices, edges)
        else:
            elements = np.zeros(len(vertices))
            share_values(values, level.paths, level.spelling, links, elements, edges.copy())
            share_with_trees(elements, level.trees, links, vertices, edges)
    return vertices, edges


def edges_as_in(graph: GraphBatch, seen: GraphBatch, values: np.ndarray) -> np.ndarray:
    """Map values of a view's edges to the graph's own edges; 0 for edges not in the view."""
    if seen is graph or np.array_equal(seen.edges, graph.edges):
        return values
    rows = {tuple(edge): row for row, edge in enumerate(graph.edges.tolist())}
    result = np.zeros(graph.n_edges)
    for edge, value in zip(seen.edges.tolist(), values.tolist(), strict=True):
        if tuple(edge) in rows:
            result[rows[tuple(edge)]] += value
    return result
