"""Tests over data sets: ranks with Friedman's and Nemenyi's tests, and Wilcoxon's with Holm's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, studentized_range, wilcoxon

from graphgrain.evaluation.statistics import corrected_t_test, holm

from .scores import Result


@dataclass(frozen=True)
class Ranks:
    """Average ranks of kernels over several data sets (Demsar, 2006).

    Attributes
    ----------
    average : Series
        Mean rank of each kernel, best first; ties get the mean of their ranks.
    critical_difference : float
        Of average ranks, at the 5 % level (Nemenyi test).
    p : float
        Of the Friedman test; NaN with fewer than three kernels or two data sets.
    datasets : int
    """

    average: pd.Series
    critical_difference: float
    p: float
    datasets: int

    def groups(self) -> list[tuple[int, int]]:
        """Return the maximal runs of kernels that do not differ significantly, by position.

        >>> ranks(pd.DataFrame([[0.9, 0.8, 0.1], [0.8, 0.7, 0.2]] * 5)).groups()
        [(0, 1), (1, 2)]
        """
        values = self.average.to_numpy()
        runs: list[tuple[int, int]] = []
        for first, value in enumerate(values):
            last = int(np.flatnonzero(values - value <= self.critical_difference + 1e-12)[-1])
            if last > first and (not runs or last > runs[-1][1]):
                runs.append((first, last))
        return runs


def ranks(scores: pd.DataFrame) -> Ranks:
    """Rank kernels (columns) on each data set (rows); larger scores are better.

    Only kernels with a score on every data set are ranked: dropping the data set instead would
    discard the results of the others on the large sets where slow kernels are stopped.

    >>> ranks(pd.DataFrame([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]], columns=list("abc"))).average
    a    1.25
    b    1.75
    c    3.00
    dtype: float64
    """
    # Rounded so that scores that differ only by rounding errors are ties.
    table = scores.dropna(axis=1).round(10)
    n, k = table.shape
    average = table.rank(axis=1, ascending=False).mean(axis=0).sort_values(kind="stable")
    p = float("nan")
    if n > 1 and k > 2:
        tied = bool((table.nunique(axis=1) == 1).all())
        p = 1.0 if tied else float(friedmanchisquare(*table.to_numpy().T).pvalue)
    quantile = float(studentized_range.ppf(0.95, max(k, 2), np.inf)) / np.sqrt(2)
    return Ranks(average, quantile * float(np.sqrt(k * (k + 1) / (6 * max(n, 1)))), p, n)


def wilcoxon_p(differences: object) -> float:
    """Return the two-sided p-value of the Wilcoxon signed-rank test over data sets.

    NaN with fewer than six differences, which cannot be significant; 1 if all are zero.

    >>> wilcoxon_p([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    0.03125
    """
    values = np.asarray(differences, dtype=float).round(10)
    if len(values) < 6:
        return float("nan")
    return float(wilcoxon(values).pvalue) if values.any() else 1.0


def against(scores: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Compare a kernel with each other over the data sets: wins, and Wilcoxon's test with Holm's.

    Differences are taken on the data sets where both have a score.
    """
    rows = {}
    for kernel in scores.columns.drop(reference):
        lead = (scores[reference] - scores[kernel]).dropna()
        better = int((lead > 0).sum())
        rows[kernel] = {"better": better, "of": len(lead), "p": wilcoxon_p(lead)}
    frame = pd.DataFrame(rows).T
    if len(frame):
        frame["p"] = holm(frame["p"].tolist())
    return frame


def difference_of(first: Result, second: Result, folds: int) -> tuple[float, float]:
    """Return the mean difference on the common folds in points, and the corrected t-test of it."""
    both = first.folds.merge(second.folds, on=["repetition", "fold"])
    lead = 100 * (both.accuracy_x - both.accuracy_y)
    return float(lead.mean()), corrected_t_test(lead, 1 / (folds - 1))
