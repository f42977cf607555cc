"""Where a kernel errs, against scikit-learn and against counting by hand."""

from __future__ import annotations

import numpy as np
import pytest
from graphgrain.evaluation.experiment import run
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.records import ResultsFile, fold_records
from graphgrain.evaluation.summary import diagnose, experiments
from sklearn.dummy import DummyClassifier
from sklearn.metrics import confusion_matrix, recall_score

from graphgrain.evaluation.statistics import blind_score
from graphgrain.kernels.registry import KERNELS


@pytest.fixture(scope="module")
def experiment(three_families, tmp_path_factory):
    kernel = KERNELS["vertex-histogram"]
    with ResultsFile(tmp_path_factory.mktemp("diagnostics") / "r.jsonl") as results:
        run(three_families, kernel, Protocol("paper", folds=4), 3, results, n_jobs=2)
        [found] = experiments(results.records)
    return found


def test_confusion_and_recall_are_those_of_scikit_learn(experiment, three_families):
    found = diagnose(experiment)
    matrices, recalls = [], []
    for repetition in range(3):
        folds = [r for r in fold_records(experiment.records) if r.repetition == repetition]
        truth = np.concatenate([r.truth for r in folds])
        said = np.concatenate([r.levels[0].predictions for r in folds])
        matrices.append(confusion_matrix(truth, said))
        recalls.append(recall_score(truth, said, average=None))
    np.testing.assert_allclose(found.confusion, np.mean(matrices, axis=0))
    np.testing.assert_allclose(found.recall, np.mean(recalls, axis=0))
    assert found.classes == three_families.classes
    assert found.sizes.tolist() == np.bincount(three_families.codes).tolist()


def test_the_majority_baseline_is_that_of_scikit_learn(experiment, three_families):
    codes = three_families.codes
    constant = DummyClassifier(strategy="most_frequent").fit(np.zeros((len(codes), 1)), codes)
    expected = constant.score(np.zeros((len(codes), 1)), codes)
    assert blind_score(experiment.tested(0, 0)) == pytest.approx(expected)


def test_graphs_that_are_wrong(experiment):
    found = diagnose(experiment)
    wrong: dict[int, list[int]] = {}
    for record in fold_records(experiment.records):
        predictions = record.levels[0].predictions
        for graph, truth, said in zip(record.test, record.truth, predictions, strict=True):
            if truth != said:
                wrong.setdefault(graph, []).append(said)
    assert {item.graph: item.times for item in found.wrong} == {g: len(w) for g, w in wrong.items()}
    assert all(item.predicted in wrong[item.graph] for item in found.wrong)
    times = [item.times for item in found.wrong]
    assert times == sorted(times, reverse=True)
    assert 1 <= max(times) <= 3
