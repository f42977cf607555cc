"""Shares of regressors: equal where members are alike, fitted where they differ."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from graphgrain.learning.shares import best_shares
from graphgrain.learning.splits import random_folds, train_and_test


def some(members, seed=0, graphs=60):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(graphs, 1))
    folds = random_folds(graphs, 5, rng)
    splits = [train_and_test(folds, fold) for fold in range(5)]
    return y, [scale * y + noise * rng.normal(size=y.shape) for scale, noise in members], splits


def test_members_that_are_equally_good_count_the_same():
    y, held_out, splits = some([(1.0, 0.5)] * 12)
    shares = best_shares(held_out, y, np.ones(len(y)), splits)
    np.testing.assert_array_equal(shares, np.full(12, 1 / 12))


def test_members_that_differ_get_the_shares_of_least_squares():
    y, held_out, splits = some([(1.0, 0.1), (0.2, 1.0), (0.1, 1.0), (0.0, 1.0)])
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    shares = best_shares(held_out, y, weights, splits)

    def error(candidate):
        return np.sum(weights * (y - np.hstack(held_out) @ candidate[:, None])[:, 0] ** 2)

    found = minimize(error, np.full(4, 0.25), bounds=[(0, None)] * 4, tol=1e-12)
    np.testing.assert_allclose(shares, found.x, atol=1e-4)
    assert shares[0] > 0.9


def test_a_target_that_nobody_predicts_still_gets_a_share():
    y, _, splits = some([])
    shares = best_shares([-y, -y + 0.1], y, np.ones(len(y)), splits)
    assert (shares >= 0).all()
    assert shares.sum() > 0
