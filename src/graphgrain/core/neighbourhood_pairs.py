"""Hashes of the neighbourhoods of vertices, and pairs of vertices at small distances.

The neighbourhood of radius r of a root is the subgraph of the vertices within distance r. It is
described as in the NSPDK paper:

1. A vertex by its distance to the root and the multiset of (distance, label) of all vertices of
   the neighbourhood, with distances within it.
2. An edge by the descriptions of its ends and its own label; the neighbourhood by the multiset
   of its edges and vertices.

Multisets are hashed by sums, which avoids sorting.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .balls import empty_ball, fill_ball, make_ball
from .compiling import compiled
from .counting import RootedFeatures, Tables, count_into
from .hashing import BASE, GOLDEN, mix
from .structures import Graphs
from .threads import call, entry_point


@compiled
def _distances_within(graphs, base, members, count, place, source, distance, queue):
    """Compute distances from one member of a neighbourhood to all others, within it."""
    for i in range(count):
        distance[i] = -1
    distance[source] = 0
    queue[0] = source
    head = 0
    tail = 1
    while head < tail:
        i = queue[head]
        head += 1
        v = base + members[i]
        for entry in range(graphs.indptr[v], graphs.indptr[v + 1]):
            j = place[graphs.indices[entry] - base]
            if j >= 0 and distance[j] < 0:
                distance[j] = distance[i] + 1
                queue[tail] = j
                tail += 1


@compiled
def neighbourhood_hash(graphs, edges, base, root, radius, scratch, stop):
    """Return the hash of the neighbourhood of one root."""
    indptr, indices = graphs.indptr, graphs.indices
    ball, codes, distance, queue = scratch
    place, from_root, members = ball.place, ball.distance, ball.members
    count = fill_ball(graphs, base, root, radius, ball)
    total = np.uint64(0)
    for i in range(count):
        if stop[0]:
            break
        _distances_within(graphs, base, members, count, place, i, distance, queue)
        code = mix(np.uint64(from_root[i] + 1) * GOLDEN)
        for j in range(count):
            label = graphs.label_hashes[graphs.labels[base + members[j]]]
            code += mix(label + np.uint64(distance[j] + 1) * BASE)
        codes[i] = mix(code)
        total += codes[i]
    for i in range(count):
        v = base + members[i]
        for entry in range(indptr[v], indptr[v + 1]):
            j = place[indices[entry] - base]
            if i < j:
                code = mix(codes[i]) + mix(codes[j])
                if edges:
                    code += mix(graphs.edge_hashes[graphs.edge_labels[entry]] + GOLDEN)
                total += mix(code)
    empty_ball(ball, count)
    return mix(total)


@compiled
def make_neighbourhood(graphs, begin, end):
    """Allocate scratch arrays for the neighbourhoods of any of the graphs ``begin`` to ``end``."""
    ball = make_ball(graphs, begin, end)
    size = len(ball.place)
    distance, queue = np.empty((2, size), dtype=np.int64)
    return ball, np.empty(size, dtype=np.uint64), distance, queue


@entry_point
def neighbourhood_hashes(graphs, edges, radius, begin, end, stop):
    """Hash the neighbourhood of every vertex, one row per radius from 0 to ``radius``."""
    first = graphs.offsets[begin]
    hashes = np.empty((radius + 1, graphs.offsets[end] - first), dtype=np.uint64)
    scratch = make_neighbourhood(graphs, begin, end)
    for g in range(begin, end):
        base = graphs.offsets[g]
        size = graphs.offsets[g + 1] - base
        for root in range(size):
            if stop[0]:
                return hashes
            for r in range(radius + 1):
                hashes[r, base + root - first] = neighbourhood_hash(
                    graphs, edges, base, root, r, scratch, stop
                )
    return hashes


@entry_point
def near_pairs(graphs, furthest, begin, end):
    """Return all pairs of vertices at distances from 0 to ``furthest``, each once.

    Returns ``(pointers, pairs)``, graph by graph: rows of first vertex, second vertex and distance.
    Vertices are numbered from the first of the range.
    """
    ball = make_ball(graphs, begin, end)
    distance, members = ball.distance, ball.members
    first = graphs.offsets[begin]
    pointers = np.zeros(end - begin + 1, dtype=np.int64)
    pairs = np.empty((1024, 3), dtype=np.int64)
    total = 0
    for g in range(begin, end):
        base = graphs.offsets[g]
        for root in range(graphs.offsets[g + 1] - base):
            count = fill_ball(graphs, base, root, furthest, ball)
            if total + count > len(pairs):
                grown = np.empty((2 * (total + count), 3), dtype=np.int64)
                grown[:total] = pairs[:total]
                pairs = grown
            for i in range(count):
                v = members[i]
                if v >= root:
                    pairs[total, 0] = base + root - first
                    pairs[total, 1] = base + v - first
                    pairs[total, 2] = distance[i]
                    total += 1
            empty_ball(ball, count)
        pointers[g - begin + 1] = total
    return pointers, pairs[:total].copy()


# --------------------------------------------------------------------
# The pairs of neighbourhoods of one large graph, root by root.
#
# 1. The neighbourhoods of all vertices are hashed, for each radius. The cost is quadratic in their
#    sizes, because distances between all vertices of a neighbourhood are needed.
# 2. Each root is paired with the vertices around it that do not have a smaller number.


@entry_point
def _hash_neighbourhoods(graphs, edges, g, roots, scratch, hashes, stop):
    """Hash the neighbourhoods of some roots."""
    for root in roots:
        for radius in range(len(hashes)):
            if stop[0]:
                return
            hashes[radius, root] = neighbourhood_hash(
                graphs, edges, graphs.offsets[g], root, radius, scratch, stop
            )


@entry_point
def _count_roots(graphs, furthest, g, roots, scratch, hashes, tables, stop):
    """Count the pairs of some roots: radius r and distance d at level r (furthest + 1) + d."""
    ball, codes, _, _ = scratch
    distance, members = ball.distance, ball.members
    for root in roots:
        if stop[0]:
            return tables
        count = fill_ball(graphs, graphs.offsets[g], root, furthest, ball)
        begin = 0
        while begin < count:  # members are sorted by distance
            d = distance[begin]
            end = begin
            while end < count and distance[end] == d:
                end += 1
            for radius in range(len(hashes)):
                found = 0
                for i in range(begin, end):
                    v = members[i]
                    if v >= root:
                        both = hashes[radius, root] + hashes[radius, v]
                        codes[found] = mix(both + np.uint64(d + 1) * GOLDEN)
                        found += 1
                tables = count_into(tables, radius * (furthest + 1) + d, codes, found)
            begin = end
        empty_ball(ball, count)
    return tables


class NeighbourhoodRoots(RootedFeatures):
    """Pairs of graph ``g``, with neighbourhoods of radius 0 to ``radius``."""

    instead = (
        "Use a smaller radius or distance, or a kernel with fewer features such as WeisfeilerLehman"
    )

    def __init__(self, graphs: Graphs, edges: bool, radius: int, furthest: int, g: int) -> None:
        size = int(graphs.offsets[g + 1] - graphs.offsets[g])
        super().__init__(size, (radius + 1) * (furthest + 1))
        self.graphs, self.edges, self.furthest, self.g = graphs, edges, furthest, g
        self.hashes = np.zeros((radius + 1, size), dtype=np.uint64)

    def scratch(self) -> Any:
        return call(make_neighbourhood, self.graphs, self.g, self.g + 1)

    def prepare(self, roots: np.ndarray, scratch: Any) -> None:
        _hash_neighbourhoods(self.graphs, self.edges, self.g, roots, scratch, self.hashes)

    def add(self, roots: np.ndarray, scratch: Any, tables: Tables) -> Tables:
        return _count_roots(self.graphs, self.furthest, self.g, roots, scratch, self.hashes, tables)
