"""RetGK: the return probability kernel.

1. A vertex is described by the probabilities that a random walk returns to it after 1, 2, ...
   steps, and by its label.
2. A graph is the distribution of its vertices' descriptions, embedded by a kernel on them.
3. The kernel of two graphs falls with the distance of their embeddings.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ..core.hashing import hash_labels
from ..core.laplace_kernel import add_similarities, own_similarities, tiled
from ..core.spectra import adjacency, return_probabilities
from ..core.threads import chunks, run, run_each
from ..graphs.batch import GraphBatch
from ..parameters import BOOLEAN, Number, Seed, Whole, parameter
from .bases.graph_kernel import GraphKernel

#: Most vertices from which sigma_1 is estimated: half a million distances.
_SAMPLE = 1000
#: Vertices that each graph gives to the sample.
_PER_GRAPH = 5
#: Squared distances below this, relative to the norms, are rounding errors.
_ROUNDING = 1e-13


class _Points(NamedTuple):
    """Points with labels that belong to graphs, sorted by label, then by graph."""

    labels: np.ndarray  # hash of each distinct label, ascending
    starts: np.ndarray  # where the points of each label begin, and their end
    owners: np.ndarray  # graph of each point
    rows: np.ndarray  # the points
    sizes: np.ndarray  # number of vertices of each graph

    def of_label(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        part = slice(int(self.starts[number]), int(self.starts[number + 1]))
        return self.rows[part], self.owners[part]


class ReturnProbability(GraphKernel):
    """RetGK: graphs as distributions of their vertices' return probabilities.

    Vertex v is described by r(v), the probabilities that a random walk is back at v after 1 to
    ``n_steps`` steps, and by its label. Two vertices with the same label have the similarity
    exp(-||r(v) - r(w)|| / sigma_1). The distance of two graphs is the maximum mean discrepancy
    (MMD) of their vertices under this similarity, and the kernel is exp(-MMD / sigma_2).

    Parameters
    ----------
    n_steps : int, default=50
        Longest walk, the paper's S.
    approximate : bool, default=False
        Instead of comparing all vertices (the paper's RetGK I), describe each by ``n_components``
        random Fourier features of exp(-gamma ||r - r'||^2) and take the mean per label
        (RetGK II). Faster for many or large graphs.
    n_components : int, default=200
        Number of random features; for ``approximate=True``.
    gamma : float, default=10.0
        Width of the similarity; for ``approximate=True``.
    random_state : int or None, default=0
        Seed of the vertices from which sigma_1 is taken, and of the random features.
    similarity, n_jobs, verbose
        As in :class:`WassersteinWL`.

    Attributes
    ----------
    sigma_1_ : float
        Median distance between the descriptions of vertices of the fitted graphs: 5 random ones
        of each graph that has as many, 1000 at most.
    sigma_2_ : float
        Median distance between the fitted graphs.

    See Also
    --------
    SpectralDistance : Distances between vertices by the spectrum.
    RandomWalk : Walks that two graphs have in common.

    Notes
    -----
    Both widths come from the fitted graphs alone, so that the similarity of two graphs depends on
    which graphs were fitted with them. The random walk may stay where it is (A + I in place of
    A), as in the authors' code: an isolated vertex then returns with probability 1. The exact
    form takes time proportional to the square of the number of all vertices.

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
    random_state: int | None = parameter(Seed(), default=0)

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
        n = len(batch)
        self.sigma_2_ = _median(self._distance[np.triu_indices(n, 1)])

    def _gram_of_fitted(self) -> np.ndarray:
        return np.exp(-self._distance / self.sigma_2_)

    def _gram_with_fitted(self, batch: GraphBatch) -> np.ndarray:
        new = self._points(batch, self._descriptions(batch))
        means = self._means(new, self._fitted)
        return np.exp(-_mmd(means, self._own_means(new), self._own) / self.sigma_2_)

    # ---------------------------------------------------------------- vertices as points

    def _descriptions(self, batch: GraphBatch) -> np.ndarray:
        """r(v) for all vertices, one row each."""
        R = np.empty((batch.n_vertices, self.n_steps))

        def describe(graph: int) -> None:
            first, last = int(batch.offsets[graph]), int(batch.offsets[graph + 1])
            R[first:last] = return_probabilities(adjacency(batch.arrays, graph), self.n_steps)

        run_each(describe, batch.vertex_counts, self.n_jobs)
        return R

    def _points(self, batch: GraphBatch, R: np.ndarray) -> _Points:
        """Vertices with their descriptions, or per graph and label the sum of random features."""
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
        """Sums of random Fourier features over the runs of ``order`` that begin at ``begins``."""
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
        """Mean similarity between the vertices of graphs; without ``right`` among ``left``."""
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
        """Mean similarity among the vertices of each graph."""
        sums = np.zeros(len(points.sizes))
        for label in range(len(points.labels)):
            rows, owners = points.of_label(label)
            if self.approximate:
                sums[owners] += (rows**2).sum(axis=1)
            else:
                own_similarities(rows, owners, self.sigma_1_, sums)
        return sums / np.maximum(points.sizes, 1) ** 2


def _mmd(means: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Distances of mean embeddings from their products."""
    norms = left[:, None] + right
    squares = norms - 2.0 * means
    squares[squares < _ROUNDING * norms] = 0.0
    return np.sqrt(squares)


def _sample(batch: GraphBatch, R: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Descriptions of a few vertices of each graph, chosen whatever the vertices' numbers are."""
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
    """The median as a width to divide by: 1 if there is none or it is 0."""
    median = float(np.median(values)) if len(values) else 0.0
    return median if median > 0.0 else 1.0
