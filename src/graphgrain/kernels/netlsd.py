"""NetLSD: graphs as the sound of their Laplacian."""

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

#: The range of times of the paper.
_FIRST_TIME, _LAST_TIME = 1e-2, 1e2


class NetLSD(GraphKernel):
    """NetLSD: heat (or waves) on a graph, heard at many times.

    The signature of a graph is the trace of exp(-t L), its normalised Laplacian being L, at
    ``n_times`` times t from 0.01 to 100, evenly spaced on a logarithmic scale: early times tell of
    edges and triangles, late ones of components and communities. Waves, the trace of exp(-i t L),
    are heard at evenly spaced times from 0 to 2 pi. Two graphs with the
    signatures s and s' have the similarity exp(-gamma ||s - s'||^2).

    Parameters
    ----------
    n_times : int, default=250
        Length of the signature.
    signature : {"heat", "wave"}, default="heat"
        The trace of exp(-t L), or the real part of that of exp(-i t L).
    scale : {"empty", "complete", "none"}, default="empty"
        Divide the signature by that of the graph without edges, or (heat only) of the complete
        graph, with as many vertices n, so that graphs of different size can be compared; or leave
        it as it is. The complete graph is taken to have n - 1 eigenvalues of 1, as in the paper.
    gamma : float, optional
        How fast similarity falls with distance; by default 1 / (2 m^2), with m the median distance
        between the signatures of the fitted graphs.
    similarity, n_jobs, verbose
        As in :class:`WassersteinWL`.

    Attributes
    ----------
    gamma_ : float
        What is used for gamma.

    See Also
    --------
    SpectralDistance : Distances between vertices by the spectrum.
    ReturnProbability : Random walks that come back.

    Notes
    -----
    It sees structure alone, by its spectrum: graphs with equal spectra are equal. All eigenvalues
    are computed, which takes the cube of the number of vertices; the authors' program, whose
    signatures are the same, approximates them for large graphs. The published method is the
    signature (:meth:`signatures`); the authors compare its Euclidean distances, for which a
    Gaussian is the usual kernel. An isolated vertex has the eigenvalue 0. With the default gamma
    the similarity of two graphs depends on which graphs were fitted with them.

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
        """The signature of each graph, one row each; the kernel need not be fitted.

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
        # eigenvalues ascend, so that a sum does not depend on how vertices are numbered
        return (np.exp(-products) if self.signature == "heat" else np.cos(products)).sum(axis=1)

    def _unit(self, n: int, times: np.ndarray) -> Any:
        """What the signature of n vertices is divided by."""
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
        self.gamma_ = 1.0 / (2.0 * median**2) if median > 0.0 else 1.0

    def _gram_of_fitted(self) -> np.ndarray:
        return self._similarities(self._fitted)

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        return self._similarities(self._signatures(batch))

    def _similarities(self, rows: np.ndarray) -> np.ndarray:
        from scipy.spatial.distance import cdist

        return np.exp(-self.gamma_ * cdist(rows, self._fitted, "sqeuclidean"))


def _spectrum(A: np.ndarray) -> np.ndarray:
    """Eigenvalues of the normalised Laplacian I - D^-1/2 A D^-1/2, 0 for isolated vertices."""
    degrees = A.sum(axis=1)
    roots = np.sqrt(np.maximum(degrees, 1.0))
    return np.linalg.eigvalsh(np.diag((degrees > 0).astype(float)) - A / np.outer(roots, roots))
