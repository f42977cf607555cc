"""The GraphHopper kernel for continuous attributes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.hops import hop_matrices
from ..core.structures import partners
from ..core.threads import run_each
from ..graphs.batch import GraphBatch
from ..parameters import BOOLEAN, parameter
from .bases.pairwise import AttributedKernel


class _Hops(NamedTuple):
    """Preprocessed graphs."""

    places: list[np.ndarray]  # number of paths with a vertex at a position, per graph
    attributes: list[np.ndarray]
    labels: list[np.ndarray]  # hashes


class AttributedGraphHopper(AttributedKernel):
    """GraphHopper kernel with attributes: shortest paths compared vertex by vertex.

    The similarity of two shortest paths of equal length is the sum over their positions of the
    similarity of the vertices there. The kernel is the sum over all pairs of shortest paths. Paths
    need not be compared individually: the number of times that two vertices coincide follows from
    the number of paths with each vertex at each position.

    Parameters
    ----------
    vertex_kernel : {"gaussian", "linear"}, default="gaussian"
        Similarity of vertices with attributes x and y: exp(-gamma ||x - y||^2), or their dot
        product.
    gamma : float, optional
        Parameter of the Gaussian; by default 1 / (number of attributes), as in the paper.
    labels : bool, default=True
        If True, vertices with different labels have similarity 0.
    similarity, n_jobs, verbose
        As in :class:`GraphKernel`.

    See Also
    --------
    GraphHopper : The same for labels, with explicit features.
    AttributedGraphInvariants : Attributes compared within neighbourhoods.

    Notes
    -----
    Uses vertex attributes, vertex labels and all shortest paths, in both directions; a single
    vertex is a path of length 0. A pair of graphs with n vertices and diameter D takes n^2 D^2
    steps. The authors' program calls the Gaussian "gaussian", or "diractimesgaussian" with
    ``labels=True``; its mu is gamma, with a default of 1. Its third node kernel, "bridge", is not
    implemented. GraKeL's kernel has the same values with ``labels=False``; the mu of its
    ``("gaussian", mu)`` is gamma. Attributes are not scaled; bring them to comparable ranges first
    (:class:`AttributeScaler`).

    References
    ----------
    Feragen, Kasenburg, Petersen, de Bruijne, Borgwardt: Scalable Kernels for Graphs with
    Continuous Attributes. NeurIPS 2013.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = gg.GraphBatch.from_edges(
    ...     [2, 2, 2], [(0, 1), (2, 3), (4, 5)], vertex_attributes=[0.0, 1.0, 0.5, 1.5, 7.0, 9.0])
    >>> gg.AttributedGraphHopper().fit_transform(graphs).round(2).tolist()
    [[1.0, 0.89, 0.0], [0.89, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    labels: bool = parameter(BOOLEAN, default=True)

    @property
    def _uses_labels(self) -> bool:  # type: ignore[override]
        return self.labels

    def _prepare(self, batch: GraphBatch) -> _Hops:
        table = self._attributes(batch)
        arrays, ends = batch.arrays, batch.offsets[1:-1]
        labels = arrays.label_hashes[batch.label_codes]
        places = run_each(lambda g: hop_matrices(arrays, g), batch.vertex_counts, self.n_jobs)
        return _Hops(places, np.split(table, ends), np.split(labels, ends))

    def _similarity(self, left: _Hops, i: int, right: _Hops, j: int) -> float:
        """Sum the products of coincidences and similarities over all pairs of vertices."""
        from scipy.spatial.distance import cdist

        columns = min(left.places[i].shape[1], right.places[j].shape[1])
        coincidences = left.places[i][:, :columns] @ right.places[j][:, :columns].T
        x, y = left.attributes[i], right.attributes[j]
        if self.vertex_kernel == "linear":
            similar = x @ y.T
        else:
            # differences first: squares of attributes far from 0 would leave only rounding errors
            similar = np.exp(-self._gamma * cdist(x, y, "sqeuclidean"))
        if self.labels:
            similar = similar * (left.labels[i][:, np.newaxis] == right.labels[j])
        return float((coincidences * similar).sum())

    def _sizes(self, graphs: _Hops) -> np.ndarray:
        return np.array([len(matrix) for matrix in graphs.places], dtype=np.int64)

    def _compare(
        self, left: _Hops, right: _Hops, which: int, begin: int, end: int, K: np.ndarray
    ) -> None:
        for i in range(begin, end):
            first, last = partners(which, i, len(right.places))
            for j in range(first, last):
                K[i, j - first] = self._similarity(left, i, right, j)
