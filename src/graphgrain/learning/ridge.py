"""Kernel ridge regression: one decomposition for all alpha, held-out errors in closed form.

With A = K + alpha I (rows scaled by the roots of their weights) and an intercept, the errors of a
model trained without some graphs follow from the whole solution: they solve ``B[t, t] e = c[t]``,
where c are the coefficients, ``B = A^-1 - u u' / (1' u)`` and ``u = A^-1 1``. For single graphs
that is ``c_i / B_ii``.

The same model is the mean of a Gaussian process with noise; :class:`Posterior` gives its variance,
:class:`SparsePosterior` that of models trained on features, without a matrix of all graphs.

Classes are learned as numbers, -1 and 1 for each (Rifkin, Klautau: In Defense of One-Vs-All
Classification. Journal of Machine Learning Research 5, 2004). :func:`fit_with_folds` needs nothing
but products with the matrix, and so goes as far as one of single precision fits into memory.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

#: Beyond this many times the spread of the residuals an error counts linearly with "huber".
BEND = 1.345
#: How often "huber" weighs its residuals anew.
ROUNDS = 5
#: What the diagonal of the matrix of landmarks is raised by, relative to its mean.
JITTER = 1e-8
#: Steps of conjugate gradients at most, and the part of a residual that is left, in double and in
#: single precision.
MOST_STEPS = 1000
LEFT = {8: 1e-8, 4: 1e-4}


@dataclass(frozen=True)
class Ridge:
    """Ridge regression on kernel matrices for a grid of alpha.

    Attributes
    ----------
    grid : sequence of float, ascending
    loss : {"squared", "huber"}
    """

    grid: Sequence[float]
    loss: str = "squared"

    def held_out(
        self,
        K: np.ndarray,
        targets: np.ndarray,
        folds: np.ndarray,
        weights: np.ndarray,
        n_jobs: int | None = None,
    ) -> np.ndarray:
        """What models say of graphs that they were not trained on, (alphas, graphs, outputs).

        ``folds`` has the fold of each graph; each is predicted by a model of all others.
        """
        problem = _Problem(K, targets, weights)
        if self.loss == "huber":
            middle = self.grid[len(self.grid) // 2]
            weights = weights * robust_weights(problem, targets, middle)
            problem = _Problem(K, targets, weights)
        members = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        result = np.empty((len(self.grid), *targets.shape))
        for place, alpha in enumerate(self.grid):
            coefficients, _, ones = problem.solve(alpha)
            for test in members:
                errors = problem.errors(test, alpha, coefficients, ones)
                result[place, test] = targets[test] - errors
        return result

    def fit(
        self, K: np.ndarray, targets: np.ndarray, alpha: float, weights: np.ndarray
    ) -> Posterior:
        """The process whose mean is the model."""
        if self.loss == "huber":
            weights = weights * robust_weights(_Problem(K, targets, weights), targets, alpha)
        return Posterior(K, alpha, weights)


class Posterior:
    """The Gaussian process whose mean is the ridge model; the matrix is factored once.

    Parameters
    ----------
    K : array of shape (graphs, graphs)
    alpha : float
        Noise relative to the kernel.
    weights : array
        The noise of a graph is alpha over its weight.
    """

    def __init__(self, K: np.ndarray, alpha: float, weights: np.ndarray) -> None:
        from scipy.linalg import LinAlgError, cho_factor

        self.weights, self.noise = weights, alpha / weights
        jitter = 0.0
        while True:  # rounding may leave the smallest eigenvalues below zero
            matrix = K.astype(np.float64)
            matrix[np.diag_indices_from(matrix)] += self.noise + jitter
            try:
                self.factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
                break
            except LinAlgError:
                trace = float(np.trace(K)) / max(len(K), 1)
                jitter = 10 * jitter if jitter else 1e-10 * max(trace, 1e-300)
        self.ones = self._solved(np.ones(len(K)))
        self.total = float(self.ones.sum())

    def _solved(self, right: np.ndarray) -> np.ndarray:
        from scipy.linalg import cho_solve

        solved: np.ndarray = cho_solve(self.factor, right, check_finite=False)
        return solved

    def solve(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (outputs, graphs) and intercepts for targets (graphs, outputs)."""
        own = self._solved(targets)
        intercepts = own.sum(axis=0) / self.total
        return (own - np.outer(self.ones, intercepts)).T, intercepts

    def held_out_factors(self) -> np.ndarray:
        """B_ii for each training graph: its held-out error is its coefficient over this."""
        from scipy.linalg import lapack

        inverse, _ = lapack.dpotri(self.factor[0], lower=True)
        return np.diagonal(inverse) - self.ones**2 / self.total

    def influence(self, K: np.ndarray) -> np.ndarray:
        """A^-1 k(x) for each row k(x) of K: how much each training graph takes part in x."""
        return self._solved(K.T).T

    def shares(self, K: np.ndarray, influence: np.ndarray) -> np.ndarray:
        """What the value of a new graph is a sum of: a share of the target of each training graph.

        A model without a training graph differs from the whole one by the share of that graph
        times its held-out error.
        """
        return influence + np.outer(1.0 - K @ self.ones, self.ones / self.total)

    def variance(self, K: np.ndarray, own: np.ndarray, influence: np.ndarray) -> np.ndarray:
        """Variance of new graphs in units of the kernel, without noise.

        ``K`` are their similarities to the training graphs (rows), ``own`` those to themselves,
        ``influence`` what :meth:`influence` gives for K. The last part is that of the intercept.
        """
        explained = np.einsum("ij,ij->i", K, influence)
        rest = (1.0 - K @ self.ones) ** 2 / self.total
        return np.maximum(own - explained + rest, 0.0)


def likeliest_noise(
    errors: np.ndarray, variances: np.ndarray, weights: np.ndarray
) -> tuple[float, float]:
    """Noise and scale of a process with the largest leave-one-out density.

    Held-out errors have the variance ``scale * (variances + noise / weights)``. The ridge itself
    may want less noise than targets have: graphs that look the same, measured differently.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.ridge import likeliest_noise
    >>> rng = np.random.default_rng(0)
    >>> variances = rng.random(2000)
    >>> errors = rng.normal(0, np.sqrt(4 * (variances + 0.3)))
    >>> noise, scale = likeliest_noise(errors, variances, np.ones(2000))
    >>> round(noise, 1), round(scale, 1)
    (0.3, 4.0)
    """
    from scipy.optimize import minimize_scalar

    middle = max(float(np.average(variances, weights=weights)), 1e-12)

    def parts(power: float) -> tuple[np.ndarray, float]:
        total = variances + middle * 10.0**power / weights
        return total, float(np.average(errors**2 / total, weights=weights))

    def length(power: float) -> float:
        total, scale = parts(power)
        return float(np.log(max(scale, 1e-300)) + np.average(np.log(total), weights=weights))

    powers = np.linspace(-6, 3, 37)  # there may be more than one valley
    near = powers[int(np.argmin([length(power) for power in powers]))]
    best = minimize_scalar(length, bounds=(near - 0.25, near + 0.25), method="bounded").x
    return middle * 10.0 ** float(best), parts(best)[1]


class SparsePosterior:
    """The Gaussian process through landmarks, for more training graphs than a matrix can hold.

    With L the kernel matrix of the landmarks (U its Cholesky factor), k(x) the similarities of a
    graph to them, z = U^-1 k, and S the sum of z z' over all training graphs, the variance is
    ``k(x, x) - z' z + z' (I + S / alpha)^-1 z``: what the landmarks do not tell of x, and what
    training has left of the rest (Quinonero-Candela and Rasmussen, Journal of Machine Learning
    Research 6, 2005: the deterministic training conditional). If all training graphs are
    landmarks, it is the exact one.

    Parameters
    ----------
    inverse : array of shape (landmarks, landmarks)
        ``L^-1 - (L + k k' / alpha summed)^-1``: the variance is ``k(x, x) - k' inverse k``.
    """

    def __init__(self, inverse: np.ndarray) -> None:
        self.inverse = inverse

    @classmethod
    def fit(
        cls,
        L: np.ndarray,
        blocks: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]],
        alpha: float,
    ) -> tuple[SparsePosterior, np.ndarray]:
        """The process, and the held-out variance of each training graph, without noise.

        ``blocks`` gives for some training graphs at a time their similarities to the landmarks
        (rows), to themselves, and their weights.
        """
        from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

        L = L + np.eye(len(L)) * (JITTER * float(np.trace(L)) / len(L))
        root = cholesky(L, lower=True)
        total = np.eye(len(L))
        kept = []
        for K, own, weights in blocks:
            z = solve_triangular(root, K.T, lower=True).T
            total += (z.T * (weights / alpha)) @ z
            kept.append((z.astype(np.float32), own, weights))
        factor = cho_factor(total, lower=True)
        held_out = []
        for z, own, weights in kept:
            left = np.einsum("ij,ij->i", z, cho_solve(factor, z.T.astype(np.float64)).T)
            # without the graph itself, by the formula of Sherman and Morrison
            without = left / np.maximum(1.0 - left * weights / alpha, 1e-6)
            held_out.append(np.maximum(own - (z**2).sum(axis=1), 0.0) + without)
        inner = np.eye(len(L)) - cho_solve(factor, np.eye(len(L)))
        half = solve_triangular(root, inner, lower=True, trans="T")
        inverse = solve_triangular(root, half.T, lower=True, trans="T")
        return cls((inverse + inverse.T) / 2), np.concatenate(held_out)

    def influence(self, K: np.ndarray) -> np.ndarray:
        """How much each landmark takes part in graphs with these similarities (rows)."""
        return K @ self.inverse

    def variance(self, K: np.ndarray, own: np.ndarray, influence: np.ndarray) -> np.ndarray:
        """Variance of new graphs in units of the kernel, without noise."""
        return np.maximum(own - np.einsum("ij,ij->i", K, influence), 0.0)


def robust_weights(problem: _Problem, targets: np.ndarray, alpha: float) -> np.ndarray:
    """Weights that let large held-out errors count linearly, by iteration."""
    weights = np.ones(len(targets))
    for _ in range(ROUNDS):
        coefficients, _, ones = problem.solve(alpha)
        inverse = ((problem.vectors**2) / (problem.values + alpha)).sum(axis=1)
        diagonal = inverse - ones[:, 0] ** 2 / float((problem.roots * ones).sum())
        errors = np.abs(coefficients / diagonal[:, np.newaxis] / problem.roots).max(axis=1)
        spread = max(1.4826 * float(np.median(errors)), 1e-12)
        weights = np.minimum(1.0, BEND * spread / np.maximum(errors, 1e-300))
        problem = _Problem(problem.K, targets, problem.weights * weights)
    return weights


class _Problem:
    """A kernel matrix with targets, decomposed; rows are scaled by the roots of their weights."""

    def __init__(self, K: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> None:
        from scipy.linalg import eigh

        self.K, self.weights = K, weights
        roots = np.sqrt(weights)
        plain = bool((weights == 1.0).all())
        matrix = K.astype(np.float64) if plain else K * np.outer(roots, roots)
        values, self.vectors = eigh(matrix, driver="evd", check_finite=False, overwrite_a=True)
        self.values = np.maximum(values, 0.0)
        self.roots = roots[:, np.newaxis]
        self.targets = self.vectors.T @ (self.roots * targets)
        self.ones = self.vectors.T @ self.roots

    def solve(self, alpha: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coefficients (of scaled rows), intercepts, and u."""
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
        solved: np.ndarray = solve(block, coefficients[test], assume_a="pos", check_finite=False)
        return solved / self.roots[test]


def fit_with_folds(
    K: np.ndarray, targets: np.ndarray, alpha: float, weights: np.ndarray, folds: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The model of all graphs, and what models without each fold say of it.

    All of them are solved at once, by conjugate gradients: each step is one product with K, which
    is neither copied nor factored.

    Returns
    -------
    coefficients : array of shape (outputs, graphs)
    intercepts : array of shape (outputs,)
    held_out : array of shape (graphs, outputs)

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.ridge import fit_with_folds
    >>> K, y = np.eye(4) + 1, np.array([[1.0], [1.0], [-1.0], [-1.0]])
    >>> coefficients, intercepts, held_out = fit_with_folds(K, y, 1.0, np.ones(4), np.arange(4))
    >>> coefficients.round(3).tolist(), held_out.round(3).ravel().tolist()
    ([[0.5, 0.5, -0.5, -0.5]], [-0.333, -0.333, 0.333, 0.333])
    """
    graphs, outputs = targets.shape
    numbers = np.unique(folds)
    roots = np.sqrt(weights)[:, np.newaxis]
    # By model: targets and a column of ones, in the graphs that it is trained on.
    trained = np.column_stack([np.ones(graphs, dtype=bool), folds[:, np.newaxis] != numbers])
    masks = np.repeat(trained, outputs + 1, axis=1)
    residual = np.tile(roots * np.column_stack([targets, np.ones(graphs)]), len(numbers) + 1)
    residual *= masks
    solved, direction = np.zeros(residual.shape), residual.copy()
    squares = (residual**2).sum(axis=0)
    enough = LEFT[K.dtype.itemsize] ** 2 * squares
    for _ in range(MOST_STEPS):
        moved = roots * (K @ (roots * direction).astype(K.dtype)) * masks + alpha * direction
        curvature = (direction * moved).sum(axis=0)
        step = squares / np.where(curvature > 0, curvature, 1.0)
        solved += step * direction
        residual -= step * moved
        before, squares = squares, (residual**2).sum(axis=0)
        if (squares <= enough).all():
            break
        direction = residual + squares / np.where(before > 0, before, 1.0) * direction
    else:
        warnings.warn(
            f"Ridge regression with alpha={alpha:g} was stopped after {MOST_STEPS:,} steps, close "
            "to its solution but not within the tolerance. A larger alpha is solved exactly.",
            ConvergenceWarning,
            stacklevel=2,
        )
    found = (roots * solved).reshape(graphs, len(numbers) + 1, outputs + 1)
    own, ones = found[:, :, :-1], found[:, :, -1:]
    intercepts = own.sum(axis=0) / ones.sum(axis=0)  # coefficients add up to zero
    coefficients = own - ones * intercepts
    held_out = np.empty(targets.shape)
    for place, fold in enumerate(numbers):
        rows = np.flatnonzero(folds == fold)
        mine = coefficients[:, place + 1].astype(K.dtype)
        held_out[rows] = K[rows] @ mine + intercepts[place + 1]
    return coefficients[:, 0].T, intercepts[0], held_out


def sparse_ridge(
    matrix: object, targets: np.ndarray, alpha: float, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Ridge regression on features themselves: coefficients (outputs, columns), intercepts."""
    from sklearn.linear_model import Ridge as SparseRidge

    model = SparseRidge(alpha, solver="sparse_cg", tol=1e-6)
    model.fit(matrix, targets, sample_weight=weights)
    intercept = np.broadcast_to(model.intercept_, targets.shape[1])
    return np.atleast_2d(model.coef_), np.array(intercept, dtype=np.float64)
