"""Path patterns and super paths of Tree++, counted for every level in one pass over a graph.

1. One traversal per root gives the labels T_0, ..., T_k of its trees: a sum of label hashes,
   each times the weight of its position, read off at the end of every level.
2. A second pass walks the stored traversals. The pattern of a vertex extends that of its
   parent, so its two hashes, one per reading direction, cost O(1): polynomials that grow at
   either end. The smaller of both stands for the pattern.
3. A small hash table per level counts them and is read out after each graph.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled, inlined
from .hashing import BASE, GOLDEN, mix
from .traversal import renumber, traverse

_SQUARE = np.uint64(int(BASE) ** 2 % 2**64)
_ZERO, _ONE, _64 = np.uint64(0), np.uint64(1), np.uint64(64)

#: Most (root, vertex) pairs of one graph that are kept; beyond it, roots are traversed twice.
STORED_PAIRS = 1 << 20
_FIRST_CAPACITY = 1 << 11


class Options(NamedTuple):
    """What patterns are counted."""

    path_depth: int
    tree_depth: int
    edges: bool  # whether edge labels take part


@inlined
def level_salt(level):
    """What keeps the patterns of different levels apart."""
    return mix(GOLDEN * np.uint64(level + 1))


@compiled
def _search(edge_hashes, options, first, last, stamp, work, trees):
    """Traverse from the roots ``first`` to ``last``; keep the traversals and the tree hashes."""
    begins, ends, order, tie, edge = work.begins, work.ends, work.order, work.tie, work.edge
    hashes, weights, edges = work.hashes, work.weights, options.edges
    depth = max(options.path_depth, options.tree_depth)
    at = np.int64(0)  # typed: a literal would be compiled apart
    for root in range(first, last):
        count = traverse(root, stamp + root, depth, edges, at, work)
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


@inlined
def _best_parent(at, p, run, level, levels, edges, forward, work):
    """Position of the candidate parent with the smallest pattern (by forward hash).

    ``work.place`` maps the vertices that this root reached to their positions.
    """
    start, adjacent, via, place = work.start, work.adjacent, work.via, work.place
    order, tie, edge = work.order, work.tie, work.edge
    stop = run + 1
    while tie[at + stop]:
        stop += 1
    best = -1
    v = order[at + p]
    for entry in range(start[v], start[v + 1]):
        position = place[adjacent[entry]]
        if (
            run <= position < stop
            and order[at + position] == adjacent[entry]
            and (not edges or via[entry] == edge[at + p])
            and (best < 0 or forward[position * levels + level] < forward[best * levels + level])
        ):
            best = position
    return best


@compiled
def _walk(edge_hashes, options, first, last, trees, settle, work, scratch, codes):
    """Pattern hashes of the roots ``first`` to ``last``: ``codes[level, i]`` for the i-th pair.

    Returns the number of pairs. ``scratch`` has room for the hashes of one root. With
    ``settle`` (one level only) the parent chosen among several candidates is written down.
    """
    begins, ends, order, parent, edge = work.begins, work.ends, work.order, work.parent, work.edge
    path_depth, edges = options.path_depth, options.edges
    levels = trees.shape[1]
    forward, backward, power = scratch[0], scratch[1], scratch[2]
    total = 0
    for root in range(first, last):
        at = begins[root]
        count = ends[root, path_depth]
        power[0] = _ONE
        for level in range(levels):
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
            power[p] = power[up] * _SQUARE
            scale = power[p]
            edge_term = edge_code * power[up]
            chosen = up
            for level in range(levels):
                if several:
                    chosen = _best_parent(at, p, up, level, levels, edges, forward, work)
                far = chosen * levels + level
                label = trees[v, level]
                ahead = forward[far] * _SQUARE + label + edge_code
                behind = backward[far] + label * scale + edge_term
                forward[near + level] = ahead
                backward[near + level] = behind
                codes[level, total + p] = min(ahead, behind)
            if settle:
                parent[at + p] = chosen
        total += count
    return total


@compiled
def _count(codes, begin, end, table_hash, table_count, used, distinct):
    """Enter ``codes[begin:end]``, or as many as surely fit, into the table of one level.

    Returns how far it came and the number of distinct codes; ``used`` lists the filled slots.
    """
    size = len(table_hash)
    mask = np.uint64(size - 1)  # unsigned: no check for indices that count from the end
    shift = _64 - np.uint64(np.log2(size))
    end = min(end, begin + size // 2 - distinct)
    filled = np.uint64(distinct)
    for i in range(begin, end):
        code = codes[np.uint64(i)]
        slot = (code * GOLDEN) >> shift
        count = table_count[slot]
        while count != 0 and table_hash[slot] != code:
            slot = (slot + _ONE) & mask
            count = table_count[slot]
        table_hash[slot] = code
        table_count[slot] = count + 1
        used[filled] = slot
        filled += np.uint64(count == 0)  # no branch: it could not be predicted
    return end, np.int64(filled)


@compiled
def _larger_tables(distinct, table_hash, table_count, used):
    """Tables of twice the size with the same content."""
    levels, size = table_hash.shape
    size *= 2
    new_hash = np.empty((levels, size), dtype=np.uint64)
    new_count = np.zeros((levels, size), dtype=np.int32)
    new_used = np.empty((levels, size), dtype=np.int32)
    mask = np.uint64(size - 1)
    shift = _64 - np.uint64(np.log2(size))
    for level in range(levels):
        for i in range(distinct[level]):
            code = table_hash[level, used[level, i]]
            slot = (code * GOLDEN) >> shift
            while new_count[level, slot] != 0:
                slot = (slot + _ONE) & mask
            new_hash[level, slot] = code
            new_count[level, slot] = table_count[level, used[level, i]]
            new_used[level, i] = slot
    return new_hash, new_count, new_used


@compiled
def _more_room(room, totals, out_hash, out_count):
    levels = len(totals)
    more_hash = np.empty((levels, room), dtype=np.uint64)
    more_count = np.empty((levels, room), dtype=np.int32)
    for level in range(levels):
        for i in range(totals[level]):
            more_hash[level, i] = out_hash[level, i]
            more_count[level, i] = out_count[level, i]
    return more_hash, more_count


@compiled
def count_patterns(graphs, classes, options, work, begin, end):
    """Count the patterns of the graphs ``begin`` to ``end`` at the levels 0 to ``tree_depth``.

    Returns ``(lengths, hashes, counts)``: ``hashes[level]`` and ``counts[level]`` list the
    distinct patterns graph after graph, ``lengths[level, g]`` of them for graph g. ``classes`` are
    the centrality classes of vertices, ``work`` scratch arrays from ``make_work`` for these graphs.
    """
    edge_hashes = graphs.edge_hashes
    levels = options.tree_depth + 1
    most = len(work.vertex)
    capacity = len(work.order)
    codes = np.empty((levels, capacity), dtype=np.uint64)
    trees = np.empty((most, levels), dtype=np.uint64)
    scratch = np.empty((3, most * levels), dtype=np.uint64)

    table_hash = np.empty((levels, _FIRST_CAPACITY), dtype=np.uint64)
    table_count = np.zeros((levels, _FIRST_CAPACITY), dtype=np.int32)
    used = np.empty((levels, _FIRST_CAPACITY), dtype=np.int32)
    distinct = np.zeros(levels, dtype=np.int64)

    lengths = np.zeros((levels, end - begin), dtype=np.int64)
    totals = np.zeros(levels, dtype=np.int64)
    out_hash = np.empty((levels, 16 * _FIRST_CAPACITY), dtype=np.uint64)
    out_count = np.empty((levels, 16 * _FIRST_CAPACITY), dtype=np.int32)
    stamp = np.int64(1)

    for g in range(begin, end):
        n = renumber(graphs, classes, options.edges, g, work)
        block = capacity // n if n else 1  # roots whose traversals are kept at once
        for level in range(levels):
            distinct[level] = 0
        for sweep in range(2):
            for first in range(0, n, block):
                last = min(first + block, n)
                if sweep == 0 or block < n:
                    _search(edge_hashes, options, first, last, stamp, work, trees)
                if sweep == 0:
                    continue
                pairs = _walk(edge_hashes, options, first, last, trees, False, work, scratch, codes)
                for level in range(levels):
                    done = np.int64(0)
                    while done < pairs:
                        done, distinct[level] = _count(
                            codes[level], done, pairs, table_hash[level], table_count[level],
                            used[level], distinct[level],
                        )  # fmt: skip
                        if 4 * distinct[level] > table_hash.shape[1]:
                            table_hash, table_count, used = _larger_tables(
                                distinct, table_hash, table_count, used
                            )
            stamp += n
        room = out_hash.shape[1]
        for level in range(levels):
            room = max(room, totals[level] + distinct[level])
        if room > out_hash.shape[1]:
            out_hash, out_count = _more_room(2 * room, totals, out_hash, out_count)
        for level in range(levels):
            salt = level_salt(level)
            filled = totals[level]
            for i in range(distinct[level]):
                slot = used[level, i]
                out_hash[level, filled + i] = mix(table_hash[level, slot] + salt)
                out_count[level, filled + i] = table_count[level, slot]
                table_count[level, slot] = 0
            totals[level] += distinct[level]
            lengths[level, g - begin] = distinct[level]
    return lengths, out_hash, out_count


@compiled
def trace_patterns(graphs, classes, options, work, g):
    """All patterns of graph ``g`` at the level ``options.tree_depth``, with their vertices.

    Returns ``(hashes, paths, edge_paths, trees, edge_trees)``. Row i of ``paths`` are the
    vertices (local numbers, -1 after the end) of the path behind ``hashes[i]``, row i of
    ``edge_paths`` the codes of the edges that lead to them; row v of ``trees`` and
    ``edge_trees`` say the same of the tree at vertex v, in rank order.
    """
    path_depth, level, edges = options.path_depth, options.tree_depth, options.edges
    edge_hashes = graphs.edge_hashes
    n = renumber(graphs, classes, edges, g, work)
    all_trees = np.empty((n, level + 1), dtype=np.uint64)
    _search(edge_hashes, options, np.int64(0), n, np.int64(1), work, all_trees)
    codes = np.empty((1, max(1, n * n)), dtype=np.uint64)
    scratch = np.empty((3, max(1, n)), dtype=np.uint64)
    top = all_trees[:, level : level + 1].copy()
    pairs = _walk(edge_hashes, options, np.int64(0), n, top, True, work, scratch, codes)

    width = 0
    for root in range(n):
        width = max(width, work.ends[root, level])
    tree_vertices = np.full((n, width), -1, dtype=np.int32)
    tree_edges = np.full((n, width), -1, dtype=np.int32)
    out = np.empty(pairs, dtype=np.uint64)
    paths = np.full((pairs, path_depth + 1), -1, dtype=np.int32)
    path_edges = np.full((pairs, path_depth + 1), -1, dtype=np.int32)
    salt = level_salt(level)
    row = 0
    for root in range(n):
        at = work.begins[root]
        old = work.vertex[root]
        for p in range(work.ends[root, level]):
            tree_vertices[old, p] = work.vertex[work.order[at + p]]
            if edges and p:
                tree_edges[old, p] = work.edge[at + p]
        for p in range(work.ends[root, path_depth]):
            out[row + p] = mix(codes[0, row + p] + salt)
            length = 0
            if p:
                up = row + work.parent[at + p]
                while length <= path_depth and paths[up, length] >= 0:
                    paths[row + p, length] = paths[up, length]
                    path_edges[row + p, length] = path_edges[up, length]
                    length += 1
                if edges:
                    path_edges[row + p, length] = work.edge[at + p]
            paths[row + p, length] = work.vertex[work.order[at + p]]
        row += work.ends[root, path_depth]
    return out, paths, path_edges, tree_vertices, tree_edges
