"""Views that the estimators choose from: what each shows, and what it learns from."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.learning.candidates import COUNTS

BONDS = gg.EdgeFilter(drop=[1])
LENGTHS = make_pipeline(gg.EdgeLengths(), gg.AttributeBins("edge", 2, "kmeans"))


@pytest.fixture(scope="module")
def complete():
    """Complete graphs of six equal atoms: rings or two triangles once edges labelled 1 are gone."""
    pairs = [(i, j) for i in range(6) for j in range(i)]
    ring = {(1, 0), (2, 1), (3, 2), (4, 3), (5, 4), (5, 0)}
    triangles = {(1, 0), (2, 1), (2, 0), (4, 3), (5, 4), (5, 3)}
    graphs, y = [], []
    for number in range(20):
        bonds = triangles if number % 2 else ring
        atoms = ["C"] * 6
        atoms[number % 6] = "N" if number % 4 < 2 else "O"
        graphs.append((pairs, atoms, [2 if pair in bonds else 1 for pair in pairs]))
        y.append("triangles" if number % 2 else "ring")
    return gg.as_graphs(graphs), np.array(y)


@pytest.fixture(scope="module")
def stretched():
    """Chains of equal atoms in space whose class is the length of their bonds."""
    rng = np.random.default_rng(0)
    sizes, edges, places, y = [], [], [], []
    for number in range(24):
        n = 4 + number % 3
        start = sum(sizes)
        edges += [(start + i, start + i + 1) for i in range(n - 1)]
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        length = 1.5 if number % 2 else 1.2
        line = length * np.arange(n)[:, None] * np.array([1.0, 0, 0])
        places.append(line @ turn + rng.normal(size=3))
        sizes.append(n)
        y.append(number % 2)
    graphs = gg.GraphBatch.from_edges(
        sizes, edges, ["C"] * sum(sizes), vertex_attributes=np.concatenate(places)
    )
    return graphs, np.array(y)


def seen(model):
    """Which view and edge labels were tried, in this order."""
    results = model.cv_results_
    flags = results["param_edge_labels"]
    views = results.get("param_view", [None] * len(flags))
    return list(
        dict.fromkeys((type(v).__name__, flag) for v, flag in zip(views, flags, strict=True))
    )


def test_the_view_that_matters_is_chosen(complete):
    graphs, y = complete
    chooses = gg.TreePlusPlusClassifier(3, 2, views=[None, BONDS], edge_labels=False, cv=2)
    model = chooses.fit(graphs[:12], y[:12])
    assert model.best_params_["view"] is model.views[1]
    assert model.view_.transform(graphs).n_edges < graphs.n_edges
    assert model.score(graphs[12:], y[12:]) == 1.0
    blind = gg.TreePlusPlusClassifier(3, 2, edge_labels=False, cv=2).fit(graphs[:12], y[:12])
    assert "view" not in blind.best_params_
    assert blind.view_ is None
    assert blind.best_score_ < 1.0


def test_a_single_view_is_the_same_as_a_pipeline(complete):
    graphs, y = complete
    y = np.arange(len(y)) % 3 == 0  # nothing to find, so that scores differ
    graphs_seen = clone(BONDS).fit_transform(graphs)
    inside = gg.TreePlusPlusClassifier(3, 2, views=BONDS, cv=3).fit(graphs[::2], y[::2])
    before = gg.TreePlusPlusClassifier(3, 2, cv=3).fit(graphs_seen[::2], y[::2])
    np.testing.assert_array_equal(
        inside.cv_results_["mean_test_score"], before.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(
        inside.decision_function(graphs), before.decision_function(graphs_seen)
    )


def test_members_with_different_views_decide_together(complete):
    """The mean of what each member says by itself, with its own view in front of its own kernel."""
    graphs, y = complete
    model = gg.TreePlusPlusClassifier(2, 1, views=[None, BONDS], cv=2, committee=8)
    model.fit(graphs[:12], y[:12])
    assert {type(member["view"]).__name__ for member in model.members_} == {
        "NoneType",
        "EdgeFilter",
    }
    alone = []
    for member in model.members_:
        graphs_seen = graphs
        if member["view"] is not None:
            graphs_seen = clone(member["view"]).fit_transform(graphs)
        kernel = gg.TreePlusPlus(
            member["path_depth"],
            member["tree_depth"],
            counts=member["counts"],
            edge_labels=member["edge_labels"],
        )
        K = kernel.fit_transform(graphs_seen[:12])
        svm = SVC(kernel="precomputed", C=member["C"], tol=1e-6).fit(K, y[:12])
        alone.append(svm.decision_function(kernel.transform(graphs_seen[12:])))
    found = model.decision_function(graphs[12:])
    np.testing.assert_allclose(found, np.mean(alone, axis=0), atol=5e-3)


@pytest.mark.parametrize(
    ("views", "edge_labels", "tried"),
    [
        (None, "auto", [("NoneType", False), ("NoneType", True)]),
        ([None, None], "auto", [("NoneType", False), ("NoneType", True)]),
        ([None, gg.EdgeFilter(drop=[9])], "auto", [("NoneType", False), ("NoneType", True)]),
        # bonds alone all have the same label
        ([None, BONDS], "auto", [("NoneType", False), ("NoneType", True), ("EdgeFilter", False)]),
        ([None, BONDS], [True], [("NoneType", True), ("EdgeFilter", True)]),
        ([BONDS], False, [("EdgeFilter", False)]),
    ],
)
def test_what_a_view_adds_is_tried_and_nothing_twice(complete, views, edge_labels, tried):
    graphs, y = complete
    model = gg.TreePlusPlusClassifier(2, 1, views=views, edge_labels=edge_labels, cv=2)
    model.fit(graphs, y)
    assert seen(model) == tried
    assert len(model.cv_results_["params"]) == len(tried) * len(COUNTS) * 2 * 4


def test_bins_of_edges_are_tried_with_edge_labels_alone(stretched):
    graphs, y = stretched
    model = gg.TreePlusPlusClassifier(3, 1, views=[None, LENGTHS], cv=3)
    model.fit(graphs[:16], y[:16])
    assert seen(model) == [("NoneType", False), ("Pipeline", True)]
    assert model.score(graphs[16:], y[16:]) == 1.0
    blind = gg.TreePlusPlusClassifier(3, 1, cv=3).fit(graphs[:16], y[:16])
    assert blind.best_score_ < 1.0


def test_a_regressor_sees_through_views_too(stretched):
    graphs, y = stretched
    values = np.where(y, 1.5, 1.2)
    model = gg.TreePlusPlusRegressor(3, 1, views=[None, LENGTHS], cv=3, committee=1)
    assert model.fit(graphs[:16], values[:16]).score(graphs[16:], values[16:]) > 0.99


def test_views_learn_from_training_graphs_alone(stretched):
    graphs, y = stretched
    views = [None, LENGTHS]
    model = gg.TreePlusPlusClassifier(3, 1, views=views, cv=3).fit(graphs[:16], y[:16])
    assert not hasattr(views[1].steps[-1][1], "centres_")  # the user's own is not touched
    bins = model.view_.steps[-1][1]
    found = bins.centres_ * bins.scale_
    np.testing.assert_allclose(np.sort(found.ravel()), [1.2, 1.5])
    together = model.decision_function(graphs[16:])
    alone = [model.decision_function(graphs[[i]])[0] for i in range(16, 24)]
    np.testing.assert_allclose(together, alone)
    np.testing.assert_array_equal(bins.centres_ * bins.scale_, found)


def test_life_with_views(complete):
    graphs, y = complete
    model = gg.TreePlusPlusClassifier(2, 1, views=[None, gg.EdgeFilter(drop=[1])], cv=2)
    again = clone(model)
    assert again.views is not model.views
    assert again.views[1].drop == [1]
    model.fit(graphs[:12], y[:12])
    kept = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(kept.decision_function(graphs), model.decision_function(graphs))
    assert np.isfinite(cross_val_score(again, graphs, y, cv=3, error_score="raise")).all()
    one = gg.TreePlusPlusClassifier(2, 1, views=gg.EdgeFilter(), edge_labels=False, cv=2)
    search = GridSearchCV(one, {"views__drop": [None, [1]]}, cv=2, error_score="raise")
    assert search.fit(graphs, y).best_params_ == {"views__drop": [1]}


@pytest.mark.parametrize(
    "views",
    ["bonds", 3, [], [BONDS, "bonds"], gg.EdgeFilter, gg.TreePlusPlus(), [gg.TreePlusPlus()]],
)
@pytest.mark.parametrize("kind", [gg.TreePlusPlusClassifier, gg.TreePlusPlusRegressor])
def test_what_is_no_view(kind, views, complete):
    graphs, _ = complete
    with pytest.raises(InvalidParameterError, match=r"views must be None .* or a view.*EdgeFilter"):
        kind(views=views).fit(graphs, np.arange(len(graphs)) % 2)


class Loses(BaseEstimator):
    """A view that loses a graph."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[1:]


def test_a_view_that_loses_graphs(complete):
    graphs, y = complete
    with pytest.raises(
        InvalidParameterError, match=r"as many graphs as it takes; .* 20 and gave 19"
    ):
        gg.TreePlusPlusClassifier(views=Loses()).fit(graphs, y)
