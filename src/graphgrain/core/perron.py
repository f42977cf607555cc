"""Eigenvector centrality: the Perron vector of each connected component.

The Perron vector is the positive eigenvector to the largest eigenvalue. Power iteration
crawls where the two largest eigenvalues are close, so it is found by Noda's iteration
(T. Noda, Numerische Mathematik 17, 1971), whose convergence is quadratic and never fails:

1. Start from a positive vector x, smoothed by a few products with A + I.
2. ``shift`` = the largest (A x)_i / x_i, an upper bound of the largest eigenvalue.
3. Solve (shift I - A) z = x.
4. x = z / ||z||, and again from 2 until x no longer changes.

The system in step 3 gets ever closer to singular, and an ordinary solver loses as many digits
as the gap between the eigenvalues is small. Scaled by x on both sides it is a diagonally
dominant M-matrix, whose elimination needs no subtraction once its row sums are known
(Grassmann, Taksar, Heyman 1985; Alfa, Xue, Ye 2002). The row sums x_i (shift x_i - (A x)_i) are
formed in doubled precision, so all digits stay right down to gaps of about 1e-14. The factor
has envelope storage with the vertices in breadth-first order: molecules cost O(n). Where the
envelope would be too large, conjugate gradients solve the system instead; they keep fewer digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import inlined, subroutine
from .components import classify, component_order
from .structures import Graphs
from .threads import entry_point

#: Above this many multiplications for a factorisation, conjugate gradients take over.
ENVELOPE_WORK = 5e7

_SMOOTHING_STEPS = 8
_MOST_ITERATIONS = 100
_TINY = 1e-250


class Scratch(NamedTuple):
    """Arrays for the vertices of one graph, and for those of one component in its numbering."""

    order: np.ndarray  # vertices component by component
    starts: np.ndarray  # where components begin
    place: np.ndarray  # number of a vertex in its component
    ranked: np.ndarray
    vertices: np.ndarray
    near: np.ndarray  # neighbours of all vertices, one after the other
    first: np.ndarray  # per row: first column of the envelope
    last: np.ndarray  # per column: last row that reaches it
    start: np.ndarray  # per row: where the envelope begins
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    low: np.ndarray
    sums: np.ndarray


def make_scratch(graphs: Graphs, begin: int, end: int) -> Scratch:
    """Room for any of the graphs ``begin`` to ``end``."""
    offsets = graphs.offsets[begin : end + 1]
    n = int(np.diff(offsets).max(initial=1)) + 1
    entries = int(np.diff(graphs.indptr[offsets]).max(initial=1))
    whole = ("order", "starts", "place", "ranked", "vertices", "first", "last", "start")
    return Scratch(
        near=np.empty(entries, dtype=np.int64),
        **{name: np.empty(n, dtype=np.int64) for name in whole},
        **{name: np.empty(n) for name in ("x", "y", "z", "low", "sums")},
    )


@inlined
def _two_sum(a, b):
    """a + b as a rounded sum and its error, exactly (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@inlined
def _two_product(a, b):
    """a * b as a rounded product and its error, exactly (Dekker)."""
    product = a * b
    big = 134217729.0 * a
    a_high = big - (big - a)
    a_low = a - a_high
    big = 134217729.0 * b
    b_high = big - (big - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@subroutine
def _multiply(indptr, near, vertices, n, x, y):
    """y = A x in the numbering of one component; ``near`` holds its neighbours in order."""
    entry = 0
    for i in range(n):
        total = 0.0
        v = vertices[i]
        for _ in range(indptr[v + 1] - indptr[v]):
            total += x[near[entry]]
            entry += 1
        y[i] = total


@subroutine
def _scale(n, z, x):
    """Scale z to unit length, write it to x; returns the largest change."""
    largest = 0.0
    for i in range(n):
        if z[i] > largest:
            largest = z[i]
    total = 0.0
    for i in range(n):
        part = z[i] / largest
        z[i] = part if part > _TINY else _TINY
        total += z[i] * z[i]
    total = 1.0 / np.sqrt(total)
    change = 0.0
    for i in range(n):
        fresh = z[i] * total
        moved = abs(fresh - x[i])
        if moved > change:
            change = moved
        x[i] = fresh
    return change


@subroutine
def _row_sums(indptr, near, vertices, n, x, high, low, sums):
    """Row sums of ``X (shift I - A) X`` with X = diag(x), in doubled precision; gives the shift."""
    best = 0
    entry = 0
    for i in range(n):
        total = 0.0
        error = 0.0
        v = vertices[i]
        for _ in range(indptr[v + 1] - indptr[v]):
            total, rest = _two_sum(total, x[near[entry]])
            error += rest
            entry += 1
        high[i] = total
        low[i] = error
        if total * x[best] > high[best] * x[i]:
            best = i
    shift = high[best] / x[best]
    product, error = _two_product(shift, x[best])
    correction = ((high[best] - product) + (low[best] - error)) / x[best]
    for i in range(n):
        product, error = _two_product(shift, x[i])
        gap = ((product - high[i]) + (error - low[i])) + correction * x[i]
        sums[i] = x[i] * gap if gap > 0.0 else 0.0
    return shift


@subroutine
def _eliminate(indptr, near, vertices, n, first, last, start, x, sums, z, column, off):
    """z solves ``(shift I - A) z = x`` for the matrix whose scaled row sums are ``sums``.

    ``off`` holds the magnitudes of the entries below the diagonal, row by row, ``column`` those
    below one pivot. Nothing is ever subtracted.
    """
    for k in range(start[n]):
        off[k] = 0.0
    entry = 0
    for i in range(n):
        v = vertices[i]
        for _ in range(indptr[v + 1] - indptr[v]):
            j = near[entry]
            entry += 1
            if j < i:
                off[start[i] - first[i] + j] = x[i] * x[j]
        z[i] = x[i] * x[i]
    for k in range(n):
        pivot = sums[k]
        for i in range(k + 1, last[k] + 1):
            column[i] = off[start[i] - first[i] + k] if first[i] <= k else 0.0
            pivot += column[i]
        if not pivot > 0.0:  # the last pivot, when x is the eigenvector to the last bit
            pivot = 1e-300
        for i in range(k + 1, last[k] + 1):
            if column[i] > 0.0:
                factor = column[i] / pivot
                row = start[i] - first[i]
                for j in range(first[i] if first[i] > k else k + 1, i):
                    off[row + j] += factor * column[j]
                sums[i] += factor * sums[k]
                z[i] += factor * z[k]
        sums[k] = pivot
    for k in range(n - 1, -1, -1):
        total = z[k]
        for i in range(k + 1, last[k] + 1):
            if first[i] <= k:
                total += off[start[i] - first[i] + k] * z[i]
        z[k] = total / sums[k]
    for i in range(n):
        z[i] *= x[i]


@entry_point
def eigenvector_classes(graphs, envelope_work, begin, end, values, bits, classes, scratch, stop):
    """Fill ``values`` and ``classes`` of the graphs ``begin`` to ``end``.

    Components whose factorisation would take more than ``envelope_work`` are left at -1. ``bits``
    are the values read as integers.
    """
    offsets, indptr, indices = graphs.offsets, graphs.indptr, graphs.indices
    order, starts, place, vertices = scratch.order, scratch.starts, scratch.place, scratch.vertices
    near, first, last, start = scratch.near, scratch.first, scratch.last, scratch.start
    x, y, z, low, sums = scratch.x, scratch.y, scratch.z, scratch.low, scratch.sums
    off = np.empty(1024)
    for g in range(begin, end):
        base = offsets[g]
        components = component_order(graphs, base, offsets[g + 1] - base, order, starts, place)
        for c in range(components):
            n = starts[c + 1] - starts[c]
            for i in range(n):
                vertices[i] = base + order[starts[c] + i]
                place[vertices[i] - base] = i
            degree = indptr[vertices[0] + 1] - indptr[vertices[0]]
            regular = True
            start[0] = 0
            work = 0.0
            entry = 0
            for i in range(n):
                v = vertices[i]
                regular = regular and indptr[v + 1] - indptr[v] == degree
                lowest = i
                for k in range(indptr[v], indptr[v + 1]):
                    near[entry] = place[indices[k] - base]
                    if near[entry] < lowest:
                        lowest = near[entry]
                    entry += 1
                first[i] = lowest
                last[i] = i
                for j in range(lowest, i):
                    last[j] = i
                start[i + 1] = start[i] + i - lowest + 1
                work += (i - lowest + 1.0) ** 2
            if work > envelope_work and not regular:
                for i in range(n):
                    values[vertices[i]] = -1.0
                continue
            for i in range(n):
                x[i] = 1.0 / np.sqrt(n)
            if not regular:
                if start[n] > len(off):
                    off = np.empty(2 * start[n])
                for _ in range(_SMOOTHING_STEPS):
                    _multiply(indptr, near, vertices, n, x, z)
                    for i in range(n):
                        z[i] += x[i]
                    _scale(n, z, x)
                before = 1.0
                for _ in range(_MOST_ITERATIONS):
                    if stop[0]:
                        return
                    _row_sums(indptr, near, vertices, n, x, y, low, sums)
                    _eliminate(indptr, near, vertices, n, first, last, start, x, sums, z, y, off)
                    change = _scale(n, z, x)
                    # what is left is less than this change times the ratio of the last two
                    if change * change <= 1e-13 * before:
                        break
                    before = change
            for i in range(n):
                values[vertices[i]] = x[i]
            classify(order, starts[c], starts[c + 1], base, values, bits, scratch.ranked, classes)


@entry_point
def gradient_classes(graphs, g, values, bits, classes, scratch, stop):
    """The same for the components of graph g that were left at -1, by conjugate gradients."""
    indptr, indices = graphs.indptr, graphs.indices
    base = graphs.offsets[g]
    size = graphs.offsets[g + 1] - base
    order, starts, place, vertices = scratch.order, scratch.starts, scratch.place, scratch.vertices
    near, x, y, z, low, sums = (
        scratch.near,
        scratch.x,
        scratch.y,
        scratch.z,
        scratch.low,
        scratch.sums,
    )
    residual, direction, product = np.empty(size), np.empty(size), np.empty(size)
    components = component_order(graphs, base, size, order, starts, place)
    for c in range(components):
        if values[base + order[starts[c]]] >= 0.0:
            continue
        n = starts[c + 1] - starts[c]
        for i in range(n):
            vertices[i] = base + order[starts[c] + i]
            place[vertices[i] - base] = i
            x[i] = 1.0 / np.sqrt(n)
        entry = 0
        for i in range(n):
            for k in range(indptr[vertices[i]], indptr[vertices[i] + 1]):
                near[entry] = place[indices[k] - base]
                entry += 1
        for _ in range(_SMOOTHING_STEPS):
            _multiply(indptr, near, vertices, n, x, z)
            for i in range(n):
                z[i] += x[i]
            _scale(n, z, x)
        before = 1.0
        for _ in range(_MOST_ITERATIONS):
            shift = _row_sums(indptr, near, vertices, n, x, y, low, sums)
            size_now = 0.0
            for i in range(n):
                z[i] = 0.0
                residual[i] = x[i]
                direction[i] = x[i]
                size_now += x[i] * x[i]
            goal = size_now * 1e-28
            for _ in range(20 * n + 100):
                if stop[0]:
                    return
                _multiply(indptr, near, vertices, n, direction, product)
                curvature = 0.0
                for i in range(n):
                    product[i] = shift * direction[i] - product[i]
                    curvature += direction[i] * product[i]
                if not curvature > 0.0 or size_now <= goal:
                    break
                step = size_now / curvature
                fresh = 0.0
                for i in range(n):
                    z[i] += step * direction[i]
                    residual[i] -= step * product[i]
                    fresh += residual[i] * residual[i]
                for i in range(n):
                    direction[i] = residual[i] + fresh / size_now * direction[i]
                size_now = fresh
            change = _scale(n, z, x)
            if change * change <= 1e-13 * before:
                break
            before = change
        for i in range(n):
            values[vertices[i]] = x[i]
        classify(order, starts[c], starts[c + 1], base, values, bits, scratch.ranked, classes)
