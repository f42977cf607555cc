"""Support vector machines on precomputed kernel matrices, for a grid of C.

On the Gram matrices of NCI1 they take about a sixth of the time of scikit-learn's ``SVC`` and give
the same predictions (``python -m benchmarks.machines``): hours, over all tables of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from graphgrain.evaluation.splits import Split

from .support_vectors import cut, train

#: Stopping tolerance, the default of scikit-learn.
TOLERANCE = 1e-3
MOST_STEPS = 10_000_000


@dataclass(frozen=True)
class SvmModel:
    """A trained support vector machine.

    Attributes
    ----------
    known : tuple of int
        Classes of the training graphs, ascending.
    n_classes : int
        Number of classes; they are numbered from 0 to ``n_classes - 1``.
    coefficients : array of shape (pairs, training graphs)
        One row per pair of known classes; positive values favour the second class.
    intercepts : array of shape (pairs,)
    """

    known: tuple[int, ...]
    n_classes: int
    coefficients: np.ndarray
    intercepts: np.ndarray

    def answers(self, outputs: np.ndarray) -> np.ndarray:
        """Convert one-vs-one values to one value per graph (two classes) or per graph and class.

        With more than two classes the value is the number of pairs that a class wins; ties are
        broken by the sum of its decision values.
        """
        if self.n_classes == 2:
            if len(self.known) == 2:
                return outputs[:, 0]
            return np.full(len(outputs), 1.0 if self.known[0] else -1.0)
        wins = np.zeros((len(outputs), self.n_classes))
        sums = np.zeros((len(outputs), self.n_classes))
        for value, (first, second) in zip(outputs.T, combinations(self.known, 2), strict=True):
            wins[:, second] += value > 0
            wins[:, first] += value <= 0
            sums[:, second] += value
            sums[:, first] -= value
        result = wins + sums / (3 * (np.abs(sums) + 1))  # less than half a win
        # Classes without training graphs rank last.
        unknown = np.setdiff1d(np.arange(self.n_classes), self.known)
        result[:, unknown] = result.min(initial=0.0) - 1.0
        return result

    def scores(self, K: np.ndarray) -> np.ndarray:
        """Return the values of :meth:`answers` for rows of a kernel matrix."""
        return self.answers(K @ self.coefficients.T + self.intercepts)


def fit_svms(
    K: np.ndarray, targets: np.ndarray, grid: Sequence[float], n_classes: int
) -> list[SvmModel]:
    """Fit a C-SVM for each C of an ascending grid, one-vs-one with several classes.

    Equal solutions are the same object.
    """
    known = tuple(np.unique(targets).tolist())
    pairs = list(combinations(known, 2))
    shape = (len(grid), len(pairs), len(targets))
    coefficients, intercepts = np.zeros(shape), np.zeros(shape[:2])
    solutions = 1
    K = np.ascontiguousarray(K, dtype=np.float32)
    costs = np.array(grid, dtype=np.float64)
    for number, (first, second) in enumerate(pairs):
        rows = np.flatnonzero((targets == first) | (targets == second))
        signs = np.where(targets[rows] == second, 1.0, -1.0)
        square = K if len(rows) == len(K) else part(K, rows, rows, np.float32)
        found = train(square, signs, costs, TOLERANCE, MOST_STEPS)
        coefficients[:, number, rows], intercepts[:, number], solved, _ = found
        solutions = max(solutions, solved)
    models = [
        SvmModel(known, n_classes, coefficients[place], intercepts[place])
        for place in range(solutions)
    ]
    return models + models[-1:] * (len(grid) - solutions)


def part(
    gram: np.ndarray, rows: np.ndarray, columns: np.ndarray, dtype: type = np.float64
) -> np.ndarray:
    """Return the submatrix with the given rows and columns."""
    return cut(gram, rows, columns, np.empty((len(rows), len(columns)), dtype))


def split_answers(
    gram: np.ndarray, targets: np.ndarray, split: Split, grid: Sequence[float], n_classes: int
) -> tuple[list[np.ndarray], int]:
    """Return the answers for each C on the test part of a split, and the number of machines."""
    train_rows, test = split
    training = part(gram, train_rows, train_rows, np.float32)
    models = fit_svms(training, targets[train_rows], grid, n_classes)
    K = part(gram, test, train_rows)
    different = list({id(model): model for model in models}.values())
    # One product for all machines, so that the matrix is read once.
    outputs = K @ np.concatenate([model.coefficients for model in different]).T
    bounds = np.cumsum([len(model.coefficients) for model in different])[:-1]
    answers = {
        id(model): model.answers(values + model.intercepts)
        for model, values in zip(different, np.split(outputs, bounds, axis=1), strict=True)
    }
    return [answers[id(model)] for model in models], len(different)
