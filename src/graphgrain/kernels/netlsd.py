"""NetLSD: spectral signatures of graphs."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..core.spectra import adjacency
from ..core.threads import run_each
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..parameters import Number, OneOf, Whole, check_parameters, parameter
from .bases.graph_kernel import GraphKernel

#: Range of times in the paper.
_FIRST_TIME, _LAST_TIME = 1e-2, 1e2
#: Distances below this, relative to the longest signature, are rounding errors.
_ROUNDING = 1e-9


class NetLSD(GraphKernel):
    """NetLSD: heat (or wave) traces of the Laplacian at many times.

    The signature of a graph with normalised Laplacian L is the trace of exp(-t L) at ``n_times``
    times t from 0.01 to 100, evenly spaced on a logarithmic scale. Early times reflect edges and
    triangles, late ones components and communities. The wave signature is the real part of the
    trace of exp(-i t L) at evenly spaced times from 0 to 2 pi. Two graphs with signatures s and s'
    have similarity exp(-gamma ||s - s'||^2).

    Parameters
    ----------
    n_times : int, default=250
        Length of the signature.
    signature : {"heat", "wave"}, default="heat"
        The trace of exp(-t L), or the real part of that of exp(-i t L).
    scale : {"empty", "complete", "none"}, default="empty"
        Divide the signature by that of the edgeless graph, or (heat only) of the complete graph,
        with the same number n of vertices, so that graphs of different sizes are comparable; or
        leave it unscaled. The complete graph is assumed to have n - 1 eigenvalues of 1, as in the
        paper.
    gamma : float, optional
        Decay of the similarity with distance. By default 1 / (2 m^2), with m the median distance
        between the signatures of the fitted graphs, or 1 if m is 0.
    similarity, n_jobs, verbose
        As in :class:`WassersteinWL`.

    Attributes
    ----------
    gamma_ : float
        Value of gamma in use.

    See Also
    --------
    SpectralDistance : Distances between vertices from the spectrum.
    ReturnProbability : Return probabilities of random walks.

    Notes
    -----
    Uses only the spectrum of the structure: graphs with equal spectra have similarity 1. All
    eigenvalues are computed, which takes time cubic in the number of vertices; the authors'
    program, which has the same signatures, approximates them for large graphs. The published method
    is the signature (:meth:`signatures`), and the authors compare signatures by Euclidean distance,
    for which a Gaussian is the usual kernel. An isolated vertex has eigenvalue 0. With the default
    gamma the similarity of two graphs depends on the set of fitted graphs.

    References
    ----------
    Tsitsulin, Mottin, Karras, Bronstein, Mueller: NetLSD: Hearing the Shape of a Graph. KDD 2018.

    Examples
    --------
    >>> import graphgrain as gg
    >>> triangle, path = [(0, 1), (1, 2), (0, 2)], [(0, 1), (1, 2)]
    >>> graphs = [(triangle, [0, 0, 0]), (path, [0, 0, 0])]
    >>> gg.NetLSD(3, scale="none").signatures(graphs).round(3).tolist()
    [[2.97, 1.446, 1.0], [2.97, 1.503, 1.0]]
    """

    n_times: int = parameter(Whole(1), default=250, kw_only=False)
    signature: str = parameter(OneOf(("heat", "wave")), default="heat")
    scale: str = parameter(OneOf(("empty", "complete", "none")), default="empty")
    gamma: float | None = parameter(Number(0.0, optional=True), default=None)
    _uses_labels: ClassVar[bool] = False

    def signatures(self, X: Any) -> np.ndarray:
        """Return the signatures of graphs, one per row; the kernel need not be fitted.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs
        """
        check_parameters(self)
        return self._signatures(as_graphs(X))

    def _signatures(self, batch: GraphBatch) -> np.ndarray:
        if self.signature == "wave" and self.scale == "complete":
            raise InvalidParameterError(
                "scale must be 'empty' or 'none' for signature='wave'; got 'complete', whose "
                "signature passes 0."
            )
        if self.signature == "heat":
            times = np.logspace(np.log10(_FIRST_TIME), np.log10(_LAST_TIME), self.n_times)
        else:
            times = np.linspace(0.0, 2.0 * np.pi, self.n_times)
        result = np.zeros((len(batch), self.n_times))

        def fill(graph: int) -> None:
            n = int(batch.vertex_counts[graph])
            if n:
                values = _spectrum(adjacency(batch.arrays, graph))
                result[graph] = self._trace(values, times) / self._unit(n, times)

        run_each(fill, batch.vertex_counts, self.n_jobs)
        return result

    def _trace(self, values: np.ndarray, times: np.ndarray) -> np.ndarray:
        products = np.outer(times, values)
        # eigenvalues ascend, so the sum does not depend on the numbering of the vertices
        return (np.exp(-products) if self.signature == "heat" else np.cos(products)).sum(axis=1)

    def _unit(self, n: int, times: np.ndarray) -> Any:
        """Return the divisor of the signature of a graph with n vertices."""
        if self.scale == "none":
            return 1.0
        if self.scale == "empty":
            return float(n)
        return 1.0 + (n - 1) * np.exp(-times)

    def _fit(self, batch: GraphBatch) -> None:
        from scipy.spatial.distance import pdist

        self._fitted = self._signatures(batch)
        if self.gamma is not None:
            self.gamma_ = float(self.gamma)
            return
        apart = pdist(self._fitted)
        median = float(np.median(apart)) if len(apart) else 0.0
        rounding = _ROUNDING * float(np.linalg.norm(self._fitted, axis=1).max())
        self.gamma_ = 1.0 / (2.0 * median**2) if median > rounding else 1.0

    def _gram_of_fitted(self) -> np.ndarray:
        return self._similarities(self._fitted)

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        return self._similarities(self._signatures(batch))

    def _similarities(self, rows: np.ndarray) -> np.ndarray:
        from scipy.spatial.distance import cdist

        return np.exp(-self.gamma_ * cdist(rows, self._fitted, "sqeuclidean"))


def _spectrum(A: np.ndarray) -> np.ndarray:
    """Return the eigenvalues of I - D^-1/2 A D^-1/2, 0 for isolated vertices."""
    degrees = A.sum(axis=1)
    roots = np.sqrt(np.maximum(degrees, 1.0))
    return np.linalg.eigvalsh(np.diag((degrees > 0).astype(float)) - A / np.outer(roots, roots))
