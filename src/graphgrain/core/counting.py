"""Counting features: from the hashes of graphs to how often each occurs, and to columns.

1. Hash tables count the hashes of one graph (:func:`count_hashes`, ``Slots``, ``Tables``).
2. :func:`count_graphs` counts those of many graphs: ranges of small ones go to threads; each large
   one is divided among them root by root (:func:`count_large_graph`); what they find is joined.
3. Counted hashes become columns: one for each distinct hash (:func:`group_hashes`,
   :func:`find_columns`), or as many as are wanted (:func:`hashed_rows`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from time import process_time
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from .compiling import compiled, subroutine
from .hashing import GOLDEN, mix
from .memory import require_memory
from .structures import find_key
from .threads import call, chunks, entry_point, run, thread_count

# --------------------------------------------------------------------
# Hash tables that count 64-bit hashes.
#
# A table has a power of two of slots and is at most half full; a hash that finds its slot taken
# goes to the next. ``used`` lists the filled slots, so that a table is read and emptied in the
# time of what is in it.
#
# ``Slots`` are one table for as many hashes as are known to come, and are empty between calls: the
# part that is used is as small as those hashes allow, so that it stays in the cache. ``Tables``
# stand side by side (one per level) and grow with what is in them.

_ZERO, _ONE, _64 = np.uint64(0), np.uint64(1), np.uint64(64)


class Slots(NamedTuple):
    """Room for one table."""

    keys: np.ndarray
    counts: np.ndarray  # 0 for empty slots
    used: np.ndarray  # filled slots in the order of arrival


def make_slots(room: int) -> Slots:
    """Room for a table of ``room`` hashes."""
    size = 1 << max(4, (2 * room - 1).bit_length())
    return Slots(
        np.empty(size, dtype=np.uint64),
        np.zeros(size, dtype=np.int32),
        np.empty(size, dtype=np.uint32),
    )


@subroutine
def count_apart(codes, times, n, salt, slots, hashes, counts, at):
    """Count the first n codes; write what differs, mixed with ``salt``, from place ``at`` on.

    Code i counts ``times[i]``. Returns the number of distinct codes.
    """
    keys, total, used = slots.keys, slots.counts, slots.used
    shift = _64 - np.uint64(4)
    size = 16
    while size < 2 * n:
        size *= 2
        shift -= _ONE
    mask = np.uint64(size - 1)  # unsigned: no check for indices that count from the end
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
        filled += np.uint64(count == 0)  # no branch: it could not be predicted
    place = np.uint64(at)
    for i in range(filled):
        slot = used[i]
        hashes[place] = mix(keys[slot] + salt)
        counts[place] = total[slot]
        total[slot] = 0
        place += _ONE
    return np.int64(filled)


class Tables(NamedTuple):
    """One growing table per row."""

    keys: np.ndarray
    counts: np.ndarray  # 0 for empty slots
    used: np.ndarray  # filled slots in the order of arrival
    distinct: np.ndarray  # number of filled slots of each table


@compiled
def make_tables(rows, room):
    """Empty tables that have room for ``room`` hashes before they grow."""
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
    """Count ``hashes[begin:end]``, or as many as surely fit; returns how far it came."""
    keys, counts, used = tables.keys[row], tables.counts[row], tables.used[row]
    size = len(keys)
    mask = np.uint64(size - 1)  # unsigned: no check for indices that count from the end
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
        filled += np.uint64(count == 0)  # no branch: it could not be predicted
    tables.distinct[row] = filled
    return end


@subroutine
def _add(tables, row, code, times):
    """Count one hash ``times`` times; there must be room for it."""
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
    """Tables of twice the size with the same content."""
    rows, size = tables.keys.shape
    larger = make_tables(rows, size)
    for row in range(rows):
        for i in range(tables.distinct[row]):
            slot = tables.used[row, i]
            _add(larger, row, tables.keys[row, slot], tables.counts[row, slot])
    return larger


@subroutine
def count_into(tables, row, hashes, n):
    """Count the first n hashes in one table; returns the tables, larger ones if need be."""
    done = np.int64(0)
    while done < n:
        done = _enter(tables, row, hashes, done, n)
        if 4 * tables.distinct[row] > tables.keys.shape[1]:
            tables = _grown(tables)
    return tables


@compiled
def merge_into(tables, others):
    """Add the content of other tables, row by row; returns the tables, larger ones if need be."""
    for row in range(len(others.distinct)):
        for i in range(others.distinct[row]):
            slot = others.used[row, i]
            _add(tables, row, others.keys[row, slot], others.counts[row, slot])
            if 2 * tables.distinct[row] >= tables.keys.shape[1]:
                tables = _grown(tables)
    return tables


@subroutine
def read_out(tables, row, hashes, counts, at):
    """Write the content of a table from place ``at`` on, and empty it; returns the next place."""
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
    """Arrays with room for at least so many entries that begin with the same ones."""
    if room <= len(hashes):
        return hashes, counts
    more_hashes = np.empty(2 * room, dtype=hashes.dtype)
    more_counts = np.empty(2 * room, dtype=counts.dtype)
    # an assignment of slices takes seconds to compile: its error has a text
    for i in range(len(hashes)):
        more_hashes[i], more_counts[i] = hashes[i], counts[i]
    return more_hashes, more_counts


class Counts(NamedTuple):
    """The features of some graphs at one level, graph after graph.

    Attributes
    ----------
    lengths : int array
        Number of distinct features of each graph.
    hashes : uint64 array
    counts : array
        How often each occurs.

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
    return Counts(*_count_hashes(pointers, hashes))


@entry_point
def _count_hashes(pointers, hashes):
    """``(lengths, hashes, counts)`` of the segments ``pointers[i]:pointers[i + 1]``."""
    segments = len(pointers) - 1
    tables = make_tables(1, 1024)
    lengths = np.empty(segments, dtype=np.int64)
    out_hashes = np.empty(pointers[segments] - pointers[0], dtype=np.uint64)
    out_counts = np.empty(len(out_hashes), dtype=np.int64)
    total = 0
    for i in range(segments):
        part = hashes[pointers[i] : pointers[i + 1]]
        tables = count_into(tables, 0, part, len(part))
        lengths[i] = tables.distinct[0]
        total = read_out(tables, 0, out_hashes, out_counts, total)
    return lengths, out_hashes[:total].copy(), out_counts[:total].copy()


# --------------------------------------------------------------------
# Many graphs: ranges of small ones at a time, large ones one by one.


def count_graphs(
    count: Callable[[int, int], Sequence[Counts]],
    sizes: np.ndarray,
    n_jobs: int | None,
    roots: Callable[[int], RootedFeatures] | None = None,
) -> list[Counts]:
    """The levels of graphs of these sizes; ``count(begin, end)`` counts a range of them.

    Large graphs are left to ``roots``, one by one: threads share the work on each.
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
    """The levels of all graphs from those of parts of them."""
    if len(parts) == 1:
        return list(parts[0])
    return [
        Counts(*(np.concatenate(arrays) for arrays in zip(*level, strict=True)))
        for level in zip(*parts, strict=True)
    ]


# --------------------------------------------------------------------
# The features of one large graph, its roots divided among threads.
#
# A kernel that counts features root by root says, in a subclass of :class:`RootedFeatures`, what
# the roots share and how the features of some roots are added to tables. Then
#
# 1. What the roots share (the trees of Tree++) is prepared; all threads read the same.
# 2. Every thread counts the features of a few roots at a time in tables of its own, so that memory
#    grows with the distinct features, not with the pairs of vertices.
# 3. The tables of all threads are joined.
#
# Before 2 the number of distinct features is estimated: those of a sample of roots, and of a sample
# twice as large, grow like a power of the number of roots, and so do those of all. Before 1 the
# whole cost is estimated in the same way, with a rough stand-in for what the roots share.


State = TypeVar("State")

#: Most (root, vertex) pairs of a graph that are kept at once; a graph with more is large.
STORED_PAIRS = 1 << 20
#: Roots of the smaller sample.
_SAMPLE = 32
#: Part of the roots that are counted to see whether the features of all will fit.
_SHARE = 1 / 64
#: A sample that takes less processor time than this says little; it is made larger.
SHORT = 0.1
#: Bytes of one distinct feature: in a hash table that grows, and in what is handed back.
TABLE_BYTES, _OUTPUT_BYTES = 120, 16


def is_large(size: int) -> bool:
    """Whether the searches from all roots of a graph of this size are too many to be kept."""
    return size * size > STORED_PAIRS


@entry_point
def _read_level(tables, level):
    """The features of one level: hashes and counts. The table is emptied."""
    hashes = np.empty(tables.distinct[level], dtype=np.uint64)
    counts = np.empty(tables.distinct[level], dtype=np.int64)
    read_out(tables, level, hashes, counts, 0)
    return hashes, counts


class RootedFeatures(ABC):
    """The features of one graph, counted root by root.

    Attributes
    ----------
    size : int
        Number of vertices; each is a root.
    levels : int
        Number of tables.
    instead : str
        What to do where the features do not fit into memory.
    """

    instead: ClassVar[str]

    def __init__(self, size: int, levels: int) -> None:
        self.size, self.levels = size, levels

    def prepare(self, roots: np.ndarray, scratch: Any) -> None:  # noqa: B027
        """Fill in what all roots share for some of them; threads call this side by side."""

    def prepare_roughly(self, order: np.ndarray) -> float:
        """Stand-ins for what the roots share; processor seconds that the real ones would take.

        ``order`` has all roots; the first are a sample.
        """
        return 0.0

    @abstractmethod
    def scratch(self) -> Any:
        """Arrays for one thread."""

    @abstractmethod
    def add(self, roots: np.ndarray, scratch: Any, tables: Tables) -> Tables:
        """Count the features of some roots; returns the tables, larger ones if need be."""

    def read(self, tables: Tables, level: int) -> tuple[np.ndarray, np.ndarray]:
        """Hashes and counts of one level; the table is emptied."""
        hashes, counts = _read_level(tables, level)
        return hashes, counts


def _over_roots(
    work: Callable[[np.ndarray, State], State],
    begin: Callable[[], State],
    roots: np.ndarray,
    size: int,
    n_jobs: int | None,
) -> list[State]:
    """Work on a few roots at a time, for some milliseconds each.

    ``work(roots, state)`` returns the state in which the next few roots find it; there are as many
    states as threads, and ``begin()`` makes one. Returns them all.
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
    """Tables of the features of some roots."""

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


def timed_sample(work: Callable[[np.ndarray], object], order: np.ndarray) -> tuple[float, int]:
    """Processor seconds that work on all roots will take, and how many the sample had.

    The first roots of ``order`` are worked on, as many as it takes for a time that says something.
    """
    work(order[:1])  # compiles
    roots = min(2 * _SAMPLE, len(order))
    while True:
        start = process_time()
        work(order[:roots])
        spent = process_time() - start
        if spent >= SHORT or roots == len(order):
            return spent / roots * len(order), roots
        roots = min(4 * roots, len(order))


def shuffled(size: int) -> np.ndarray:
    """All roots in an order of chance, the same every time: the first are a sample."""
    return np.random.default_rng(0).permutation(size)


def _estimated_distinct(features: RootedFeatures, sample: np.ndarray) -> np.ndarray:
    """About how many different features there are at each level, by two samples of roots."""
    few = _counted(features, sample[: (len(sample) + 1) // 2], 1).distinct
    twice = _counted(features, sample, 1).distinct
    growth = np.log2(np.maximum(twice / np.maximum(few, 1), 1.0))
    return twice * (features.size / len(sample)) ** np.minimum(growth, 1.0)


def _needed(distinct: np.ndarray, threads: int) -> float:
    """Bytes for these numbers of different features at each level."""
    tables = threads * len(distinct) * distinct.max()  # those of all levels grow together
    return float(tables * TABLE_BYTES + distinct.sum() * _OUTPUT_BYTES)


def estimate_large_graph(features: RootedFeatures, n_jobs: int | None) -> tuple[float, float]:
    """Processor seconds and bytes that :func:`count_large_graph` will need, about."""
    order = shuffled(features.size)
    seconds = features.prepare_roughly(order)
    more, roots = timed_sample(lambda part: _counted(features, part, 1), order)
    distinct = _estimated_distinct(features, order[:roots])
    return seconds + more, _needed(distinct, thread_count(n_jobs))


def count_large_graph(
    features: RootedFeatures, n_jobs: int | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Hashes and counts of the features of a graph, one pair per level.

    Features that will not fit into memory are refused.
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
# A feature is a 64-bit hash; its column is its place in the sorted list of all distinct hashes.
# 1. Entries fall into buckets by the leading bits of their hash, a handful in each.
# 2. The entries of a bucket are sorted by hash; buckets are in order already.
# 3. Where the hash changes, a column begins.


_PER_BUCKET = 8
_MOST_BITS = 24
#: Up to this number of entries are sorted by insertion.
_FEW = 32


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

    Buckets are told apart by the first ``bits`` bits of a hash; ``ends`` are zeros, one more than
    buckets.
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
        columns[i] = find_key(vocabulary, hashes[i])
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


# --------------------------------------------------------------------
# Columns without a vocabulary: a feature's column is its hash modulo the number of columns.
#
# 1. The hash of a feature is mixed with the number of its level, so that levels stay apart.
# 2. Modulo the number of columns it is a column; nothing has to be learned or shared.
# 3. The entries of a graph are sorted by column, and those that meet in one are added.


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
