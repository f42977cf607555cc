"""FGSD: histograms of graph spectral distances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ..core.counting import count_graphs, count_hashes
from ..core.hashing import hash_labels
from ..core.spectra import laplacian_inverse
from ..core.threads import blas_threads
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..parameters import Number, OneOf, check_parameters, parameter
from .bases.feature_kernel import FeatureKernel, one_graph
from .features import Counts, Occurrences, single_vertices


class SpectralDistance(FeatureKernel):
    """FGSD: histogram of the spectral distances between all vertices of a graph.

    The distance of two vertices is S(u, v) = f(L)_uu + f(L)_vv - 2 f(L)_uv for a function f of
    the Laplacian L = D - A. With the harmonic function, f(L) = pseudo-inverse of L, it is the
    resistance distance, with every edge a resistor of 1 ohm. All n^2 entries of S are counted in
    bins of equal width; the kernel is the dot product of the counts. Labels are ignored.

    Parameters
    ----------
    bin_width : float, default=0.0001
        Width of the bins. The authors use 1e-3 for social networks.
    function : {"harmonic", "biharmonic"}, default="harmonic"
        f(L): the pseudo-inverse of L or its square.
    similarity, output, counts, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

    See Also
    --------
    NetLSD : Traces of the heat kernel.
    ShortestPath : Distances along shortest paths.

    Notes
    -----
    Bin b contains the distances that round to b times the width. In trees, where distances are
    integers, they lie in the centre of a bin rather than on its boundary as in the authors' code.
    Distances are first rounded to a ten-thousandth of the width, so that rounding errors do not
    split equal distances. Between components of a graph f(L)_uv is 0. The authors pass the
    histogram itself to a support vector machine: ``output="features"``, or ``similarity="dot"``
    for the linear kernel. They derive the range of bins from the data; here it is unlimited, and
    new graphs may have larger distances.

    References
    ----------
    Verma, Zhang: Hunt for the Unique, Stable, Sparse and Fast Feature Learning on Graphs.
    NeurIPS 2017.

    Examples
    --------
    >>> import graphgrain as gg
    >>> triangle, path = [(0, 1), (1, 2), (0, 2)], [(0, 1), (1, 2)]
    >>> kernel = gg.SpectralDistance(similarity="dot")
    >>> kernel.fit_transform([(triangle, [0, 0, 0]), (path, [0, 0, 0])]).tolist()
    [[45.0, 9.0], [9.0, 29.0]]
    >>> sorted(kernel.feature_names())
    ['distance 0', 'distance 0.6667', 'distance 1', 'distance 2']
    """

    bin_width: float = parameter(Number(0.0), default=1e-4, kw_only=False)
    function: str = parameter(OneOf(("harmonic", "biharmonic")), default="harmonic")
    _uses_labels: ClassVar[bool] = False

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        def count(begin: int, end: int) -> list[Counts]:
            bins = [self._bins(batch, graph) for graph in range(begin, end)]
            hashes = hash_labels(np.concatenate([np.empty(0, dtype=np.int64), *bins]))
            pointers = np.cumsum([0] + [len(part) for part in bins])
            return [count_hashes(pointers, hashes)]

        return count_graphs(count, batch.vertex_counts, self.n_jobs)

    def distances(self, graph: Any) -> np.ndarray:
        """Return the matrix S of spectral distances between the vertices of one graph.

        Parameters
        ----------
        graph : GraphBatch with one graph, or a list with one graph

        Examples
        --------
        >>> import graphgrain as gg
        >>> gg.SpectralDistance().distances([([(0, 1), (1, 2)], [0, 0, 0])]).round(6).tolist()
        [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
        """
        check_parameters(self)
        return self._distances(one_graph(as_graphs(graph), "distances"), 0)

    @blas_threads(1)
    def _distances(self, batch: GraphBatch, graph: int) -> np.ndarray:
        F = laplacian_inverse(batch.arrays, graph)
        if self.function == "biharmonic":
            F = F @ F
        own = np.diag(F)
        return own[:, None] + own - 2.0 * F

    def _bins(self, batch: GraphBatch, graph: int) -> np.ndarray:
        scaled = np.round(self._distances(batch, graph).ravel() / self.bin_width, 4)
        return np.floor(scaled + 0.5).astype(np.int64)

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        for graph, count in enumerate(batch.vertex_counts.tolist()):
            paths = np.indices((count, count), dtype=np.int32).reshape(2, -1).T.copy()
            paths[paths[:, 0] == paths[:, 1], 1] = -1  # a pair of equal vertices
            hashes = hash_labels(self._bins(batch, graph))
            yield [Occurrences(hashes, paths, single_vertices(count))]

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        names: dict[int, str] = {}
        for graph in range(len(batch)):
            bins = np.unique(self._bins(batch, graph))
            for code, number in zip(hash_labels(bins).tolist(), bins.tolist(), strict=True):
                names[code] = f"distance {number * self.bin_width:.9g}"
        return [names[code] for code in hashes.tolist()]
