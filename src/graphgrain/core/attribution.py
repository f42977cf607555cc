"""Attribution of pattern contributions to vertices and edges.

A pattern occurs between two ends, with a tree at each vertex of a path. The contribution of an
occurrence is divided equally

1. among all shortest paths between its ends that spell the pattern, so that the numbering of the
   vertices has no influence. Their number grows exponentially, so it is counted: from one end down
   to the other (:func:`_count_paths`), and back again (:func:`_divide_among_paths`);
2. among the vertices of each path, and among its edges;
3. if trees are used, by each vertex of a path among the vertices of its tree, and among the edges
   between these.

An occurrence without a path is a set of vertices, which share its contribution equally, as do the
edges between them. An occurrence without edges contributes nothing to edges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled
from .structures import entry_between
from .threads import entry_point


class Spelling(NamedTuple):
    """What the shortest paths of an occurrence have in common: the sequence of these codes."""

    codes: np.ndarray  # uint64, per vertex; empty if occurrences are not paths
    edges: bool  # whether the labels of edges belong to the sequence
    reversible: bool  # whether a sequence and its reverse are the same pattern


class Links(NamedTuple):
    """The edges of one graph, twice each; the neighbours of v are in ascending order."""

    indptr: np.ndarray  # neighbours of v: indices[indptr[v]:indptr[v + 1]]
    indices: np.ndarray
    labels: np.ndarray  # code of each entry of indices, or a single zero
    rows: np.ndarray  # edge of each entry of indices


#: The spelling of occurrences that are sets of vertices.
NO_PATHS = Spelling(np.empty(0, dtype=np.uint64), False, False)


class _Paths(NamedTuple):
    """Scratch arrays for the shortest paths from one root."""

    distance: np.ndarray  # from the root, -1 if too far
    alone: np.ndarray  # whether the shortest path from the root is unique
    queue: np.ndarray  # vertices by their distance
    order: np.ndarray  # vertices on the paths of an occurrence, from its end to the root
    below: np.ndarray  # per vertex: number of these paths from it to the end
    above: np.ndarray  # number of these paths from the root to it


@compiled
def _make_paths(n):
    distance, queue, order = np.full((3, n), -1, dtype=np.int64)
    below, above = np.zeros((2, n))
    return _Paths(distance, np.zeros(n, dtype=np.bool_), queue, order, below, above)


@compiled
def _search(root, longest, links, paths, reached):
    """Search from a root up to a distance; return the number of vertices reached.

    ``reached`` is the number of vertices of the previous search.
    """
    distance, alone, queue = paths.distance, paths.alone, paths.queue
    for i in range(reached):
        distance[queue[i]] = -1
    distance[root] = 0
    alone[root] = True
    queue[0] = root
    size = 1
    head = 0
    while head < size and distance[queue[head]] < longest:
        x = queue[head]
        head += 1
        for entry in range(links.indptr[x], links.indptr[x + 1]):
            y = links.indices[entry]
            if distance[y] < 0:
                distance[y] = distance[x] + 1
                alone[y] = alone[x]
                queue[size] = y
                size += 1
            elif distance[y] > distance[x]:
                alone[y] = False
    return size


@compiled
def _count_paths(vertices, edges, spelling, links, paths):
    """Count the shortest paths from the root to the last vertex that spell a sequence.

    ``vertices`` and ``edges`` are its codes. Returns the number of paths and of their vertices,
    which ``order`` lists.
    """
    distance, order, below = paths.distance, paths.order, paths.below
    below[order[0]] = 1.0
    size = 1
    head = 0
    while head < size and distance[order[head]] > 0:
        x = order[head]
        head += 1
        step = distance[x]
        for entry in range(links.indptr[x], links.indptr[x + 1]):
            y = links.indices[entry]
            if distance[y] != step - 1 or spelling.codes[y] != vertices[step - 1]:
                continue
            if spelling.edges and links.labels[entry] != edges[step]:
                continue
            if below[y] == 0.0:
                order[size] = y
                size += 1
            below[y] += below[x]
    last = order[size - 1]
    return below[last] if distance[last] == 0 else 0.0, size


@compiled
def _divide_among_paths(value, size, edges, spelling, links, paths, elements, between):
    """Divide a value among the counted paths, ``value`` for each, and forget them."""
    distance, order, below, above = paths.distance, paths.order, paths.below, paths.above
    length = distance[order[0]]
    above[order[size - 1]] = 1.0
    for i in range(size - 1, -1, -1):
        x = order[i]
        step = distance[x]
        for entry in range(links.indptr[x], links.indptr[x + 1]):
            y = links.indices[entry]
            if below[y] == 0.0 or distance[y] != step - 1:
                continue
            if spelling.edges and links.labels[entry] != edges[step]:
                continue
            above[x] += above[y]
            between[links.rows[entry]] += value * above[y] * below[x] / length
        elements[x] += value * above[x] * below[x] / (length + 1)
    _forget(size, paths)


@compiled
def _forget(size, paths):
    for i in range(size):
        paths.below[paths.order[i]] = 0.0
        paths.above[paths.order[i]] = 0.0


@compiled
def _spread_paths(value, path, length, spelling, links, paths, elements, between):
    """Divide a value among the shortest paths that spell the same sequence as a given one."""
    codes = np.empty(length, dtype=np.uint64)
    edges = np.zeros(length, dtype=np.int64)
    for p in range(length):
        codes[p] = spelling.codes[path[p]]
        if p and spelling.edges:
            entry = entry_between(links.indptr, links.indices, path[p - 1], path[p])
            edges[p] = links.labels[entry]
    palindrome = True
    for p in range(length):
        palindrome &= codes[p] == codes[length - 1 - p]
        palindrome &= p == 0 or edges[p] == edges[length - p]
    paths.order[0] = path[length - 1]
    total, size = _count_paths(codes, edges, spelling, links, paths)
    if palindrome or not spelling.reversible or codes[0] != codes[length - 1]:
        _divide_among_paths(value / total, size, edges, spelling, links, paths, elements, between)
        return
    _forget(size, paths)
    backwards = codes[::-1].copy()
    edges_backwards = np.zeros(length, dtype=np.int64)
    for p in range(1, length):
        edges_backwards[p] = edges[length - p]
    more, size = _count_paths(backwards, edges_backwards, spelling, links, paths)
    if more:
        _divide_among_paths(
            value / (total + more), size, edges_backwards, spelling, links, paths,
            elements, between,
        )  # fmt: skip
    else:
        _forget(size, paths)
    _, size = _count_paths(codes, edges, spelling, links, paths)
    _divide_among_paths(
        value / (total + more), size, edges, spelling, links, paths, elements, between
    )


@compiled
def _row_length(rows, row):
    length = 0
    while length < rows.shape[1] and rows[row, length] >= 0:
        length += 1
    return length


@compiled
def _share_with_edges(members, count, links, marked, value, edges):
    """Divide a value among the edges between some vertices."""
    for i in range(count):
        marked[members[i]] = True
    found = 0
    for sweep in range(2):  # count first, then add
        for i in range(count):
            x = members[i]
            for entry in range(links.indptr[x], links.indptr[x + 1]):
                y = links.indices[entry]
                if x < y and marked[y]:
                    if sweep:
                        edges[links.rows[entry]] += value / found
                    else:
                        found += 1
        if not found:
            break
    for i in range(count):
        marked[members[i]] = False


@entry_point
def share_values(values, rows, spelling, links, elements, edges):
    """Divide the values of occurrences in a single graph among the vertices and edges of paths.

    Row i of ``rows`` contains the vertices of occurrence i, padded with -1.
    """
    n = len(elements)
    paths = _make_paths(n)
    marked = np.zeros(n, dtype=np.bool_)
    root = np.int64(-1)
    reached = 0
    for i in range(len(values)):
        value = values[i]
        length = _row_length(rows, i)
        if value == 0.0 or length == 0:
            continue
        path = rows[i]
        if length == 1:
            elements[path[0]] += value
        elif len(spelling.codes) == 0:
            for p in range(length):
                elements[path[p]] += value / length
            _share_with_edges(path, length, links, marked, value, edges)
        else:
            if path[0] != root:
                root = np.int64(path[0])
                reached = _search(root, rows.shape[1] - 1, links, paths, reached)
            if not paths.alone[path[length - 1]]:
                _spread_paths(value, path, length, spelling, links, paths, elements, edges)
                continue
            for p in range(length):
                elements[path[p]] += value / length
                if p:
                    entry = entry_between(links.indptr, links.indices, path[p - 1], path[p])
                    edges[links.rows[entry]] += value / (length - 1)


@entry_point
def share_with_trees(elements, trees, links, vertices, edges):
    """Divide the value of each vertex among the vertices of its tree and the edges between them.

    Row v of ``trees`` contains the vertices of the tree at v, padded with -1.
    """
    marked = np.zeros(len(elements), dtype=np.bool_)
    for v in range(len(elements)):
        if elements[v] != 0.0:
            count = _row_length(trees, v)
            for q in range(count):
                vertices[trees[v, q]] += elements[v] / count
            _share_with_edges(trees[v], count, links, marked, elements[v], edges)
