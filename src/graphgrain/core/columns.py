"""Columns without a vocabulary: a feature's column is its hash modulo the number of columns.

1. The hash of a feature is mixed with the number of its level, so that levels stay apart.
2. Modulo the number of columns it is a column; nothing has to be learnt or shared.
3. The entries of a graph are sorted by column, and those that meet in one are added.
"""

from __future__ import annotations

import numpy as np

from .hashing import GOLDEN, mix
from .threads import entry_point

_32 = np.uint64(32)


@entry_point
def hashed_rows(bounds, hashes, values, n_columns, begin, end):
    """Rows of a matrix for the graphs ``begin`` to ``end``: ``(lengths, columns, values)``.

    Level l of graph g has the features from ``bounds[l, g]`` to ``bounds[l, g + 1]``.
    """
    levels = len(bounds)
    total = 0
    most = 0
    for g in range(begin, end):
        size = 0
        for level in range(levels):
            size += bounds[level, g + 1] - bounds[level, g]
        total += size
        most = max(most, size)
    keys = np.empty(most, dtype=np.uint64)
    entries = np.empty(most, dtype=np.float64)
    lengths = np.zeros(end - begin, dtype=np.int64)
    columns = np.empty(total, dtype=np.int32)
    sums = np.empty(total, dtype=np.float64)
    at = 0
    for g in range(begin, end):
        size = 0
        for level in range(levels):
            salt = np.uint64(level + 1) * GOLDEN
            for place in range(bounds[level, g], bounds[level, g + 1]):
                column = mix(hashes[place] + salt) % np.uint64(n_columns)
                keys[size] = (column << _32) | np.uint64(size)  # the place breaks ties: stable
                entries[size] = values[place]
                size += 1
        keys[:size].sort()
        first = at
        for i in range(size):
            column = np.int32(keys[i] >> _32)
            value = entries[keys[i] & np.uint64(0xFFFFFFFF)]
            if at > first and columns[at - 1] == column:
                sums[at - 1] += value
            else:
                columns[at] = column
                sums[at] = value
                at += 1
        lengths[g - begin] = at - first
    return lengths, columns[:at].copy(), sums[:at].copy()
