"""Random walk distributions of labels, projected on random directions.

The distribution P_t of a vertex contains the probability that a walk of t steps from it ends at
each label; P_0 is its own label and P_{t+1} = T P_t with the row-normalised adjacency matrix T.
Only the products with one direction v_t per step are needed, so the columns of P, one per label of
a graph, are propagated one after the other and summed, and P itself is never stored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .compiling import compiled
from .components import sort_by
from .hashing import GOLDEN, mix
from .structures import most_vertices
from .threads import entry_point


@compiled
def _walk(graphs, base, column, after, weights, root, sums):
    """Add the contribution of one column at every step: ``sums[t] += weights[t] (T^t column)``."""
    n = len(column)
    steps = len(weights)
    for t in range(steps):
        for v in range(n):
            sums[t, v] += weights[t] * (np.sqrt(column[v]) if root else column[v])
        if t + 1 == steps:
            break
        walk_once(graphs, base, column, after)
        column, after = after, column


@compiled
def walk_once(graphs, base, column, after):
    """Set ``after`` to the mean of ``column`` over the neighbours of each vertex, 0 without any."""
    indptr, indices = graphs.indptr, graphs.indices
    for v in range(len(column)):
        first, last = indptr[base + v], indptr[base + v + 1]
        total = 0.0
        for entry in range(first, last):
            total += column[indices[entry] - base]
        after[v] = total / (last - first) if last > first else 0.0


class Columns(NamedTuple):
    """Scratch arrays for one propagated column: an attribute, or the indicator of a label."""

    column: np.ndarray
    after: np.ndarray  # the column after a step
    keys: np.ndarray  # label codes of a graph, ascending ...
    members: np.ndarray  # ... and the vertices that have them


@compiled
def make_columns(graphs, begin, end):
    """Allocate scratch arrays for any of the graphs ``begin`` to ``end``."""
    most = most_vertices(graphs.offsets, begin, end)
    column, after = np.empty((2, most))
    keys, members = np.empty((2, most), dtype=np.int64)
    return Columns(column, after, keys, members)


@compiled
def count_columns(graphs, attributes, base, n, columns):
    """Return the end of the columns of a graph: of ``attributes`` if there are any, or labels."""
    if attributes.shape[1]:
        return attributes.shape[1] if n else 0
    for v in range(n):
        columns.keys[v] = graphs.labels[base + v]
        columns.members[v] = v
    sort_by(columns.keys, columns.members, 0, n)
    return n


@compiled
def next_column(attributes, base, n, at, columns):
    """Fill the column at a position; return its number (label or attribute) and the next one."""
    column, keys, members = columns.column, columns.keys, columns.members
    if attributes.shape[1]:
        for v in range(n):
            column[v] = attributes[base + v, at]
        return at, at + 1
    code = keys[at]
    for v in range(n):
        column[v] = 0.0
    while at < n and keys[at] == code:
        column[members[at]] = 1.0
        at += 1
    return code, at


@entry_point
def project(graphs, attributes, directions, root, begin, end):
    """Compute ``P_t v_t`` for all steps (rows) and vertices of the graphs ``begin`` to ``end``.

    ``directions[t]`` is v_t, with an entry per label code, or per column of ``attributes`` if it
    has any, which are then used instead of the labels. With ``root`` the result is ``sqrt(P_t)
    v_t``.
    """
    offsets = graphs.offsets
    start = offsets[begin]
    sums = np.zeros((len(directions), offsets[end] - start))
    columns = make_columns(graphs, begin, end)
    for g in range(begin, end):
        base = offsets[g]
        n = offsets[g + 1] - base
        part = sums[:, base - start : base - start + n]
        column, after = columns.column[:n], columns.after[:n]
        at, last = 0, count_columns(graphs, attributes, base, n, columns)
        while at < last:
            number, at = next_column(attributes, base, n, at, columns)
            _walk(graphs, base, column, after, directions[:, number], root, part)
    return sums


# --------------------------------------------------------------------
# Cells of randomly shifted grids that contain the descriptors of vertices.
#
# The descriptor of a vertex contains, for every step t of a random walk and every column (a label
# or an attribute), the mean of the column at the end of a walk of t steps from the vertex. A grid
# of level l has cells of side ``width / 2^l``.
#
# 1. One coordinate at a time is propagated and added, so descriptors are never stored.
# 2. The cell along an axis is relative to the cell of 0. An axis on which all values are 0, such as
#    that of a label that a graph does not have, contributes nothing.
# 3. A coarser cell is a finer one without its last bits: the cells of one shift are nested.


#: Cells are clipped to this value, which is exact in float64 and fits into 64 bits.
_FURTHEST = 2.0**53


@compiled
def _enter_column(graphs, base, column, after, axes, shifts, scale, cells):
    """Add the contribution of one column, at all steps, to the cells (grids, levels, n)."""
    n = len(column)
    steps, grids = shifts.shape
    finest = cells.shape[1] - 1
    for t in range(steps):
        for grid in range(grids):
            origin = np.int64(shifts[t, grid] * scale)
            for v in range(n):
                if column[v] == 0.0:
                    continue
                place = np.floor((column[v] + shifts[t, grid]) * scale)
                cell = np.int64(min(max(place, -_FURTHEST), _FURTHEST))
                for up in range(finest + 1):
                    apart = (cell >> up) - (origin >> up)
                    if apart == 0:
                        break  # also 0 at all coarser levels
                    cells[grid, finest - up, v] += mix(axes[t] + np.uint64(apart) * GOLDEN)
        if t + 1 == steps:
            break
        walk_once(graphs, base, column, after)
        column, after = after, column


@entry_point
def descriptor_cells(graphs, attributes, axes, shifts, scale, levels, begin, end):
    """Hash the cell of every vertex of the graphs ``begin`` to ``end``.

    ``axes`` has a hash and ``shifts`` a shift for each column, step (and grid); columns are label
    codes, or those of ``attributes`` if it has any. ``scale`` is the inverse of the side of the
    finest cells. The result has shape (grids, levels, vertices).
    """
    offsets = graphs.offsets
    start = offsets[begin]
    cells = np.zeros((shifts.shape[2], levels, offsets[end] - start), dtype=np.uint64)
    columns = make_columns(graphs, begin, end)
    for g in range(begin, end):
        base = offsets[g]
        n = offsets[g + 1] - base
        part = cells[:, :, base - start : base - start + n]
        column, after = columns.column[:n], columns.after[:n]
        at, last = 0, count_columns(graphs, attributes, base, n, columns)
        while at < last:
            number, at = next_column(attributes, base, n, at, columns)
            _enter_column(graphs, base, column, after, axes[number], shifts[number], scale, part)
    for grid in range(cells.shape[0]):
        for level in range(levels):
            for v in range(cells.shape[2]):
                cells[grid, level, v] = mix(cells[grid, level, v] + np.uint64(grid + 1) * GOLDEN)
    return cells
