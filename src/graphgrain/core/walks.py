"""Common walks of two graphs, without their product graph.

A pair of walks that agree in all labels is a walk in the product graph. W[u, v] holds the weight
of all common walks that end in u and v. One more step is W -> A W B restricted to pairs of equal
labels, where A and B are the adjacency matrices with weights: a sum over the neighbours of u,
then one over those of v. The product graph is never formed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled
from .threads import entry_point

#: An infinite sum ends when a step adds less than this part of it.
TOLERANCE = 1e-13
_MANY = 1_000_000


class WalkWeights(NamedTuple):
    """Weights of the vertices of a batch."""

    start: np.ndarray  # of beginning here
    step: np.ndarray  # of going on from here, to each neighbour
    stop: np.ndarray  # of ending here


@compiled
def _one_step(left, u0, n, right, v0, m, from_left, from_right, edges, same, W, Y):
    """W after one more step; Y is scratch."""
    for u in range(n):
        for v in range(m):
            Y[u, v] = 0.0
    if edges:  # neighbours must be reached over edges with equal labels: pair by pair
        for u in range(n):
            for v in range(m):
                if W[u, v] == 0.0:
                    continue
                weight = W[u, v] * from_left[u0 + u] * from_right[v0 + v]
                for a in range(left.indptr[u0 + u], left.indptr[u0 + u + 1]):
                    bond = left.edge_hashes[left.edge_labels[a]]
                    x = left.indices[a] - u0
                    for b in range(right.indptr[v0 + v], right.indptr[v0 + v + 1]):
                        y = right.indices[b] - v0
                        if same[x, y] and right.edge_hashes[right.edge_labels[b]] == bond:
                            Y[x, y] += weight
        for u in range(n):
            for v in range(m):
                W[u, v] = Y[u, v]
        return
    for u in range(n):
        weight = from_left[u0 + u]
        for a in range(left.indptr[u0 + u], left.indptr[u0 + u + 1]):
            x = left.indices[a] - u0
            for v in range(m):
                Y[x, v] += weight * W[u, v]
    for u in range(n):
        for v in range(m):
            total = 0.0
            if same[u, v]:
                for b in range(right.indptr[v0 + v], right.indptr[v0 + v + 1]):
                    y = right.indices[b]
                    total += from_right[y] * Y[u, y - v0]
            W[u, v] = total


@compiled
def _common_walks(left, g, right, h, weights, others, steps, labels, edges, same, W, Y):
    """Weight of all common walks of two graphs of at most ``steps`` steps (-1: of any length)."""
    u0, v0 = left.offsets[g], right.offsets[h]
    n, m = left.offsets[g + 1] - u0, right.offsets[h + 1] - v0
    total = 0.0
    for u in range(n):
        code = left.label_hashes[left.labels[u0 + u]]
        for v in range(m):
            alike = not labels or code == right.label_hashes[right.labels[v0 + v]]
            same[u, v] = alike
            W[u, v] = weights.start[u0 + u] * others.start[v0 + v] if alike else 0.0
            total += W[u, v] * weights.stop[u0 + u] * others.stop[v0 + v]
    for _ in range(steps if steps >= 0 else _MANY):
        _one_step(left, u0, n, right, v0, m, weights.step, others.step, edges, same, W, Y)
        term = 0.0
        for u in range(n):
            for v in range(m):
                term += W[u, v] * weights.stop[u0 + u] * others.stop[v0 + v]
        total += term
        if term == 0.0 or (steps < 0 and term < TOLERANCE * total):
            break
    return total


@compiled
def _largest(graphs):
    most = 1
    for g in range(len(graphs.offsets) - 1):
        most = max(most, graphs.offsets[g + 1] - graphs.offsets[g])
    return most


@entry_point
def compare_walks(left, right, weights, others, steps, labels, edges, lower, begin, end, K, stop):
    """Fill the rows ``begin`` to ``end`` of K; up to the diagonal if ``lower``."""
    shape = (_largest(left), _largest(right))
    same, W, Y = np.empty(shape, dtype=np.bool_), np.empty(shape), np.empty(shape)
    for g in range(begin, end):
        for h in range(g + 1 if lower else len(right.offsets) - 1):
            if stop[0]:
                return
            K[g, h] = _common_walks(
                left, g, right, h, weights, others, steps, labels, edges, same, W, Y
            )


@entry_point
def own_walks(graphs, weights, steps, labels, edges, begin, end, stop):
    """Weight of the walks that each graph has in common with itself."""
    most = _largest(graphs)
    shape = (most, most)
    same, W, Y = np.empty(shape, dtype=np.bool_), np.empty(shape), np.empty(shape)
    result = np.empty(end - begin)
    for g in range(begin, end):
        if stop[0]:
            break
        result[g - begin] = _common_walks(
            graphs, g, graphs, g, weights, weights, steps, labels, edges, same, W, Y
        )
    return result
