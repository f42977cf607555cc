"""Support vector machines on kernel matrices against scikit-learn, one fit for each C."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

import graphgrain as gg
from experiments.protocol import classes_of
from experiments.svm import fit_svms

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
    machines = fit_svms(square, y[train], GRID, classes)
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
    machines = fit_svms(K, y, GRID, 11)
    assert machines[-1] is machines[-2]
    assert machines[0] is not machines[-1]
    assert np.abs(machines[-1].coefficients).max() < 100


def test_one_class_in_the_training_part_is_predicted():
    K, _ = gaussian(0, 10, 2)
    for n_classes, shape in ((2, (10,)), (3, (10, 3))):
        [machine] = fit_svms(K, np.ones(10, dtype=int), [1], n_classes)
        assert classes_of(machine.scores(K)).tolist() == [1] * 10
        assert machine.scores(K).shape == shape


def test_a_class_that_was_not_trained_comes_last():
    K, y = gaussian(1, 40, 2)
    [machine] = fit_svms(K, 2 * y, [10], 4)  # classes 0 and 2 of 0..3
    scores = machine.scores(K)
    assert scores.shape == (40, 4)
    assert (scores[:, [1, 3]] < scores[:, [0, 2]].min()).all()
    assert (
        scores[:, [0, 2]].argmax(axis=1).tolist() == (classes_of(machine.scores(K)) // 2).tolist()
    )
