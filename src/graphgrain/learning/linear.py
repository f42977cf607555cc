"""Training on the features themselves, for sets too large for a kernel matrix.

1. Patterns that have the same counts in the same training graphs are one column, times the root of
   their number: inner products stay the same, and the matrix is many times smaller.
2. scikit-learn's linear models solve the same problem as the learners on kernel matrices, hinge
   loss or squared error with the same C or alpha. (The intercept of the support vector machine is
   regularised a little, as liblinear does it.)
3. The weight of a column goes to all of its patterns, divided by that root.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.sparse_rows import fill_rows
from .folding import Folding, running_sums
from .pattern_weights import PatternWeights, mapped
from .svm import ClassPairs

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: How large the constant column is that stands for the intercept: the larger, the freer.
INTERCEPT = 3.0
#: Passes over the training graphs.
MOST_PASSES = 300
#: Graphs that are scaled at a time.
ROWS = 4096


@dataclass(frozen=True)
class GroupedFeatures:
    """The features of the training graphs, a column for each group of patterns.

    Attributes
    ----------
    matrix : sparse array of shape (graphs, columns)
        Rows are divided by their norm if the kernel is normalised, else all by the same number.
    multiplicities : list of array
        For each level, how many patterns a column stands for.
    scale : float
        What all rows were divided by, 1 if the kernel is normalised.
    level_weights : array or None
        As in :class:`PatternWeights`.
    level_factors : array
        What the columns of each level were multiplied with, apart from norms.
    """

    folding: Folding
    counts: str
    normalize: bool
    matrix: csr_array
    multiplicities: list[np.ndarray]
    scale: float
    level_weights: np.ndarray | None
    level_factors: np.ndarray

    @classmethod
    def of(
        cls,
        folding: Folding,
        counts: str,
        normalize: bool,
        n_levels: int | None,
        level_weights: np.ndarray | None = None,
    ) -> GroupedFeatures:
        """The features of the first levels (None: all) of a kernel with this count map."""
        from scipy.sparse import csr_array

        graphs, units = folding.graphs, counts == "intersection"
        levels = list(
            zip(folding.patterns.levels[:n_levels], folding.columns[:n_levels], strict=True)
        )
        by_level = normalize and level_weights is not None
        norms = np.sqrt(folding.squares(counts)) if by_level else None
        factors = np.ones(len(folding.columns))
        if level_weights is not None:
            factors = np.sqrt(folding.level_factors(counts, normalize, level_weights))
        lengths = np.zeros(graphs)
        for _, columns in levels:
            lengths += np.bincount(columns.graphs, columns.counts if units else None, graphs)
        indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        # scikit-learn's linear models ask for small integers
        kind = np.int32 if indptr[-1] <= np.iinfo(np.int32).max else np.int64
        indices, data = np.empty(indptr[-1], dtype=kind), np.empty(indptr[-1])
        ends = indptr[:-1].copy()
        multiplicities: list[np.ndarray] = []
        width = 0
        for number, (level, columns) in enumerate(levels):
            patterns = np.bincount(level.groups, minlength=len(level.units) - 1)
            values = np.sqrt(patterns[columns.groups])
            first: np.ndarray = columns.groups
            repeats = columns.counts
            if units:
                first = level.units[columns.groups]
                patterns = np.repeat(patterns, level.most)
            else:
                values *= mapped(columns.counts, counts)
                repeats = np.ones_like(columns.counts)
            values *= factors[number]
            if norms is not None:
                values /= norms[number][columns.graphs]
            fill_rows(columns.graphs, first + width, repeats, values, ends, indices, data)
            width += len(patterns)
            multiplicities.append(patterns)
        matrix = csr_array((data, indices, indptr.astype(kind)), shape=(graphs, width))
        squares = np.zeros(graphs)
        for begin in range(0, graphs, ROWS):  # a copy of all entries would be hundreds of megabytes
            bounds = matrix.indptr[begin : begin + ROWS + 1]
            own = matrix.data[bounds[0] : bounds[-1]]
            places = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
            squares[begin : begin + ROWS] = np.bincount(places, own**2, len(bounds) - 1)
        scale = 1.0 if normalize else float(np.sqrt(max(squares.mean(), 1e-300)))
        whole = normalize and not by_level
        divisors = np.sqrt(np.where(squares > 0, squares, 1.0)) if whole else scale
        divisors = np.broadcast_to(divisors, graphs)
        for begin in range(0, graphs, ROWS):
            bounds = matrix.indptr[begin : begin + ROWS + 1]
            own = np.repeat(divisors[begin : begin + ROWS], np.diff(bounds))
            matrix.data[bounds[0] : bounds[-1]] /= own
        rest = (matrix, multiplicities, scale, level_weights, factors)
        return cls(folding, counts, normalize, *rest)

    def weights(self, columns: np.ndarray, intercept: np.ndarray) -> PatternWeights:
        """Weights on patterns from weights on columns, of shape (outputs, columns)."""
        bounds = np.cumsum([len(patterns) for patterns in self.multiplicities])[:-1]
        parts = np.split(columns.T / self.scale, bounds)
        levels = []
        for number, (part, patterns) in enumerate(zip(parts, self.multiplicities, strict=True)):
            values = part / np.sqrt(patterns)[:, np.newaxis]
            values *= self.level_factors[number]
            if self.counts == "intersection":
                values = running_sums(self.folding.patterns.levels[number], values)
            levels.append(values)
        shared = self.folding.patterns
        rest = (self.counts, self.normalize, levels, intercept, None, self.level_weights)
        return PatternWeights(shared, *rest)


def train_svm(
    features: GroupedFeatures, codes: np.ndarray, classes: ClassPairs, C: float, weights: np.ndarray
) -> PatternWeights:
    """A support vector machine for each pair of classes."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    found, intercepts = [], []
    for first, second in classes.pairs:
        rows = np.flatnonzero((codes == first) | (codes == second))
        whole = len(rows) == len(codes)
        svm = LinearSVC(
            loss="hinge", C=C, intercept_scaling=INTERCEPT, max_iter=MOST_PASSES, random_state=0
        )
        with warnings.catch_warnings():
            # What the last passes could still improve is far below what validation can see.
            warnings.simplefilter("ignore", ConvergenceWarning)
            svm.fit(
                features.matrix if whole else features.matrix[rows],
                codes[rows] == second,
                sample_weight=weights[rows],
            )
        found.append(svm.coef_[0])
        intercepts.append(svm.intercept_[0])
    width = features.matrix.shape[1]
    columns = np.array(found) if found else np.zeros((0, width))
    return features.weights(columns, np.array(intercepts, dtype=np.float64))


def train_ridge(
    features: GroupedFeatures, targets: np.ndarray, alpha: float, weights: np.ndarray
) -> PatternWeights:
    """Ridge regression of targets of shape (graphs, outputs)."""
    from sklearn.linear_model import Ridge

    model = Ridge(alpha, solver="sparse_cg", tol=1e-6)
    model.fit(features.matrix, targets, sample_weight=weights)
    intercept = np.broadcast_to(model.intercept_, targets.shape[1])
    return features.weights(np.atleast_2d(model.coef_), np.array(intercept, dtype=np.float64))
