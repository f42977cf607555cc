"""Wasserstein distances: optimal transport costs between distributions of vertices.

Since refinement only splits colours, their distances form a tree metric, for which optimal
transport has a closed form: the common shares of each colour need not move (``shared_shares``).

In general the optimal transport is computed by successive shortest paths (``transport_costs``).
Each of n vertices supplies m units, each of m others demands n. Units are sent along cheapest paths
of the residual network, found by Dijkstra's algorithm on costs made non-negative by potentials.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled
from .threads import entry_point


@entry_point
def shared_shares(x, y, lower, begin, end, K, stop):
    """K[i, j] += min(X[i, c], Y[j, c]) over all columns c, for the rows ``begin`` to ``end``.

    X and Y are in CSC form; only j <= i if ``lower``.
    """
    for c in range(len(x.indptr) - 1):
        if stop[0]:
            return
        first, last = y.indptr[c], y.indptr[c + 1]
        for place in range(x.indptr[c], x.indptr[c + 1]):
            i = x.rows[place]
            if i < begin or i >= end:
                continue
            value = x.values[place]
            for other in range(first, last):
                j = y.rows[other]
                if lower and j > i:
                    break
                K[i, j] += min(value, y.values[other])


@compiled
def _cheapest_transport(costs, n, m):
    """Return the mean cost of optimal transport between n and m points of equal weight."""
    supply = np.full(n, m, dtype=np.int64)
    demand = np.full(m, n, dtype=np.int64)
    flow = np.zeros((n, m), dtype=np.int64)
    left, right = np.zeros(n), np.zeros(m)  # potentials
    for v in range(m):
        right[v] = costs[0, v]
        for u in range(1, n):
            right[v] = min(right[v], costs[u, v])
    to_left, to_right = np.empty(n), np.empty(m)
    from_right = np.empty(n, dtype=np.int64)  # predecessors on the cheapest path
    from_left = np.empty(m, dtype=np.int64)
    done_left, done_right = np.empty(n, dtype=np.bool_), np.empty(m, dtype=np.bool_)
    for source in range(n):
        while supply[source] > 0:
            to_left[:] = np.inf
            to_right[:] = np.inf
            done_left[:] = False
            done_right[:] = False
            to_left[source] = 0.0
            from_right[source] = -1
            target = -1
            while target < 0:
                best, side, at = np.inf, 0, -1
                for u in range(n):
                    if not done_left[u] and to_left[u] < best:
                        best, side, at = to_left[u], 0, u
                for v in range(m):
                    if not done_right[v] and to_right[v] < best:
                        best, side, at = to_right[v], 1, v
                if side == 0:
                    done_left[at] = True
                    for v in range(m):
                        length = best + max(costs[at, v] + left[at] - right[v], 0.0)
                        if not done_right[v] and length < to_right[v]:
                            to_right[v] = length
                            from_left[v] = at
                else:
                    done_right[at] = True
                    if demand[at] > 0:
                        target = at
                        break
                    for u in range(n):
                        if flow[u, at] > 0 and not done_left[u]:
                            length = best + max(right[at] - costs[u, at] - left[u], 0.0)
                            if length < to_left[u]:
                                to_left[u] = length
                                from_right[u] = at
            far = to_right[target]
            for u in range(n):
                if done_left[u]:
                    left[u] += to_left[u] - far
            for v in range(m):
                if done_right[v]:
                    right[v] += to_right[v] - far
            amount = min(supply[source], demand[target])
            v = target
            while True:  # bottleneck of the path
                u = from_left[v]
                if from_right[u] < 0:
                    break
                v = from_right[u]
                amount = min(amount, flow[u, v])
            v = target
            while True:
                u = from_left[v]
                flow[u, v] += amount
                if from_right[u] < 0:
                    break
                v = from_right[u]
                flow[u, v] -= amount
            supply[source] -= amount
            demand[target] -= amount
    total = 0.0
    for u in range(n):
        for v in range(m):
            if flow[u, v] > 0:
                total += flow[u, v] * costs[u, v]
    return total / (n * m)


@entry_point
def transport_costs(left, left_ends, right, right_ends, lower, begin, end, W, stop):
    """Fill rows of W with Wasserstein distances between sets of points, with Euclidean costs.

    The points of set g are the rows ``left_ends[g]`` to ``left_ends[g + 1]``. An empty set has
    distance 0 to an empty set and infinite distance to all others.
    """
    for g in range(begin, end):
        a, n = left_ends[g], left_ends[g + 1] - left_ends[g]
        for h in range(g + 1 if lower else len(right_ends) - 1):
            if stop[0]:
                return
            b, m = right_ends[h], right_ends[h + 1] - right_ends[h]
            if n == 0 or m == 0:
                W[g, h] = 0.0 if n == m else np.inf
                continue
            costs = np.empty((n, m))
            for u in range(n):
                for v in range(m):
                    square = 0.0
                    for k in range(left.shape[1]):
                        difference = left[a + u, k] - right[b + v, k]
                        square += difference * difference
                    costs[u, v] = np.sqrt(square)
            W[g, h] = _cheapest_transport(costs, n, m)
