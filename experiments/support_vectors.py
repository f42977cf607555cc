"""Support vector machines on kernel matrices, by sequential minimal optimisation.

The dual problem in signed coefficients b: minimise 1/2 b'Kb - y'b, where the b sum to 0 and each
lies between 0 and C y, with y = 1 or -1. Its gradient is g = Kb - y. Until no pair violates the
optimality conditions by more than the tolerance:

1. i is the coefficient with the lowest gradient among those that may increase.
2. j is the coefficient, among those that may decrease, that gives the largest descent with i.
3. b_i increases and b_j decreases by the same amount: to the minimum or to the first bound.

Coefficients at a bound whose gradient keeps them there are temporarily removed (shrinking), so that
most steps work on a small matrix. The solution for one C is the starting point for the next.

Fan, Chen, Lin: Working Set Selection Using Second Order Information for Training Support Vector
Machines. Journal of Machine Learning Research 6, 2005.
"""

from __future__ import annotations

import numpy as np

from graphgrain.core.compiling import compiled
from graphgrain.core.threads import entry_point

#: Matrix and choices are in single precision, coefficients and gradient in double.
ZERO = np.float32(0)
NEVER = np.float32(-np.inf)
FLATTEST = np.float32(1e-6)
BLOCK = 128
#: Number of steps on the whole matrix before shrinking, and on the remaining part after that.
STEPS, STEPS_ON_PART = 300, 20_000
#: Shrinking is worthwhile if at most this fraction of the rows remains.
WORTH_IT = 0.8


@compiled
def _cut(matrix, rows, columns, result):
    """Copy the submatrix with these rows and columns."""
    for a in range(len(rows)):
        row = matrix[rows[a]]
        for b in range(len(columns)):
            result[a, b] = row[columns[b]]
    return result


@entry_point
def cut(matrix, rows, columns, result):
    """Copy the submatrix with these rows and columns, for calls from Python."""
    return _cut(matrix, rows, columns, result)


@compiled
def _first_highest(bits):
    """Return the index of the first maximum.

    ``bits`` are single-precision numbers viewed as integers, at least one of them non-negative. The
    maximum is then the same as that of the numbers, and the compiler can vectorise the loop.
    """
    best, start = bits[0], 0
    for begin in range(0, len(bits), BLOCK):
        block = bits[begin : begin + BLOCK]  # indexed from 0: no gather instructions
        high = block[0]
        for t in range(len(block)):
            high = max(high, block[t])
        if high > best:
            best, start = high, begin
    while bits[start] != best:
        start += 1
    return start


@compiled
def _move(gradient, rising, falling, step, up, down, centre, can_rise, can_fall):
    """Update the gradient, and the violation of each coefficient that may increase or decrease."""
    for t in range(len(gradient)):
        new = gradient[t] + step * (rising[t] - falling[t])
        gradient[t] = new
        shifted = np.float32(new - centre)
        can_rise[t] = up[t] - shifted
        can_fall[t] = down[t] + shifted


@compiled
def _promises(row, diagonal, own, can_fall, wish, promise):
    """Compute the descent of each coefficient if it decreases while the chosen one increases."""
    for t in range(len(row)):
        slope = can_fall[t] + wish
        slope = slope if slope > ZERO else ZERO
        curvature = own + diagonal[t] - (row[t] + row[t])
        curvature = curvature if curvature > FLATTEST else FLATTEST
        promise[t] = slope * slope / curvature


@compiled
def _descend(K, diagonal, b, low, high, gradient, up, down, tolerance, limit):
    """Make at most ``limit`` steps; return their number and whether the problem is solved.

    ``up`` and ``down`` are 0 for coefficients that may increase or decrease, else minus infinity.
    """
    n = len(b)
    can_rise, can_fall = np.empty(n, np.float32), np.empty(n, np.float32)
    promise = np.empty(n, np.float32)
    rise_bits, fall_bits = can_rise.view(np.int32), can_fall.view(np.int32)
    promise_bits = promise.view(np.int32)
    i = j = 0
    step = centre = 0.0
    for done in range(limit + 1):
        _move(gradient, K[i], K[j], step, up, down, centre, can_rise, can_fall)
        i, k = _first_highest(rise_bits), _first_highest(fall_bits)
        if not (can_rise[i] >= ZERO and can_fall[k] >= ZERO):
            # The order of the bits requires a centre between the two extremes.
            i = k = -1
            for t in range(n):
                if up[t] == ZERO and (i < 0 or gradient[t] < gradient[i]):
                    i = t
                if down[t] == ZERO and (k < 0 or gradient[t] > gradient[k]):
                    k = t
            if i < 0 or k < 0 or gradient[k] - gradient[i] < tolerance:
                return done, True
            centre = 0.5 * (gradient[i] + gradient[k])
            _move(gradient, K[i], K[i], 0.0, up, down, centre, can_rise, can_fall)
        if gradient[k] - gradient[i] < tolerance:
            return done, True
        if done == limit:
            break
        _promises(K[i], diagonal, diagonal[i], can_fall, can_rise[i], promise)
        j = _first_highest(promise_bits)
        curvature = np.float64(diagonal[i]) + diagonal[j] - 2.0 * K[i, j]
        step = (gradient[j] - gradient[i]) / max(curvature, 1e-12)
        above, below = high[i] - b[i], b[j] - low[j]
        if step < above and step < below:
            b[i] += step
            b[j] -= step
        elif above < below:
            step = above
            b[i] = high[i]
            b[j] -= step
        else:
            step = below
            b[i] = high[i] if above == below else b[i] + step
            b[j] = low[j]
        up[i], down[i] = ZERO if b[i] < high[i] else NEVER, ZERO
        up[j], down[j] = ZERO, ZERO if b[j] > low[j] else NEVER
    return limit, False


@compiled
def _descend_on_part(K, diagonal, b, low, high, gradient, up, down, tolerance, limit):
    """Make steps on the coefficients that may still move, unless there are too many of them."""
    n = len(b)
    lowest, highest = np.inf, -np.inf
    for t in range(n):
        if up[t] == ZERO:
            lowest = min(lowest, gradient[t])
        if down[t] == ZERO:
            highest = max(highest, gradient[t])
    chosen = np.empty(n, np.int64)
    size = 0
    for t in range(n):
        rises = up[t] == ZERO and (down[t] == ZERO or gradient[t] <= highest)
        falls = down[t] == ZERO and gradient[t] >= lowest
        if rises or falls:
            chosen[size] = t
            size += 1
    if size > WORTH_IT * n:
        return 0
    part = chosen[:size]
    b_part, gradient_part, up_part, down_part = b[part], gradient[part], up[part], down[part]
    steps, _ = _descend(
        _cut(K, part, part, np.empty((size, size), np.float32)),
        diagonal[part],
        b_part,
        low[part],
        high[part],
        gradient_part,
        up_part,
        down_part,
        tolerance,
        limit,
    )
    for a in range(size):
        t = part[a]
        change = b_part[a] - b[t]
        if change != 0.0:
            b[t], up[t], down[t] = b_part[a], up_part[a], down_part[a]
            row = K[t]
            for other in range(n):
                gradient[other] += change * row[other]
    return steps


@compiled
def _intercept(gradient, up, down):
    """Return minus the mean gradient of the free coefficients, or the midpoint of its range."""
    total, free = 0.0, 0
    lowest, highest = np.inf, -np.inf
    for t in range(len(gradient)):
        if up[t] == ZERO and down[t] == ZERO:
            total += gradient[t]
            free += 1
        if up[t] == ZERO:
            lowest = min(lowest, gradient[t])
        if down[t] == ZERO:
            highest = max(highest, gradient[t])
    return -total / free if free else -0.5 * (lowest + highest)


@entry_point
def train(K, y, grid, tolerance, limit, stop):
    """Return ``(coefficients, intercepts, solved, converged)`` for each C of an ascending grid.

    K is in single precision; y contains 1.0 and -1.0, both at least once. Finally the gradients of
    free coefficients differ by less than ``tolerance``, unless ``limit`` steps are reached.
    ``solved`` is the number of distinct solutions: a solution in which no coefficient reaches the
    bound C is also the solution for every larger C.
    """
    n = len(y)
    coefficients, intercepts = np.zeros((len(grid), n)), np.zeros(len(grid))
    diagonal = np.empty(n, np.float32)
    for t in range(n):
        diagonal[t] = K[t, t]
    b, gradient = np.zeros(n), -y
    up, down = np.empty(n, np.float32), np.empty(n, np.float32)
    converged = True
    few, many = min(limit, STEPS), min(limit, STEPS_ON_PART)  # literals would be compiled again
    for place in range(len(grid)):
        C = grid[place]
        if place:
            # The best multiple of the last solution is a better start than the solution itself.
            linear, square = 0.0, 0.0
            for t in range(n):
                linear += b[t] * y[t]
                square += b[t] * (gradient[t] + y[t])
            factor = linear / square if square > 0.0 else 1.0
            factor = min(max(factor, 1.0), C / grid[place - 1])
            for t in range(n):
                gradient[t] = factor * (gradient[t] + y[t]) - y[t]
                b[t] *= factor
        low, high = np.minimum(0.0, C * y), np.maximum(0.0, C * y)
        for t in range(n):
            b[t] = min(max(b[t], low[t]), high[t])
            up[t] = ZERO if b[t] < high[t] else NEVER
            down[t] = ZERO if b[t] > low[t] else NEVER
        steps, done = 0, False
        while not done and steps < limit and not stop[0]:
            made, done = _descend(K, diagonal, b, low, high, gradient, up, down, tolerance, few)
            steps += made
            if not done:
                steps += _descend_on_part(
                    K, diagonal, b, low, high, gradient, up, down, tolerance, many
                )
        converged = converged and done
        coefficients[place], intercepts[place] = b, _intercept(gradient, up, down)
        if (np.abs(b) < C).all():
            for rest in range(place + 1, len(grid)):
                coefficients[rest], intercepts[rest] = b, intercepts[place]
            return coefficients, intercepts, place + 1, converged
    return coefficients, intercepts, len(grid), converged
