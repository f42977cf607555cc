"""Support vector machines on precomputed kernel matrices, for a whole grid of C at once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ..core.support_vectors import train
from .learner import Learner, part

#: How exactly machines are trained; the same as scikit-learn's.
TOLERANCE = 1e-3
MOST_STEPS = 10_000_000


@dataclass(frozen=True)
class ClassPairs:
    """From the decision values of pairs of classes to those of the classes.

    Attributes
    ----------
    known : tuple of int
        The classes of the training graphs, ascending.
    n_classes : int
        Classes are numbers from 0 to ``n_classes - 1``.
    """

    known: tuple[int, ...]
    n_classes: int

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs, in the order of the decision values: positive ones speak for the second."""
        return list(combinations(self.known, 2))

    def answers(self, outputs: np.ndarray) -> np.ndarray:
        """One value per graph for two classes, else one per graph and class.

        Among several classes it is the number of pairs that a class wins; between classes that
        win equally many, the sum of the decision values decides.
        """
        if self.n_classes == 2:
            if len(self.known) == 2:
                return outputs[:, 0]
            return np.full(len(outputs), 1.0 if self.known[0] else -1.0)
        wins = np.zeros((len(outputs), self.n_classes))
        sums = np.zeros((len(outputs), self.n_classes))
        for value, (first, second) in zip(outputs.T, self.pairs, strict=True):
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
class SvmModel:
    """A trained support vector machine.

    Attributes
    ----------
    classes : ClassPairs
    coefficients, intercepts : array
        One line for each pair of known classes, of shape (pairs, training graphs).
    """

    classes: ClassPairs
    coefficients: np.ndarray
    intercepts: np.ndarray

    @property
    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the training graphs, a row for each output, and intercepts."""
        return self.coefficients, self.intercepts

    def answers(self, outputs: np.ndarray) -> np.ndarray:
        """The decision values of classes."""
        return self.classes.answers(outputs)

    def scores(self, K: np.ndarray) -> np.ndarray:
        """The same for rows of a kernel matrix."""
        return self.answers(K @ self.coefficients.T + self.intercepts)


@dataclass(frozen=True)
class KernelSvm(Learner):
    """C-SVMs for an ascending grid of C; several classes are told apart pair by pair."""

    grid: Sequence[float]
    n_classes: int
    dtype = np.float32

    def only(self, value: float) -> KernelSvm:
        """The same for a single C."""
        return replace(self, grid=[value])

    def fit(
        self, K: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None
    ) -> list[SvmModel]:
        """One machine per C; a graph's C is multiplied by its weight."""
        classes = ClassPairs(tuple(np.unique(targets).tolist()), self.n_classes)
        shape = (len(self.grid), len(classes.pairs), len(targets))
        coefficients, intercepts = np.zeros(shape), np.zeros(shape[:2])
        solutions = 1
        K = np.ascontiguousarray(K, dtype=self.dtype)
        grid = np.array(self.grid, dtype=np.float64)
        weights = np.ones(len(targets)) if weights is None else weights
        for number, (first, second) in enumerate(classes.pairs):
            rows = np.flatnonzero((targets == first) | (targets == second))
            signs = np.where(targets[rows] == second, 1.0, -1.0)
            square = K if len(rows) == len(K) else part(K, rows, rows, self.dtype)
            found = train(square, signs, weights[rows], grid, TOLERANCE, MOST_STEPS)
            coefficients[:, number, rows], intercepts[:, number], solved, converged = found
            solutions = max(solutions, solved)
            if not converged:
                _warn_of_steps()
        models = [
            SvmModel(classes, coefficients[place], intercepts[place]) for place in range(solutions)
        ]
        return models + models[-1:] * (len(self.grid) - solutions)


def classes_of(scores: np.ndarray) -> np.ndarray:
    """The classes that decision values speak for: one value per row for two classes."""
    return (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)


def _warn_of_steps() -> None:
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(
        f"A support vector machine was not solved exactly within {MOST_STEPS:,} steps; its "
        "kernel matrix is extreme. A smaller C or a normalised kernel helps.",
        ConvergenceWarning,
        stacklevel=3,
    )
