"""The protocol against plain loops that say the same in the obvious way."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

import graphgrain as gg
from experiments.data import prepare
from experiments.kernels import entrant
from experiments.protocol import INNER_FOLDS, Protocol
from experiments.records import Records
from experiments.run import run

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

    split = protocol.fold(y, repetition=2, fold=fold)
    level = protocol.evaluate(K, y, 2, split)
    assert split.test.tolist() == test.tolist()
    assert sorted(split.train.tolist()) == sorted(nine.tolist())
    assert level["validation"] == pytest.approx([accuracies[C] for C in GRID])
    assert level["C"] == C
    assert level["predictions"] == predictions.tolist()
    assert (np.array(level["scores"]) > 0).astype(int).tolist() == level["predictions"]


def test_nested_mode(three_families):
    K, y = gg.TreePlusPlus(tree_depth=0).fit_transform(three_families.graphs), three_families.codes
    protocol = Protocol("nested")
    split = protocol.fold(y, repetition=0, fold=1)
    shares = np.bincount(y[split.test], minlength=3) / np.bincount(y)
    assert np.ptp(shares) < 0.1
    assert len(split.validation) == INNER_FOLDS
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
    level = protocol.evaluate(K, y, 3, split)
    assert level["validation"] == pytest.approx([accuracies[C] for C in GRID])
    assert best_C(accuracies) == level["C"]
    assert (
        level["predictions"] == accuracy_of(K, y, level["C"], split.train, split.test)[1].tolist()
    )
    assert np.array(level["scores"]).shape == (len(split.test), 3)


@pytest.mark.parametrize("mode", ["paper", "nested"])
def test_each_graph_is_tested_once_and_never_seen_before(mode):
    y = np.arange(43) % 2
    for repetition in (0, 1):
        folds = [Protocol(mode).fold(y, repetition, fold) for fold in range(10)]
        assert sorted(np.concatenate([f.test for f in folds]).tolist()) == list(range(43))
        for fold in folds:
            assert not set(fold.train) & set(fold.test)
    first, second = (Protocol(mode).fold(y, r, 0).test.tolist() for r in (0, 1))
    assert first != second


@pytest.mark.parametrize("mode", ["paper", "nested"])
def test_results_do_not_depend_on_threads(mode, families, tmp_path):
    found = []
    for jobs in (1, 3):
        records = Records(tmp_path / f"{mode}{jobs}.jsonl")
        run(families, SMALL, Protocol(mode), 2, records, n_jobs=jobs)
        folds = [r for r in records.records if r["kind"] == "fold"]
        folds.sort(key=lambda r: (r["repetition"], r["fold"]))
        found.append([(r["test"], r["truth"], r["levels"]) for r in folds])
    assert len(found[0]) == 20
    assert found[0] == found[1]


SMALL = entrant("graphgrain:TreePlusPlus(path_depth=3, tree_depth=2)")


def test_a_tiny_set_whose_training_part_may_have_one_class(tmp_path):
    edge, path = ([(0, 1)], [1, 1]), ([(0, 1), (1, 2)], [1, 1, 1])
    graphs = gg.as_graphs([edge, path, edge, path, edge])
    data = prepare("tiny", graphs, np.array([0, 1, 0, 1, 0]))
    for mode in ("paper", "nested"):
        records = Records(tmp_path / f"{mode}.jsonl")
        assert run(data, SMALL, Protocol(mode, folds=5), 3, records) == 15


@pytest.mark.parametrize(
    "arguments", [{"mode": "naive"}, {"mode": "paper", "folds": 2}, {"folds": 1}, {"seed": -1}]
)
def test_wrong_rules(arguments):
    with pytest.raises(SystemExit, match="mode is one of paper, nested, folds"):
        Protocol(**arguments)
