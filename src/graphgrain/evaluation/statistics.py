"""Scores of repeated evaluations, and whether one kernel is better than another.

Scores are one number per repetition:

- accuracy: the share of graphs that got their class;
- balanced accuracy: the mean over the classes of that share;
- ROC AUC: for each class against the rest, the mean over the folds in which both occur (decision
  values of different folds come from different models and cannot be compared), then the mean
  over the classes;
- average precision: with two classes, of the second, the mean over the folds in which both occur;
- for numbers, over all test graphs of the repetition: root mean squared error, mean absolute
  error, and R2, the share of the variance that is predicted.
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
    """A score for each repetition; None where it is not defined.

    ``mean`` and ``std`` (the standard deviation over the repetitions, dividing by their number,
    as the paper's authors do) leave undefined ones out.
    """

    mean: float | None
    std: float | None
    each: list[float | None]

    @classmethod
    def of(cls, values: list[float | None]) -> Scores:
        """From the score of each repetition."""
        known = [value for value in values if value is not None]
        if not known:
            return cls(None, None, values)
        return cls(float(np.mean(known)), float(np.std(known)), values)


#: A repetition: for each of its folds the record and the level that is looked at.
Folds = list[tuple[FoldRecord, Level]]


def all_scores(repetitions: Iterable[Folds]) -> dict[str, Scores]:
    """Every score of some repetitions, by name; those of classes or those of numbers."""
    runs = list(repetitions)
    measures = _OF_CLASSES if runs[0][0][0].classes else _OF_NUMBERS
    return {
        name: Scores.of([measure(folds) for folds in runs]) for name, measure in measures.items()
    }


def accuracies(repetitions: Iterable[Folds]) -> Scores:
    """The accuracy alone, which takes far less time than all scores; for numbers the RMSE."""
    return Scores.of([_main(folds) for folds in repetitions])


def fold_accuracy(record: FoldRecord, level: Level) -> float:
    """The share of the test graphs of one fold that got their class; for numbers the RMSE."""
    return _main([(record, level)])


def _main(folds: Folds) -> float:
    return _accuracy(folds) if folds[0][0].classes else _rmse(folds)


def blind_score(folds: Folds) -> float:
    """The accuracy of always saying the largest class, or the RMSE of always saying the mean."""
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
    """The chance that a positive scores higher than a negative; None without both.

    >>> roc_auc(np.array([True, False, True, False]), np.array([0.9, 0.1, 0.4, 0.4]))
    0.875
    """
    if positive.all() or not positive.any():
        return None
    return area_under_roc(positive, scores)


def corrected_t_test(differences: Any, test_share: float) -> float:
    """Corrected resampled t-test of Nadeau and Bengio (2003): the two-sided p-value.

    The folds of a cross-validation share most of their training graphs, so an ordinary t-test
    takes them for more evidence than they are. Here the variance of the mean is larger by
    ``test_share``; with repeated cross-validation this is the form of Bouckaert and Frank (2004).

    Parameters
    ----------
    differences : array-like
        The difference in accuracy of two kernels on each test fold of each repetition.
    test_share : float
        Number of test graphs divided by the number of training graphs; 1/9 with ten folds.

    Returns
    -------
    p : float
        NaN with fewer than two differences; 1 if all of them are zero.

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
    if variance <= 1e-30:  # all differences are the same number
        return 1.0 if abs(mean) <= 1e-15 else 0.0
    from scipy.special import stdtr

    t = mean / np.sqrt((1 / len(values) + test_share) * variance)
    return float(2 * stdtr(len(values) - 1, -abs(t)))


@dataclass(frozen=True)
class Ranks:
    """How kernels rank over several data sets."""

    average: np.ndarray  # the mean rank of each kernel; 1 would be the best everywhere
    critical_difference: float  # for significance at 5 % (Nemenyi test)
    p: float  # Friedman test: of ranks this uneven if all were equally good; NaN if not defined
    datasets: int

    def groups(self) -> list[tuple[int, int]]:
        """Runs of kernels that do not differ significantly, as positions in ascending rank.

        Only runs that no other run contains are returned.

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
    """Rank kernels on every data set by their score, then average (Demsar 2006).

    Parameters
    ----------
    scores : array-like of shape (data sets, kernels)
        The larger the better. Equal scores share the mean of their ranks.

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
    # Rounded, so that scores that are equal but for the last bit share a rank.
    table = table.round(10)
    ranks = rankdata(-table, axis=1)
    # With infinitely many degrees of freedom the integral is that of the range of k normals.
    quantile = float(studentized_range.ppf(0.95, k, np.inf)) / np.sqrt(2)
    return Ranks(
        average=ranks.mean(axis=0),
        critical_difference=quantile * float(np.sqrt(k * (k + 1) / (6 * n))),
        p=_friedman(table),
        datasets=n,
    )


def _friedman(scores: np.ndarray) -> float:
    """p-value of the Friedman test, corrected for ties; NaN where it is not defined."""
    from scipy.stats import friedmanchisquare

    n, k = scores.shape
    if n < 2 or k < 3:
        return float("nan")
    if (scores == scores[:, :1]).all():  # everything is tied with everything
        return 1.0
    return float(friedmanchisquare(*scores.T).pvalue)


def wilcoxon_p(differences: Any) -> float:
    """Wilcoxon signed-rank test over data sets: the two-sided p-value.

    Parameters
    ----------
    differences : array-like
        The difference in mean accuracy of two methods on each data set. With fewer than six none
        could be significant, and p is NaN; it is 1 if all of them are zero.

    Examples
    --------
    >>> from graphgrain.evaluation.statistics import wilcoxon_p
    >>> wilcoxon_p([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    0.03125
    """
    from scipy.stats import wilcoxon

    values = np.asarray(differences, dtype=float)
    if len(values) < 6:
        return float("nan")
    return float(wilcoxon(values).pvalue) if values.any() else 1.0
