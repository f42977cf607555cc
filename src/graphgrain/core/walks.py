"""Common walks of two graphs, without their product graph.

A pair of walks with the same labels is a walk in the product graph, whose vertices are the pairs
of vertices with equal labels. With its adjacency matrix X and the weights of continuing as a
diagonal matrix D, the total weight of all common walks is

    stop^T (I + X D + (X D)^2 + ...) start = stop^T (I - X D)^-1 start.

1. The vertices of each graph are sorted by label (:class:`WalkGraphs`). The partners of a vertex
   are then a range of the other graph, and a vector over all pairs is a list of such ranges: pairs
   with different labels take neither memory nor time.
2. X is never formed: multiplication by X sums over the neighbours in one graph, then over those in
   the other.
3. Walks of few steps, or with individual weights, are summed step by step. If all weights are
   equal, X D is symmetric and conjugate gradients are used, for which the sum gains digits twice as
   fast as the vectors.
4. Without labels X is the Kronecker product of two adjacency matrices, and its spectrum consists of
   products of theirs: with eigenvalues a_i and b_j, and the squared sums p_i and q_j of the
   eigenvectors, the result is the sum of p_i q_j / (1 - d a_i b_j) over all i and j.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled
from .structures import most_vertices, partners
from .threads import entry_point

#: An infinite sum is truncated when a step adds less than this fraction of it.
TOLERANCE = 1e-13
_MANY = 1_000_000


class WalkGraphs(NamedTuple):
    """Graphs for comparing walks, with the vertices of each sorted by ``labels``."""

    offsets: np.ndarray  # graph g owns the vertices offsets[g]:offsets[g + 1]
    indptr: np.ndarray  # neighbours of v: indices[indptr[v]:indptr[v + 1]]
    indices: np.ndarray
    labels: np.ndarray  # hash of each vertex
    edge_labels: np.ndarray  # hash of the edge to each neighbour; one entry if not used
    start: np.ndarray  # weight of starting at each vertex
    step: np.ndarray  # weight of continuing to each neighbour
    stop: np.ndarray  # weight of ending at each vertex


class WalkSpectra(NamedTuple):
    """Graphs for comparing walks without labels: eigenvalues of their adjacency matrices."""

    offsets: np.ndarray  # graph g owns the eigenvalues offsets[g]:offsets[g + 1]
    values: np.ndarray  # times the square root of the weight of a step
    weights: np.ndarray  # squared sums of the eigenvectors


class _Pairs(NamedTuple):
    """Pairs of vertices with equal labels of two graphs, and scratch vectors over them."""

    first: np.ndarray  # vertex u has the partners first[u]:last[u]
    last: np.ndarray
    place: np.ndarray  # index of the first one in a vector
    sums: np.ndarray  # over neighbours in the first graph, for all vertices of both
    vectors: np.ndarray


@compiled
def _make_pairs(left, right):
    n = most_vertices(left.offsets, 0, len(left.offsets) - 1)
    m = most_vertices(right.offsets, 0, len(right.offsets) - 1)
    first, last, place = np.empty((3, n), dtype=np.int64)
    return _Pairs(first, last, place, np.empty((n, m)), np.empty((4, n * m)))


@compiled
def _match(left, g, right, h, pairs):
    """Find the partners of every vertex; return the number of pairs."""
    u0, v0 = left.offsets[g], right.offsets[h]
    n, m = left.offsets[g + 1] - u0, right.offsets[h + 1] - v0
    low = high = count = 0
    for u in range(n):
        code = left.labels[u0 + u]
        if u == 0 or code != left.labels[u0 + u - 1]:
            low = high
            while low < m and right.labels[v0 + low] < code:
                low += 1
            high = low
            while high < m and right.labels[v0 + high] == code:
                high += 1
        pairs.first[u], pairs.last[u], pairs.place[u] = low, high, count
        count += high - low
    return count


@compiled
def _multiply(left, u0, n, right, v0, m, pairs, vector, product):
    """Multiply X by a vector over pairs."""
    if len(left.edge_labels) > 1:
        _multiply_labelled(left, u0, n, right, v0, pairs, vector, product)
        return
    sums = pairs.sums
    for x in range(n):
        row = sums[x, :m]
        row[:] = 0.0
        for a in range(left.indptr[u0 + x], left.indptr[u0 + x + 1]):
            u = left.indices[a] - u0
            low, high, at = pairs.first[u], pairs.last[u], pairs.place[u]
            into, part = row[low:high], vector[at : at + high - low]
            for i in range(len(part)):
                into[i] += part[i]
    for x in range(n):
        row = sums[x, :m]
        at = pairs.place[x] - pairs.first[x]
        for y in range(pairs.first[x], pairs.last[x]):
            total = 0.0
            for b in range(right.indptr[v0 + y], right.indptr[v0 + y + 1]):
                total += row[np.uint64(right.indices[b] - v0)]
            product[np.uint64(at + y)] = total


@compiled
def _multiply_labelled(left, u0, n, right, v0, pairs, vector, product):
    """Multiply X by a vector pair by pair, where both edges must have the same label."""
    for x in range(n):
        at = pairs.place[x] - pairs.first[x]
        for y in range(pairs.first[x], pairs.last[x]):
            total = 0.0
            for a in range(left.indptr[u0 + x], left.indptr[u0 + x + 1]):
                u = left.indices[a] - u0
                low, high = pairs.first[u], pairs.last[u]
                for b in range(right.indptr[v0 + y], right.indptr[v0 + y + 1]):
                    v = right.indices[b] - v0
                    if low <= v < high and left.edge_labels[a] == right.edge_labels[b]:
                        total += vector[pairs.place[u] + v - low]
            product[at + y] = total


@compiled
def _dot(a, b, n):
    """Compute a dot product with four independent sums, which avoids latency."""
    s0 = s1 = s2 = s3 = 0.0
    for i in range(0, n - 3, 4):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
    for i in range(n - n % 4, n):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


@compiled
def _fill(n, pairs, of_left, of_right, vector):
    """Fill a vector over pairs with the products of their vertices' weights."""
    for u in range(n):
        at = pairs.place[u] - pairs.first[u]
        for v in range(pairs.first[u], pairs.last[u]):
            vector[at + v] = of_left[u] * of_right[v]


@compiled
def _step_by_step(left, g, right, h, steps, pairs, count):
    """Return the weight of all common walks of at most ``steps`` steps (-1: any length)."""
    u0, v0 = left.offsets[g], right.offsets[h]
    n, m = left.offsets[g + 1] - u0, right.offsets[h + 1] - v0
    vector, product = pairs.vectors[0, :count], pairs.vectors[1, :count]
    going_on, ending = pairs.vectors[2, :count], pairs.vectors[3, :count]
    _fill(n, pairs, left.start[u0:], right.start[v0:], vector)
    _fill(n, pairs, left.step[u0:], right.step[v0:], going_on)
    _fill(n, pairs, left.stop[u0:], right.stop[v0:], ending)
    total = _dot(vector, ending, count)
    for _ in range(steps if steps >= 0 else _MANY):
        for i in range(count):
            vector[i] *= going_on[i]
        _multiply(left, u0, n, right, v0, m, pairs, vector, product)
        vector, product = product, vector
        term = _dot(vector, ending, count)
        total += term
        if term == 0.0 or (steps < 0 and term < TOLERANCE * total):
            break
    return total


@compiled
def _by_conjugate_gradients(left, g, right, h, pairs, count):
    """Return the weight of all common walks with start and end weights 1 and equal step weights.

    For the solution x of (I - d X) x = 1, each iteration gives its contribution to 1^T x.
    """
    u0, v0 = left.offsets[g], right.offsets[h]
    n, m = left.offsets[g + 1] - u0, right.offsets[h + 1] - v0
    if count == 0:
        return 0.0
    decay = left.step[u0] * right.step[v0]
    residual, direction = pairs.vectors[0, :count], pairs.vectors[1, :count]
    product = pairs.vectors[2, :count]
    residual[:] = 1.0
    direction[:] = 1.0
    square = float(count)
    total = 0.0
    for _ in range(_MANY):
        _multiply(left, u0, n, right, v0, m, pairs, direction, product)
        for i in range(count):
            product[i] = direction[i] - decay * product[i]
        length = square / _dot(direction, product, count)
        term = length * square
        total += term
        for i in range(count):
            residual[i] -= length * product[i]
        before, square = square, _dot(residual, residual, count)
        if square == 0.0 or term < TOLERANCE * total:
            break
        for i in range(count):
            direction[i] = residual[i] + square / before * direction[i]
    return total


@compiled
def _common_walks(left, g, right, h, steps, alike, pairs):
    count = _match(left, g, right, h, pairs)
    if steps < 0 and alike:
        return _by_conjugate_gradients(left, g, right, h, pairs, count)
    return _step_by_step(left, g, right, h, steps, pairs, count)


@entry_point
def compare_walks(left, right, steps, alike, which, begin, end, K, stop):
    """Fill the rows ``begin`` to ``end`` of K with the walk weights for the :func:`partners`.

    Walks have at most ``steps`` steps, or any number if that is -1. ``alike`` means that all
    vertices of all graphs have equal weights, with start and end weights of 1.
    """
    pairs = _make_pairs(left, right)
    for g in range(begin, end):
        first, last = partners(which, g, len(right.offsets) - 1)
        for h in range(first, last):
            if stop[0]:
                return
            K[g, h - first] = _common_walks(left, g, right, h, steps, alike, pairs)


@entry_point
def compare_spectra(left, right, which, begin, end, K, stop):
    """As :func:`compare_walks`, for walks of any length without labels."""
    for g in range(begin, end):
        first, last = partners(which, g, len(right.offsets) - 1)
        for h in range(first, last):
            if stop[0]:
                return
            total = 0.0
            for i in range(left.offsets[g], left.offsets[g + 1]):
                value = left.values[i]
                part = 0.0
                for j in range(right.offsets[h], right.offsets[h + 1]):
                    part += right.weights[j] / (1.0 - value * right.values[j])
                total += left.weights[i] * part
            K[g, h - first] = total
