"""How often each vertex stands at each place of the shortest paths of a graph.

For every source s a breadth-first search gives the shortest paths from it.
1. Downwards: the number of shortest paths from s to each vertex.
2. Upwards: the number of ways on from each vertex, by their length.
3. A vertex at distance i with w ways on of length j - i stands w times (number of paths to it) at
   place i of the paths of length j.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled
from .hashing import GOLDEN, mix
from .threads import entry_point


@compiled
def hop_matrices(graphs, g):
    """Array (vertices, places): place i of paths of length j is column j (j + 1) / 2 + i.

    As many columns as the longest shortest path needs.
    """
    indptr, indices = graphs.indptr, graphs.indices
    base = graphs.offsets[g]
    n = graphs.offsets[g + 1] - base
    distance = np.empty(n, dtype=np.int64)
    queue = np.empty(n, dtype=np.int64)
    paths = np.empty(n)
    longest = 0
    for root in range(n):
        reached = _search(indptr, indices, base, root, distance, queue, paths)
        if reached:
            longest = max(longest, distance[queue[reached - 1]])
    ways = np.zeros((n, longest + 1))
    result = np.zeros((n, (longest + 1) * (longest + 2) // 2))
    for root in range(n):
        reached = _search(indptr, indices, base, root, distance, queue, paths)
        for i in range(reached - 1, -1, -1):
            v = queue[i]
            left = distance[queue[reached - 1]] - distance[v]
            ways[v, 0] = 1.0
            for length in range(1, left + 1):
                ways[v, length] = 0.0
            for entry in range(indptr[base + v], indptr[base + v + 1]):
                w = indices[entry] - base
                if distance[w] == distance[v] + 1:
                    for length in range(left):
                        ways[v, length + 1] += ways[w, length]
            for length in range(left + 1):
                j = distance[v] + length
                result[v, j * (j + 1) // 2 + distance[v]] += paths[v] * ways[v, length]
    return result


@compiled
def _search(indptr, indices, base, root, distance, queue, paths):
    """Distances and numbers of shortest paths from the root; returns how many are reached."""
    n = len(distance)
    for v in range(n):
        distance[v] = -1
        paths[v] = 0.0
    distance[root] = 0
    paths[root] = 1.0
    queue[0] = root
    head = 0
    tail = 1
    while head < tail:
        u = queue[head]
        head += 1
        for entry in range(indptr[base + u], indptr[base + u + 1]):
            v = indices[entry] - base
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                queue[tail] = v
                tail += 1
            if distance[v] == distance[u] + 1:
                paths[v] += paths[u]
    return tail


@compiled
def place_hash(label, column):
    """Hash of a label at a place of a path."""
    return mix(label + np.uint64(column + 1) * GOLDEN)


@entry_point
def count_places(graphs, begin, end):
    """Labels at places of shortest paths, with their numbers: ``(lengths, hashes, counts)``."""
    lengths = np.zeros(end - begin, dtype=np.int64)
    hashes = np.empty(1024, dtype=np.uint64)
    counts = np.empty(1024)
    local = np.full(len(graphs.label_hashes), -1, dtype=np.int64)
    total = 0
    for g in range(begin, end):
        base, last = graphs.offsets[g], graphs.offsets[g + 1]
        M = hop_matrices(graphs, g)
        columns = M.shape[1]
        distinct = 0
        for v in range(base, last):
            if local[graphs.labels[v]] < 0:
                local[graphs.labels[v]] = distinct
                distinct += 1
        sums = np.zeros((distinct, columns))
        labels = np.empty(distinct, dtype=np.uint64)
        for v in range(base, last):
            row = local[graphs.labels[v]]
            labels[row] = graphs.label_hashes[graphs.labels[v]]
            for column in range(columns):
                sums[row, column] += M[v - base, column]
        for v in range(base, last):
            local[graphs.labels[v]] = -1
        if total + distinct * columns > len(hashes):
            room = 2 * (total + distinct * columns)
            hashes = np.concatenate((hashes[:total], np.empty(room - total, dtype=np.uint64)))
            counts = np.concatenate((counts[:total], np.empty(room - total)))
        for row in range(distinct):
            for column in range(columns):
                if sums[row, column] > 0.0:
                    hashes[total] = place_hash(labels[row], column)
                    counts[total] = sums[row, column]
                    total += 1
                    lengths[g - begin] += 1
    return lengths, hashes[:total].copy(), counts[:total].copy()
