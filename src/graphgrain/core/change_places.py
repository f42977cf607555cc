"""Where a graph can change at one place, and what is left of it without that place.

A place is a branch behind a bridge (or none at all, at any vertex), the label of a vertex, or the
label of an edge. Two graphs that differ at one place alone have the same rest there.

1. Every edge gets the length of the shortest cycle through it. No place cuts a cycle, so that these
   lengths are those of every rest, too (:func:`_shortest_cycles`).
2. A rest is told apart by colour refinement that begins with the place marked, takes in these
   lengths and distances from the place, and goes on until no class of vertices splits any more; a
   hash of all colours stands for it (:func:`_refined`). Without cycles refinement would not see the
   difference between two fused rings of six and two rings of five joined by a bond; with
   distances a few rounds are enough for long chains, too.
3. Places with the same rest and different parts are paired (:func:`pair_places`).
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled, subroutine
from .hashing import mix
from .structures import most_vertices
from .threads import entry_point

#: Kinds of places.
BRANCH, VERTEX, EDGE = 0, 1, 2
#: Rounds of refinement at most.
_ROUNDS = 64
_MARK = np.uint64(0x9E3779B97F4A7C15)
_WILD = np.uint64(0xD1B54A32D192ED03)
_ONE = np.uint64(1)

#: A place of a graph.
PLACE = np.dtype(
    [
        ("rest", np.uint64),  # hash of what is left
        ("part", np.uint64),  # hash of what is there
        ("surroundings", np.uint64),  # hash of the rest around the place
        ("graph", np.int32),
        ("anchor", np.int32),  # the vertex of the rest where it is, counted in its graph
        ("other", np.int32),  # the first vertex of a branch, the other end of an edge, or -1
        ("size", np.int32),  # vertices of what is left
        ("kind", np.int32),
    ]
)


@subroutine
def _shortest_cycles(graph, base, n, distance, queue, out):
    """For each vertex a hash of the lengths of the shortest cycles through its edges."""
    indptr, indices = graph[0], graph[1]
    out[:n] = 0
    for u in range(n):
        for e in range(indptr[base + u], indptr[base + u + 1]):
            v = indices[e] - base
            if v <= u:
                continue
            # From u to v without the edge between them.
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
    """Edges between the place and each vertex that is not ``out``; -1 where there is no path."""
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
    """A hash of the vertices that are not ``out``, one of the place's surroundings, their number.

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
    """Mark the side of v behind the edge (u, v); its size, or 0 if it is too large or no side."""
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
    """Fill in the places of the graphs from begin to end; how many there are.

    ``graph`` is row pointers, neighbours, hashes of vertex labels and, entry by entry, of edge
    labels, or none. Graphs are numbered from ``first`` on; ``whole`` gets a hash of each.
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
            # Nothing yet: a branch may grow here.
            found = _refined(graph, base, n, out, u, -1, False, False, radius, work)
            _put(places, count, number, BRANCH, u, -1, found, found[2], nothing)
            count += 1
            if degree != 1 and n > 1:  # with one neighbour it is a branch
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


@entry_point
def pair_places(places, at, other, left, right):
    """Pairs of places with the same rest that hold different parts, of different graphs.

    ``places`` are sorted by rest, part and graph. Numbers of places go to ``left`` and ``right``;
    where these are full, the search ends. Returns from where it goes on (``at``, ``other``; it is
    at the end if ``at`` is the number of places), and the number of pairs.
    """
    rests, parts, graphs = places["rest"], places["part"], places["graph"]
    count = 0
    while at < len(rests):
        # The same part of the same graph at equivalent places counts once.
        if not _repeats(rests, parts, graphs, at):
            other = max(other, at + 1)
            while other < len(rests) and rests[other] == rests[at]:
                if (
                    parts[other] != parts[at]
                    and graphs[other] != graphs[at]
                    and not _repeats(rests, parts, graphs, other)
                ):
                    if count == len(left):
                        return at, other, count
                    left[count], right[count] = at, other
                    count += 1
                other += 1
        at += 1
        other = 0
    return at, 0, count


@subroutine
def _repeats(rests, parts, graphs, at):
    return (
        at > 0
        and graphs[at] == graphs[at - 1]
        and parts[at] == parts[at - 1]
        and rests[at] == rests[at - 1]
    )
