"""Kernel ridge regression: one decomposition for all alpha, held-out errors in closed form.

Let A = K + alpha I, with rows scaled by the square roots of their weights. With an intercept, the
errors e of a model trained without the graphs t follow from the full solution: they solve
``B[t, t] e = c[t]``, where c are the coefficients, ``B = A^-1 - u u' / (1' u)`` and
``u = A^-1 1``. For a single graph i this is ``c_i / B_ii``.

The same model is the mean of a Gaussian process with noise. :class:`Posterior` computes its
variance, and :class:`SparsePosterior` approximates it without a matrix of all graphs, for models
trained on features.

Classification uses targets of -1 and 1 for each class (Rifkin, Klautau: In Defense of One-Vs-All
Classification. Journal of Machine Learning Research 5, 2004). :func:`fit_with_folds` only needs
products with the kernel matrix, which may have single precision and is not copied.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

#: Threshold of the Huber loss in units of the spread of the residuals.
BEND = 1.345
#: Number of reweighting iterations for the Huber loss.
ROUNDS = 5
#: Added to the diagonal of the landmark matrix, relative to the mean of the diagonal.
JITTER = 1e-8
#: Conjugate gradients: maximum number of steps, and relative tolerance of the residual by the item
#: size of the matrix (double and single precision).
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
    ) -> np.ndarray:
        """Return cross-validated predictions (alphas, graphs, outputs).

        ``folds`` has the fold number of each graph; each fold is predicted by a model of all
        others.
        """
        problem = _Problem(K, targets, weights)
        if self.loss == "huber":
            middle = self.grid[len(self.grid) // 2]
            weights = weights * robust_weights(problem, targets, middle)
            problem = _Problem(K, targets, weights)
        members = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
        vectors = [problem.vectors[test] for test in members]  # copied once for all alpha
        result = np.empty((len(self.grid), *targets.shape))
        for place, alpha in enumerate(self.grid):
            coefficients, _, ones = problem.solve(alpha)
            for test, own in zip(members, vectors, strict=True):
                errors = problem.errors(test, own, alpha, coefficients, ones)
                result[place, test] = targets[test] - errors
        return result

    def fit(
        self, K: np.ndarray, targets: np.ndarray, alpha: float, weights: np.ndarray
    ) -> Posterior:
        """Return the Gaussian process whose mean is the model."""
        if self.loss == "huber":
            weights = weights * robust_weights(_Problem(K, targets, weights), targets, alpha)
        return Posterior(K, alpha, weights)


class Posterior:
    """Gaussian process whose mean is the ridge model; the matrix is factored once.

    Parameters
    ----------
    K : array of shape (graphs, graphs)
    alpha : float
        Noise variance in units of the kernel.
    weights : array
        Weights of the graphs; the noise variance of a graph is alpha divided by its weight.
    """

    def __init__(self, K: np.ndarray, alpha: float, weights: np.ndarray) -> None:
        from scipy.linalg import LinAlgError, cho_factor

        self.weights, self.noise = weights, alpha / weights
        jitter = 0.0
        while True:  # the smallest eigenvalues may be negative due to rounding
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

        return cho_solve(self.factor, right, check_finite=False)

    def solve(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients (outputs, graphs) and intercepts for targets (graphs, outputs)."""
        own = self._solved(targets)
        intercepts = own.sum(axis=0) / self.total
        return (own - np.outer(self.ones, intercepts)).T, intercepts

    def held_out_factors(self) -> np.ndarray:
        """Return B_ii of each training graph; held-out errors are coefficients divided by it."""
        from scipy.linalg import lapack

        inverse, _ = lapack.dpotri(self.factor[0], lower=True)
        return np.diagonal(inverse) - self.ones**2 / self.total

    def influence(self, K: np.ndarray) -> np.ndarray:
        """Return A^-1 k(x) for each row k(x) of K."""
        return self._solved(K.T).T

    def shares(self, K: np.ndarray, influence: np.ndarray) -> np.ndarray:
        """Return the weights of the training targets in the predictions for new graphs.

        Leaving out a training graph changes a prediction by its weight times its held-out error.
        """
        return influence + np.outer(1.0 - K @ self.ones, self.ones / self.total)

    def variance(self, K: np.ndarray, own: np.ndarray, influence: np.ndarray) -> np.ndarray:
        """Return the variance of new graphs in units of the kernel, without noise.

        ``K`` has their similarities to the training graphs (in rows), ``own`` those to themselves,
        and ``influence`` is the result of :meth:`influence` for K. ``rest`` is the variance of the
        intercept.
        """
        explained = np.einsum("ij,ij->i", K, influence)
        rest = (1.0 - K @ self.ones) ** 2 / self.total
        return np.maximum(own - explained + rest, 0.0)


def likeliest_noise(
    errors: np.ndarray, variances: np.ndarray, weights: np.ndarray
) -> tuple[float, float]:
    """Return noise and scale of a process that maximise the leave-one-out likelihood.

    Held-out errors have the variance ``scale * (variances + noise / weights)``. The alpha of the
    ridge regression may underestimate the noise, for example of repeated measurements of graphs
    with the same features.

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

    powers = np.linspace(-6, 3, 37)  # there may be several local minima
    near = powers[int(np.argmin([length(power) for power in powers]))]
    best = minimize_scalar(length, bounds=(near - 0.25, near + 0.25), method="bounded").x
    return middle * 10.0 ** float(best), parts(best)[1]


class SparsePosterior:
    """Gaussian process with landmarks, for training sets too large for a kernel matrix.

    Let L be the kernel matrix of the landmarks and U its Cholesky factor, k(x) the similarities of
    a graph to the landmarks, z = U^-1 k, and S the sum of z z' over all training graphs. The
    variance is ``k(x, x) - z' z + z' (I + S / alpha)^-1 z``: the part of the prior variance not
    explained by the landmarks, plus the posterior variance of the rest (deterministic training
    conditional; Quinonero-Candela and Rasmussen, Journal of Machine Learning Research 6, 2005). It
    is exact if all training graphs are landmarks.

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
        """Return the process and the held-out variance of each training graph, without noise.

        ``blocks`` yields for blocks of training graphs their similarities to the landmarks (in
        rows), their similarities to themselves, and their weights.
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
            # without the graph itself, by the Sherman-Morrison formula
            without = left / np.maximum(1.0 - left * weights / alpha, 1e-6)
            held_out.append(np.maximum(own - (z**2).sum(axis=1), 0.0) + without)
        inner = np.eye(len(L)) - cho_solve(factor, np.eye(len(L)))
        half = solve_triangular(root, inner, lower=True, trans="T")
        inverse = solve_triangular(root, half.T, lower=True, trans="T")
        return cls((inverse + inverse.T) / 2), np.concatenate(held_out)

    def influence(self, K: np.ndarray) -> np.ndarray:
        """Return the product of similarities (in rows) and the inverse matrix."""
        return K @ self.inverse

    def variance(self, K: np.ndarray, own: np.ndarray, influence: np.ndarray) -> np.ndarray:
        """Return the variance of new graphs in units of the kernel, without noise."""
        return np.maximum(own - np.einsum("ij,ij->i", K, influence), 0.0)


def robust_weights(problem: _Problem, targets: np.ndarray, alpha: float) -> np.ndarray:
    """Return Huber weights of held-out errors, by iterative reweighting."""
    given = problem.weights
    for _ in range(ROUNDS):
        coefficients, _, ones = problem.solve(alpha)
        inverse = ((problem.vectors**2) / (problem.values + alpha)).sum(axis=1)
        diagonal = inverse - ones[:, 0] ** 2 / float((problem.roots * ones).sum())
        errors = np.abs(coefficients / diagonal[:, np.newaxis] / problem.roots).max(axis=1)
        spread = max(1.4826 * float(np.median(errors)), 1e-12)
        weights = np.minimum(1.0, BEND * spread / np.maximum(errors, 1e-300))
        problem = _Problem(problem.K, targets, given * weights)
    return weights


class _Problem:
    """Eigendecomposed kernel matrix with targets, rows scaled by the roots of their weights."""

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
        """Return coefficients (of scaled rows), intercepts, and u."""
        scale = (self.values + alpha)[:, np.newaxis]
        ones = self.vectors @ (self.ones / scale)
        total = float((self.ones**2 / scale).sum())
        intercepts = (self.ones / scale * self.targets).sum(axis=0) / total
        coefficients = self.vectors @ ((self.targets - self.ones * intercepts) / scale)
        return coefficients, intercepts, ones

    def errors(
        self,
        test: np.ndarray,
        own: np.ndarray,
        alpha: float,
        coefficients: np.ndarray,
        ones: np.ndarray,
    ) -> np.ndarray:
        """Return the errors on the test graphs of a model trained without them.

        ``own`` are the rows of the eigenvectors of the test graphs.
        """
        from scipy.linalg import solve

        block = (own / (self.values + alpha)) @ own.T
        block -= ones[test] @ ones[test].T / float((self.roots * ones).sum())
        solved: np.ndarray = solve(block, coefficients[test], assume_a="pos", check_finite=False)
        return solved / self.roots[test]


def fit_with_folds(
    K: np.ndarray, targets: np.ndarray, alpha: float, weights: np.ndarray, folds: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Train on all graphs, and predict each fold by a model trained without it.

    All models are solved at once by conjugate gradients. Each step is one product with K, which is
    neither copied nor factored.

    Returns
    -------
    coefficients : array of shape (outputs, graphs)
    intercepts : array of shape (outputs,)
    held_out : array of shape (graphs, outputs)
    """
    graphs, outputs = targets.shape
    numbers = np.unique(folds)
    roots = np.sqrt(weights)[:, np.newaxis]
    # For each model: the targets and a column of ones, restricted to its training graphs.
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
    intercepts = own.sum(axis=0) / ones.sum(axis=0)  # makes the coefficients sum to zero
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
    """Fit ridge regression to features; return coefficients (outputs, columns) and intercepts."""
    from sklearn.linear_model import Ridge as SparseRidge

    model = SparseRidge(alpha, solver="sparse_cg", tol=1e-6)
    model.fit(matrix, targets, sample_weight=weights)
    intercept = np.broadcast_to(model.intercept_, targets.shape[1])
    return np.atleast_2d(model.coef_), np.array(intercept, dtype=np.float64)
