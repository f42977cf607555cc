"""Hash tables that count 64-bit hashes.

A table has a power of two of slots and is at most half full; a hash that finds its slot taken
goes to the next. ``used`` lists the filled slots, so that a table is read and emptied in the
time of what is in it.

``Slots`` are one table for as many hashes as are known to come, and are empty between calls: the
part that is used is as small as those hashes allow, so that it stays in the cache. ``Tables``
stand side by side (one per level) and grow with what is in them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled, subroutine
from .hashing import GOLDEN, mix
from .threads import entry_point

_ONE, _64 = np.uint64(1), np.uint64(64)


class Slots(NamedTuple):
    """Room for one table."""

    keys: np.ndarray
    counts: np.ndarray  # 0 for empty slots
    used: np.ndarray  # filled slots in the order of arrival


def make_slots(room: int) -> Slots:
    """Room for a table of so many hashes."""
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
    """Empty tables that have room for so many hashes before they grow."""
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
    """Count one hash so many times; there must be room for it."""
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
    """Arrays whose rows hold at least ``room`` entries and begin with the same ones."""
    rows, size = hashes.shape
    if room <= size:
        return hashes, counts
    more_hashes = np.empty((rows, 2 * room), dtype=hashes.dtype)
    more_counts = np.empty((rows, 2 * room), dtype=counts.dtype)
    for row in range(
        rows
    ):  # an assignment of slices takes seconds to compile: its error has a text
        for i in range(size):
            more_hashes[row, i] = hashes[row, i]
            more_counts[row, i] = counts[row, i]
    return more_hashes, more_counts


@entry_point
def count_hashes(pointers, hashes):
    """Distinct hashes of each segment ``pointers[i]:pointers[i + 1]``, and how often each occurs.

    Returns ``(lengths, hashes, counts)``, segment after segment.
    """
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
