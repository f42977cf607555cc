"""CommonWalks: base class of the kernels that sum over common walks."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from ...core.walks import WalkGraphs, compare_walks
from ...graphs.batch import GraphBatch
from ...parameters import BOOLEAN, parameter
from .graph_kernel import check_edge_labels
from .pairwise import PairwiseKernel


class CommonWalks(PairwiseKernel):
    """Base class of the kernels that sum over the common walks of two graphs."""

    n_steps: int | None = parameter(default=None, init=False)
    labels: bool = parameter(default=True, init=False)
    edge_labels: bool = parameter(BOOLEAN, default=False)
    #: Whether all vertices have equal weights, with start and end weights of 1.
    _equal_weights: ClassVar[bool] = False
    _numbers_per_pair: ClassVar[int] = 5  # four vectors, and sums over neighbours

    @abstractmethod
    def _weights(self, batch: GraphBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the weights of each vertex for starting, continuing and ending a walk."""

    def _prepare(self, batch: GraphBatch) -> WalkGraphs:
        check_edge_labels(batch, self.edge_labels)
        graphs = batch.arrays
        labels = np.zeros(batch.n_vertices, dtype=np.uint64)
        if self.labels and batch.n_vertices:
            labels = graphs.label_hashes[graphs.labels]
        order = np.lexsort((labels, batch.graph_of_vertex))
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        degrees = batch.degrees[order]
        pointers = np.concatenate(([0], np.cumsum(degrees)))
        moved = np.repeat(batch.indptr[:-1][order] - pointers[:-1], degrees)
        entries = moved + np.arange(len(moved))
        bonds = np.zeros(1, dtype=np.uint64)
        if self.edge_labels and batch.n_edges:
            bonds = graphs.edge_hashes[graphs.edge_labels[entries]]
        weights = [weight[order] for weight in self._weights(batch)]
        return WalkGraphs(
            batch.offsets, pointers, place[batch.indices[entries]], labels[order], bonds, *weights
        )

    def _compare(
        self, left: WalkGraphs, right: WalkGraphs, which: int, begin: int, end: int, K: np.ndarray
    ) -> None:
        steps = -1 if self.n_steps is None else self.n_steps
        compare_walks(left, right, steps, self._equal_weights, which, begin, end, K)
