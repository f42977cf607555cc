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

from ..core.attribution import share_values, share_with_trees
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..kernels.features import Occurrences

SHARES = ("path", "tree")


def check_share(share: str) -> None:
    if share not in SHARES:
        raise InvalidParameterError(f"share must be {' or '.join(SHARES)}; got {share!r}.")


def edge_rows(batch: GraphBatch) -> np.ndarray:
    """Return the row in ``edges`` for each entry of ``indices``."""
    source = batch.sources
    low, high = np.minimum(source, batch.indices), np.maximum(source, batch.indices)
    order = np.lexsort((high, low))  # makes the two entries of an edge adjacent
    rows = np.empty(len(order), dtype=np.int64)
    rows[order] = np.arange(len(order)) // 2
    return rows


def share_occurrences(
    graph: GraphBatch, parts: Iterable[tuple[Occurrences, np.ndarray]], share: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return vertex and edge values of one graph from one value per occurrence."""
    vertices, edges = np.zeros(graph.n_vertices), np.zeros(graph.n_edges)
    rows, arrays = edge_rows(graph), graph.arrays
    for found, values in parts:
        given = values, found.paths, found.spelling, arrays, rows
        if share == "path" or found.trees.shape[1] == 1:
            share_values(*given, vertices, edges)
        else:
            elements = np.zeros(graph.n_vertices)
            share_values(*given, elements, np.zeros(graph.n_edges))
            share_with_trees(elements, found.trees, arrays, rows, vertices, edges)
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
