"""Products of sparse feature matrices: K = X Y^T for graphs in rows and features in columns.

Feature counts are uneven: a few columns are shared by a large part of the graphs, most by one
or two. The columns are therefore split.

1. Common columns form a dense block that is multiplied by BLAS, in single precision if that is
   exact (integer counts, and no product above 2^24).
2. Rare columns are added entry by entry: entry (i, c) of X is combined with all entries (j, c) of
   Y. Entries are processed in tiles, a tile being a few rows of K that stay in the cache, and
   column by column within a tile, so that memory is read sequentially.
3. A column with a single graph only contributes to the diagonal, which is computed per row.

Matrices are in CSC form (``indptr, rows, values``), with values in float64.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .compiling import inlined, subroutine
from .similarity import CONTAINMENT, COSINE, DOT, MINMAX, similarity
from .structures import Csc
from .threads import entry_point, plain_entry_point, run, thread_count

#: A column is common if about this fraction of the graphs has it.
COMMON = 1 / 8
#: Size in bytes of the rows of K that are filled together.
TILE_BYTES = 1 << 20
#: Up to this number of columns, products are computed on the fly without BLAS.
FEW_COLUMNS = 48
#: Largest dense block in bytes.
BLOCK_BYTES = 1 << 27
_EXACT_IN_SINGLE = float(1 << 24)
_STRIP = 256
#: Number of rows finished together, and of their columns mirrored together.
_MIRROR, _LINE = 256, 8


class Tiles(NamedTuple):
    """Positions of the entries of some columns, by tile and in column order within a tile."""

    starts: np.ndarray  # first entry of each tile in the arrays below
    columns: np.ndarray
    places: np.ndarray


@entry_point
def _tile_entries(x, rare, base, begin, end, bits, tiles):
    """Return the positions of the entries of the rare columns from ``begin`` to ``end``, by tile.

    A tile has ``2**bits`` rows; ``rare`` starts with column ``base``.
    """
    indptr, rows = x.indptr, x.rows
    starts = np.zeros(tiles + 1, dtype=np.int64)
    for c in range(begin, end):
        if rare[c - base]:
            for place in range(indptr[c], indptr[c + 1]):
                starts[(rows[place] >> bits) + 1] += 1
    for t in range(tiles):
        starts[t + 1] += starts[t]
    fill = starts[:-1].copy()
    columns = np.empty(starts[tiles], dtype=np.int32)
    places = np.empty(starts[tiles], dtype=np.int64)
    for c in range(begin, end):
        if rare[c - base]:
            for place in range(indptr[c], indptr[c + 1]):
                t = rows[place] >> bits
                columns[fill[t]] = c
                places[fill[t]] = place
                fill[t] += 1
    return Tiles(starts, columns, places)


@entry_point
def _add_tiles(tiles, x, y, lower, begin, end, K):
    """K[i, j] += X[i, c] Y[j, c] for the entries of some tiles; only j < i if ``lower``.

    In a symmetric product the rows j < i of a column precede its entry (i, c).
    """
    indptr, rows, values = y
    for entry in range(tiles.starts[begin], tiles.starts[end]):
        place, c = tiles.places[entry], tiles.columns[entry]
        value = x.values[place]
        row = K[x.rows[place]]
        # Unsigned: the check for negative indices would double the time.
        first = np.uint64(indptr[c])
        last = np.uint64(place) if lower else np.uint64(indptr[c + 1])
        for other in range(first, last):
            row[np.uint64(rows[other])] += value * values[other]


@plain_entry_point
def _scatter(x, chosen, block):
    """Write the chosen columns into a dense block."""
    for column in range(len(chosen)):
        c = chosen[column]
        for place in range(x.indptr[c], x.indptr[c + 1]):
            block[x.rows[place], column] = x.values[place]


def _row_ranges(rows: int, n_jobs: int | None, triangle: bool) -> list[tuple[int, int]]:
    """Return row ranges of about equal cost (in a triangle, row i costs i)."""
    parts = min(rows, 8 * thread_count(n_jobs))
    steps = np.linspace(0, 1, parts + 1)
    bounds = np.unique(
        np.round((np.sqrt(steps) if triangle else steps) * rows).astype(int)
    ).tolist()
    return list(pairwise(bounds))


def _column_ranges(
    indptr: np.ndarray, begin: int, end: int, n_jobs: int | None
) -> list[tuple[int, int]]:
    """Return a range of columns for each thread, with about equal numbers of entries."""
    shares = np.linspace(indptr[begin], indptr[end], thread_count(n_jobs) + 1)[1:-1]
    inner = begin + np.searchsorted(indptr[begin:end], shares)
    return list(pairwise([begin, *inner.tolist(), end]))


def precision(bound: float, integral: bool) -> type:
    """Return single precision if it is exact: integers whose products stay below 2^24."""
    return np.float32 if integral and bound < _EXACT_IN_SINGLE else np.float64


def add_products(
    K: np.ndarray,
    x: Csc,
    y: Csc | None,
    begin: int,
    end: int,
    n_jobs: int | None,
    symmetric: bool | None = None,
) -> None:
    """Add X Y^T over the columns ``begin`` to ``end`` to K, in the precision of K.

    Without ``y`` the product is X X^T, and only the part below the diagonal is valid. The same
    holds if ``symmetric`` is set, for a Y that is X with scaled columns.
    """
    symmetric = y is None if symmetric is None else symmetric
    x = Csc(x[0], x[1], x[2].astype(K.dtype, copy=False))
    y = x if y is None else Csc(y[0], y[1], y[2].astype(K.dtype, copy=False))
    in_x = np.diff(x.indptr[begin : end + 1])
    in_y = in_x if symmetric else np.diff(y.indptr[begin : end + 1])
    needed = in_y >= 2 if symmetric else (in_x > 0) & (in_y > 0)
    common = needed & (in_x.astype(np.float64) * in_y > COMMON**2 * K.size) & (in_y >= 8)

    chosen = np.flatnonzero(common) + begin
    width = max(1, BLOCK_BYTES // (max(*K.shape, 1) * K.itemsize))
    for start in range(0, len(chosen), width):
        part = chosen[start : start + width]
        left = _dense(x, part, K.shape[0], K.dtype)
        right = left if y is x else _dense(y, part, K.shape[1], K.dtype)

        def add_strip(
            top: int, bottom: int, left: np.ndarray = left, right: np.ndarray = right
        ) -> None:
            wide = bottom if symmetric else K.shape[1]
            K[top:bottom, :wide] += left[top:bottom] @ right[:wide].T

        # Strips of rows up to the diagonal halve the work and avoid a second matrix of that size.
        # Threads start with the last and longest strip.
        strips = range(0, K.shape[0], _STRIP)
        bounds = [(top, min(top + _STRIP, K.shape[0])) for top in reversed(strips)]
        run(add_strip, bounds, n_jobs)

    rare = needed & ~common
    if not rare.any():
        return
    bits = max(1, TILE_BYTES // max(1, K.itemsize * K.shape[1])).bit_length() - 1
    tiles = ((K.shape[0] - 1) >> bits) + 1
    parts = run(
        lambda a, b: _tile_entries(x, rare, begin, a, b, bits, tiles),
        _column_ranges(x.indptr, begin, end, n_jobs),
        n_jobs,
    )
    groups = _row_ranges(tiles, n_jobs, symmetric)

    def add(a: int, b: int) -> None:
        for part in parts:
            _add_tiles(part, x, y, symmetric, a, b, K)

    run(add, groups, n_jobs)


def _dense(columns: Csc, chosen: np.ndarray, rows: int, kind: np.dtype) -> np.ndarray:
    block: np.ndarray = np.zeros((rows, len(chosen)), dtype=kind)
    _scatter(columns, chosen, block)
    return block


@inlined
def _fill_entries(kind, row, measure, right, wide, factor, add, line):
    for j in range(wide):
        value = similarity(kind, np.float64(row[j]), measure, right[j])
        line[j] = (line[j] if add else 0.0) + factor * value


@subroutine
def _fill_row(kind, row, measure, right, wide, factor, add, line):
    """Write or add the first ``wide`` entries of a row of the finished matrix."""
    wide = np.uint64(wide)
    # A loop for each literal kind, so that it is vectorised.
    if kind == COSINE:
        _fill_entries(COSINE, row, measure, right, wide, factor, add, line)
    elif kind == MINMAX:
        _fill_entries(MINMAX, row, measure, right, wide, factor, add, line)
    elif kind == CONTAINMENT:
        _fill_entries(CONTAINMENT, row, measure, right, wide, factor, add, line)
    else:
        _fill_entries(DOT, row, measure, right, wide, factor, add, line)


@entry_point
def _fill(K, left, right, symmetric, kind, begin, end, factor, add, out):
    """Write or add rows of the finished matrix, up to the diagonal if it is symmetric."""
    for i in range(begin, end):
        line = out[i]
        wide = i if symmetric else K.shape[1]
        _fill_row(kind, K[i], left[i], right, wide, factor, add, line)
        if symmetric:
            itself = similarity(kind, left[i], left[i], left[i])
            line[i] = (line[i] if add else 0.0) + factor * itself


@plain_entry_point
def _mirror(begin, end, out):
    """Copy the lower triangle of some rows to the upper triangle."""
    # a few columns at a time, so that one cache line is read of each row
    for first in range(0, end - 1, _LINE):
        for i in range(max(begin, first + 1), min(end, first + _LINE)):
            for j in range(first, i):
                out[j, i] = out[i, j]
        for row in range(np.uint64(max(begin, first + _LINE)), np.uint64(end)):
            for step in range(np.uint64(_LINE)):  # constant loop length
                column = np.uint64(first) + step
                out[column, row] = out[row, column]


def finish(
    K: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    symmetric: bool,
    kind: int,
    n_jobs: int | None,
) -> np.ndarray:
    """Convert overlaps to a Gram matrix: apply the similarity and mirror a triangle.

    ``left`` and ``right`` are the measures of rows and columns, see :func:`similarity`.
    """
    out: np.ndarray = np.empty(K.shape)
    # fixed types, since every other combination would be compiled separately
    left, right = left.astype(np.float64, copy=False), right.astype(np.float64, copy=False)
    kind = int(kind)

    def rows(begin: int, end: int) -> None:
        _fill(K, left, right, symmetric, kind, begin, end, 1.0, False, out)
        if symmetric:
            _mirror(begin, end, out)

    run(rows, _few_rows(len(K)), n_jobs)
    return out


@plain_entry_point
def _multiply_and_fill(block, norms, kind, begin, end, out):
    """Compute rows of the finished matrix up to the diagonal from a dense block of columns."""
    products = np.empty(block.shape[1], dtype=block.dtype)
    for i in range(begin, end):
        wide = np.uint64(i)
        for j in range(wide):
            products[j] = block[0, i] * block[0, j]
        for c in range(1, len(block)):
            value = block[c, i]
            if value != 0:
                for j in range(wide):
                    products[j] += value * block[c, j]
        _fill_row(kind, products, norms[i], norms, wide, 1.0, False, out[i])
        out[i, i] = similarity(kind, norms[i], norms[i], norms[i])


def gram_of_few(x: Csc, norms: np.ndarray, kind: int, n_jobs: int | None) -> np.ndarray:
    """Compute the Gram matrix of an integer matrix with few columns in one pass."""
    block = _dense(x, np.arange(len(x.indptr) - 1), len(norms), np.dtype(np.float32)).T.copy()
    out: np.ndarray = np.empty((len(norms), len(norms)))

    def rows(begin: int, end: int) -> None:
        _multiply_and_fill(block, norms, kind, begin, end, out)
        _mirror(begin, end, out)

    run(rows, _few_rows(len(norms)), n_jobs)
    return out


def _few_rows(rows: int) -> list[tuple[int, int]]:
    """Return ranges of few rows, so that mirrored columns stay in the cache."""
    return [(top, min(top + _MIRROR, rows)) for top in range(0, rows, _MIRROR)]


class GramSum:
    """A sum of Gram matrices in the memory of two: the sum, and a buffer that is reused.

    Allocating memory for every matrix would take as long as filling it.
    """

    def __init__(self, graphs: int, dtype: type = np.float64) -> None:
        self.matrix: np.ndarray = np.zeros((graphs, graphs), dtype=dtype)
        self._room = np.empty(0, dtype=np.uint8)

    def zeros(self, shape: tuple[int, int], kind: type) -> np.ndarray:
        """Return the zeroed buffer for the products of a term, at most as precise as the sum."""
        kind = np.float32 if self.matrix.dtype == np.float32 else kind
        size = np.dtype(kind).itemsize * shape[0] * shape[1]
        if len(self._room) < size:
            self._room = np.empty(0, dtype=np.uint8)  # freed before a larger one is allocated
            self._room = np.empty(size, dtype=np.uint8)
        K: np.ndarray = self._room[:size].view(kind).reshape(shape)
        K[:] = 0
        return K

    def add(
        self, K: np.ndarray, norms: np.ndarray, kind: int, factor: float, n_jobs: int | None
    ) -> None:
        """Add a multiple of a finished matrix, given its products K (see :func:`finish`)."""
        run(
            lambda begin, end: _fill(
                K, norms, norms, True, kind, begin, end, factor, True, self.matrix
            ),
            _few_rows(len(K)),
            n_jobs,
        )

    def mirrored(self, n_jobs: int | None) -> np.ndarray:
        """Return the complete sum, after all terms have been added."""
        self._room = np.empty(0, dtype=np.uint8)
        run(
            lambda begin, end: _mirror(begin, end, self.matrix), _few_rows(len(self.matrix)), n_jobs
        )
        return self.matrix


@entry_point
def _units(x, scratch):
    """Return ``(starts, heights, indptr, rows)``: the units of all columns, and their rows."""
    starts = np.zeros(len(x.indptr), dtype=np.int64)
    heights = np.empty(0)
    indptr, rows = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    for sweep in range(2):  # count first, then fill
        unit = at = 0
        for c in range(len(x.indptr) - 1):
            begin, end = x.indptr[c], x.indptr[c + 1]
            size = end - begin
            scratch[:size] = x.values[begin:end]
            scratch[:size].sort()
            below = 0.0
            for k in range(size):
                top = scratch[k]
                if k and top == scratch[k - 1]:
                    continue
                if sweep:
                    heights[unit] = top - below
                    indptr[unit] = at
                    below = top
                    for place in range(begin, end):
                        if x.values[place] >= top:
                            rows[at] = x.rows[place]
                            at += 1
                else:
                    at += size - k
                unit += 1
            starts[c + 1] = unit
        if not sweep:
            heights, rows = np.empty(unit), np.empty(at, dtype=np.int32)
            indptr = np.empty(unit + 1, dtype=np.int64)
    indptr[len(heights)] = at
    return starts, heights, indptr, rows


def cut_into_units(x: Csc) -> tuple[np.ndarray, Csc, Csc]:
    """Cut every column at its distinct values, which must be positive, into a column per unit.

    The minimum of two values of a column is the sum of the heights of the units that both reach.
    Returns the first unit of each column, and two matrices with an entry for every row that
    reaches the top of a unit: 1, or the height of the unit. Their products are sums of minima.
    """
    longest = int(np.diff(x.indptr).max(initial=0))
    starts, heights, indptr, rows = _units(x, np.empty(longest))
    reached = Csc(indptr, rows, np.ones(len(rows)))
    return starts, reached, reached._replace(values=np.repeat(heights, np.diff(indptr)))


@entry_point
def add_minima(starts, columns, counts, y, K, begin, end):
    """K[i, j] += the sum of minima of graph i and row j of y, for some graphs.

    Graph i has the columns and counts from ``starts[i]`` to ``starts[i + 1]``; columns of -1 are
    skipped.
    """
    indptr, rows, values = y
    for i in range(begin, end):
        row = K[i]
        for entry in range(starts[i], starts[i + 1]):
            c, count = columns[entry], counts[entry]
            if c >= 0:
                for other in range(np.uint64(indptr[c]), np.uint64(indptr[c + 1])):
                    row[np.uint64(rows[other])] += min(count, values[other])


@entry_point
def overlaps_by_column(indptr, rows, values, columns, counts, factors, minima):
    """Sum the products or minima of each count and its column, weighted by row factors."""
    sums = np.zeros(len(columns))
    for i in range(len(columns)):
        c = columns[i]
        if c >= 0:
            total = 0.0
            for place in range(indptr[c], indptr[c + 1]):
                value = values[place]
                overlap = min(counts[i], value) if minima else counts[i] * value
                total += overlap * factors[rows[place]]
            sums[i] = total
    return sums
