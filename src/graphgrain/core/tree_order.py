"""The lexicographic order of the trees of a graph.

A tree is the sequence of its labels (with the labels of edges between them, where they take
part), compared label by label, a beginning before its continuation. Candidate parents whose
patterns differ are rare, so trees are compared only when the order of two of them is asked for.
"""

from __future__ import annotations

from .compiling import subroutine
from .traversal import traverse


@subroutine
def tree_comes_before(u, v, level, graph, searches):
    """Whether the tree of u comes before that of v; both are searched again if not kept."""
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
