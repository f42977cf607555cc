"""The multiscale Laplacian graph kernel.

1. Every vertex starts with a feature vector: its label, one-hot.
2. At each level the ball around a vertex is compared with a few anchors, balls of the fitted
   graphs; the similarities, projected onto few directions, become its new feature vector. The
   balls grow from level to level.
3. Last, whole graphs are compared in the same way.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.balls import largest_ball
from ..core.hashing import BASE, hash_labels, mix_array
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
from ..parameters import Number, Seed, Whole, parameter
from .bases.graph_kernel import GraphKernel

#: Without labels, vertices are told apart by their degree up to this one.
_LARGEST_DEGREE = 20
#: Directions with smaller eigenvalues, relative to the largest, are dropped: those of anchors,
#: and those of the Laplacian of a whole graph.
_ANCHOR_CUT, _LAPLACIAN_CUT = 1e-2, 1e-4
#: Anchors more similar than this are one.
_SAME = 1.0 - 1e-6
#: Eigenvalues closer than this, relatively, are one: their directions are a matter of choice.
_SAME_VALUE = 1e-9


#: Refinements that tell vertices apart, and rounds of telling labels apart by their vertices.
_ROUNDS = 3


class _Anchors(NamedTuple):
    """What one level learned from the fitted graphs."""

    summaries: Summaries
    projection: np.ndarray


class MultiscaleLaplacian(GraphKernel):
    """Multiscale Laplacian kernel: graphs as Gaussians that their Laplacian gives features.

    A graph with Laplacian L and a feature vector per vertex, the rows of U, stands for a Gaussian
    with the covariance S = U^T (L + eta I)^-1 U + gamma I; the similarity of two graphs is the
    overlap of theirs. The same similarity, between the neighbourhoods of vertices, gives the
    feature vectors, starting from labels and going to larger neighbourhoods level by level.

    Parameters
    ----------
    n_levels : int, default=2
        Number of levels below whole graphs. Level s = 1, 2, ... looks at balls of radius
        s times ``radius``.
    radius : int, default=1
        Radius of the smallest balls.
    eta : float, default=0.1
        Added to the Laplacians of balls.
    gamma : float, default=0.01
        Added to the covariances.
    n_anchors : int, default=50
        Anchors per level, drawn at random from the different balls of the fitted graphs; more
        only where the last ones drawn differ in nothing but which labels they have.
    n_directions : int, default=10
        Features after each level: the leading directions of the anchors' kernel, as far as
        their eigenvalues exceed a hundredth of the largest; more only if the last one repeats.
    random_state : int or None, default=0
        Seed of the draw of anchors.
    similarity, n_jobs, verbose
        As in :class:`WassersteinWL`.

    See Also
    --------
    ReturnProbability : Vertices described by returns of random walks.
    NetLSD : The spectrum of whole graphs.

    Notes
    -----
    Anchors and directions come from the fitted graphs alone. Which balls are drawn depends on
    where labels are equal, not on what they are, so that renaming labels changes nothing. Without
    labels the degree, up to 20, takes their place. At the last step eta is 0 and the
    pseudo-inverse of the Laplacian is taken, without its eigenvalues below 1e-4 of the largest;
    a graph without edges then has no structure left, and all of these are equal.

    GraKeL differs in scale and in several steps, so that matrices agree in kind but not in value.

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
    random_state: int | None = parameter(Seed(), default=0)

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
        """A hash per vertex that tells different balls apart, whatever the vertices' numbers."""
        keys = np.empty(batch.n_vertices, dtype=np.uint64)

        def fill(begin: int, end: int) -> None:
            ball_keys(batch.arrays, previous, (level + 1) * self.radius, begin, end, keys)

        run(fill, chunks(batch.vertex_counts), self.n_jobs)
        return keys

    def _balls(
        self, batch: GraphBatch, codes: np.ndarray, features: np.ndarray, level: int
    ) -> Balls:
        """Parameters, features and the largest number of features that a ball can have."""
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
        """The balls around some vertices as anchors, with the directions of their kernel."""
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
        leading = np.flatnonzero(values > lowest)[::-1]  # equal ones stay together
        projection = vectors[:, leading] / np.sqrt(values[leading])
        return _Anchors(Summaries(*(part[kept] for part in parts)), projection)

    def _next_features(self, batch: GraphBatch, balls: Balls, anchors: _Anchors) -> np.ndarray:
        """The features that a level gives to vertices: projected similarities to its anchors."""
        result = np.empty((batch.n_vertices, anchors.projection.shape[1]))

        def fill(begin: int, end: int) -> None:
            K = similarities(batch.arrays, balls, anchors.summaries, begin, end)
            first, last = batch.offsets[begin], batch.offsets[end]
            # einsum sums in one order, whatever the number of rows; BLAS does not.
            result[first:last] = np.einsum("va,ad->vd", K, anchors.projection)

        run(fill, chunks(batch.vertex_counts), self.n_jobs)
        return result

    # ---------------------------------------------------------------- whole graphs

    def _whole_graphs(
        self, batch: GraphBatch, features: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """S^-1 and log |S| of every graph, with S divided by gamma."""
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
        """Gram matrix of whole graphs; without ``fitted`` among themselves."""
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
    """A hash per vertex: of its label or, if there are none, of its degree."""
    if batch.labelled:
        return hash_labels(batch.label_table)[batch.label_codes]
    return hash_labels(np.minimum(batch.degrees, _LARGEST_DEGREE))


def _kinds(batch: GraphBatch, codes: np.ndarray) -> np.ndarray:
    """A hash per vertex for what its label does in the batch, whatever the label is.

    All labels start with the same kind. The kind of a label sums up the vertices that carry it,
    each seen by refinement with the kinds so far and together with its whole graph.
    """
    _, label = np.unique(codes, return_inverse=True)
    kinds = np.zeros(len(codes), dtype=np.uint64)
    for _ in range(_ROUNDS):
        colours = kinds
        with np.errstate(over="ignore"):
            for _ in range(_ROUNDS):
                around = _sums(mix_array(colours)[batch.indices], batch.indptr)
                colours = mix_array(colours * BASE + around)
            whole = _sums(mix_array(colours), batch.offsets)
            seen = mix_array(colours + np.repeat(whole, batch.vertex_counts))
            order = np.argsort(label, kind="stable")
            bounds = np.concatenate(([0], np.cumsum(np.bincount(label))))
            kinds = mix_array(_sums(seen[order], bounds))[label]
    return kinds


def _sums(values: np.ndarray, pointers: np.ndarray) -> np.ndarray:
    """Sum of each segment ``pointers[i]:pointers[i + 1]``, modulo 2^64."""
    running = np.zeros(len(values) + 1, dtype=np.uint64)
    np.cumsum(values, out=running[1:])
    return running[pointers[1:]] - running[pointers[:-1]]


def _draw(keys: np.ndarray, kinds: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """A vertex for each of ``count`` different keys, drawn by their kinds: equal ones together."""
    _, where = np.unique(keys, return_index=True)
    groups, group = np.unique(kinds[where], return_inverse=True)
    place = rng.permutation(len(groups))[group]
    order = np.argsort(place, kind="stable")
    last = place[order[min(count, len(order)) - 1]] if len(order) else -1
    return where[place <= last]
