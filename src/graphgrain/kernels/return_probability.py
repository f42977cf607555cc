"""RetGK: the return probability kernel."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ..core.hashing import hash_labels
from ..core.laplace_kernel import add_similarities, own_similarities, tiled
from ..core.spectra import adjacency, return_probabilities
from ..core.threads import chunks, run, run_each
from ..graphs.batch import GraphBatch
from ..parameters import BOOLEAN, SEED, Number, Whole, parameter
from .bases.graph_kernel import GraphKernel

#: Maximum number of vertices from which sigma_1 is estimated: half a million distances.
_SAMPLE = 1000
#: Number of vertices sampled per graph.
_PER_GRAPH = 5
#: Squared distances below this, relative to the norms, are rounding errors, and so are medians of
#: distances below ``_SMALLEST``.
_ROUNDING, _SMALLEST = 1e-13, 1e-9


class _Points(NamedTuple):
    """Labelled points that belong to graphs, sorted by label and then by graph."""

    labels: np.ndarray  # hash of each distinct label, ascending
    starts: np.ndarray  # first point of each label, and the total
    owners: np.ndarray  # graph of each point
    rows: np.ndarray  # the points
    sizes: np.ndarray  # number of vertices of each graph

    def of_label(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        part = slice(int(self.starts[number]), int(self.starts[number + 1]))
        return self.rows[part], self.owners[part]


class ReturnProbability(GraphKernel):
    """RetGK: graphs as distributions of their vertices' return probabilities.

    Vertex v is described by r(v), the probabilities that a random walk is back at v after 1 to
    ``n_steps`` steps, and by its label. The similarity of two vertices with the same label is
    exp(-||r(v) - r(w)|| / sigma_1). The distance of two graphs is the maximum mean discrepancy
    (MMD) of their vertices under this similarity, and the kernel is exp(-MMD / sigma_2).

    Parameters
    ----------
    n_steps : int, default=50
        Length of the longest walk, S in the paper.
    approximate : bool, default=False
        If True, instead of comparing all vertices (RetGK I in the paper), map each vertex to
        ``n_components`` random Fourier features of exp(-gamma ||r - r'||^2) and take the mean per
        label (RetGK II). Faster for many or large graphs.
    n_components : int, default=200
        Number of random features; only used if ``approximate=True``.
    gamma : float, default=10.0
        Parameter of the similarity; only used if ``approximate=True``.
    random_state : int or None, default=0
        Seed of the random features and of the sample of vertices from which sigma_1 is computed.
    similarity, n_jobs, verbose
        As in :class:`WassersteinWL`.

    Attributes
    ----------
    sigma_1_ : float
        Median distance between the descriptions of sampled vertices of the fitted graphs: 5 from
        each graph with at least 5 vertices, 1000 at most; 1 if it is 0.
    sigma_2_ : float
        Median distance between the fitted graphs; 1 if it is 0.

    See Also
    --------
    SpectralDistance : Distances between vertices from the spectrum.
    RandomWalk : Common walks of two graphs.

    Notes
    -----
    Both sigmas are derived from the fitted graphs, so the similarity of two graphs depends on the
    set of fitted graphs, and slightly on their order, in which vertices are sampled. As in the
    authors' code, the random walk may stay at a vertex (A + I in place of A): an isolated vertex
    then returns with probability 1. The cost of the exact form is quadratic in the total number of
    vertices.

    References
    ----------
    Zhang, Wang, Xiang, Huang, Nehorai: RetGK: Graph Kernels based on Return Probabilities of
    Random Walks. NeurIPS 2018.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"]), ([], ["O"])]
    >>> gg.ReturnProbability().fit_transform(graphs).round(2).tolist()
    [[1.0, 0.56, 0.37], [0.56, 1.0, 0.37], [0.37, 0.37, 1.0]]
    """

    n_steps: int = parameter(Whole(1), default=50, kw_only=False)
    approximate: bool = parameter(BOOLEAN, default=False)
    n_components: int = parameter(Whole(1), default=200)
    gamma: float = parameter(Number(0.0), default=10.0)
    random_state: int | None = parameter(SEED, default=0)

    def _fit(self, batch: GraphBatch) -> None:
        from scipy.spatial.distance import pdist

        rng = np.random.default_rng(self.random_state)
        R = self._descriptions(batch)
        if self.approximate:
            self._directions = np.sqrt(2.0 * self.gamma) * rng.standard_normal(
                (self.n_steps, self.n_components)
            )
            self._phases = 2.0 * np.pi * rng.random(self.n_components)
        else:
            self.sigma_1_ = _median(pdist(_sample(batch, R, rng)))
        self._fitted = self._points(batch, R)
        self._own = self._own_means(self._fitted)
        self._distance = _mmd(self._means(self._fitted, None), self._own, self._own)
        np.fill_diagonal(self._distance, 0.0)
        self.sigma_2_ = _median(self._distance[np.triu_indices(len(batch), 1)])

    def _gram_of_fitted(self) -> np.ndarray:
        return np.exp(-self._distance / self.sigma_2_)

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        new = self._points(batch, self._descriptions(batch))
        means = self._means(new, self._fitted)
        return np.exp(-_mmd(means, self._own_means(new), self._own) / self.sigma_2_)

    # ---------------------------------------------------------------- vertices as points

    def _descriptions(self, batch: GraphBatch) -> np.ndarray:
        """Return r(v) for all vertices, one per row."""
        R = np.empty((batch.n_vertices, self.n_steps))

        def describe(graph: int) -> None:
            first, last = int(batch.offsets[graph]), int(batch.offsets[graph + 1])
            R[first:last] = return_probabilities(adjacency(batch.arrays, graph), self.n_steps)

        run_each(describe, batch.vertex_counts, self.n_jobs)
        return R

    def _points(self, batch: GraphBatch, R: np.ndarray) -> _Points:
        """Return the vertices' descriptions, or the sum of random features per graph and label."""
        hashes = hash_labels(batch.label_table)[batch.label_codes]
        owners = batch.graph_of_vertex
        order = np.lexsort((owners, hashes))
        hashes, owners = hashes[order], owners[order]
        if not self.approximate:
            rows = R[order]
        else:
            fresh = np.ones(len(order), dtype=bool)
            fresh[1:] = (hashes[1:] != hashes[:-1]) | (owners[1:] != owners[:-1])
            begins = np.flatnonzero(fresh)
            rows = self._random_features(R, order, begins)
            hashes, owners = hashes[begins], owners[begins]
        labels, starts = np.unique(hashes, return_index=True)
        starts = np.append(starts, len(hashes))
        return _Points(labels, starts, owners, rows, batch.vertex_counts)

    def _random_features(self, R: np.ndarray, order: np.ndarray, begins: np.ndarray) -> np.ndarray:
        """Sum random Fourier features over the runs of ``order`` that begin at ``begins``."""
        bounds = np.append(begins, len(order))
        sums = np.empty((len(begins), self.n_components))

        def add(first: int, last: int) -> None:
            part = order[bounds[first] : bounds[last]]
            Z = np.cos(R[part] @ self._directions + self._phases)
            sums[first:last] = np.add.reduceat(Z, bounds[first:last] - bounds[first], axis=0)

        run(add, chunks(np.diff(bounds)), self.n_jobs)
        return sums * np.sqrt(2.0 / self.n_components)

    # ---------------------------------------------------------------- means of similarities

    def _means(self, left: _Points, right: _Points | None) -> np.ndarray:
        """Return the mean similarity between vertices of ``left`` and ``right`` (or ``left``)."""
        symmetric = right is None
        other = left if right is None else right
        K = np.zeros((len(left.sizes), len(other.sizes)))
        _, here, there = np.intersect1d(
            left.labels, other.labels, assume_unique=True, return_indices=True
        )
        ranges = chunks(left.sizes, 512)
        for a, b in zip(here.tolist(), there.tolist(), strict=True):
            rows, owners = left.of_label(a)
            columns, column_owners = other.of_label(b)
            if self.approximate:
                K[np.ix_(owners, column_owners)] += rows @ columns.T
                continue
            tiles = tiled(columns)
            label = partial(self._add, rows, owners, tiles, column_owners, symmetric, K)
            run(label, ranges, self.n_jobs)
        if symmetric and not self.approximate:
            K = np.tril(K) + np.tril(K, -1).T
        return K / np.maximum(np.outer(left.sizes, other.sizes), 1)

    def _add(
        self,
        rows: np.ndarray,
        owners: np.ndarray,
        tiles: np.ndarray,
        column_owners: np.ndarray,
        symmetric: bool,
        K: np.ndarray,
        begin: int,
        end: int,
    ) -> None:
        """Add the similarities of one label for a range of graphs."""
        first, last = np.searchsorted(owners, [begin, end])
        add_similarities(
            rows, owners, tiles, column_owners, self.sigma_1_, symmetric, K, first, last
        )

    def _own_means(self, points: _Points) -> np.ndarray:
        """Return the mean similarity among the vertices of each graph."""
        sums = np.zeros(len(points.sizes))
        for label in range(len(points.labels)):
            rows, owners = points.of_label(label)
            if self.approximate:
                sums[owners] += (rows**2).sum(axis=1)
            else:
                own_similarities(rows, owners, self.sigma_1_, sums)
        return sums / np.maximum(points.sizes, 1) ** 2


def _mmd(means: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Compute the distances of mean embeddings from their inner products."""
    norms = left[:, None] + right
    squares = norms - 2.0 * means
    squares[squares < _ROUNDING * norms] = 0.0
    return np.sqrt(squares)


def _sample(batch: GraphBatch, R: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Sample descriptions of a few vertices of each graph, independent of their numbering."""
    graphs = np.flatnonzero(batch.vertex_counts >= _PER_GRAPH)
    if len(graphs):
        graphs = rng.permutation(graphs)[: _SAMPLE // _PER_GRAPH]
    else:
        graphs = rng.permutation(len(batch))[: _SAMPLE // _PER_GRAPH]
    rows = []
    for graph in graphs.tolist():
        part = R[batch.offsets[graph] : batch.offsets[graph + 1]]
        part = part[np.lexsort(np.round(part.T, 9))]
        rows.append(part[rng.permutation(len(part))[:_PER_GRAPH]])
    return np.concatenate(rows)


def _median(values: np.ndarray) -> float:
    """Return the median as a scale: 1 if there are no values or it is 0 up to rounding errors."""
    median = float(np.median(values)) if len(values) else 0.0
    return median if median > _SMALLEST else 1.0
