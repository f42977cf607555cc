"""Support vector machines on kernel matrices against scikit-learn, one fit for each C."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

import graphgrain as gg
from graphgrain.learning.selection import best_value
from graphgrain.learning.svm import KernelSvm, Svm, classes_of

GRID = (1, 10, 100, 1000)


def gaussian(seed: int, graphs: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(graphs, 3))
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.exp(-squared), rng.integers(0, classes, graphs)


@pytest.fixture(scope="module")
def drugs():
    graphs, y = gg.load_drugs()
    K = gg.TreePlusPlus(tree_depth=2).fit_transform(graphs)
    return K, np.unique(y, return_inverse=True)[1]


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_every_C_of_the_grid_is_the_machine_that_scikit_learn_trains(seed, classes):
    K, y = gaussian(seed, 60, classes)
    train, test = np.arange(45), np.arange(45, 60)
    square, rows = K[np.ix_(train, train)], K[np.ix_(test, train)]
    machines = KernelSvm(GRID, classes).fit(square, y[train])
    for C, machine in zip(GRID, machines, strict=True):
        alone = SVC(C=C, kernel="precomputed", break_ties=True).fit(square, y[train])
        # Pair by pair, where scikit-learn counts positive values for the first of several classes.
        alone.decision_function_shape = "ovo"
        expected = alone.decision_function(rows).reshape(len(rows), -1) * (
            1 if classes == 2 else -1
        )
        values = rows @ machine.coefficients.T + machine.intercepts
        np.testing.assert_allclose(values, expected, rtol=0, atol=0.02)
        # Where no pair is undecided, so are the scores of the classes.
        alone.decision_function_shape = "ovr"
        clear = (np.abs(expected) > 0.02).all(axis=1)
        assert clear.sum() > len(rows) / 2
        assert (
            classes_of(machine.scores(rows))[clear].tolist() == alone.predict(rows)[clear].tolist()
        )
        np.testing.assert_allclose(
            machine.scores(rows)[clear], alone.decision_function(rows)[clear], rtol=0, atol=0.02
        )


def test_a_machine_without_bounded_vectors_serves_for_larger_C(drugs):
    K, y = drugs
    machines = KernelSvm(GRID, 11).fit(K, y)
    assert machines[-1] is machines[-2]
    assert machines[0] is not machines[-1]
    assert np.abs(machines[-1].coefficients).max() < 100


def test_one_class_in_the_training_part_is_predicted():
    K, _ = gaussian(0, 10, 2)
    for n_classes, shape in ((2, (10,)), (3, (10, 3))):
        [machine] = KernelSvm([1], n_classes).fit(K, np.ones(10, dtype=int))
        assert classes_of(machine.scores(K)).tolist() == [1] * 10
        assert machine.scores(K).shape == shape


def test_a_class_that_was_not_trained_comes_last():
    K, y = gaussian(1, 40, 2)
    [machine] = KernelSvm([10], 4).fit(K, 2 * y)  # classes 0 and 2 of 0..3
    scores = machine.scores(K)
    assert scores.shape == (40, 4)
    assert (scores[:, [1, 3]] < scores[:, [0, 2]].min()).all()
    assert (
        scores[:, [0, 2]].argmax(axis=1).tolist() == (classes_of(machine.scores(K)) // 2).tolist()
    )


def test_of_equal_scores_the_larger_parameter_wins():
    assert best_value(np.array([0.5, 0.7, 0.7, 0.6])) == 2
    assert best_value(np.array([0.7, 0.7, 0.7, 0.7])) == 3


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_are_those_of_scikit_learn(classes):
    K, y = gaussian(5, 60, classes)
    weights = np.random.default_rng(5).uniform(0.2, 5.0, 60)
    for C, model in zip(GRID, KernelSvm(GRID, classes).fit(K, y, weights), strict=True):
        alone = SVC(C=C, kernel="precomputed", decision_function_shape="ovo")
        alone.fit(K, y, sample_weight=weights)
        expected = alone.decision_function(K).reshape(60, -1) * (1 if classes == 2 else -1)
        values = K @ model.coefficients.T + model.intercepts
        np.testing.assert_allclose(values, expected, rtol=0, atol=0.02)


# ---------------------------------------------------------------- linear scores of classes


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_pairs_are_the_mean_margins_of_scikit_learns_pairs(classes):
    K, y = gaussian(7, 60, classes)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 60)
    for C, (coefficients, intercept) in zip(
        GRID, Svm(GRID, classes).machines(K, y, weights), strict=True
    ):
        peer = SVC(C=C, kernel="precomputed", decision_function_shape="ovo")
        peer.fit(K, y, sample_weight=weights)
        pairs = peer.decision_function(K)
        if classes == 2:
            expected = pairs[:, np.newaxis]
        else:  # scikit-learn counts positive values for the first class of a pair
            expected = np.zeros((60, classes))
            for column, (first, second) in enumerate(combinations(range(classes), 2)):
                expected[:, first] += pairs[:, column] / (classes - 1)
                expected[:, second] -= pairs[:, column] / (classes - 1)
        found = K @ coefficients.T + intercept
        np.testing.assert_allclose(found, expected, rtol=0, atol=0.02)


@pytest.mark.parametrize("classes", [3, 4])
def test_rest_is_one_machine_for_each_class(classes):
    K, y = gaussian(8, 60, classes)
    learner = Svm([10.0], classes, "rest")
    coefficients, intercept = learner.fit(K, y, 10.0, np.ones(60))
    peer = OneVsRestClassifier(SVC(C=10.0, kernel="linear"))
    values, vectors = np.linalg.eigh(K)
    X = vectors * np.sqrt(np.maximum(values, 0))  # so that X X' is the kernel
    expected = peer.fit(X, y).decision_function(X)
    np.testing.assert_allclose(K @ coefficients.T + intercept, expected, rtol=0, atol=0.02)


@pytest.mark.parametrize("scheme", ["pairs", "rest"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_held_out_scores_are_those_of_machines_without_the_fold(scheme, n_jobs):
    K, y = gaussian(9, 50, 3)
    folds = np.random.default_rng(0).permutation(50) % 4
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 50)
    learner = Svm(GRID, 3, scheme)
    found = learner.held_out(K, y, folds, weights, n_jobs)
    assert found.shape == (len(GRID), 50, 3)
    for place, C in enumerate(GRID):
        for fold in range(4):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            square = K[np.ix_(train, train)]
            coefficients, intercept = learner.fit(square, y[train], C, weights[train])
            expected = K[np.ix_(test, train)] @ coefficients.T + intercept
            np.testing.assert_allclose(found[place, test], expected, rtol=0, atol=0.02)


@pytest.mark.parametrize("scheme", ["pairs", "rest"])
def test_a_class_without_training_graphs_is_never_predicted(scheme):
    K, y = gaussian(1, 40, 2)
    coefficients, intercept = Svm([10.0], 4, scheme).fit(K, 2 * y, 10.0, np.ones(40))
    scores = K @ coefficients.T + intercept
    assert set(scores.argmax(axis=1)) <= {0, 2}


@pytest.mark.parametrize("classes", [2, 3])
def test_machines_on_features_are_close_to_those_on_their_products(classes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, 80)
    X = rng.normal(size=(80, 6)) + 2 * np.eye(6)[y]
    weights = rng.uniform(0.5, 2.0, 80)
    learner = Svm([1.0], classes, "rest")
    columns, bias = learner.fit_features(sparse.csr_array(X), y, 1.0, weights)
    coefficients, intercept = learner.fit(X @ X.T, y, 1.0, weights)
    found, expected = X @ columns.T + bias, X @ X.T @ coefficients.T + intercept
    assert np.corrcoef(found.ravel(), expected.ravel())[0, 1] > 0.995


@pytest.mark.parametrize("scheme", ["pairs", "rest"])
def test_the_only_class_of_the_training_graphs_is_the_answer(scheme):
    K = np.eye(5)
    coefficients, intercept = Svm([1.0], 3, scheme).fit(K, np.ones(5, dtype=int), 1.0, np.ones(5))
    assert (K @ coefficients.T + intercept).argmax(axis=1).tolist() == [1] * 5
