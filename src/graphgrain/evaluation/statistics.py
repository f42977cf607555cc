"""Scores of repeated evaluations and tests for differences between kernels.

Each score is one number per repetition:

- accuracy;
- balanced accuracy: the mean recall over the classes;
- ROC AUC: one-vs-rest, averaged over the folds in which both sides occur (decision values of
  different folds come from different models and cannot be compared), then over the classes;
- average precision: of the second of two classes, averaged over the folds in which both occur;
- for regression, over all test graphs of the repetition: root mean squared error, mean absolute
  error, and R2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidParameterError
from ..learning.selection import area_under_roc
from .records import FoldRecord, Level


@dataclass(frozen=True)
class Scores:
    """Score of each repetition, None where it is undefined.

    ``mean`` and ``std`` ignore undefined scores. As in the paper, ``std`` is the population
    standard deviation over the repetitions (``ddof=0``).
    """

    mean: float | None
    std: float | None
    each: list[float | None]

    @classmethod
    def of(cls, values: list[float | None]) -> Scores:
        """Build from the score of each repetition."""
        known = [value for value in values if value is not None]
        if not known:
            return cls(None, None, values)
        return cls(float(np.mean(known)), float(np.std(known)), values)


#: A repetition: the record and the selected level of each fold.
Folds = list[tuple[FoldRecord, Level]]


def all_scores(repetitions: Iterable[Folds]) -> dict[str, Scores]:
    """Return all classification or regression scores of some repetitions, by name."""
    runs = list(repetitions)
    measures = _OF_CLASSES if runs[0][0][0].classes else _OF_NUMBERS
    return {
        name: Scores.of([measure(folds) for folds in runs]) for name, measure in measures.items()
    }


def accuracies(repetitions: Iterable[Folds]) -> Scores:
    """Return only the accuracy (RMSE for regression), much faster than all scores."""
    return Scores.of([_main(folds) for folds in repetitions])


def fold_accuracy(record: FoldRecord, level: Level) -> float:
    """Return the accuracy on one test fold; the RMSE for regression."""
    return _main([(record, level)])


def _main(folds: Folds) -> float:
    return _accuracy(folds) if folds[0][0].classes else _rmse(folds)


def blind_score(folds: Folds) -> float:
    """Return the accuracy of predicting the largest class, or the RMSE of predicting the mean."""
    truth, _ = _pooled(folds)
    if not folds[0][0].classes:
        return float(np.std(truth))
    return float(np.bincount(truth).max() / len(truth))


def _pooled(folds: Folds) -> tuple[np.ndarray, np.ndarray]:
    kind = int if folds[0][0].classes else float
    truth = np.concatenate([np.array(record.truth, dtype=kind) for record, _ in folds])
    predicted = np.concatenate([np.array(level.predictions, dtype=kind) for _, level in folds])
    return truth, predicted


def _accuracy(folds: Folds) -> float:
    truth, predicted = _pooled(folds)
    return float(np.mean(truth == predicted))


def _balanced_accuracy(folds: Folds) -> float:
    truth, predicted = _pooled(folds)
    return float(np.mean([np.mean(predicted[truth == c] == c) for c in np.unique(truth)]))


def _roc_auc(folds: Folds) -> float | None:
    classes = len(folds[0][0].classes)
    by_class = []
    for wanted in range(1, classes) if classes == 2 else range(classes):
        by_fold = []
        for record, level in folds:
            scores = np.array(level.scores, dtype=float)
            column = scores if classes == 2 else scores.reshape(-1, classes)[:, wanted]
            area = roc_auc(np.array(record.truth) == wanted, column)
            if area is not None:
                by_fold.append(area)
        if by_fold:
            by_class.append(float(np.mean(by_fold)))
    return float(np.mean(by_class)) if by_class else None


def _average_precision(folds: Folds) -> float | None:
    if len(folds[0][0].classes) != 2:
        return None
    from sklearn.metrics import average_precision_score

    by_fold = [
        float(average_precision_score(record.truth, level.scores))
        for record, level in folds
        if len(set(record.truth)) == 2
    ]
    return float(np.mean(by_fold)) if by_fold else None


def _rmse(folds: Folds) -> float:
    truth, predicted = _pooled(folds)
    return float(np.sqrt(np.mean((truth - predicted) ** 2)))


def _mae(folds: Folds) -> float:
    truth, predicted = _pooled(folds)
    return float(np.mean(np.abs(truth - predicted)))


def _r2(folds: Folds) -> float | None:
    truth, predicted = _pooled(folds)
    spread = float(np.var(truth))
    return 1 - float(np.mean((truth - predicted) ** 2)) / spread if spread > 0 else None


_OF_CLASSES: dict[str, Callable[[Folds], float | None]] = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "roc_auc": _roc_auc,
    "average_precision": _average_precision,
}
_OF_NUMBERS: dict[str, Callable[[Folds], float | None]] = {"rmse": _rmse, "mae": _mae, "r2": _r2}


def roc_auc(positive: np.ndarray, scores: np.ndarray) -> float | None:
    """Return the probability that a positive scores higher than a negative; None without both.

    >>> roc_auc(np.array([True, False, True, False]), np.array([0.9, 0.1, 0.4, 0.4]))
    0.875
    """
    if positive.all() or not positive.any():
        return None
    return area_under_roc(positive, scores)


def corrected_t_test(differences: Any, test_share: float) -> float:
    """Return the two-sided p-value of the corrected resampled t-test (Nadeau and Bengio, 2003).

    The folds of a cross-validation share most of their training graphs, so an ordinary t-test
    underestimates the variance of the mean. The correction adds ``test_share`` to the factor 1/n;
    with repeated cross-validation this is the form of Bouckaert and Frank (2004).

    Parameters
    ----------
    differences : array-like
        Difference in accuracy of two kernels on each test fold of each repetition.
    test_share : float
        Number of test graphs divided by the number of training graphs; 1/9 with ten folds.

    Returns
    -------
    p : float
        NaN with fewer than two differences; 1 if all differences are zero.

    Examples
    --------
    >>> from graphgrain.evaluation.statistics import corrected_t_test
    >>> round(corrected_t_test([0.1, 0.0, 0.2, 0.1, 0.1, 0.0, 0.1, 0.2, 0.0, 0.1], 1 / 9), 4)
    0.0263
    """
    values = np.asarray(differences, dtype=float)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise InvalidParameterError("differences must be a list of finite numbers.")
    if not test_share >= 0:
        raise InvalidParameterError(f"test_share must be 0 or more; got {test_share}.")
    if len(values) < 2:
        return float("nan")
    mean, variance = values.mean(), values.var(ddof=1)
    if variance <= 1e-30:  # all differences are equal
        return 1.0 if abs(mean) <= 1e-15 else 0.0
    from scipy.special import stdtr

    t = mean / np.sqrt((1 / len(values) + test_share) * variance)
    return float(2 * stdtr(len(values) - 1, -abs(t)))


@dataclass(frozen=True)
class Ranks:
    """Average ranks of kernels over several data sets."""

    average: np.ndarray  # mean rank of each kernel; 1 is the best on all data sets
    critical_difference: float  # at the 5 % level (Nemenyi test)
    p: float  # of the Friedman test; NaN if undefined
    datasets: int

    def groups(self) -> list[tuple[int, int]]:
        """Return the maximal groups of kernels that do not differ significantly.

        Each group is given by its first and last position in ascending order of rank.

        >>> rank([[0.9, 0.8, 0.1], [0.8, 0.7, 0.2]] * 5).groups()
        [(0, 1), (1, 2)]
        """
        ranks = np.sort(self.average)
        found: list[tuple[int, int]] = []
        for first, value in enumerate(ranks):
            within = np.flatnonzero(ranks - value <= self.critical_difference + 1e-12)
            last = int(within[-1])
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return found


def rank(scores: Any) -> Ranks:
    """Rank kernels by score on each data set and average the ranks (Demsar, 2006).

    Parameters
    ----------
    scores : array-like of shape (data sets, kernels)
        Larger is better. Ties get the mean of their ranks.

    Examples
    --------
    >>> from graphgrain.evaluation.statistics import rank
    >>> ranks = rank([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]])
    >>> ranks.average.tolist()
    [1.25, 1.75, 3.0]
    """
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2 or np.isnan(table).any():
        raise InvalidParameterError(
            "Ranks need scores of at least two kernels on at least one data set, none missing; "
            f"got an array of shape {table.shape}."
        )
    from scipy.stats import rankdata, studentized_range

    n, k = table.shape
    # Round so that scores that differ only by rounding error are ties, in any unit.
    largest = np.abs(table).max(axis=1, keepdims=True)
    table = (table / np.where(largest > 0, largest, 1.0)).round(10)
    ranks = rankdata(-table, axis=1)
    # The Nemenyi test uses infinite degrees of freedom.
    quantile = float(studentized_range.ppf(0.95, k, np.inf)) / np.sqrt(2)
    return Ranks(
        average=ranks.mean(axis=0),
        critical_difference=quantile * float(np.sqrt(k * (k + 1) / (6 * n))),
        p=_friedman(table),
        datasets=n,
    )


def _friedman(scores: np.ndarray) -> float:
    """Return the p-value of the Friedman test, corrected for ties; NaN if undefined."""
    from scipy.stats import friedmanchisquare

    n, k = scores.shape
    if n < 2 or k < 3:
        return float("nan")
    if (scores == scores[:, :1]).all():  # all kernels are tied
        return 1.0
    return float(friedmanchisquare(*scores.T).pvalue)


def wilcoxon_p(differences: Any) -> float:
    """Return the two-sided p-value of the Wilcoxon signed-rank test over data sets.

    Parameters
    ----------
    differences : array-like
        Difference in mean accuracy of two methods on each data set. Differences are rounded to
        ten decimals; scale scores that are as small as that.

    Returns
    -------
    p : float
        NaN with fewer than six differences, which cannot be significant; 1 if all are zero.

    Examples
    --------
    >>> from graphgrain.evaluation.statistics import wilcoxon_p
    >>> wilcoxon_p([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    0.03125
    """
    from scipy.stats import wilcoxon

    # Round so that differences that differ only by rounding error are ties, or zero.
    values = np.asarray(differences, dtype=float).round(10)
    if len(values) < 6:
        return float("nan")
    return float(wilcoxon(values).pvalue) if values.any() else 1.0
