"""Reading sketches: which graphs could be similar enough to a query.

1. A query reads the lists of its own features alone and adds to each graph in them what that
   feature could contribute to the overlap.
2. Every graph's sum, plus the number of common features of the query or of the graph, is
   compared with the overlap that it would need to be among the best; most graphs are out here.
3. For the others the bits of common features are counted, which gives the bound.
4. The best bounds are kept in a heap, whose worst raises what is needed.

The caller computes the similarity itself for the graphs with the best bounds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled, inlined
from .gram import COSINE, DOT, MINMAX
from .sketches import ESCAPE, find_key

_ONE = np.uint64(1)

#: How much of a query a graph contains: a similarity beside those of Gram matrices.
CONTAINMENT = 3


class Query(NamedTuple):
    """The features of one query, and how it is compared."""

    keys: np.ndarray  # uint64, sorted
    values: np.ndarray  # float64
    kind: int  # COSINE, MINMAX, DOT or CONTAINMENT
    product: bool  # overlap by products instead of minima
    measure: float  # its sum of squared values (cosine) or of values
    size: float  # the root of it (cosine), or the same


class Best(NamedTuple):
    """A heap with the largest bounds so far, the smallest of them on top."""

    bounds: np.ndarray  # float64
    places: np.ndarray  # int64
    filled: np.ndarray  # int64, one number: how many there are


@compiled
def _read_list(gaps, begin, end, values, weight, product, sums):
    """Add what a feature of the query could contribute to the graphs of one list."""
    graph = np.int64(0)
    place = np.uint64(begin)
    stop = np.uint64(end)
    if not len(values):
        while place < stop:
            gap = gaps[place]
            graph += gap
            if gap != ESCAPE:
                sums[np.uint64(graph)] += weight
            place += _ONE
        return
    while place < stop:
        gap = gaps[place]
        graph += gap
        place += _ONE
        if gap != ESCAPE:
            value = values[gaps[place]]
            place += _ONE
            sums[np.uint64(graph)] += weight * value if product else min(weight, value)


@inlined
def _ones(word):
    """The number of bits that are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def _shared_bits(row, mask):
    total = np.uint64(0)
    for word in range(len(mask)):
        total += _ones(row[word] & mask[word])
    return np.int64(total)


@compiled
def count_bits(bits):
    """How many common features each graph has."""
    counts = np.zeros(len(bits), dtype=np.float32)
    for i in range(len(bits)):
        for word in range(bits.shape[1]):
            counts[i] += np.int64(_ones(bits[i, word]))
    return counts


@compiled
def similarity_of(kind, overlap, measure, other):
    """The similarity of two graphs from their overlap and their measures.

    A measure is the sum of squared values for the cosine, else the sum of values. The first
    graph is the one that is contained in the other.
    """
    if kind == COSINE:
        scale = measure * other
        return overlap / np.sqrt(scale) if scale > 0.0 else 0.0
    if kind == MINMAX:
        union = measure + other - overlap
        return overlap / union if union > 0.0 else 0.0
    if kind == DOT:
        return overlap
    return overlap / measure if measure > 0.0 else 0.0


@compiled
def _needed(kind, least, size):
    """``(a, b)``: a similarity of ``least`` needs an overlap of ``a + b * size of the graph``."""
    if kind == COSINE:  # sizes are roots
        return 0.0, least * size
    if kind == MINMAX:
        return least * size / (1.0 + least), least / (1.0 + least)
    if kind == DOT:
        return least, 0.0
    return least * size, 0.0


@compiled
def _sink(best):
    """Put the entry on top of a heap where it belongs."""
    bounds, places, n = best.bounds, best.places, best.filled[0]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= n:
            return
        if child + 1 < n and _worse(best, child + 1, child):
            child += 1
        if not _worse(best, child, i):
            return
        bounds[i], bounds[child] = bounds[child], bounds[i]
        places[i], places[child] = places[child], places[i]
        i = child


@inlined
def _worse(best, i, j):
    """Whether entry i comes after entry j: smaller, or as large and further back."""
    return best.bounds[i] < best.bounds[j] or (
        best.bounds[i] == best.bounds[j] and best.places[i] > best.places[j]
    )


@compiled
def _push(best, bound, place):
    """Add an entry to a heap; a full one loses its worst."""
    n = best.filled[0]
    if n == len(best.bounds):
        if bound <= best.bounds[0]:  # places ascend: an equal one that comes later is worse
            return
        best.bounds[0], best.places[0] = bound, place
        _sink(best)
        return
    best.bounds[n], best.places[n] = bound, place
    best.filled[0] = n + 1
    i = n
    while i and _worse(best, i, (i - 1) >> 1):
        up = (i - 1) >> 1
        best.bounds[i], best.bounds[up] = best.bounds[up], best.bounds[i]
        best.places[i], best.places[up] = best.places[up], best.places[i]
        i = up


@compiled
def _read_lists(query, lists, mask, sums):
    """Sums of all graphs from the lists, the bits to compare, and how many these are."""
    common = 0
    for f in range(len(query.keys)):
        at = np.int64(find_key(lists.common, query.keys[f]))
        if at >= 0:
            mask[at >> 6] |= _ONE << np.uint64(at & 63)
            common += 1
            continue
        bucket = np.int64(query.keys[f] >> lists.shift)
        _read_list(
            lists.gaps,
            lists.starts[bucket],
            lists.starts[bucket + 1],
            lists.values,
            np.float32(query.values[f]),
            query.product,
            sums,
        )
    return common


@compiled
def scan(query, lists, commons, measures, sizes, removed, base, least, best, sums, found):
    """Bounds of all graphs of a segment against one query.

    Bounds of at least ``least`` go into the heap ``best``, with places counted from ``base``;
    without a heap (one of length 0) they are written to ``found``, two columns of places and
    bounds, whose number is returned. ``commons`` are the numbers of common features of the
    graphs (:func:`count_bits`). ``sums`` is scratch space of a float32 per graph.
    """
    count = len(sizes)
    sums[:count] = 0.0
    mask = np.zeros(lists.bits.shape[1], dtype=np.uint64)
    common = np.float32(_read_lists(query, lists, mask, sums))
    for i in range(len(removed)):
        sums[removed[i]] = -np.inf
    # Sums are in single precision: a little more, so that rounding never hides a graph.
    slack = 1.0 if not len(lists.values) else 1.0 + 2.0**-20 * (8 + len(query.keys))
    keep = len(best.bounds)
    full = keep > 0 and best.filled[0] == keep
    if full:
        least = max(least, best.bounds[0])
    a, b = _needed(query.kind, least * (1.0 - 1e-6), query.size)
    n = 0
    for i in range(count):
        if (sums[i] + min(common, commons[i])) * slack < a + b * sizes[i]:
            continue
        overlap = np.float64(sums[i]) * slack
        if common > 0.0:
            overlap += _shared_bits(lists.bits[i], mask)
        measure = np.float64(measures[i])
        if not query.product:
            overlap = min(overlap, measure)  # a sum of minima is at most either sum
        if overlap <= 0.0:
            continue
        bound = similarity_of(query.kind, overlap, query.measure, measure)
        if query.kind != DOT:
            bound = min(bound, 1.0)
        if bound < least:
            continue
        if not keep:
            found[n, 0], found[n, 1] = base + i, bound
            n += 1
            continue
        _push(best, bound, base + i)
        if best.filled[0] == keep and best.bounds[0] > least:
            least = best.bounds[0]
            a, b = _needed(query.kind, least * (1.0 - 1e-6), query.size)
    return n


@compiled
def overlaps(keys, values, starts, owner, product, pointers, other_keys, other_values, which):
    """Exact overlaps of pairs: query ``owner[p]`` with graph ``which[p]``.

    Query q has the sorted ``keys[starts[q]:starts[q + 1]]``, graph g the ``other_keys`` from
    ``pointers[g]`` on, in any order.
    """
    result = np.zeros(len(owner))
    for p in range(len(owner)):
        own = keys[starts[owner[p]] : starts[owner[p] + 1]]
        base = starts[owner[p]]
        total = 0.0
        for e in range(pointers[which[p]], pointers[which[p] + 1]):
            at = find_key(own, other_keys[e])
            if at >= 0:
                x, y = values[base + at], other_values[e]
                total += x * y if product else min(x, y)
        result[p] = total
    return result


@compiled
def least_overlaps(query, lists, sums):
    """Shared common features of the query and every graph: at least so much is their overlap."""
    mask = np.zeros(lists.bits.shape[1], dtype=np.uint64)
    for f in range(len(query.keys)):
        at = np.int64(find_key(lists.common, query.keys[f]))
        if at >= 0:
            mask[at >> 6] |= _ONE << np.uint64(at & 63)
    for i in range(len(lists.bits)):
        sums[i] = _shared_bits(lists.bits[i], mask)
