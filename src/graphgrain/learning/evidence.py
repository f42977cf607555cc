"""Weights of terms by marginal likelihood.

Targets y have a constant mean with a flat prior and the covariance A = sum of exp(t_k) K_k + exp(e)
I, where t are the log weights of the terms and e is the log noise. Integrating the mean out leaves

    L = 1/2 (log |A| + log 1'A^-1 1 + y'Py),   P = A^-1 - u u' / (1'u),   u = A^-1 1

whose gradient with respect to t_k is exp(t_k) / 2 times tr(P K_k) - (Py)' K_k (Py). L plus the
pull, 2 times the sum of squared deviations of the log weights from equal ones (apart from their
prior), is minimised by L-BFGS. Several outputs share the weights, with the mean of their
likelihoods.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: Factor of the squared deviations of the log weights from equal ones.
PULL = 2.0
#: Largest number of graphs whose likelihood is maximised.
MOST_GRAPHS = 700
#: Terms whose share of the weights is below this are dropped; a tenth of that for many terms.
LEAST_SHARE = 0.03
#: Bounds of log weights and log noise, in units of the variance of the targets.
LOG_BOUNDS = (-14.0, 7.0)


def log_evidence(
    logs: np.ndarray, grams: np.ndarray, targets: np.ndarray, noise: np.ndarray, priors: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the penalised negative log evidence and its gradient.

    Parameters
    ----------
    logs : array of shape (terms + 1,)
        Log weights, and the log noise.
    grams : array of shape (terms, graphs, graphs)
    targets : array of shape (graphs, outputs)
    noise : array of shape (graphs,)
        Factor of the noise of each graph.
    priors : array of shape (terms,)
        Prior log weights.
    """
    from scipy.linalg import lapack

    weights, graphs = np.exp(logs[:-1]), len(targets)
    flat = grams.reshape(len(weights), -1)
    matrix = (weights @ flat).reshape(graphs, graphs)
    matrix[np.diag_indices(graphs)] += np.exp(logs[-1]) * noise
    factor, failed = lapack.dpotrf(matrix, lower=True, overwrite_a=True)
    if failed:
        return 1e12, np.zeros_like(logs)
    log_determinant = 2 * float(np.log(np.diagonal(factor)).sum())
    inverse, _ = lapack.dpotri(factor, lower=True, overwrite_c=True)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    u = inverse.sum(axis=0)
    total = float(u.sum())
    inverse -= np.outer(u, u / total)  # now P
    solved = inverse @ targets
    outputs = targets.shape[1]
    fit = float((targets * solved).sum()) / outputs
    slope = inverse - solved @ solved.T / outputs
    gradient = np.empty_like(logs)
    gradient[:-1] = 0.5 * weights * (flat @ slope.ravel())
    gradient[-1] = 0.5 * float(np.exp(logs[-1]) * (np.diagonal(slope) * noise).sum())
    apart = logs[:-1] - priors
    apart = apart - apart.mean()
    gradient[:-1] += 2 * PULL * apart
    value = 0.5 * (log_determinant + np.log(total) + fit) + PULL * float((apart**2).sum())
    return value, gradient


def likeliest_weights(
    grams: np.ndarray,
    targets: np.ndarray,
    noise: np.ndarray,
    priors: np.ndarray,
    report: Callable[[str], None] = lambda text: None,
) -> np.ndarray:
    """Return the weights of the terms, which sum to 1; those that are dropped have weight 0.

    The parameters are those of :func:`log_evidence`; targets are standardised here.
    """
    from scipy.optimize import minimize

    spread = targets.std(axis=0)
    varied = spread > 1e-12 * np.maximum(np.abs(targets).max(axis=0), 1e-300)
    weights = np.exp(priors) / np.exp(priors).sum()
    kept = np.arange(len(priors))
    if not varied.any() or len(targets) < 3:
        return _without_small(weights)
    standard = (targets[:, varied] - targets[:, varied].mean(axis=0)) / spread[varied]
    start = np.append(np.log(weights), np.log(0.3))
    while True:
        found = minimize(
            log_evidence,
            start,
            (grams[kept] if len(kept) < len(grams) else grams, standard, noise, priors[kept]),
            jac=True,
            method="L-BFGS-B",
            bounds=[LOG_BOUNDS] * len(start),
            options={"ftol": 1e-6, "maxiter": 60},
        )
        weights = np.zeros(len(priors))
        weights[kept] = np.exp(found.x[:-1])
        weights = _without_small(weights / weights.sum())
        report(f"evidence {-found.fun:.1f} with {np.count_nonzero(weights)} of {len(kept)} terms")
        remaining = weights[kept] > 0
        if remaining.all():
            return weights
        start = np.append(found.x[:-1][remaining], found.x[-1])
        kept = kept[remaining]


def _without_small(weights: np.ndarray) -> np.ndarray:
    """Return weights that sum to 1, without those that are small."""
    least = min(LEAST_SHARE, 0.3 / int(np.count_nonzero(weights)))
    large = np.where(weights < least, 0.0, weights)
    return large / large.sum()
