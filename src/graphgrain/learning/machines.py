"""Learners on precomputed kernel matrices, each for a whole grid of its parameter.

:class:`SupportVectors` classifies: a C-SVM for each C. :class:`Ridge` predicts numbers: kernel
ridge regression for each alpha. A learner's ``fit`` takes the square matrix of the training
graphs and gives one model per value of the grid, at less than the price of so many fits.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from ..core.support_vectors import train
from .committee import classes_of

#: How exactly machines are trained; the same as scikit-learn's.
TOLERANCE = 1e-3
MOST_STEPS = 10_000_000


class Learner(Protocol):
    """Trains a model for each value of a grid."""

    @property
    def grid(self) -> Sequence[float]: ...

    @property
    def dtype(self) -> type[np.floating]: ...

    def only(self, value: float) -> Learner: ...

    def fit(self, K: np.ndarray, targets: np.ndarray) -> list[Any]: ...

    def predictions(self, models: list[Any], K: np.ndarray) -> list[np.ndarray]: ...

    def score(self, targets: np.ndarray, predictions: np.ndarray) -> float: ...

    def preferred(self, scores: np.ndarray) -> int: ...


@dataclass(frozen=True)
class Machine:
    """A trained support vector machine; classes are numbers from 0 to ``n_classes - 1``.

    Attributes
    ----------
    known : list of int
        The classes of the training graphs, ascending.
    coefficients, intercepts : array
        One line for each pair of known classes, of shape (pairs, training graphs): positive
        values speak for the second of the two.
    n_classes : int
    """

    known: list[int]
    coefficients: np.ndarray
    intercepts: np.ndarray
    n_classes: int

    def predict(self, K: np.ndarray) -> np.ndarray:
        """The class of each row."""
        return self.decide(K @ self.coefficients.T + self.intercepts)

    def decide(self, values: np.ndarray) -> np.ndarray:
        """The class of each row of decision values, which have a column for each pair."""
        if len(self.known) == 1:
            return np.full(len(values), self.known[0], dtype=np.int64)
        return classes_of(values[:, 0] if self.n_classes == 2 else self._of_classes(values))

    @property
    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the training graphs and intercepts, a row for each output."""
        return self.coefficients, self.intercepts

    def without_coefficients(self) -> Machine:
        """What is left to know once the coefficients are folded into weights."""
        return replace(self, coefficients=self.coefficients[:, :0])

    def scores(self, K: np.ndarray) -> np.ndarray:
        """The scores of rows of a kernel matrix."""
        return self.scores_of(K @ self.coefficients.T + self.intercepts)

    def scores_of(self, values: np.ndarray) -> np.ndarray:
        """From decision values of pairs: one per row for two classes, else one per row and class.

        Among several classes each row has the number of pairs that a class wins; between classes
        that win equally many, the sum of the decision values decides.
        """
        if self.n_classes == 2:
            if len(self.known) == 2:
                return values[:, 0]
            return np.full(len(values), 1.0 if self.known[0] else -1.0)
        return self._of_classes(values)

    def _of_classes(self, values: np.ndarray) -> np.ndarray:
        wins = np.zeros((len(values), self.n_classes))
        sums = np.zeros((len(values), self.n_classes))
        for value, (first, second) in zip(values.T, combinations(self.known, 2), strict=True):
            wins[:, second] += value > 0
            wins[:, first] += value <= 0
            sums[:, second] += value
            sums[:, first] -= value
        result = wins + sums / (3 * (np.abs(sums) + 1))  # less than half a win
        # A class that was not among the training graphs comes after all others.
        unknown = np.setdiff1d(np.arange(self.n_classes), self.known)
        result[:, unknown] = result.min(initial=0.0) - 1.0
        return result


@dataclass(frozen=True)
class SupportVectors:
    """C-SVMs for an ascending grid of C; several classes are told apart pair by pair."""

    grid: Sequence[float]
    n_classes: int
    dtype = np.float32

    def only(self, value: float) -> SupportVectors:
        """The same for a single C."""
        return replace(self, grid=[value])

    def fit(self, K: np.ndarray, targets: np.ndarray) -> list[Machine]:
        """One machine per C; machines that are the same object are the same solution."""
        known = np.unique(targets).tolist()
        pairs = list(combinations(known, 2))
        shape = (len(self.grid), len(pairs), len(targets))
        coefficients, intercepts = np.zeros(shape), np.zeros(shape[:2])
        solutions = 1
        K = np.ascontiguousarray(K, dtype=self.dtype)
        grid = np.array(self.grid, dtype=np.float64)
        for number, (first, second) in enumerate(pairs):
            rows = np.flatnonzero((targets == first) | (targets == second))
            signs = np.where(targets[rows] == second, 1.0, -1.0)
            part = K if len(rows) == len(K) else K[np.ix_(rows, rows)]
            found = train(part, signs, grid, TOLERANCE, MOST_STEPS)
            coefficients[:, number, rows], intercepts[:, number], solved, converged = found
            solutions = max(solutions, solved)
            if not converged:
                _warn_of_steps()
        machines = [
            Machine(known, coefficients[place], intercepts[place], self.n_classes)
            for place in range(solutions)
        ]
        return machines + machines[-1:] * (len(self.grid) - solutions)

    def predictions(self, models: list[Machine], K: np.ndarray) -> list[np.ndarray]:
        """What each machine says of the rows; the matrix is read once for all of them."""
        coefficients = np.concatenate([machine.coefficients for machine in models])
        values = np.split(K @ coefficients.T, len(models), axis=1)
        return [m.decide(value + m.intercepts) for m, value in zip(models, values, strict=True)]

    def score(self, targets: np.ndarray, predictions: np.ndarray) -> float:
        """Accuracy."""
        return float(np.mean(targets == predictions))

    def preferred(self, scores: np.ndarray) -> int:
        """The best entry of the grid; of equal ones the last, the largest C."""
        return len(scores) - 1 - int(np.argmax(scores[::-1]))


def _warn_of_steps() -> None:
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"A support vector machine was not solved exactly within {MOST_STEPS:,} steps; its "
        "kernel matrix is extreme. A smaller C or a normalised kernel helps.",
        ConvergenceWarning,
        stacklevel=3,
    )


@dataclass(frozen=True)
class RidgeModel:
    """Kernel ridge regression around the mean of the targets."""

    coefficients: np.ndarray
    mean: np.ndarray

    @property
    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the training graphs and intercepts, a row for each output."""
        return np.atleast_2d(self.coefficients.T), np.atleast_1d(self.mean)

    def without_coefficients(self) -> RidgeModel:
        """What is left to know once the coefficients are folded into weights."""
        return replace(self, coefficients=self.coefficients[:0])

    def values_of(self, values: np.ndarray) -> np.ndarray:
        """Predictions in the shape of the targets."""
        return values if self.coefficients.ndim == 2 else values[:, 0]

    def predict(self, K: np.ndarray) -> np.ndarray:
        """The values of each row."""
        return K @ self.coefficients + self.mean


@dataclass(frozen=True)
class Ridge:
    """Kernel ridge regression for a grid of alpha, all from one eigendecomposition."""

    grid: Sequence[float]
    dtype = np.float64

    def only(self, value: float) -> Ridge:
        """The same for a single alpha."""
        return replace(self, grid=[value])

    def fit(self, K: np.ndarray, targets: np.ndarray) -> list[RidgeModel]:
        """One model per alpha."""
        from scipy.linalg import eigh

        mean = targets.mean(axis=0)
        values, vectors = eigh(K)
        rotated = vectors.T @ (targets - mean)
        scale = np.maximum(values, 0.0).reshape(-1, *[1] * (rotated.ndim - 1))
        return [RidgeModel(vectors @ (rotated / (scale + alpha)), mean) for alpha in self.grid]

    def predictions(self, models: list[RidgeModel], K: np.ndarray) -> list[np.ndarray]:
        """What each model says of the rows."""
        return [model.predict(K) for model in models]

    def score(self, targets: np.ndarray, predictions: np.ndarray) -> float:
        """Minus the mean squared error, so that larger is better."""
        return -float(np.mean((targets - predictions) ** 2))

    def preferred(self, scores: np.ndarray) -> int:
        """The best entry of the grid; of equal ones the last, the largest alpha."""
        return len(scores) - 1 - int(np.argmax(scores[::-1]))
