"""Support vector machines against the conditions that define them, and against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from experiments.support_vectors import cut, train

GRID = np.array([0.5, 1.0, 10.0, 100.0, 1000.0])
TOLERANCE = 1e-3
STEPS = 10_000_000


def problem(seed: int, rows: int, rank: int, duplicates: bool) -> tuple[np.ndarray, np.ndarray]:
    """A kernel matrix of unit diagonal and low rank, and classes that it cannot tell apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, rank))
    if duplicates:
        X = X[rng.integers(0, max(1, rows // 2), rows)]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=rows) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return (X @ X.T).astype(np.float32), y


def assert_optimal(K: np.ndarray, y: np.ndarray, C: float, b: np.ndarray, intercept: float) -> None:
    """The conditions of Karush, Kuhn and Tucker, in double precision."""
    size = max(1.0, np.abs(b).sum())
    slack = 2 * TOLERANCE + 1e-6 * size
    assert abs(b.sum()) < 1e-9 * size
    assert (b * y >= 0).all()
    assert (b * y <= C).all()
    margins = y * (K.astype(np.float64) @ b + intercept)
    assert (margins[b == 0] >= 1 - slack).all()
    assert (margins[np.abs(b) == C] <= 1 + slack).all()
    free = (b != 0) & (np.abs(b) < C)
    assert (np.abs(margins[free] - 1) <= slack).all()


@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(2, 60),
    rank=st.integers(1, 70),
    duplicates=st.booleans(),
)
def test_solutions_are_optimal_for_every_C(seed, rows, rank, duplicates):
    K, y = problem(seed, rows, rank, duplicates)
    coefficients, intercepts, solved, converged = train(K, y, GRID, TOLERANCE, STEPS)
    assert converged
    assert 1 <= solved <= len(GRID)
    for C, b, intercept in zip(GRID, coefficients, intercepts, strict=True):
        assert_optimal(K, y, C, b, intercept)


@pytest.mark.parametrize("rank", [3, 40, 900])
def test_large_problems_where_coefficients_are_set_aside(rank):
    K, y = problem(rank, 700, rank, True)
    coefficients, intercepts, _, converged = train(K, y, GRID[:4].copy(), TOLERANCE, STEPS)
    assert converged
    double = K.astype(np.float64)
    for C, b, intercept in zip(GRID, coefficients, intercepts, strict=False):
        assert_optimal(K, y, C, b, intercept)
        peer = SVC(C=C, kernel="precomputed").fit(double, y)
        theirs = np.zeros(len(y))
        theirs[peer.support_] = peer.dual_coef_[0]
        values = [0.5 * a @ double @ a - y @ a for a in (b, theirs)]
        assert values[0] == pytest.approx(values[1], rel=1e-5)
        expected = peer.decision_function(double)
        assert (np.sign(expected) == np.sign(double @ b + intercept))[np.abs(expected) > 0.05].all()


def test_nothing_reaches_the_bound_so_one_solution_serves_for_all():
    K, y = np.eye(6, dtype=np.float32), np.array([1.0, -1.0] * 3)
    coefficients, intercepts, solved, _ = train(K, y, GRID[1:].copy(), TOLERANCE, STEPS)
    # Each graph is similar to itself alone: all coefficients are 1, which is the bound for C = 1.
    assert solved == 2
    np.testing.assert_allclose(coefficients, np.tile(y, (4, 1)), atol=1e-6)
    np.testing.assert_allclose(intercepts, 0, atol=1e-6)


def test_equal_graphs_of_both_classes_and_graphs_similar_to_nothing():
    K = np.zeros((6, 6), np.float32)
    K[:4, :4] = 1.0  # two of each class, all equal; then two rows of zeros
    y = np.array([1.0, 1.0, -1.0, -1.0, 1.0, -1.0])
    coefficients, intercepts, _, converged = train(K, y, GRID, TOLERANCE, STEPS)
    assert converged
    for C, b, intercept in zip(GRID, coefficients, intercepts, strict=True):
        np.testing.assert_allclose(b, C * y)
        assert intercept == 0


def test_it_stops_after_the_most_steps_and_says_so():
    K, y = problem(0, 300, 3, False)
    assert not train(K, y, np.array([1000.0]), 1e-9, 10)[3]


def test_a_part_of_a_matrix():
    matrix = np.arange(20.0).reshape(4, 5)
    found = cut(matrix, np.array([3, 0]), np.array([1, 1, 4]), np.empty((2, 3)))
    assert found.tolist() == [[16, 16, 19], [1, 1, 4]]
