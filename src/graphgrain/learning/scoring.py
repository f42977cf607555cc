"""How candidates are judged on graphs that they were not trained on: larger is better."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .svm import classes_of

AUTO = "auto"
#: A class with a smaller share than this makes accuracy a poor judge.
RARE = 1 / 3


def accuracy(codes: np.ndarray, scores: np.ndarray) -> float:
    """The share of graphs that get their class."""
    return float(np.mean(codes == classes_of(scores)))


def balanced_accuracy(codes: np.ndarray, scores: np.ndarray) -> float:
    """The mean over the classes of that share."""
    predicted = classes_of(scores)
    return float(np.mean([np.mean(predicted[codes == c] == c) for c in np.unique(codes)]))


def roc_auc(codes: np.ndarray, scores: np.ndarray) -> float:
    """The area under the curve; with several classes the mean over each against the rest."""
    return _each_class(codes, scores, area_under_roc, 0.5)


def area_under_roc(positive: np.ndarray, scores: np.ndarray) -> float:
    """The chance that a positive scores higher than a negative.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.scoring import area_under_roc
    >>> area_under_roc(np.array([True, False, True, False]), np.array([0.9, 0.1, 0.4, 0.4]))
    0.875
    """
    from scipy.stats import rankdata

    ones = int(positive.sum())
    above = rankdata(scores)[positive].sum() - ones * (ones + 1) / 2
    return float(above / (ones * (len(positive) - ones)))


def average_precision(codes: np.ndarray, scores: np.ndarray) -> float:
    """The area under precision and recall; with several classes the mean of each."""
    from sklearn.metrics import average_precision_score

    return _each_class(codes, scores, average_precision_score, 0.0)


def _each_class(
    codes: np.ndarray, scores: np.ndarray, measure: Callable[..., float], nothing: float
) -> float:
    columns = {1: scores} if scores.ndim == 1 else dict(enumerate(scores.T))
    found = [
        float(measure(codes == number, column))
        for number, column in columns.items()
        if 0 < np.sum(codes == number) < len(codes)
    ]
    return float(np.mean(found)) if found else nothing


#: For classifiers, by the names that scikit-learn has for them.
OF_CLASSES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "roc_auc": roc_auc,
    "average_precision": average_precision,
}


def for_classes(name: str, codes: np.ndarray) -> str:
    """The measure that "auto" stands for: the ROC AUC if one of two classes is rare.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.scoring import for_classes
    >>> for_classes("auto", np.array([0] * 19 + [1])), for_classes("auto", np.array([0, 1]))
    ('roc_auc', 'accuracy')
    """
    if name != AUTO:
        return name
    counts = np.bincount(codes)
    rare = len(counts) == 2 and counts.min() < RARE * len(codes)
    return "roc_auc" if rare else "accuracy"


def rmse(values: np.ndarray, predictions: np.ndarray) -> float:
    """Minus the root mean squared error."""
    return -float(np.sqrt(np.mean((values - predictions) ** 2)))


def mae(values: np.ndarray, predictions: np.ndarray) -> float:
    """Minus the mean absolute error."""
    return -float(np.mean(np.abs(values - predictions)))


def r2(values: np.ndarray, predictions: np.ndarray) -> float:
    """One minus the squared error over the variance; 0 where there is no variance."""
    spread = float(np.sum((values - values.mean(axis=0)) ** 2))
    return 1.0 - float(np.sum((values - predictions) ** 2)) / spread if spread > 0 else 0.0


def spearman(values: np.ndarray, predictions: np.ndarray) -> float:
    """The correlation of ranks, the mean over several targets; 0 where nothing varies."""
    from scipy.stats import rankdata

    found = []
    for y, p in zip(values.T, predictions.T, strict=True):
        # equal graphs are ties, whatever rounding makes of their predictions
        own, other = rankdata(y), rankdata(np.round(p / max(np.abs(p).max(), 1e-300), 9))
        spread = float(own.std() * other.std())
        found.append(float(np.cov(own, other, bias=True)[0, 1]) / spread if spread > 0 else 0.0)
    return float(np.mean(found))


#: For regressors, on targets of shape (graphs, outputs) in the user's units; larger is better.
OF_NUMBERS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "rmse": rmse,
    "mae": mae,
    "r2": r2,
    "spearman": spearman,
}


def best_value(scores: np.ndarray) -> int:
    """The best entry of a learner's grid; of equal ones the last, which is the largest."""
    # rounded, so that the order in which equal scores are added is no matter, nor their unit
    means = np.round(scores / max(float(np.abs(scores).max()), 1e-300), 12)
    return len(means) - 1 - int(np.argmax(means[::-1]))
