"""Propagation: the propagation kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..core.counting import count_graphs, count_hashes
from ..core.hashing import hash_labels
from ..core.propagation import project
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..parameters import Number, OneOf, parameter
from .bases.propagated import Propagated
from .features import Counts, Occurrences, located_vertices

#: Bins are clipped to this value, which is exact in float64 and fits into 64 bits.
LARGEST_BIN = 2.0**53


class Propagation(Propagated):
    """Propagation kernel: counts of vertices by bins of their label distributions.

    Every vertex starts with its label; in each step its distribution becomes the average of its
    neighbours' label distributions. After each of the steps 0 to ``n_iter`` the distributions are
    binned by a random projection that keeps similar ones together (locality-sensitive hashing),
    and the vertices of each graph are counted per bin. The kernel is the sum over the steps of the
    dot products of the counts.

    Parameters
    ----------
    n_iter : int, default=3
        Number of propagation steps, t_max in the paper. All steps are computed in one pass; see
        :meth:`gram_levels`.
    bin_width : float, optional
        Bin width w: larger bins tolerate larger differences between distributions. Defaults to the
        values of the paper's authors: 1e-5 for labels, and 1 for attributes, which assumes
        standardised attributes.
    metric : {"tv", "hellinger", "l2"}, default="tv"
        Distance preserved by the bins: total variation (L1), Hellinger or Euclidean.
    attributes : bool, default=False
        Whether to use the vertex attributes, instead of the labels. Attributes are not scaled;
        apply :class:`AttributeScaler` first or choose ``bin_width`` accordingly.
    random_state : int or None, default=0
        Seed of the projections.
    similarity, output, counts, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

    See Also
    --------
    DescriptorMatching : Matches propagated values in a hierarchy of cells.
    WeisfeilerLehman : Exact neighbourhoods instead of averages.

    Notes
    -----
    The random direction of a label is derived from the seed and the label itself. It does not
    depend on which other labels exist, so new graphs may have new labels. GraKeL draws one number
    per label in the order of its dictionary, so equal seeds give different matrices; with the same
    draws both agree. Its ``t_max`` includes step 0: ``t_max=5`` corresponds to ``n_iter=4`` here.
    Its default bin width is 0.01.

    With attributes, a vertex takes the average of its neighbours' attributes, and all attributes
    are binned together along one direction, as in GraKeL's PropagationAttr. The paper's kernel P2K
    instead propagates mixtures of Gaussians around the attributes, evaluates them at a hundred
    points, and counts pairs of a label bin and the bin of one such point.

    References
    ----------
    Neumann, Garnett, Bauckhage, Kersting: Propagation Kernels: Efficient Graph Kernels from
    Propagated Information. Machine Learning 102, 2016.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> gg.Propagation(n_iter=1, similarity="dot").fit_transform(graphs).tolist()
    [[10.0, 5.0], [5.0, 4.0]]
    """

    bin_width: float | None = parameter(Number(0.0, optional=True), default=None, kw_only=False)
    metric: str = parameter(OneOf(("tv", "hellinger", "l2")), default="tv")
    level_parameter = "n_iter"

    def _begin_fit(self, batch: GraphBatch) -> None:
        super()._begin_fit(batch)
        if self.attributes and self.metric == "hellinger":
            raise InvalidParameterError(
                "metric must be 'tv' or 'l2' with attributes=True; got 'hellinger', which needs "
                "distributions. Use another metric or attributes=False."
            )

    @property
    def _width(self) -> float:
        if self.bin_width is not None:
            return self.bin_width
        return 1.0 if self.attributes else 1e-5

    # ---------------------------------------------------------------- random draws

    def _draws(self, hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return directions of shape (steps, hashes), and a shift for each step."""
        steps = range(self.n_iter + 1)
        first = np.array([self._uniforms(hashes, 3 * t) for t in steps])
        shifts = np.array([self._uniforms(np.zeros(1, np.uint64), 3 * t + 2)[0] for t in steps])
        if self.metric == "tv":  # Cauchy distribution
            return np.tan(np.pi * (first - 0.5)), self._width * shifts
        second = np.array([self._uniforms(hashes, 3 * t + 1) for t in steps])
        normals = np.sqrt(-2.0 * np.log1p(-first)) * np.cos(2.0 * np.pi * second)
        return normals, self._width * shifts

    # ---------------------------------------------------------------- features

    def _bins(self, batch: GraphBatch) -> Callable[[int, int], np.ndarray]:
        """Return a function that bins the vertices of a range of graphs, one row per step."""
        attributes, hashes = self._columns(batch)
        directions, shifts = self._draws(hashes)
        root = self.metric == "hellinger"

        def bins(begin: int, end: int) -> np.ndarray:
            values = project(batch.arrays, attributes, directions, root, begin, end)
            found = np.floor((values + shifts[:, None]) / self._width)
            return np.clip(found, -LARGEST_BIN, LARGEST_BIN).astype(np.int64)

        return bins

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        bins = self._bins(batch)

        def count(begin: int, end: int) -> list[Counts]:
            pointers = batch.offsets[begin : end + 1] - batch.offsets[begin]
            return [count_hashes(pointers, hash_labels(row)) for row in bins(begin, end)]

        return count_graphs(count, batch.vertex_counts, self.n_jobs)

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        bins = self._bins(batch)(0, len(batch))
        return located_vertices(batch, [hash_labels(row) for row in bins])

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        bins = np.unique(self._bins(batch)(0, len(batch))[level])
        names = dict(zip(hash_labels(bins).tolist(), bins.tolist(), strict=True))
        return [f"t={level}: bin {names[code]}" for code in hashes.tolist()]
