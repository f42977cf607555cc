"""All pairs of similar graphs without comparing all pairs: a join on the rarest features.

Two sufficiently similar graphs must share one of their rarest features (prefix filter: Chaudhuri et
al. 2006, Bayardo et al. 2007, Xiao et al. 2008).

1. Features are numbered by the number of graphs that have them, rarest first; each graph is the
   ascending list of its numbers (:func:`number_keys`, :func:`rank_tokens`).
2. The prefix of a graph consists of its first features, as many as needed so that the remaining
   ones contribute less than a similar graph must share (:func:`_prefix_length`). A graph must share
   more with a graph that is not smaller, so its prefix is shorter in this case.
3. Graphs are sorted by their sums of values. Every feature has a list of the graphs with that
   feature in their prefix (:func:`fill_postings`).
4. A graph is compared with the smaller graphs in the lists of its prefix, except those too small to
   be similar. A comparison stops when the remaining features cannot suffice (:func:`join`).

Sizes are sums of values for min-max, and square roots of sums of squares for the cosine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled
from .similarity import COSINE, similarity

#: Relative tolerance of bounds for rounding errors.
_SLACK = 1e-9


class Records(NamedTuple):
    """Graphs of a join."""

    pointers: np.ndarray  # int64: first feature of each graph
    tokens: np.ndarray  # int32: numbers of features, ascending in each graph
    values: np.ndarray  # float64, parallel to tokens; empty if all values are 1
    measures: np.ndarray  # float64: sum of values, or of squares for the cosine
    prefixes: np.ndarray  # int32: prefix length of each graph as a query
    listed: np.ndarray  # int32: prefix length when found by graphs that are not smaller


@compiled
def number_keys(keys, slots, slot_keys, distinct, out):
    """Number keys in the order of their first occurrence; return the number of distinct keys.

    ``slots`` (int32, -1 is empty) and ``slot_keys`` form a hash table with a power of two of slots,
    enough for all keys. Keys are already well mixed.
    """
    mask = np.uint64(len(slots) - 1)
    for i in range(len(keys)):
        at = keys[i] & mask
        while slots[at] >= 0 and slot_keys[at] != keys[i]:
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            slots[at], slot_keys[at] = distinct, keys[i]
            distinct += 1
        out[i] = slots[at]
    return distinct


@compiled
def _prefix_length(values, length, kind, needed):
    """Return how many of the first features of a graph any similar graph has at least one of.

    Similar graphs share at least ``needed`` of the sum of values (of squares for the cosine).
    """
    rest = 0.0
    while length > 0:
        value = values[length - 1] if len(values) else 1.0
        rest += value * value if kind == COSINE else value
        if rest >= needed:
            break
        length -= 1
    return length


@compiled
def rank_tokens(records, ranks, kind, shares, begin, end):
    """Replace the numbers of features by their ranks, ascending in each graph from begin to end.

    Measures are summed in the same order as overlaps, so that equal graphs have similarity exactly
    1. Similar graphs share at least the fractions ``shares`` of the measure, in general and with a
    graph that is not smaller; prefixes follow from them.
    """
    weighted = len(records.values) > 0
    for g in range(begin, end):
        row = slice(records.pointers[g], records.pointers[g + 1])
        tokens, values = records.tokens[row], records.values[row if weighted else slice(0, 0)]
        for i in range(len(tokens)):
            tokens[i] = ranks[tokens[i]]
        total = float(len(tokens))
        if weighted:
            order = np.argsort(tokens)
            values[:] = values[order].copy()
            tokens[:] = tokens[order].copy()
            total = 0.0
            for value in values:
                total += value * value if kind == COSINE else value
        else:
            tokens.sort()
        records.measures[g] = total
        needed = total * (1.0 - _SLACK)
        records.prefixes[g] = _prefix_length(values, len(tokens), kind, shares[0] * needed)
        records.listed[g] = _prefix_length(values, len(tokens), kind, shares[1] * needed)


@compiled
def count_postings(records, frequencies, starts):
    """Add the lengths of the lists to ``starts[1:]``; features of a single graph have none."""
    for g in range(len(records.listed)):
        begin = records.pointers[g]
        for e in range(begin, begin + records.listed[g]):
            if frequencies[records.tokens[e]] > 1:
                starts[records.tokens[e] + 1] += 1


@compiled
def fill_postings(records, order, frequencies, fill, postings):
    """Write the positions of graphs to the lists of their prefixes, ascending."""
    for position in range(len(order)):
        g = order[position]
        begin = records.pointers[g]
        for e in range(begin, begin + records.listed[g]):
            token = records.tokens[e]
            if frequencies[token] > 1:
                postings[fill[token]] = position
                fill[token] += 1


@compiled
def _overlap(records, g, h, product, needed):
    """Return the overlap of two graphs, or -1 as soon as it cannot reach ``needed``."""
    i, i_end = records.pointers[g], records.pointers[g + 1]
    j, j_end = records.pointers[h], records.pointers[h + 1]
    tokens, values = records.tokens, records.values
    weighted = len(values) > 0
    total = 0.0
    while i < i_end and j < j_end:
        if tokens[i] == tokens[j]:
            if not weighted:
                total += 1.0
            elif product:
                total += values[i] * values[j]
            else:
                total += min(values[i], values[j])
            i += 1
            j += 1
        else:
            if tokens[i] < tokens[j]:
                i += 1
            else:
                j += 1
            if not weighted and total + min(i_end - i, j_end - j) < needed:
                return -1.0
    return total


@compiled
def join(
    records, order, starts, postings, first, kind, least, begin, end, marks, near, out,
    similarities,
):  # fmt: skip
    """Find pairs of the graphs at positions ``begin`` to ``end`` with graphs that are not larger.

    ``order`` has the graphs by ascending measure, ``postings`` their positions in it, and ``first``
    for every position that of the smallest graph that is not too small. ``marks`` (int64, zeros)
    and ``near`` are scratch arrays with an entry per graph. Pairs are written to the rows of
    ``out``. Returns the next position, which is before ``end`` if ``out`` is full, and the number
    of pairs.
    """
    pairs = 0
    for position in range(begin, end):
        g = order[position]
        measure = records.measures[g]
        candidates = 0
        head = records.pointers[g]
        for e in range(head, head + records.prefixes[g]):
            token = records.tokens[e]
            low, high = starts[token], starts[token + 1]
            while low < high:  # binary search for the first that is not too small
                middle = (low + high) >> 1
                if postings[middle] < first[position]:
                    low = middle + 1
                else:
                    high = middle
            while low < starts[token + 1] and postings[low] < position:
                smaller = postings[low]
                if marks[smaller] != position:
                    marks[smaller] = position
                    near[candidates] = smaller
                    candidates += 1
                low += 1
        if pairs + candidates > len(out):
            # Without space for all candidates they are searched again in the next call.
            for n in range(candidates):
                marks[near[n]] = 0
            return position, pairs
        for n in range(candidates):
            h = order[near[n]]
            if kind == COSINE:
                needed = least * np.sqrt(measure * records.measures[h])
            else:
                needed = least / (1.0 + least) * (measure + records.measures[h])
            shared = _overlap(records, g, h, kind == COSINE, needed * (1.0 - _SLACK))
            if shared <= 0.0:
                continue
            value = similarity(kind, shared, measure, records.measures[h])
            if value >= least:
                out[pairs, 0], out[pairs, 1] = min(g, h), max(g, h)
                similarities[pairs] = value
                pairs += 1
    return end, pairs
