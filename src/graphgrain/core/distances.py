"""Shortest paths between all vertices of a graph, by breadth-first search, as counted features.

1. A search from every root computes the distance of each reachable vertex.
2. With edge labels it also determines, among all shortest paths to a vertex, the first sequence of
   edge labels in lexicographic order. The order of paths of equal length is that of their
   prefixes, so a vertex only needs the best (rank of a predecessor, edge label), and the vertices
   at one distance are ranked before the next distance is processed.
3. A pair is hashed as (label of the root, label of the vertex, length or sequence) and counted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiling import compiled
from .components import sort_by
from .counting import RootedFeatures, Tables, count_into, make_tables, read_out, with_room
from .hashing import BASE, GOLDEN, mix
from .structures import Graphs, most_vertices
from .threads import entry_point

_ZERO = np.uint64(0)
#: Number of values per vertex in the scratch array of :func:`search`.
_SCRATCH = 8


@compiled
def _rank_layer(queue, begin, end, from_rank, via, rank, keys, members, most_codes):
    """Rank the edge label sequences of the vertices at one distance."""
    count = end - begin
    for i in range(count):
        v = queue[begin + i]
        members[i] = v
        keys[i] = from_rank[v] * most_codes + via[v]
    sort_by(keys, members, 0, count)
    current = 0
    for i in range(count):
        if i and keys[i] != keys[i - 1]:
            current += 1
        rank[members[i]] = current


@compiled
def search(graphs, edges, base, root, work, paths):
    """Run a breadth-first search from ``root``; return the number of vertices in ``queue``.

    Fills ``distance`` (-1 if unreachable); with ``edges`` also ``before`` (predecessor on the
    chosen path), ``via`` (edge label code towards it) and ``paths`` (hash of the sequence).
    """
    indptr, indices = graphs.indptr, graphs.indices
    edge_codes, edge_hashes = graphs.edge_labels, graphs.edge_hashes
    queue, distance, before, via, from_rank, rank, keys, members = work
    n = len(paths)
    for v in range(n):
        distance[v] = -1
    distance[root] = 0
    queue[0] = root
    rank[root] = 0
    paths[root] = _ZERO
    begin = 0
    end = 1
    while begin < end:
        tail = end
        for head in range(begin, end):
            u = queue[head]
            for entry in range(indptr[base + u], indptr[base + u + 1]):
                v = indices[entry] - base
                fresh = distance[v] < 0
                if fresh:
                    distance[v] = distance[u] + 1
                    queue[tail] = v
                    tail += 1
                if not edges or distance[v] != distance[u] + 1:
                    continue
                if not fresh and (from_rank[v], via[v]) <= (rank[u], edge_codes[entry]):
                    continue
                before[v] = u
                from_rank[v] = rank[u]
                via[v] = edge_codes[entry]
                paths[v] = paths[u] * BASE + mix(edge_hashes[edge_codes[entry]])
        if edges and tail > end:
            _rank_layer(queue, end, tail, from_rank, via, rank, keys, members, len(edge_hashes))
        begin = end
        end = tail
    return end


@compiled
def pair_code(source, target, distance, path):
    """Hash an ordered pair at a distance, with the hash of a path's labels (or 0)."""
    return mix(mix(source * BASE + target) + np.uint64(distance) * GOLDEN + path)


@compiled
def pair_codes(labels, label_hashes, edges, base, root, reached, work, paths, codes):
    """Hash the pairs of a root with all other vertices reached by :func:`search`."""
    queue, distance = work[0], work[1]
    source = label_hashes[labels[base + root]]
    for i in range(1, reached):
        v = queue[i]
        path = paths[v] if edges else _ZERO
        codes[i - 1] = pair_code(source, label_hashes[labels[base + v]], distance[v], path)


@entry_point
def count_pairs(graphs, edges, begin, end, stop):
    """Count the ordered pairs of distinct, connected vertices of the graphs ``begin`` to ``end``.

    With ``edges``, edge labels are used. Returns ``(lengths, hashes, counts)``, graph after graph.
    """
    offsets, labels, label_hashes = graphs.offsets, graphs.labels, graphs.label_hashes
    most = max(1, most_vertices(offsets, begin, end))
    work = np.empty((_SCRATCH, most), dtype=np.int64)
    paths = np.zeros(most, dtype=np.uint64)
    codes = np.empty(most, dtype=np.uint64)
    tables = make_tables(1, 1024)
    lengths = np.empty(end - begin, dtype=np.int64)
    hashes = np.empty(1024, dtype=np.uint64)
    counts = np.empty(1024, dtype=np.int64)
    total = 0
    for g in range(begin, end):
        base = offsets[g]
        n = offsets[g + 1] - base
        for root in range(n):
            if stop[0]:
                break
            reached = search(graphs, edges, base, root, work, paths[:n])
            pair_codes(labels, label_hashes, edges, base, root, reached, work, paths, codes)
            tables = count_into(tables, 0, codes, reached - 1)
        lengths[g - begin] = tables.distinct[0]
        hashes, counts = with_room(total + tables.distinct[0], hashes, counts)
        total = read_out(tables, 0, hashes, counts, total)
    return lengths, hashes[:total].copy(), counts[:total].copy()


@entry_point
def trace_pairs(graphs, edges, g):
    """Return all pairs of graph ``g`` as ``(hashes, distances, before, via)``, n x n each.

    Row u, column v is the pair (u, v), with distance -1 if there is no path. ``before`` and ``via``
    lead back from v along the chosen path.
    """
    labels, label_hashes = graphs.labels, graphs.label_hashes
    base = graphs.offsets[g]
    n = graphs.offsets[g + 1] - base
    work = np.empty((_SCRATCH, max(n, 1)), dtype=np.int64)
    paths = np.zeros(n, dtype=np.uint64)
    hashes = np.zeros((n, n), dtype=np.uint64)
    distances = np.empty((n, n), dtype=np.int64)
    before = np.zeros((n, n), dtype=np.int64)
    via = np.zeros((n, n), dtype=np.int64)
    for root in range(n):
        search(graphs, edges, base, root, work, paths)
        for v in range(n):
            distances[root, v], before[root, v], via[root, v] = work[1, v], work[2, v], work[3, v]
            path = paths[v] if edges else _ZERO
            hashes[root, v] = pair_code(
                label_hashes[labels[base + root]], label_hashes[labels[base + v]],
                max(0, distances[root, v]), path,
            )  # fmt: skip
    return hashes, distances, before, via


@entry_point
def paths_between(pairs, before, longest):
    """Return the vertices on the chosen path of each pair, padded with -1 to ``longest``."""
    paths = np.full((len(pairs), longest), -1, dtype=np.int32)
    for i in range(len(pairs)):
        u, v = pairs[i]
        length = 1
        while v != u:
            v = before[u, v]
            length += 1
        v = pairs[i, 1]
        for place in range(length - 1, -1, -1):
            paths[i, place] = v
            v = before[u, v]
    return paths


# --------------------------------------------------------------------
# The pairs of vertices of one large graph with their distances, root by root.


@entry_point
def _count_roots(graphs, label_hashes, edges, g, roots, scratch, tables, stop):
    """Count the pairs of some roots, with different label hashes at each level."""
    work, paths, codes = scratch
    base = graphs.offsets[g]
    for root in roots:
        if stop[0]:
            return tables
        reached = search(graphs, edges, base, root, work, paths)
        for level in range(len(label_hashes)):
            pair_codes(
                graphs.labels, label_hashes[level], edges, base, root, reached, work, paths, codes
            )
            tables = count_into(tables, level, codes, reached - 1)
    return tables


class PairRoots(RootedFeatures):
    """Pairs of vertices of graph ``g``, counted root by root.

    Parameters
    ----------
    label_hashes : array of shape (levels, labels)
        Hashes of the labels at each level.
    """

    instead = "Use a kernel with fewer features such as WeisfeilerLehman or PathPattern"

    def __init__(self, graphs: Graphs, label_hashes: np.ndarray, edges: bool, g: int) -> None:
        super().__init__(int(graphs.offsets[g + 1] - graphs.offsets[g]), len(label_hashes))
        self.graphs, self.label_hashes, self.edges, self.g = graphs, label_hashes, edges, g

    def scratch(self) -> Any:
        codes = np.empty(self.size, dtype=np.uint64)
        work = np.empty((_SCRATCH, self.size), dtype=np.int64)
        return work, np.zeros(self.size, dtype=np.uint64), codes

    def add(self, roots: np.ndarray, scratch: Any, tables: Tables) -> Tables:
        return _count_roots(
            self.graphs, self.label_hashes, self.edges, self.g, roots, scratch, tables
        )
