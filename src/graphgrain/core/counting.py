"""Counting features: from hashes of graphs to counts, and from counts to columns.

1. Hash tables count the hashes of one graph (:func:`count_hashes`, ``Slots``, ``Tables``).
2. :func:`count_graphs` counts those of many graphs. Ranges of small graphs are assigned to threads;
   each large graph is divided among threads root by root (:func:`count_large_graph`); the results
   are joined.
3. Counted hashes are assigned to columns: one per distinct hash (:func:`group_hashes`,
   :func:`find_columns`), or a fixed number (:func:`hashed_rows`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from ..errors import InvalidParameterError
from .compiling import compiled, subroutine
from .hashing import GOLDEN, mix
from .memory import require_memory
from .structures import find_key
from .threads import call, chunks, entry_point, plain_entry_point, run, thread_count

# --------------------------------------------------------------------
# Hash tables that count 64-bit hashes.
#
# The number of slots of a table is a power of two, and at most half of them are filled (open
# addressing with linear probing). ``used`` lists the filled slots, so that a table is read and
# emptied in time proportional to its content.
#
# ``Slots`` is one table for a known number of hashes, and is empty between calls. Only as many
# slots as needed for that number are used, so that they stay in the cache. ``Tables`` are several
# tables (one per level) that grow with their content.

_ZERO, _ONE, _64 = np.uint64(0), np.uint64(1), np.uint64(64)


class Slots(NamedTuple):
    """Storage of one table."""

    keys: np.ndarray
    counts: np.ndarray  # 0 for empty slots
    used: np.ndarray  # filled slots in insertion order


def make_slots(room: int) -> Slots:
    """Allocate a table for ``room`` hashes."""
    size = 1 << max(4, (2 * room - 1).bit_length())
    return Slots(
        np.empty(size, dtype=np.uint64),
        np.zeros(size, dtype=np.int32),
        np.empty(size, dtype=np.uint32),
    )


@subroutine
def count_apart(codes, times, n, salt, slots, hashes, counts, at):
    """Count the first n codes; write the distinct ones, mixed with ``salt``, from index ``at`` on.

    Code i counts ``times[i]`` times. Returns the number of distinct codes.
    """
    keys, total, used = slots.keys, slots.counts, slots.used
    shift = _64 - np.uint64(4)
    size = 16
    while size < 2 * n:
        size *= 2
        shift -= _ONE
    mask = np.uint64(size - 1)  # unsigned: no check for negative indices
    filled = np.uint64(0)
    for i in range(np.uint64(n)):
        code = codes[i]
        slot = (code * GOLDEN) >> shift
        count = total[slot]
        while count != 0 and keys[slot] != code:
            slot = (slot + _ONE) & mask
            count = total[slot]
        keys[slot] = code
        total[slot] = count + times[i]
        used[filled] = slot
        filled += np.uint64(count == 0)  # branchless: a branch would be unpredictable
    place = np.uint64(at)
    for i in range(filled):
        slot = used[i]
        hashes[place] = mix(keys[slot] + salt)
        counts[place] = total[slot]
        total[slot] = 0
        place += _ONE
    return np.int64(filled)


class Tables(NamedTuple):
    """One growable table per row."""

    keys: np.ndarray
    counts: np.ndarray  # 0 for empty slots
    used: np.ndarray  # filled slots in insertion order
    distinct: np.ndarray  # number of filled slots of each table


@compiled
def make_tables(rows, room):
    """Return empty tables with space for ``room`` hashes before they grow."""
    size = 16
    while size < 2 * room:
        size *= 2
    return Tables(
        np.empty((rows, size), dtype=np.uint64),
        np.zeros((rows, size), dtype=np.int64),
        np.empty((rows, size), dtype=np.int32),
        np.zeros(rows, dtype=np.int64),
    )


@subroutine
def _enter(tables, row, hashes, begin, end):
    """Count ``hashes[begin:end]``, or as many as fit; return the end of the counted range."""
    keys, counts, used = tables.keys[row], tables.counts[row], tables.used[row]
    size = len(keys)
    mask = np.uint64(size - 1)  # unsigned: no check for negative indices
    shift = _64 - np.uint64(np.log2(size))
    end = min(end, begin + size // 2 - tables.distinct[row])
    filled = np.uint64(tables.distinct[row])
    for i in range(begin, end):
        code = hashes[np.uint64(i)]
        slot = (code * GOLDEN) >> shift
        count = counts[slot]
        while count != 0 and keys[slot] != code:
            slot = (slot + _ONE) & mask
            count = counts[slot]
        keys[slot] = code
        counts[slot] = count + 1
        used[filled] = slot
        filled += np.uint64(count == 0)  # branchless: a branch would be unpredictable
    tables.distinct[row] = filled
    return end


@subroutine
def _add(tables, row, code, times):
    """Count one hash ``times`` times; there must be a free slot."""
    keys, counts = tables.keys[row], tables.counts[row]
    mask = np.uint64(len(keys) - 1)
    slot = (code * GOLDEN) >> (_64 - np.uint64(np.log2(len(keys))))
    while counts[slot] != 0 and keys[slot] != code:
        slot = (slot + _ONE) & mask
    if counts[slot] == 0:
        keys[slot] = code
        tables.used[row, tables.distinct[row]] = slot
        tables.distinct[row] += 1
    counts[slot] += times


@subroutine
def _grown(tables):
    """Return tables of twice the size with the same content."""
    rows, size = tables.keys.shape
    larger = make_tables(rows, size)
    for row in range(rows):
        for i in range(tables.distinct[row]):
            slot = tables.used[row, i]
            _add(larger, row, tables.keys[row, slot], tables.counts[row, slot])
    return larger


@subroutine
def count_into(tables, row, hashes, n):
    """Count the first n hashes in one table; return the tables, enlarged if necessary."""
    done = np.int64(0)
    while done < n:
        done = _enter(tables, row, hashes, done, n)
        if 4 * tables.distinct[row] > tables.keys.shape[1]:
            tables = _grown(tables)
    return tables


@compiled
def merge_into(tables, others):
    """Add the content of other tables, row by row; return the tables, enlarged if necessary."""
    for row in range(len(others.distinct)):
        for i in range(others.distinct[row]):
            slot = others.used[row, i]
            _add(tables, row, others.keys[row, slot], others.counts[row, slot])
            if 2 * tables.distinct[row] >= tables.keys.shape[1]:
                tables = _grown(tables)
    return tables


@subroutine
def read_out(tables, row, hashes, counts, at):
    """Write the content of a table from index ``at`` on and empty it; return the next index."""
    for i in range(tables.distinct[row]):
        slot = tables.used[row, i]
        hashes[at + i] = tables.keys[row, slot]
        counts[at + i] = tables.counts[row, slot]
        tables.counts[row, slot] = 0
    at += tables.distinct[row]
    tables.distinct[row] = 0
    return at


@subroutine
def with_room(room, hashes, counts):
    """Return arrays for at least ``room`` entries that start with the given ones."""
    if room <= len(hashes):
        return hashes, counts
    more_hashes = np.empty(2 * room, dtype=hashes.dtype)
    more_counts = np.empty(2 * room, dtype=counts.dtype)
    # a slice assignment would take seconds to compile because of its error message
    for i in range(len(hashes)):
        more_hashes[i], more_counts[i] = hashes[i], counts[i]
    return more_hashes, more_counts


class Counts(NamedTuple):
    """Features of some graphs at one level, graph after graph.

    Attributes
    ----------
    lengths : int array
        Number of distinct features of each graph.
    hashes : uint64 array
    counts : array
        Number of occurrences of each feature.

    Examples
    --------
    >>> import graphgrain as gg
    >>> [level] = gg.VertexHistogram().count_features(gg.as_graphs([([], ["C", "O", "C"])]))
    >>> level.lengths, level.counts
    (array([2]), array([2, 1]))
    """

    lengths: np.ndarray
    hashes: np.ndarray
    counts: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """First feature of each graph, and the number of all features."""
        return np.concatenate(([0], np.cumsum(self.lengths)))

    @property
    def rows(self) -> np.ndarray:
        """Graph of each feature."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def count_hashes(pointers: np.ndarray, hashes: np.ndarray) -> Counts:
    """Count the features of graphs, given one hash for each occurrence.

    Parameters
    ----------
    pointers : int array
        Graph i owns the hashes ``pointers[i]:pointers[i + 1]``.
    hashes : uint64 array

    Returns
    -------
    Counts

    Examples
    --------
    >>> import numpy as np
    >>> import graphgrain as gg
    >>> gg.count_hashes(np.array([0, 3, 4]), np.array([7, 5, 7, 5], dtype=np.uint64)).counts
    array([2, 1, 1])
    """
    pointers, hashes = np.asarray(pointers), np.asarray(hashes, dtype=np.uint64)
    if (
        not (len(pointers) and pointers[0] >= 0 and pointers[-1] <= len(hashes))
        or (np.diff(pointers) < 0).any()
    ):
        raise InvalidParameterError(
            f"pointers must ascend from 0 to at most the number of hashes ({len(hashes)}); got "
            f"{pointers[:5].tolist()}. They are the offsets of a GraphBatch, one more than graphs."
        )
    most = int(pointers[-1] - pointers[0])
    lengths = np.empty(len(pointers) - 1, dtype=np.int64)
    distinct, counts = np.empty(most, dtype=np.uint64), np.empty(most, dtype=np.int64)
    total = _count_hashes(pointers, hashes, lengths, distinct, counts)
    return Counts(lengths, distinct[:total].copy(), counts[:total].copy())


@plain_entry_point
def _count_hashes(pointers, hashes, lengths, distinct, counts):
    """Fill ``lengths``, ``distinct`` and ``counts`` of all segments; return the total length."""
    tables = make_tables(1, 1024)
    total = 0
    for i in range(len(lengths)):
        part = hashes[pointers[i] : pointers[i + 1]]
        tables = count_into(tables, 0, part, len(part))
        lengths[i] = tables.distinct[0]
        total = read_out(tables, 0, distinct, counts, total)
    return total


# --------------------------------------------------------------------
# Many graphs: small ones in ranges, large ones one by one.


def count_graphs(
    count: Callable[[int, int], Sequence[Counts]],
    sizes: np.ndarray,
    n_jobs: int | None,
    roots: Callable[[int], RootedFeatures] | None = None,
) -> list[Counts]:
    """Count the levels of graphs of these sizes; ``count(begin, end)`` counts a range of them.

    Large graphs are counted one by one with ``roots``, each by all threads.
    """
    large = [g for g, size in enumerate(sizes.tolist()) if roots is not None and is_large(size)]
    ranges = []
    for begin, end in pairwise([-1, *large, len(sizes)]):
        ranges += [
            (begin + 1 + first, begin + 1 + last) for first, last in chunks(sizes[begin + 1 : end])
        ]
    parts = dict(zip(ranges, run(count, ranges, n_jobs), strict=True))
    if roots is not None:
        for graph in large:
            levels = count_large_graph(roots(graph), n_jobs)
            parts[graph, graph + 1] = [
                Counts(np.array([len(level[0])]), *level) for level in levels
            ]
    return joined([parts[key] for key in sorted(parts)] or [count(0, 0)])


def joined(parts: Sequence[Sequence[Counts]]) -> list[Counts]:
    """Concatenate the levels of consecutive parts."""
    if len(parts) == 1:
        return list(parts[0])
    return [
        Counts(*(np.concatenate(arrays) for arrays in zip(*level, strict=True)))
        for level in zip(*parts, strict=True)
    ]


# --------------------------------------------------------------------
# The features of one large graph, with its roots divided among threads.
#
# A kernel that counts features root by root implements a subclass of :class:`RootedFeatures`, which
# defines the data shared by all roots and how the features of some roots are added to tables.
#
# 1. The shared data (the trees of Tree++) is prepared; all threads read it.
# 2. Every thread counts the features of a few roots at a time in its own tables, so that memory
#    grows with the number of distinct features, not of pairs of vertices.
# 3. The tables of all threads are merged.
#
# Before step 2 the number of distinct features is estimated from a sample of roots and a sample of
# twice the size, assuming growth as a power of the number of roots.


State = TypeVar("State")

#: Maximum number of (root, vertex) pairs stored at once; a graph with more is large.
STORED_PAIRS = 1 << 20
#: Number of roots of the smaller sample.
_SAMPLE = 32
#: Fraction of the roots counted to check whether the features of all will fit into memory.
_SHARE = 1 / 64
#: Bytes per distinct feature: in a growing hash table, and in the result.
TABLE_BYTES, _OUTPUT_BYTES = 120, 16


def is_large(size: int) -> bool:
    """Return whether the searches from all roots of a graph of this size are too many to store."""
    return size * size > STORED_PAIRS


@entry_point
def _read_level(tables, level):
    """Return the hashes and counts of one level, and empty its table."""
    hashes = np.empty(tables.distinct[level], dtype=np.uint64)
    counts = np.empty(tables.distinct[level], dtype=np.int64)
    read_out(tables, level, hashes, counts, 0)
    return hashes, counts


class RootedFeatures(ABC):
    """Features of one graph, counted root by root.

    Attributes
    ----------
    size : int
        Number of vertices; each is a root.
    levels : int
        Number of tables.
    instead : str
        Advice in the error message if the features do not fit into memory.
    """

    instead: ClassVar[str]

    def __init__(self, size: int, levels: int) -> None:
        self.size, self.levels = size, levels

    def prepare(self, roots: np.ndarray, scratch: Any) -> None:  # noqa: B027
        """Compute the shared data for some roots; called concurrently by threads."""

    @abstractmethod
    def scratch(self) -> Any:
        """Allocate arrays for one thread."""

    @abstractmethod
    def add(self, roots: np.ndarray, scratch: Any, tables: Tables) -> Tables:
        """Count the features of some roots; return the tables, enlarged if necessary."""

    def read(self, tables: Tables, level: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the hashes and counts of one level, and empty its table."""
        return _read_level(tables, level)


def _over_roots(
    work: Callable[[np.ndarray, State], State],
    begin: Callable[[], State],
    roots: np.ndarray,
    size: int,
    n_jobs: int | None,
) -> list[State]:
    """Work on a few roots at a time, for some milliseconds each.

    ``work(roots, state)`` returns the state for the next call. ``begin()`` creates a state; there
    is one per thread. Returns all states.
    """
    free: list[State] = []

    def part(first: int, last: int) -> None:
        try:
            state = free.pop()
        except IndexError:  # all are in use
            state = begin()
        free.append(work(roots[first:last], state))

    step = max(1, STORED_PAIRS // size)
    run(part, [(first, first + step) for first in range(0, len(roots), step)], n_jobs)
    return free


def _prepare(features: RootedFeatures, n_jobs: int | None) -> None:
    def prepare(roots: np.ndarray, scratch: Any) -> Any:
        features.prepare(roots, scratch)
        return scratch

    _over_roots(prepare, features.scratch, np.arange(features.size), features.size, n_jobs)


def _counted(features: RootedFeatures, roots: np.ndarray, n_jobs: int | None) -> Tables:
    """Return tables of the features of some roots."""

    def begin() -> tuple[Any, Tables]:
        return features.scratch(), call(make_tables, features.levels, 1024)

    def add(roots: np.ndarray, state: tuple[Any, Tables]) -> tuple[Any, Tables]:
        scratch, tables = state
        return scratch, features.add(roots, scratch, tables)

    found = [tables for _, tables in _over_roots(add, begin, roots, features.size, n_jobs)]
    tables = found.pop()
    while found:
        tables = call(merge_into, tables, found.pop())
    return tables


def shuffled(size: int) -> np.ndarray:
    """Return all roots in a reproducible random order, such that any prefix is a sample."""
    return np.random.default_rng(0).permutation(size)


def _estimated_distinct(features: RootedFeatures, sample: np.ndarray) -> np.ndarray:
    """Estimate the number of distinct features of each level from two samples of roots."""
    few = _counted(features, sample[: (len(sample) + 1) // 2], 1).distinct
    twice = _counted(features, sample, 1).distinct
    growth = np.log2(np.maximum(twice / np.maximum(few, 1), 1.0))
    return twice * (features.size / len(sample)) ** np.minimum(growth, 1.0)


def _needed(distinct: np.ndarray, threads: int) -> float:
    """Return the bytes needed for these numbers of distinct features per level."""
    tables = threads * len(distinct) * distinct.max()  # tables of all levels grow together
    return float(tables * TABLE_BYTES + distinct.sum() * _OUTPUT_BYTES)


def count_large_graph(
    features: RootedFeatures, n_jobs: int | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the hashes and counts of the features of a graph, one pair per level.

    Raises an error if the features will not fit into memory.
    """
    _prepare(features, n_jobs)
    if features.size > 4 * _SAMPLE:
        roots = max(2 * _SAMPLE, int(features.size * _SHARE))
        distinct = _estimated_distinct(features, shuffled(features.size)[:roots])
        require_memory(
            _needed(distinct, thread_count(n_jobs)),
            f"About {distinct.sum():.1e} different features of a graph with {features.size:,} "
            "vertices",
            features.instead,
        )
    tables = _counted(features, np.arange(features.size), n_jobs)
    return [features.read(tables, level) for level in range(features.levels)]


# --------------------------------------------------------------------
# From the hashes of graphs to the columns of a sparse matrix.
#
# A feature is a 64-bit hash; its column is its index in the sorted list of all distinct hashes.
# 1. Entries are distributed to small buckets by the leading bits of their hash.
# 2. The entries of each bucket are sorted by hash; the buckets are already in order.
# 3. A new column begins wherever the hash changes.


_PER_BUCKET = 8
_MOST_BITS = 24
#: Maximum number of entries sorted by plain insertion sort.
_FEW = 32


@subroutine
def _sort_bucket(columns, begin, end):
    """Sort the entries from ``begin`` to ``end`` by (hash, row) (Shellsort)."""
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
    """Columns of a matrix under construction: entries with their hashes, and column pointers."""

    codes: np.ndarray
    rows: np.ndarray
    values: np.ndarray
    indptr: np.ndarray


@plain_entry_point
def _group(lengths, hashes, counts, bits, ends, squares, columns):
    """Fill the columns, and the sum of squares of each row; return the number of columns.

    Buckets correspond to the first ``bits`` bits of a hash; ``ends`` contains zeros, one more than
    the number of buckets.
    """
    codes, rows, values, indptr = columns.codes, columns.rows, columns.values, columns.indptr
    # Unsigned indices: Numba skips the check for negative indices.
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
            code = codes[place]  # earlier entries may be overwritten
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
    """Group the features of rows into columns; row i has ``lengths[i]`` distinct features.

    Returns the sorted distinct hashes, the matrix in CSC form (``indptr, rows, values``) with
    ascending rows in each column, and the sum of squares of each row.
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


def group_levels(levels: Sequence[Counts], n_jobs: int | None) -> Sequence[tuple[np.ndarray, ...]]:
    """Return the result of :func:`group_hashes` for each level."""
    parts = run(  # starting with the last level, the largest, balances the load of the threads
        lambda level, _: group_hashes(*levels[level]),
        [(level, level + 1) for level in reversed(range(len(levels)))],
        n_jobs,
    )
    return parts[::-1]


@entry_point
def find_columns(hashes, vocabulary):
    """Return the index of each hash in the sorted vocabulary, or -1."""
    columns = np.empty(len(hashes), dtype=np.int32)
    for i in range(len(hashes)):
        columns[i] = find_key(vocabulary, hashes[i])
    return columns


@entry_point
def transpose(indptr, columns, values, n_columns):
    """Convert CSR to CSC (or back): ``(indptr, rows, values)`` with ascending rows per column.

    Entries with a negative column are dropped.
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


# --------------------------------------------------------------------
# Columns without a vocabulary: a feature's column is its hash modulo the number of columns.
#
# 1. The hash of a feature is mixed with the number of its level, to separate the levels.
# 2. The column is the result modulo the number of columns; nothing has to be learned or shared.
# 3. The entries of a graph are sorted by column, and entries of the same column are added.


_32 = np.uint64(32)


@entry_point
def hashed_rows(bounds, hashes, values, n_columns, begin, end):
    """Return rows of a matrix for the graphs ``begin`` to ``end``: ``(lengths, columns, values)``.

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
                keys[size] = (column << _32) | np.uint64(size)  # stable: ties broken by position
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
