"""PairwiseKernel: kernels that compare graphs two by two, in compiled code."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ..core.threads import chunks, run
from ..graphs.batch import GraphBatch
from .base import GraphKernel, normalized

#: Pairs of vertices that one task compares, about: well below a second.
PAIRS_PER_TASK = 1 << 22


class PairwiseKernel(GraphKernel):
    """Base class of the kernels without features: a subclass compares rows of pairs.

    Attributes
    ----------
    graphs_ : GraphBatch
        The fitted graphs.
    """

    graphs_: GraphBatch

    @abstractmethod
    def _compare(
        self, left: GraphBatch, right: GraphBatch, lower: bool, begin: int, end: int, K: np.ndarray
    ) -> None:
        """Fill the rows ``begin`` to ``end`` of K; up to the diagonal if ``lower``."""

    @abstractmethod
    def _compare_own(self, batch: GraphBatch, begin: int, end: int) -> np.ndarray:
        """Similarity of each graph of a range with itself."""

    def _fit(self, batch: GraphBatch) -> None:
        self.graphs_ = batch

    def _gram_of_fitted(self) -> np.ndarray:
        K = self._pairs(self.graphs_, self.graphs_, True)
        K = np.tril(K) + np.tril(K, -1).T
        return normalized(K, np.diag(K).copy()) if self.normalize else K

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        K = self._pairs(batch, self.graphs_, False)
        if not self.normalize:
            return K
        return normalized(K, self._own(batch), self._own(self.graphs_))

    def _pairs(self, left: GraphBatch, right: GraphBatch, lower: bool) -> np.ndarray:
        K = np.zeros((len(left), len(right)))
        work = left.vertex_counts * max(right.n_vertices, 1)
        run(
            lambda begin, end: self._compare(left, right, lower, begin, end, K),
            chunks(work, PAIRS_PER_TASK),
            self.n_jobs,
        )
        return K

    def _own(self, batch: GraphBatch) -> np.ndarray:
        parts = run(
            lambda begin, end: self._compare_own(batch, begin, end),
            chunks(batch.vertex_counts**2, PAIRS_PER_TASK),
            self.n_jobs,
        )
        return np.concatenate([np.empty(0), *parts])
