"""Common tree patterns of two graphs.

Two vertices with equal labels share the patterns that consist of their label and, below it, common
patterns of some of their neighbours, matched one to one:

    k_h(u, v) = root (empty + inner sum over R of product over (x, y) in R of child k_(h-1)(x, y))

The matching R runs over all non-empty sets of pairs of neighbours with equal labels in which no
vertex occurs twice. The sum is computed neighbour by neighbour: S[used] is the sum over the
matchings of the first neighbours of u that use these neighbours of v, encoded as bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled
from .structures import most_vertices, partners
from .threads import entry_point

#: Sets of matched neighbours are encoded as bits; larger degrees are intractable anyway.
LARGEST_DEGREE = 16


class TreeWeights(NamedTuple):
    """Weights of patterns; see the recursion above."""

    depth: int  # number of vertices on the longest path from the root
    leaf: float  # k_1 of vertices with equal labels
    root: float
    empty: float
    inner: float
    child: float


@compiled
def _sum_over_matchings(values, n, m, sums):
    """Sum the products of entries over all non-empty matchings of n rows with m columns."""
    full = 1 << m
    for used in range(full):
        sums[used] = 0.0
    sums[0] = 1.0
    for i in range(n):
        for used in range(full - 1, -1, -1):  # larger sets first, so that a row is used once
            if sums[used] == 0.0:
                continue
            for j in range(m):
                if used >> j & 1 == 0 and values[i, j] != 0.0:
                    sums[used | 1 << j] += sums[used] * values[i, j]
    total = 0.0
    for used in range(1, full):
        total += sums[used]
    return total


@compiled
def _common_patterns(left, g, right, h, weights, edges, before, after, values, sums):
    """Return the weight of the common tree patterns of two graphs, over all pairs of roots."""
    u0, v0 = left.offsets[g], right.offsets[h]
    n, m = left.offsets[g + 1] - u0, right.offsets[h + 1] - v0
    for u in range(n):
        code = left.label_hashes[left.labels[u0 + u]]
        for v in range(m):
            alike = code == right.label_hashes[right.labels[v0 + v]]
            before[u, v] = weights.leaf if alike else 0.0
    for _ in range(weights.depth - 1):
        for u in range(n):
            a, rows = left.indptr[u0 + u], left.indptr[u0 + u + 1] - left.indptr[u0 + u]
            code = left.label_hashes[left.labels[u0 + u]]
            for v in range(m):
                after[u, v] = 0.0
                if code != right.label_hashes[right.labels[v0 + v]]:
                    continue
                b = right.indptr[v0 + v]
                columns = right.indptr[v0 + v + 1] - b
                for i in range(rows):
                    x = left.indices[a + i] - u0
                    bond = left.edge_hashes[left.edge_labels[a + i]] if edges else np.uint64(0)
                    for j in range(columns):
                        entry = weights.child * before[x, right.indices[b + j] - v0]
                        if edges and right.edge_hashes[right.edge_labels[b + j]] != bond:
                            entry = 0.0
                        if rows < columns:  # bit sets of the smaller side
                            values[j, i] = entry
                        else:
                            values[i, j] = entry
                total = _sum_over_matchings(values, max(rows, columns), min(rows, columns), sums)
                after[u, v] = weights.root * (weights.empty + weights.inner * total)
        for u in range(n):
            for v in range(m):
                before[u, v] = after[u, v]
    total = 0.0
    for u in range(n):
        for v in range(m):
            total += before[u, v]
    return total


@compiled
def _scratch(left, right):
    """Allocate arrays for pairs of vertices and for pairs of neighbours."""
    n = most_vertices(left.offsets, 0, len(left.offsets) - 1)
    m = most_vertices(right.offsets, 0, len(right.offsets) - 1)
    most = few = 1
    for v in range(len(left.indptr) - 1):
        most = max(most, left.indptr[v + 1] - left.indptr[v])
    for v in range(len(right.indptr) - 1):
        few = max(few, right.indptr[v + 1] - right.indptr[v])
    wide = max(most, few)
    sets = 1 << min(most, few)
    return np.empty((n, m)), np.empty((n, m)), np.empty((wide, wide)), np.empty(sets)


@entry_point
def compare_patterns(left, right, weights, edges, which, begin, end, K, stop):
    """Fill the rows ``begin`` to ``end`` of K with the weights for the :func:`partners`."""
    before, after, values, sums = _scratch(left, right)
    for g in range(begin, end):
        first, last = partners(which, g, len(right.offsets) - 1)
        for h in range(first, last):
            if stop[0]:
                return
            K[g, h - first] = _common_patterns(
                left, g, right, h, weights, edges, before, after, values, sums
            )
