"""Sketches of feature counts: small, and never below the overlap that they stand for.

The overlap of two graphs is the sum over common features of the product (or the minimum) of
their values. A sketch bounds it from above:

1. The most common features have a bit each (``bits``, one row of words per graph). Counting the
   bits that two graphs share is exact. Only for values that are all 1.
2. All other features fall into buckets by their leading bits. A bucket has a list of the graphs
   with a feature there (``gaps``: each number as the step from the one before, in bytes). A
   graph that is in the list of a query's feature may have that feature; one that is not has it
   not. Where values differ, each number is followed by a code of the graph's sum of values in
   that bucket, rounded up: a feature's value is at most that sum.

``posting_scan.py`` reads them. A gap of 255 or more is written as bytes of 255 and a rest below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled, inlined
from .hashing import mix

#: Leading bits of a feature that choose its bucket, at least and at most.
FEWEST_BITS, MOST_BITS = 11, 15
ESCAPE = 255
_ONE = np.uint64(1)


class Lists(NamedTuple):
    """The sketches of the graphs of one segment."""

    common: np.ndarray  # uint64, sorted: the features that have a bit
    bits: np.ndarray  # uint64, (graphs, words)
    shift: np.uint64  # the bucket of a feature is what is left of it after this shift
    starts: np.ndarray  # uint32, where the list of each bucket begins
    gaps: np.ndarray  # uint8
    values: np.ndarray  # float32, what each code stands for; empty if all values are 1


@inlined
def find_key(sorted_keys, key):
    """The place of a key, or -1."""
    low, high = 0, len(sorted_keys)
    while low < high:
        middle = (low + high) >> 1
        if sorted_keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < len(sorted_keys) and sorted_keys[low] == key else -1


@compiled
def place_level(lengths, hashes, values, salt, fill, keys, out):
    """Write the features of one level to where ``fill`` says that each graph's go on.

    A key is the hash scrambled with the level's salt: levels never meet.
    """
    entry = 0
    for graph in range(len(lengths)):
        at = fill[graph]
        for _ in range(lengths[graph]):
            keys[at] = mix(hashes[entry] + salt)
            out[at] = values[entry]
            at += 1
            entry += 1
        fill[graph] = at


@compiled
def sketch(pointers, keys, values, common, weighted):
    """Bits and buckets of graphs: ``(bits, lengths, buckets, sums)``, graph after graph.

    Graph i has the features ``keys[pointers[i]:pointers[i + 1]]``. Buckets have ``MOST_BITS`` bits
    and are distinct within a graph; ``sums`` are the values that fell into each (empty unless
    ``weighted``).
    """
    count = len(pointers) - 1
    bits = np.zeros((count, (len(common) + 63) >> 6), dtype=np.uint64)
    lengths = np.empty(count, dtype=np.int64)
    buckets = np.empty(len(keys), dtype=np.uint16)
    sums = np.empty(len(keys) if weighted else 0, dtype=np.float32)
    owner = np.full(1 << MOST_BITS, -1, dtype=np.int64)
    place = np.empty(1 << MOST_BITS, dtype=np.int64)
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
                owner[bucket], place[bucket] = i, total
                buckets[total] = bucket
                if weighted:
                    sums[total] = 0.0
                total += 1
            if weighted:
                # Rounded up: a sum must never be less than its parts.
                sums[place[bucket]] = (sums[place[bucket]] + values[e]) * (1.0 + 2.0**-22)
        lengths[i] = total - begin
    return bits, lengths, buckets[:total].copy(), sums[: total if weighted else 0].copy()


@compiled
def coarser(lengths, buckets, sums, bits):
    """Merge buckets of ``MOST_BITS`` bits into those of fewer: ``(lengths, buckets, sums)``."""
    owner = np.full(1 << bits, -1, dtype=np.int64)
    place = np.empty(1 << bits, dtype=np.int64)
    merged = np.empty_like(buckets)
    added = np.zeros_like(sums)
    kept = np.empty_like(lengths)
    entry = total = 0
    for graph in range(len(lengths)):
        begin = total
        for _ in range(lengths[graph]):
            bucket = np.int64(buckets[entry]) >> (MOST_BITS - bits)
            if owner[bucket] != graph:
                owner[bucket], place[bucket] = graph, total
                merged[total] = bucket
                total += 1
            if len(sums):
                at = place[bucket]
                added[at] = (added[at] + sums[entry]) * (1.0 + 2.0**-22)
            entry += 1
        kept[graph] = total - begin
    return kept, merged[:total].copy(), added[: total if len(sums) else 0].copy()


@compiled
def make_lists(lengths, buckets, codes, bits):
    """The lists of all buckets from the buckets of each graph: ``(starts, gaps)``.

    ``codes`` holds a byte per entry of ``buckets``, or nothing if all values are 1.
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
    """Whether lists from a file can be read: all numbers of graphs and codes are in range.

    ``codes`` is the number of values that codes stand for, 0 if all values are 1.
    """
    if starts[0] != 0 or starts[len(starts) - 1] != len(gaps):
        return False
    for bucket in range(len(starts) - 1):
        place, end = np.int64(starts[bucket]), np.int64(starts[bucket + 1])
        if place > end or end > len(gaps):
            return False
        graph = np.int64(0)
        while place < end:
            gap = np.int64(gaps[place])
            graph += gap
            place += 1
            if gap == ESCAPE:
                if place == end:
                    return False
                continue
            if graph >= graphs:
                return False
            if codes:
                if place == end or gaps[place] >= codes:
                    return False
                place += 1
    return True


@compiled
def read_lists(starts, gaps):
    """The graphs and codes of all entries of lists that fit and have codes, list after list."""
    graphs = np.empty(len(gaps), dtype=np.int64)
    codes = np.empty(len(gaps), dtype=np.uint8)
    n = 0
    for bucket in range(len(starts) - 1):
        graph = np.int64(0)
        place, end = np.int64(starts[bucket]), np.int64(starts[bucket + 1])
        while place < end:
            gap = np.int64(gaps[place])
            graph += gap
            place += 1
            if gap != ESCAPE:
                graphs[n], codes[n] = graph, gaps[place]
                place += 1
                n += 1
    return graphs[:n].copy(), codes[:n].copy()
