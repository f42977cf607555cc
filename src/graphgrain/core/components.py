"""Connected components, and classes of vertices with equal values within them."""

from __future__ import annotations

import numpy as np

from .compiling import compiled, subroutine
from .threads import entry_point

#: Values that differ by at most this are treated as equal, and so are those that differ by at most
#: this part of the larger one: betweenness exceeds 1e6 in graphs with thousands of vertices.
TOLERANCE, RELATIVE_TOLERANCE = 1e-7, 1e-12


@compiled
def component_order(graphs, base, n, order, starts, seen):
    """Order vertices by component, each in breadth-first order from a peripheral vertex.

    Fills ``order`` (vertex numbers within the graph) and ``starts``; returns the number of
    components.
    """
    indptr, indices = graphs.indptr, graphs.indices
    for v in range(n):
        seen[v] = 0
    count = 0
    end = 0
    for first in range(n):
        if seen[first]:
            continue
        begin = end
        root = first
        for mark in range(1, 3):  # the last vertex of the first sweep starts the second
            end = begin + 1
            order[begin] = root
            seen[root] = mark
            head = begin
            while head < end:
                v = base + order[head]
                head += 1
                for entry in range(indptr[v], indptr[v + 1]):
                    w = indices[entry] - base
                    if seen[w] != mark:
                        seen[w] = mark
                        order[end] = w
                        end += 1
            root = order[end - 1]
        starts[count] = begin
        count += 1
    starts[count] = end
    return count


@subroutine
def sort_by(keys, items, begin, end):
    """Sort both arrays between ``begin`` and ``end`` by ``keys`` (Shellsort, in place)."""
    gap = 1
    while gap < (end - begin) // 3:
        gap = 3 * gap + 1
    while gap >= 1:
        for i in range(begin + gap, end):
            key = keys[i]
            item = items[i]
            j = i - gap
            while j >= begin and keys[j] > key:
                keys[j + gap] = keys[j]
                items[j + gap] = items[j]
                j -= gap
            keys[j + gap] = key
            items[j + gap] = item
        gap //= 3


@compiled
def classify(order, begin, end, base, values, bits, ranked, classes):
    """Number the groups of equal centralities of one component in ascending order.

    ``bits`` are the values, which are non-negative, viewed as integers: their order is the same,
    and only one sorting function is compiled.
    """
    for i in range(begin, end):
        ranked[i] = bits[base + order[i]]
    sort_by(ranked, order, begin, end)
    current = 0
    for i in range(begin, end):
        v = base + order[i]
        tolerance = max(TOLERANCE, RELATIVE_TOLERANCE * values[v])
        if i > begin and values[v] - values[base + order[i - 1]] > tolerance:
            current += 1
        classes[v] = current


@entry_point
def on_rings(graphs):
    """Return whether each vertex is in a ring: whether one of its edges is not a bridge.

    A depth-first search numbers the vertices; ``low`` is the lowest number reachable from the
    subtree of a vertex by an edge outside the tree. A tree edge is a bridge if the subtree below it
    reaches nothing above it.
    """
    indptr, indices = graphs.indptr, graphs.indices
    n = len(indptr) - 1
    number = np.zeros(n, dtype=np.int64)
    low = np.zeros(n, dtype=np.int64)
    parent = np.full(n, -1, dtype=np.int64)
    place = indptr[:-1].copy()
    stack = np.empty(n, dtype=np.int64)
    found = np.zeros(n, dtype=np.bool_)
    count = 0
    for root in range(n):
        if number[root]:
            continue
        count += 1
        number[root] = low[root] = count
        stack[0] = root
        height = 1
        while height:
            v = stack[height - 1]
            if place[v] < indptr[v + 1]:
                w = indices[place[v]]
                place[v] += 1
                if number[w] == 0:
                    count += 1
                    number[w] = low[w] = count
                    parent[w] = v
                    stack[height] = w
                    height += 1
                elif w != parent[v]:
                    low[v] = min(low[v], number[w])
                    found[v] = True  # an edge outside the tree closes a ring
                    found[w] = True
            else:
                height -= 1
                above = parent[v]
                if above >= 0:
                    low[above] = min(low[above], low[v])
                    if low[v] <= number[above]:
                        found[v] = True
                        found[above] = True
    return found
