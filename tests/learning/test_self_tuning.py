"""What the estimators choose by themselves: shared extractions, what they may see, their time."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import graphgrain as gg
from graphgrain.kernels.features import COUNT_MAPS
from graphgrain.learning import tuning
from graphgrain.learning.candidates import COUNTS

ESTIMATORS = [gg.TreePlusPlusClassifier, gg.TreePlusPlusRegressor]


@pytest.fixture(scope="module")
def drugs():
    """Two families of molecules; their bonds have labels."""
    graphs, y = gg.load_drugs()
    pick = np.flatnonzero(np.isin(y, ["opioids", "barbiturates"]))
    return graphs[pick], y[pick]


@pytest.fixture(scope="module")
def bonds_matter():
    """Rings of six equal atoms whose class is the label of their bonds, and nothing else."""
    ring = [(i, (i + 1) % 6) for i in range(6)]
    tail = [(5, i) for i in range(6, 10)]
    graphs, y = [], []
    for number in range(24):
        more = tail[: number % 5]
        bonds = [2 if number % 2 else 1] * 6 + [3] * len(more)
        graphs.append((ring + more, ["C"] * (6 + len(more)), bonds))
        y.append("double" if number % 2 else "single")
    return gg.as_graphs(graphs), np.array(y)


def targets_for(kind, graphs, y):
    return y if kind is gg.TreePlusPlusClassifier else graphs.vertex_counts.astype(float)


# ---------------------------------------------------------------- one extraction for many kernels


@pytest.mark.parametrize("counts", COUNT_MAPS)
@pytest.mark.parametrize("edge_labels", [False, True])
def test_a_shared_extraction_is_as_good_as_ones_own(drugs, counts, edge_labels):
    graphs, _ = drugs
    counted = gg.TreePlusPlus(4, 3, edge_labels=edge_labels).count_features(graphs[::2])
    before = pickle.dumps(counted)
    kernel = gg.TreePlusPlus(4, 3, edge_labels=edge_labels, counts=counts)
    shared = clone(kernel).fit_counted(graphs[::2], counted)
    own = kernel.fit(graphs[::2])
    assert pickle.dumps(counted) == before  # others need it too
    np.testing.assert_array_equal(shared.gram_levels(), own.gram_levels())
    np.testing.assert_array_equal(shared.transform(graphs), own.transform(graphs))
    for one, other in zip(shared.each_gram_level(), own.gram_levels(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert shared.feature_names().tolist() == own.feature_names().tolist()


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_count_maps_and_depths_share_extractions(kind, drugs, monkeypatch):
    graphs, y = drugs
    extractions = []
    count = gg.TreePlusPlus.count_features

    def counting(self, batch):
        extractions.append((self.path_depth, self.edge_labels, len(batch)))
        return count(self, batch)

    monkeypatch.setattr(gg.TreePlusPlus, "count_features", counting)
    model = kind([2, 3], 2, normalize=True, cv=2).fit(graphs, targets_for(kind, graphs, y))
    n = len(graphs)
    each = [(2, False, n), (2, True, n), (3, False, n), (3, True, n)]
    assert sorted(extractions[:4]) == each
    # once more for what the members have learnt
    assert set(extractions[4:]) <= set(each)
    assert len(extractions) <= 8
    grid = len(model.get_params()[model._tuned])
    assert len(model.cv_results_["params"]) == 4 * len(COUNTS) * 3 * grid


def test_every_figure_is_that_of_a_model_with_these_parameters(drugs):
    graphs, y = drugs
    whole = gg.TreePlusPlusClassifier(3, 1, C=[1, 10], cv=3).fit(graphs, y)
    results = whole.cv_results_
    tried = {tuple(p.items()): score for p, score in zip(*_columns(results), strict=True)}
    assert len(tried) == len(COUNTS) * 2 * 2 * 2
    for counts in COUNTS:
        for edge_labels in (False, True):
            one = gg.TreePlusPlusClassifier(
                3, 1, C=[1, 10], counts=counts, edge_labels=edge_labels, cv=3
            ).fit(graphs, y)
            for params, score in zip(*_columns(one.cv_results_), strict=True):
                assert tried[tuple(params.items())] == score
    assert tried[tuple(whole.best_params_.items())] == whole.best_score_
    assert whole.best_score_ == max(tried.values())


def _columns(results):
    return results["params"], results["mean_test_score"]


# ---------------------------------------------------------------- what is tried


def test_edge_labels_are_chosen_where_they_matter(bonds_matter):
    graphs, y = bonds_matter
    model = gg.TreePlusPlusClassifier(cv=3).fit(graphs[:18], y[:18])
    assert model.best_params_["edge_labels"] is True
    assert model.score(graphs[18:], y[18:]) == 1.0
    blind = gg.TreePlusPlusClassifier(cv=3, edge_labels=False).fit(graphs[:18], y[:18])
    assert blind.best_score_ < 1.0


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("bonds", [None, [1, 1, 1]])
def test_edge_labels_that_say_nothing_are_not_tried(kind, bonds):
    ring = ([(0, 1), (1, 2), (0, 2)], [1, 1, 1], *([bonds] if bonds else []))
    path = ([(0, 1), (1, 2)], [1, 1, 1], *([bonds[:2]] if bonds else []))
    y = ["ring", "path"] * 4 if kind is gg.TreePlusPlusClassifier else [3.0, 2.0] * 4
    model = kind(cv=2).fit([ring, path] * 4, y)
    assert set(model.cv_results_["param_edge_labels"]) == {False}
    assert list(dict.fromkeys(model.cv_results_["param_counts"])) == list(COUNTS)
    assert model.predict([path, ring])[0] == pytest.approx(y[1], abs=1e-3)


def test_of_equally_good_settings_the_plainest_is_taken():
    ring, path = ([(0, 1), (1, 2), (0, 2)], [1, 1, 1]), ([(0, 1), (1, 2)], [1, 1, 1])
    model = gg.TreePlusPlusClassifier(cv=2).fit([ring, path] * 4, ["ring", "path"] * 4)
    assert model.best_score_ == 1.0
    assert model.best_params_["counts"] == "raw"
    assert model.best_params_["tree_depth"] == 0


# ---------------------------------------------------------------- training data only


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_graphs_to_predict_change_nothing_that_was_chosen(kind, drugs):
    graphs, y = drugs
    targets = targets_for(kind, graphs, y)
    train, test = graphs[::2], graphs[1::2]
    model = kind(3, 2, cv=3).fit(train, targets[::2])
    chosen, results = dict(model.best_params_), pickle.dumps(model.cv_results_)
    alone = [model.predict(test[[i]])[0] for i in range(len(test))]
    together = model.predict(test)
    if kind is gg.TreePlusPlusClassifier:
        assert together.tolist() == alone
    else:
        assert together.tolist() == pytest.approx(alone)
    assert model.best_params_ == chosen
    assert pickle.dumps(model.cv_results_) == results


def test_in_cross_validation_test_graphs_have_no_say(drugs):
    """Whatever the test graphs and their classes are, each fold chooses the same."""
    graphs, y = drugs
    rest = np.arange(len(y)) % 3 != 0
    seen = []

    class Spy(gg.TreePlusPlusClassifier):
        def fit(self, X, y):
            super().fit(X, y)
            seen.append((self.best_params_, self.cv_results_["mean_test_score"].tolist()))
            return self

    split = [(np.flatnonzero(rest), np.flatnonzero(~rest))]
    cross_val_score(Spy(3, 2, cv=3), graphs, y, cv=split)
    order = np.arange(len(y))
    order[~rest] = order[~rest][::-1]  # other graphs in the test places
    wrong = np.where(rest, y, "opioids")
    cross_val_score(Spy(3, 2, cv=3), graphs[order], wrong, cv=split)
    assert seen[0] == seen[1]


# ---------------------------------------------------------------- time


class Clock:
    """Tells the times that it was given, one after the other, then the last for ever."""

    def __init__(self, *times):
        self.times = list(times)

    def __call__(self):
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize(
    ("times", "tried"),
    [
        ((0, 0, 10), [("raw", False)]),
        ((0, 99, 99), [("raw", False)]),  # the first is tried even if it is too late
        ((0, 0, 9.9, 10), [("raw", False), ("raw", True)]),
        ((0, 0, 1, 2, 3, 10), [("raw", False), ("raw", True), ("sqrt", False), ("sqrt", True)]),
    ],
)
def test_no_setting_is_begun_once_the_time_is_over(kind, times, tried, drugs, monkeypatch):
    graphs, y = drugs
    monkeypatch.setattr(tuning, "perf_counter", Clock(*times))
    model = kind(2, 1, normalize=True, time_budget=10, cv=2).fit(
        graphs, targets_for(kind, graphs, y)
    )
    results = model.cv_results_
    found = zip(results["param_counts"], results["param_edge_labels"], strict=True)
    assert list(dict.fromkeys(found)) == tried
    skipped = [(setting["counts"], setting["edge_labels"]) for setting in model.skipped_]
    assert tried + skipped == [(counts, edges) for counts in COUNTS for edges in (False, True)]
    assert len(model.predict(graphs)) == len(graphs)


def test_without_a_budget_all_is_tried(drugs, monkeypatch):
    graphs, y = drugs
    monkeypatch.setattr(tuning, "perf_counter", Clock(0, 1e9))
    assert gg.TreePlusPlusClassifier(2, 1, cv=2).fit(graphs, y).skipped_ == []


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_life_without_arguments(kind, drugs):
    graphs, y = drugs
    targets = targets_for(kind, graphs, y)
    assert clone(kind(time_budget=3.5)).time_budget == 3.5
    model = kind().fit(graphs[::2], targets[::2])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(graphs), model.predict(graphs))
    assert again.best_params_ == model.best_params_
    scores = cross_val_score(kind(max_tree_depth=1), graphs, targets, cv=3, error_score="raise")
    assert np.isfinite(scores).all()
