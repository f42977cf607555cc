"""Kernel ridge regression, exact at every size that memory holds.

Let A = K + alpha / w on the diagonal, with the weights w of the graphs. With an intercept, the
errors e of a model trained without the graphs t follow from the full solution: they solve
``B[t, t] e = c[t]``, where c are the coefficients, ``B = A^-1 - u u' / (1' u)`` and
``u = A^-1 1``. For a single graph i this is ``c_i / B_ii``. The same model is the mean of a
Gaussian process with noise (:class:`Posterior`).

Above :data:`MOST_DENSE` graphs the system is solved by conjugate gradients on a Gram matrix of 16
bits (:class:`graphgrain.core.triangle.Triangle`), preconditioned by landmarks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..core.triangle import Triangle
from ..errors import GraphgrainWarning

#: Up to this number of graphs, matrices are factored in double precision.
MOST_DENSE = 15_000
#: Number of graphs from which alpha is chosen.
MOST_LEFT_OUT = 1500
#: Values of alpha that are compared: quarters of decades.
GRID = 10.0 ** np.arange(-6, 1.75, 0.25)
#: Conjugate gradients: maximum number of steps, and relative tolerance of the residual.
MOST_STEPS, TOLERANCE = 1000, 1e-8
#: Number of landmarks of the preconditioner.
LANDMARKS = 2000


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
        from scipy.linalg import LinAlgError, cholesky

        self.noise = alpha / weights
        jitter = 0.0
        while True:  # the smallest eigenvalues may be negative due to rounding
            matrix = K.astype(np.float64).T  # column by column, as LAPACK wants it
            matrix[np.diag_indices_from(matrix)] += self.noise + jitter
            try:
                self.factor = cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
                break
            except LinAlgError:
                trace = float(np.trace(K)) / max(len(K), 1)
                jitter = 10 * jitter if jitter else 1e-10 * max(trace, 1e-300)
        self.ones = self.solve(np.ones(len(K)))
        self.total = float(self.ones.sum())

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return A^-1 times the columns of ``right``."""
        from scipy.linalg import cho_solve

        return cho_solve((self.factor, True), right, check_finite=False)

    def fit(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients (outputs, graphs) and intercepts for targets (graphs, outputs)."""
        solved = self.solve(targets)
        intercepts = solved.sum(axis=0) / self.total
        return (solved - np.outer(self.ones, intercepts)).T, intercepts

    def held_out_errors(
        self, coefficients: np.ndarray, groups: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the errors (graphs, outputs) of models without the group of each graph.

        The second array has the variances of these predictions, without noise.
        """
        from scipy.linalg import lapack

        root, _ = lapack.dtrtri(self.factor, lower=True)  # A^-1 is its transpose times itself
        B = np.einsum("ij,ij->j", root, root) - self.ones**2 / self.total
        errors = coefficients.T / B[:, np.newaxis]
        variances = 1 / B - self.noise
        for members in several(groups):
            block = root[:, members].T @ root[:, members]
            block -= np.outer(self.ones[members], self.ones[members] / self.total)
            errors[members] = np.linalg.solve(block, coefficients[:, members].T)
            variances[members] = np.diagonal(np.linalg.inv(block)) - self.noise[members]
        return errors, np.maximum(variances, 0.0)

    def without(
        self, coefficients: np.ndarray, intercepts: np.ndarray, members: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and intercepts of the model without some graphs."""
        columns = self.solve(np.eye(len(self.ones))[:, members])
        columns -= np.outer(self.ones, self.ones[members] / self.total)
        errors = np.linalg.solve(columns[members], coefficients[:, members].T)
        changed = coefficients - (columns @ errors).T
        changed[:, members] = 0.0
        return changed, intercepts - self.ones[members] @ errors / self.total

    def covariance(self, K: np.ndarray, prior: np.ndarray) -> np.ndarray:
        """Return the covariance of new graphs in units of the kernel, without noise.

        ``K`` has their similarities to the training graphs (in rows), ``prior`` those among them.
        """
        rest = 1.0 - K @ self.ones  # the part of the intercept
        return prior - K @ self.solve(K.T) + np.outer(rest, rest) / self.total

    def variance(self, K: np.ndarray, prior: np.ndarray) -> np.ndarray:
        """Return the diagonal of :meth:`covariance`; ``prior`` are similarities to themselves."""
        explained = np.einsum("ij,ij->i", K, self.solve(K.T).T)
        rest = (1.0 - K @ self.ones) ** 2 / self.total
        return np.maximum(prior - explained + rest, 0.0)


def several(groups: np.ndarray) -> Iterable[np.ndarray]:
    """Return the members of each group that has more than one."""
    order = np.argsort(groups, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)
    return [members for members in parts if len(members) > 1]


def best_alpha(
    K: np.ndarray,
    targets: np.ndarray,
    weights: np.ndarray,
    groups: np.ndarray,
    grid: Sequence[float] | np.ndarray = GRID,
    start: float | None = None,
    most: int = MOST_LEFT_OUT,
) -> tuple[float, Posterior]:
    """Return the alpha with the smallest held-out squared error, and the model with it.

    With a ``start`` the grid is descended from the value next to it; otherwise all are compared.
    Of more than ``most`` graphs, a part is compared.
    """
    if len(K) > most:
        part = np.linspace(0, len(K) - 1, most).astype(np.int64)
        few = K[np.ix_(part, part)], targets[part], weights[part], groups[part]
        alpha, _ = best_alpha(*few, grid, start)
        return alpha, Posterior(K, alpha, weights)
    grid = np.sort(np.asarray(grid, dtype=np.float64))
    near = len(grid) - 1 if start is None else int(np.abs(np.log(grid / start)).argmin())
    spread = np.maximum(targets.var(axis=0), 1e-300)
    losses: dict[int, float] = {}
    best: tuple[float, int, Posterior | None] = (np.inf, -1, None)

    def loss(place: int) -> float:
        nonlocal best
        if place not in losses:
            model = Posterior(K, float(grid[place]), weights)
            errors, _ = model.held_out_errors(model.fit(targets)[0], groups)
            losses[place] = float((weights @ (errors**2 / spread)).sum())
            if losses[place] < best[0]:
                best = (losses[place], place, model)
        return losses[place]

    if len(np.unique(groups)) < 2:  # nothing can be left out
        return float(grid[near]), Posterior(K, float(grid[near]), weights)
    if start is None:
        for place in reversed(range(len(grid))):  # of equally good values the largest
            loss(place)
    step = 0 if start is None else 2
    while step:
        around = [place for place in (near, near + step, near - step) if 0 <= place < len(grid)]
        lowest = min(around, key=loss)
        step, near = (step if lowest != near else step // 2), lowest
    _, place, model = best
    assert model is not None
    return float(grid[place]), model


# -------------------------------------------------------------------- conjugate gradients


class Preconditioner:
    """The inverse of the diagonal plus a matrix of low rank, by Woodbury's formula.

    Parameters
    ----------
    rows : array of shape (graphs, landmarks)
        Similarities to the landmarks.
    landmarks : array
        Positions of the landmarks.
    diagonal : array
        Noise of each graph, plus what the landmarks leave unexplained is ignored.
    """

    def __init__(self, rows: np.ndarray, landmarks: np.ndarray, diagonal: np.ndarray) -> None:
        from scipy.linalg import cho_factor, solve_triangular

        among = rows[landmarks].astype(np.float64)
        among[np.diag_indices_from(among)] += 1e-8 * np.trace(among) / len(among)
        root = np.linalg.cholesky(among)
        self.rows = solve_triangular(root, rows.T, lower=True, check_finite=False).T
        self.diagonal = diagonal
        inner = self.rows.T @ (self.rows / diagonal[:, np.newaxis])
        inner[np.diag_indices_from(inner)] += 1.0
        self.factor = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

    def __call__(self, residual: np.ndarray) -> np.ndarray:
        from scipy.linalg import cho_solve

        scaled = residual / self.diagonal[:, np.newaxis]
        inner = cho_solve(self.factor, self.rows.T @ scaled, check_finite=False)
        return scaled - (self.rows @ inner) / self.diagonal[:, np.newaxis]


def conjugate_gradients(
    product: Callable[[np.ndarray], np.ndarray],
    right: np.ndarray,
    precondition: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray | None = None,
) -> tuple[np.ndarray, int]:
    """Solve a positive definite system for the columns of ``right``; return the number of steps."""
    solved = np.zeros_like(right) if start is None else start.copy()
    residual = right - product(solved) if start is not None else right.copy()
    goal = TOLERANCE * np.linalg.norm(right, axis=0)
    changed = precondition(residual)
    direction, size = changed.copy(), (residual * changed).sum(axis=0)
    for step in range(MOST_STEPS):
        active = np.linalg.norm(residual, axis=0) > goal
        if not active.any():
            return solved, step
        moved = product(direction)
        length = (direction * moved).sum(axis=0)
        factor = np.where(active, size / np.where(length > 0, length, 1.0), 0.0)
        solved += factor * direction
        residual -= factor * moved
        changed = precondition(residual)
        new_size = (residual * changed).sum(axis=0)
        direction = changed + np.where(active, new_size / np.where(size > 0, size, 1.0), 0.0) * (
            direction
        )
        size = new_size
    warnings.warn(
        f"Conjugate gradients stopped after {MOST_STEPS:,} steps with a relative residual of "
        f"{float((np.linalg.norm(residual, axis=0) / (goal / TOLERANCE)).max()):.1g}. A larger "
        "alpha needs fewer.",
        GraphgrainWarning,
        stacklevel=2,
    )
    return solved, MOST_STEPS


def solve_large(
    gram: Triangle,
    targets: np.ndarray,
    noise: np.ndarray,
    landmarks: np.ndarray,
    rows: np.ndarray,
    n_jobs: int | None,
    start: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fit targets (graphs, outputs) with an intercept; rows with infinite noise are left out.

    Returns coefficients (outputs, graphs), intercepts, and the solution to start another one from.
    """
    used = np.isfinite(noise)
    mask = used[:, np.newaxis].astype(np.float64)
    diagonal = np.where(used, noise, 1.0)
    chosen = np.flatnonzero(used[landmarks])
    precondition = Preconditioner(rows[:, chosen] * mask, landmarks[chosen], diagonal)

    def product(vectors: np.ndarray) -> np.ndarray:
        return mask * gram.product(mask * vectors, n_jobs) + diagonal[:, np.newaxis] * vectors

    right = mask * np.column_stack([targets, np.ones(len(targets))])
    solved, _ = conjugate_gradients(product, right, precondition, start)
    solved = mask * solved
    values, ones = solved[:, :-1], solved[:, -1]
    intercepts = values.sum(axis=0) / ones.sum()
    return (values - np.outer(ones, intercepts)).T, intercepts, solved
