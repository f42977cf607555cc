"""Induced subgraphs of three to five vertices, enumerated or sampled.

Enumeration (Wernicke's ESU): a connected set is grown from its smallest vertex. A vertex becomes a
candidate when its first neighbour joins the set, and each candidate is used once, so that every
connected set is visited exactly once.

Sampling: a connected set is grown from a random vertex by random neighbours. Sets have different
probabilities and are weighted by their inverse, so that the expected counts are exact.

The adjacency of a set is encoded as bits: the pair (i, j) of members in order of joining, i < j, at
position j (j - 1) / 2 + i. A table maps codes to types up to isomorphism.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled
from .hashing import GOLDEN, mix
from .structures import entry_between
from .threads import entry_point

_ONE = np.uint64(1)


@compiled
def _code_with(indptr, indices, members, size, code, v):
    """Return the adjacency bits of the first ``size`` members and v."""
    place = size * (size - 1) // 2
    for i in range(size):
        if entry_between(indptr, indices, v, members[i]) >= 0:
            code |= 1 << (place + i)
    return code


@compiled
def _enumerate(graphs, g, largest, types, counts, found, stop):
    """Count connected sets of 1 to ``largest`` vertices of graph g by type.

    ``types[size]`` maps adjacency bits to types; counts are added to ``counts[size]``. Sets of
    ``largest`` vertices are written to the rows of ``found`` until it is full. Returns their
    number.
    """
    indptr, indices = graphs.indptr, graphs.indices
    base, end = graphs.offsets[g], graphs.offsets[g + 1]
    n = end - base
    members = np.empty(largest, dtype=np.int64)
    codes = np.zeros(largest, dtype=np.int64)
    room = 1
    for v in range(base, end):
        room += indptr[v + 1] - indptr[v]
    room = min(room, n + 1)
    candidates = np.empty((largest, room), dtype=np.int64)
    waiting = np.zeros(largest, dtype=np.int64)  # remaining candidates at each depth
    marked = np.zeros((largest, room), dtype=np.int64)  # vertices first seen at each depth
    met = np.zeros(largest, dtype=np.int64)
    seen = np.zeros(n, dtype=np.bool_)
    total = 0
    for root in range(base, end):
        if stop[0]:
            break
        members[0] = root
        codes[0] = 0
        counts[1, 0] += 1
        if largest == 1:
            continue
        seen[root - base] = True
        waiting[0] = 0
        met[0] = 0
        for entry in range(indptr[root], indptr[root + 1]):
            w = indices[entry]
            seen[w - base] = True
            marked[0, met[0]] = w
            met[0] += 1
            if w > root:
                candidates[0, waiting[0]] = w
                waiting[0] += 1
        depth = 0
        while depth >= 0:
            if waiting[depth] == 0:
                for i in range(met[depth]):
                    seen[marked[depth, i] - base] = False
                depth -= 1
                continue
            waiting[depth] -= 1
            v = candidates[depth, waiting[depth]]
            size = depth + 2
            code = _code_with(indptr, indices, members, size - 1, codes[depth], v)
            counts[size, types[size, code]] += 1
            if size == largest:
                if total < len(found):
                    for i in range(size - 1):
                        found[total, i] = members[i] - base
                    found[total, size - 1] = v - base
                    found[total, size] = types[size, code]
                total += 1
                continue
            members[depth + 1] = v
            codes[depth + 1] = code
            waiting[depth + 1] = waiting[depth]
            for i in range(waiting[depth]):
                candidates[depth + 1, i] = candidates[depth, i]
            met[depth + 1] = 0
            for entry in range(indptr[v], indptr[v + 1]):
                w = indices[entry]
                if not seen[w - base]:
                    seen[w - base] = True
                    marked[depth + 1, met[depth + 1]] = w
                    met[depth + 1] += 1
                    if w > root:
                        candidates[depth + 1, waiting[depth + 1]] = w
                        waiting[depth + 1] += 1
            depth += 1
        seen[root - base] = False
    return total


@entry_point
def count_connected(graphs, largest, types, begin, end, stop):
    """Count connected sets of 1 to ``largest`` vertices by type: array (graphs, sizes, types)."""
    counts = np.zeros((end - begin, largest + 1, types.max() + 1), dtype=np.int64)
    nothing = np.empty((0, largest + 1), dtype=np.int64)
    for g in range(begin, end):
        _enumerate(graphs, g, largest, types, counts[g - begin], nothing, stop)
    return counts


@entry_point
def list_connected(graphs, g, size, types, total, stop):
    """List all ``total`` connected sets of ``size`` vertices of graph g, with the type last."""
    counts = np.zeros((size + 1, types.max() + 1), dtype=np.int64)
    found = np.empty((total, size + 1), dtype=np.int64)
    _enumerate(graphs, g, size, types, counts, found, stop)
    return found


@compiled
def _draw_number(state, below):
    """Return the next state of the generator (SplitMix64) and a number from 0 to below - 1."""
    state += GOLDEN
    return state, np.int64(mix(state) % np.uint64(below))


@compiled
def _probability(indptr, indices, members, size, code, n):
    """Return the probability that growth from a random vertex produces this set.

    The sum over all orders is P(S) = sum over v of P(S - v) / (neighbours of S - v).
    """
    full = 1 << size
    neighbours = np.zeros(size, dtype=np.int64)  # adjacency within the set, as bits
    for j in range(size):
        for i in range(j):
            if code >> (j * (j - 1) // 2 + i) & 1:
                neighbours[i] |= 1 << j
                neighbours[j] |= 1 << i
    chance = np.zeros(full)
    for i in range(size):
        chance[1 << i] = 1.0 / n
    for part in range(1, full - 1):
        if chance[part] == 0.0:
            continue
        border = 0
        for i in range(size):  # neighbours outside the part, each counted once
            if part >> i & 1 == 0:
                continue
            for entry in range(indptr[members[i]], indptr[members[i] + 1]):
                w = indices[entry]
                fresh = True
                for j in range(size):
                    if part >> j & 1 and (
                        members[j] == w
                        or (j < i and entry_between(indptr, indices, members[j], w) >= 0)
                    ):
                        fresh = False
                        break
                border += fresh
        for v in range(size):
            if part >> v & 1 == 0 and neighbours[v] & part:
                chance[part | 1 << v] += chance[part] / border
    return chance[full - 1]


@compiled
def _draw_connected(graphs, base, n, size, state, members, border, inside):
    """Grow a connected set; return the next state, its adjacency bits and its size."""
    indptr, indices = graphs.indptr, graphs.indices
    state, first = _draw_number(state, n)
    members[0] = base + first
    inside[first] = True
    code = waiting = 0
    grown = 1
    while True:
        last = members[grown - 1]
        for entry in range(indptr[last], indptr[last + 1]):
            w = indices[entry] - base
            if not inside[w]:
                inside[w] = True  # in the set or on its border
                border[waiting] = w
                waiting += 1
        if grown == size or waiting == 0:
            break
        state, place = _draw_number(state, waiting)
        v = border[place] + base
        waiting -= 1
        border[place] = border[waiting]
        code = _code_with(indptr, indices, members, grown, code, v)
        members[grown] = v
        grown += 1
    for i in range(waiting):
        inside[border[i]] = False
    for i in range(grown):
        inside[members[i] - base] = False
    return state, code, grown


@compiled
def _draw_any(graphs, base, n, size, state, members):
    """Draw any set; return the next state and its adjacency bits."""
    code = grown = 0
    while grown < size:
        state, v = _draw_number(state, n)
        again = False
        for i in range(grown):
            again |= members[i] == base + v
        if not again:
            code = _code_with(graphs.indptr, graphs.indices, members, grown, code, base + v)
            members[grown] = base + v
            grown += 1
    return state, code


@entry_point
def sample_sets(graphs, size, connected, types, samples, seed, begin, end):
    """Estimate the counts of sets of ``size`` vertices by type from ``samples`` random sets."""
    indptr, indices = graphs.indptr, graphs.indices
    counts = np.zeros((end - begin, types.max() + 1))
    members = np.empty(size, dtype=np.int64)
    for g in range(begin, end):
        base = graphs.offsets[g]
        n = graphs.offsets[g + 1] - base
        if n < size:
            continue
        border = np.empty(n, dtype=np.int64)
        inside = np.zeros(n, dtype=np.bool_)
        sets = 1.0
        for i in range(size):
            sets *= (n - i) / (i + 1)
        state = seed ^ mix(np.uint64(n) * GOLDEN + np.uint64(indptr[base + n] - indptr[base]))
        for _ in range(samples):
            if not connected:
                state, code = _draw_any(graphs, base, n, size, state, members)
                counts[g - begin, types[size, code]] += sets / samples
                continue
            state, code, grown = _draw_connected(
                graphs, base, n, size, state, members, border, inside
            )
            if grown == size:
                weight = _probability(indptr, indices, members, size, code, n) * samples
                counts[g - begin, types[size, code]] += 1.0 / weight
    return counts
