"""From decision values to probabilities, by the method of Platt.

A sigmoid is fitted to the decision values of graphs that were held out in cross-validation, so that
it does not see how well the training graphs are fitted. With several classes each has a sigmoid
against the rest, and the probabilities of a graph are scaled to add up to one.
"""

from __future__ import annotations

import numpy as np


def fit_sigmoids(
    codes: np.ndarray, scores: np.ndarray, n_classes: int, stand_for: np.ndarray
) -> np.ndarray:
    """Slope and intercept for each class; for two classes those of the second alone.

    ``stand_for`` says how many graphs each stands for, where classes were sampled unevenly.
    """
    if scores.ndim == 1:
        return np.array([_sigmoid(codes == 1, scores, stand_for)])
    return np.array(
        [_sigmoid(codes == code, scores[:, code], stand_for) for code in range(n_classes)]
    )


def _sigmoid(
    positive: np.ndarray, scores: np.ndarray, stand_for: np.ndarray
) -> tuple[float, float]:
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
        sample_weight=np.concatenate([share * stand_for, (1 - share) * stand_for]),
    )
    return float(model.coef_[0, 0]) / scale, float(model.intercept_[0])


def probabilities(sigmoids: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The probability of each class, of shape (graphs, classes)."""
    from scipy.special import expit

    if scores.ndim == 1:
        [(slope, intercept)] = sigmoids
        second = expit(slope * scores + intercept)
        return np.column_stack([1 - second, second])
    each = expit(scores * sigmoids[:, 0] + sigmoids[:, 1])
    total = each.sum(axis=1, keepdims=True)
    return np.where(total > 0, each / np.where(total > 0, total, 1.0), 1.0 / each.shape[1])
