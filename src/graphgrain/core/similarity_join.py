"""All pairs of similar graphs without comparing all pairs: a join on the rarest features.

Two sufficiently similar graphs must share one of their rarest features (prefix filter: Chaudhuri et
al. 2006, Bayardo et al. 2007, Xiao et al. 2008).

1. Features are numbered by the number of graphs that have them, rarest first; each graph is the
   ascending list of its numbers (:func:`number_keys`, :func:`rank_tokens`).
2. The prefix of a graph consists of its first features, as many as needed so that the remaining
   ones contribute less than a similar graph must share (:func:`prefix_lengths`). A graph must share
   more with a graph that is not smaller, so its prefix is shorter in this case.
3. Graphs are sorted by their sums of values. Every feature has a list of the graphs with that
   feature in their prefix (:func:`fill_postings`).
4. A graph is compared with the smaller graphs in the lists of its prefix, except those too small to
   be similar. A comparison stops when the remaining features cannot suffice (:func:`join`).

Graphs that do not fit into memory are joined in parts: each part with itself and with each part of
smaller graphs. Sizes are sums of values for min-max, and square roots of sums of squares for the
cosine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled
from .similarity import COSINE, similarity

#: Relative tolerance of bounds for rounding errors.
_SLACK = 1e-9


class Records(NamedTuple):
    """Graphs of a join, or a part of them."""

    ids: np.ndarray  # int64: numbers of the graphs, ascending
    pointers: np.ndarray  # int64: first feature of each graph
    tokens: np.ndarray  # int32: numbers of features, ascending in each graph
    values: np.ndarray  # float64, parallel to tokens; empty if all values are 1
    measures: np.ndarray  # float64: sum of values, or of squares for the cosine
    order: np.ndarray  # int64: the graphs by ascending measure
    prefixes: np.ndarray  # int32: prefix length of each graph as a query
    listed: np.ndarray  # int32: prefix length when found by graphs that are not smaller


@compiled
def number_keys(keys, slots, slot_keys, known, out):
    """Number keys in the order of their first occurrence; return the total number of known keys.

    ``slots`` (int32, -1 is empty) and ``slot_keys`` form a hash table with a power of two of slots,
    enough for all keys. Keys are already well mixed.
    """
    mask = np.uint64(len(slots) - 1)
    for i in range(len(keys)):
        at = keys[i] & mask
        while slots[at] >= 0 and slot_keys[at] != keys[i]:
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            slots[at], slot_keys[at] = known, keys[i]
            known += 1
        out[i] = slots[at]
    return known


@compiled
def rank_tokens(pointers, tokens, values, ranks, kind, measures, begin, end):
    """Replace the numbers of features by their ranks, ascending in each graph from begin to end.

    Measures are summed in the same order as overlaps, so that equal graphs have similarity exactly
    1.
    """
    for g in range(begin, end):
        own = tokens[pointers[g] : pointers[g + 1]]
        for i in range(len(own)):
            own[i] = ranks[own[i]]
        if len(values):
            order = np.argsort(own)
            weights = values[pointers[g] : pointers[g + 1]]
            weights[:] = weights[order].copy()
            own[:] = own[order].copy()
            total = 0.0
            for value in weights:
                total += value * value if kind == COSINE else value
            measures[g] = total
        else:
            own.sort()
            measures[g] = len(own)


@compiled
def prefix_lengths(pointers, values, measures, kind, share, out):
    """Compute prefix lengths: a graph shares a feature of its prefix with any similar graph.

    A similar graph shares at least the fraction ``share`` of the graph's sum of values (of squares
    for the cosine).
    """
    for g in range(len(pointers) - 1):
        length = pointers[g + 1] - pointers[g]
        needed = share * measures[g] * (1.0 - _SLACK)
        rest = 0.0
        kept = length
        while kept > 0:
            value = values[pointers[g] + kept - 1] if len(values) else 1.0
            rest += value * value if kind == COSINE else value
            if rest >= needed:
                break
            kept -= 1
        out[g] = kept


@compiled
def count_postings(records, frequencies, starts):
    """Add the lengths of the lists to ``starts[1:]``; features of a single graph have none."""
    for g in range(len(records.listed)):
        begin = records.pointers[g]
        for e in range(begin, begin + records.listed[g]):
            if frequencies[records.tokens[e]] > 1:
                starts[records.tokens[e] + 1] += 1


@compiled
def fill_postings(records, frequencies, fill, postings):
    """Write the positions of graphs to the lists of their prefixes, ascending."""
    for place in range(len(records.order)):
        g = records.order[place]
        begin = records.pointers[g]
        for e in range(begin, begin + records.listed[g]):
            token = records.tokens[e]
            if frequencies[token] > 1:
                postings[fill[token]] = place
                fill[token] += 1


@compiled
def _overlap(records, g, others, h, product, needed):
    """Return the overlap of two graphs, or -1 as soon as it cannot reach ``needed``."""
    i, i_end = records.pointers[g], records.pointers[g + 1]
    j, j_end = others.pointers[h], others.pointers[h + 1]
    own, theirs = records.tokens, others.tokens
    weighted = len(records.values) > 0
    total = 0.0
    while i < i_end and j < j_end:
        if own[i] == theirs[j]:
            if not weighted:
                total += 1.0
            elif product:
                total += records.values[i] * others.values[j]
            else:
                total += min(records.values[i], others.values[j])
            i += 1
            j += 1
        else:
            if own[i] < theirs[j]:
                i += 1
            else:
                j += 1
            if not weighted and total + min(i_end - i, j_end - j) < needed:
                return -1.0
    return total


@compiled
def join(
    records, others, same, starts, postings, first, kind, least, begin, end, seen, near, out,
    similarities,
):  # fmt: skip
    """Find pairs of the graphs at positions ``begin`` to ``end`` with graphs that are not larger.

    If the others are the ``same`` records, each graph is paired with those before it. ``postings``
    contains positions of the others, and ``first`` the position of the smallest other graph that is
    not too small, for every position. ``seen`` (int64, -1) and ``near`` are scratch arrays with an
    entry per other graph. Pairs are written to the rows of ``out``. Returns the next position,
    which is before ``end`` if ``out`` is full, and the number of pairs.
    """
    pairs = 0
    for place in range(begin, end):
        g = records.order[place]
        measure = records.measures[g]
        found = 0
        last = place if same else len(others.order)
        head = records.pointers[g]
        for e in range(head, head + records.prefixes[g]):
            token = records.tokens[e]
            low, high = starts[token], starts[token + 1]
            while low < high:  # binary search for the first that is not too small
                middle = (low + high) >> 1
                if postings[middle] < first[place]:
                    low = middle + 1
                else:
                    high = middle
            while low < starts[token + 1] and postings[low] < last:
                other = postings[low]
                if seen[other] != place:
                    seen[other] = place
                    near[found] = other
                    found += 1
                low += 1
        if pairs + found > len(out):
            # Without space for all candidates they are searched again in the next call.
            for n in range(found):
                seen[near[n]] = -1
            return place, pairs
        for n in range(found):
            h = others.order[near[n]]
            other = others.measures[h]
            if kind == COSINE:
                needed = least * np.sqrt(measure * other)
            else:
                needed = least / (1.0 + least) * (measure + other)
            shared = _overlap(records, g, others, h, kind == COSINE, needed * (1.0 - _SLACK))
            if shared <= 0.0:
                continue
            value = similarity(kind, shared, measure, other)
            if value >= least:
                a, b = records.ids[g], others.ids[h]
                out[pairs, 0], out[pairs, 1] = min(a, b), max(a, b)
                similarities[pairs] = value
                pairs += 1
    return end, pairs
