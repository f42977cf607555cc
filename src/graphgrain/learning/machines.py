"""Learners on precomputed kernel matrices, each for a whole grid of its parameter.

:class:`SupportVectors` classifies: a C-SVM for each C. :class:`Ridge` predicts numbers: kernel
ridge regression for each alpha. A learner's ``fit`` takes the square matrix of the training
graphs and gives one model per value of the grid, at less than the price of so many fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import sklearn

if TYPE_CHECKING:
    from sklearn.svm import SVC

#: Megabytes for kernel columns; enough to hold the matrices of 7,000 graphs in libsvm's form.
CACHE_MEGABYTES = 200
#: Our matrices are finite and our parameters are checked: on small sets checking them again for
#: every machine would take as long as training it.
TRUSTED = {"assume_finite": True, "skip_parameter_validation": True}


class Learner(Protocol):
    """Trains a model for each value of a grid."""

    @property
    def grid(self) -> Sequence[float]: ...

    def fit(self, K: np.ndarray, targets: np.ndarray) -> list[Any]: ...

    def score(self, targets: np.ndarray, predictions: np.ndarray) -> float: ...

    def preferred(self, scores: np.ndarray) -> int: ...


@dataclass(frozen=True)
class Machine:
    """A trained support vector machine; classes are numbers from 0 to ``n_classes - 1``."""

    svm: SVC | None  # None: there was only one class to learn from
    only_class: int
    n_classes: int

    def predict(self, K: np.ndarray) -> np.ndarray:
        """The class of each row."""
        if self.svm is None:
            return np.full(len(K), self.only_class, dtype=np.int64)
        if self.n_classes == 2:
            return (self.scores(K) > 0).astype(np.int64)
        with sklearn.config_context(**TRUSTED):
            return self.svm.predict(K)

    def scores(self, K: np.ndarray) -> np.ndarray:
        """Decision values: one per row for two classes, else one per row and class."""
        if self.svm is None:
            shape = (len(K),) if self.n_classes == 2 else (len(K), self.n_classes)
            return np.zeros(shape)
        if self.n_classes == 2:
            return K[:, self.svm.support_] @ self.svm.dual_coef_[0] + self.svm.intercept_[0]
        with sklearn.config_context(**TRUSTED):
            values = self.svm.decision_function(K)
        known = self.svm.classes_
        if values.ndim == 1:
            values = np.column_stack((-values, values))
        # A class that was not among the training graphs comes after all others.
        result = np.full((len(K), self.n_classes), values.min(initial=0.0) - 1.0)
        result[:, known] = values
        return result


@dataclass(frozen=True)
class SupportVectors:
    """C-SVMs for an ascending grid of C.

    Where no support vector reaches its bound C, the machine solves the problem for every larger
    C too: the bound is the only place where C enters. It then serves for the rest of the grid.
    """

    grid: Sequence[float]
    n_classes: int

    def fit(self, K: np.ndarray, targets: np.ndarray) -> list[Machine]:
        """One machine per C; machines that are the same object are the same solution."""
        if targets.min() == targets.max():
            return [Machine(None, int(targets[0]), self.n_classes)] * len(self.grid)
        from sklearn.svm import SVC  # here: it takes a quarter of a second to import

        machines: list[Machine] = []
        with sklearn.config_context(**TRUSTED):
            for C in self.grid:
                svm = SVC(C=C, kernel="precomputed", cache_size=CACHE_MEGABYTES).fit(K, targets)
                machines.append(Machine(svm, -1, self.n_classes))
                if np.abs(svm.dual_coef_).max(initial=0.0) < C:
                    break
        return machines + machines[-1:] * (len(self.grid) - len(machines))

    def score(self, targets: np.ndarray, predictions: np.ndarray) -> float:
        """Accuracy."""
        return float(np.mean(targets == predictions))

    def preferred(self, scores: np.ndarray) -> int:
        """The best entry of the grid; of equal ones the last, the largest C."""
        return len(scores) - 1 - int(np.argmax(scores[::-1]))


@dataclass(frozen=True)
class RidgeModel:
    """Kernel ridge regression around the mean of the targets."""

    coefficients: np.ndarray
    mean: np.ndarray

    def predict(self, K: np.ndarray) -> np.ndarray:
        """The values of each row."""
        return K @ self.coefficients + self.mean


@dataclass(frozen=True)
class Ridge:
    """Kernel ridge regression for a grid of alpha, all from one eigendecomposition."""

    grid: Sequence[float]

    def fit(self, K: np.ndarray, targets: np.ndarray) -> list[RidgeModel]:
        """One model per alpha."""
        from scipy.linalg import eigh

        mean = targets.mean(axis=0)
        values, vectors = eigh(K)
        rotated = vectors.T @ (targets - mean)
        scale = np.maximum(values, 0.0).reshape(-1, *[1] * (rotated.ndim - 1))
        return [RidgeModel(vectors @ (rotated / (scale + alpha)), mean) for alpha in self.grid]

    def score(self, targets: np.ndarray, predictions: np.ndarray) -> float:
        """Minus the mean squared error, so that larger is better."""
        return -float(np.mean((targets - predictions) ** 2))

    def preferred(self, scores: np.ndarray) -> int:
        """The best entry of the grid; of equal ones the last, the largest alpha."""
        return len(scores) - 1 - int(np.argmax(scores[::-1]))
