"""The lexicographic order of the trees of a graph.

A tree is the sequence of its labels (with the labels of edges between them, where they take
part), compared label by label, a beginning before its continuation. Candidate parents whose
patterns differ are rare, so the order is found only when a graph first asks for it:

1. Trees of equal hash are equal; one vertex stands for each of them.
2. These are sorted by insertion, the place found by bisection; the two trees of a comparison are
   searched anew, so that nothing has to be stored but two searches.
"""

from __future__ import annotations

import numpy as np

from .compiling import subroutine
from .components import sort_by
from .traversal import traverse


@subroutine
def rank_trees(options, n, work):
    """Fill ``work.ranks`` for the graph of n vertices that ``work`` holds."""
    hashes = np.empty(n, dtype=np.uint64)
    vertices = np.empty(n, dtype=np.int64)
    ordered = np.empty(n, dtype=np.int64)
    for level in range(1, options.tree_depth + 1):  # tied vertices have equal labels
        for v in range(n):
            hashes[v] = work.trees[v, level]
            vertices[v] = v
        sort_by(hashes, vertices, np.int64(0), n)
        count = 0
        for i in range(n):
            if i and hashes[i] == hashes[i - 1]:
                continue
            if work.stop[0]:
                return
            v = vertices[i]
            traverse(v, level, options.edges, work.spare, work)
            low, high = 0, count
            while low < high:
                middle = (low + high) >> 1
                if _comes_before(ordered[middle], v, level, options.edges, work):
                    low = middle + 1
                else:
                    high = middle
            for j in range(count, low, -1):
                ordered[j] = ordered[j - 1]
            ordered[low] = v
            count += 1
        for rank in range(count):
            work.ranks[ordered[rank], level] = rank
        for i in range(1, n):
            if hashes[i] == hashes[i - 1]:
                work.ranks[vertices[i], level] = work.ranks[vertices[i - 1], level]
    work.ranked[0] = 1


@subroutine
def _comes_before(u, v, level, edges, work):
    """Whether the tree of u comes before that of v, whose search is the first spare one."""
    order, edge, label = work.order, work.edge, work.label
    here = work.spare
    there = here + len(work.place)
    size = work.ends[v, level]
    other = traverse(u, level, edges, there, work)
    for p in range(min(size, other)):
        if edges and p and edge[there + p] != edge[here + p]:
            return edge[there + p] < edge[here + p]
        a, b = label[order[there + p]], label[order[here + p]]
        if a != b:
            return a < b
    return other < size
