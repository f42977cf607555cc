"""The multiscale Laplacian graph kernel.

1. The initial feature vector of a vertex is its label, one-hot encoded.
2. At each level the ball around a vertex is compared with a few anchors, balls of the fitted
   graphs. The similarities, projected onto a few directions, are its new feature vector. The
   balls grow from level to level.
3. Finally, whole graphs are compared in the same way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.balls import largest_ball
from ..core.hashing import BASE, hash_labels, mix_array, segment_sums
from ..core.multiscale import (
    Balls,
    Summaries,
    add_pairs,
    anchor_kernel,
    ball_keys,
    similarities,
    summaries,
)
from ..core.spectra import adjacency
from ..core.threads import chunks, run, run_each
from ..graphs.batch import GraphBatch
from ..parameters import SEED, Number, Whole, parameter
from .bases.graph_kernel import GraphKernel

#: Largest degree used to distinguish vertices of graphs without labels.
_LARGEST_DEGREE = 20
#: Directions with smaller eigenvalues, relative to the largest, are dropped: for the anchors, and
#: for the Laplacian of a whole graph.
_ANCHOR_CUT, _LAPLACIAN_CUT = 1e-2, 1e-4
#: Anchors with a higher similarity are treated as equal.
_SAME = 1.0 - 1e-6
#: Eigenvalues with a smaller relative difference are treated as equal, since their eigenvectors
#: are not unique.
_SAME_VALUE = 1e-9
#: Number of refinement steps that distinguish vertices, and of rounds that distinguish labels.
_ROUNDS = 3


class _Anchors(NamedTuple):
    """Anchors of one level and the projection onto their leading directions."""

    summaries: Summaries
    projection: np.ndarray


class MultiscaleLaplacian(GraphKernel):
    """Multiscale Laplacian kernel: graphs as Gaussians defined by their Laplacian and features.

    A graph with Laplacian L and a feature vector per vertex, the rows of U, is represented by a
    Gaussian with covariance S = U^T (L + eta I)^-1 U + gamma I; the similarity of two graphs is the
    overlap of their Gaussians. The feature vectors are computed from the same similarity between
    neighbourhoods of vertices, starting with labels and using larger neighbourhoods at each level.

    Parameters
    ----------
    n_levels : int, default=2
        Number of levels below whole graphs. Level s = 1, 2, ... uses balls of radius
        s times ``radius``.
    radius : int, default=1
        Radius of the smallest balls.
    eta : float, default=0.1
        Regularisation added to the Laplacians of balls.
    gamma : float, default=0.01
        Regularisation added to the covariances.
    n_anchors : int, default=50
        Number of anchors per level, drawn at random from the distinct balls of the fitted graphs.
        Exceeded only if the last ones drawn differ in nothing but the names of their labels.
    n_directions : int, default=10
        Number of features after each level: the leading eigenvectors of the anchors' kernel whose
        eigenvalues exceed a hundredth of the largest. Exceeded only if the last eigenvalue is
        repeated.
    random_state : int or None, default=0
        Seed of the sample of anchors.
    similarity, n_jobs, verbose
        As in :class:`WassersteinWL`.

    See Also
    --------
    ReturnProbability : Vertices described by return probabilities of random walks.
    NetLSD : Spectra of whole graphs.

    Notes
    -----
    Anchors and directions are derived from the fitted graphs. The sample of balls depends on which
    labels are equal, not on their values, so renaming labels does not change the result. Without
    labels, degrees up to 20 are used instead. In the last step eta is 0 and the pseudo-inverse of
    the Laplacian is used, without eigenvalues below 1e-4 of the largest. Graphs without edges then
    have no structure and are all equal.

    GraKeL differs in scale and in several steps, so its matrices are similar but not equal.

    References
    ----------
    Kondor, Pan: The Multiscale Laplacian Graph Kernel. NeurIPS 2016.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> K = gg.MultiscaleLaplacian().fit_transform(graphs)
    >>> bool(0 < K[0, 1] < K[0, 0] == 1)
    True
    """

    n_levels: int = parameter(Whole(1), default=2, kw_only=False)
    radius: int = parameter(Whole(1), default=1, kw_only=False)
    eta: float = parameter(Number(0.0), default=0.1)
    gamma: float = parameter(Number(0.0), default=0.01)
    n_anchors: int = parameter(Whole(1), default=50)
    n_directions: int = parameter(Whole(1), default=10)
    random_state: int | None = parameter(SEED, default=0)

    def _fit(self, batch: GraphBatch) -> None:
        rng = np.random.default_rng(self.random_state)
        codes = _codes(batch)
        keys, kinds = codes, _kinds(batch, codes)
        features = np.empty((batch.n_vertices, 0))
        self._levels: list[_Anchors] = []
        for level in range(self.n_levels):
            keys, kinds = self._keys(batch, keys, level), self._keys(batch, kinds, level)
            vertices = _draw(keys, kinds, self.n_anchors, rng)
            balls = self._balls(batch, codes, features, level)
            self._levels.append(self._anchors(batch, balls, vertices))
            features = self._next_features(batch, balls, self._levels[-1])
        self._fitted = self._whole_graphs(batch, features)

    def _gram_of_fitted(self) -> np.ndarray:
        return self._pairs(*self._fitted, None)

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        codes, features = _codes(batch), np.empty((batch.n_vertices, 0))
        for level, anchors in enumerate(self._levels):
            balls = self._balls(batch, codes, features, level)
            features = self._next_features(batch, balls, anchors)
        return self._pairs(*self._whole_graphs(batch, features), self._fitted)

    # ---------------------------------------------------------------- levels

    def _keys(self, batch: GraphBatch, previous: np.ndarray, level: int) -> np.ndarray:
        """Hash the ball of each vertex, independent of the numbering of the vertices."""
        keys = np.empty(batch.n_vertices, dtype=np.uint64)

        def fill(begin: int, end: int) -> None:
            ball_keys(batch.arrays, previous, (level + 1) * self.radius, begin, end, keys)

        run(fill, chunks(batch.vertex_counts), self.n_jobs)
        return keys

    def _balls(
        self, batch: GraphBatch, codes: np.ndarray, features: np.ndarray, level: int
    ) -> Balls:
        """Return parameters, features and the maximum number of features of a ball."""
        radius = (level + 1) * self.radius
        room = features.shape[1]
        if not room:
            sizes = run(
                lambda begin, end: largest_ball(batch.arrays, radius, begin, end),
                chunks(batch.vertex_counts),
                self.n_jobs,
            )
            room = max(1, min(max(sizes, default=1), len(np.unique(codes))))
        return Balls(radius, float(self.eta), float(self.gamma), codes, features, room)

    def _anchors(self, batch: GraphBatch, balls: Balls, vertices: np.ndarray) -> _Anchors:
        """Return the balls around some vertices as anchors, with the projection of their kernel."""
        graphs = np.searchsorted(batch.offsets, vertices, side="right") - 1
        parts = summaries(batch.arrays, balls, graphs, vertices)
        K = anchor_kernel(parts)
        kept: list[int] = []
        for anchor in range(len(K)):
            if not (K[anchor, kept] > _SAME).any():
                kept.append(anchor)
        values, vectors = np.linalg.eigh(K[np.ix_(kept, kept)])
        last = values[-self.n_directions :].min(initial=np.inf)  # eigenvalues ascend
        lowest = max(_ANCHOR_CUT * values.max(initial=0.0), (1.0 - _SAME_VALUE) * last)
        leading = np.flatnonzero(values > lowest)[::-1]  # equal eigenvalues stay together
        projection = vectors[:, leading] / np.sqrt(values[leading])
        return _Anchors(Summaries(*(part[kept] for part in parts)), projection)

    def _next_features(self, batch: GraphBatch, balls: Balls, anchors: _Anchors) -> np.ndarray:
        """Compute the next features of vertices: projected similarities to the anchors."""
        result = np.empty((batch.n_vertices, anchors.projection.shape[1]))

        def fill(begin: int, end: int) -> None:
            K = similarities(batch.arrays, balls, anchors.summaries, begin, end)
            first, last = batch.offsets[begin], batch.offsets[end]
            # einsum sums in a fixed order, independent of the number of rows; BLAS does not.
            result[first:last] = np.einsum("va,ad->vd", K, anchors.projection)

        run(fill, chunks(batch.vertex_counts), self.n_jobs)
        return result

    # ---------------------------------------------------------------- whole graphs

    def _whole_graphs(
        self, batch: GraphBatch, features: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return S^-1 and log |S| of every graph, with S divided by gamma."""
        width = features.shape[1]
        inverses = np.empty((len(batch), width, width))
        sizes = np.empty(len(batch))

        def fill(graph: int) -> None:
            first, last = int(batch.offsets[graph]), int(batch.offsets[graph + 1])
            A = adjacency(batch.arrays, graph)
            values, vectors = np.linalg.eigh(np.diag(A.sum(axis=1)) - A)
            high = values > _LAPLACIAN_CUT * values.max(initial=0.0)
            W = (vectors[:, high] / np.sqrt(values[high])).T @ features[first:last]
            S = np.eye(width) + W.T @ W / self.gamma
            inverses[graph] = np.linalg.inv(S)
            sizes[graph] = np.linalg.slogdet(S)[1]

        run_each(fill, batch.vertex_counts, self.n_jobs)
        return inverses, sizes

    def _pairs(
        self,
        inverses: np.ndarray,
        sizes: np.ndarray,
        fitted: tuple[np.ndarray, np.ndarray] | None,
    ) -> np.ndarray:
        """Return the Gram matrix of whole graphs with the fitted ones, or with themselves."""
        right, right_sizes = fitted if fitted is not None else (inverses, sizes)
        K = np.empty((len(sizes), len(right_sizes)))
        ranges = chunks(np.full(len(sizes), len(right_sizes)), 1 << 14)
        symmetric = fitted is None
        run(
            lambda begin, end: add_pairs(
                inverses, sizes, right, right_sizes, symmetric, begin, end, K
            ),
            ranges,
            self.n_jobs,
        )
        if symmetric:
            np.fill_diagonal(K, 1.0)
        return K


def _codes(batch: GraphBatch) -> np.ndarray:
    """Hash the label of each vertex or, without labels, its degree."""
    if batch.labelled:
        return hash_labels(batch.label_table)[batch.label_codes]
    return hash_labels(np.minimum(batch.degrees, _LARGEST_DEGREE))


def _kinds(batch: GraphBatch, codes: np.ndarray) -> np.ndarray:
    """Hash the use of each vertex's label in the batch, independent of its name.

    Initially all labels have the same hash. In each round the hash of a label combines its
    vertices, each represented by refinement with the current hashes and by its whole graph.
    """
    _, label = np.unique(codes, return_inverse=True)
    kinds = np.zeros(len(codes), dtype=np.uint64)
    for _ in range(_ROUNDS):
        colours = kinds
        with np.errstate(over="ignore"):
            for _ in range(_ROUNDS):
                around = segment_sums(mix_array(colours)[batch.indices], batch.indptr)
                colours = mix_array(colours * BASE + around)
            whole = segment_sums(mix_array(colours), batch.offsets)
            seen = mix_array(colours + np.repeat(whole, batch.vertex_counts))
            order = np.argsort(label, kind="stable")
            bounds = np.concatenate(([0], np.cumsum(np.bincount(label))))
            kinds = mix_array(segment_sums(seen[order], bounds))[label]
    return kinds


def _draw(keys: np.ndarray, kinds: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a vertex for each of ``count`` distinct keys; keys of equal kind stay together."""
    _, where = np.unique(keys, return_index=True)
    groups, group = np.unique(kinds[where], return_inverse=True)
    place = rng.permutation(len(groups))[group]
    order = np.argsort(place, kind="stable")
    last = place[order[min(count, len(order)) - 1]] if len(order) else -1
    return where[place <= last]
