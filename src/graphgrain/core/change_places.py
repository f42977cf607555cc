"""Where a graph can change at one place, and what is left of it without that place.

A place is a branch behind a bridge (or none at all, at any vertex), the label of a vertex with
several neighbours, or the label of an edge. Two graphs that differ at one place alone have the
same rest there. Rests are told apart by colour refinement that begins with the place marked, as
many rounds as there are vertices; a hash of all colours stands for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled, subroutine
from .hashing import mix

#: Kinds of places.
BRANCH, VERTEX, EDGE = 0, 1, 2
#: Rounds of refinement at most.
_ROUNDS = 32
_MARK = np.uint64(0x9E3779B97F4A7C15)
_WILD = np.uint64(0xD1B54A32D192ED03)
_ONE = np.uint64(1)


class Places(NamedTuple):
    """One entry for each place of each graph."""

    graphs: np.ndarray  # int64
    kinds: np.ndarray  # uint8
    anchors: np.ndarray  # int64: the vertex of the rest where it is, counted in the batch
    others: np.ndarray  # int64: the first vertex of the branch, the other end of the edge, or -1
    rests: np.ndarray  # uint64: hash of what is left
    sizes: np.ndarray  # int64: vertices of what is left
    parts: np.ndarray  # uint64: hash of what is there
    surroundings: np.ndarray  # uint64: hash of the rest around the anchor


@subroutine
def _label(codes, v):
    return mix(np.uint64(codes[v]) + _MARK)


@subroutine
def _refined(graph, base, n, out, root, second, wild_vertex, wild_edge, radius, colours, fresh):
    """A hash of the vertices that are not ``out``, and of the root's surroundings."""
    _, indptr, indices, codes, edge_codes = graph
    left = 0
    for v in range(n):
        if out[v]:
            continue
        left += 1
        colour = _WILD if wild_vertex and v == root else _label(codes, base + v)
        if v in (root, second):
            colour = mix(colour ^ _MARK)
        colours[v] = colour
    around = colours[root]
    for step in range(min(left, _ROUNDS)):
        for v in range(n):
            if out[v]:
                continue
            total = np.uint64(0)
            for e in range(indptr[base + v], indptr[base + v + 1]):
                w = indices[e] - base
                if out[w]:
                    continue
                edge = np.uint64(edge_codes[e]) if len(edge_codes) else np.uint64(0)
                if wild_edge and ((v == root and w == second) or (v == second and w == root)):
                    edge = _WILD
                total += mix(colours[w] + mix(edge + _ONE))
            fresh[v] = mix(colours[v] + _MARK * total)
        for v in range(n):
            if not out[v]:
                colours[v] = fresh[v]
        if step + 1 == radius:
            around = colours[root]
    total = np.uint64(left)
    for v in range(n):
        if not out[v]:
            total += mix(colours[v] + _ONE)
    return mix(total), around, left


@subroutine
def _behind(graph, base, n, u, v, most, out, queue):
    """Mark the side of v behind the edge (u, v); its size, or 0 if it is too large or no side."""
    _, indptr, indices, _, _ = graph
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
def find_places(offsets, indptr, indices, codes, edge_codes, begin, end, most, radius, places):
    """Fill in the places of the graphs from begin to end; how many there are."""
    graph = (offsets, indptr, indices, codes, edge_codes)
    largest = 0
    for g in range(begin, end):
        largest = max(largest, offsets[g + 1] - offsets[g])
    out = np.zeros(largest, dtype=np.uint8)
    inside = np.zeros(largest, dtype=np.uint8)
    queue = np.empty(largest, dtype=np.int64)
    colours = np.empty(largest, dtype=np.uint64)
    fresh = np.empty(largest, dtype=np.uint64)
    count = 0
    for g in range(begin, end):
        base = offsets[g]
        n = offsets[g + 1] - base
        for u in range(n):
            degree = indptr[base + u + 1] - indptr[base + u]
            out[:n] = 0
            # Nothing yet: a branch may grow here.
            rest, around, left = _refined(
                graph, base, n, out, u, -1, False, False, radius, colours, fresh
            )
            _put(places, count, g, BRANCH, base + u, -1, rest, left, np.uint64(0), around)
            count += 1
            if degree > 1:
                rest, around, left = _refined(
                    graph, base, n, out, u, -1, True, False, radius, colours, fresh
                )
                part = mix(_label(codes, base + u) + np.uint64(VERTEX))
                _put(places, count, g, VERTEX, base + u, -1, rest, left - 1, part, around)
                count += 1
            for e in range(indptr[base + u], indptr[base + u + 1]):
                v = indices[e] - base
                if len(edge_codes) and u < v:
                    out[:n] = 0
                    rest, around, left = _refined(
                        graph, base, n, out, u, v, False, True, radius, colours, fresh
                    )
                    part = mix(np.uint64(edge_codes[e]) + _MARK + np.uint64(EDGE))
                    _put(places, count, g, EDGE, base + u, base + v, rest, left, part, around)
                    count += 1
                size = _behind(graph, base, n, u, v, most, out, queue)
                if size == 0 or 2 * size > n:
                    continue
                for w in range(n):
                    inside[w] = not out[w]
                rest, around, left = _refined(
                    graph, base, n, out, u, -1, False, False, radius, colours, fresh
                )
                part, _, _ = _refined(
                    graph, base, n, inside, v, -1, False, False, radius, colours, fresh
                )
                edge = np.uint64(edge_codes[e]) if len(edge_codes) else np.uint64(0)
                part = mix(part + mix(edge + _ONE))
                _put(places, count, g, BRANCH, base + u, base + v, rest, left, part, around)
                count += 1
    return count


@subroutine
def _put(places, at, graph, kind, anchor, other, rest, size, part, around):
    places.graphs[at], places.kinds[at] = graph, kind
    places.anchors[at], places.others[at] = anchor, other
    places.rests[at] = mix(rest + np.uint64(kind))
    places.sizes[at], places.parts[at], places.surroundings[at] = size, part, around
