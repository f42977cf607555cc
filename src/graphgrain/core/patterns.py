"""The patterns of Tree++: breadth-first trees, the paths along them, and their counts.

1. :func:`count_patterns` counts the patterns of many graphs. Ranges of small graphs are assigned
   to threads, large graphs are divided among threads root by root, and the results are joined.
2. A truncated breadth-first search from every vertex orders the vertices of its tree; ties are
   merged instead of broken by vertex numbers.
3. Patterns are read along the searches, for all levels in one pass, as 64-bit hashes.
4. :func:`trace_patterns` recomputes the patterns together with their vertices.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np

from .compiling import compiled, inlined, subroutine
from .components import sort_by
from .counting import (
    Counts,
    RootedFeatures,
    Slots,
    Tables,
    count_apart,
    count_graphs,
    count_into,
    joined,
    make_slots,
)
from .hashing import BASE, GOLDEN, mix, mix_array, position_weights
from .memory import require_memory
from .structures import Graphs
from .threads import call, entry_point, stop_flag

# --------------------------------------------------------------------
# Truncated breadth-first search in which ties are merged instead of broken by vertex numbers.
#
# 1. ``renumber`` sorts the vertices of a graph by (label, centrality class) and rewrites the
#    neighbour lists in that order, so that the search visits children in order without sorting.
#    ``rank`` is the sort key of each neighbour: the rank of its (label, class), followed by the
#    code of the edge if edge labels are used.
# 2. ``traverse`` runs the search from one root. The positions of one level are in rank order;
#    ``tie`` marks a position with the same rank as the previous one. A run of tied positions
#    is expanded as one parent: its children are merged and sorted by rank. ``parent`` is the
#    position of the parent, or -1 minus the first position of the run if several vertices of
#    the run are candidates.
#
# Every array in a structure adds compile time wherever it is passed, so there are three structures.

_ZERO, _ONE = np.uint64(0), np.uint64(1)
#: Base-2 logarithm of the number of tree comparisons that are cached.
MEMO_BITS = 12


class Options(NamedTuple):
    """Options that determine which patterns are counted."""

    path_depth: int
    tree_depth: int
    edges: bool  # whether edge labels are used


class Numbered(NamedTuple):
    """One graph renumbered by ``renumber``, and its trees."""

    vertex: np.ndarray  # original number of each vertex within the graph
    label: np.ndarray  # label code of each vertex
    hashes: np.ndarray  # label hash of each vertex
    start: np.ndarray  # neighbours of v: adjacent[start[v]:start[v + 1]], ascending
    adjacent: np.ndarray
    rank: np.ndarray  # per neighbour: rank of its (label, class), then its edge label code
    weights: np.ndarray  # factor of each position in the hash of a tree
    trees: np.ndarray  # per vertex and level: hash of its tree


class Searches(NamedTuple):
    """Stored searches, and scratch arrays for the current one."""

    stamp: np.ndarray  # number of the last search, one entry
    seen: np.ndarray  # number of the last search that visited the vertex
    place: np.ndarray  # position of a vertex in the current search
    scratch: np.ndarray
    fill: np.ndarray
    begins: np.ndarray  # per root: first entry of its search in the five arrays below
    ends: np.ndarray  # per root and j: number of vertices within distance j
    order: np.ndarray  # vertices in rank order
    parent: np.ndarray
    tie: np.ndarray
    alone: np.ndarray  # whether the shortest path from the root to the vertex is unique
    step: np.ndarray  # rank of the vertex as a neighbour of its parent
    edge_bits: int  # number of bits of a rank that are the edge label code
    spare: int  # if one search is stored: first entry of the space for two more; else -1


class Patterns(NamedTuple):
    """Hashes of patterns: per position and level of one search, and of all stored searches."""

    forward: np.ndarray
    backward: np.ndarray
    power: np.ndarray  # per position
    chosen: np.ndarray  # the parent chosen among several candidates
    codes: np.ndarray  # per level and pair: hash of the pattern
    times: np.ndarray  # per pair: number of patterns, 2 if the pair also represents its reverse
    memo: np.ndarray  # cached comparisons: hash of both trees; the last bit is the result


class Work(NamedTuple):
    """Everything needed to count the patterns of a graph."""

    graph: Numbered
    searches: Searches
    patterns: Patterns
    stop: np.ndarray  # one entry: whether to stop early


def _most(graphs: Graphs, begin: int, end: int) -> tuple[int, int]:
    """Return the maximum number of vertices and of adjacency entries of a graph."""
    offsets = graphs.offsets[begin : end + 1]
    entries = np.diff(graphs.indptr[offsets])
    return int(np.diff(offsets).max(initial=1)), int(entries.max(initial=1))


def make_work(
    graphs: Graphs, options: Options, stop: np.ndarray, begin: int, end: int, one: bool = False
) -> Work:
    """Allocate a structure for any of the graphs ``begin`` to ``end``.

    It stores the searches of all roots, or ``one`` at a time.
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

    Returns its number of vertices.
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
            # among neighbours with equal keys the smaller edge label comes first
            while slot > start[w] and rank[slot - _ONE] > code:
                adjacent[slot] = adjacent[slot - _ONE]
                rank[slot] = rank[slot - _ONE]
                slot -= _ONE
            adjacent[slot] = i
            rank[slot] = code
    return n


@subroutine
def traverse(root, depth, at, graph, searches):
    """Search from ``root`` to ``depth``; return the number of vertices found.

    Writes ``order``, ``parent``, ``tie``, ``alone`` and ``step`` from index ``at`` on; positions
    are relative to ``at``.
    """
    start, adjacent, rank = graph.start, graph.adjacent, graph.rank
    seen, place, ends = searches.seen, searches.place, searches.ends
    order, parent, tie, step = searches.order, searches.parent, searches.tie, searches.step
    alone = searches.alone
    stamp = searches.stamp[0] + 1
    searches.stamp[0] = stamp
    # Unsigned indices: Numba skips the check for negative indices.
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
                    elif place[v] >= end:  # also reached from another vertex of the level
                        before = place[v]
                        alone[before] = False
                        if before < first:
                            continue
                        if code == step[before]:  # in the same run
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
    """Sort the positions from ``begin`` to ``end`` by rank (insertion sort) and mark ties."""
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


# --------------------------------------------------------------------
# The lexicographic order of the trees of a graph.
#
# A tree is the sequence of its labels (with the labels of the edges between them, if used),
# compared label by label, with a prefix before its continuations. Candidate parents whose
# patterns differ are rare, so trees are only compared on demand.


@subroutine
def tree_comes_before(u, v, level, graph, searches):
    """Return whether the tree of u precedes that of v; both are searched again if not stored."""
    order, step, label = searches.order, searches.step, graph.label
    here, there = searches.begins[u], searches.begins[v]
    if searches.spare >= 0:
        here = searches.spare
        there = here + len(searches.place)
        traverse(u, level, here, graph, searches)
        traverse(v, level, there, graph, searches)
    edge = (1 << searches.edge_bits) - 1
    size, other = searches.ends[u, level], searches.ends[v, level]
    for p in range(size if size < other else other):
        a, b = step[here + p] & edge, step[there + p] & edge
        if a != b:
            return a < b
        x, y = label[order[here + p]], label[order[there + p]]
        if x != y:
            return x < y
    return size < other


# --------------------------------------------------------------------
# Path patterns and super paths of Tree++, counted for every level in one pass over a graph.
#
# 1. One traversal per root gives the hashes T_0, ..., T_k of its trees: a sum of label hashes,
#    each times the weight of its position, evaluated at the end of every level.
# 2. A second pass follows the stored traversals. The pattern of a vertex extends that of its
#    parent, so its two hashes, one per reading direction, cost O(1): polynomials that grow at
#    either end. The smaller of the two represents the pattern.
# 3. A hash table counts them, level by level, and is emptied after each level.


_SQUARE = np.uint64(int(BASE) ** 2 % 2**64)
_MEMO_SHIFT = np.uint64(64 - MEMO_BITS)

#: Capacity for features per level, unless a single graph needs more.
_ROOM = 1 << 18


@inlined
def level_salt(level):
    """Return a salt that separates the patterns of different levels."""
    return mix(GOLDEN * np.uint64(level + 1))


@compiled
def search_trees(edge_hashes, options, depth, first, last, graph, searches):
    """Traverse from the roots ``first`` to ``last``; store the traversals and the tree hashes."""
    ends, order, tie, step = searches.ends, searches.order, searches.tie, searches.step
    hashes, weights, trees = graph.hashes, graph.weights, graph.trees
    edge = (np.int64(1) << searches.edge_bits) - 1
    at = np.int64(0)  # typed, since a literal would be compiled separately
    for root in range(first, last):
        count = traverse(root, depth, at, graph, searches)
        total = hashes[root] * weights[0]
        trees[root, 0] = mix(total)
        p = 1
        for level in range(1, options.tree_depth + 1):
            while p < ends[root, level]:
                x = hashes[order[at + p]]
                if options.edges:
                    x = mix(x + edge_hashes[step[at + p] & edge])
                total += x * weights[p]
                p += 1
            trees[root, level] = mix(total)
        searches.begins[root] = at
        at += count
        tie[at] = 0


@subroutine
def _comes_before(at, x, y, level, levels, graph, searches, patterns):
    """Return whether the pattern at position x precedes that at y in lexicographic order.

    Both are in one run of ties, and so are their ancestors: labels of vertices and edges are equal,
    and only trees can differ. The first difference decides.
    """
    parent, chosen, forward = searches.parent, patterns.chosen, patterns.forward
    while True:
        above_x, above_y = np.int64(parent[at + x]), np.int64(parent[at + y])
        if above_x < 0:
            above_x = np.int64(chosen[x * levels + level])
        if above_y < 0:
            above_y = np.int64(chosen[y * levels + level])
        if forward[above_x * levels + level] == forward[above_y * levels + level]:
            break
        x, y = above_x, above_y
    u, v = np.int64(searches.order[at + x]), np.int64(searches.order[at + y])
    both = graph.trees[u, level] * GOLDEN ^ graph.trees[v, level]
    slot = both >> _MEMO_SHIFT
    if patterns.memo[slot] | _ONE != both | _ONE:
        first = tree_comes_before(u, v, level, graph, searches)
        patterns.memo[slot] = both | _ONE if first else both & ~_ONE
    return patterns.memo[slot] & _ONE != _ZERO


@subroutine
def _find_places(at, count, searches):
    """Set ``searches.place`` to the positions of the vertices reached from this root."""
    for p in range(count):
        searches.place[searches.order[at + p]] = p


@subroutine
def _choose_parents(at, p, run, count, lowest, levels, graph, searches, patterns):
    """Write the candidate parent of position p with the smallest pattern to ``patterns.chosen``.

    The candidates are neighbours in the run of ties that begins at ``run``.
    """
    adjacent, rank, place = graph.adjacent, graph.rank, searches.place
    order, forward = searches.order, patterns.forward
    edge = (np.int64(1) << searches.edge_bits) - 1
    own = searches.step[at + p] & edge
    stop = run + 1
    while searches.tie[at + stop]:
        stop += 1
    v = order[at + p]
    for level in range(lowest, levels):
        best = np.int64(-1)
        for entry in range(graph.start[v], graph.start[v + 1]):
            here = np.int64(place[adjacent[entry]])
            if here < run or here >= stop or order[at + here] != adjacent[entry]:
                continue
            if rank[entry] & edge != own:
                continue
            if best < 0:
                best = here
            elif forward[here * levels + level] != forward[best * levels + level]:
                if _comes_before(at, here, best, level, levels, graph, searches, patterns):
                    best = here
                if searches.spare >= 0:  # the trees were searched again
                    _find_places(at, count, searches)
        patterns.chosen[p * levels + level] = best


@compiled
def walk(edge_hashes, options, lowest, first, last, halve, graph, searches, patterns):
    """Compute the pattern hashes of the roots ``first`` to ``last``: ``codes[level, i]`` of pair i.

    Levels begin with ``lowest``. If the shortest path between two vertices is unique, the searches
    from both ends find the same pattern. With ``halve`` only the smaller end is counted, with
    ``times`` 2. Returns the number of pairs.
    """
    order, parent, step = searches.order, searches.parent, searches.step
    trees, chosen, codes = graph.trees, patterns.chosen, patterns.codes
    forward, backward, power = patterns.forward, patterns.backward, patterns.power
    alone, times = searches.alone, patterns.times
    edge = (np.int64(1) << searches.edge_bits) - 1
    levels = np.int64(options.tree_depth + 1)
    # Unsigned indices: Numba skips the check for negative indices.
    begin, end, total = np.uint64(lowest), np.uint64(levels), np.uint64(0)
    power[0] = _ONE
    for root in range(first, last):
        at = searches.begins[root]
        count = np.int64(searches.ends[root, options.path_depth])
        for level in range(begin, end):
            label = trees[root, level]
            forward[level] = label
            backward[level] = label
            codes[level, total] = label
        times[total] = 1
        total += _ONE
        placed = False
        for p in range(1, count):
            here = np.uint64(at + p)
            up = np.int64(parent[here])
            v = order[here]
            near = np.uint64(p) * end
            edge_code = edge_hashes[step[here] & edge] * BASE if options.edges else _ZERO
            several = up < 0
            if several:
                up = -1 - up  # first of the run, at the same depth as the candidates
                if not placed:
                    placed = True
                    _find_places(at, count, searches)
                _choose_parents(at, p, up, count, lowest, levels, graph, searches, patterns)
            above = np.uint64(up)
            edge_term = edge_code * power[above]
            scale = power[above] * _SQUARE
            power[np.uint64(p)] = scale
            for level in range(begin, end):
                place = near + np.uint64(level)
                far = (np.uint64(chosen[place]) if several else above) * end + np.uint64(level)
                label = trees[v, level]
                ahead = forward[far] * _SQUARE + label + edge_code
                behind = backward[far] + label * scale + edge_term
                forward[place] = ahead
                backward[place] = behind
                codes[level, total] = ahead if ahead < behind else behind
            once = halve and alone[here]
            times[total] = 1 + once
            total += np.uint64(not once or v > root)  # branchless: a branch would be unpredictable
    return np.int64(total)


class Found(NamedTuple):
    """Features, graph after graph; ``totals[level]`` is the number of filled columns."""

    lengths: np.ndarray  # per level and graph: number of distinct features
    totals: np.ndarray
    hashes: np.ndarray
    counts: np.ndarray


@entry_point
def _count_patterns(graphs, classes, options, work, slots, begin, end, found):
    """Count the patterns of the graphs from ``begin`` on; return the first that did not fit."""
    levels = options.tree_depth + 1
    depth = options.path_depth if options.path_depth > levels - 1 else levels - 1
    graph, searches, patterns, totals = work.graph, work.searches, work.patterns, found.totals
    zero = np.int64(0)
    for g in range(begin, end):
        if work.stop[0]:
            break
        n = renumber(graphs, classes, options.edges, g, graph, searches)
        search_trees(graphs.edge_hashes, options, depth, zero, n, graph, searches)
        pairs = walk(graphs.edge_hashes, options, zero, zero, n, True, graph, searches, patterns)
        for level in range(levels):
            if totals[level] + pairs > found.hashes.shape[1]:
                return g
        for level in range(levels):
            count = count_apart(
                patterns.codes[level],
                patterns.times,
                pairs,
                level_salt(level),
                slots,
                found.hashes[level],
                found.counts[level],
                totals[level],
            )
            found.lengths[level, g - begin] = count
            totals[level] += count
    return end


@entry_point
def trace_patterns(graphs, classes, options, work, g):
    """Return all patterns of graph ``g`` at the level ``options.tree_depth``, with their vertices.

    Returns ``(hashes, paths, edge_paths, trees, edge_trees, tree_hashes)``. Row i of ``paths``
    contains the vertices (numbered within the graph, padded with -1) of the path with hash
    ``hashes[i]``, row i of ``edge_paths`` the codes of the edges that lead to them. Row v of
    ``trees`` and ``edge_trees`` contains the same for the tree at vertex v, in rank order.
    """
    path_depth, level, edges = options.path_depth, options.tree_depth, options.edges
    depth = max(path_depth, level)
    graph, searches, patterns = work.graph, work.searches, work.patterns
    mask = (np.int64(1) << searches.edge_bits) - 1
    zero = np.int64(0)
    n = renumber(graphs, classes, edges, g, graph, searches)
    search_trees(graphs.edge_hashes, options, depth, zero, n, graph, searches)
    width = 0
    total = 0
    for root in range(n):
        width = max(width, searches.ends[root, level])
        total += searches.ends[root, path_depth]
    tree_vertices = np.full((n, width), -1, dtype=np.int32)
    tree_edges = np.full((n, width), -1, dtype=np.int32)
    tree_hashes = np.empty(n, dtype=np.uint64)
    hashes = np.empty(total, dtype=np.uint64)
    paths = np.full((total, path_depth + 1), -1, dtype=np.int32)
    path_edges = np.full((total, path_depth + 1), -1, dtype=np.int32)
    salt = level_salt(level)
    row = 0
    for root in range(n):
        walk(graphs.edge_hashes, options, level, root, root + 1, False, graph, searches, patterns)
        at = searches.begins[root]
        old = graph.vertex[root]
        tree_hashes[old] = graph.trees[root, level]
        for p in range(searches.ends[root, level]):
            tree_vertices[old, p] = graph.vertex[searches.order[at + p]]
            if edges and p:
                tree_edges[old, p] = searches.step[at + p] & mask
        for p in range(searches.ends[root, path_depth]):
            hashes[row + p] = mix(patterns.codes[level, p] + salt)
            length = 0
            if p:
                up = np.int64(searches.parent[at + p])
                if up < 0:
                    up = np.int64(patterns.chosen[p * (level + 1) + level])
                up += row
                while length <= path_depth and paths[up, length] >= 0:
                    paths[row + p, length] = paths[up, length]
                    path_edges[row + p, length] = path_edges[up, length]
                    length += 1
                if edges:
                    path_edges[row + p, length] = searches.step[at + p] & mask
            paths[row + p, length] = graph.vertex[searches.order[at + p]]
        row += searches.ends[root, path_depth]
    return hashes, paths, path_edges, tree_vertices, tree_edges, tree_hashes


# --------------------------------------------------------------------
# The Tree++ patterns of one large graph, root by root.
#
# 1. The graph is renumbered once and shared by all threads.
# 2. Trees: a search to ``tree_depth`` from every root.
# 3. Patterns: a search to ``path_depth`` from every root, given the hashes of all trees.


@entry_point
def _tree_hashes(edge_hashes, options, roots, work, stop):
    """Compute the tree hashes of some roots; one search is stored at a time."""
    for root in roots:
        if stop[0]:
            return
        search_trees(
            edge_hashes, options, options.tree_depth, root, root + 1, work.graph, work.searches
        )


@entry_point
def _count_roots(edge_hashes, options, roots, work, tables, stop):
    """Count the patterns of some roots, given the hashes of all trees; return the tables."""
    graph, searches, patterns = work.graph, work.searches, work.patterns
    depth = max(options.path_depth, options.tree_depth)
    zero = np.int64(0)
    for root in roots:
        if stop[0]:
            return tables
        search_trees(edge_hashes, options, depth, root, root + 1, graph, searches)
        pairs = walk(edge_hashes, options, zero, root, root + 1, False, graph, searches, patterns)
        for level in range(options.tree_depth + 1):
            tables = count_into(tables, level, patterns.codes[level], pairs)
    return tables


class PatternRoots(RootedFeatures):
    """Patterns of graph ``g``, counted root by root."""

    instead = (
        "Use a smaller path_depth or tree_depth, or a kernel with fewer features such as "
        "WeisfeilerLehman"
    )

    def __init__(self, graphs: Graphs, classes: np.ndarray, options: Options, g: int) -> None:
        self.graphs, self.options, self.g = graphs, options, g
        work = self._work()
        size = call(renumber, graphs, classes, options.edges, g, work.graph, work.searches)
        super().__init__(size, options.tree_depth + 1)
        self.graph = work.graph

    def _work(self) -> Work:
        return make_work(self.graphs, self.options, stop_flag(), self.g, self.g + 1, one=True)

    def scratch(self) -> Work:
        """Allocate arrays for one thread; the renumbered graph and the trees are shared."""
        return self._work()._replace(graph=self.graph)

    def prepare(self, roots: np.ndarray, scratch: Work) -> None:
        _tree_hashes(self.graphs.edge_hashes, self.options, roots, scratch)

    def add(self, roots: np.ndarray, scratch: Work, tables: Tables) -> Tables:
        return _count_roots(self.graphs.edge_hashes, self.options, roots, scratch, tables)

    def read(self, tables: Tables, level: int) -> tuple[np.ndarray, np.ndarray]:
        hashes, counts = super().read(tables, level)
        salt = mix_array(np.array([level + 1], dtype=np.uint64) * GOLDEN)  # level_salt(level)
        return mix_array(hashes + salt), counts


# --------------------------------------------------------------------
# All graphs.
#
# All searches of a small graph are stored at once. Scratch arrays and space for features are
# reused from range to range, because allocating memory costs as much as counting.


def count_patterns(
    graphs: Graphs, classes: np.ndarray, options: Options, n_jobs: int | None = None
) -> list[Counts]:
    """Count the patterns of graphs at the levels 0 to ``tree_depth``.

    ``classes`` are the centrality classes of the vertices.
    """
    free: list[tuple[Work, Slots, Found]] = []  # arrays of finished ranges, for reuse

    def scratch(begin: int, end: int) -> tuple[Work, Slots, Found]:
        """Return arrays for one thread that are large enough for a range of graphs."""
        with suppress(IndexError):  # all are in use
            work, slots, found = free.pop()
            n, entries = _most(graphs, begin, end)
            if n <= len(work.graph.vertex) and entries <= len(work.graph.adjacent):
                return work._replace(stop=stop_flag()), slots, found
        work = make_work(graphs, options, stop_flag(), begin, end)
        return work, make_slots(work.patterns.codes.shape[1]), empty(work, begin)

    def empty(work: Work, begin: int) -> Found:
        """Allocate space for the features of the graphs from ``begin`` on, up to a limit."""
        levels, largest = work.patterns.codes.shape
        pairs = int((np.diff(graphs.offsets[begin:]) ** 2).sum())
        room = max(largest, min(pairs, _ROOM))
        return Found(
            np.zeros((levels, 0), dtype=np.int64),
            np.zeros(levels, dtype=np.int64),
            np.empty((levels, room), dtype=np.uint64),
            np.empty((levels, room), dtype=np.int32),
        )

    def count(begin: int, end: int) -> list[Counts]:
        work, slots, found = scratch(begin, end)
        parts: list[list[Counts]] = []
        while begin < end or not parts:
            lengths = np.zeros((len(found.totals), end - begin), dtype=np.int64)
            found = found._replace(lengths=lengths)
            before = found.totals.copy()
            done = _count_patterns(graphs, classes, options, work, slots, begin, end, found)
            parts.append(
                [
                    Counts(lengths[level, : done - begin], hashes[first:last], counts[first:last])
                    for level, (first, last, hashes, counts) in enumerate(
                        zip(before, found.totals, found.hashes, found.counts, strict=True)
                    )
                ]
            )
            begin = done
            if done < end:
                found = empty(work, begin)
        free.append((work, slots, found))
        return joined(parts)

    roots = partial(PatternRoots, graphs, classes, options)
    return count_graphs(count, np.diff(graphs.offsets), n_jobs, roots)
