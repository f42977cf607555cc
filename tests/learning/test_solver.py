"""Ridge regression against scikit-learn on explicit features, and against leaving out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import DotProduct
from sklearn.linear_model import Ridge

from graphgrain.core.triangle import Triangle
from graphgrain.errors import GraphgrainWarning, NotEnoughMemoryError
from graphgrain.learning import solver
from graphgrain.learning.solver import Posterior, best_alpha, solve_large


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def problem(request):
    """Features, two targets and weights."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 8)) + 2
    targets = rng.normal(size=(50, 2)) + [100, -3] + X[:, :2]
    return X, targets, rng.uniform(0.5, 3.0, 50) if request.param else np.ones(50)


@pytest.mark.parametrize("alpha", [1e-3, 0.1, 10.0])
def test_it_is_ridge_regression_with_a_free_intercept(problem, alpha):
    X, targets, weights = problem
    coefficients, intercept = Posterior(X @ X.T, alpha, weights).fit(targets)
    peer = Ridge(alpha).fit(X, targets, weights)
    np.testing.assert_allclose(coefficients @ X, peer.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(intercept, peer.intercept_, rtol=1e-6)


@pytest.mark.parametrize("groups", [50, 7], ids=["leave one out", "groups"])
def test_what_is_left_out_is_predicted_by_a_model_of_the_rest(problem, groups):
    X, targets, weights = problem
    numbers = np.random.default_rng(0).permutation(50) % groups
    model = Posterior(X @ X.T, 0.1, weights)
    coefficients, intercepts = model.fit(targets)
    errors, variances = model.held_out_errors(coefficients, numbers)
    for group in range(groups):
        train, test = numbers != group, numbers == group
        peer = Ridge(0.1).fit(X[train], targets[train], weights[train])
        np.testing.assert_allclose((targets - errors)[test], peer.predict(X[test]), rtol=1e-6)
        rest = Posterior(X[train] @ X[train].T, 0.1, weights[train])
        expected = rest.variance(X[test] @ X[train].T, (X[test] ** 2).sum(axis=1))
        np.testing.assert_allclose(variances[test], expected, rtol=1e-6, atol=1e-9)
        members = np.flatnonzero(test)
        without, intercept = model.without(coefficients, intercepts, members)
        assert not without[:, members].any()
        np.testing.assert_allclose(without @ X, peer.coef_, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(intercept, peer.intercept_, rtol=1e-6)


def test_covariance_is_that_of_a_gaussian_process(problem):
    """An intercept is a constant kernel of huge variance, which scikit-learn's process can have."""
    X, targets, weights = problem
    new = np.vstack([np.random.default_rng(1).normal(size=(20, 8)), X[:3]])
    model = Posterior(X @ X.T, 0.3, weights)
    peer = GaussianProcessRegressor(DotProduct(1e3, "fixed"), alpha=0.3 / weights, optimizer=None)
    mean, covariance = peer.fit(X, targets[:, 0] - 100).predict(new, return_cov=True)
    K, prior = new @ X.T, new @ new.T
    np.testing.assert_allclose(model.covariance(K, prior), covariance, rtol=1e-3, atol=1e-4)
    variance = model.variance(K, np.diagonal(prior))
    np.testing.assert_allclose(variance, np.diagonal(covariance), rtol=1e-3)
    coefficients, intercept = model.fit(targets - 100)
    np.testing.assert_allclose((K @ coefficients.T + intercept)[:, 0], mean, atol=1e-3)


def test_matrices_that_rounding_has_spoiled_are_solved():
    X = np.random.default_rng(0).normal(size=(30, 2))
    K = X @ X.T - 1e-12 * np.eye(30)  # 28 eigenvalues below zero
    coefficients, intercept = Posterior(K, 1e-13, np.ones(30)).fit(X)
    np.testing.assert_allclose(K @ coefficients.T + intercept, X, atol=1e-3)


def test_alpha_has_the_smallest_held_out_error(problem):
    X, targets, weights = problem
    noisy = targets + 3 * np.random.default_rng(0).normal(size=targets.shape)
    numbers = np.arange(50) // 2
    losses = []
    for alpha in solver.GRID:
        errors = np.empty_like(noisy)
        for group in range(25):
            train, test = numbers != group, numbers == group
            peer = Ridge(alpha).fit(X[train], noisy[train], weights[train])
            errors[test] = noisy[test] - peer.predict(X[test])
        losses.append((weights @ (errors**2 / noisy.var(axis=0))).sum())
    expected = solver.GRID[int(np.argmin(losses))]
    whole, _ = best_alpha(X @ X.T, noisy, weights, numbers)
    descended, _ = best_alpha(X @ X.T, noisy, weights, numbers, start=0.1)
    assert whole == pytest.approx(expected)
    assert descended == pytest.approx(expected)


# ---------------------------------------------------------------- triangles, conjugate gradients


def gram(size: int) -> np.ndarray:
    inputs = np.random.default_rng(0).normal(size=(size, 3))
    return np.exp(-((inputs[:, None] - inputs) ** 2).sum(axis=2) / 2)


def triangle(K: np.ndarray, fixed: bool) -> Triangle:
    found = Triangle(len(K), fixed)
    for begin in range(0, len(K), 64):
        found.set_rows(begin, K[begin : begin + 64])
    return found


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("size", [1, 2, 7, 300])
def test_products_are_those_of_the_whole_matrix(fixed, size):
    K = gram(size)
    vectors = np.random.default_rng(1).normal(size=(size, 3))
    packed = triangle(K, fixed)
    stored = np.round(K * 65535) / 65535 if fixed else K.astype(np.float32).astype(float)
    assert np.abs(stored - K).max() <= 0.5001 / 65535
    np.testing.assert_allclose(packed.product(vectors, 1), stored @ vectors, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(packed.product(vectors, 1), packed.product(vectors, 2))
    every = np.arange(size)
    np.testing.assert_allclose(packed.columns(every), stored, rtol=1e-15)


@pytest.mark.parametrize("fixed", [True, False])
def test_conjugate_gradients_solve_what_cholesky_solves(fixed):
    K = gram(300)
    rng = np.random.default_rng(0)
    targets, weights = rng.normal(size=(300, 2)), rng.uniform(0.5, 2, 300)
    packed, landmarks = triangle(K, fixed), np.arange(0, 300, 6)
    arguments = targets, 0.05 / weights, landmarks, packed.columns(landmarks)
    coefficients, intercepts, start = solve_large(packed, *arguments, None)
    expected, shift = Posterior(packed.columns(np.arange(300)), 0.05, weights).fit(targets)
    np.testing.assert_allclose(coefficients, expected, atol=1e-6)
    np.testing.assert_allclose(intercepts, shift, atol=1e-6)
    two, _, _ = solve_large(packed, *arguments, 2)
    np.testing.assert_allclose(two, coefficients, rtol=0, atol=1e-10)
    # rows without a target, from the solution with them
    noise = np.where(np.arange(300) % 5 == 0, np.inf, 0.05 / weights)
    rest = np.isfinite(noise)
    without, shifts, _ = solve_large(packed, targets, noise, *arguments[2:], None, start)
    some, shift = Posterior(
        packed.columns(np.arange(300))[np.ix_(rest, rest)], 0.05, weights[rest]
    ).fit(targets[rest])
    np.testing.assert_allclose(without[:, rest], some, atol=1e-6)
    np.testing.assert_allclose(shifts, shift, atol=1e-6)
    assert not without[:, ~rest].any()


def test_too_few_steps_are_told(monkeypatch):
    K = gram(300)
    monkeypatch.setattr(solver, "MOST_STEPS", 2)
    packed = triangle(K, True)
    landmarks = np.arange(3)
    rows = packed.columns(landmarks)
    with pytest.warns(GraphgrainWarning, match="stopped after 2 steps"):
        solve_large(packed, K[:, :1], np.full(300, 1e-3), landmarks, rows, None)


def test_too_little_memory_names_the_number_that_fits(monkeypatch):
    from graphgrain.core import memory, triangle

    monkeypatch.setattr(memory, "available_memory", lambda: 2**30)
    with pytest.raises(NotEnoughMemoryError, match=r"100,000 graphs would need .*max_graphs=\d+"):
        triangle.require_triangle(100_000, True, 16_000.0)
