"""The corrected t-test and Holm's adjustment against SciPy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from graphgrain.errors import InvalidParameterError
from graphgrain.evaluation.statistics import corrected_t_test, holm


@pytest.mark.parametrize("seed", range(5))
def test_without_correction_it_is_the_paired_t_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ours, theirs = rng.normal(0.8, 0.05, 30), rng.normal(0.78, 0.05, 30)
    expected = stats.ttest_rel(ours, theirs).pvalue
    assert corrected_t_test(ours - theirs, 0.0) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("share", [1 / 9, 1 / 4, 0.5])
def test_the_correction_enlarges_the_variance(share: float) -> None:
    differences = np.random.default_rng(0).normal(0.02, 0.05, 100)
    plain = stats.ttest_1samp(differences, 0)
    t = plain.statistic * np.sqrt((1 / 100) / (1 / 100 + share))
    expected = 2 * stats.t.sf(abs(t), 99)
    assert corrected_t_test(differences, share) == pytest.approx(expected, rel=1e-10)
    assert corrected_t_test(differences, share) > plain.pvalue


def test_degenerate_differences() -> None:
    assert np.isnan(corrected_t_test([], 0.1))
    assert np.isnan(corrected_t_test([0.3], 0.1))
    assert corrected_t_test([0.0] * 10, 0.1) == 1.0
    # Equal differences have no variance, so there is nothing to test; p was 0 for two of them.
    for equal in ([0.1] * 10, [0.3, 0.3], [1e-9] * 3, [-2e9] * 4):
        assert np.isnan(corrected_t_test(equal, 0.1))
    with pytest.raises(InvalidParameterError, match="finite"):
        corrected_t_test([np.nan, 1.0], 0.1)
    with pytest.raises(InvalidParameterError, match="test_share"):
        corrected_t_test([0.1, 1.0], -0.1)


def test_holm_is_the_smallest_level_at_which_each_is_rejected() -> None:
    """By definition: step down through the ordered p-values, as long as p <= level / left."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        p = rng.random(int(rng.integers(1, 7))) ** 3
        adjusted = np.array(holm(p.tolist()))
        for level in rng.random(5):
            rejected, left = set(), len(p)
            for place in np.argsort(p):
                if p[place] > level / left:
                    break
                rejected.add(int(place))
                left -= 1
            assert set(np.flatnonzero(adjusted <= level).tolist()) == rejected
    assert np.isnan(holm([0.01, float("nan")])[1])
    assert holm([0.01, float("nan")])[0] == 0.01
