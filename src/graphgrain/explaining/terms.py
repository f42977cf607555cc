"""Weights on patterns: the one form into which every model that can be explained is brought.

A model's values for a graph are ``bias + sum over terms of scale * sum over patterns of
weight(pattern, count)``. A term belongs to one kernel, seen through one view; its scale is 1 over
a norm where features are normalised, and 1 elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ..core.counting import find_columns
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.features import Counts, columns_of_hashes, map_counts, squared_norms

if TYPE_CHECKING:
    from ..learning.pattern_weights import PatternWeights


class Term(Protocol):
    """Weights on the patterns of one kernel."""

    @property
    def kernel(self) -> FeatureKernel: ...

    @property
    def view(self) -> Any: ...

    @property
    def n_levels(self) -> int: ...

    def contributions(self, level: int, counts: Counts) -> np.ndarray:
        """What patterns add to each output before the scale, of shape (patterns, outputs)."""

    def known(self, level: int, hashes: np.ndarray) -> np.ndarray:
        """Which patterns the model has a weight for."""

    def scales(self, seen: GraphBatch) -> np.ndarray:
        """What the contributions of each graph are multiplied with."""


@dataclass(frozen=True)
class ColumnWeights:
    """Weights on the columns of a fitted kernel.

    Attributes
    ----------
    kernel : FeatureKernel
        Fitted.
    view : fitted view or None
    weights : array of shape (columns, outputs)
    row_scales : callable
        The scale of each graph of a batch.
    """

    kernel: FeatureKernel
    view: Any
    weights: np.ndarray
    row_scales: Callable[[GraphBatch], np.ndarray]

    @property
    def n_levels(self) -> int:
        return len(self.kernel.level_scales)

    def known(self, level: int, hashes: np.ndarray) -> np.ndarray:
        """Which patterns training has met; with ``n_features`` nobody can tell: all."""
        return self._columns(level, hashes) >= 0

    def _columns(self, level: int, hashes: np.ndarray) -> np.ndarray:
        """The columns of features, -1 for those without."""
        kernel = self.kernel
        if hasattr(kernel, "vocabulary_"):
            columns = find_columns(hashes, kernel.vocabulary_[level]).astype(np.int64)
            return np.where(columns >= 0, columns + int(kernel.level_offsets_[level]), -1)
        return columns_of_hashes(hashes, level, len(self.weights))

    def contributions(self, level: int, counts: Counts) -> np.ndarray:
        """See :class:`Term`; for an intersection the units of a pattern are added up."""
        mapped = map_counts(counts, self.kernel.counts)
        rows = np.arange(len(counts.hashes))
        if self.kernel.counts == "intersection":
            rows = np.repeat(rows, counts.counts.astype(np.int64))
        columns = self._columns(level, mapped.hashes)
        there = columns >= 0
        values = mapped.counts[there] * self.kernel.level_scales[level]
        added = np.zeros((len(counts.hashes), self.weights.shape[1]))
        np.add.at(added, rows[there], values[:, None] * self.weights[columns[there]])
        return added

    def scales(self, seen: GraphBatch) -> np.ndarray:
        return self.row_scales(seen)


@dataclass(frozen=True)
class MemberWeights:
    """Weights of one of the machines of a self-tuned estimator.

    Attributes
    ----------
    member : PatternWeights
    outputs : array of shape (outputs of the machine, outputs of the model)
        How its values become those of the model.
    """

    member: PatternWeights
    outputs: np.ndarray

    @property
    def n_levels(self) -> int:
        return self.member.n_levels

    @property
    def kernel(self) -> FeatureKernel:
        return self.member.kernel

    @property
    def view(self) -> Any:
        return self.member.view

    def known(self, level: int, hashes: np.ndarray) -> np.ndarray:
        return find_columns(hashes, self.member.patterns.levels[level].hashes) >= 0

    def contributions(self, level: int, counts: Counts) -> np.ndarray:
        added = self.member.contributions(level, counts.hashes, counts.counts) @ self.outputs
        if self.member.divides_levels:
            norms = np.sqrt(squared_norms(map_counts(counts, self.member.counts)))
            added /= np.repeat(norms, counts.lengths)[:, np.newaxis]
        return added

    def scales(self, seen: GraphBatch) -> np.ndarray:
        if not self.member.normalize or self.member.divides_levels:
            return np.ones(len(seen))
        return inverse_norms(self.kernel, seen, np.ones(self.member.n_levels))


def inverse_norms(kernel: FeatureKernel, seen: GraphBatch, level_scales: np.ndarray) -> np.ndarray:
    """One over the norm of each graph's features, whether seen at fit or not; 1 without any."""
    squares = np.zeros(len(seen))
    for counts, scale in zip(kernel.count_features(seen), level_scales, strict=True):
        squares += scale**2 * squared_norms(map_counts(counts, kernel.counts))
    return 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0))
