"""Probabilities against scikit-learn's sigmoids, and sets of classes against what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.calibration import _SigmoidCalibration

from graphgrain.errors import InvalidParameterError
from graphgrain.learning.classifier import class_sets, fit_sigmoids, probabilities
from graphgrain.learning.estimator import COVERAGE
from graphgrain.parameters import check_value


def scored(seed, graphs, rate=0.3):
    """Classes whose log-odds are 2.5 times the score, less 1."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=graphs) + np.log(rate / (1 - rate)) / 2.5 + 0.4
    return scores, (rng.random(graphs) < 1 / (1 + np.exp(1 - 2.5 * scores))).astype(int)


@pytest.mark.parametrize("unit", [1.0, 1e-4, 1e5])
def test_the_sigmoid_is_platts(unit):
    scores, codes = scored(0, 400)
    [[slope, intercept]] = fit_sigmoids(codes, unit * scores[:, np.newaxis], np.ones(400))
    peer = _SigmoidCalibration().fit(scores, codes)
    np.testing.assert_allclose([slope * unit, intercept], [-peer.a_, -peer.b_], rtol=0.01)


def test_each_class_has_its_own_sigmoid():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 300)
    scores = rng.normal(size=(300, 3)) + 1.5 * np.eye(3)[codes] * [1, 2, 3]
    found = fit_sigmoids(codes, scores, np.ones(300))
    for code in range(3):
        peer = _SigmoidCalibration().fit(scores[:, code], codes == code)
        np.testing.assert_allclose(found[code], [-peer.a_, -peer.b_], rtol=0.02)


def test_weights_are_repetitions():
    scores, codes = scored(1, 400)
    weights = np.random.default_rng(0).integers(1, 4, 400)
    rows = np.repeat(np.arange(400), weights)
    [weighted] = fit_sigmoids(codes, scores[:, np.newaxis], weights.astype(float))
    [repeated] = fit_sigmoids(codes[rows], scores[rows, np.newaxis], np.ones(len(rows)))
    np.testing.assert_allclose(weighted, repeated, rtol=0.05)  # targets of Platt count graphs


def test_scores_without_signal_say_the_rate():
    scores, codes = scored(2, 300)
    [[slope, intercept]] = fit_sigmoids(codes, -scores[:, np.newaxis], np.ones(300))
    assert slope > 0  # the order of classes is that of the scores
    share = probabilities(slope * scores[:, np.newaxis] + intercept)[:, 1]
    np.testing.assert_allclose(share, codes.mean(), atol=0.01)


def test_probabilities_add_up_and_keep_the_order():
    values = np.random.default_rng(0).normal(size=(200, 4)) * [1, 10, 100, 1000]
    share = probabilities(values)
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    best = share[np.arange(200), values.argmax(axis=1)]
    np.testing.assert_array_equal(best, share.max(axis=1))
    two = probabilities(values[:, :1])
    np.testing.assert_allclose(two[:, 1], 1 / (1 + np.exp(-values[:, 0])))
    np.testing.assert_array_equal(probabilities(np.full((1, 3), -1e5)), 1 / 3)


def test_sets_by_hand():
    """A class is in the set unless its p-value among its own training graphs is too small."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 60)
    held_out, new = rng.dirichlet(np.ones(3), 60), rng.dirichlet(np.ones(3), 25)
    for coverage in (0.5, 0.8, 0.9, 0.99):
        found = class_sets(held_out, codes, new, coverage)
        for row, code in np.ndindex(*new.shape):
            own = held_out[codes == code, code]
            p_value = (1 + np.sum(own <= new[row, code])) / (len(own) + 1)
            assert found[row, code] == (p_value > 1 - coverage + 1e-12)


@pytest.mark.parametrize("coverage", [0.8, 0.95])
def test_every_class_is_covered_rare_ones_too(coverage):
    hits = np.zeros(2)
    totals = np.zeros(2)
    for seed in range(60):
        scores, codes = scored(seed, 400, rate=0.1)
        share = probabilities((2.5 * scores - 1)[:, np.newaxis])
        known, new = slice(0, 300), slice(300, 400)
        inside = class_sets(share[known], codes[known], share[new], coverage)
        for code in (0, 1):
            own = codes[new] == code
            hits[code] += inside[own, code].sum()
            totals[code] += own.sum()
    for code in (0, 1):
        # one set of training graphs makes its 100 new ones depend on each other: ten times wider
        low = binom.ppf(1e-6, totals[code], coverage) - 0.02 * totals[code]
        assert low <= hits[code]
        assert hits[code] / totals[code] < coverage + 0.06


@pytest.mark.parametrize("coverage", [0, 1, 0.0, 1.0, -0.5, 90, np.nan, "0.9", None, True])
def test_coverage_is_a_probability(coverage):
    with pytest.raises(InvalidParameterError, match="coverage must be a number above 0 and below"):
        check_value("coverage", coverage, COVERAGE)


@pytest.mark.parametrize("coverage", [0.5, np.float64(0.9), np.float32(0.9)])
def test_coverage_of_numpy(coverage):
    check_value("coverage", coverage, COVERAGE)
