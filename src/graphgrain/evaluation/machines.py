"""Learners on Gram matrices that choose matrix and parameter inside their training rows."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.svm import SVC

from ..learning.folds import stratified_folds, train_and_test

#: Candidates for C of a support vector machine, and alpha of a ridge regression.
C_GRID = (1.0, 10.0, 100.0, 1000.0)
ALPHAS = tuple(10.0**exponent for exponent in np.arange(-4, 1.5, 0.5))
INNER_FOLDS = 5


class ChosenSVM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Support vector machine on the Gram matrix and with the C that are best inside its rows.

    ``fit`` and ``predict`` take positions of graphs.
    """

    def __init__(self, grams: list[np.ndarray], rng: np.random.Generator) -> None:
        self.grams = grams
        self.rng = rng

    def fit(self, rows: np.ndarray, y: np.ndarray) -> ChosenSVM:
        """Choose by stratified cross-validation; ties go to the larger C, then the first matrix."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        folds = stratified_folds(codes, min(INNER_FOLDS, len(rows)), self.rng)
        splits = [train_and_test(folds, number) for number in range(len(folds))]
        best = (-1.0, 0.0, 0)
        for number, gram in enumerate(self.grams):
            K = gram[np.ix_(rows, rows)].astype(np.float64)
            right = np.mean([_accuracies(K, y, train, test) for train, test in splits], axis=0)
            for accuracy, C in zip(right.round(12).tolist(), C_GRID, strict=True):
                best = max(best, (accuracy, C, -number))
        self.gram_, self.parameter_, self.rows_ = -best[2], {"C": best[1]}, rows
        K = self.grams[self.gram_][np.ix_(rows, rows)].astype(np.float64)
        self.machine_ = _Constant(y) if len(self.classes_) < 2 else _svm(best[1]).fit(K, y)
        return self

    def _against_training(self, rows: np.ndarray) -> np.ndarray:
        return self.grams[self.gram_][np.ix_(rows, self.rows_)].astype(np.float64)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return the class of each graph."""
        return self.machine_.predict(self._against_training(rows))

    def decision_function(self, rows: np.ndarray) -> np.ndarray:
        """Return decision values of scikit-learn's SVC."""
        return self.machine_.decision_function(self._against_training(rows))


def _svm(C: float) -> SVC:
    return SVC(C=C, kernel="precomputed", cache_size=500)


class _Constant:
    """Predicts the only class that there is."""

    def __init__(self, y: np.ndarray) -> None:
        self.value = y[0]

    def predict(self, K: np.ndarray) -> np.ndarray:
        return np.full(len(K), self.value)

    def decision_function(self, K: np.ndarray) -> np.ndarray:
        return np.zeros(len(K))


def _accuracies(K: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> list[float]:
    """Return the accuracy for each C; one that no coefficient reaches changes nothing."""
    inner, rows = K[np.ix_(train, train)], K[np.ix_(test, train)]
    scores: list[float] = []
    for C in C_GRID:
        if len(np.unique(y[train])) < 2:
            scores.append(float(np.mean(y[test] == y[train][0])))
            break
        machine = _svm(C).fit(inner, y[train])
        scores.append(float(np.mean(machine.predict(rows) == y[test])))
        if np.abs(machine.dual_coef_).max() < C:
            break
    return scores + scores[-1:] * (len(C_GRID) - len(scores))


class ChosenRidge(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Kernel ridge regression; Gram matrix and alpha by leave-one-out errors in closed form.

    ``fit`` and ``predict`` take positions of graphs.
    """

    def __init__(self, grams: list[np.ndarray], rng: np.random.Generator) -> None:
        self.grams = grams
        self.rng = rng

    def fit(self, rows: np.ndarray, y: np.ndarray) -> ChosenRidge:
        """Fit with one eigendecomposition for each matrix."""
        self.mean_, self.rows_ = float(np.mean(y)), rows
        best = np.inf
        for number, gram in enumerate(self.grams):
            K = gram[np.ix_(rows, rows)].astype(np.float64)
            values, vectors = np.linalg.eigh(K)
            turned = vectors.T @ (y - self.mean_)
            for alpha in ALPHAS:
                inverse = 1.0 / (np.maximum(values, 0.0) + alpha)
                weights = vectors @ (inverse * turned)
                error = float(np.mean((weights / ((vectors**2) @ inverse)) ** 2))
                if error < best:
                    best, self.weights_ = error, weights
                    self.gram_, self.parameter_ = number, {"alpha": alpha}
        return self

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return the value of each graph."""
        return self.grams[self.gram_][np.ix_(rows, self.rows_)] @ self.weights_ + self.mean_
