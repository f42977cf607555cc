"""All pairs of similar graphs without comparing all: a join on the rarest features.

Two graphs that are similar enough share so much that they must share one of their rarest features
(prefix filter: Chaudhuri et al. 2006, Bayardo et al. 2007, Xiao et al. 2008).

1. Features get numbers in the order of how many graphs have them, the rarest first; each graph is
   the ascending list of its numbers (:func:`number_keys`, :func:`rank_tokens`).
2. The prefix of a graph are its first features, as many as needed so that what the rest could
   contribute is less than what a similar graph must share (:func:`prefix_lengths`). With a graph
   that is not smaller it must share more, so that its prefix is shorter.
3. Graphs are ordered by their sums of values. Every feature has the list of graphs with that
   feature in their prefix (:func:`fill_postings`).
4. A graph meets the smaller ones in the lists of its prefix, those too small to be similar left
   out, and is compared with each of them, until the rest cannot suffice (:func:`join`).

Graphs that do not fit into memory are joined in parts: those of a part with each other, and with
those of each part of smaller graphs. Sizes are sums of values for min-max, roots of sums of squares
for the cosine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled
from .gram import COSINE, MINMAX

#: What rounding may take from a bound.
_SLACK = 1e-9


class Records(NamedTuple):
    """The graphs of a join, or a part of them."""

    ids: np.ndarray  # int64: the numbers of the graphs, ascending
    pointers: np.ndarray  # int64: where the features of each graph begin
    tokens: np.ndarray  # int32: numbers of features, ascending in each graph
    values: np.ndarray  # float64, in parallel; empty if all values are 1
    measures: np.ndarray  # float64: sum of values, or of squares for the cosine
    order: np.ndarray  # int64: the graphs by ascending measure
    prefixes: np.ndarray  # int32: length of the prefix of each graph when it looks for others
    listed: np.ndarray  # int32: the same when it is found, by graphs that are not smaller


@compiled
def number_keys(keys, slots, slot_keys, known, out):
    """Numbers of keys in the order of their first occurrence; how many are known then.

    ``slots`` (int32, -1 is empty) and ``slot_keys`` are a hash table whose size is a power of two,
    with room for all keys. Keys are well mixed already.
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

    Measures are summed in that order, as overlaps are: a graph is exactly 1 with its equals.
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
    """How many of its first features a graph and any similar one must have one in common of.

    A similar graph shares at least this part of the graph's sum of values (for the cosine: of
    squares).
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
    """Lengths of the lists, added to ``starts[1:]``; features of a single graph have none."""
    for g in range(len(records.listed)):
        begin = records.pointers[g]
        for e in range(begin, begin + records.listed[g]):
            if frequencies[records.tokens[e]] > 1:
                starts[records.tokens[e] + 1] += 1


@compiled
def fill_postings(records, frequencies, fill, postings):
    """Write the places of graphs to the lists of their prefixes, ascending."""
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
    """What two graphs share; -1 as soon as it cannot reach what is needed."""
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
    """Pairs of the graphs at places ``begin`` to ``end`` with other graphs, which are not larger.

    If the others are the ``same`` records, each graph meets those before it. ``postings`` and
    ``first``, for every place the first of the others that is not too small, are places of the
    others; ``seen`` (int64, -1) and ``near`` are scratch space for each of them. Pairs of graphs
    go to the rows of ``out``. Returns the place that is next, which is before ``end`` if ``out`` is
    full, and the number of pairs.
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
            while low < high:  # the first entry that is not too small
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
            # Room for all of them, or they are looked for again in the next call.
            for n in range(found):
                seen[near[n]] = -1
            return place, pairs
        for n in range(found):
            h = others.order[near[n]]
            other = others.measures[h]
            if kind == COSINE:
                below = np.sqrt(measure * other)
                needed = least * below
            else:
                needed = least / (1.0 + least) * (measure + other)
            shared = _overlap(records, g, others, h, kind == COSINE, needed * (1.0 - _SLACK))
            if shared <= 0.0:
                continue
            if kind == MINMAX:
                below = measure + other - shared
            similarity = min(shared / below, 1.0)
            if similarity >= least:
                a, b = records.ids[g], others.ids[h]
                out[pairs, 0], out[pairs, 1] = min(a, b), max(a, b)
                similarities[pairs] = similarity
                pairs += 1
    return end, pairs
