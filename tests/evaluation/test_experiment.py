"""Estimators that tune themselves in an evaluation: fitted to the training part of each fold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from graphgrain.evaluation.experiment import (
    AUTO_ROW,
    TREE_ROW,
    TunedRow,
    regression_row,
    run,
    setting_grams,
)
from graphgrain.evaluation.labelled_graphs import prepare
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.records import (
    SELF_TUNED,
    ResultsFile,
    fold_records,
    from_line,
    to_line,
)
from graphgrain.evaluation.summary import summarise

import graphgrain as gg
from graphgrain.kernels.registry import KERNELS, Setting

NESTED = Protocol(folds=3, inner_folds=2)


class Threshold:
    """A classifier and regressor that looks at the size of graphs alone: quick, and checkable."""

    fitted: list[int] = []  # noqa: RUF012 - watched by the tests

    def __init__(self, cv=5, shift=0):
        self.cv, self.shift = cv, shift

    def get_params(self, deep=True):
        return {"cv": self.cv, "shift": self.shift}

    def set_params(self, **values):
        vars(self).update(values)
        return self

    def fit(self, graphs, y):
        Threshold.fitted.append(len(graphs))
        self.cut = float(np.median(graphs.vertex_counts)) + self.shift
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, graphs):
        return graphs.vertex_counts - self.cut

    def predict(self, graphs):
        scores = self.decision_function(graphs)
        return scores if self.classes_.dtype.kind == "f" else (scores > 0).astype(int)


def test_a_fold_is_the_estimator_on_its_training_graphs(families, tmp_path):
    Threshold.fitted.clear()
    row = TunedRow("tree++", Threshold, Threshold, {"shift": 1})
    with ResultsFile(tmp_path / "r.jsonl") as results:
        assert run(families, row, NESTED, 2, results) == 6
        assert run(families, row, NESTED, 2, results) == 0  # a second run has nothing to do
        records = fold_records(results.records)
    assert len(Threshold.fitted) == 6
    for record in records:
        split = NESTED.test_fold(families.codes, record.repetition, record.fold)
        assert record.test == split.test.tolist()
        # Spelt out: the median of the training graphs, and nothing of the test graphs.
        cut = np.median(families.graphs.vertex_counts[split.train]) + 1
        sizes = families.graphs.vertex_counts[split.test]
        assert record.levels[0].predictions == (sizes > cut).astype(int).tolist()
        assert record.levels[0].scores == (sizes - cut).tolist()
        assert from_line(to_line(record)) == record
        # no parameter may be forgotten: other parameters are another piece of work
        assert record.variant == "self-tuned, shift=1"


def test_numbers_are_predicted_fold_by_fold(tmp_path):
    graphs, _ = gg.load_drugs()
    sizes = graphs.vertex_counts[:40] + 0.5
    data = prepare("sizes", graphs[:40], sizes, numeric=True)
    row = TunedRow("tree++", Threshold, Threshold)
    with ResultsFile(tmp_path / "r.jsonl") as results:
        run(data, row, NESTED, 1, results)
        [summary] = summarise(results.records)
        records = fold_records(results.records)
    errors = []
    for record in records:
        train = np.setdiff1d(np.arange(40), record.test)
        predicted = graphs.vertex_counts[record.test] - np.median(graphs.vertex_counts[train])
        np.testing.assert_allclose(record.levels[0].predictions, predicted)
        errors += (predicted - sizes[record.test]).tolist()
        assert from_line(to_line(record)) == record
    assert sorted(place for record in records for place in record.test) == list(range(40))
    assert summary.rmse.mean == pytest.approx(np.sqrt(np.mean(np.square(errors))))
    assert (summary.accuracy.mean, summary.numeric) == (None, True)


def test_the_rows_are_the_estimators_that_users_import(families):
    for row, kernels in ((TREE_ROW, "tree++"), (AUTO_ROW, "auto")):
        made = row.estimator(families, NESTED)
        assert isinstance(made, gg.GraphClassifier)
        assert made.get_params()["kernels"] == kernels
        assert made.get_params()["cv"] == NESTED.inner_folds
        numbers = replace(families, classes=[], codes=families.codes / 2)
        assert isinstance(row.estimator(numbers, NESTED), gg.GraphRegressor)
    numbers = replace(families, classes=[], codes=families.codes / 2)
    own = regression_row(KERNELS["wl"]).estimator(numbers, NESTED)
    assert isinstance(own, gg.GraphRegressor)
    assert own.get_params()["kernels"] == "wl"


def test_an_estimator_of_ours_in_a_fold(families, tmp_path):
    row = replace(AUTO_ROW, parameters={"kernels": "vertex-histogram"})
    with ResultsFile(tmp_path / "r.jsonl") as results:
        run(families, row, NESTED, 1, results)
        record = fold_records(results.records)[0]
    split = NESTED.test_fold(families.codes, record.repetition, record.fold)
    model = gg.GraphClassifier(kernels="vertex-histogram", cv=2, random_state=0)
    model.fit(families.graphs[split.train], families.codes[split.train])
    assert record.levels[0].predictions == model.predict(families.graphs[split.test]).tolist()
    np.testing.assert_allclose(
        record.levels[0].scores, model.decision_function(families.graphs[split.test]), rtol=1e-5
    )
    assert record.variant == f"{SELF_TUNED}, kernels=vertex-histogram"


def test_a_filtered_setting_sees_filtered_graphs():
    triangle = ([(0, 1), (1, 2), (0, 2)], ["C", "C", "O"], [2, 3, 1])
    path = ([(0, 1), (1, 2)], ["C", "C", "O"], [2, 3])
    complete = prepare("BZR_MD", [triangle, path] * 2, [1, 2, 1, 2])
    own = {"path_depth": 2, "tree_depth": 1, "edge_labels": True}
    filtered = Setting(own, gg.EdgeFilter(drop=[1]))
    seen = setting_grams(KERNELS["tree++"], filtered, complete.graphs)
    assert seen == pytest.approx(np.ones((2, 4, 4)))  # without the bond that is none: a path
    assert setting_grams(KERNELS["tree++"], Setting(own), complete.graphs).min() < 0.99
