"""The descriptor matching kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..core.counting import count_graphs, count_hashes
from ..core.hashing import GOLDEN, mix_array
from ..core.propagation import descriptor_cells
from ..graphs.batch import GraphBatch
from ..parameters import Number, Whole, parameter
from .bases.propagated import Propagated
from .bases.pyramid import Pyramid
from .features import Counts, Occurrences, balls


class DescriptorMatching(Pyramid, Propagated):
    """Descriptor matching kernel (DM): matches vertices with similar surroundings.

    The descriptor of a vertex contains, for each step t from 0 to ``n_iter``, the probabilities
    that a random walk of t steps from the vertex ends at each label; with attributes, the mean
    attributes where it ends. A grid is shifted at random along every axis; at level l its cells
    have side ``width`` / 2^l. I_l is the number of vertices of two graphs that can be matched
    within the same cell, each vertex at most once. New matches at a level have half the weight of
    those one level finer: with L = ``depth`` a grid gives I_L + sum over l < L of 2^-(L-l) (I_l -
    I_{l+1}), and the kernel is the mean over ``n_draws`` grids.

    Parameters
    ----------
    n_iter : int, default=2
        Number of steps of the random walks.
    depth : int, default=4
        Finest level. All levels are computed in one pass; see :meth:`gram_levels`.
    width : float, default=1.0
        Side of the largest cells. Vertices whose descriptors differ by this or more along any axis
        are never matched. With labels all axes range from 0 to 1; for attributes use
        ``AttributeScaler(method="range")``.
    n_draws : int, default=10
        Number of grids.
    attributes : bool, default=False
        Whether to use the vertex attributes, instead of the labels.
    random_state : int or None, default=0
        Seed of the shifts.
    similarity, output, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

    See Also
    --------
    Propagation : Counts of vertices in similar cells.
    PyramidMatch : Matches vertices by eigenvectors.

    Notes
    -----
    Uses structure and vertex labels or attributes. Two descriptors that differ by d along an axis
    share a cell of side s with probability 1 - d / s on this axis (0 if d > s); the probability of
    a match is the product over all axes, so with many attributes few vertices are matched. The cost
    is linear: edges x labels x steps, and vertices x labels x steps x grids x levels. The shift
    along an axis is derived from the seed and the label, or the number of the attribute. It does
    not depend on the fitted graphs, so new graphs may have new labels. Attributes are not scaled
    (see :class:`AttributeScaler`). The descriptor of an isolated vertex is zero after the first
    step.

    The paper propagates attributes along edges to obtain descriptors and compares the two sets of
    descriptors by a pyramid match, that of Grauman and Darrell for high dimensions, whose cells are
    clusters of the given descriptors. No code was published, and the other details are choices of
    this implementation: cells are the grids of the first pyramid match of Grauman and Darrell,
    which do not depend on the data and remain valid for new graphs; descriptors are those of a
    random walk; all steps have the same weight; weights are halved from level to level; several
    grids are averaged. Results published for the kernel may therefore not be reproduced. GraKeL has
    no such kernel.

    References
    ----------
    Su, Han, Harang, Yan: A Fast Kernel for Attributed Graphs. SIAM International Conference on
    Data Mining, 2016. Grauman, Darrell: The Pyramid Match Kernel: Efficient Learning with Sets of
    Features. Journal of Machine Learning Research 8, 2007. Grauman, Darrell: Approximate
    Correspondences in High Dimensions. NeurIPS 2006.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = gg.DescriptorMatching(n_iter=0, similarity="dot")
    >>> kernel.fit_transform(graphs).round(6).tolist()
    [[3.0, 2.0], [2.0, 2.0]]
    """

    n_iter: int = parameter(Whole(0), default=2, kw_only=False)
    depth: int = parameter(Whole(0, 30), default=4, kw_only=False)
    width: float = parameter(Number(0.0), default=1.0)
    n_draws: int = parameter(Whole(1), default=10)

    def _weights(self, depth: int) -> np.ndarray:
        return super()._weights(depth) / self.n_draws

    def _shifts(self, columns: np.ndarray) -> np.ndarray:
        """Return the shift of each grid, of shape (columns, steps, grids)."""
        streams = range((self.n_iter + 1) * self.n_draws)
        drawn = np.array([self._uniforms(columns, stream) for stream in streams])
        return self.width * drawn.T.reshape(len(columns), self.n_iter + 1, self.n_draws)

    def _cells(self, batch: GraphBatch) -> Callable[[int, int], np.ndarray]:
        """Return a function for the cells of a range of graphs, (levels, vertices, grids)."""
        attributes, columns = self._columns(batch)
        shifts = np.ascontiguousarray(self._shifts(columns))
        with np.errstate(over="ignore"):
            steps = np.arange(1, self.n_iter + 2, dtype=np.uint64) * GOLDEN
            axes = mix_array(columns[:, np.newaxis] + steps)
        scale = 2.0**self.depth / self.width

        def cells(begin: int, end: int) -> np.ndarray:
            found = descriptor_cells(
                batch.arrays, attributes, axes, shifts, scale, self.depth + 1, begin, end
            )
            return np.moveaxis(found, 0, 2)

        return cells

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        cells = self._cells(batch)

        def count(begin: int, end: int) -> list[Counts]:
            first = self.n_draws * (batch.offsets[begin : end + 1] - batch.offsets[begin])
            return [count_hashes(first, level.ravel()) for level in cells(begin, end)]

        return count_graphs(count, batch.vertex_counts, self.n_jobs)

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        """Yield the vertices in each cell."""
        cells = self._cells(batch)
        for graph, n in enumerate(batch.vertex_counts.tolist()):
            vertices = np.repeat(np.arange(n, dtype=np.int32), self.n_draws).reshape(-1, 1)
            near = balls(batch, graph, self.n_iter)
            found = cells(graph, graph + 1)
            yield [Occurrences(level.ravel(), vertices, near) for level in found]

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        return [f"level {level}: cell {code:016x}" for code in hashes.tolist()]
