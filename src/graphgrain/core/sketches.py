"""Sketches of feature counts: compact, with upper bounds of the overlap of graphs.

The overlap of two graphs is the sum over common features of the product (or the minimum) of
their values. A sketch bounds it from above:

1. The most common features have one bit each (``bits``, one row of words per graph). The number of
   bits shared by two graphs is exact. Only used if all values are 1.
2. All other features are assigned to buckets by their leading bits. A bucket has a list of the
   graphs with a feature in it (``gaps``: byte-encoded differences of successive graph numbers). A
   graph in the list of a query's feature may have that feature; a graph not in the list does not.
   If values differ, each number is followed by a code of the graph's sum of values in the bucket,
   rounded up, which bounds the value of the feature.

A gap of 255 or more is encoded as bytes of 255 and a remainder below. :func:`scan` reads the lists
to find the graphs that could be similar enough to a query.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled, inlined
from .similarity import COSINE, DOT, MINMAX, similarity
from .structures import find_key

#: Minimum and maximum number of leading bits of a feature that select its bucket.
FEWEST_BITS, MOST_BITS = 11, 15
ESCAPE = 255
_ONE = np.uint64(1)


class Lists(NamedTuple):
    """Sketches of the graphs of one segment."""

    common: np.ndarray  # uint64, sorted: features with a bit
    bits: np.ndarray  # uint64, (graphs, words)
    shift: np.uint64  # the bucket of a feature is the feature shifted right by this
    starts: np.ndarray  # uint32, first entry of the list of each bucket
    gaps: np.ndarray  # uint8
    values: np.ndarray  # float32, value of each code; empty if all values are 1


@compiled
def sketch(pointers, keys, values, common, weighted):
    """Compute the bits and buckets of graphs: ``(bits, lengths, buckets, sums)``.

    Graph i has the features ``keys[pointers[i]:pointers[i + 1]]``. Buckets have ``MOST_BITS`` bits
    and are distinct within a graph; ``sums`` are the sums of values per bucket (empty unless
    ``weighted``).
    """
    count = len(pointers) - 1
    bits = np.zeros((count, (len(common) + 63) >> 6), dtype=np.uint64)
    lengths = np.empty(count, dtype=np.int64)
    buckets = np.empty(len(keys), dtype=np.uint16)
    sums = np.empty(len(keys) if weighted else 0, dtype=np.float32)
    owner = np.full(1 << MOST_BITS, -1, dtype=np.int64)
    position = np.empty(1 << MOST_BITS, dtype=np.int64)
    shift = np.uint64(64 - MOST_BITS)
    total = 0
    for i in range(count):
        begin = total
        for e in range(pointers[i], pointers[i + 1]):
            at = np.int64(find_key(common, keys[e]))
            if at >= 0:
                bits[i, at >> 6] |= _ONE << np.uint64(at & 63)
                continue
            bucket = np.int64(keys[e] >> shift)
            if owner[bucket] != i:
                owner[bucket], position[bucket] = i, total
                buckets[total] = bucket
                if weighted:
                    sums[total] = 0.0
                total += 1
            if weighted:
                # Rounded up: a sum must never be less than the exact one.
                sums[position[bucket]] = (sums[position[bucket]] + values[e]) * (1.0 + 2.0**-22)
        lengths[i] = total - begin
    return bits, lengths, buckets[:total].copy(), sums[: total if weighted else 0].copy()


@compiled
def coarser(lengths, buckets, sums, bits):
    """Merge buckets of ``MOST_BITS`` into ``bits`` bits: ``(lengths, buckets, sums)``."""
    owner = np.full(1 << bits, -1, dtype=np.int64)
    position = np.empty(1 << bits, dtype=np.int64)
    merged = np.empty_like(buckets)
    added = np.zeros_like(sums)
    merged_lengths = np.empty_like(lengths)
    entry = total = 0
    for graph in range(len(lengths)):
        begin = total
        for _ in range(lengths[graph]):
            bucket = np.int64(buckets[entry]) >> (MOST_BITS - bits)
            if owner[bucket] != graph:
                owner[bucket], position[bucket] = graph, total
                merged[total] = bucket
                total += 1
            if len(sums):
                at = position[bucket]
                added[at] = (added[at] + sums[entry]) * (1.0 + 2.0**-22)
            entry += 1
        merged_lengths[graph] = total - begin
    return merged_lengths, merged[:total].copy(), added[: total if len(sums) else 0].copy()


@compiled
def make_lists(lengths, buckets, codes, bits):
    """Build the lists of all buckets from the buckets of each graph: ``(starts, gaps)``.

    ``codes`` contains a byte per entry of ``buckets``, or is empty if all values are 1.
    """
    weighted = len(codes) > 0
    starts = np.zeros((1 << bits) + 1, dtype=np.int64)
    last = np.zeros(1 << bits, dtype=np.int64)
    entry = 0
    for graph in range(len(lengths)):
        for _ in range(lengths[graph]):
            bucket = np.int64(buckets[entry])
            starts[bucket + 1] += (graph - last[bucket]) // ESCAPE + 1 + weighted
            last[bucket] = graph
            entry += 1
    for before in range(1 << bits):
        starts[before + 1] += starts[before]
    gaps = np.empty(starts[-1], dtype=np.uint8)
    fill = starts[:-1].copy()
    last[:] = 0
    entry = 0
    for graph in range(len(lengths)):
        for _ in range(lengths[graph]):
            bucket = np.int64(buckets[entry])
            gap = graph - last[bucket]
            last[bucket] = graph
            for _ in range(gap // ESCAPE):
                gaps[fill[bucket]] = ESCAPE
                fill[bucket] += 1
            gaps[fill[bucket]] = gap % ESCAPE
            fill[bucket] += 1
            if weighted:
                gaps[fill[bucket]] = codes[entry]
                fill[bucket] += 1
            entry += 1
    return starts, gaps


@compiled
def lists_fit(starts, gaps, codes, graphs):
    """Return whether lists from a file are valid: all graph numbers and codes are in range.

    ``codes`` is the number of valid codes, 0 if all values are 1.
    """
    if starts[0] != 0 or starts[len(starts) - 1] != len(gaps):
        return False
    for bucket in range(len(starts) - 1):
        position, end = np.int64(starts[bucket]), np.int64(starts[bucket + 1])
        if position > end or end > len(gaps):
            return False
        graph = np.int64(0)
        while position < end:
            gap = np.int64(gaps[position])
            graph += gap
            position += 1
            if gap == ESCAPE:
                if position == end:
                    return False
                continue
            if graph >= graphs:
                return False
            if codes:
                if position == end or gaps[position] >= codes:
                    return False
                position += 1
    return True


@compiled
def read_lists(starts, gaps):
    """Return the graphs and codes of all entries of valid lists with codes, list after list."""
    graphs = np.empty(len(gaps), dtype=np.int64)
    codes = np.empty(len(gaps), dtype=np.uint8)
    n = 0
    for bucket in range(len(starts) - 1):
        graph = np.int64(0)
        position, end = np.int64(starts[bucket]), np.int64(starts[bucket + 1])
        while position < end:
            gap = np.int64(gaps[position])
            graph += gap
            position += 1
            if gap != ESCAPE:
                graphs[n], codes[n] = graph, gaps[position]
                position += 1
                n += 1
    return graphs[:n].copy(), codes[:n].copy()


# -------------------------------------------------------------------- reading
#
# 1. A query only reads the lists of its own features, and adds to each graph in a list the maximum
#    contribution of that feature to the overlap.
# 2. The sum of each graph, plus the smaller number of common features of query and graph, is
#    compared with the overlap needed to be among the best, which excludes most graphs.
# 3. For the remaining graphs the shared bits of common features are counted, which gives the bound.
# 4. The best bounds are kept in a heap; its worst entry raises the overlap needed.
#
# The caller computes the exact similarity for the graphs with the best bounds.


class Query(NamedTuple):
    """Features of one query, and how it is compared."""

    keys: np.ndarray  # uint64, sorted
    values: np.ndarray  # float64
    kind: int  # COSINE, MINMAX, DOT or CONTAINMENT
    product: bool  # overlap by products instead of minima
    measure: float  # sum of squared values (cosine) or of values
    size: float  # square root of the measure (cosine), or the measure


class Best(NamedTuple):
    """A heap of the largest bounds so far, with the smallest of them on top."""

    bounds: np.ndarray  # float64
    positions: np.ndarray  # int64
    filled: np.ndarray  # int64, one entry: number of bounds


@compiled
def _read_list(gaps, begin, end, values, weight, product, sums):
    """Add the maximum contribution of a feature of the query to the graphs of one list."""
    graph = np.int64(0)
    position = np.uint64(begin)
    stop = np.uint64(end)
    if not len(values):
        while position < stop:
            gap = gaps[position]
            graph += gap
            if gap != ESCAPE:
                sums[np.uint64(graph)] += weight
            position += _ONE
        return
    while position < stop:
        gap = gaps[position]
        graph += gap
        position += _ONE
        if gap != ESCAPE:
            value = values[gaps[position]]
            position += _ONE
            sums[np.uint64(graph)] += weight * value if product else min(weight, value)


@inlined
def _ones(word):
    """Return the number of set bits."""
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
    """Return the number of common features of each graph."""
    counts = np.zeros(len(bits), dtype=np.float32)
    for i in range(len(bits)):
        for word in range(bits.shape[1]):
            counts[i] += np.int64(_ones(bits[i, word]))
    return counts


@compiled
def _needed(kind, least, size):
    """Return ``(a, b)``: similarity ``least`` needs an overlap of ``a + b * size of the graph``."""
    if kind == COSINE:  # sizes are square roots
        return 0.0, least * size
    if kind == MINMAX:
        return least * size / (1.0 + least), least / (1.0 + least)
    if kind == DOT:
        return least, 0.0
    return least * size, 0.0


@compiled
def _sink(best):
    """Restore the heap order after the top entry was replaced."""
    bounds, positions, n = best.bounds, best.positions, best.filled[0]
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
        positions[i], positions[child] = positions[child], positions[i]
        i = child


@inlined
def _worse(best, i, j):
    """Return whether entry i is worse than entry j: smaller, or equal with a larger position."""
    return best.bounds[i] < best.bounds[j] or (
        best.bounds[i] == best.bounds[j] and best.positions[i] > best.positions[j]
    )


@compiled
def _push(best, bound, position):
    """Add an entry to a heap; a full heap drops its worst entry."""
    n = best.filled[0]
    if n == len(best.bounds):
        if bound <= best.bounds[0]:  # positions ascend, so a later equal bound is worse
            return
        best.bounds[0], best.positions[0] = bound, position
        _sink(best)
        return
    best.bounds[n], best.positions[n] = bound, position
    best.filled[0] = n + 1
    i = n
    while i and _worse(best, i, (i - 1) >> 1):
        up = (i - 1) >> 1
        best.bounds[i], best.bounds[up] = best.bounds[up], best.bounds[i]
        best.positions[i], best.positions[up] = best.positions[up], best.positions[i]
        i = up


@compiled
def _read_lists(query, lists, mask, sums):
    """Fill the sums of all graphs and the bit mask of the query; return its number of set bits."""
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
def scan(query, lists, commons, measures, sizes, removed, base, least, best, sums):
    """Compute bounds of all graphs of a segment against one query.

    Bounds of at least ``least`` are pushed to the heap ``best``; positions begin at ``base``.
    ``commons`` are the numbers of common features of the graphs (:func:`count_bits`). ``sums`` is
    scratch space for a float32 per graph.
    """
    count = len(sizes)
    sums[:count] = 0.0
    mask = np.zeros(lists.bits.shape[1], dtype=np.uint64)
    common = np.float32(_read_lists(query, lists, mask, sums))
    for i in range(len(removed)):
        sums[removed[i]] = -np.inf
    # Sums are in single precision; the slack ensures that rounding never excludes a graph.
    slack = 1.0 if not len(lists.values) else 1.0 + 2.0**-20 * (8 + len(query.keys))
    keep = len(best.bounds)
    if best.filled[0] == keep:
        least = max(least, best.bounds[0])
    a, b = _needed(query.kind, least * (1.0 - 1e-6), query.size)
    for i in range(count):
        if (sums[i] + min(common, commons[i])) * slack < a + b * sizes[i]:
            continue
        overlap = np.float64(sums[i]) * slack
        if common > 0.0:
            overlap += _shared_bits(lists.bits[i], mask)
        measure = np.float64(measures[i])
        if not query.product:
            overlap = min(overlap, measure * slack)  # a sum of minima is at most either sum
        if overlap <= 0.0:
            continue
        bound = similarity(query.kind, overlap, query.measure, measure)
        if bound < least:
            continue
        _push(best, bound, base + i)
        if best.filled[0] == keep and best.bounds[0] > least:
            least = best.bounds[0]
            a, b = _needed(query.kind, least * (1.0 - 1e-6), query.size)


@compiled
def exact_similarities(
    kind, product, keys, values, starts, measures, owner, pointers, other_keys, other_values,
    other_measures, rows,
):  # fmt: skip
    """Compute the exact similarities of pairs: query ``owner[p]`` and graph ``rows[p]``.

    Query q has the sorted ``keys[starts[q]:starts[q + 1]]``, graph g the ``other_keys`` from
    ``pointers[g]`` on, in any order.
    """
    result = np.zeros(len(owner))
    for p in range(len(owner)):
        query_keys = keys[starts[owner[p]] : starts[owner[p] + 1]]
        base = starts[owner[p]]
        total = 0.0
        for e in range(pointers[rows[p]], pointers[rows[p] + 1]):
            at = find_key(query_keys, other_keys[e])
            if at >= 0:
                x, y = values[base + at], other_values[e]
                total += x * y if product else min(x, y)
        result[p] = similarity(kind, total, measures[owner[p]], other_measures[rows[p]])
    return result


@compiled
def least_similarities(query, lists, measures):
    """Compute lower bounds of similarities, from the common features that both graphs have."""
    least = np.empty(len(measures))
    mask = np.zeros(lists.bits.shape[1], dtype=np.uint64)
    for f in range(len(query.keys)):
        at = np.int64(find_key(lists.common, query.keys[f]))
        if at >= 0:
            mask[at >> 6] |= _ONE << np.uint64(at & 63)
    for i in range(len(measures)):
        overlap = np.float64(_shared_bits(lists.bits[i], mask))
        least[i] = similarity(query.kind, overlap, query.measure, np.float64(measures[i]))
    return least
