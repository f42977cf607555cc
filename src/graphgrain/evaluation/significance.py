"""Is one kernel better than another? Tests and average ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidParameterError


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
    >>> from graphgrain.evaluation.significance import corrected_t_test
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
    """How kernels rank over several data sets.

    Attributes
    ----------
    average : array
        The mean rank of each kernel; 1 would be the best everywhere.
    critical_difference : float
        Average ranks must differ by this much for significance at 5 % (Nemenyi test).
    p : float
        Friedman test: the probability of ranks at least this uneven if all kernels were equally
        good. NaN where the test is not defined.
    datasets : int
    """

    average: np.ndarray
    critical_difference: float
    p: float
    datasets: int

    def groups(self) -> list[tuple[int, int]]:
        """Runs of kernels that do not differ significantly, as positions in ascending rank.

        Only runs that no other run contains are returned.

        Examples
        --------
        >>> from graphgrain.evaluation.significance import rank
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
    >>> from graphgrain.evaluation.significance import rank
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
        The difference in mean accuracy of two methods on each data set.

    Returns
    -------
    p : float
        NaN with fewer than six differences, with which none could be significant; 1 if all of
        them are zero.

    Examples
    --------
    >>> from graphgrain.evaluation.significance import wilcoxon_p
    >>> wilcoxon_p([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    0.03125
    """
    from scipy.stats import wilcoxon

    values = np.asarray(differences, dtype=float)
    if len(values) < 6:
        return float("nan")
    return float(wilcoxon(values).pvalue) if values.any() else 1.0
