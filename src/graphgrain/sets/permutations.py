"""Permutation tests for two sets whose graphs may be paired or in groups.

What is exchanged are units: single graphs, or whole groups.

1. Without groups, the sets of all graphs are permuted.
2. A group in one set only is a unit: the sets of such groups are permuted. The two parts of a
   group in both sets are exchanged with probability one half.
3. Paired graphs are groups in both sets, of one graph each, or of all pairs with the same group.
"""

from __future__ import annotations

import math

import numpy as np

#: Statistics that differ less than this, relative to the largest, are equal.
_EQUAL = 1e-9


def signed_sets(second: np.ndarray, units: np.ndarray, times: int, seed: int | None) -> np.ndarray:
    """Return the observed sets, and permuted ones in the further columns: 1 first, -1 second.

    Parameters
    ----------
    second : boolean array
        Whether each graph belongs to the second set.
    units : integer array
        Unit of each graph.
    times : int
        Number of permutations.
    seed : int or None
    """
    rng = np.random.default_rng(seed)
    _, unit = np.unique(units, return_inverse=True)
    parts = np.array([np.bincount(unit[~second], minlength=unit.max() + 1),
                      np.bincount(unit[second], minlength=unit.max() + 1)])  # fmt: skip
    both: np.ndarray = np.all(parts > 0, axis=0)
    single = np.flatnonzero(~both)
    side = np.where(parts[1] > 0, -1, 1).astype(np.int8)
    signs = np.where(second, -1, 1).astype(np.int8)
    result = np.empty((len(second), times + 1), dtype=np.int8)
    result[:, 0] = signs
    moved = side.copy()
    for column in range(1, times + 1):
        flips = np.where(rng.random(len(both)) < 0.5, -1, 1).astype(np.int8)
        moved[single] = rng.permutation(side[single])
        result[:, column] = np.where(both[unit], signs * flips[unit], moved[unit])
    return result


def smallest_p(second: np.ndarray, units: np.ndarray) -> float:
    """Return the smallest p-value that any number of permutations of these units can have."""
    pairs = np.unique(np.column_stack([units, second]), axis=0)
    _, sides = np.unique(pairs[:, 0], return_counts=True)
    both = int((sides == 2).sum())
    single = pairs[np.isin(pairs[:, 0], np.unique(pairs[:, 0])[sides == 1])]
    n, total = int(single[:, 1].sum()), len(single)
    log_ways = math.lgamma(total + 1) - math.lgamma(n + 1) - math.lgamma(total - n + 1)
    # The mirror image of the observed sets has the same statistic.
    mirrored = 2.0 if 2 * n == total else 1.0
    return min(1.0, mirrored * math.exp(-log_ways - both * math.log(2.0)))


def mmd_statistics(K: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return the unbiased MMD² of each column of ``signs``."""
    off = K - np.diag(np.diagonal(K))
    everything = float(off.sum())
    rows = off.sum(axis=1)
    first = (signs > 0).astype(np.float64)
    n = first.sum(axis=0)
    m = len(K) - n
    within = np.einsum("ij,ij->j", first, off @ first)
    across = rows @ first - within
    rest = everything - within - 2 * across
    return within / (n * (n - 1)) + rest / (m * (m - 1)) - 2 * across / (n * m)


def p_value(statistics: np.ndarray) -> float:
    """Return the p-value of the first of some statistics; the others are permuted."""
    slack = _EQUAL * float(np.abs(statistics).max(initial=0.0))
    return float((1 + (statistics[1:] >= statistics[0] - slack).sum()) / len(statistics))
