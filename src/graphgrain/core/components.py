"""Connected components, and the classes of vertices in them whose values are equal."""

from __future__ import annotations

import numpy as np

from .compiling import compiled, subroutine
from .threads import entry_point

#: Values that differ by no more than this are equal.
TOLERANCE = 1e-7


@compiled
def component_order(graphs, base, n, order, starts, seen):
    """Vertices component by component, each breadth first from a vertex far out.

    Fills ``order`` (local vertex numbers) and ``starts``; returns the number of components.
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
    """Sort both arrays between ``begin`` and ``end`` by ``keys`` (Shell's method, in place)."""
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

    ``bits`` are the values, which are not negative, read as integers: they have the same order,
    and one way to sort is compiled for both.
    """
    for i in range(begin, end):
        ranked[i] = bits[base + order[i]]
    sort_by(ranked, order, begin, end)
    current = 0
    for i in range(begin, end):
        v = base + order[i]
        if i > begin and values[v] - values[base + order[i - 1]] > TOLERANCE:
            current += 1
        classes[v] = current


@entry_point
def breadth_first_order(graphs, starts, most):
    """So many vertices of the batch: those around the first start, then around the next."""
    indptr, indices = graphs.indptr, graphs.indices
    seen = np.zeros(len(indptr) - 1, dtype=np.bool_)
    order = np.empty(most, dtype=np.int64)
    head = tail = 0
    for start in starts:
        if tail < most and not seen[start]:
            seen[start] = True
            order[tail] = start
            tail += 1
        while head < tail:
            v = order[head]
            head += 1
            for entry in range(indptr[v], indptr[v + 1]):
                w = indices[entry]
                if tail < most and not seen[w]:
                    seen[w] = True
                    order[tail] = w
                    tail += 1
    return order
