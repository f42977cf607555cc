"""The protocol against plain loops that say the same in the obvious way."""

from __future__ import annotations

import numpy as np
import pytest
from graphgrain.evaluation.experiment import run
from graphgrain.evaluation.labelled_graphs import prepare
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.records import ResultsFile, fold_records
from sklearn.svm import SVC

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.kernels.registry import KERNELS, Setting

GRID = (1, 10, 100, 1000)


def best_C(accuracies):
    """Of equally good ones the largest."""
    return max(GRID, key=lambda C: (round(accuracies[C], 12), C))


def accuracy_of(K, y, C, train, test):
    svm = SVC(C=C, kernel="precomputed", break_ties=True).fit(K[np.ix_(train, train)], y[train])
    return svm.score(K[np.ix_(test, train)], y[test]), svm.predict(K[np.ix_(test, train)])


@pytest.mark.parametrize("fold", [0, 4, 9])
def test_paper_mode(families, fold):
    K, y = gg.TreePlusPlus(tree_depth=1).fit_transform(families.graphs), families.codes
    protocol = Protocol("paper", seed=7)
    parts = np.array_split(np.random.default_rng([7, 2]).permutation(len(y)), 10)
    test, validation = parts[fold], parts[(fold + 1) % 10]
    rest = np.concatenate([parts[i] for i in range(10) if i not in (fold, (fold + 1) % 10)])
    accuracies = {C: accuracy_of(K, y, C, rest, validation)[0] for C in GRID}
    C = best_C(accuracies)
    nine = np.concatenate([part for i, part in enumerate(parts) if i != fold])
    _, predictions = accuracy_of(K, y, C, nine, test)

    split = protocol.test_fold(y, repetition=2, fold=fold)
    [level], fits = protocol.evaluate(K[np.newaxis], y, 2, split)
    assert split.test.tolist() == test.tolist()
    assert sorted(split.train.tolist()) == sorted(nine.tolist())
    assert level.validation == pytest.approx([accuracies[C] for C in GRID])
    assert level.C == C
    assert level.predictions == predictions.tolist()
    assert 2 <= fits <= 5
    assert (np.array(level.scores) > 0).astype(int).tolist() == level.predictions


def test_nested_mode(three_families):
    K, y = gg.TreePlusPlus(tree_depth=0).fit_transform(three_families.graphs), three_families.codes
    protocol = Protocol("nested", inner_folds=3)
    split = protocol.test_fold(y, repetition=0, fold=1)
    shares = np.bincount(y[split.test], minlength=3) / np.bincount(y)
    assert np.ptp(shares) < 0.1
    assert len(split.validation) == 3
    accuracies = {}
    for C in GRID:
        scores = []
        for inner_train, inner_test in split.validation:
            train, test = split.train[inner_train], split.train[inner_test]
            assert not set(test) & set(train)
            scores.append(accuracy_of(K, y, C, train, test)[0])
        accuracies[C] = np.mean(scores)
    inner = np.concatenate([inner_test for _, inner_test in split.validation])
    assert sorted(inner.tolist()) == list(range(len(split.train)))
    [level], _ = protocol.evaluate(K[np.newaxis], y, 3, split)
    assert level.validation == pytest.approx([accuracies[C] for C in GRID])
    assert best_C(accuracies) == level.C
    assert level.predictions == accuracy_of(K, y, level.C, split.train, split.test)[1].tolist()
    assert np.array(level.scores).shape == (len(split.test), 3)


@pytest.mark.parametrize("mode", ["paper", "nested"])
def test_each_graph_is_tested_once_and_never_seen_before(mode):
    y = np.arange(43) % 2
    for repetition in (0, 1):
        folds = [Protocol(mode).test_fold(y, repetition, fold) for fold in range(10)]
        assert sorted(np.concatenate([f.test for f in folds]).tolist()) == list(range(43))
        for fold in folds:
            assert not set(fold.train) & set(fold.test)
    first, second = (Protocol(mode).test_fold(y, r, 0).test.tolist() for r in (0, 1))
    assert first != second


@pytest.mark.parametrize("mode", ["paper", "nested"])
def test_results_do_not_depend_on_threads(mode, families, tmp_path):
    found = []
    for jobs in (1, 3):
        with ResultsFile(tmp_path / f"{mode}{jobs}.jsonl") as results:
            run(families, SMALL, Protocol(mode), 2, results, n_jobs=jobs)
            records = sorted(fold_records(results.records), key=lambda r: (r.repetition, r.fold))
            found.append([(r.test, r.truth, r.levels, r.fits) for r in records])
    assert len(found[0]) == 20
    assert found[0] == found[1]


SMALL = KERNELS["tree++"].with_settings([Setting({"path_depth": 3, "tree_depth": 2})], "small")


def test_a_tiny_set_whose_training_part_may_have_one_class(tmp_path):
    edge, path = ([(0, 1)], [1, 1]), ([(0, 1), (1, 2)], [1, 1, 1])
    data = prepare("tiny", [edge, path, edge, path, edge], [0, 1, 0, 1, 0], folds=5)
    for mode in ("paper", "nested"):
        with ResultsFile(tmp_path / f"{mode}.jsonl") as results:
            assert run(data, SMALL, Protocol(mode, folds=5), 3, results) == 15


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "naive"}, "mode must be one of"),
        ({"mode": "paper", "folds": 2}, "folds must be 3 or more"),
        ({"folds": 1}, "folds must be 2 or more"),
        ({"inner_folds": 1}, "inner_folds must be 2 or more"),
        ({"C": [0]}, "C must be a list of finite numbers above 0"),
        ({"seed": -1}, "seed must be 0 or more"),
    ],
)
def test_wrong_rules(arguments, message):
    with pytest.raises(InvalidParameterError, match=message):
        Protocol(**arguments)
