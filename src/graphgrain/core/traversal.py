"""Truncated breadth-first search in which ties are merged instead of broken by vertex numbers.

1. ``renumber`` sorts the vertices of a graph by (label, centrality class) and rewrites the
   neighbour lists in that order, so that the search meets children in order without sorting.
2. ``traverse`` runs the search from one root. The positions of one level stand in rank order;
   ``tie`` marks a position that shares its rank with the one before. A run of tied positions
   is expanded as one parent: its children are merged and sorted by key. ``parent`` holds the
   position of the parent, or -1 minus the first position of the run if several vertices of
   the run are candidates.

With edge labels, the label of the edge to the parent joins the key (``edges`` is True and
``via`` holds edge label codes); without them ``via`` and ``edge`` are never read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled, inlined, subroutine
from .components import sort_by
from .hashing import position_weights
from .memory import require_memory
from .structures import Graphs
from .threads import entry_point


class Options(NamedTuple):
    """What patterns are counted."""

    path_depth: int
    tree_depth: int
    edges: bool  # whether edge labels take part


class Work(NamedTuple):
    """One graph, renumbered, and scratch arrays for its searches."""

    # the graph, as `renumber` leaves it
    vertex: np.ndarray  # old local number of each vertex
    label: np.ndarray  # its label code
    hashes: np.ndarray  # hash of its label
    key: np.ndarray  # dense rank of its (label, centrality class)
    start: np.ndarray  # neighbours of v: adjacent[start[v]:start[v + 1]], ascending
    adjacent: np.ndarray
    via: np.ndarray  # edge label code of each neighbour
    # searches
    stamp: np.ndarray  # number of the last search, one entry
    seen: np.ndarray  # stamp of the last search that met the vertex; again for runs
    place: np.ndarray  # position of a vertex in the current search
    begins: np.ndarray  # per root: where its search begins in the four arrays below
    ends: np.ndarray  # per root and j: number of vertices within distance j
    order: np.ndarray  # vertices in rank order
    parent: np.ndarray
    tie: np.ndarray
    edge: np.ndarray  # edge label code towards the parent
    spare: int  # from here on the four arrays have room for two more searches
    # patterns
    weights: np.ndarray  # factor of each position in the hash of a tree
    trees: np.ndarray  # per vertex and level: hash of its tree
    ranks: np.ndarray  # per vertex and level: rank of its tree in lexicographic order
    ranked: np.ndarray  # one entry: whether the ranks are those of this graph
    hashed: np.ndarray  # per position and level of one search: hashes of patterns, three rows
    chosen: np.ndarray  # per position and level: the parent chosen among several
    codes: np.ndarray  # per level and stored pair: hash of the pattern
    stop: np.ndarray  # one entry: whether the work is no longer wanted


def make_work(
    graphs: Graphs, options: Options, stop: np.ndarray, begin: int, end: int, searches: int = 0
) -> Work:
    """A structure for any of the graphs ``begin`` to ``end``.

    It keeps so many searches at once; as many as there are roots by default.
    """
    offsets = graphs.offsets[begin : end + 1]
    n = int(np.diff(offsets).max(initial=1))
    entries = int(np.diff(graphs.indptr[offsets]).max(initial=1))
    pairs = n * (searches or n)
    room = pairs + 2 * n
    require_memory(
        pairs * (13 + 8 * (options.tree_depth + 1)),
        f"All searches of a graph with {n:,} vertices",
        "Ask for a feature of a smaller graph",
    )
    levels = options.tree_depth + 1
    depth = max(options.path_depth, options.tree_depth)
    return Work(
        vertex=np.empty(n, dtype=np.int64),
        label=np.empty(n, dtype=np.int32),
        hashes=np.empty(n, dtype=np.uint64),
        key=np.empty(n, dtype=np.int32),
        start=np.empty(n + 1, dtype=np.int64),
        adjacent=np.empty(entries, dtype=np.uint32),
        via=np.empty(entries if options.edges else 1, dtype=np.int32),
        stamp=np.zeros(1, dtype=np.int32),
        seen=np.zeros(2 * n, dtype=np.int32),
        place=np.zeros(n, dtype=np.int64),
        begins=np.empty(n, dtype=np.int64),
        ends=np.empty((n, depth + 1), dtype=np.int32),
        order=np.empty(room, dtype=np.uint32),
        parent=np.empty(room, dtype=np.int32),
        tie=np.empty(room + 1, dtype=np.int8),
        edge=np.empty(room if options.edges else 1, dtype=np.int32),
        spare=pairs,
        weights=position_weights(n),
        trees=np.empty((n, levels), dtype=np.uint64),
        ranks=np.empty((n, levels), dtype=np.int32),
        ranked=np.zeros(1, dtype=np.int8),
        hashed=np.empty((3, n * levels), dtype=np.uint64),
        chosen=np.empty(n * levels, dtype=np.int32),
        codes=np.empty((levels, pairs), dtype=np.uint64),
        stop=stop,
    )


@compiled
def renumber(graphs, classes, edges, g, work):
    """Number the vertices of graph ``g`` by (label, class) and rewrite its neighbour lists.

    Returns the number of its vertices.
    """
    indptr, indices, labels, edge_codes = (
        graphs.indptr,
        graphs.indices,
        graphs.labels,
        graphs.edge_labels,
    )
    vertex, key, start, adjacent, via = work.vertex, work.key, work.start, work.adjacent, work.via
    base = graphs.offsets[g]
    n = graphs.offsets[g + 1] - base
    rank = np.empty(n, dtype=np.int64)
    place = np.empty(n, dtype=np.int64)
    fill = np.empty(n, dtype=np.int64)
    for v in range(n):
        vertex[v] = v
        rank[v] = np.int64(labels[base + v]) * n + classes[base + v]
    sort_by(rank, vertex, np.int64(0), n)
    start[0] = 0
    for i in range(n):
        v = vertex[i]
        key[i] = 0 if i == 0 else key[i - 1] + (rank[i] != rank[i - 1])
        place[v] = i
        work.label[i] = labels[base + v]
        work.hashes[i] = graphs.label_hashes[labels[base + v]]
        fill[i] = start[i]
        start[i + 1] = start[i] + indptr[base + v + 1] - indptr[base + v]
    for i in range(n):
        v = base + vertex[i]
        for entry in range(indptr[v], indptr[v + 1]):
            w = place[indices[entry] - base]
            slot = fill[w]
            fill[w] += 1
            if edges:  # among neighbours of equal key the smaller edge label comes first
                code = edge_codes[entry]
                while (
                    slot > start[w] and key[adjacent[slot - 1]] == key[i] and via[slot - 1] > code
                ):
                    adjacent[slot] = adjacent[slot - 1]
                    via[slot] = via[slot - 1]
                    slot -= 1
                via[slot] = code
            adjacent[slot] = i
    work.ranked[0] = 0
    return n


@subroutine
def traverse(root, depth, edges, at, work):
    """Search from ``root`` to ``depth``; returns the number of vertices found.

    Writes ``order``, ``parent``, ``tie`` and ``edge`` from ``at`` on; positions count from there.
    """
    key, start, adjacent, via = work.key, work.start, work.adjacent, work.via
    seen, place, ends = work.seen, work.place, work.ends
    order, parent, tie, edge = work.order, work.parent, work.tie, work.edge
    half = len(place)
    stamp = work.stamp[0] + 1
    work.stamp[0] = stamp
    order[at] = root
    parent[at] = 0
    tie[at] = 0
    seen[root] = stamp
    ends[root, 0] = 1
    begin = 0
    tail = 1
    for j in range(1, depth + 1):
        end = tail
        head = begin
        while head < end:
            after = head + 1
            while after < end and tie[at + after]:
                after += 1
            if after == head + 1:
                u = order[at + head]
                last_key = -1
                last_edge = -1
                for entry in range(start[u], start[u + 1]):
                    v = adjacent[entry]
                    if seen[v] != stamp:
                        seen[v] = stamp
                        order[at + tail] = v
                        parent[at + tail] = head
                        if edges:
                            edge[at + tail] = via[entry]
                            tie[at + tail] = key[v] == last_key and via[entry] == last_edge
                            last_edge = via[entry]
                        else:
                            tie[at + tail] = key[v] == last_key
                        last_key = key[v]
                        tail += 1
            else:
                first = at + tail
                for position in range(head, after):
                    u = order[at + position]
                    for entry in range(start[u], start[u + 1]):
                        v = adjacent[entry]
                        if seen[v] != stamp:
                            seen[v] = stamp
                            seen[half + v] = stamp
                            place[v] = at + tail
                            order[at + tail] = v
                            parent[at + tail] = position
                            if edges:
                                edge[at + tail] = via[entry]
                            tail += 1
                        elif seen[half + v] == stamp and place[v] >= first:
                            if not edges or via[entry] == edge[place[v]]:
                                parent[place[v]] = -1 - head
                            elif via[entry] < edge[place[v]]:
                                edge[place[v]] = via[entry]
                                parent[place[v]] = position
                _sort_run(first, at + tail, key, edges, order, parent, edge)
                for p in range(first, at + tail):
                    tie[p] = (
                        p > first
                        and key[order[p]] == key[order[p - 1]]
                        and (not edges or edge[p] == edge[p - 1])
                    )
            head = after
        ends[root, j] = tail
        begin = end
    return tail


@inlined
def _sort_run(begin, end, key, edges, order, parent, edge):
    """Sort the positions from ``begin`` to ``end`` by (key, edge label), by insertion."""
    for i in range(begin + 1, end):
        v = order[i]
        up = parent[i]
        code = edge[i] if edges else 0
        j = i - 1
        while j >= begin and (
            key[order[j]] > key[v] or (edges and key[order[j]] == key[v] and edge[j] > code)
        ):
            order[j + 1] = order[j]
            parent[j + 1] = parent[j]
            if edges:
                edge[j + 1] = edge[j]
            j -= 1
        order[j + 1] = v
        parent[j + 1] = up
        if edges:
            edge[j + 1] = code


@entry_point
def bare_searches(graphs, depth, begin, end):
    """The floor: truncated breadth-first search from every vertex and nothing else.

    Returns the number of (root, vertex) pairs found in the graphs ``begin`` to ``end``.
    """
    offsets, indptr, indices = graphs.offsets, graphs.indptr, graphs.indices
    most = 0
    for g in range(begin, end):
        most = max(most, offsets[g + 1] - offsets[g])
    seen = np.zeros(most, dtype=np.int32)
    queue = np.empty(most, dtype=np.int32)
    pairs = 0
    stamp = 0
    for g in range(begin, end):
        base = offsets[g]
        for root in range(offsets[g + 1] - base):
            stamp += 1
            queue[0] = root
            seen[root] = stamp
            head = 0
            tail = 1
            for _ in range(depth):
                stop = tail
                while head < stop:
                    v = base + queue[head]
                    head += 1
                    for entry in range(indptr[v], indptr[v + 1]):
                        w = indices[entry] - base
                        if seen[w] != stamp:
                            seen[w] = stamp
                            queue[tail] = w
                            tail += 1
            pairs += tail
    return pairs
