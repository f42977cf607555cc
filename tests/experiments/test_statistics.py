"""Ranks and tests over data sets, against SciPy and published tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments.statistics import against, ranks, wilcoxon_p


@pytest.mark.parametrize("ties", [False, True])
def test_ranks_and_friedman_agree_with_scipy(ties: bool) -> None:
    scores = np.random.default_rng(1).random((12, 5))
    if ties:
        scores = scores.round(1)
    expected = np.mean([stats.rankdata(-row) for row in scores], axis=0)
    found = ranks(pd.DataFrame(scores))
    np.testing.assert_allclose(found.average.sort_index(), expected, rtol=1e-12)
    assert found.p == pytest.approx(stats.friedmanchisquare(*scores.T).pvalue, rel=1e-9)


# Demsar 2006, table 5: critical values for the Nemenyi test at 5 %.
@pytest.mark.parametrize(
    ("kernels", "quantile"),
    [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (9, 3.102), (10, 3.164)],
)
def test_critical_difference_is_that_of_the_published_table(kernels: int, quantile: float) -> None:
    found = ranks(pd.DataFrame(np.random.default_rng(0).random((14, kernels))))
    expected = quantile * np.sqrt(kernels * (kernels + 1) / (6 * 14))
    assert found.critical_difference == pytest.approx(expected, abs=1.5e-3)


def test_groups_are_the_widest_runs_within_the_critical_difference() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        n, k = int(rng.integers(2, 15)), int(rng.integers(2, 9))
        found = ranks(pd.DataFrame(rng.random((n, k)) + rng.random(k)))
        values = found.average.to_numpy()
        runs = {
            (a, b)
            for a in range(k)
            for b in range(a + 1, k)
            if values[b] - values[a] <= found.critical_difference
        }
        widest = {
            run
            for run in runs
            if not any(o != run and o[0] <= run[0] and run[1] <= o[1] for o in runs)
        }
        assert set(found.groups()) == widest


def test_only_kernels_with_a_score_on_every_set_are_ranked() -> None:
    table = pd.DataFrame({"a": [0.9, 0.8], "b": [0.5, np.nan], "c": [0.7, 0.9]})
    assert ranks(table).average.to_dict() == {"a": 1.5, "c": 1.5}


def test_all_tied() -> None:
    found = ranks(pd.DataFrame(np.full((4, 3), 0.5)))
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


def test_a_kernel_against_each_other() -> None:
    table = pd.DataFrame({"a": range(7), "b": np.arange(7) - 1.0, "c": [9.0] * 7})
    found = against(table, "a")
    assert found.better.to_dict() == {"b": 7, "c": 0}
    assert found.of.to_dict() == {"b": 7, "c": 7}
    assert found.p["b"] == pytest.approx(2 * wilcoxon_p([1.0] * 7))  # by Holm, of two
