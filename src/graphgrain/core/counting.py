"""From the hashes of graphs to the columns of a sparse matrix.

A feature is a 64-bit hash; its column is its place in the sorted list of all distinct hashes.
1. Entries fall into buckets by the leading bits of their hash, a handful in each.
2. The entries of a bucket are sorted by hash; buckets are in order already.
3. Where the hash changes, a column begins.
"""

from __future__ import annotations

import numpy as np

from .compiling import subroutine
from .threads import entry_point

_PER_BUCKET = 8
#: Up to so many entries are sorted by insertion.
_FEW = 32
_ZERO, _ONE, _64 = np.uint64(0), np.uint64(1), np.uint64(64)


@subroutine
def _sort_bucket(codes, rows, values, begin, end):
    """Sort the entries from ``begin`` to ``end`` by hash; equal ones keep their order."""
    if end - begin <= _FEW:
        for place in range(begin + _ONE, end):
            code, row, value = codes[place], rows[place], values[place]
            low = np.uint64(place)
            while low > begin and codes[low - _ONE] > code:
                before = low - _ONE
                codes[low], rows[low], values[low] = codes[before], rows[before], values[before]
                low = before
            codes[low], rows[low], values[low] = code, row, value
        return
    # Many entries are a few hashes that most graphs have: one round for each of them.
    all_codes, all_rows, all_values = (
        codes[begin:end].copy(),
        rows[begin:end].copy(),
        values[begin:end].copy(),
    )
    code, at = all_codes.min(), begin
    while at < end:
        following = ~np.uint64(0)
        for i in range(len(all_codes)):
            if all_codes[i] == code:
                codes[at], rows[at], values[at] = code, all_rows[i], all_values[i]
                at += _ONE
            elif all_codes[i] > code:
                following = min(following, all_codes[i])
        code = following


@entry_point
def group_hashes(lengths, hashes, counts):
    """Columns of a matrix from the features of its rows, ``lengths[i]`` of them in row i.

    Returns the sorted distinct hashes, the matrix in CSC form (``indptr, rows, values``) with
    the rows of each column ascending, and the sum of squares of each row.
    """
    # Unsigned places: Numba skips the check for indices that count from the end.
    n = len(hashes)
    bits = 1
    while bits < 24 and (n >> bits) > _PER_BUCKET:
        bits += 1
    shift = _64 - np.uint64(bits)
    ends = np.zeros((1 << bits) + 1, dtype=np.int64)
    for e in range(n):
        ends[(hashes[e] >> shift) + _ONE] += 1
    for b in range(1 << bits):
        ends[b + 1] += ends[b]
    codes = np.empty(n, dtype=np.uint64)
    rows = np.empty(n, dtype=np.int32)
    values = np.empty(n, dtype=np.float64)
    squares = np.zeros(len(lengths))
    entry = _ZERO
    for row in range(len(lengths)):
        for _ in range(lengths[row]):
            bucket = hashes[entry] >> shift
            at = np.uint64(ends[bucket])
            value = np.float64(counts[entry])
            codes[at], rows[at], values[at] = hashes[entry], row, value
            squares[row] += value * value
            ends[bucket] += 1
            entry += _ONE
    # ends[b] is now the end of bucket b

    indptr = np.empty(n + 1, dtype=np.int64)
    distinct = begin = _ZERO
    for b in range(1 << bits):
        end = np.uint64(ends[b])
        _sort_bucket(codes, rows, values, begin, end)
        for place in range(begin, end):
            code = codes[place]  # those before are read, their places are free
            if place == begin or code != codes[distinct - _ONE]:
                codes[distinct], indptr[distinct] = code, place
                distinct += _ONE
        begin = end
    indptr[distinct] = n
    vocabulary = codes[:distinct].copy()
    return vocabulary, indptr[: distinct + _ONE].copy(), rows, values, squares


@entry_point
def find_columns(hashes, vocabulary):
    """The place of each hash in the sorted vocabulary, or -1."""
    columns = np.empty(len(hashes), dtype=np.int32)
    for i in range(len(hashes)):
        low, high = 0, len(vocabulary)
        while low < high:
            middle = (low + high) >> 1
            if vocabulary[middle] < hashes[i]:
                low = middle + 1
            else:
                high = middle
        found = low < len(vocabulary) and vocabulary[low] == hashes[i]
        columns[i] = low if found else -1
    return columns


@entry_point
def transpose(indptr, columns, values, n_columns):
    """CSR to CSC (or back): ``(indptr, rows, values)`` with the rows of each column ascending.

    Entries with a negative column are left out.
    """
    starts = np.zeros(n_columns + 1, dtype=np.int64)
    for entry in range(len(columns)):
        if columns[entry] >= 0:
            starts[columns[entry] + 1] += 1
    for column in range(n_columns):
        starts[column + 1] += starts[column]
    fill = starts[:-1].copy()
    rows = np.empty(starts[n_columns], dtype=np.int32)
    moved = np.empty(starts[n_columns], dtype=np.float64)
    for row in range(len(indptr) - 1):
        for entry in range(indptr[row], indptr[row + 1]):
            column = columns[entry]
            if column >= 0:
                place = fill[column]
                rows[place] = row
                moved[place] = values[entry]
                fill[column] = place + 1
    return starts, rows, moved
