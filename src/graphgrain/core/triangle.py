"""Gram matrices in 16-bit fixed point: one triangle, and its product with vectors.

Entry (i, j) with j <= i is stored at ``i (i + 1) / 2 + j``: as an integer from 0 to 65,535 for
similarities from 0 to 1, which rounds by at most half of 1 / 65,535, or in single precision for
others. Rows are divided into ranges that do not depend on the number of threads, and the sums of
the ranges are added in order, so that a product is the same to the bit for any number of threads.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .memory import require_memory
from .threads import plain_entry_point, run

#: Value that stands for a similarity of 1.
ONE = 65535.0
#: Ranges of rows of a product.
_PARTS = 16


@plain_entry_point
def _multiply(entries, unit, begin, end, vectors, line, sums):
    """Add rows of the symmetric product; ``vectors`` and ``sums`` have a vector in each row."""
    for i in range(begin, end):
        first = np.uint64(i) * np.uint64(i + 1) // np.uint64(2)
        wide = np.uint64(i)
        for j in range(wide):
            line[j] = entries[first + j]
        own = np.float64(entries[first + wide]) * unit
        for v in range(len(vectors)):
            vector, total = vectors[v], sums[v]
            scaled = vector[i] * unit
            a = b = c = d = 0.0  # four sums, so that the loop is vectorised
            eights = wide // np.uint64(4) * np.uint64(4)
            for j in range(np.uint64(0), eights, np.uint64(4)):
                a += line[j] * vector[j]
                b += line[j + np.uint64(1)] * vector[j + np.uint64(1)]
                c += line[j + np.uint64(2)] * vector[j + np.uint64(2)]
                d += line[j + np.uint64(3)] * vector[j + np.uint64(3)]
            for j in range(eights, wide):
                a += line[j] * vector[j]
            for j in range(wide):
                total[j] += line[j] * scaled
            total[i] += ((a + b) + (c + d)) * unit + own * vector[i]


class Triangle:
    """The lower triangle of a symmetric matrix.

    Parameters
    ----------
    size : int
        Number of rows.
    fixed : bool
        Whether entries are from 0 to 1 and are stored in 16 bits, not in single precision.
    """

    def __init__(self, size: int, fixed: bool) -> None:
        self.size, self.fixed = size, fixed
        entries = size * (size + 1) // 2
        self.entries = np.empty(entries, dtype=np.uint16 if fixed else np.float32)

    @staticmethod
    def bytes_for(size: int, fixed: bool) -> float:
        """Return the memory that a triangle of this size takes."""
        return (2.0 if fixed else 4.0) * size * (size + 1) / 2

    def set_rows(self, begin: int, rows: np.ndarray) -> None:
        """Store rows from ``begin`` on; columns beyond the diagonal are ignored."""
        for number, row in enumerate(rows):
            i = begin + number
            first = i * (i + 1) // 2
            values = row[: i + 1]
            self.entries[first : first + i + 1] = np.rint(values * ONE) if self.fixed else values

    def columns(self, chosen: np.ndarray) -> np.ndarray:
        """Return some columns of the symmetric matrix, (rows, columns)."""
        found = np.empty((self.size, len(chosen)))
        every = np.arange(self.size)
        for number, column in enumerate(chosen.tolist()):
            high, low = np.maximum(every, column), np.minimum(every, column)
            found[:, number] = self.entries[high * (high + 1) // 2 + low]
        return found / ONE if self.fixed else found

    def product(self, vectors: np.ndarray, n_jobs: int | None) -> np.ndarray:
        """Return the product with the columns of ``vectors``."""
        across = np.ascontiguousarray(vectors.T)
        bounds = np.unique((np.sqrt(np.linspace(0, 1, _PARTS + 1)) * self.size).astype(int))
        unit = 1.0 / ONE if self.fixed else 1.0

        def part(begin: int, end: int) -> np.ndarray:
            sums, line = np.zeros_like(across), np.empty(self.size)
            _multiply(self.entries, unit, begin, end, across, line, sums)
            return sums

        total = np.zeros_like(across)
        for sums in run(part, list(pairwise(bounds.tolist())), n_jobs):
            total += sums
        return total.T


def require_triangle(size: int, fixed: bool, beside: float) -> None:
    """Raise an error if memory is too little for a triangle and ``beside`` bytes per row."""
    from .memory import available_memory

    available = available_memory()
    entry = 2.0 if fixed else 4.0
    fits = size
    if available is not None:
        room = 0.9 * available
        fits = int((-beside + np.sqrt(beside**2 + 2 * entry * room)) / entry)
    require_memory(
        Triangle.bytes_for(size, fixed) + beside * size,
        f"The Gram matrix of {size:,} graphs",
        f"About {fits:,} graphs fit: max_graphs={fits // 1000 * 1000} takes a sample of them",
    )
