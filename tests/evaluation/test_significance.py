"""The tests and ranks of the report against SciPy and published tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from graphgrain.errors import InvalidParameterError
from graphgrain.evaluation.statistics import corrected_t_test, rank, wilcoxon_p


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
    assert corrected_t_test([0.1] * 10, 0.1) == 0.0
    with pytest.raises(InvalidParameterError, match="finite"):
        corrected_t_test([np.nan, 1.0], 0.1)
    with pytest.raises(InvalidParameterError, match="test_share"):
        corrected_t_test([0.1, 1.0], -0.1)


@pytest.mark.parametrize("ties", [False, True])
def test_ranks_and_friedman_agree_with_scipy(ties: bool) -> None:
    scores = np.random.default_rng(1).random((12, 5))
    if ties:
        scores = scores.round(1)
    expected = np.mean([stats.rankdata(-row) for row in scores], axis=0)
    found = rank(scores)
    np.testing.assert_allclose(found.average, expected, rtol=1e-12)
    assert found.p == pytest.approx(stats.friedmanchisquare(*scores.T).pvalue, rel=1e-9)


def test_ranks_do_not_depend_on_the_unit() -> None:
    """Errors can be far below 1; equal ones that differ by rounding are ties."""
    scores = np.random.default_rng(2).random((8, 4))
    scores[:, 1] = scores[:, 0] * (1 + 1e-14)
    found = rank(scores)
    assert found.average[0] == found.average[1]
    for unit in (1e-13, 1e9):
        np.testing.assert_array_equal(rank(scores * unit).average, found.average)


# Demsar 2006, table 5: critical values for the Nemenyi test at 5 %.
@pytest.mark.parametrize(
    ("kernels", "quantile"),
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (9, 3.102), (10, 3.164)],
)
def test_critical_difference_is_that_of_the_published_table(kernels: int, quantile: float) -> None:
    found = rank(np.random.default_rng(0).random((14, kernels)))
    expected = quantile * np.sqrt(kernels * (kernels + 1) / (6 * 14))
    assert found.critical_difference == pytest.approx(expected, abs=1.5e-3)


def test_groups_are_the_widest_runs_within_the_critical_difference() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        n, k = int(rng.integers(2, 15)), int(rng.integers(2, 9))
        found = rank(rng.random((n, k)) + rng.random(k))
        ranks = np.sort(found.average)
        runs = {
            (a, b)
            for a in range(k)
            for b in range(a + 1, k)
            if ranks[b] - ranks[a] <= found.critical_difference
        }
        widest = {
            run
            for run in runs
            if not any(o != run and o[0] <= run[0] and run[1] <= o[1] for o in runs)
        }
        assert set(found.groups()) == widest


def test_ranks_of_incomplete_scores_are_refused() -> None:
    with pytest.raises(InvalidParameterError, match="none missing"):
        rank([[0.1, np.nan], [0.2, 0.3]])
    with pytest.raises(InvalidParameterError, match="two kernels"):
        rank([[0.1], [0.2]])


def test_all_tied() -> None:
    found = rank(np.full((4, 3), 0.5))
    assert found.average.tolist() == [2.0, 2.0, 2.0]
    assert found.p == 1.0
    assert found.groups() == [(0, 2)]


@pytest.mark.parametrize("seed", range(5))
def test_wilcoxon_is_that_of_exact_differences(seed: int) -> None:
    """0.7 - 0.6 and 0.8 - 0.7 are a tie, although the floats differ."""
    rng = np.random.default_rng(seed)
    ours, theirs = rng.integers(70, 80, 12), rng.integers(68, 78, 12)
    expected = stats.wilcoxon(ours - theirs).pvalue  # of integers
    assert wilcoxon_p(ours / 100 - theirs / 100) == pytest.approx(expected, rel=1e-12)
