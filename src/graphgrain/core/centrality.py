"""Centralities of vertices, and classes of vertices with equal centralities."""

from __future__ import annotations

import numpy as np

from .compiling import inlined, subroutine
from .components import classify, component_order
from .structures import Graphs, most_vertices
from .threads import chunks, entry_point, run

# --------------------------------------------------------------------
# Eigenvector centrality: the Perron vector of each connected component.
#
# The Perron vector is the positive eigenvector of the largest eigenvalue. Power iteration is
# slow if the two largest eigenvalues are close, so it is computed by Noda's iteration
# (T. Noda, Numerische Mathematik 17, 1971), which always converges, and quadratically:
#
# 1. Start from a positive vector x, smoothed by a few products with A + I.
# 2. ``shift`` = the largest (A x)_i / x_i, an upper bound of the largest eigenvalue.
# 3. Solve (shift I - A) z = x.
# 4. x = z / ||z||; repeat from step 2 until x no longer changes.
#
# The system in step 3 becomes nearly singular, and an ordinary solver loses the more digits the
# smaller the gap between the eigenvalues is. Scaled by x on both sides it is a diagonally
# dominant M-matrix, whose elimination needs no subtraction if its row sums are known
# (Grassmann, Taksar, Heyman 1985; Alfa, Xue, Ye 2002). The row sums x_i (shift x_i - (A x)_i) are
# computed in doubled precision, so all digits are correct down to gaps of about 1e-14. The factor
# has envelope storage with the vertices in breadth-first order: molecules cost O(n). If the
# envelope is too large, conjugate gradients are used instead, with fewer correct digits.

#: Number of multiplications of a factorisation above which conjugate gradients are used.
ENVELOPE_WORK = 5e7

_SMOOTHING_STEPS = 8
_MOST_ITERATIONS = 100
_TINY = 1e-250
_ZERO, _ONE = np.uint64(0), np.uint64(1)


@inlined
def _two_sum(a, b):
    """Return a + b as a rounded sum and its exact error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@inlined
def _two_product(a, b):
    """Return a * b as a rounded product and its exact error (Dekker)."""
    product = a * b
    big = 134217729.0 * a
    a_high = big - (big - a)
    a_low = a - a_high
    big = 134217729.0 * b
    b_high = big - (big - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@subroutine
def _multiply(near, ends, n, x, y):
    """Compute y = A x in the numbering of one component."""
    begin = _ZERO
    for i in range(n):
        total = 0.0
        for entry in range(begin, ends[i]):
            total += x[near[entry]]
        y[i] = total
        begin = ends[i]


@subroutine
def _smooth(near, ends, n, x, z):
    """Initialise x to a positive unit vector closer to the eigenvector than a constant one."""
    for i in range(n):
        x[i] = 1.0
    for _ in range(_SMOOTHING_STEPS):
        _multiply(near, ends, n, x, z)
        for i in range(n):
            x[i] += z[i]
    for i in range(n):
        z[i] = x[i]
    _scale(n, z, x)


@subroutine
def _scale(n, z, x):
    """Scale z to unit length and write it to x; return the largest change."""
    largest = 0.0
    for i in range(n):
        if z[i] > largest:
            largest = z[i]
    total = 0.0
    inverse = 1.0 / largest
    for i in range(n):
        part = z[i] * inverse
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
def _row_sums(near, ends, n, x, high, low, sums):
    """Compute the row sums of ``X (shift I - A) X``, X = diag(x), and return the shift."""
    best = begin = _ZERO
    for i in range(n):
        total = 0.0
        error = 0.0
        for entry in range(begin, ends[i]):
            total, rest = _two_sum(total, x[near[entry]])
            error += rest
        begin = ends[i]
        high[i] = total
        low[i] = error
        if total * x[best] > high[best] * x[i]:
            best = np.uint64(i)
    shift = high[best] / x[best]
    product, error = _two_product(shift, x[best])
    correction = ((high[best] - product) + (low[best] - error)) / x[best]
    for i in range(n):
        product, error = _two_product(shift, x[i])
        gap = ((product - high[i]) + (error - low[i])) + correction * x[i]
        sums[i] = x[i] * gap if gap > 0.0 else 0.0
    return shift


@subroutine
def _eliminate(near, ends, n, first, last, start, x, sums, z, column, off):
    """Solve ``(shift I - A) z = x`` for z, given the scaled row sums of the matrix.

    ``off`` contains the magnitudes of the entries below the diagonal, row by row, ``column`` those
    below one pivot. No subtractions are needed.
    """
    for entry in range(start[n]):
        off[entry] = 0.0
    begin = _ZERO
    for i in range(n):
        for entry in range(begin, ends[i]):
            j = near[entry]
            if j < i:
                off[start[i] - first[i] + j] = x[i] * x[j]
        begin = ends[i]
        z[i] = x[i] * x[i]
    for row in range(n):
        k = np.uint64(row)
        end = last[k] + _ONE
        pivot = sums[k]
        for i in range(k + _ONE, end):
            column[i] = off[start[i] - first[i] + k] if first[i] <= k else 0.0
            pivot += column[i]
        if not pivot > 0.0:  # the last pivot, if x is the eigenvector up to the last bit
            pivot = 1e-300
        for i in range(k + _ONE, end):
            if column[i] > 0.0:
                factor = column[i] / pivot
                begin = start[i] - first[i]
                for j in range(first[i] if first[i] > k else k + _ONE, i):
                    off[begin + np.uint64(j)] += factor * column[j]
                sums[i] += factor * sums[k]
                z[i] += factor * z[k]
        sums[k] = pivot
    for back in range(n):
        k = n - _ONE - np.uint64(back)
        total = z[k]
        for i in range(k + _ONE, last[k] + _ONE):
            if first[i] <= k:
                total += off[start[i] - first[i] + k] * z[i]
        z[k] = total / sums[k]
    for i in range(n):
        z[i] *= x[i]


@subroutine
def _number(graphs, base, begin, end, order, place, vertices, near, ends):
    """Number the vertices of one component in the order of ``order[begin:end]``.

    Fills ``vertices`` and their neighbours in the new numbering; returns the number of vertices and
    whether all have the same degree.
    """
    indptr, indices = graphs.indptr, graphs.indices
    n = np.uint64(end - begin)
    for i in range(n):
        vertices[i] = base + order[np.uint64(begin) + np.uint64(i)]
        place[vertices[i] - base] = i
    entry = before = _ZERO
    regular = True
    for i in range(n):
        for k in range(indptr[vertices[i]], indptr[vertices[i] + 1]):
            near[entry] = place[indices[k] - base]
            entry += _ONE
        ends[i] = entry
        regular = regular and entry - before == ends[_ZERO]
        before = entry
    return n, regular


@subroutine
def _envelope_work(near, ends, n, first, last, start):
    """Compute the envelope of the factor; return the approximate number of multiplications."""
    start[_ZERO] = _ZERO
    work = 0.0
    begin = _ZERO
    for row in range(n):
        i = np.uint64(row)
        lowest = i
        for entry in range(begin, ends[i]):
            lowest = min(lowest, near[entry])
        begin = ends[i]
        first[i] = lowest
        last[i] = i
        for j in range(lowest, i):
            last[j] = i
        width = i - lowest + _ONE
        start[i + _ONE] = start[i] + width
        work += np.float64(width) ** 2
    return work


@subroutine
def _descend(near, ends, n, shift, x, z, residual, direction, product, limit, stop):
    """Solve ``(shift I - A) z = x`` for z by conjugate gradients, in at most ``limit`` steps."""
    size = 0.0
    for i in range(n):
        z[i] = 0.0
        residual[i] = x[i]
        direction[i] = x[i]
        size += x[i] * x[i]
    goal = size * 1e-28
    for _ in range(limit):
        if stop[0]:
            return
        _multiply(near, ends, n, direction, product)
        curvature = 0.0
        for i in range(n):
            product[i] = shift * direction[i] - product[i]
            curvature += direction[i] * product[i]
        if not curvature > 0.0 or size <= goal:
            return
        step = size / curvature
        fresh = 0.0
        for i in range(n):
            z[i] += step * direction[i]
            residual[i] -= step * product[i]
            fresh += residual[i] * residual[i]
        for i in range(n):
            direction[i] = residual[i] + fresh / size * direction[i]
        size = fresh


@entry_point
def eigenvector_classes(graphs, envelope_work, begin, end, values, bits, classes, stop):
    """Fill ``values`` and ``classes`` of the graphs ``begin`` to ``end``.

    For components whose factorisation would take more than ``envelope_work`` multiplications,
    conjugate gradients are used. ``bits`` is ``values`` viewed as integers.
    """
    offsets = graphs.offsets
    most, entries = most_vertices(offsets, begin, end) + 1, 1
    for g in range(begin, end):
        entries = max(entries, graphs.indptr[offsets[g + 1]] - graphs.indptr[offsets[g]])
    order, starts, place, ranked, vertices = np.empty((5, most), dtype=np.int64)
    # Unsigned: Numba skips the check for negative indices. The end of each vertex's neighbours, and
    # the first, last and start index of each row or column of the envelope.
    ends, first, last, start = np.empty((4, most), dtype=np.uint64)
    near = np.empty(entries, dtype=np.uint64)
    x, y, z, low, sums = np.empty((5, most))
    off = np.empty(1024)
    for g in range(begin, end):
        base = offsets[g]
        size = offsets[g + 1] - base
        components = component_order(graphs, base, size, order, starts, place)
        for c in range(components):
            n, regular = _number(
                graphs, base, starts[c], starts[c + 1], order, place, vertices, near, ends
            )
            if regular:
                for i in range(n):
                    x[i] = 1.0 / np.sqrt(n)
            else:
                direct = _envelope_work(near, ends, n, first, last, start) <= envelope_work
                if direct and start[n] > len(off):
                    off = np.empty(2 * np.int64(start[n]))
                _smooth(near, ends, n, x, z)
                before = 1.0
                for _ in range(_MOST_ITERATIONS):
                    if stop[0]:
                        return
                    shift = _row_sums(near, ends, n, x, y, low, sums)
                    if direct:
                        _eliminate(near, ends, n, first, last, start, x, sums, z, y, off)
                    else:
                        _descend(near, ends, n, shift, x, z, low, sums, y, 20 * size + 100, stop)
                    change = _scale(n, z, x)
                    # the remaining error is below this change times the ratio of the last two
                    if change * change <= 1e-13 * before:
                        break
                    before = change
            for i in range(n):
                values[vertices[i]] = x[i]
            classify(order, starts[c], starts[c + 1], base, values, bits, ranked, classes)


# --------------------------------------------------------------------
# Closeness and betweenness, and all centralities by their names.


@entry_point
def path_classes(graphs, betweenness, begin, end, values, bits, classes, stop):
    """Compute closeness or betweenness of the graphs ``begin`` to ``end``, and their classes.

    Closeness is (n - 1) / (sum of distances) within the component. Betweenness is the number of
    shortest paths through a vertex, normalised to 1 for each pair of ends (Brandes).
    """
    offsets, indptr, indices = graphs.offsets, graphs.indptr, graphs.indices
    most = max(1, most_vertices(offsets, begin, end))
    order, starts, distance, queue, ranked = np.empty((5, most + 1), dtype=np.int64)
    paths, share = np.empty((2, most))
    for g in range(begin, end):
        base = offsets[g]
        size = offsets[g + 1] - base
        components = component_order(graphs, base, size, order, starts, distance)
        for v in range(size):
            values[base + v] = 0.0
        for c in range(components):
            n = starts[c + 1] - starts[c]
            for source in range(starts[c], starts[c + 1]):
                if stop[0]:
                    return
                for i in range(starts[c], starts[c + 1]):
                    distance[order[i]] = -1
                    paths[order[i]] = 0.0
                    share[order[i]] = 0.0
                root = order[source]
                distance[root] = 0
                paths[root] = 1.0
                queue[0] = root
                tail = 1
                total = 0
                for head in range(n):
                    v = queue[head]
                    total += distance[v]
                    for entry in range(indptr[base + v], indptr[base + v + 1]):
                        w = indices[entry] - base
                        if distance[w] < 0:
                            distance[w] = distance[v] + 1
                            queue[tail] = w
                            tail += 1
                        if distance[w] == distance[v] + 1:
                            paths[w] += paths[v]
                if not betweenness:
                    values[base + root] = (n - 1) / total if total else 1.0
                    continue
                for back in range(n - 1, 0, -1):
                    w = queue[back]
                    for entry in range(indptr[base + w], indptr[base + w + 1]):
                        v = indices[entry] - base
                        if distance[v] == distance[w] - 1:
                            share[v] += paths[v] / paths[w] * (1.0 + share[w])
                    values[base + w] += share[w] / 2.0
            classify(order, starts[c], starts[c + 1], base, values, bits, ranked, classes)


def centrality_classes(
    graphs: Graphs,
    kind: str,
    n_jobs: int | None = None,
    envelope_work: float = ENVELOPE_WORK,
    values: np.ndarray | None = None,
) -> np.ndarray:
    """Return the class of each vertex by "eigenvector", "closeness" or "betweenness" centrality.

    The centralities are written to ``values`` if it is given.
    """
    offsets = graphs.offsets
    if values is None:
        values = np.empty(int(offsets[-1]))
    bits = values.view(np.int64)
    classes = np.zeros(int(offsets[-1]), dtype=np.int32)

    def fill(begin: int, end: int) -> None:
        if kind == "eigenvector":
            eigenvector_classes(graphs, envelope_work, begin, end, values, bits, classes)
        else:
            path_classes(graphs, kind == "betweenness", begin, end, values, bits, classes)

    run(fill, chunks(np.diff(offsets)), n_jobs)
    return classes
