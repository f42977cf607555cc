"""The Wasserstein Weisfeiler-Lehman kernel."""

from __future__ import annotations

import numpy as np

from ..core.counting import find_columns, group_hashes, transpose
from ..core.gram import finish
from ..core.similarity import CONTAINMENT
from ..core.structures import Csc
from ..core.threads import chunks, run
from ..core.transport import shared_shares, transport_costs
from ..errors import InvalidGraphError
from ..graphs.batch import GraphBatch
from ..parameters import BOOLEAN, Number, Whole, parameter
from ..views.base import attribute_columns
from .bases.graph_kernel import GraphKernel
from .bases.pairwise import require_pairs
from .features import Counts
from .weisfeiler_lehman import WeisfeilerLehman

#: Approximate number of vertex pairs per task.
_TASK = 1 << 21
#: The squared distance of larger attributes would exceed the largest number.
_LARGEST_ATTRIBUTE = 1e150


class WassersteinWL(GraphKernel):
    """Wasserstein Weisfeiler-Lehman kernel: graphs as distributions of refined vertices.

    With labels, a vertex is represented by its colours after 0 to ``n_iter`` refinement steps, and
    the distance of two vertices is the fraction of steps in which their colours differ. With
    attributes, each step moves the attributes of a vertex halfway to the mean of its neighbours; a
    vertex is represented by the attributes after all steps, and distances are Euclidean. The
    distance W of two graphs is the optimal transport cost between their vertices, with the vertices
    of each graph weighted equally and summing to 1. The kernel is exp(-gamma W).

    Parameters
    ----------
    n_iter : int, default=3
        Number of refinement steps, H in the paper.
    gamma : float, default=1.0
        Decay of the similarity with distance, lambda in the paper.
    attributes : bool, default=False
        Whether to use the vertex attributes, instead of the labels.
    edge_labels : bool, default=False
        If True, refine labels by pairs of edge label and neighbour's colour.
    similarity : {"cosine", "dot"}, default="cosine"
        Every graph has similarity 1 with itself in both cases. With "cosine", graphs without
        vertices have similarity 0 with all others.
    n_jobs, verbose
        As in :class:`GraphKernel`.

    See Also
    --------
    WeisfeilerLehman : Counts of the same colours, as explicit features.
    HashedAttributes : Applies kernels for labels to graphs with attributes.

    Notes
    -----
    Uses structure and labels or attributes. Since refinement only splits colours, the distances of
    colours form a tree metric, and optimal transport has a closed form: W is half of the summed
    absolute differences of the colours' frequencies, averaged over the steps. The kernel with
    labels is therefore positive definite and costs little more than :class:`WeisfeilerLehman`.

    With attributes the matrix need not be positive semi-definite, because the Wasserstein distance
    in several dimensions does not embed into a Hilbert space. The problem of a support vector
    machine is then not convex; the paper's authors use a solver for Krein spaces. The cost for a
    pair of graphs is about cubic in the number of vertices. Attributes are not scaled; the authors
    standardise them, as :class:`AttributeScaler` does.

    The authors' program also computes the transport for labels, with the same distances. With
    attributes it differs only for vertices without neighbours, whose attributes it halves in every
    step; here they do not change.

    References
    ----------
    Togninalli, Ghisu, Llinares-Lopez, Rieck, Borgwardt: Wasserstein Weisfeiler-Lehman Graph
    Kernels. NeurIPS 2019.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = gg.WassersteinWL(n_iter=1).fit(graphs)
    >>> kernel.distances(graphs).round(3).tolist()
    [[0.0, 0.417], [0.417, 0.0]]
    >>> kernel.transform(graphs).round(3).tolist()
    [[1.0, 0.659], [0.659, 1.0]]
    """

    n_iter: int = parameter(Whole(0), default=3, kw_only=False)
    gamma: float = parameter(Number(0.0), default=1.0)
    attributes: bool = parameter(BOOLEAN, default=False)
    edge_labels: bool = parameter(BOOLEAN, default=False)

    @property
    def _uses_labels(self) -> bool:  # type: ignore[override]
        return not self.attributes

    def distances(self, X: object) -> np.ndarray:
        """Compute the Wasserstein distances of graphs (rows) to the fitted graphs (columns).

        A graph without vertices has distance 0 to other such graphs, and an infinite distance to
        all others (with labels 1, the largest possible distance).
        """
        return self._distances_to_fitted(self._checked(X))

    def _fit(self, batch: GraphBatch) -> None:
        self._offsets = batch.offsets
        if self.attributes:
            self.n_attributes_ = attribute_columns(batch, "vertex").shape[1]
            self._points = self._smoothed(batch)
            return
        grouped = [group_hashes(*level) for level in self._shares(batch)]
        self._vocabulary = [vocabulary for vocabulary, *_ in grouped]
        self._columns = [Csc(*columns) for _, *columns, _ in grouped]

    def _gram_of_fitted(self) -> np.ndarray:
        if self.attributes:
            W = self._transport(self._points, self._offsets, True)
        else:
            W = self._tree_distances(self._columns, self._offsets, True)
        return np.exp(-self.gamma * (np.tril(W) + np.tril(W, -1).T))

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        return np.exp(-self.gamma * self._distances_to_fitted(batch))

    def _distances_to_fitted(self, batch: GraphBatch) -> np.ndarray:
        if self.attributes:
            return self._transport(self._smoothed(batch), batch.offsets, False)
        columns = []
        for level, vocabulary in zip(self._shares(batch), self._vocabulary, strict=True):
            found = find_columns(level.hashes, vocabulary)
            columns.append(Csc(*transpose(level.starts, found, level.counts, len(vocabulary))))
        return self._tree_distances(columns, batch.offsets, False)

    # ---------------------------------------------------------------- labels

    def _shares(self, batch: GraphBatch) -> list[Counts]:
        """Return the colours of each step with their relative frequencies."""
        kernel = WeisfeilerLehman(self.n_iter, edge_labels=self.edge_labels, n_jobs=self.n_jobs)
        sizes = batch.vertex_counts
        return [
            level._replace(counts=level.counts / np.repeat(sizes, level.lengths))
            for level in kernel.count_features(batch)
        ]

    def _tree_distances(self, columns: list[Csc], offsets: np.ndarray, lower: bool) -> np.ndarray:
        """Return 1 - the common frequencies, averaged over steps; 0 between empty graphs."""
        empty, fitted_empty = np.diff(offsets) == 0, np.diff(self._offsets) == 0
        shared = np.zeros((len(empty), len(fitted_empty)))
        ranges = chunks(np.full(len(empty), len(fitted_empty)), _TASK)
        for new, fitted in zip(columns, self._columns, strict=True):
            run(
                lambda begin, end, new=new, fitted=fitted: shared_shares(  # type: ignore[misc]
                    new, fitted, lower, begin, end, shared
                ),
                ranges,
                self.n_jobs,
            )
        steps = self.n_iter + 1  # the frequencies of a graph add up to 1 in each
        W = 1.0 - finish(shared, steps * ~empty, steps * ~fitted_empty, False, CONTAINMENT, None)
        if lower:
            np.fill_diagonal(W, 0.0)
        return W

    # ---------------------------------------------------------------- attributes

    def _smoothed(self, batch: GraphBatch) -> np.ndarray:
        """Return the attributes of each vertex after 0 to ``n_iter`` steps, side by side."""
        current = attribute_columns(batch, "vertex", self.n_attributes_)
        largest = float(np.abs(current).max(initial=0.0))
        if largest > _LARGEST_ATTRIBUTE:  # distances would be infinite
            raise InvalidGraphError(
                f"Attributes must be between -{_LARGEST_ATTRIBUTE:g} and {_LARGEST_ATTRIBUTE:g}; "
                f"got {largest:g}. Scale them (AttributeScaler) or replace missing values."
            )
        if not len(current):
            current = np.zeros((batch.n_vertices, self.n_attributes_))
        steps = [current]
        degrees = batch.degrees[:, np.newaxis]
        owners = batch.sources
        for _ in range(self.n_iter):
            sums = np.zeros_like(current)
            np.add.at(sums, owners, current[batch.indices])
            mean = np.where(degrees > 0, sums / np.maximum(degrees, 1), current)
            current = 0.5 * (current + mean)
            steps.append(current)
        return np.ascontiguousarray(np.hstack(steps))

    def _transport(self, points: np.ndarray, offsets: np.ndarray, lower: bool) -> np.ndarray:
        # two numbers per pair of vertices: cost and flow
        require_pairs(np.diff(offsets), np.diff(self._offsets), 2, self.n_jobs)
        W = np.zeros((len(offsets) - 1, len(self._offsets) - 1))
        work = np.diff(offsets) * max(int(self._offsets[-1]), 1)
        run(
            lambda begin, end: transport_costs(
                points, offsets, self._points, self._offsets, lower, begin, end, W
            ),
            chunks(work, _TASK),
            self.n_jobs,
        )
        return W
