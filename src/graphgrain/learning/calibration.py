"""From scores to probabilities, by the method of Platt, and to sets of classes that hold.

A sigmoid is fitted to the scores of graphs that were held out in cross-validation of the machine
that is shipped, so that it does not see how well the training graphs are fitted. With several
classes each has a sigmoid against the rest, and the probabilities of a graph are scaled to add up
to one. The class with the largest probability is the one with the largest log-odds.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from ..errors import InvalidParameterError

#: A sigmoid that would fall with the score, by chance on a set without signal, is made this flat.
FLAT = 1e-3


def fit_sigmoids(codes: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Slope and intercept for each output of scores (graphs, outputs).

    With one output it is the score of class 1. ``weights`` say how much each graph counts.
    """
    positive = [1] if scores.shape[1] == 1 else range(scores.shape[1])
    return np.array(
        [_sigmoid(codes == code, scores[:, place], weights) for place, code in enumerate(positive)]
    )


def _sigmoid(positive: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    from sklearn.linear_model import LogisticRegression

    # Targets that are not quite 0 and 1, as Platt has them: a set that is told apart without a
    # mistake does not make every answer certain.
    ones, zeros = int(positive.sum()), int((~positive).sum())
    high, low = (ones + 1) / (ones + 2), 1 / (zeros + 2)
    share = np.where(positive, high, low)
    scale = max(float(np.std(scores)), 1e-12)
    column = (scores / scale).reshape(-1, 1)
    model = LogisticRegression(C=1e6, max_iter=1000).fit(
        np.concatenate([column, column]),
        np.repeat([1, 0], len(scores)),
        sample_weight=np.concatenate([share * weights, (1 - share) * weights]),
    )
    slope, intercept = float(model.coef_[0, 0]), float(model.intercept_[0])
    if slope < FLAT:
        mean = float(np.average(share, weights=weights))
        slope, intercept = FLAT, float(np.log(mean / (1 - mean)))
    return slope / scale, intercept


def probabilities(log_odds: np.ndarray) -> np.ndarray:
    """The probability of each class, (graphs, classes), from log-odds (graphs, outputs)."""
    from scipy.special import expit

    each = expit(log_odds)
    if each.shape[1] == 1:
        return np.hstack([1 - each, each])
    total = each.sum(axis=1, keepdims=True)
    return np.where(total > 0, each / np.where(total > 0, total, 1.0), 1.0 / each.shape[1])


def check_coverage(coverage: Any) -> None:
    """A coverage is a probability, and neither 0 nor 1."""
    if isinstance(coverage, bool) or not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
        raise InvalidParameterError(
            f"coverage must be a number above 0 and below 1; got {coverage!r}."
        )


def class_sets(
    held_out: np.ndarray, codes: np.ndarray, new: np.ndarray, coverage: float
) -> np.ndarray:
    """Which classes belong to the set of each new graph, (graphs, classes).

    A class is left out where its probability is lower than that of all but a share of
    ``1 - coverage`` of the training graphs of this class, which were held out: each class is
    covered by itself, so that rare ones are too.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.calibration import class_sets
    >>> held_out = np.linspace([0.99, 0.01], [0.51, 0.49], 9)
    >>> class_sets(held_out, np.zeros(9, int), np.array([[0.9, 0.1], [0.3, 0.7]]), 0.9).tolist()
    [[True, True], [False, True]]
    """
    sets = np.ones(new.shape, dtype=bool)
    for code in range(new.shape[1]):
        own = np.sort(held_out[codes == code, code])
        allowed = int(np.floor((1 - coverage) * (len(own) + 1) + 1e-9))
        if allowed:
            sets[:, code] = new[:, code] >= own[allowed - 1]
    return sets
