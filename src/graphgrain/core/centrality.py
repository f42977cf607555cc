"""Centralities of vertices, and the classes of vertices whose centralities are equal.

Eigenvector centrality is the Perron vector of each connected component. Power iteration
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
envelope would be too large, conjugate gradients solve the system instead.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled, inlined

EIGENVECTOR, CLOSENESS, BETWEENNESS, DEGREE, NONE = 0, 1, 2, 3, 4

#: Centralities that differ by no more than this are equal.
TOLERANCE = 1e-7
#: Above this many multiplications for a factorisation, conjugate gradients take over.
ENVELOPE_WORK = 5e7

_SMOOTHING_STEPS = 8
_MOST_ITERATIONS = 100
_SETTLED = 1e-10
_TINY = 1e-250


@compiled
def component_order(indptr, indices, base, n, order, starts):
    """Vertices component by component, each breadth first from a vertex far out.

    Fills ``order`` (local vertex numbers) and ``starts``; returns the number of components.
    """
    seen = np.zeros(n, dtype=np.int8)
    count = 0
    end = 0
    for first in range(n):
        if seen[first]:
            continue
        begin = end
        root = first
        for sweep in range(2):  # the last vertex of the first sweep starts the second
            end = begin + 1
            order[begin] = root
            mark = sweep + 1
            seen[root] = mark
            head = begin
            while head < end:
                v = order[head]
                head += 1
                for entry in range(indptr[base + v], indptr[base + v + 1]):
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


@compiled
def _row_sums(indptr, indices, base, order, place, x, high, low, sums):
    """Row sums of ``X (shift I - A) X`` with X = diag(x), and the shift, in doubled precision."""
    n = len(order)
    best = 0
    for i in range(n):
        total = 0.0
        error = 0.0
        v = base + order[i]
        for entry in range(indptr[v], indptr[v + 1]):
            total, rest = _two_sum(total, x[place[indices[entry] - base]])
            error += rest
        high[i] = total
        low[i] = error
        if total * x[best] > high[best] * x[i]:
            best = i
    shift = high[best] / x[best]
    product, error = _two_product(shift, x[best])
    correction = ((high[best] - product) + (low[best] - error)) / x[best]
    largest = 0.0
    for i in range(n):
        product, error = _two_product(shift, x[i])
        gap = ((product - high[i]) + (error - low[i])) + correction * x[i]
        sums[i] = x[i] * max(gap, 0.0)
        largest = max(largest, sums[i])
    return shift, largest


@compiled
def _solve_by_elimination(indptr, indices, base, order, place, first, last, start, x, sums, z, off):
    """z solves ``(shift I - A) z = x`` for the matrix whose scaled row sums are ``sums``.

    ``off`` holds the magnitudes of the entries below the diagonal, row by row; ``column`` the
    entries below one pivot. Nothing is ever subtracted.
    """
    n = len(order)
    for k in range(start[n]):
        off[k] = 0.0
    for i in range(n):
        v = base + order[i]
        for entry in range(indptr[v], indptr[v + 1]):
            j = place[indices[entry] - base]
            if j < i:
                off[start[i] - first[i] + j] = x[i] * x[j]
        z[i] = x[i] * x[i]
    column = np.zeros(n)
    pivots = np.empty(n)
    for k in range(n):
        pivot = sums[k]
        for i in range(k + 1, last[k] + 1):
            column[i] = off[start[i] - first[i] + k] if first[i] <= k else 0.0
            pivot += column[i]
        if not pivot > 0.0:  # the last pivot, when x is the eigenvector to the last bit
            pivot = 1e-300
        pivots[k] = pivot
        for i in range(k + 1, last[k] + 1):
            if column[i] > 0.0:
                factor = column[i] / pivot
                row = start[i] - first[i]
                for j in range(k + 1, i):
                    if column[j] > 0.0:
                        off[row + j] += factor * column[j]
                sums[i] += factor * sums[k]
                z[i] += factor * z[k]
    for k in range(n - 1, -1, -1):
        total = z[k]
        for i in range(k + 1, last[k] + 1):
            if first[i] <= k:
                total += off[start[i] - first[i] + k] * z[i]
        z[k] = total / pivots[k]
    for i in range(n):
        z[i] *= x[i]


@compiled
def _multiply(indptr, indices, base, order, place, x, y):
    """y = A x, both in the numbering of ``order``."""
    for i in range(len(order)):
        total = 0.0
        v = base + order[i]
        for entry in range(indptr[v], indptr[v + 1]):
            total += x[place[indices[entry] - base]]
        y[i] = total


@compiled
def _solve_by_gradients(indptr, indices, base, order, place, shift, x, z):
    """Conjugate gradients for ``(shift I - A) z = x``."""
    n = len(x)
    product = np.empty(n)
    for i in range(n):
        z[i] = 0.0
    residual = x.copy()
    direction = x.copy()
    size = np.sum(residual * residual)
    goal = size * 1e-28
    for _ in range(20 * n + 100):
        if size <= goal:
            break
        _multiply(indptr, indices, base, order, place, direction, product)
        curvature = 0.0
        for i in range(n):
            product[i] = shift * direction[i] - product[i]
            curvature += direction[i] * product[i]
        if not curvature > 0.0:
            break
        step = size / curvature
        fresh = 0.0
        for i in range(n):
            z[i] += step * direction[i]
            residual[i] -= step * product[i]
            fresh += residual[i] * residual[i]
        for i in range(n):
            direction[i] = residual[i] + fresh / size * direction[i]
        size = fresh


@compiled
def _scale(x):
    total = 0.0
    largest = 0.0
    for i in range(len(x)):
        largest = max(largest, x[i])
    for i in range(len(x)):
        x[i] = max(x[i] / largest, _TINY)
        total += x[i] * x[i]
    total = np.sqrt(total)
    for i in range(len(x)):
        x[i] /= total


@compiled
def _perron(indptr, indices, base, order, place, envelope_work, values):
    """Perron vector of one component, written to ``values`` by local vertex number."""
    n = len(order)
    degree = indptr[base + order[0] + 1] - indptr[base + order[0]]
    regular = True
    first = np.empty(n, dtype=np.int64)
    last = np.empty(n, dtype=np.int64)
    start = np.zeros(n + 1, dtype=np.int64)
    work = 0.0
    for i in range(n):
        v = base + order[i]
        regular = regular and indptr[v + 1] - indptr[v] == degree
        first[i] = i
        for entry in range(indptr[v], indptr[v + 1]):
            first[i] = min(first[i], place[indices[entry] - base])
        width = i - first[i] + 1
        last[i] = i
        for j in range(first[i], i):
            last[j] = i
        start[i + 1] = start[i] + width
        work += width * width
    if regular:
        for i in range(n):
            values[order[i]] = 1.0 / np.sqrt(n)
        return
    direct = work <= envelope_work
    off = np.empty(start[n] if direct else 0)
    x = np.full(n, 1.0)
    y = np.empty(n)
    z = np.empty(n)
    low = np.empty(n)
    sums = np.empty(n)
    for _ in range(_SMOOTHING_STEPS):
        _multiply(indptr, indices, base, order, place, x, y)
        for i in range(n):
            x[i] += y[i]
        _scale(x)
    for _ in range(_MOST_ITERATIONS):
        shift, largest = _row_sums(indptr, indices, base, order, place, x, y, low, sums)
        if largest == 0.0:
            break
        if direct:
            _solve_by_elimination(
                indptr, indices, base, order, place, first, last, start, x, sums, z, off
            )
        else:
            _solve_by_gradients(indptr, indices, base, order, place, shift, x, z)
        _scale(z)
        change = 0.0
        for i in range(n):
            change = max(change, abs(z[i] - x[i]))
            x[i] = z[i]
        if change <= _SETTLED:
            break
    for i in range(n):
        values[order[i]] = x[i]


@compiled
def _closeness(indptr, indices, base, order, values):
    """(n - 1) / sum of distances, within the component."""
    n = len(order)
    distance = np.full(len(values), -1, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    for root in order:
        for v in order:
            distance[v] = -1
        distance[root] = 0
        queue[0] = root
        end = 1
        total = 0
        for head in range(n):
            v = queue[head]
            total += distance[v]
            for entry in range(indptr[base + v], indptr[base + v + 1]):
                w = indices[entry] - base
                if distance[w] < 0:
                    distance[w] = distance[v] + 1
                    queue[end] = w
                    end += 1
        values[root] = (n - 1) / total if total else 1.0


@compiled
def _betweenness(indptr, indices, base, order, values):
    """Number of shortest paths through a vertex, each pair sharing 1 among its paths (Brandes)."""
    n = len(order)
    size = len(values)
    distance = np.empty(size, dtype=np.int64)
    paths = np.empty(size)
    share = np.empty(size)
    queue = np.empty(n, dtype=np.int64)
    for v in order:
        values[v] = 0.0
    for root in order:
        for v in order:
            distance[v] = -1
            paths[v] = 0.0
            share[v] = 0.0
        distance[root] = 0
        paths[root] = 1.0
        queue[0] = root
        end = 1
        for head in range(n):
            v = queue[head]
            for entry in range(indptr[base + v], indptr[base + v + 1]):
                w = indices[entry] - base
                if distance[w] < 0:
                    distance[w] = distance[v] + 1
                    queue[end] = w
                    end += 1
                if distance[w] == distance[v] + 1:
                    paths[w] += paths[v]
        for back in range(n - 1, 0, -1):
            w = queue[back]
            for entry in range(indptr[base + w], indptr[base + w + 1]):
                v = indices[entry] - base
                if distance[v] == distance[w] - 1:
                    share[v] += paths[v] / paths[w] * (1.0 + share[w])
            values[w] += share[w] / 2.0


@compiled
def sort_by(keys, items, n):
    """Sort the first n of both by ``keys`` in place (Shell's method: short, fast when n is)."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap >= 1:
        for i in range(gap, n):
            key = keys[i]
            item = items[i]
            j = i - gap
            while j >= 0 and keys[j] > key:
                keys[j + gap] = keys[j]
                items[j + gap] = items[j]
                j -= gap
            keys[j + gap] = key
            items[j + gap] = item
        gap //= 3


@compiled
def graph_centrality(indptr, indices, base, n, kind, envelope_work, values, classes):
    """Centralities of one graph and, within each component, the classes of equal ones."""
    order = np.empty(n, dtype=np.int64)
    starts = np.empty(n + 1, dtype=np.int64)
    place = np.empty(n, dtype=np.int64)
    sorted_values = np.empty(n)
    components = component_order(indptr, indices, base, n, order, starts)
    for c in range(components):
        members = order[starts[c] : starts[c + 1]]
        for i in range(len(members)):
            place[members[i]] = i
        if kind == EIGENVECTOR:
            _perron(indptr, indices, base, members, place, envelope_work, values)
        elif kind == CLOSENESS:
            _closeness(indptr, indices, base, members, values)
        elif kind == BETWEENNESS:
            _betweenness(indptr, indices, base, members, values)
        else:
            for v in members:
                degree = indptr[base + v + 1] - indptr[base + v]
                values[v] = degree if kind == DEGREE else 1.0
        ranked = sorted_values[: len(members)]
        for i in range(len(members)):
            ranked[i] = values[members[i]]
        sort_by(ranked, members, len(members))
        current = 0
        for i in range(len(members)):
            if i and ranked[i] - ranked[i - 1] > TOLERANCE:
                current += 1
            classes[members[i]] = current


@compiled
def centralities(offsets, indptr, indices, kind, envelope_work, begin, end, values, classes):
    """Fill ``values`` and ``classes`` for the graphs ``begin`` to ``end``."""
    for g in range(begin, end):
        base = offsets[g]
        n = offsets[g + 1] - base
        graph_centrality(
            indptr,
            indices,
            base,
            n,
            kind,
            envelope_work,
            values[base : base + n],
            classes[base : base + n],
        )
