"""Kernel ridge regression for a whole grid of alpha from one eigendecomposition.

The intercept b is free: coefficients c and b solve ``(K + alpha) c + b = y`` with c adding up to 0.
With M the inverse of K + alpha and u = M 1, c is G y for ``G = M - u u' / (1' u)``. Leaving out the
graphs of a fold F and predicting them by the rest takes no second decomposition: the errors are the
solution x of ``G[F, F] x = c[F]``. So cross-validation costs little more than a single fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .learner import Learner, Split


@dataclass(frozen=True)
class RidgeModel:
    """A trained kernel ridge regression.

    Attributes
    ----------
    coefficients : array of shape (outputs, training graphs)
    intercepts : array of shape (outputs,)
    """

    coefficients: np.ndarray
    intercepts: np.ndarray

    @property
    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the training graphs, a row for each output, and intercepts."""
        return self.coefficients, self.intercepts

    def answers(self, outputs: np.ndarray) -> np.ndarray:
        """Predictions, with a column for each column of the targets."""
        return outputs


@dataclass(frozen=True)
class KernelRidge(Learner):
    """Kernel ridge regression for a grid of alpha; targets have the shape (graphs, outputs)."""

    grid: Sequence[float]
    dtype = np.float64

    def only(self, value: float) -> KernelRidge:
        """The same for a single alpha."""
        return replace(self, grid=[value])

    def fit(
        self, K: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None
    ) -> list[RidgeModel]:
        """One model per alpha; a graph's error counts as often as its weight says."""
        if len(self.grid) == 1 and (model := _solved(K, targets, weights, self.grid[0])):
            return [model]
        problem = _Problem(K, targets, weights)
        models = []
        for alpha in self.grid:
            coefficients, intercepts, _ = problem.solve(alpha)
            models.append(RidgeModel((problem.roots * coefficients).T, intercepts))
        return models

    def held_out(
        self,
        K: np.ndarray,
        targets: np.ndarray,
        splits: Sequence[Split],
        weights: np.ndarray | None = None,
        n_jobs: int | None = None,
    ) -> list[list[np.ndarray]]:
        """For each split the answers of all models; each trains on all that it does not test."""
        problem = _Problem(K, targets, weights)
        solutions = [(alpha, *problem.solve(alpha)) for alpha in self.grid]
        return [
            [
                targets[test] - problem.errors(test, alpha, coefficients, ones)
                for alpha, coefficients, _, ones in solutions
            ]
            for _, test in splits
        ]


def _solved(
    K: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, alpha: float
) -> RidgeModel | None:
    """The model of one alpha without eigenvectors; None if the matrix is too close to singular."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    roots = np.ones((len(K), 1)) if weights is None else np.sqrt(weights)[:, np.newaxis]
    matrix = K * (roots * roots.T) if weights is not None else K.copy()
    matrix[np.diag_indices_from(matrix)] += alpha
    try:
        factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    ones = cho_solve(factor, roots, check_finite=False)
    own = cho_solve(factor, roots * targets, check_finite=False)
    intercepts = (roots * own).sum(axis=0) / float((roots * ones).sum())
    return RidgeModel((roots * (own - ones * intercepts)).T, intercepts)


class _Problem:
    """A kernel matrix with targets, decomposed; rows are scaled by the roots of their weights."""

    def __init__(self, K: np.ndarray, targets: np.ndarray, weights: np.ndarray | None) -> None:
        from scipy.linalg import eigh

        roots = np.ones(len(K)) if weights is None else np.sqrt(weights)
        values, self.vectors = eigh(K if weights is None else K * np.outer(roots, roots))
        self.values = np.maximum(values, 0.0)
        self.roots = roots[:, np.newaxis]
        self.targets = self.vectors.T @ (self.roots * targets)
        self.ones = self.vectors.T @ self.roots

    def solve(self, alpha: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coefficients, intercepts, and u."""
        scale = (self.values + alpha)[:, np.newaxis]
        ones = self.vectors @ (self.ones / scale)
        total = float((self.ones**2 / scale).sum())
        intercepts = (self.ones / scale * self.targets).sum(axis=0) / total
        coefficients = self.vectors @ ((self.targets - self.ones * intercepts) / scale)
        return coefficients, intercepts, ones

    def errors(
        self, test: np.ndarray, alpha: float, coefficients: np.ndarray, ones: np.ndarray
    ) -> np.ndarray:
        """What a model without the test graphs is wrong by on each of them."""
        from scipy.linalg import solve

        own = self.vectors[test]
        block = (own / (self.values + alpha)) @ own.T
        block -= ones[test] @ ones[test].T / float((self.roots * ones).sum())
        return solve(block, coefficients[test], assume_a="pos") / self.roots[test]
