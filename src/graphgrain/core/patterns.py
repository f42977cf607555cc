"""Path patterns and super paths of Tree++, counted for every level in one pass over a graph.

1. One traversal per root gives the labels T_0, ..., T_k of its trees: a sum of label hashes,
   each times the weight of its position, read off at the end of every level.
2. A second pass walks the stored traversals. The pattern of a vertex extends that of its
   parent, so its two hashes, one per reading direction, cost O(1): polynomials that grow at
   either end. The smaller of both stands for the pattern.
3. A small hash table per level counts them and is read out after each graph.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled, inlined, subroutine
from .hashing import BASE, GOLDEN, mix
from .tables import count_into, make_tables, read_out, with_room
from .threads import entry_point
from .traversal import renumber, traverse
from .tree_order import rank_trees

_SQUARE = np.uint64(int(BASE) ** 2 % 2**64)
_ZERO, _ONE = np.uint64(0), np.uint64(1)

_FIRST_ROOM = 1 << 10


@inlined
def level_salt(level):
    """What keeps the patterns of different levels apart."""
    return mix(GOLDEN * np.uint64(level + 1))


@compiled
def search_trees(edge_hashes, options, depth, first, last, work):
    """Traverse from the roots ``first`` to ``last``; keep the traversals and the tree hashes."""
    begins, ends, order, tie, edge = work.begins, work.ends, work.order, work.tie, work.edge
    hashes, weights, trees, edges = work.hashes, work.weights, work.trees, options.edges
    at = np.int64(0)  # typed: a literal would be compiled apart
    for root in range(first, last):
        count = traverse(root, depth, edges, at, work)
        total = hashes[root] * weights[0]
        trees[root, 0] = mix(total)
        for level in range(1, options.tree_depth + 1):
            for p in range(ends[root, level - 1], ends[root, level]):
                x = hashes[order[at + p]]
                if edges:
                    x = mix(x + edge_hashes[edge[at + p]])
                total += x * weights[p]
            trees[root, level] = mix(total)
        begins[root] = at
        at += count
        tie[at] = 0


@subroutine
def _comes_before(at, x, y, level, levels, work):
    """Whether the pattern at position x comes before that at y, in lexicographic order.

    Both belong to one run of ties, and so do their ancestors: labels of vertices and edges are
    equal, only trees can differ. The first that does decides.
    """
    parent, order, chosen, forward = work.parent, work.order, work.chosen, work.hashed[0]
    while True:
        above_x = parent[at + x] if parent[at + x] >= 0 else chosen[x * levels + level]
        above_y = parent[at + y] if parent[at + y] >= 0 else chosen[y * levels + level]
        if forward[above_x * levels + level] == forward[above_y * levels + level]:
            break
        x, y = above_x, above_y
    return work.ranks[order[at + x], level] < work.ranks[order[at + y], level]


@subroutine
def _choose_parents(at, p, run, count, n, options, lowest, work):
    """Write to ``work.chosen`` the candidate parent of position p with the smallest pattern.

    The candidates are neighbours in the run of ties that begins at ``run``. ``work.place`` maps
    the vertices that this root reached to their positions.
    """
    start, adjacent, via, place = work.start, work.adjacent, work.via, work.place
    order, tie, edge, forward = work.order, work.tie, work.edge, work.hashed[0]
    levels = options.tree_depth + 1
    stop = run + 1
    while tie[at + stop]:
        stop += 1
    v = order[at + p]
    for level in range(lowest, levels):
        best = -1
        for entry in range(start[v], start[v + 1]):
            position = place[adjacent[entry]]
            if not (
                run <= position < stop
                and order[at + position] == adjacent[entry]
                and (not options.edges or via[entry] == edge[at + p])
            ):
                continue
            if best < 0:
                best = position
            elif forward[position * levels + level] != forward[best * levels + level]:
                if not work.ranked[0]:
                    rank_trees(options, n, work)
                    for q in range(count):  # the searches have used the places
                        place[order[at + q]] = q
                if _comes_before(at, position, best, level, levels, work):
                    best = position
        work.chosen[p * levels + level] = best


@compiled
def walk(edge_hashes, options, lowest, n, first, last, work):
    """Pattern hashes of the roots ``first`` to ``last``: ``codes[level, i]`` for the i-th pair.

    Levels begin with ``lowest``. Returns the number of pairs; n is the number of all vertices.
    """
    begins, ends, order, parent, edge = work.begins, work.ends, work.order, work.parent, work.edge
    trees, chosen, codes = work.trees, work.chosen, work.codes
    path_depth, edges = options.path_depth, options.edges
    levels = trees.shape[1]
    forward, backward, power = work.hashed[0], work.hashed[1], work.hashed[2]
    total = 0
    for root in range(first, last):
        at = begins[root]
        count = ends[root, path_depth]
        power[0] = _ONE
        for level in range(lowest, levels):
            label = trees[root, level]
            forward[level] = label
            backward[level] = label
            codes[level, total] = label
        placed = False
        for p in range(1, count):
            up = parent[at + p]
            v = order[at + p]
            near = p * levels
            edge_code = edge_hashes[edge[at + p]] * BASE if edges else _ZERO
            several = up < 0
            if several:
                up = -1 - up  # the first of the run: at the same depth as the candidates
                if not placed:
                    placed = True
                    for q in range(count):
                        work.place[order[at + q]] = q
                _choose_parents(at, p, up, count, n, options, lowest, work)
            power[p] = power[up] * _SQUARE
            scale = power[p]
            edge_term = edge_code * power[up]
            for level in range(lowest, levels):
                far = (chosen[near + level] if several else up) * levels + level
                label = trees[v, level]
                ahead = forward[far] * _SQUARE + label + edge_code
                behind = backward[far] + label * scale + edge_term
                forward[near + level] = ahead
                backward[near + level] = behind
                codes[level, total + p] = min(ahead, behind)
        total += count
    return total


@entry_point
def count_patterns(graphs, classes, options, work, begin, end):
    """Count the patterns of the graphs ``begin`` to ``end`` at the levels 0 to ``tree_depth``.

    Returns ``(lengths, hashes, counts)``: ``hashes[level]`` and ``counts[level]`` list the
    distinct patterns graph after graph, ``lengths[level, g]`` of them for graph g. ``classes`` are
    the centrality classes of vertices. ``work``, from ``make_work``, keeps all searches of a graph.
    """
    levels = options.tree_depth + 1
    depth = max(options.path_depth, options.tree_depth)
    tables = make_tables(levels, _FIRST_ROOM)
    lengths = np.zeros((levels, end - begin), dtype=np.int64)
    totals = np.zeros(levels, dtype=np.int64)
    hashes = np.empty((levels, 32 * _FIRST_ROOM), dtype=np.uint64)
    counts = np.empty((levels, 32 * _FIRST_ROOM), dtype=np.int32)
    for g in range(begin, end):
        if work.stop[0]:
            break
        n = renumber(graphs, classes, options.edges, g, work)
        search_trees(graphs.edge_hashes, options, depth, np.int64(0), n, work)
        pairs = walk(graphs.edge_hashes, options, np.int64(0), n, np.int64(0), n, work)
        room = np.int64(0)
        for level in range(levels):
            tables = count_into(tables, level, work.codes[level], pairs)
            lengths[level, g - begin] = tables.distinct[level]
            room = max(room, totals[level] + tables.distinct[level])
        hashes, counts = with_room(room, hashes, counts)
        for level in range(levels):
            begin_at = totals[level]
            totals[level] = read_out(tables, level, hashes[level], counts[level], begin_at)
            salt = level_salt(level)
            for i in range(begin_at, totals[level]):
                hashes[level, i] = mix(hashes[level, i] + salt)
    return lengths, hashes, counts


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
    n = renumber(graphs, classes, edges, g, work)
    search_trees(graphs.edge_hashes, options, depth, np.int64(0), n, work)
    width = 0
    total = 0
    for root in range(n):
        width = max(width, work.ends[root, level])
        total += work.ends[root, path_depth]
    tree_vertices = np.full((n, width), -1, dtype=np.int32)
    tree_edges = np.full((n, width), -1, dtype=np.int32)
    hashes = np.empty(total, dtype=np.uint64)
    paths = np.full((total, path_depth + 1), -1, dtype=np.int32)
    path_edges = np.full((total, path_depth + 1), -1, dtype=np.int32)
    salt = level_salt(level)
    row = 0
    for root in range(n):
        walk(graphs.edge_hashes, options, level, n, root, root + 1, work)
        at = work.begins[root]
        old = work.vertex[root]
        for p in range(work.ends[root, level]):
            tree_vertices[old, p] = work.vertex[work.order[at + p]]
            if edges and p:
                tree_edges[old, p] = work.edge[at + p]
        for p in range(work.ends[root, path_depth]):
            hashes[row + p] = mix(work.codes[level, p] + salt)
            length = 0
            if p:
                up = np.int64(work.parent[at + p])
                if up < 0:
                    up = np.int64(work.chosen[p * (level + 1) + level])
                up += row
                while length <= path_depth and paths[up, length] >= 0:
                    paths[row + p, length] = paths[up, length]
                    path_edges[row + p, length] = path_edges[up, length]
                    length += 1
                if edges:
                    path_edges[row + p, length] = work.edge[at + p]
            paths[row + p, length] = work.vertex[work.order[at + p]]
        row += work.ends[root, path_depth]
    return hashes, paths, path_edges, tree_vertices, tree_edges
