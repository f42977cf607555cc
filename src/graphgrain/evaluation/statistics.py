"""Tests for differences between models that are evaluated on the same folds or data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InvalidParameterError


def corrected_t_test(differences: Any, test_share: float) -> float:
    """Return the two-sided p-value of the corrected resampled t-test (Nadeau and Bengio, 2003).

    The folds of a cross-validation share most of their training graphs, so an ordinary t-test
    underestimates the variance of the mean. The correction adds ``test_share`` to the factor 1/n;
    with repeated cross-validation this is the form of Bouckaert and Frank (2004).

    Parameters
    ----------
    differences : array-like
        Difference in the score of two models on each test fold of each repetition.
    test_share : float
        Number of test graphs divided by the number of training graphs; 1/9 with ten folds.

    Returns
    -------
    p : float
        1 if all differences are zero. NaN if there are fewer than two differences, or if all are
        equal: without a variance there is nothing to test.

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
    scale = float(np.abs(values).max())
    if scale == 0:
        return 1.0
    mean, variance = values.mean(), values.var(ddof=1)
    if variance <= (1e-12 * scale) ** 2:
        return float("nan")
    from scipy.special import stdtr

    t = mean / np.sqrt((1 / len(values) + test_share) * variance)
    return float(2 * stdtr(len(values) - 1, -abs(t)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for several comparisons (Holm, 1979); NaN stays NaN.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=float)
    order = [place for place in np.argsort(p).tolist() if np.isfinite(p[place])]
    adjusted, largest = p.copy(), 0.0
    for step, place in enumerate(order):
        largest = max(largest, min(1.0, float(p[place]) * (len(order) - step)))
        adjusted[place] = largest
    return adjusted.tolist()


def p_words(p: float) -> str:
    """Format a p-value with a relation sign.

    >>> p_words(0.0421), p_words(1e-9)
    ('p = 0.042', 'p < 0.001')
    """
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
