"""Rows of a sparse matrix, filled level by level.

The matrix is made in the arrays that it stays in: for tens of millions of entries, matrices of the
single levels and one of all would take three times its memory.
"""

from __future__ import annotations

from .threads import entry_point


@entry_point
def fill_rows(rows, columns, repeats, values, ends, indices, data):
    """Write entries to their rows: ``values[e]`` in so many columns from ``columns[e]`` on.

    Row r goes on at ``ends[r]``, which moves on with it.
    """
    for entry in range(len(rows)):
        at = ends[rows[entry]]
        for unit in range(repeats[entry]):
            indices[at] = columns[entry] + unit
            data[at] = values[entry]
            at += 1
        ends[rows[entry]] = at
