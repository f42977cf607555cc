"""Kernel ridge regression against scikit-learn on explicit features, and against leaving out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import DotProduct
from sklearn.linear_model import HuberRegressor
from sklearn.linear_model import Ridge as Peer

from graphgrain.learning.ridge import (
    Posterior,
    Ridge,
    SparsePosterior,
    fit_with_folds,
    sparse_ridge,
)

ALPHAS = (1e-3, 0.1, 10.0)


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def problem(request):
    """Features, two targets and weights."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 8)) + 2
    targets = rng.normal(size=(50, 2)) + [100, -3] + X[:, :2]
    return X, targets, rng.uniform(0.5, 3.0, 50) if request.param else np.ones(50)


def test_it_is_ridge_regression_with_a_free_intercept(problem):
    X, targets, weights = problem
    for alpha in ALPHAS:
        posterior = Ridge(ALPHAS).fit(X @ X.T, targets, alpha, weights)
        coefficients, intercept = posterior.solve(targets)
        peer = Peer(alpha).fit(X, targets, weights)
        np.testing.assert_allclose(coefficients @ X, peer.coef_, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(intercept, peer.intercept_, rtol=1e-6)
        np.testing.assert_array_equal(posterior.weights, weights)


@pytest.mark.parametrize("folds", [4, 50], ids=["folds", "leave one out"])
def test_what_is_held_out_is_predicted_by_a_model_of_the_rest(problem, folds):
    X, targets, weights = problem
    numbers = np.random.default_rng(0).permutation(50) % folds
    found = Ridge(ALPHAS).held_out(X @ X.T, targets, numbers, weights)
    assert found.shape == (len(ALPHAS), 50, 2)
    for place, alpha in enumerate(ALPHAS):
        for fold in range(folds):
            train, test = numbers != fold, numbers == fold
            peer = Peer(alpha).fit(X[train], targets[train], weights[train])
            np.testing.assert_allclose(found[place, test], peer.predict(X[test]), rtol=1e-6)


@pytest.mark.parametrize("precision", [np.float64, np.float32])
@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_conjugate_gradients_solve_the_model_of_all_and_those_without_a_fold(
    problem, alpha, precision
):
    X, targets, weights = problem
    signs = np.sign(targets - np.median(targets, axis=0))
    numbers = np.random.default_rng(0).permutation(50) % 4
    K = (X @ X.T).astype(precision)
    coefficients, intercepts, held_out = fit_with_folds(K, signs, alpha, weights, numbers)
    close = 1e-6 if precision == np.float64 else 2e-3
    peer = Peer(alpha).fit(X, signs, weights)
    np.testing.assert_allclose(coefficients @ X, peer.coef_, rtol=0, atol=close)
    np.testing.assert_allclose(intercepts, peer.intercept_, rtol=0, atol=close)
    for fold in range(4):
        train, test = numbers != fold, numbers == fold
        peer = Peer(alpha).fit(X[train], signs[train], weights[train])
        np.testing.assert_allclose(held_out[test], peer.predict(X[test]), rtol=0, atol=close)


def test_too_few_steps_are_told(problem, monkeypatch):
    X, targets, weights = problem
    monkeypatch.setattr("graphgrain.learning.ridge.MOST_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match=r"alpha=0\.001 was stopped after 2 steps"):
        fit_with_folds(X @ X.T, targets, 1e-3, weights, np.arange(50) % 5)


def test_a_class_without_training_graphs_is_never_the_largest():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(40, 5)), 2 * rng.integers(0, 2, 40)
    signs = np.where(codes[:, np.newaxis] == np.arange(4), 1.0, -1.0)
    coefficients, intercepts, held_out = fit_with_folds(
        X @ X.T, signs, 0.1, np.ones(40), np.arange(40) % 5
    )
    for scores in (X @ X.T @ coefficients.T + intercepts, held_out):
        assert set(scores.argmax(axis=1)) <= {0, 2}
        np.testing.assert_allclose(scores[:, [1, 3]], -1.0, atol=1e-6)


def test_factors_of_the_posterior_leave_one_out(problem):
    X, targets, weights = problem
    posterior = Posterior(X @ X.T, 0.1, weights)
    coefficients, _ = posterior.solve(targets)
    predicted = targets - coefficients.T / posterior.held_out_factors()[:, np.newaxis]
    for out in range(50):
        rest = np.arange(50) != out
        peer = Peer(0.1).fit(X[rest], targets[rest], weights[rest])
        np.testing.assert_allclose(predicted[out], peer.predict(X[[out]])[0], rtol=1e-6)


def test_variance_is_that_of_a_gaussian_process(problem):
    """An intercept is a constant kernel of huge variance, which scikit-learn's process can have."""
    X, targets, weights = problem
    rng = np.random.default_rng(1)
    new = np.vstack([rng.normal(size=(20, 8)), X[:3]])
    posterior = Posterior(X @ X.T, 0.3, weights)
    K, own = new @ X.T, (new**2).sum(axis=1)
    influence = posterior.influence(K)
    np.testing.assert_allclose(
        influence, np.linalg.solve(X @ X.T + np.diag(0.3 / weights), K.T).T, atol=1e-9
    )
    peer = GaussianProcessRegressor(DotProduct(1e3, "fixed"), alpha=0.3 / weights, optimizer=None)
    peer.fit(X, targets[:, 0] - 100)
    mean, deviation = peer.predict(new, return_std=True)
    np.testing.assert_allclose(posterior.variance(K, own, influence), deviation**2, rtol=1e-3)
    coefficients, intercept = posterior.solve(targets - 100)
    np.testing.assert_allclose((K @ coefficients.T + intercept)[:, 0], mean, atol=1e-3)


def test_variance_of_what_is_far_is_its_own_similarity():
    posterior = Posterior(np.eye(3), 1e-9, np.ones(3))
    K = np.zeros((1, 3))
    # nothing is shared, so that only the mean of the three is known
    found = posterior.variance(K, np.ones(1), posterior.influence(K))
    np.testing.assert_allclose(found, 1 + 1 / 3)


def test_matrices_that_rounding_has_spoiled_are_solved():
    X = np.random.default_rng(0).normal(size=(30, 2))
    K = X @ X.T - 1e-12 * np.eye(30)  # 28 eigenvalues below zero
    coefficients, intercept = Posterior(K, 1e-13, np.ones(30)).solve(X)
    np.testing.assert_allclose(K @ coefficients.T + intercept, X, atol=1e-3)


def test_wild_values_do_not_rule_with_huber():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    clean = X @ np.arange(5.0) + 0.1 * rng.normal(size=200)
    wild = clean.copy()
    wild[:4] += 1000
    weights = np.ones(200)
    new = rng.normal(size=(50, 5))
    truth = new @ np.arange(5.0)
    errors = {}
    for loss in ("squared", "huber"):
        posterior = Ridge([0.1], loss).fit(X @ X.T, wild[:, np.newaxis], 0.1, weights)
        coefficients, intercept = posterior.solve(wild[:, np.newaxis])
        errors[loss] = np.abs(new @ X.T @ coefficients[0] + intercept - truth).mean()
    peer = HuberRegressor(alpha=1e-4, max_iter=1000).fit(X, wild)
    assert errors["huber"] < 2 * np.abs(peer.predict(new) - truth).mean() + 0.02
    assert errors["squared"] > 20 * errors["huber"]
    assert (posterior.weights[:4] < 0.01).all()
    held_out = Ridge([0.1], "huber").held_out(
        X @ X.T, wild[:, np.newaxis], np.arange(200) % 5, weights
    )
    assert np.abs(held_out[0, 4:, 0] - clean[4:]).mean() < 0.15


def test_huber_weights_are_those_of_models_that_are_trained_again():
    """Iterative reweighting, with each model solved by scikit-learn."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X @ np.arange(4.0) + 0.1 * rng.standard_t(1.5, size=60)
    given = rng.uniform(0.5, 2.0, 60)
    expected = np.ones(60)
    for _ in range(5):
        errors = np.empty(60)
        for left_out in range(60):
            rest = np.arange(60) != left_out
            peer = Peer(0.1).fit(X[rest], y[rest], (given * expected)[rest])
            errors[left_out] = np.abs(y[left_out] - peer.predict(X[[left_out]])[0])
        expected = np.minimum(1.0, 1.345 * 1.4826 * np.median(errors) / errors)
    posterior = Ridge([0.1], "huber").fit(X @ X.T, y[:, np.newaxis], 0.1, given)
    np.testing.assert_allclose(posterior.weights, given * expected, rtol=1e-6)


def test_ridge_on_features_is_that_of_scikit_learn(problem):
    X, targets, weights = problem
    for several in (targets, targets[:, :1]):
        weights_, intercept = sparse_ridge(sparse.csr_array(X), several, 0.1, weights)
        peer = Peer(0.1).fit(X, several, weights)
        np.testing.assert_allclose(weights_, np.atleast_2d(peer.coef_), rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(intercept, peer.intercept_, rtol=1e-3)


def test_held_out_variance_through_landmarks_equals_leaving_out():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 60))
    K, alpha, weights = X @ X.T / 60, 0.3, rng.uniform(0.5, 2, 40)
    marks = np.arange(0, 40, 3)

    def blocks(rows):
        half = len(rows) // 2
        for some in (rows[:half], rows[half:]):
            yield K[np.ix_(some, marks)], np.diag(K)[some], weights[some]

    L = K[np.ix_(marks, marks)]
    _, found = SparsePosterior.fit(L, blocks(np.arange(40)), alpha)
    for left_out in (1, 4, 26):  # no landmarks
        rest = np.delete(np.arange(40), left_out)
        process, _ = SparsePosterior.fit(L, blocks(rest), alpha)
        k = K[[left_out]][:, marks]
        own = process.variance(k, K[[left_out], [left_out]], process.influence(k))
        assert found[left_out] == pytest.approx(own[0], rel=1e-5)


def test_a_model_without_a_graph_differs_by_its_share(problem):
    X, targets, weights = problem
    K, alpha = X @ X.T, 0.2
    whole = Posterior(K, alpha, weights)
    coefficients, intercept = whole.solve(targets)
    new = np.random.default_rng(5).normal(size=(3, X.shape[1])) @ X.T
    shares = whole.shares(new, whole.influence(new))
    np.testing.assert_allclose(shares @ targets, new @ coefficients.T + intercept, rtol=1e-8)
    errors = coefficients.T / whole.held_out_factors()[:, np.newaxis]
    for out in (0, 7):
        rest = np.delete(np.arange(len(K)), out)
        own, bias = Posterior(K[np.ix_(rest, rest)], alpha, weights[rest]).solve(targets[rest])
        found = new[:, rest] @ own.T + bias
        np.testing.assert_allclose(
            found, shares @ targets - shares[:, [out]] * errors[[out]], rtol=1e-8
        )
