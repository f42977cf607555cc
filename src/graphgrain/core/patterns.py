"""Path patterns and super paths of Tree++, counted for every level in one pass over a graph.

1. One traversal per root gives the labels T_0, ..., T_k of its trees: a sum of label hashes,
   each times the weight of its position, read off at the end of every level.
2. A second pass walks the stored traversals. The pattern of a vertex extends that of its
   parent, so its two hashes, one per reading direction, cost O(1): polynomials that grow at
   either end. The smaller of both stands for the pattern.
3. A hash table counts them, level by level, and is read out after each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled, inlined, subroutine
from .hashing import BASE, GOLDEN, mix
from .structures import Graphs
from .tables import Slots, count_apart, make_slots
from .threads import entry_point, stop_flag
from .traversal import MEMO_BITS, Options, Work, has_room, make_work, renumber, traverse
from .tree_order import tree_comes_before

_SQUARE = np.uint64(int(BASE) ** 2 % 2**64)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_MEMO_SHIFT = np.uint64(64 - MEMO_BITS)

#: Features of each level that have room in one array, if no graph has more.
_ROOM = 1 << 18


@inlined
def level_salt(level):
    """What keeps the patterns of different levels apart."""
    return mix(GOLDEN * np.uint64(level + 1))


@compiled
def search_trees(edge_hashes, options, depth, first, last, graph, searches):
    """Traverse from the roots ``first`` to ``last``; keep the traversals and the tree hashes."""
    ends, order, tie, step = searches.ends, searches.order, searches.tie, searches.step
    hashes, weights, trees = graph.hashes, graph.weights, graph.trees
    edge = (np.int64(1) << searches.edge_bits) - 1
    at = np.int64(0)  # typed: a literal would be compiled apart
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
    """Whether the pattern at position x comes before that at y, in lexicographic order.

    Both belong to one run of ties, and so do their ancestors: labels of vertices and edges are
    equal, only trees can differ. The first that does decides.
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
    """Let ``searches.place`` map the vertices that this root reached to their positions."""
    for p in range(count):
        searches.place[searches.order[at + p]] = p


@subroutine
def _choose_parents(at, p, run, count, lowest, levels, graph, searches, patterns):
    """Write to ``patterns.chosen`` the candidate parent of position p with the smallest pattern.

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
    """Pattern hashes of the roots ``first`` to ``last``: ``codes[level, i]`` for the i-th pair.

    Levels begin with ``lowest``. Where only one shortest path joins two vertices, the search from
    either end finds the same pattern: with ``halve`` the smaller end speaks for both, and
    ``times`` says so. Returns the number of pairs.
    """
    order, parent, step = searches.order, searches.parent, searches.step
    trees, chosen, codes = graph.trees, patterns.chosen, patterns.codes
    forward, backward, power = patterns.forward, patterns.backward, patterns.power
    alone, times = searches.alone, patterns.times
    edge = (np.int64(1) << searches.edge_bits) - 1
    levels = np.int64(options.tree_depth + 1)
    # Unsigned places: Numba skips the check for indices that count from the end.
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
                up = -1 - up  # the first of the run: at the same depth as the candidates
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
            total += np.uint64(not once or v > root)  # no branch: it could not be predicted
    return np.int64(total)


class Found(NamedTuple):
    """Features graph after graph; ``totals[level]`` of the columns are filled."""

    lengths: np.ndarray  # per level and graph: number of distinct features
    totals: np.ndarray
    hashes: np.ndarray
    counts: np.ndarray


@entry_point
def _count_patterns(graphs, classes, options, work, slots, begin, end, found):
    """Count the patterns of the graphs from ``begin`` on; returns where it ran out of room."""
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


class PatternCounter:
    """Counts the patterns of ranges of graphs at the levels 0 to ``tree_depth``.

    ``classes`` are the centrality classes of vertices. All searches of a graph are kept at once.
    Threads may count at the same time; scratch arrays, and room for features, go from range to
    range, because fresh memory costs as much as counting.
    """

    def __init__(self, graphs: Graphs, classes: np.ndarray, options: Options) -> None:
        self.graphs, self.classes, self.options = graphs, classes, options
        self.free: list[tuple[Work, Slots, Found]] = []

    def _scratch(self, begin: int, end: int) -> tuple[Work, Slots, Found]:
        """Arrays that no other thread uses and that will do for the graphs of a range."""
        try:
            work, slots, found = self.free.pop()
        except IndexError:  # all are in use
            pass
        else:
            if has_room(work, self.graphs, begin, end):
                return work._replace(stop=stop_flag()), slots, found
        work = make_work(self.graphs, self.options, stop_flag(), begin, end)
        return work, make_slots(work.patterns.codes.shape[1]), self._room(work, begin)

    def _room(self, work: Work, begin: int) -> Found:
        """Empty arrays for the features of the graphs from ``begin`` on, or of as many as fit."""
        levels, largest = work.patterns.codes.shape
        pairs = int((np.diff(self.graphs.offsets[begin:]) ** 2).sum())
        room = max(largest, min(pairs, _ROOM))
        return Found(
            np.zeros((levels, 0), dtype=np.int64),
            np.zeros(levels, dtype=np.int64),
            np.empty((levels, room), dtype=np.uint64),
            np.empty((levels, room), dtype=np.int32),
        )

    def count(self, begin: int, end: int) -> list[list[tuple[np.ndarray, np.ndarray, np.ndarray]]]:
        """Count the patterns of the graphs ``begin`` to ``end``.

        Returns parts of the range in order; a part has ``(lengths, hashes, counts)`` for each
        level: the distinct patterns graph after graph, ``lengths[g]`` of them for its g-th graph.
        """
        work, slots, found = self._scratch(begin, end)
        parts: list[list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = []
        while begin < end or not parts:
            lengths = np.zeros((len(found.totals), end - begin), dtype=np.int64)
            found = found._replace(lengths=lengths)
            before = found.totals.copy()
            done = _count_patterns(
                self.graphs, self.classes, self.options, work, slots, begin, end, found
            )
            parts.append(
                [
                    (lengths[level, : done - begin], hashes[first:last], counts[first:last])
                    for level, (first, last, hashes, counts) in enumerate(
                        zip(before, found.totals, found.hashes, found.counts, strict=True)
                    )
                ]
            )
            begin = done
            if done < end:
                found = self._room(work, begin)
        self.free.append((work, slots, found))
        return parts


@entry_point
def trace_patterns(graphs, classes, options, work, g):
    """All patterns of graph ``g`` at the level ``options.tree_depth``, with their vertices.

    Returns ``(hashes, paths, edge_paths, trees, edge_trees)``. Row i of ``paths`` are the
    vertices (local numbers, -1 after the end) of the path behind ``hashes[i]``, row i of
    ``edge_paths`` the codes of the edges that lead to them; row v of ``trees`` and
    ``edge_trees`` say the same of the tree at vertex v, in rank order.
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
    hashes = np.empty(total, dtype=np.uint64)
    paths = np.full((total, path_depth + 1), -1, dtype=np.int32)
    path_edges = np.full((total, path_depth + 1), -1, dtype=np.int32)
    salt = level_salt(level)
    row = 0
    for root in range(n):
        walk(graphs.edge_hashes, options, level, root, root + 1, False, graph, searches, patterns)
        at = searches.begins[root]
        old = graph.vertex[root]
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
    return hashes, paths, path_edges, tree_vertices, tree_edges
