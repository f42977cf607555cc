"""Weights of terms: the likelihood is that of scikit-learn's process, and its gradient is exact."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from graphgrain.learning.evidence import PULL, likeliest_weights, log_evidence


@pytest.fixture
def problem():
    """Three Gram matrices of inputs of which the targets depend on the first."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(3, 60, 4))
    grams = np.exp(-((inputs[:, :, None] - inputs[:, None]) ** 2).sum(axis=3) / 4)
    targets = np.column_stack([np.sin(inputs[0, :, 0]), inputs[0, :, 1]]) * 3
    return grams, targets + 0.1 * rng.normal(size=targets.shape), rng.uniform(0.5, 2, 60)


def test_it_is_the_density_of_what_a_free_mean_leaves(problem):
    """Contrasts of the targets, orthonormal to a constant, have a density without the mean."""
    grams, targets, noise = problem
    logs, priors = np.array([0.3, -1.0, -2.0, -1.5]), np.zeros(3)
    covariance = np.tensordot(np.exp(logs[:3]), grams, 1) + np.exp(logs[3]) * np.diag(noise)
    contrasts = np.linalg.svd(np.ones((1, 60)))[2][1:]
    process = multivariate_normal(np.zeros(59), contrasts @ covariance @ contrasts.T)
    expected = -np.mean([process.logpdf(contrasts @ y) for y in targets.T])
    expected -= 59 / 2 * np.log(2 * np.pi)
    apart = logs[:3] - logs[:3].mean()
    found, _ = log_evidence(logs, grams, targets, noise, priors)
    # the determinant of the contrasts: 1'1 = 60
    np.testing.assert_allclose(found - PULL * (apart**2).sum(), expected + np.log(60) / 2)


def test_the_gradient_is_that_of_finite_differences(problem):
    grams, targets, noise = problem
    logs, priors = np.array([0.3, -1.0, -2.0, -1.5]), np.array([0.0, 0.0, -3.0])

    def value(at: np.ndarray) -> float:
        return log_evidence(at, grams, targets, noise, priors)[0]

    _, gradient = log_evidence(logs, grams, targets, noise, priors)
    steps = 1e-5 * np.eye(4)
    numeric = [(value(logs + step) - value(logs - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6)


def test_terms_that_explain_nothing_are_dropped(problem):
    grams, targets, noise = problem
    weights = likeliest_weights(grams, targets, noise, np.zeros(3))
    assert weights.sum() == pytest.approx(1)
    assert weights[0] > 0.8
    assert ((weights == 0) | (weights >= 0.03)).all()


def test_units_of_the_targets_do_not_matter(problem):
    grams, targets, noise = problem
    expected = likeliest_weights(grams, targets, noise, np.zeros(3))
    found = likeliest_weights(grams, 1e6 * targets - 5, noise, np.zeros(3))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_constant_targets_leave_the_weights_equal(problem):
    grams, _, noise = problem
    priors = np.array([0.0, 0.0, -9.0])
    found = likeliest_weights(grams, np.ones((60, 1)), noise, priors)
    np.testing.assert_allclose(found, [0.5, 0.5, 0.0])
