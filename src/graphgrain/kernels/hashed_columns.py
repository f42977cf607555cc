"""A matrix with a fixed number of columns from counted features, with nothing learnt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.columns import hashed_rows
from ..core.hashing import GOLDEN, mix_array
from ..core.threads import chunks, run
from .counts import Counts

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def columns_of_hashes(hashes: np.ndarray, level: int, n_features: int) -> np.ndarray:
    """The column of each feature of a level, as :func:`hashed_rows` chooses it."""
    with np.errstate(over="ignore"):
        mixed = mix_array(hashes + np.uint64(level + 1) * GOLDEN)
    return (mixed % np.uint64(n_features)).astype(np.int64)


def hashed_matrix(
    levels: Sequence[Counts], n_features: int, scales: np.ndarray, n_jobs: int | None
) -> csr_array:
    """Features as rows with ``n_features`` columns; ``scales`` multiply the levels."""
    from scipy.sparse import csr_array

    graphs = len(levels[0].lengths)
    bounds = np.zeros((len(levels), graphs + 1), dtype=np.int64)
    base = 0
    for level, counts in enumerate(levels):
        np.cumsum(counts.lengths, out=bounds[level, 1:])
        bounds[level] += base
        base += len(counts.hashes)
    hashes = np.concatenate([counts.hashes for counts in levels])
    values = np.concatenate(
        [scale * counts.counts for counts, scale in zip(levels, scales.tolist(), strict=True)]
    )
    sizes = np.diff(bounds, axis=1).sum(axis=0)
    parts = run(
        lambda begin, end: hashed_rows(bounds, hashes, values, n_features, begin, end),
        chunks(sizes, 1 << 18) or [(0, 0)],
        n_jobs,
    )
    lengths, columns, sums = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    if len(columns) <= np.iinfo(np.int32).max:  # scikit-learn's linear models ask for it
        indptr = indptr.astype(np.int32)
    return csr_array((sums, columns, indptr), shape=(graphs, n_features))
