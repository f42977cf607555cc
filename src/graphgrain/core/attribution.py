"""Attribution of pattern contributions to vertices and edges.

A pattern occurs along paths, with a tree at each vertex of a path. The contribution of an
occurrence is divided equally among

1. the vertices of its path (``PATH``),
2. the elements of its path, each of which divides its share among the vertices of its tree
   (``TREE``), or
3. all vertices of its path and trees, each counted once (``EQUAL``).

Edges receive the same contributions separately: the edges of the path, or those between the
vertices of its trees if these are larger than single vertices. An occurrence without edges
contributes nothing to edges.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled
from .structures import entry_between
from .threads import entry_point

PATH, TREE, EQUAL = 0, 1, 2


@compiled
def _row_length(rows, row):
    length = 0
    while length < rows.shape[1] and rows[row, length] >= 0:
        length += 1
    return length


@compiled
def _share_with_edges(members, count, stamp, seen, indptr, indices, edge_rows, value, edges):
    """Divide a value among the edges between some vertices, marked with ``stamp`` in ``seen``."""
    for sweep in range(2):  # count first, then add
        found = 0
        for i in range(count):
            x = members[i]
            for entry in range(indptr[x], indptr[x + 1]):
                y = indices[entry]
                if x < y and seen[y] == stamp:
                    found += 1
                    if sweep:
                        edges[edge_rows[entry]] += value
        if not found:
            return
        value /= found


@entry_point
def share_values(values, paths, trees, how, indptr, indices, edge_rows, vertex_values, edge_values):
    """Add the values of occurrences to the vertices and edges of a single graph.

    Row i of ``paths`` contains the vertices of occurrence i, row v of ``trees`` those of the tree
    at v, padded with -1. ``edge_rows`` is the row of the edge of each entry of ``indices``.
    """
    n = len(vertex_values)
    seen = np.zeros(n, dtype=np.int64)
    members = np.empty(n, dtype=np.int64)
    elements = np.zeros(n)
    stamp = 0
    for i in range(len(values)):
        value = values[i]
        length = _row_length(paths, i)
        if value == 0.0 or length == 0:
            continue
        if how == EQUAL:
            stamp += 1
            count = 0
            for p in range(length):
                row = paths[i, p]
                for q in range(_row_length(trees, row)):
                    x = trees[row, q]
                    if seen[x] != stamp:
                        seen[x] = stamp
                        members[count] = x
                        count += 1
            for j in range(count):
                vertex_values[members[j]] += value / count
            _share_with_edges(
                members, count, stamp, seen, indptr, indices, edge_rows, value, edge_values
            )
            continue
        for p in range(length):
            elements[paths[i, p]] += value / length
        # At level 0 a tree is a single vertex, and the edges are those of the path.
        if how == PATH or _row_length(trees, paths[i, 0]) == 1:
            for sweep in range(2):  # count first, then add
                found = 0
                for p in range(1, length):
                    entry = entry_between(indptr, indices, paths[i, p - 1], paths[i, p])
                    if entry >= 0:
                        found += 1
                        if sweep:
                            edge_values[edge_rows[entry]] += value
                if not found:
                    break
                value /= found
    if how == PATH:
        vertex_values += elements
    elif how == TREE:
        for v in range(n):
            if elements[v] == 0.0:
                continue
            stamp += 1
            count = _row_length(trees, v)
            for q in range(count):
                members[q] = trees[v, q]
                seen[members[q]] = stamp
                vertex_values[members[q]] += elements[v] / count
            _share_with_edges(
                members, count, stamp, seen, indptr, indices, edge_rows, elements[v],
                edge_values,
            )  # fmt: skip
