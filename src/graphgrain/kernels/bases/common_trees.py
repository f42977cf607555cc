"""CommonTrees: base class of the kernels that count common tree patterns."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from ...core.structures import Graphs
from ...core.tree_patterns import LARGEST_DEGREE, TreeWeights, compare_patterns
from ...errors import InvalidGraphError
from ...graphs.batch import GraphBatch
from ...parameters import BOOLEAN, SHARE, Whole, parameter
from .graph_kernel import check_edge_labels
from .pairwise import PairwiseKernel


class CommonTrees(PairwiseKernel):
    """Base class of the kernels that count common tree patterns of two graphs."""

    depth: int = parameter(Whole(1), default=3, kw_only=False)
    decay: float = parameter(SHARE, default=0.5)
    edge_labels: bool = parameter(BOOLEAN, default=False)
    _numbers_per_pair: ClassVar[int] = 2  # patterns of the current and the next depth

    @abstractmethod
    def _weights(self) -> tuple[TreeWeights, float]:
        """Return the weights of the recursion, and a factor applied to its result."""

    def _prepare(self, batch: GraphBatch) -> Graphs:
        check_edge_labels(batch, self.edge_labels)
        highest = int(batch.degrees.max(initial=0))
        if self.depth > 1 and highest > LARGEST_DEGREE:
            raise InvalidGraphError(
                f"{type(self).__name__} matches neighbours in all ways, which takes 2^degree steps:"
                f" the largest degree must be {LARGEST_DEGREE} or less; got {highest}. Use "
                "WeisfeilerLehman or TreePlusPlus for such graphs, or depth=1."
            )
        return batch.arrays

    def _compare(
        self, left: Graphs, right: Graphs, which: int, begin: int, end: int, K: np.ndarray
    ) -> None:
        weights, factor = self._weights()
        compare_patterns(left, right, weights, self.edge_labels, which, begin, end, K)
        K[begin:end] *= factor
