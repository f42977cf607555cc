"""RandomWalk: the random walk kernel."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..core.spectra import adjacency
from ..core.threads import run_each
from ..core.walks import WalkSpectra, compare_spectra
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..parameters import BOOLEAN, Number, Whole, parameter
from .bases.common_walks import CommonWalks

#: Eigenvectors with a smaller squared sum, relative to the number of vertices, are orthogonal to
#: the vector of ones up to rounding error.
_NO_WALK = 1e-20
#: For graphs with more vertices the largest eigenvalue is computed iteratively.
_DENSE = 500


class RandomWalk(CommonWalks):
    """Random walk kernel: common walks of two graphs, with less weight on longer ones.

    Two walks are common if the labels of their vertices agree. The kernel is the sum of ``decay``
    to the power of the length over all pairs of common walks, of any length (the geometric random
    walk kernel) or of at most ``n_steps`` steps.

    Parameters
    ----------
    n_steps : int, optional
        Length of the longest walks, p in p-step kernels. By default unlimited.
    decay : float, optional
        Weight of each step. By default half of the largest value for which the sum over walks of
        any length converges on the fitted graphs: 1 / (2 r^2), with r the largest eigenvalue of
        their adjacency matrices.
    labels : bool, default=True
        Whether the vertex labels of walks must agree; if False, only their lengths.
    edge_labels : bool, default=False
        Whether the edge labels of walks must also agree.
    similarity, n_jobs, verbose
        As in :class:`GraphKernel`.

    Attributes
    ----------
    decay_ : float
        Value of decay in use.

    See Also
    --------
    Marginalized : Walks weighted by their probabilities.
    PathPattern : Shortest paths instead of walks, with explicit features.

    Notes
    -----
    Uses structure, vertex labels and optionally edge labels. Walks may turn back at every step
    (tottering), so a single edge has walks of any length. The sum over walks of any length is
    computed by conjugate gradients. An iteration for a pair of graphs with n vertices and m edges
    takes at most n m steps, fewer if vertices have different labels, compared to n^4 with a product
    graph. With the default decay about twelve iterations give thirteen digits, and more are needed
    as it approaches the limit 1 / r^2, beyond which the sum diverges and an error is raised.
    Without labels the kernel uses the eigenvalues of each graph, which take n^3, and n^2 for a
    pair. With the default decay the similarity of two graphs depends on the set of fitted graphs.

    GraKeL's RandomWalkLabeled with ``kernel_type="geometric"`` differs in walks of length 0, which
    it also counts for vertices with different labels. Otherwise it agrees for the same decay
    (``lamda`` there, 0.1 by default), and so does its RandomWalk with ``labels=False``. If the sum
    diverges, it returns meaningless numbers.

    References
    ----------
    Gaertner, Flach, Wrobel: On Graph Kernels: Hardness Results and Efficient Alternatives. COLT
    2003. Vishwanathan, Schraudolph, Kondor, Borgwardt: Graph Kernels. Journal of Machine Learning
    Research 11, 2010.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> gg.RandomWalk(1, decay=1, similarity="dot").fit_transform(graphs).tolist()
    [[11.0, 5.0], [5.0, 4.0]]
    """

    n_steps: int | None = parameter(Whole(0, optional=True), default=None, kw_only=False)
    decay: float | None = parameter(Number(0.0, optional=True), default=None)
    labels: bool = parameter(BOOLEAN, default=True)
    _equal_weights: ClassVar[bool] = True

    @property
    def _uses_labels(self) -> bool:  # type: ignore[override]
        return self.labels

    def _fit(self, batch: GraphBatch) -> None:
        if self.decay is not None:
            self.decay_ = float(self.decay)
            self._check_finite(batch)
        else:
            self.decay_ = 1.0 / (2.0 * max(_largest_eigenvalue(batch), 1.0) ** 2)
        super()._fit(batch)

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        self._check_finite(batch)
        return super()._gram_with_fitted(batch)

    def _check_finite(self, batch: GraphBatch) -> None:
        """Raise an error if sums may diverge; they converge if r^2 < 1 / decay for all graphs."""
        if self.n_steps is not None:
            return
        largest = _largest_eigenvalue(batch)
        if self.decay_ * largest**2 >= 1.0 - 1e-12:  # eigenvalues are rounded
            raise InvalidParameterError(
                f"decay must be below 1 / r^2 = {1.0 / largest**2:.6g} for walks of any length, "
                f"with r the largest eigenvalue of these graphs; got {self.decay_:.6g}. Set a "
                f"smaller decay, or n_steps for walks of limited length."
            )

    def _weights(self, batch: GraphBatch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        ones = np.ones(batch.n_vertices)
        return ones, np.sqrt(self.decay_) * ones, ones

    @property
    def _spectral(self) -> bool:
        """Whether only the lengths of walks count, so that eigenvalues suffice."""
        return not (self.labels or self.edge_labels) and self.n_steps is None

    @property
    def _numbers_per_pair(self) -> int:  # type: ignore[override]
        return 0 if self._spectral else super()._numbers_per_pair

    def _prepare(self, batch: GraphBatch) -> Any:
        if not self._spectral:
            return super()._prepare(batch)
        spectra = run_each(lambda g: _spectrum(batch, g), batch.vertex_counts, self.n_jobs)
        offsets = np.concatenate(([0], np.cumsum([len(values) for values, _ in spectra])))
        values = np.concatenate([np.empty(0), *(values for values, _ in spectra)])
        weights = np.concatenate([np.empty(0), *(weights for _, weights in spectra)])
        return WalkSpectra(offsets.astype(np.int64), np.sqrt(self.decay_) * values, weights)

    def _compare(
        self, left: Any, right: Any, which: int, begin: int, end: int, K: np.ndarray
    ) -> None:
        if isinstance(left, WalkSpectra):
            compare_spectra(left, right, which, begin, end, K)
        else:
            super()._compare(left, right, which, begin, end, K)


def _spectrum(batch: GraphBatch, graph: int) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues of an adjacency matrix, and the squared sums of the eigenvectors.

    Eigenvectors with sum 0 are omitted, since they contribute no walks.
    """
    values, vectors = np.linalg.eigh(adjacency(batch.arrays, graph))
    weights = vectors.sum(axis=0) ** 2
    seen = weights > _NO_WALK * len(values)
    return values[seen], weights[seen]


def _largest_eigenvalue(batch: GraphBatch) -> float:
    """Return the largest eigenvalue of the adjacency matrices of a batch."""
    largest = 0.0
    # Row sums of the squared matrix bound the squared eigenvalue; graphs below it are skipped.
    running = np.concatenate(([0], np.cumsum(batch.degrees[batch.indices])))
    around = running[batch.indptr[1:]] - running[batch.indptr[:-1]]
    bounds = [around[a:b].max(initial=0) for a, b in pairwise(batch.offsets.tolist())]
    for graph in np.argsort(-np.array(bounds), kind="stable").tolist():
        if largest**2 >= bounds[graph]:
            break
        largest = max(largest, _eigenvalue(batch, graph))
    return largest


def _eigenvalue(batch: GraphBatch, graph: int) -> float:
    if batch.vertex_counts[graph] <= _DENSE:
        return float(np.linalg.eigvalsh(adjacency(batch.arrays, graph))[-1])
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import eigsh

    first, last = int(batch.offsets[graph]), int(batch.offsets[graph + 1])
    begin, end = int(batch.indptr[first]), int(batch.indptr[last])
    pointers = batch.indptr[first : last + 1] - begin
    n = last - first
    entries = (np.ones(end - begin), batch.indices[begin:end] - first, pointers)
    A = csr_array(entries, shape=(n, n))
    return float(eigsh(A, k=1, which="LA", return_eigenvectors=False, v0=np.ones(n))[0])
