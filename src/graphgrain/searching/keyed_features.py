"""The features of graphs as 64-bit keys over all levels, with their values after the count map."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..core.hashing import GOLDEN
from ..core.sketches import place_level
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import map_counts

#: Count maps after which every value is 1.
_ONES = ("binary", "intersection")


class KeyedFeatures(NamedTuple):
    """Graph i has the keys and values from ``pointers[i]`` to ``pointers[i + 1]``."""

    pointers: np.ndarray  # int64
    keys: np.ndarray  # uint64
    values: np.ndarray  # float64

    def sums(self, of: Callable[[np.ndarray], np.ndarray] = lambda values: values) -> np.ndarray:
        """Sum of the values of each graph, after a function."""
        rows = np.repeat(np.arange(len(self.pointers) - 1), np.diff(self.pointers))
        return np.bincount(rows, weights=of(self.values), minlength=len(self.pointers) - 1)

    def sorted(self) -> KeyedFeatures:
        """The keys of each graph in ascending order."""
        order = np.concatenate(
            [np.empty(0, dtype=np.int64)]
            + [
                begin + np.argsort(self.keys[begin:end])
                for begin, end in zip(self.pointers[:-1], self.pointers[1:], strict=True)
            ]
        )
        return self._replace(keys=self.keys[order], values=self.values[order])


def values_differ(kernel: FeatureKernel) -> bool:
    """Whether features have values other than 1."""
    return kernel.counts not in _ONES or bool(np.any(kernel.level_scales != 1.0))


def keyed_features(kernel: FeatureKernel, batch: GraphBatch) -> KeyedFeatures:
    """The features of all levels of a kernel, graph by graph."""
    levels = [map_counts(level, kernel.counts) for level in kernel.count_features(batch)]
    lengths = np.sum([level.lengths for level in levels], axis=0, dtype=np.int64)
    pointers = np.zeros(len(batch) + 1, dtype=np.int64)
    np.cumsum(lengths, out=pointers[1:])
    keys = np.empty(pointers[-1], dtype=np.uint64)
    values = np.empty(pointers[-1])
    fill = pointers[:-1].copy()
    for number, (level, scale) in enumerate(zip(levels, kernel.level_scales, strict=True)):
        with np.errstate(over="ignore"):
            salt = np.uint64(number + 1) * GOLDEN
        counts = level.counts.astype(np.float64) * scale
        place_level(level.lengths.astype(np.int64), level.hashes, counts, salt, fill, keys, values)
    return KeyedFeatures(pointers, keys, values)
