"""The similarity by which sets are compared: a weighted sum of kernels over all graphs.

By default, kernels are chosen from the graphs of both sets together, never from the set a graph is
in, so that permuting the sets is a valid test. Each kernel has the weight that gives the same
variance to its statistic under permutations.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array
from sklearn.base import clone

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.bases.graph_kernel import GraphKernel
from ..kernels.graphlet import Graphlet
from ..kernels.shortest_path import ShortestPath
from ..kernels.tree_plus_plus import TreePlusPlus
from ..kernels.weisfeiler_lehman import WeisfeilerLehman
from ..views.structural_labels import StructuralLabels

#: Above this mean number of edges per vertex, induced subgraphs of four vertices are too many.
_DENSE = 12.0


class Term(NamedTuple):
    """A kernel, and the view through which it sees the graphs."""

    kernel: GraphKernel
    view: StructuralLabels | None = None

    def see(self, batch: GraphBatch) -> GraphBatch:
        """Return the graphs as the kernel sees them."""
        return batch if self.view is None else self.view.fit_transform(batch)


def default_terms(batch: GraphBatch, n_jobs: int | None) -> list[Term]:
    """Return the kernels for graphs without a kernel of the user's choice.

    Labels say nothing about unlabelled graphs, so these are compared by neighbourhoods, by
    subgraphs of three and of four vertices, and by distances.
    """
    if len(np.unique(batch.label_codes)) > 1:
        edge_labels = batch.edge_label_table is not None and len(batch.edge_label_table) > 1
        around = WeisfeilerLehman(2, edge_labels=edge_labels, n_jobs=n_jobs)
        paths = TreePlusPlus(path_depth=3, tree_depth=1, edge_labels=edge_labels, n_jobs=n_jobs)
        return [Term(around), Term(paths), Term(ShortestPath(n_jobs=n_jobs), StructuralLabels())]
    sizes = (3, 4) if batch.n_edges <= _DENSE * max(1, batch.n_vertices) else (3,)
    subgraphs = [Term(Graphlet(size, n_jobs=n_jobs)) for size in sizes]
    around, pairs = WeisfeilerLehman(2, n_jobs=n_jobs), ShortestPath(n_jobs=n_jobs)
    return [Term(around), *subgraphs, Term(pairs)]


def terms_of(kernel: Any, batch: GraphBatch, n_jobs: int | None) -> list[Term]:
    """Return the terms of a kernel, a list of kernels, or the default."""
    if kernel is None:
        return default_terms(batch, n_jobs)
    kernels = list(kernel) if isinstance(kernel, Sequence) else [kernel]
    for item in kernels:
        if not isinstance(item, GraphKernel):
            raise InvalidParameterError(
                "kernel must be a kernel such as gg.TreePlusPlus(), a list of kernels, or None; "
                f"got {item!r}."
            )
    if not kernels:
        raise InvalidParameterError("kernel must not be an empty list.")
    return [Term(clone(item)) for item in kernels]


class FittedTerm(NamedTuple):
    """A kernel fitted to the graphs of both sets as it sees them, and its weight."""

    kernel: GraphKernel
    view: StructuralLabels | None
    seen: GraphBatch
    weight: float
    rows: np.ndarray | None = None  # of the fitted graphs; all by default

    @property
    def matrix(self) -> csc_array:
        """Mapped counts of the patterns of each graph, a column per pattern of each level."""
        kernel = self.kernel
        if not isinstance(kernel, FeatureKernel):
            raise InvalidParameterError(
                f"{type(kernel).__name__} has no patterns: its similarity is not a sum over them. "
                "Use a kernel with explicit features, such as gg.TreePlusPlus()."
            )
        indptr, rows, values = kernel.columns_.scaled(kernel.level_scales).entries
        matrix = csc_array((values, rows, indptr), shape=(len(self.seen), len(indptr) - 1))
        return matrix if self.rows is None else csc_array(matrix[self.rows])

    def columns_of(self, batch: GraphBatch) -> csr_array:
        """Return the counts of the same patterns in other graphs."""
        seen = batch if self.view is None else self.view.transform(batch)
        kernel = copy(self.kernel).set_params(output="features")
        matrix: csr_array = kernel.transform(seen)
        return matrix

    def name(self, column: int) -> str:
        """Return the name of a pattern."""
        assert isinstance(self.kernel, FeatureKernel)
        indptr, rows, _ = self.kernel.columns_.entries
        graph = self.seen[int(rows[indptr[column]])]
        offsets = self.kernel.level_offsets_
        level = int(np.searchsorted(offsets, column, side="right") - 1)
        code = self.kernel.vocabulary_[level][[column - int(offsets[level])]]
        return self.kernel.names_of(graph, level, code)[0]


class WeightedSum:
    """The Gram matrix of some graphs as a weighted sum over kernels."""

    def __init__(self, terms: Sequence[Term], batch: GraphBatch) -> None:
        self.matrix: np.ndarray = np.zeros((len(batch), len(batch)))
        fitted = []
        for term in terms:
            kernel, seen = term.kernel, term.see(batch)
            if isinstance(kernel, FeatureKernel):
                kernel.set_params(output="gram", n_features=None)
            K = kernel.fit(seen).gram()
            weight = 1.0
            if len(terms) > 1:
                spread = _spread(K)
                weight = 1.0 / spread if spread > 1e-9 else 0.0
            self.matrix += weight * K
            fitted.append(FittedTerm(kernel, term.view, seen, weight))
        total = sum(term.weight for term in fitted) or 1.0
        self.matrix /= total
        self.terms = [term._replace(weight=term.weight / total) for term in fitted]

    def take(self, rows: np.ndarray) -> WeightedSum:
        """Return the sum for some of the graphs."""
        part = copy(self)
        part.matrix = self.matrix[np.ix_(rows, rows)]
        part.terms = [term._replace(rows=rows) for term in self.terms]
        return part

    def contributions(self, pairs: PairWeights) -> list[np.ndarray]:
        """Return for each kernel the part of each pattern in a weighted sum over pairs of graphs.

        The last entry is that of graphs without any pattern, which are similar to each other.
        """
        return [
            term.weight * _pattern_sums(term.kernel.similarity, term.matrix, pairs)
            for term in self.terms
        ]


class PairWeights(NamedTuple):
    """Weights of pairs of graphs in the unbiased MMD²; no graph is paired with itself.

    ``signs`` is 1 for the graphs of the first set and -1 for those of the second.
    """

    signs: np.ndarray

    def dense(self) -> np.ndarray:
        """Return the weights as a matrix."""
        n, m = (self.signs > 0).sum(), (self.signs < 0).sum()
        first, second = self.signs > 0, self.signs < 0
        weights = np.where(np.outer(self.signs, self.signs) > 0, 0.0, -1.0 / (n * m))
        weights[np.outer(first, first)] = 1.0 / (n * (n - 1))
        weights[np.outer(second, second)] = 1.0 / (m * (m - 1))
        np.fill_diagonal(weights, 0.0)
        return weights


def _spread(K: np.ndarray) -> float:
    """Return the norm of the similarities of different graphs, with rows and columns centred.

    The variance of the unbiased MMD² under permutations is proportional to its square. Sums leave
    the similarity of a graph to itself out (U-centring; Székely and Rizzo, The Annals of Statistics
    42, 2014), so that high similarities everywhere have no spread.
    """
    n = len(K)
    if n < 4:
        return 1.0
    off = K - np.diag(np.diagonal(K))
    rows = off.sum(axis=0) / (n - 2)
    centred = off - rows - rows[:, np.newaxis] + off.sum() / ((n - 1) * (n - 2))
    np.fill_diagonal(centred, 0.0)
    return float(np.linalg.norm(centred))


def _pattern_sums(similarity: str, matrix: csc_array, pairs: PairWeights) -> np.ndarray:
    """Return for each column the weighted sum of its overlaps over all pairs of graphs."""
    if similarity == "minmax":
        return _sums_of_minima(matrix, pairs)
    first, second = pairs.signs > 0, pairs.signs < 0
    n, m = int(first.sum()), int(second.sum())
    squares = np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()
    rows = np.ones(len(squares))
    if similarity == "cosine":
        rows[squares > 0] = 1.0 / np.sqrt(squares[squares > 0])
    scaled = csc_array(matrix.multiply(rows[:, np.newaxis]))
    quadratic = csc_array(scaled.multiply(scaled))

    def within(members: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        chosen = members.astype(np.float64)
        return scaled.T @ chosen, quadratic.T @ chosen

    (a, aa), (b, bb) = within(first), within(second)
    sums = (a * a - aa) / (n * (n - 1)) + (b * b - bb) / (m * (m - 1)) - 2 * a * b / (n * m)
    empty = (squares == 0) & (similarity != "dot")
    return np.append(sums, _empty_sum(empty, pairs))


def _empty_sum(empty: np.ndarray, pairs: PairWeights) -> float:
    """Return the weighted sum over pairs of graphs that both have no pattern."""
    if not empty.any():
        return 0.0
    chosen = empty.astype(np.float64)
    return float(chosen @ pairs.dense() @ chosen)


def _sums_of_minima(columns: csc_array, pairs: PairWeights) -> np.ndarray:
    """Return the sums for min-max: a minimum is a sum over thresholds that both graphs reach."""
    totals = np.asarray(columns.sum(axis=1)).ravel()
    units, heights, owners = _thresholds(columns)
    overlap = (units.multiply(heights) @ units.T).toarray()
    larger = totals[:, np.newaxis] + totals - overlap
    weights = np.divide(pairs.dense(), larger, out=np.zeros_like(larger), where=larger > 0)
    sums = np.zeros(columns.shape[1])
    width = max(1, (1 << 25) // max(1, columns.shape[0]))
    for begin in range(0, units.shape[1], width):
        block = units[:, begin : begin + width].toarray()
        part = np.einsum("ij,ij->j", block, weights @ block) * heights[begin : begin + width]
        np.add.at(sums, owners[begin : begin + width], part)
    return np.append(sums, _empty_sum(totals == 0, pairs))


def _thresholds(columns: csc_array) -> tuple[csc_array, np.ndarray, np.ndarray]:
    """Return a column per distinct value of each column: the rows that reach it.

    Heights are the differences of successive values; owners are the original columns.
    """
    rows, heights, owners, starts = [], [], [], [0]
    for column in range(columns.shape[1]):
        entries = slice(columns.indptr[column], columns.indptr[column + 1])
        values = columns.data[entries]
        below = 0.0
        for value in np.unique(values):
            rows.append(columns.indices[entries][values >= value])
            heights.append(value - below)
            owners.append(column)
            starts.append(starts[-1] + len(rows[-1]))
            below = value
    indices = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    units = csc_array(
        (np.ones(len(indices)), indices, np.array(starts)),
        shape=(columns.shape[0], len(heights)),
    )
    return units, np.array(heights), np.array(owners, dtype=np.int64)
