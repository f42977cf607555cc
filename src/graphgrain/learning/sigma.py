"""Sigma: the standard deviation of predictions, learned from held-out errors.

The logarithm of a held-out error is the target of a second ridge regression on the same Gram
matrix, with two more regressors: the posterior variance, and the similarity to the nearest training
graph. All of them are those of a model without the graph. Its own alpha, chosen by leave-one-out,
shrinks log sigma to a constant where there is little to learn. Log sigma is

    bias + sum of c_i k(x, i) + u_1 v(x) + u_2 s(x)

where v is the variance and s the similarity, in units of their deviations; every summand is a sum
over the patterns of x, so that it is explained exactly.

Intervals are conformal: the error in units of sigma that is exceeded with the wanted probability is
that of held-out graphs with a similar sigma and a similar nearest training graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InvalidParameterError
from .solver import Posterior, best_alpha

#: Largest number of graphs whose errors are learned from.
MOST_GRAPHS = 2000
#: Largest number of training graphs from which the posterior variance is computed.
MOST_LANDMARKS = 1000
#: Errors below this share of their root mean square count as such.
LEAST_ERROR = 0.05
#: Values of alpha that are compared; with the last, log sigma is nearly constant.
ALPHAS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)
#: Shares of the differences of log sigma that are compared by the likelihood of held-out errors.
SHARES = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0, 1.2, 1.5)
#: Number of groups of sigma, and of similarity, for intervals.
GROUPS = 3


@dataclass
class Compared:
    """What one comparison of graphs with the training graphs gives.

    Attributes
    ----------
    values : array of shape (graphs, outputs)
        Outputs of the machine.
    to_landmarks : array of shape (graphs, landmarks)
        Kernel values with the landmarks of sigma.
    own : array
        Kernel value of each graph with itself.
    variance : array
        Posterior variance, in units of the kernel.
    nearest : array
        Position of the most similar training graph.
    similarity : array
        Its similarity.
    in_training : array of bool
        Whether that graph has the same patterns.
    log_sigma : array of shape (graphs, outputs)
    """

    values: np.ndarray
    to_landmarks: np.ndarray
    own: np.ndarray
    variance: np.ndarray
    nearest: np.ndarray
    similarity: np.ndarray
    in_training: np.ndarray
    log_sigma: np.ndarray


@dataclass
class Sigma:
    """A model of the size of errors.

    Attributes
    ----------
    landmarks : array
        Positions of the training graphs from which the posterior variance is computed.
    factor : array
        Cholesky factor of their kernel matrix with noise.
    ones, total : array, float
        The solution for a constant, and its sum.
    coefficients : array of shape (outputs, training graphs)
    bias : array of shape (outputs,)
    slopes : array of shape (outputs, 2)
        Factors of variance and similarity, as they are.
    held_out : array of shape (training graphs, outputs)
        Sigma of the training graphs, NaN where it is not known.
    scores : array of shape (training graphs, outputs)
        Held-out errors in units of sigma.
    nearest, similarity : array
        Most similar other training graph of each that was learned from, and its similarity.
    """

    landmarks: np.ndarray
    factor: np.ndarray
    ones: np.ndarray
    total: float
    coefficients: np.ndarray
    bias: np.ndarray
    slopes: np.ndarray
    held_out: np.ndarray
    scores: np.ndarray
    nearest: np.ndarray
    similarity: np.ndarray

    @property
    def posterior(self) -> Posterior:
        """The Gaussian process on the landmarks."""
        model = Posterior.__new__(Posterior)
        model.factor, model.ones, model.total = self.factor, self.ones, self.total
        return model

    def log_sigma(self, K: np.ndarray, variance: np.ndarray, similarity: np.ndarray) -> np.ndarray:
        """Return log sigma of new graphs, given kernel values with the training graphs."""
        beside = np.column_stack([variance, similarity])
        return self.bias + K @ self.coefficients.T + beside @ self.slopes.T

    def quantiles(
        self, log_sigma: np.ndarray, similarity: np.ndarray, coverage: float, output: int
    ) -> np.ndarray:
        """Return the error, in units of sigma, that new graphs do not exceed with a probability.

        It is the mean of that of held-out graphs with a similar sigma and of those with a similar
        nearest training graph.
        """
        known = np.isfinite(self.scores[:, output])
        scores = np.abs(self.scores[known, output])
        total = np.zeros(len(similarity))
        for fitted, new in (
            (np.log(self.held_out[known, output]), log_sigma[:, output]),
            (self.similarity[known], similarity),
        ):
            groups = min(GROUPS, int(len(scores) * (1 - coverage) / 5)) or 1
            bounds = np.quantile(fitted, np.linspace(0, 1, groups + 1)[1:-1])
            place, new_place = np.searchsorted(bounds, fitted), np.searchsorted(bounds, new)
            for group in range(groups):
                members = np.sort(scores[place == group])
                if not len(members):
                    members = np.sort(scores)
                total[new_place == group] += members[rank_of(len(members), coverage)]
        return total / 2


def rank_of(number: int, coverage: float) -> int:
    """Return the 0-based rank of the error that a new one does not exceed with this probability."""
    place = int(np.ceil(coverage * (number + 1) - 1e-9))
    if place > number:
        least = int(np.ceil(coverage / (1 - coverage) - 1e-9))
        raise InvalidParameterError(
            f"coverage={coverage:g} needs at least {least} training graphs; there "
            f"are {number}. Use more of them, or at most "
            f"coverage={np.floor(1000 * number / (number + 1)) / 1000:g}."
        )
    return place - 1


def nearest_others(
    K: np.ndarray, rows: np.ndarray, diagonal: np.ndarray, groups: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the most similar training graph of another group, and its similarity.

    ``K`` has the kernel values of the training graphs at the positions ``rows`` with all of them.
    """
    roots = np.sqrt(np.maximum(diagonal, 1e-300))
    similar = K / roots / roots[rows, np.newaxis]
    similar[groups[rows, np.newaxis] == groups] = 0.0
    return similar.argmax(axis=1), similar.max(axis=1)


def copies(K: np.ndarray) -> np.ndarray:
    """Return a number for each graph that it shares with those equal to it for the kernel."""
    diagonal = np.diagonal(K)
    numbers = np.arange(len(K))
    for begin in range(0, len(K), 1024):
        rows = slice(begin, begin + 1024)
        most = np.maximum(diagonal[rows, np.newaxis], diagonal)
        numbers[rows] = (K[rows] >= most * (1 - 1e-9)).argmax(axis=1)
    return numbers


def learn_sigma(
    K: np.ndarray,
    rows: np.ndarray,
    graphs: int,
    errors: np.ndarray,
    groups: np.ndarray,
    noise: np.ndarray,
    nearest: np.ndarray,
    similarity: np.ndarray,
) -> Sigma:
    """Learn the size of held-out errors.

    Parameters
    ----------
    K : array
        Kernel matrix of the graphs at the positions ``rows`` of the training graphs.
    graphs : int
        Number of training graphs.
    errors : array of shape (len(rows), outputs)
        Held-out errors, NaN where there is no target.
    groups : array
        Graphs of the same group were left out together.
    noise : array
        Noise variance of these graphs, for the posterior variance.
    nearest, similarity : array
        The most similar other training graph of each of them.
    """
    chosen = np.arange(len(rows)) if len(rows) <= MOST_LANDMARKS else _spread(len(rows))
    process = Posterior(K[np.ix_(chosen, chosen)], 1.0, 1.0 / noise[chosen])
    variance = process.variance(K[:, chosen], np.diagonal(K))
    if len(np.unique(groups[chosen])) > 1:
        _, variance[chosen] = process.held_out_errors(np.zeros((1, len(chosen))), groups[chosen])
    regressors = np.column_stack([variance, similarity])
    centre, spread = regressors.mean(axis=0), np.maximum(regressors.std(axis=0), 1e-9)
    standard = (regressors - centre) / spread
    outputs = errors.shape[1]
    coefficients = np.zeros((outputs, graphs))
    bias, slopes = np.zeros(outputs), np.zeros((outputs, 2))
    held_out, scores = np.full((2, graphs, outputs), np.nan)
    for output in range(outputs):
        known = np.flatnonzero(np.isfinite(errors[:, output]))
        some = errors[known, output]
        both = K[np.ix_(known, known)] + standard[known] @ standard[known].T
        solved, intercept, logs = _fit_logs(both, some, groups[known])
        coefficients[output, rows[known]] = solved
        slopes[output] = (solved @ standard[known]) / spread
        bias[output] = intercept - slopes[output] @ centre
        held_out[rows[known], output] = np.exp(logs)
        scores[rows[known], output] = some / np.exp(logs)
    every = np.zeros((2, graphs))
    every[0, rows], every[1, rows] = nearest, similarity
    return Sigma(
        rows[chosen], process.factor, process.ones, process.total, coefficients, bias, slopes,
        held_out, scores, every[0].astype(np.int64), every[1],
    )  # fmt: skip


def _fit_logs(
    K: np.ndarray, errors: np.ndarray, groups: np.ndarray
) -> tuple[np.ndarray, float, np.ndarray]:
    """Return coefficients, intercept and held-out values of the logarithms of errors."""
    size = max(float(np.sqrt(np.mean(errors**2))), 1e-150)
    targets = np.log(np.sqrt(errors**2 + (LEAST_ERROR * size) ** 2))[:, np.newaxis]
    solved, intercept = np.zeros((1, len(errors))), targets.mean(axis=0)
    logs = np.full(len(errors), intercept[0])
    if len(np.unique(groups)) > 2:
        weights = np.ones(len(errors))
        _, model = best_alpha(K, targets, weights, groups, ALPHAS, 10.0, MOST_LANDMARKS)
        solved, intercept = model.fit(targets)
        logs = (targets - model.held_out_errors(solved, groups)[0])[:, 0]
    # the likeliest share of the differences, and the scale for which errors in units of sigma have
    # a mean square of 1
    middle, best = float(logs.mean()), (np.inf, 1.0, 0.0)
    for share in SHARES:
        shrunk = middle + share * (logs - middle)
        shift = 0.5 * float(np.log(np.mean((errors / np.exp(shrunk)) ** 2) + 1e-300))
        best = min(best, (middle + shift, share, shift))
    _, share, shift = best
    bias = middle + share * (float(intercept[0]) - middle) + shift
    return share * solved[0], bias, middle + share * (logs - middle) + shift


def _spread(graphs: int) -> np.ndarray:
    """Return positions of landmarks, evenly spaced."""
    return np.linspace(0, graphs - 1, MOST_LANDMARKS).round().astype(np.int64)
