"""Graph invariant kernels for continuous attributes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..core.hashing import GOLDEN, mix_array
from ..core.refinement import VertexFeatures, compare_vertices
from ..graphs.batch import GraphBatch
from .bases.pairwise import AttributedKernel
from .bases.patterned import PatternedKernel


class AttributedGraphInvariants(AttributedKernel, PatternedKernel):
    """Graph invariant kernel (GIK) with attributes: compares vertices with the same role.

    Pairs of vertices have the weights of :class:`GraphInvariants`, which measure how far they have
    the same role in matching neighbourhoods. The kernel is the sum over all pairs of vertices of
    two graphs of the weight times the similarity of their attributes.

    Parameters
    ----------
    vertex_kernel, gamma, similarity, n_jobs, verbose
        As in :class:`AttributedGraphHopper`.
    radius, n_iter, invariant, match, edge_labels
        As in :class:`GraphInvariants`.

    See Also
    --------
    GraphInvariants : The same for labels, with explicit features.
    AttributedGraphHopper : Attributes compared along shortest paths.

    Notes
    -----
    Uses structure, vertex attributes, vertex labels (the initial colours, so vertices with
    different labels have similarity 0) and optionally edge labels. The cost for a pair of graphs is
    the number of pairs of vertices that share a feature, times the number of attributes. The paper
    also leaves the kernel on attributes open; for the other choices see :class:`GraphInvariants`.
    Attributes are not scaled; bring them to comparable ranges first (:class:`AttributeScaler`).

    References
    ----------
    Orsini, Frasconi, De Raedt: Graph Invariant Kernels. IJCAI 2015.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = gg.GraphBatch.from_edges(
    ...     [2, 2, 2], [(0, 1), (2, 3), (4, 5)], vertex_attributes=[0.0, 1.0, 0.5, 1.5, 7.0, 9.0])
    >>> gg.AttributedGraphInvariants().fit_transform(graphs).round(2).tolist()
    [[1.0, 0.89, 0.0], [0.89, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    _numbers_per_pair: ClassVar[int] = 1  # summed weights of common roles

    def _prepare(self, batch: GraphBatch) -> VertexFeatures:
        levels = [self._roles(batch, r, 0, len(batch)) for r in range(self.radius + 1)]
        with np.errstate(over="ignore"):
            hashes = np.concatenate(
                [mix_array(own.hashes + np.uint64(r + 1) * GOLDEN) for r, own in enumerate(levels)]
            )
        vertices = np.concatenate([own.vertices for own in levels])
        shares = np.concatenate([1.0 / own.sizes for own in levels])
        owners = np.searchsorted(batch.offsets, vertices, side="right") - 1
        order = np.lexsort((vertices, hashes, owners))
        hashes, vertices, owners = hashes[order], vertices[order], owners[order]
        fresh = np.ones(len(order), dtype=bool)  # weights of several patterns are added
        fresh[1:] = (hashes[1:] != hashes[:-1]) | (vertices[1:] != vertices[:-1])
        first = np.flatnonzero(fresh)
        weights = np.add.reduceat(shares[order], first) if len(first) else shares
        return VertexFeatures(
            np.searchsorted(owners[first], np.arange(len(batch) + 1)),
            hashes[first],
            vertices[first],
            weights,
            np.ascontiguousarray(self._attributes(batch), dtype=np.float64),
            batch.offsets.astype(np.int64),
        )

    def _sizes(self, graphs: VertexFeatures) -> np.ndarray:
        return np.diff(graphs.starts)

    def _compare(
        self,
        left: VertexFeatures,
        right: VertexFeatures,
        which: int,
        begin: int,
        end: int,
        K: np.ndarray,
    ) -> None:
        gaussian = self.vertex_kernel == "gaussian"
        compare_vertices(left, right, gaussian, self._gamma, which, begin, end, K)
