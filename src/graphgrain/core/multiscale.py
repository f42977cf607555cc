"""Balls around vertices as Gaussian distributions, and their similarity.

1. The ball of radius r around a vertex has the Laplacian L and the feature rows U, each divided
   by 1 + its distance from the centre. It is represented by the covariance matrix
   S = U^T (L + eta I)^-1 U + gamma I.
2. The similarity is k(S, T) = |((S^-1 + T^-1) / 2)^-1|^(1/2) / (|S| |T|)^(1/4), the overlap of two
   Gaussians. It does not change if S and T are both divided by gamma; a feature that no vertex of a
   ball has then corresponds to a row of the identity. Only the features that occur, the support of
   a ball, need to be stored: S^-1 on the support, and log |S|.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .balls import empty_ball, fill_ball, make_ball
from .compiling import compiled
from .components import sort_by
from .hashing import BASE, GOLDEN, mix
from .refinement import refine_ball
from .threads import entry_point

#: Logarithm of the smallest similarity that is not rounded to zero.
LOWEST = -30.0
_REFINEMENTS = 3


class Balls(NamedTuple):
    """Balls of one level and the features of their vertices."""

    radius: int
    eta: float
    gamma: float
    codes: np.ndarray  # one hash per vertex, used as one-hot feature ...
    features: np.ndarray  # ... unless this has columns: one row per vertex
    room: int  # maximum number of features of a ball


class Summaries(NamedTuple):
    """S^-1 on the support, and log |S|, for several balls."""

    supports: np.ndarray
    inverses: np.ndarray
    widths: np.ndarray  # number of features of each support
    sizes: np.ndarray  # log |S|


@entry_point
def ball_keys(graphs, previous, radius, begin, end, keys):
    """Hash each ball; equal balls whose vertices have equal ``previous`` keys get equal hashes.

    Colours are refined within the ball, starting with the distances and ``previous``.
    """
    ball = make_ball(graphs, begin, end)
    distance, members = ball.distance, ball.members
    colours = np.empty(len(members), dtype=np.uint64)
    fresh = np.empty(len(members), dtype=np.uint64)
    for g in range(begin, end):
        base = graphs.offsets[g]
        for centre in range(graphs.offsets[g + 1] - base):
            count = fill_ball(graphs, base, centre, radius, ball)
            for i in range(count):
                colours[i] = mix(previous[base + members[i]] + np.uint64(distance[i]) * GOLDEN)
            for _ in range(_REFINEMENTS):
                refine_ball(graphs, False, base, ball, count, colours, fresh)
                colours, fresh = fresh, colours
            key = colours[0] * BASE
            for i in range(count):
                key += mix(colours[i])
            empty_ball(ball, count)
            keys[base + centre] = key


@compiled
def cholesky(M, n):
    """Compute the lower triangle C with C C^T = M in place; return log |M|."""
    total = 0.0
    for j in range(n):
        pivot = M[j, j]
        for k in range(j):
            pivot -= M[j, k] * M[j, k]
        pivot = np.sqrt(pivot)
        M[j, j] = pivot
        total += np.log(pivot)
        for i in range(j + 1, n):
            value = M[i, j]
            for k in range(j):
                value -= M[i, k] * M[j, k]
            M[i, j] = value / pivot
    return 2.0 * total


@compiled
def forward(C, n, B, width):
    """Replace B by C^-1 B for the lower triangle C."""
    for i in range(n):
        for k in range(i):
            factor = C[i, k]
            if factor != 0.0:
                for j in range(width):
                    B[i, j] -= factor * B[k, j]
        for j in range(width):
            B[i, j] /= C[i, i]


@compiled
def invert(S, n, inverse):
    """Write S^-1 to ``inverse``; return log |S|. S is overwritten."""
    size = cholesky(S, n)
    lower = np.zeros((n, n))
    for i in range(n):
        lower[i, i] = 1.0
    forward(S, n, lower, n)
    for i in range(n):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, n):
                total += lower[k, i] * lower[k, j]
            inverse[i, j] = total
            inverse[j, i] = total
    return size


@compiled
def summarize(graphs, balls, base, centre, ball, keys, support, inverse):
    """Fill ``support`` and ``inverse`` for one ball; return the support's size and log |S|.

    ``ball`` and ``keys`` are scratch arrays for its vertices and their features.
    """
    indptr, indices = graphs.indptr, graphs.indices
    eta, gamma, codes, features = balls.eta, balls.gamma, balls.codes, balls.features
    place, distance, members = ball.place, ball.distance, ball.members
    count = fill_ball(graphs, base, centre, balls.radius, ball)
    dense = features.shape[1]
    width = dense
    if dense:
        for j in range(dense):
            support[j] = np.uint64(j)
    else:
        for i in range(count):
            keys[i] = codes[base + members[i]]
        sort_by(keys, keys, 0, count)
        for i in range(count):
            if i == 0 or keys[i] != keys[i - 1]:
                support[width] = keys[i]
                width += 1
    L = np.zeros((count, count))
    U = np.zeros((count, width))
    for i in range(count):
        v = base + members[i]
        L[i, i] += eta
        for entry in range(indptr[v], indptr[v + 1]):
            j = place[indices[entry] - base]
            if j >= 0:
                L[i, j] = -1.0
                L[i, i] += 1.0
        for j in range(width):
            if dense:
                U[i, j] = features[v, j] / (distance[i] + 1.0)
            elif codes[v] == support[j]:
                U[i, j] = 1.0 / (distance[i] + 1.0)
    empty_ball(ball, count)
    cholesky(L, count)
    forward(L, count, U, width)
    S = np.zeros((width, width))
    for i in range(count):
        for a in range(width):
            if U[i, a] != 0.0:
                for b in range(a + 1):
                    S[a, b] += U[i, a] * U[i, b] / gamma
    for a in range(width):
        S[a, a] += 1.0
        for b in range(a):
            S[b, a] = S[a, b]
    return width, invert(S, width, inverse)


@compiled
def log_similarity(first, i, second, j, M, where):
    """Return log k of ball i of the first summaries and ball j of the second.

    ``M`` and ``where`` are scratch arrays.
    """
    a_support, a_inverse, a = first.supports[i], first.inverses[i], first.widths[i]
    b_support, b_inverse, b = second.supports[j], second.inverses[j], second.widths[j]
    sizes = first.sizes[i] + second.sizes[j]
    n = i = j = 0
    while i < a or j < b:
        in_a = i < a and (j >= b or a_support[i] <= b_support[j])
        in_b = j < b and (i >= a or b_support[j] <= a_support[i])
        for k in range(n + 1):
            M[n, k] = 0.0
        M[n, n] = 1.0 - 0.5 * in_a - 0.5 * in_b  # a missing feature is a row of the identity
        if in_a:
            where[0, i] = n
            i += 1
        if in_b:
            where[1, j] = n
            j += 1
        n += 1
    for i in range(a):
        for k in range(i + 1):
            M[where[0, i], where[0, k]] += 0.5 * a_inverse[i, k]
    for j in range(b):
        for k in range(j + 1):
            M[where[1, j], where[1, k]] += 0.5 * b_inverse[j, k]
    return -0.5 * cholesky(M, n) - 0.25 * sizes


@entry_point
def summaries(graphs, balls, owners, vertices):
    """Summarise the balls around some vertices of the graphs ``owners``."""
    offsets = graphs.offsets
    ball = make_ball(graphs, 0, len(offsets) - 1)
    keys = np.empty(len(ball.place), dtype=np.uint64)
    supports = np.zeros((len(vertices), balls.room), dtype=np.uint64)
    inverses = np.zeros((len(vertices), balls.room, balls.room))
    widths = np.empty(len(vertices), dtype=np.int64)
    sizes = np.empty(len(vertices))
    for i in range(len(vertices)):
        base = offsets[owners[i]]
        widths[i], sizes[i] = summarize(
            graphs, balls, base, vertices[i] - base, ball, keys, supports[i], inverses[i]
        )
    return Summaries(supports, inverses, widths, sizes)


@entry_point
def anchor_kernel(anchors):
    """Compute the similarities among the anchors, given their summaries."""
    count, room = anchors.supports.shape
    M = np.empty((2 * room, 2 * room))
    where = np.empty((2, room), dtype=np.int64)
    K = np.empty((count, count))
    for i in range(count):
        for j in range(i + 1):
            value = log_similarity(anchors, i, anchors, j, M, where)
            K[i, j] = np.exp(value) if value > LOWEST else 0.0
            K[j, i] = K[i, j]
    return K


@entry_point
def similarities(graphs, balls, anchors, begin, end, stop):
    """Compute the similarities of the balls of the graphs ``begin`` to ``end`` to anchors.

    ``anchors`` are summaries. Returns one row per vertex.
    """
    offsets = graphs.offsets
    ball = make_ball(graphs, begin, end)
    keys = np.empty(len(ball.place), dtype=np.uint64)
    own = Summaries(
        np.empty((1, balls.room), dtype=np.uint64),
        np.empty((1, balls.room, balls.room)),
        np.empty(1, dtype=np.int64),
        np.empty(1),
    )
    both = balls.room + anchors.supports.shape[1]
    M = np.empty((both, both))
    where = np.empty((2, both), dtype=np.int64)
    result = np.empty((offsets[end] - offsets[begin], len(anchors.widths)))
    for g in range(begin, end):
        base = offsets[g]
        for centre in range(offsets[g + 1] - base):
            if stop[0]:
                break
            own.widths[0], own.sizes[0] = summarize(
                graphs, balls, base, centre, ball, keys, own.supports[0], own.inverses[0]
            )
            row = base + centre - offsets[begin]
            for anchor in range(len(anchors.widths)):
                value = log_similarity(own, 0, anchors, anchor, M, where)
                result[row, anchor] = np.exp(value) if value > LOWEST else 0.0
    return result


@entry_point
def add_pairs(left, left_sizes, right, right_sizes, lower, begin, end, K, stop):
    """Compute k of all pairs of whole graphs, given S^-1 and log |S| on the same features."""
    n = left.shape[1]
    M = np.empty((n, n))
    for g in range(begin, end):
        if stop[0]:
            return
        for h in range(g + 1 if lower else len(right)):
            for i in range(n):
                for j in range(i + 1):
                    M[i, j] = 0.5 * (left[g, i, j] + right[h, i, j])
            value = -0.5 * cholesky(M, n) - 0.25 * (left_sizes[g] + right_sizes[h])
            K[g, h] = np.exp(min(value, 0.0)) if value > LOWEST else 0.0
            if lower:
                K[h, g] = K[g, h]
