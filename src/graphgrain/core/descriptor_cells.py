"""The cells of randomly shifted grids in which the descriptors of vertices lie.

The descriptor of a vertex holds, for every step t of a random walk and every column (a label or an
attribute), the mean of the column where a walk of t steps from the vertex ends. A grid of level l
has cells of side ``width / 2^l``.

1. One coordinate at a time is walked and added up, as in propagation: descriptors are never
   stored.
2. The cell along an axis is counted from that of 0. So an axis where all is 0, such as that of a
   label that a graph does not have, adds nothing.
3. A coarser cell is a finer one with the last bits cut off: the cells of one shift are nested.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled
from .hashing import GOLDEN, mix
from .propagation import count_columns, make_columns, next_column, walk_once
from .threads import entry_point

#: Cells beyond this are all alike; far inside 64 bits and exact in float64.
_FURTHEST = 2.0**53


@compiled
def _enter_column(graphs, base, column, after, axes, shifts, scale, cells):
    """Add the part of one column, at all steps, to the cells of a graph (grids, levels, n)."""
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
                        break  # nor at any coarser level
                    cells[grid, finest - up, v] += mix(axes[t] + np.uint64(apart) * GOLDEN)
        if t + 1 == steps:
            break
        walk_once(graphs, base, column, after)
        column, after = after, column


@entry_point
def descriptor_cells(graphs, attributes, axes, shifts, scale, levels, begin, end):
    """A hash for the cell of every vertex of the graphs ``begin`` to ``end``.

    ``axes`` has a hash and ``shifts`` a shift for each column, step (and grid); columns are label
    codes, or those of ``attributes`` if it has any. ``scale`` is one over the side of the finest
    cells. The result has the shape (grids, levels, vertices).
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
