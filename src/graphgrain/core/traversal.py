"""Truncated breadth-first search in which ties are merged instead of broken by vertex numbers.

1. ``renumber`` sorts the vertices of a graph by (label, centrality class) and rewrites the
   neighbour lists in that order, so that the search meets children in order without sorting.
   ``rank`` says of each neighbour where it belongs: the rank of its (label, class), and behind
   it, if edge labels take part, the code of the edge.
2. ``traverse`` runs the search from one root. The positions of one level stand in rank order;
   ``tie`` marks a position that shares its rank with the one before. A run of tied positions
   is expanded as one parent: its children are merged and sorted by rank. ``parent`` holds the
   position of the parent, or -1 minus the first position of the run if several vertices of
   the run are candidates.

A structure that is passed on costs compile time for every array in it, so they are three.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled, subroutine
from .components import sort_by
from .hashing import position_weights
from .memory import require_memory
from .structures import Graphs
from .threads import entry_point

_ONE = np.uint64(1)
#: Comparisons of trees that are remembered, as a power of two.
MEMO_BITS = 12


class Options(NamedTuple):
    """What patterns are counted."""

    path_depth: int
    tree_depth: int
    edges: bool  # whether edge labels take part


class Numbered(NamedTuple):
    """One graph as ``renumber`` leaves it, and its trees."""

    vertex: np.ndarray  # old local number of each vertex
    label: np.ndarray  # its label code
    hashes: np.ndarray  # hash of its label
    start: np.ndarray  # neighbours of v: adjacent[start[v]:start[v + 1]], ascending
    adjacent: np.ndarray
    rank: np.ndarray  # of each neighbour: rank of its (label, class), then its edge label code
    weights: np.ndarray  # factor of each position in the hash of a tree
    trees: np.ndarray  # per vertex and level: hash of its tree


class Searches(NamedTuple):
    """Searches that are kept, and scratch arrays for the current one."""

    stamp: np.ndarray  # number of the last search, one entry
    seen: np.ndarray  # stamp of the last search that met the vertex
    place: np.ndarray  # position of a vertex in the current search
    scratch: np.ndarray
    fill: np.ndarray
    begins: np.ndarray  # per root: where its search begins in the four arrays below
    ends: np.ndarray  # per root and j: number of vertices within distance j
    order: np.ndarray  # vertices in rank order
    parent: np.ndarray
    tie: np.ndarray
    alone: np.ndarray  # whether only one shortest path leads from the root to the vertex
    step: np.ndarray  # rank of the vertex as a neighbour of its parent
    edge_bits: int  # so many bits of a rank are the edge label code
    spare: int  # if one search is kept: from here on there is room for two more; else -1


class Patterns(NamedTuple):
    """Hashes of patterns: of one search per position and level, and of all that are kept."""

    forward: np.ndarray
    backward: np.ndarray
    power: np.ndarray  # per position
    chosen: np.ndarray  # the parent chosen among several
    codes: np.ndarray  # per level and pair: hash of the pattern
    times: np.ndarray  # per pair: for how many it stands, itself and perhaps its reverse
    memo: np.ndarray  # trees compared before: hash of both, the last bit says which comes first


class Work(NamedTuple):
    """All that is needed to count the patterns of a graph."""

    graph: Numbered
    searches: Searches
    patterns: Patterns
    stop: np.ndarray  # one entry: whether the work is no longer wanted


def _most(graphs: Graphs, begin: int, end: int) -> tuple[int, int]:
    """The most vertices, and the most neighbours of all vertices together, of a graph."""
    offsets = graphs.offsets[begin : end + 1]
    entries = np.diff(graphs.indptr[offsets])
    return int(np.diff(offsets).max(initial=1)), int(entries.max(initial=1))


def has_room(work: Work, graphs: Graphs, begin: int, end: int) -> bool:
    """Whether the structure will do for the graphs ``begin`` to ``end``."""
    n, entries = _most(graphs, begin, end)
    return n <= len(work.graph.vertex) and entries <= len(work.graph.adjacent)


def make_work(
    graphs: Graphs, options: Options, stop: np.ndarray, begin: int, end: int, one: bool = False
) -> Work:
    """A structure for any of the graphs ``begin`` to ``end``.

    It keeps the searches of all roots, or ``one`` at a time.
    """
    n, entries = _most(graphs, begin, end)
    levels = options.tree_depth + 1
    depth = max(options.path_depth, options.tree_depth)
    pairs = n if one else n * n
    room = 3 * n if one else pairs
    require_memory(
        pairs * (19 + 8 * levels),
        f"All searches of a graph with {n:,} vertices",
        "Ask for a feature of a smaller graph",
    )
    return Work(
        Numbered(
            vertex=np.empty(n, dtype=np.int64),
            label=np.empty(n, dtype=np.int32),
            hashes=np.empty(n, dtype=np.uint64),
            start=np.empty(n + 1, dtype=np.uint64),
            adjacent=np.empty(entries, dtype=np.uint32),
            rank=np.empty(entries, dtype=np.int64),
            weights=position_weights(n),
            trees=np.empty((n, levels), dtype=np.uint64),
        ),
        Searches(
            stamp=np.zeros(1, dtype=np.int32),
            seen=np.zeros(n, dtype=np.int32),
            place=np.zeros(n, dtype=np.uint64),
            scratch=np.empty(n, dtype=np.int64),
            fill=np.empty(n, dtype=np.uint64),
            begins=np.empty(n, dtype=np.int64),
            ends=np.empty((n, depth + 1), dtype=np.int32),
            order=np.empty(room, dtype=np.uint32),
            parent=np.empty(room, dtype=np.int32),
            tie=np.empty(room + 1, dtype=np.int8),
            alone=np.empty(room, dtype=np.bool_),
            step=np.empty(room, dtype=np.int64),
            edge_bits=len(graphs.edge_hashes).bit_length() if options.edges else 0,
            spare=n if one else -1,
        ),
        Patterns(
            forward=np.empty(n * levels, dtype=np.uint64),
            backward=np.empty(n * levels, dtype=np.uint64),
            power=np.empty(n, dtype=np.uint64),
            chosen=np.empty(n * levels, dtype=np.int32),
            codes=np.empty((levels, pairs), dtype=np.uint64),
            times=np.empty(pairs, dtype=np.int8),
            memo=np.zeros(1 << MEMO_BITS, dtype=np.uint64),
        ),
        stop,
    )


@compiled
def renumber(graphs, classes, edges, g, graph, searches):
    """Number the vertices of graph ``g`` by (label, class) and rewrite its neighbour lists.

    Returns the number of its vertices.
    """
    indptr, labels = graphs.indptr, graphs.labels
    vertex, start, adjacent, rank = graph.vertex, graph.start, graph.adjacent, graph.rank
    keys, place, fill = searches.scratch, searches.place, searches.fill
    base = graphs.offsets[g]
    n = graphs.offsets[g + 1] - base
    for v in range(n):
        vertex[v] = v
        keys[v] = np.int64(labels[base + v]) * n + classes[base + v]
    sort_by(keys, vertex, np.int64(0), n)
    start[0] = 0
    for i in range(n):
        v = base + vertex[i]
        place[vertex[i]] = i
        graph.label[i] = labels[v]
        graph.hashes[i] = graphs.label_hashes[labels[v]]
        fill[i] = start[i]
        start[i + 1] = start[i] + np.uint64(indptr[v + 1] - indptr[v])
    key = np.int64(0)
    for i in range(n):
        v = base + vertex[i]
        if i and keys[i] != keys[i - 1]:
            key += 1
        for entry in range(indptr[v], indptr[v + 1]):
            w = place[graphs.indices[entry] - base]
            slot = fill[w]
            fill[w] = slot + _ONE
            code = key << searches.edge_bits
            if edges:
                code += graphs.edge_labels[entry]
            # among neighbours of equal key the smaller edge label comes first
            while slot > start[w] and rank[slot - _ONE] > code:
                adjacent[slot] = adjacent[slot - _ONE]
                rank[slot] = rank[slot - _ONE]
                slot -= _ONE
            adjacent[slot] = i
            rank[slot] = code
    return n


@subroutine
def traverse(root, depth, at, graph, searches):
    """Search from ``root`` to ``depth``; returns the number of vertices found.

    Writes ``order``, ``parent``, ``tie``, ``alone`` and ``step`` from ``at`` on; positions count
    from there.
    """
    start, adjacent, rank = graph.start, graph.adjacent, graph.rank
    seen, place, ends = searches.seen, searches.place, searches.ends
    order, parent, tie, step = searches.order, searches.parent, searches.tie, searches.step
    alone = searches.alone
    stamp = searches.stamp[0] + 1
    searches.stamp[0] = stamp
    # Unsigned places: Numba skips the check for indices that count from the end.
    base = np.uint64(at)
    order[base] = root
    parent[base] = 0
    tie[base] = 0
    alone[base] = True
    step[base] = 0
    seen[root] = stamp
    place[root] = base
    ends[root, 0] = 1
    head = base
    tail = base + _ONE
    for j in range(1, depth + 1):
        end = tail
        while head < end:
            begin = head
            first = tail
            last = np.int64(-1)
            while head == begin or (head < end and tie[head] != 0):
                u = order[head]
                for entry in range(start[u], start[u + 1]):
                    v = adjacent[entry]
                    code = rank[entry]
                    if seen[v] != stamp:
                        seen[v] = stamp
                        place[v] = tail
                        order[tail] = v
                        parent[tail] = head - base
                        alone[tail] = alone[head]
                        step[tail] = code
                        tie[tail] = code == last
                        last = code
                        tail += _ONE
                    elif place[v] >= end:  # met from another vertex of the level
                        before = place[v]
                        alone[before] = False
                        if before < first:
                            continue
                        if code == step[before]:  # and of the run
                            parent[before] = -1 - np.int64(begin - base)
                        elif code < step[before]:
                            step[before] = code
                            parent[before] = head - base
                head += _ONE
            if head > begin + _ONE:
                _sort_run(first, tail, place, order, parent, tie, alone, step)
        ends[root, j] = tail - base
    return np.int64(tail - base)


@subroutine
def _sort_run(begin, end, place, order, parent, tie, alone, step):
    """Sort the positions from ``begin`` to ``end`` by rank, by insertion, and mark ties."""
    for i in range(begin + _ONE, end):
        v, up, single, code = order[i], parent[i], alone[i], step[i]
        j = np.uint64(i)
        while j > begin and step[j - _ONE] > code:
            order[j] = order[j - _ONE]
            parent[j] = parent[j - _ONE]
            alone[j] = alone[j - _ONE]
            step[j] = step[j - _ONE]
            j -= _ONE
        order[j] = v
        parent[j] = up
        alone[j] = single
        step[j] = code
    for i in range(begin, end):
        tie[i] = i > begin and step[i] == step[i - _ONE]
        place[order[i]] = i


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
