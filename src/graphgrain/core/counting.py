"""From the hashes of graphs to the columns of a sparse matrix.

A feature is a 64-bit hash; its column is its place in the sorted list of all distinct hashes.
1. Entries fall into buckets by the leading bits of their hash, a handful in each.
2. The entries of a bucket are sorted by hash; buckets are in order already.
3. Where the hash changes, a column begins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import subroutine
from .threads import entry_point

_PER_BUCKET = 8
_MOST_BITS = 24
#: Up to so many entries are sorted by insertion.
_FEW = 32
_ZERO, _ONE, _64 = np.uint64(0), np.uint64(1), np.uint64(64)


@subroutine
def _sort_bucket(columns, begin, end):
    """Sort the entries from ``begin`` to ``end`` by (hash, row), by Shell's method."""
    codes, rows, values = columns.codes, columns.rows, columns.values
    gap = _ONE
    if end - begin > _FEW:
        while gap * np.uint64(3) < end - begin:
            gap = gap * np.uint64(3) + _ONE
    while gap > _ZERO:
        for place in range(begin + gap, end):
            code, row, value = codes[place], rows[place], values[place]
            low = np.uint64(place)
            while low >= begin + gap:
                before = low - gap
                if codes[before] < code or (codes[before] == code and rows[before] <= row):
                    break
                codes[low] = codes[before]
                rows[low] = rows[before]
                values[low] = values[before]
                low = before
            codes[low] = code
            rows[low] = row
            values[low] = value
        gap //= np.uint64(3)


class Columns(NamedTuple):
    """Columns of a matrix in the making: entries with their hashes, and where columns begin."""

    codes: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    indptr: np.ndarray


@entry_point
def _group(lengths, hashes, counts, bits, ends, squares, columns):
    """Fill the columns, and the sum of squares of each row; returns the number of columns.

    Buckets are told apart by so many ``bits`` of a hash; ``ends`` are zeros, one more than buckets.
    """
    codes, rows, values, indptr = columns.codes, columns.rows, columns.values, columns.indptr
    # Unsigned places: Numba skips the check for indices that count from the end.
    shift = _64 - np.uint64(bits)
    buckets = len(ends) - 1
    for e in range(len(hashes)):
        ends[(hashes[e] >> shift) + _ONE] += 1
    for b in range(buckets):
        ends[b + 1] += ends[b]
    entry = _ZERO
    for row in range(len(lengths)):
        total = 0.0
        for _ in range(lengths[row]):
            bucket = hashes[entry] >> shift
            at = np.uint64(ends[bucket])
            value = np.float64(counts[entry])
            codes[at] = hashes[entry]
            rows[at] = row
            values[at] = value
            total += value * value
            ends[bucket] += 1
            entry += _ONE
        squares[row] = total
    # ends[b] is now the end of bucket b

    distinct = _ZERO
    begin = _ZERO
    for b in range(buckets):
        end = np.uint64(ends[b])
        _sort_bucket(columns, begin, end)
        for place in range(begin, end):
            code = codes[place]  # those before are read, their places are free
            if place == begin or code != codes[distinct - _ONE]:
                codes[distinct] = code
                indptr[distinct] = place
                distinct += _ONE
        begin = end
    indptr[distinct] = len(hashes)
    return distinct


def group_hashes(
    lengths: np.ndarray, hashes: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Columns of a matrix from the features of its rows, ``lengths[i]`` of them in row i.

    A row has no feature twice. Returns the sorted distinct hashes, the matrix in CSC form
    (``indptr, rows, values``) with the rows of each column ascending, and the sum of squares of
    each row.
    """
    n = len(hashes)
    bits = min(_MOST_BITS, max(1, (n // _PER_BUCKET).bit_length()))
    columns = Columns(
        np.empty(n, dtype=np.uint64),
        np.empty(n, dtype=np.int32),
        np.empty(n),
        np.empty(n + 1, dtype=np.int64),
    )
    ends = np.zeros((1 << bits) + 1, dtype=np.int64)
    squares = np.empty(len(lengths))
    distinct = _group(lengths, hashes, counts, bits, ends, squares, columns)
    vocabulary, indptr = columns.codes[:distinct].copy(), columns.indptr[: distinct + 1].copy()
    return vocabulary, indptr, columns.rows, columns.values, squares


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
