"""Similarity of two rows of values: the one rule of everything that compares graphs.

A row holds the values of the patterns of a graph. The overlap of two rows is the sum, over their
common patterns, of the products of both values (dot, cosine) or of their minima (min-max,
containment). The measure of a row is its overlap with itself: the sum of its squared values, or of
its values. :func:`similarity` turns an overlap and both measures into a similarity:

1. dot: the overlap itself
2. cosine: the overlap divided by the square root of the product of the measures
3. min-max: the sum of the minima divided by the sum of the maxima
4. containment: the part of the first row that the second contains, which is not symmetric

Except for the dot product, two rows without patterns are equal, and a row without patterns has
nothing in common with one that has some.
"""

from __future__ import annotations

import math

import numpy as np

from .compiling import inlined
from .threads import plain_entry_point

DOT, COSINE, MINMAX, CONTAINMENT = 0, 1, 2, 3


@inlined
def similarity(kind, overlap, a, b):
    """Return the similarity of two rows; loops are vectorised where the kind is a literal."""
    if kind == DOT:
        return overlap
    if kind == COSINE:
        below = np.sqrt(a * b)
    elif kind == MINMAX:
        below = a + b - overlap
    else:
        below = a
    ratio = overlap / below if below > 0.0 else (1.0 if a + b == 0.0 else 0.0)
    return 1.0 if ratio > 1.0 else ratio  # rounding can exceed 1


@plain_entry_point
def _add_by_row(starts, values, squared, sums):
    for row in range(len(sums)):
        total = 0.0
        for entry in range(starts[row], starts[row + 1]):
            value = values[entry]
            total += value * value if squared else value
        sums[row] = total


def row_sums(starts: np.ndarray, values: np.ndarray, squared: bool = False) -> np.ndarray:
    """Return the sum of the values, or of their squares, from each start to the next.

    Each row is added by itself: its sum does not depend on the rows before it.
    """
    sums = np.empty(len(starts) - 1)
    _add_by_row(starts, values.astype(np.float64, copy=False), squared, sums)
    return sums


@plain_entry_point
def _take_logarithms(counts, out):
    for entry in range(len(counts)):
        out[entry] = math.log1p(counts[entry])


def logarithms(counts: np.ndarray) -> np.ndarray:
    """Return ln(1 + count); in NumPy the last bits depend on the place in the array."""
    out = np.empty(len(counts))
    _take_logarithms(counts.astype(np.float64, copy=False), out)
    return out
