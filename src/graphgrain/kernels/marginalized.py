"""The marginalised kernel."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..core.walks import WalkWeights, compare_walks, own_walks
from ..graphs.batch import GraphBatch
from ..parameters import BOOLEAN, Rule, Share
from .base import GraphKernel
from .edge_labels import check_edge_labels
from .pairwise import PairwiseKernel


class Marginalized(PairwiseKernel):
    """Marginalised kernel: the probability that two random walks see the same labels.

    A walk starts at any vertex with equal probability, ends after every step with probability
    ``stop`` and otherwise goes on to any neighbour with equal probability. The kernel is the
    probability that independent walks on two graphs read the same sequence of labels.

    Parameters
    ----------
    stop : float, default=0.1
        Probability of ending at each vertex, the paper's p_q, between 0 and 1.
    edge_labels : bool, default=False
        Walks also read the labels of their edges.
    normalize : bool, default=True
        Scale the Gram matrix so that every graph has similarity 1 with itself.
    n_jobs : int, optional
        Number of threads; -1 takes all cores. The result does not depend on it.
    verbose : bool, default=False
        Show how far the work is, on standard error, where a step of it takes longer than seconds.

    Notes
    -----
    It sees vertex labels, edge labels if asked, and walks, which may turn back at every step.
    From a vertex without neighbours a walk cannot go on: it ends there. The cost is that of
    :class:`RandomWalk`; the number of steps grows as ``stop`` nears 0. Labels are compared for
    equality, as for the molecules of the paper. The paper's linear system is solved by summing up
    lengths of walks until thirteen digits stand.

    References
    ----------
    Kashima, Tsuda, Inokuchi: Marginalized Kernels Between Labeled Graphs. ICML 2003.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"]), ([], ["O"])]
    >>> gg.Marginalized(0.5).fit_transform(graphs).round(2).tolist()
    [[1.0, 0.86, 0.41], [0.86, 1.0, 0.61], [0.41, 0.61, 1.0]]
    """

    parameter_rules: ClassVar[dict[str, Rule]] = {
        **GraphKernel.parameter_rules,
        "stop": Share(),
        "edge_labels": BOOLEAN,
    }

    def __init__(
        self,
        stop: float = 0.1,
        *,
        edge_labels: bool = False,
        normalize: bool = True,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.stop = stop
        self.edge_labels = edge_labels
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, batch: GraphBatch) -> None:
        check_edge_labels(batch, self.edge_labels)
        super()._fit(batch)

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        check_edge_labels(batch, self.edge_labels)
        return super()._gram_with_fitted(batch)

    def _weights(self, batch: GraphBatch) -> WalkWeights:
        counts = batch.vertex_counts
        degrees = batch.degrees
        return WalkWeights(
            np.repeat(1.0 / np.maximum(counts, 1), counts),
            (1.0 - self.stop) / np.maximum(degrees, 1),
            np.where(degrees > 0, self.stop, 1.0),
        )

    def _compare(
        self, left: GraphBatch, right: GraphBatch, lower: bool, begin: int, end: int, K: np.ndarray
    ) -> None:
        weights, others = self._weights(left), self._weights(right)
        rules = (-1, True, self.edge_labels)
        compare_walks(left.arrays, right.arrays, weights, others, *rules, lower, begin, end, K)

    def _compare_own(self, batch: GraphBatch, begin: int, end: int) -> np.ndarray:
        rules = (-1, True, self.edge_labels)
        return own_walks(batch.arrays, self._weights(batch), *rules, begin, end)
