"""Colour refinement on hashes.

1. The initial colour of a vertex is the hash of its label.
2. Its next colour is a hash of its colour and the multiset of its neighbours' colours. Multisets
   are hashed by sums, without sorting or a dictionary, and identically on every machine.
3. With edge labels, a neighbour's colour is first mixed with the label of the edge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .balls import empty_ball, fill_ball, make_ball
from .compiling import compiled, subroutine
from .components import sort_by
from .hashing import BASE, mix
from .structures import most_vertices, partners
from .threads import entry_point


@compiled
def refine_once(graphs, edges, base, colours, finer):
    """Write the next colours of the vertices from ``base`` on to ``finer``.

    With ``edges``, edge labels are used.
    """
    indptr, indices, edge_hashes = graphs.indptr, graphs.indices, graphs.edge_hashes
    for v in range(len(colours)):
        total = colours[v] * BASE
        for entry in range(indptr[base + v], indptr[base + v + 1]):
            colour = colours[indices[entry] - base]
            total += mix(colour + edge_hashes[graphs.edge_labels[entry]]) if edges else colour
        finer[v] = mix(total)


@entry_point
def refine_colours(graphs, edges, colours):
    """Return the next colours of all vertices."""
    finer = np.empty_like(colours)
    refine_once(graphs, edges, 0, colours, finer)
    return finer


@entry_point
def refine(graphs, edges, steps, begin, end):
    """Return the Weisfeiler-Lehman colours of all vertices of the graphs ``begin`` to ``end``.

    There is one row per step; the first row contains the label hashes.
    """
    base = graphs.offsets[begin]
    n = graphs.offsets[end] - base
    colours = np.empty((steps + 1, n), dtype=np.uint64)
    for v in range(n):
        colours[0, v] = graphs.label_hashes[graphs.labels[base + v]]
    for step in range(steps):
        refine_once(graphs, edges, base, colours[step], colours[step + 1])
    return colours


# --------------------------------------------------------------------
# Colours of vertices within neighbourhoods.
#
# The pattern of radius r of a root is the subgraph of all vertices within distance r.
# 1. Colours are refined within the pattern, ignoring neighbours outside.
# 2. The pattern as a whole is the multiset of the last colours, hashed by a sum.
# 3. Two graphs are compared feature by feature: every pair of vertices with the same feature
#    contributes the product of their weights and their similarity.


class VertexFeatures(NamedTuple):
    """Features of the vertices of each graph, with weights.

    The entries ``offsets[g]:offsets[g + 1]`` are those of graph g, in ascending order of features.
    """

    offsets: np.ndarray
    hashes: np.ndarray
    vertices: np.ndarray
    weights: np.ndarray
    attributes: np.ndarray  # one row per vertex
    starts: np.ndarray  # first vertex of each graph


@compiled
def refine_ball(graphs, edges, base, ball, count, colours, finer):
    """Compute the next colours of the ``count`` vertices in a ball, ignoring others."""
    indptr, indices, edge_hashes = graphs.indptr, graphs.indices, graphs.edge_hashes
    for i in range(count):
        v = base + ball.members[i]
        total = colours[i] * BASE
        for entry in range(indptr[v], indptr[v + 1]):
            j = ball.place[indices[entry] - base]
            if j >= 0:
                colour = colours[j]
                total += mix(colour + edge_hashes[graphs.edge_labels[entry]]) if edges else colour
        finer[i] = mix(total)


@entry_point
def pattern_colours(graphs, edges, radius, steps, begin, end):
    """Return the patterns of one radius of the graphs ``begin`` to ``end``, one per root vertex.

    Returns ``(pointers, members, colours, keys)``: root i has the members from ``pointers[i]``
    to ``pointers[i + 1]``, numbered from the first vertex of the range, with their colours within
    the pattern (one row per step); ``keys[i]`` is the hash of the pattern.
    """
    first = graphs.offsets[begin]
    roots = graphs.offsets[end] - first
    ball = make_ball(graphs, begin, end)
    inside = ball.members
    pointers = np.zeros(roots + 1, dtype=np.int64)
    keys = np.empty(roots, dtype=np.uint64)
    members = np.empty(max(1024, 4 * roots), dtype=np.int64)
    colours = np.empty((steps + 1, len(members)), dtype=np.uint64)
    total = 0
    for g in range(begin, end):
        base = graphs.offsets[g]
        for root in range(graphs.offsets[g + 1] - base):
            count = fill_ball(graphs, base, root, radius, ball)
            if total + count > len(members):
                more = np.empty(2 * (total + count), dtype=np.int64)
                more[:total] = members[:total]
                members = more
                finer = np.empty((steps + 1, len(members)), dtype=np.uint64)
                finer[:, :total] = colours[:, :total]
                colours = finer
            for i in range(count):
                v = base + inside[i]
                members[total + i] = v - first
                colours[0, total + i] = graphs.label_hashes[graphs.labels[v]]
            for step in range(steps):
                before, after = colours[step, total:], colours[step + 1, total:]
                refine_ball(graphs, edges, base, ball, count, before, after)
            key = np.uint64(0)
            for i in range(count):
                key += mix(colours[steps, total + i])
            empty_ball(ball, count)
            keys[base + root - first] = mix(key)
            total += count
            pointers[base + root - first + 1] = total
    return pointers, members[:total].copy(), colours[:, :total].copy(), keys


@entry_point
def equal_pairs(pointers, colours):
    """Count the ordered pairs of vertices of equal colour in each pattern, over all steps."""
    roots = len(pointers) - 1
    pairs = np.zeros(roots, dtype=np.int64)
    most = 0
    for root in range(roots):
        most = max(most, pointers[root + 1] - pointers[root])
    codes = np.empty(most, dtype=np.uint64)
    places = np.empty(most, dtype=np.int64)
    for root in range(roots):
        first = pointers[root]
        count = pointers[root + 1] - first
        for step in range(len(colours)):
            for i in range(count):
                codes[i] = colours[step, first + i]
            sort_by(codes, places, 0, count)
            alike = 0
            for i in range(count):
                alike = alike + 1 if i > 0 and codes[i] == codes[i - 1] else 1
                pairs[root] += 2 * alike - 1
    return pairs


@subroutine
def _meet(left, i, right, j, meetings):
    """Sum the products of weights of common features for each pair of vertices of two graphs."""
    u, v = left.starts[i], right.starts[j]
    for x in range(left.starts[i + 1] - u):
        for y in range(right.starts[j + 1] - v):
            meetings[x, y] = 0.0
    a, last_a = left.offsets[i], left.offsets[i + 1]
    b, last_b = right.offsets[j], right.offsets[j + 1]
    while a < last_a and b < last_b:
        if left.hashes[a] < right.hashes[b]:
            a += 1
        elif left.hashes[a] > right.hashes[b]:
            b += 1
        else:
            code = left.hashes[a]
            after = b
            while a < last_a and left.hashes[a] == code:
                x = left.vertices[a] - u
                after = b
                while after < last_b and right.hashes[after] == code:
                    y = right.vertices[after] - v
                    meetings[x, y] += left.weights[a] * right.weights[after]
                    after += 1
                a += 1
            b = after


@subroutine
def _similarity(left, i, right, j, gaussian, gamma, meetings):
    """Sum, over pairs of vertices, the common weight times the similarity of their attributes."""
    _meet(left, i, right, j, meetings)
    u, v = left.starts[i], right.starts[j]
    total = 0.0
    for x in range(left.starts[i + 1] - u):
        for y in range(right.starts[j + 1] - v):
            if meetings[x, y] > 0.0:
                alike = 0.0
                for d in range(left.attributes.shape[1]):
                    p, q = left.attributes[u + x, d], right.attributes[v + y, d]
                    alike += (p - q) * (p - q) if gaussian else p * q
                total += meetings[x, y] * (np.exp(-gamma * alike) if gaussian else alike)
    return total


@entry_point
def compare_vertices(left, right, gaussian, gamma, which, begin, end, K, stop):
    """Fill the rows ``begin`` to ``end`` of K with the similarities to the :func:`partners`."""
    n = most_vertices(left.starts, 0, len(left.starts) - 1)
    meetings = np.empty((n, most_vertices(right.starts, 0, len(right.starts) - 1)))
    for i in range(begin, end):
        first, last = partners(which, i, len(right.starts) - 1)
        for j in range(first, last):
            if stop[0]:
                return
            K[i, j - first] = _similarity(left, i, right, j, gaussian, gamma, meetings)
