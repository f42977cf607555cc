"""Random walk distributions of labels, seen along random directions.

The distribution P_t of a vertex says with which label a walk of t steps from it ends; P_0 is its
own label and P_{t+1} = T P_t with the row-normalised adjacency matrix T. Only the products with
one direction v_t per step are needed. So the columns of P, one per label of a graph, are walked
one after the other and added up, and P itself is never stored.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled
from .components import sort_by
from .threads import entry_point


@compiled
def _walk(graphs, base, column, after, weights, root, sums):
    """Add one column's part at every step: ``sums[t] += weights[t] (T^t column)``."""
    n = len(column)
    steps = len(weights)
    for t in range(steps):
        for v in range(n):
            sums[t, v] += weights[t] * (np.sqrt(column[v]) if root else column[v])
        if t + 1 == steps:
            break
        walk_once(graphs, base, column, after)
        column, after = after, column


@compiled
def walk_once(graphs, base, column, after):
    """``after`` is the mean of ``column`` over the neighbours of each vertex, 0 without any."""
    indptr, indices = graphs.indptr, graphs.indices
    for v in range(len(column)):
        first, last = indptr[base + v], indptr[base + v + 1]
        total = 0.0
        for entry in range(first, last):
            total += column[indices[entry] - base]
        after[v] = total / (last - first) if last > first else 0.0


@compiled
def group_by_label(graphs, base, n, keys, members):
    """Write the vertices of a graph to ``members``, by label; ``keys`` are their label codes."""
    for v in range(n):
        keys[v] = graphs.labels[base + v]
        members[v] = v
    sort_by(keys, members, 0, n)


@compiled
def mark_label(keys, members, first, n, column):
    """One where a vertex has the label of the group from ``first`` on; returns where it ends."""
    for v in range(n):
        column[v] = 0.0
    last = first
    while last < n and keys[last] == keys[first]:
        column[members[last]] = 1.0
        last += 1
    return last


@entry_point
def project(graphs, attributes, directions, root, begin, end):
    """``P_t v_t`` for all steps (rows) and vertices of the graphs ``begin`` to ``end``.

    ``directions[t]`` is v_t: an entry per label code, or per column of ``attributes`` if that has
    any, which then take the place of the labels. With ``root`` it is ``sqrt(P_t) v_t``.
    """
    offsets = graphs.offsets
    start = offsets[begin]
    sums = np.zeros((len(directions), offsets[end] - start))
    most = 0
    for g in range(begin, end):
        most = max(most, offsets[g + 1] - offsets[g])
    keys = np.empty(most, dtype=np.int64)
    members = np.empty(most, dtype=np.int64)
    column = np.empty(most)
    after = np.empty(most)
    for g in range(begin, end):
        base = offsets[g]
        n = offsets[g + 1] - base
        part = sums[:, base - start : base - start + n]
        for d in range(attributes.shape[1]):
            for v in range(n):
                column[v] = attributes[base + v, d]
            _walk(graphs, base, column[:n], after[:n], directions[:, d], root, part)
        if attributes.shape[1]:
            continue
        group_by_label(graphs, base, n, keys, members)
        first = 0
        while first < n:
            last = mark_label(keys, members, first, n, column)
            weights = directions[:, keys[first]]
            _walk(graphs, base, column[:n], after[:n], weights, root, part)
            first = last
    return sums
