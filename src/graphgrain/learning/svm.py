"""Support vector machines on precomputed kernel matrices, for a whole grid of C at once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..core.support_vectors import cut, train
from ..core.threads import run
from .folds import Split

#: How exactly machines are trained; the same as scikit-learn's.
TOLERANCE = 1e-3
MOST_STEPS = 10_000_000
#: Steps for each graph of machines that only judge: what more of them change, with a C that is far
#: too large for a kernel, cannot be told from chance.
JUDGED_STEPS = 100
#: How large the constant column is that stands for the intercept of liblinear: the larger, the
#: freer.
INTERCEPT = 3.0
#: Passes of liblinear over the training graphs.
MOST_PASSES = 300


@dataclass(frozen=True)
class SvmModel:
    """A trained support vector machine.

    Attributes
    ----------
    known : tuple of int
        The classes of the training graphs, ascending.
    n_classes : int
        Classes are numbers from 0 to ``n_classes - 1``.
    coefficients, intercepts : array
        One line for each pair of known classes, of shape (pairs, training graphs); positive
        values are for the second.
    """

    known: tuple[int, ...]
    n_classes: int
    coefficients: np.ndarray
    intercepts: np.ndarray

    def mixed(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and intercepts of classes: the mean margin of each against the others.

        A row for each class; for two classes the second alone.
        """
        mixing = np.zeros((self.n_classes, len(self.intercepts)))
        for column, (first, second) in enumerate(combinations(self.known, 2)):
            mixing[[first, second], column] = [-1.0, 1.0]
        mixing = mixing[1:] if self.n_classes == 2 else mixing / (self.n_classes - 1)
        bias = mixing @ self.intercepts
        missing = np.setdiff1d(np.arange(self.n_classes), self.known)
        if self.n_classes == 2 and len(missing):
            bias = np.array([1.0 if self.known[0] else -1.0])
        elif len(missing):  # a class that was not among the training graphs comes after all others
            bias[missing] = -float(self.n_classes)
        return (mixing @ self.coefficients).reshape(-1, self.coefficients.shape[1]), bias

    def answers(self, outputs: np.ndarray) -> np.ndarray:
        """From the values of pairs: one per graph for two classes, else one per graph and class.

        Among several classes it is the number of pairs that a class wins; between classes that
        win equally many, the sum of the decision values decides.
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
        # A class that was not among the training graphs comes after all others.
        unknown = np.setdiff1d(np.arange(self.n_classes), self.known)
        result[:, unknown] = result.min(initial=0.0) - 1.0
        return result

    def scores(self, K: np.ndarray) -> np.ndarray:
        """The same for rows of a kernel matrix."""
        return self.answers(K @ self.coefficients.T + self.intercepts)


@dataclass(frozen=True)
class KernelSvm:
    """C-SVMs for an ascending grid of C; several classes are told apart pair by pair."""

    grid: Sequence[float]
    n_classes: int
    most_steps: int = MOST_STEPS

    def fit(
        self,
        K: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray | None = None,
        warn: bool = True,
    ) -> list[SvmModel]:
        """One machine per C; a graph's C is multiplied by its weight.

        Models that are the same object are the same solution.
        """
        known = tuple(np.unique(targets).tolist())
        pairs = list(combinations(known, 2))
        shape = (len(self.grid), len(pairs), len(targets))
        coefficients, intercepts = np.zeros(shape), np.zeros(shape[:2])
        solutions = 1
        K = np.ascontiguousarray(K, dtype=np.float32)
        grid = np.array(self.grid, dtype=np.float64)
        weights = np.ones(len(targets)) if weights is None else weights
        for number, (first, second) in enumerate(pairs):
            rows = np.flatnonzero((targets == first) | (targets == second))
            signs = np.where(targets[rows] == second, 1.0, -1.0)
            square = K if len(rows) == len(K) else part(K, rows, rows, np.float32)
            found = train(square, signs, weights[rows], grid, TOLERANCE, self.most_steps)
            coefficients[:, number, rows], intercepts[:, number], solved, converged = found
            solutions = max(solutions, solved)
            if warn and not converged:
                warnings.warn(
                    f"A support vector machine with C={float(grid[-1]):g} was stopped after "
                    f"{MOST_STEPS:,} steps, close to its solution but not within the tolerance. A "
                    "grid of C without such large values is solved exactly.",
                    ConvergenceWarning,
                    stacklevel=2,
                )
        models = [
            SvmModel(known, self.n_classes, coefficients[place], intercepts[place])
            for place in range(solutions)
        ]
        return models + models[-1:] * (len(self.grid) - solutions)


def part(
    gram: np.ndarray, rows: np.ndarray, columns: np.ndarray, dtype: type = np.float64
) -> np.ndarray:
    """The part of a kernel matrix with these rows and columns."""
    return cut(gram, rows, columns, np.empty((len(rows), len(columns)), dtype))


def split_answers(
    svm: KernelSvm,
    gram: np.ndarray,
    targets: np.ndarray,
    split: Split,
    weights: np.ndarray | None = None,
) -> tuple[list[np.ndarray], int]:
    """What the machine of each C answers on the test part of one split.

    Returned with the number of different machines that were trained for it.
    """
    train_rows, test = split
    models = svm.fit(
        part(gram, train_rows, train_rows, np.float32),
        targets[train_rows],
        None if weights is None else weights[train_rows],
        warn=False,
    )
    K = part(gram, test, train_rows)
    different = list({id(model): model for model in models}.values())
    # one product for all machines: the matrix is read once
    outputs = K @ np.concatenate([model.coefficients for model in different]).T
    bounds = np.cumsum([len(model.coefficients) for model in different])[:-1]
    answers = {
        id(model): model.answers(values + model.intercepts)
        for model, values in zip(different, np.split(outputs, bounds, axis=1), strict=True)
    }
    return [answers[id(model)] for model in models], len(different)


@dataclass(frozen=True)
class Svm:
    """Support vector machines whose class scores are linear, for an ascending grid of C.

    Attributes
    ----------
    grid : sequence of float
    n_classes : int
    scheme : {"pairs", "rest"}
        For several classes: the margins of each class against the others, pair by pair, added up;
        or a machine for each class against the rest.
    """

    grid: Sequence[float]
    n_classes: int
    scheme: str = "pairs"

    @property
    def n_outputs(self) -> int:
        """One score for two classes, else one for each."""
        return 1 if self.n_classes == 2 else self.n_classes

    def machines(
        self, K: np.ndarray, codes: np.ndarray, weights: np.ndarray, final: bool = False
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Coefficients (outputs, graphs) and intercepts, for each C; to judge with, or final."""
        steps = MOST_STEPS if final else JUDGED_STEPS * len(codes)
        if self.n_classes == 2 or self.scheme == "pairs":
            svm = KernelSvm(self.grid, self.n_classes, steps)
            models = svm.fit(K, codes, weights, warn=final)
            return [model.mixed() for model in models]
        svm = KernelSvm(self.grid, 2, steps)
        rest = [
            [model.mixed() for model in svm.fit(K, (codes == code).astype(int), weights, final)]
            for code in range(self.n_classes)
        ]
        return [
            (np.vstack([own for own, _ in found]), np.concatenate([bias for _, bias in found]))
            for found in zip(*rest, strict=True)
        ]

    def held_out(
        self,
        K: np.ndarray,
        codes: np.ndarray,
        folds: np.ndarray,
        weights: np.ndarray,
        n_jobs: int | None = None,
    ) -> np.ndarray:
        """Scores of graphs that machines were not trained on, (grid, graphs, outputs)."""
        result = np.empty((len(self.grid), len(codes), self.n_outputs))
        numbers = np.unique(folds)

        def one_fold(begin: int, end: int) -> None:
            test = np.flatnonzero(folds == numbers[begin])
            rest = np.flatnonzero(folds != numbers[begin])
            found = self.machines(part(K, rest, rest, np.float32), codes[rest], weights[rest])
            rows = part(K, test, rest)
            scores = rows @ np.concatenate([coefficients for coefficients, _ in found]).T
            for place, (_, intercept) in enumerate(found):
                own = slice(place * self.n_outputs, (place + 1) * self.n_outputs)
                result[place, test] = scores[:, own] + intercept

        run(one_fold, [(n, n + 1) for n in range(len(numbers))], n_jobs)
        return result

    def fit(
        self, K: np.ndarray, codes: np.ndarray, C: float, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (outputs, graphs) and intercepts."""
        [found] = replace(self, grid=[C]).machines(K, codes, weights, final=True)
        return found

    def fit_features(
        self, matrix: object, codes: np.ndarray, C: float, weights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same on a sparse matrix of features: weights (outputs, columns), intercepts."""
        positive = [1] if self.n_classes == 2 else range(self.n_classes)
        found = [_linear_svm(matrix, codes == code, C, weights) for code in positive]
        return np.array([one[0] for one in found]), np.array([one[1] for one in found])


def _linear_svm(
    matrix: object, positive: np.ndarray, C: float, weights: np.ndarray
) -> tuple[np.ndarray, float]:
    """A support vector machine on features, by liblinear."""
    from sklearn.svm import LinearSVC

    svm = LinearSVC(
        loss="hinge", C=C, intercept_scaling=INTERCEPT, max_iter=MOST_PASSES, random_state=0
    )
    with warnings.catch_warnings():
        # What the last passes could still improve is far below what validation can see.
        warnings.simplefilter("ignore", ConvergenceWarning)
        svm.fit(matrix, positive, sample_weight=weights)
    return svm.coef_[0], float(svm.intercept_[0])


def classes_of(scores: np.ndarray) -> np.ndarray:
    """The classes of decision values: one value per row for two classes."""
    return (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
