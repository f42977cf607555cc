"""Kernel ridge regression against scikit-learn's on explicit features, fit by fit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from graphgrain.learning.learner import split_answers
from graphgrain.learning.ridge import KernelRidge
from graphgrain.learning.splits import random_folds, train_and_test

ALPHAS = (1e-3, 0.1, 10.0)


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def problem(request):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 8)) + 2
    targets = rng.normal(size=(50, 2)) + [100, -3] + X[:, :2]
    return X, targets, rng.uniform(0.5, 3.0, 50) if request.param else None


def test_it_is_ridge_regression_with_a_free_intercept(problem):
    X, targets, weights = problem
    for alpha, model in zip(
        ALPHAS, KernelRidge(ALPHAS).fit(X @ X.T, targets, weights), strict=True
    ):
        peer = Ridge(alpha).fit(X, targets, weights)
        [alone] = KernelRidge([alpha]).fit(X @ X.T, targets, weights)
        np.testing.assert_allclose(alone.coefficients @ X, peer.coef_, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(alone.intercepts, peer.intercept_, rtol=1e-6)
        np.testing.assert_allclose(model.coefficients @ X, peer.coef_, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(model.intercepts, peer.intercept_, rtol=1e-6)


def test_what_is_held_out_is_predicted_by_the_rest(problem):
    X, targets, weights = problem
    folds = random_folds(50, 4, np.random.default_rng(0))
    splits = [train_and_test(folds, fold) for fold in range(4)]
    learner = KernelRidge(ALPHAS)
    found = learner.held_out(X @ X.T, targets, splits, weights)
    for (train, test), answers in zip(splits, found, strict=True):
        one_by_one, _ = split_answers(learner, X @ X.T, targets, (train, test), weights)
        for alpha, answer, alone in zip(ALPHAS, answers, one_by_one, strict=True):
            part = None if weights is None else weights[train]
            expected = Ridge(alpha).fit(X[train], targets[train], part).predict(X[test])
            np.testing.assert_allclose(answer, expected, rtol=1e-6)
            np.testing.assert_allclose(alone, expected, rtol=1e-6)
