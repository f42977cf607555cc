"""Number of shortest paths of a graph with each vertex at each position.

For every source s, a breadth-first search gives the shortest paths from it.
1. Forward: the number of shortest paths from s to each vertex.
2. Backward: the number of continuations of each vertex, by length. Those of the vertices at one
   distance follow from those at the next distance, so only two layers are stored.
3. A vertex at distance i with w continuations of length j - i is at position i of
   w times (number of paths to it) paths of length j.
"""

from __future__ import annotations

import numpy as np

from .balls import empty_ball, fill_ball, make_ball
from .compiling import compiled
from .counting import with_room
from .hashing import GOLDEN, mix
from .memory import require_memory
from .structures import Graphs
from .threads import entry_point

#: The matrices of graphs with fewer vertices always fit into memory.
_FEW = 256
#: Advice in error messages about memory.
INSTEAD = "Use a kernel with fewer features such as WeisfeilerLehman or PathPattern"


@compiled
def _furthest(graphs, base, roots, ball, stop):
    """Return the length of the longest shortest path from some roots, and its last vertex."""
    longest = end = 0
    for root in roots:
        if stop[0]:
            break
        reached = fill_ball(graphs, base, root, len(ball.place), ball)
        if ball.distance[reached - 1] >= longest:
            longest, end = ball.distance[reached - 1], ball.members[reached - 1]
        empty_ball(ball, reached)
    return longest, end


@compiled
def _count_paths(graphs, base, count, ball, paths):
    """Count the shortest paths from the centre of a ball to each of its members."""
    indptr, indices = graphs.indptr, graphs.indices
    place, distance, members = ball.place, ball.distance, ball.members
    paths[:count] = 0.0
    paths[0] = 1.0
    for i in range(count):
        v = base + members[i]
        for entry in range(indptr[v], indptr[v + 1]):
            j = place[indices[entry] - base]
            if j >= 0 and distance[j] == distance[i] + 1:
                paths[j] += paths[i]


@compiled
def _layer_begin(distance, end):
    """Return the first member at the same distance as the one before ``end``."""
    begin = end - 1
    while begin > 0 and distance[begin - 1] == distance[end - 1]:
        begin -= 1
    return begin


@compiled
def _room(distance, reached):
    """Return the largest number of continuations of the vertices of a ball at one distance."""
    room = 1
    end = reached
    while end > 0:
        begin = _layer_begin(distance, end)
        room = max(room, (end - begin) * (distance[reached - 1] - distance[begin] + 1))
        end = begin
    return room


@compiled
def _add_places(graphs, base, root, rows, sums, ball, paths, ways):
    """Add the contribution of one root: vertex v at a position (column) is added to ``rows[v]``.

    Returns the scratch array ``ways``, enlarged if necessary.
    """
    indptr, indices = graphs.indptr, graphs.indices
    members, distance, place = ball
    reached = fill_ball(graphs, base, root, len(place), ball)
    _count_paths(graphs, base, reached, ball, paths)
    longest = distance[reached - 1]
    room = _room(distance, reached)
    if room > ways.shape[1]:
        ways = np.empty((2, room))
    end = reached
    while end > 0:
        begin = _layer_begin(distance, end)
        d = distance[begin]
        left = longest - d
        own, after = ways[d % 2], ways[(d + 1) % 2]
        for i in range(begin, end):
            v = members[i]
            first = (i - begin) * (left + 1)
            own[first] = 1.0
            for length in range(1, left + 1):
                own[first + length] = 0.0
            for entry in range(indptr[base + v], indptr[base + v + 1]):
                further = place[indices[entry] - base] - end
                if further >= 0:  # at the next distance
                    at = further * left
                    for length in range(left):
                        own[first + 1 + length] += after[at + length]
            for length in range(left + 1):
                j = d + length
                sums[rows[v], j * (j + 1) // 2 + d] += paths[i] * own[first + length]
        end = begin
    empty_ball(ball, reached)
    return ways


@compiled
def _add_all_places(graphs, g, rows, n_rows, stop):
    """Sum the contributions of all roots, with columns for the longest shortest path."""
    base = graphs.offsets[g]
    n = graphs.offsets[g + 1] - base
    ball, paths = make_ball(graphs, g, g + 1), np.empty(n)
    longest, _ = _furthest(graphs, base, np.arange(n), ball, stop)
    sums = np.zeros((n_rows, (longest + 1) * (longest + 2) // 2))
    ways = np.empty((2, 1024))
    for root in range(n):
        if stop[0]:
            break
        ways = _add_places(graphs, base, root, rows, sums, ball, paths, ways)
    return sums


@entry_point
def _hop_matrices(graphs, g, stop):
    n = graphs.offsets[g + 1] - graphs.offsets[g]
    return _add_all_places(graphs, g, np.arange(n), n, stop)


def hop_matrices(graphs: Graphs, g: int) -> np.ndarray:
    """Return an array (vertices, positions): position i of length j is column j (j + 1) / 2 + i.

    The number of columns is determined by the longest shortest path.
    """
    n = int(graphs.offsets[g + 1] - graphs.offsets[g])
    if n > _FEW:
        longest, _ = long_path(graphs, g, np.arange(_FEW // 4))
        require_memory(
            8.0 * n * (longest + 1) * (longest + 2) / 2,
            f"The places of {n:,} vertices on shortest paths of up to {longest:,} edges",
            INSTEAD,
        )
    return _hop_matrices(graphs, g)


@entry_point
def long_path(graphs, g, roots, stop):
    """Return the length of a long shortest path of graph g, and the room for continuations.

    The path leads from a vertex furthest from some roots to the vertex furthest from there; it is
    the longest one in trees, and often in other graphs.
    """
    base = graphs.offsets[g]
    ball = make_ball(graphs, g, g + 1)
    room = 1
    for root in roots:
        if stop[0]:
            break
        reached = fill_ball(graphs, base, root, len(ball.place), ball)
        room = max(room, _room(ball.distance, reached))
        empty_ball(ball, reached)
    _, end = _furthest(graphs, base, roots, ball, stop)
    longest, _ = _furthest(graphs, base, np.array([end]), ball, stop)
    return longest, room


@entry_point
def count_places(graphs, begin, end, stop):
    """Count labels at positions of shortest paths: ``(lengths, hashes, counts)``."""
    lengths = np.zeros(end - begin, dtype=np.int64)
    hashes = np.empty(1024, dtype=np.uint64)
    counts = np.empty(1024)
    local = np.full(len(graphs.label_hashes), -1, dtype=np.int64)
    total = 0
    for g in range(begin, end):
        base, last = graphs.offsets[g], graphs.offsets[g + 1]
        rows = np.empty(last - base, dtype=np.int64)
        labels = np.empty(last - base, dtype=np.uint64)
        distinct = 0
        for v in range(base, last):
            code = graphs.labels[v]
            if local[code] < 0:
                labels[distinct] = graphs.label_hashes[code]
                local[code] = distinct
                distinct += 1
            rows[v - base] = local[code]
        for v in range(base, last):
            local[graphs.labels[v]] = -1
        sums = _add_all_places(graphs, g, rows, distinct, stop)
        found = 0
        for row in range(distinct):
            for column in range(sums.shape[1]):
                found += sums[row, column] > 0.0
        hashes, counts = with_room(total + found, hashes, counts)
        for row in range(distinct):
            for column in range(sums.shape[1]):
                if sums[row, column] > 0.0:
                    hashes[total] = mix(labels[row] + np.uint64(column + 1) * GOLDEN)
                    counts[total] = sums[row, column]
                    total += 1
        lengths[g - begin] = found
    return lengths, hashes[:total], counts[:total]
