"""Places at which a graph can change, and the rest of the graph without a place.

A place is a branch behind a bridge (or an empty branch, at any vertex), the label of a vertex, or
the label of an edge. Two graphs that differ at only one place have the same rest there.

1. For every edge the length of the shortest cycle through it is computed. No place cuts a cycle, so
   these lengths are the same in every rest (:func:`_shortest_cycles`).
2. A rest is identified by colour refinement that starts with the place marked, includes these
   lengths and the distances from the place, and continues until no class of vertices splits. The
   rest is represented by a hash of all colours (:func:`_refined`). Without cycle lengths,
   refinement could not distinguish two fused six-membered rings from two five-membered rings joined
   by a bond; with distances, a few rounds suffice even for long chains.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled, subroutine
from .hashing import mix
from .structures import most_vertices

#: Kinds of places.
BRANCH, VERTEX, EDGE = 0, 1, 2
#: Maximum number of refinement rounds.
_ROUNDS = 64
_MARK = np.uint64(0x9E3779B97F4A7C15)
_WILD = np.uint64(0xD1B54A32D192ED03)
_ONE = np.uint64(1)

#: A place of a graph.
PLACE = np.dtype(
    [
        ("rest", np.uint64),  # hash of the rest of the graph
        ("part", np.uint64),  # hash of the content of the place
        ("surroundings", np.uint64),  # hash of the rest around the place
        ("graph", np.int32),
        ("anchor", np.int32),  # vertex of the rest at the place, numbered within the graph
        ("other", np.int32),  # first vertex of a branch, the other end of an edge, or -1
        ("size", np.int32),  # number of vertices of the rest
        ("kind", np.int32),
    ]
)


@subroutine
def _shortest_cycles(graph, base, n, distance, queue, out):
    """Hash, for each vertex, the lengths of the shortest cycles through its edges."""
    indptr, indices = graph[0], graph[1]
    out[:n] = 0
    for u in range(n):
        for e in range(indptr[base + u], indptr[base + u + 1]):
            v = indices[e] - base
            if v <= u:
                continue
            # Search from u to v without the edge between them.
            distance[:n] = -1
            distance[u] = 0
            queue[0] = u
            at, size = 0, 1
            while at < size and distance[v] < 0:
                w = queue[at]
                at += 1
                for f in range(indptr[base + w], indptr[base + w + 1]):
                    x = indices[f] - base
                    if distance[x] < 0 and not (w == u and x == v):
                        distance[x] = distance[w] + 1
                        queue[size] = x
                        size += 1
            if distance[v] > 0:
                length = mix(np.uint64(distance[v]) + _WILD)
                out[u] += length
                out[v] += length


@subroutine
def _distances(graph, base, n, out, root, second, distance, queue):
    """Compute distances from the place to vertices that are not ``out``; -1 if unreachable."""
    indptr, indices = graph[0], graph[1]
    distance[:n] = -1
    size = 0
    for v in (root, second):
        if v >= 0:
            distance[v] = 0
            queue[size] = v
            size += 1
    at = 0
    while at < size:
        w = queue[at]
        at += 1
        for e in range(indptr[base + w], indptr[base + w + 1]):
            x = indices[e] - base
            if distance[x] < 0 and not out[x]:
                distance[x] = distance[w] + 1
                queue[size] = x
                size += 1


@subroutine
def _count_classes(colours, out, n, scratch):
    left = 0
    for v in range(n):
        if not out[v]:
            scratch[left] = colours[v]
            left += 1
    scratch[:left].sort()
    classes = min(left, 1)
    for i in range(1, left):
        classes += scratch[i] != scratch[i - 1]
    return classes


@subroutine
def _refined(graph, base, n, out, root, second, wild_vertex, wild_edge, radius, work):
    """Return hashes of the vertices not ``out`` and of the place's surroundings, and their number.

    The place is marked at ``root`` and ``second``, which may be -1.
    """
    indptr, indices, labels, edge_labels = graph
    cycles, colours, fresh, distance, queue = work
    _distances(graph, base, n, out, root, second, distance, queue)
    left = 0
    for v in range(n):
        if out[v]:
            continue
        left += 1
        colour = _WILD if wild_vertex and v == root else mix(labels[base + v] + _MARK)
        if v in (root, second):
            colour = mix(colour ^ _MARK)
        colours[v] = colour
    around = np.uint64(0)
    reach = min(radius, left)
    step, classes = 0, 0
    while True:
        if step == reach:
            if root >= 0:
                around = mix(colours[root])
            if second >= 0:
                around += mix(colours[second])
            for v in range(n):
                if not out[v]:
                    own = mix(cycles[v] + _MARK * np.uint64(distance[v] + 1))
                    colours[v] = mix(colours[v] ^ own)
        for v in range(n):
            if out[v]:
                continue
            total = np.uint64(0)
            for e in range(indptr[base + v], indptr[base + v + 1]):
                w = indices[e] - base
                if out[w]:
                    continue
                edge = edge_labels[e] if len(edge_labels) else np.uint64(0)
                if wild_edge and ((v == root and w == second) or (v == second and w == root)):
                    edge = _WILD
                total += mix(colours[w] + mix(edge + _ONE))
            fresh[v] = mix(colours[v] + _MARK * total)
        for v in range(n):
            if not out[v]:
                colours[v] = fresh[v]
        step += 1
        if step > reach:
            now = _count_classes(colours, out, n, fresh)
            if now == classes or step == reach + _ROUNDS:
                break
            classes = now
    total = np.uint64(left)
    for v in range(n):
        if not out[v]:
            total += mix(colours[v] + _ONE)
    return mix(total), around, left


@subroutine
def _behind(graph, base, n, u, v, most, out, queue):
    """Mark the side of v behind the edge (u, v); return its size, 0 if too large or no bridge."""
    indptr, indices = graph[0], graph[1]
    out[:n] = 0
    out[v] = 1
    queue[0] = v
    size = 1
    at = 0
    while at < size:
        w = queue[at]
        at += 1
        for e in range(indptr[base + w], indptr[base + w + 1]):
            x = indices[e] - base
            if x == u:
                if w == v:
                    continue
                return 0
            if not out[x]:
                if size == most:
                    return 0
                out[x] = 1
                queue[size] = x
                size += 1
    return size


@compiled
def find_places(offsets, graph, begin, end, first, most, radius, places, whole):
    """Fill in the places of the graphs from begin to end; return their number.

    ``graph`` contains row pointers, neighbours, hashes of vertex labels and hashes of edge labels
    per entry (or an empty array). Graphs are numbered from ``first`` on; ``whole`` receives a hash
    of each graph.
    """
    indptr, indices, labels, edge_labels = graph
    largest = most_vertices(offsets, begin, end)
    out = np.zeros(largest, dtype=np.uint8)
    inside = np.zeros(largest, dtype=np.uint8)
    cycles, colours, fresh = np.empty((3, largest), dtype=np.uint64)
    distance, near, queue = np.empty((3, largest), dtype=np.int64)
    work = cycles, colours, fresh, distance, near
    nothing = np.uint64(0)
    count = 0
    for g in range(begin, end):
        base = offsets[g]
        n = offsets[g + 1] - base
        number = first + g - begin
        _shortest_cycles(graph, base, n, distance, near, cycles)
        out[:n] = 0
        whole[g - begin] = _refined(graph, base, n, out, -1, -1, False, False, 0, work)[0]
        for u in range(n):
            degree = indptr[base + u + 1] - indptr[base + u]
            out[:n] = 0
            # An empty branch, at which a branch may be attached.
            found = _refined(graph, base, n, out, u, -1, False, False, radius, work)
            _put(places, count, number, BRANCH, u, -1, found, found[2], nothing)
            count += 1
            if degree != 1 and n > 1:  # a vertex with one neighbour is a branch
                found = _refined(graph, base, n, out, u, -1, True, False, radius, work)
                part = mix(labels[base + u] + np.uint64(VERTEX))
                _put(places, count, number, VERTEX, u, -1, found, n - 1, part)
                count += 1
            for e in range(indptr[base + u], indptr[base + u + 1]):
                v = indices[e] - base
                if len(edge_labels) and u < v:
                    out[:n] = 0
                    found = _refined(graph, base, n, out, u, v, False, True, radius, work)
                    part = mix(edge_labels[e] + _MARK + np.uint64(EDGE))
                    _put(places, count, number, EDGE, u, v, found, n, part)
                    count += 1
                size = _behind(graph, base, n, u, v, most, out, queue)
                if size == 0 or 2 * size > n:
                    continue
                for w in range(n):
                    inside[w] = not out[w]
                found = _refined(graph, base, n, out, u, -1, False, False, radius, work)
                part = _refined(graph, base, n, inside, v, -1, False, False, 0, work)[0]
                edge = edge_labels[e] if len(edge_labels) else nothing
                part = mix(part + mix(edge + _ONE))
                _put(places, count, number, BRANCH, u, v, found, n - size, part)
                count += 1
    return count


@subroutine
def _put(places, at, graph, kind, anchor, other, found, size, part):
    rest, around, _ = found
    places["graph"][at], places["kind"][at] = graph, kind
    places["anchor"][at], places["other"][at] = anchor, other
    places["rest"][at] = mix(rest + np.uint64(kind))
    places["size"][at], places["part"][at], places["surroundings"][at] = size, part, around
