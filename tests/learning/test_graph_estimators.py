"""GraphClassifier and GraphRegressor: the choice between kernels, and what they see unasked."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.kernels.registry import KERNELS, KernelGrid, Setting
from graphgrain.learning.kernel_choice import explicit_kernels, kernel_grids

QUICK = {"max_level": 1, "cv": 2}


@pytest.fixture(scope="module")
def drugs():
    """Two families of molecules; their bonds have labels."""
    graphs, y = gg.load_drugs()
    pick = np.flatnonzero(np.isin(y, ["opioids", "barbiturates"]))
    return graphs[pick], y[pick]


@pytest.fixture(scope="module")
def by_attributes():
    """Paths whose class is where the attributes of their vertices (or edges) lie, nothing else."""

    def make(on: str) -> tuple[gg.GraphBatch, np.ndarray]:
        rng = np.random.default_rng(0)
        sizes = np.tile([4, 4, 5, 5, 6, 6], 5)
        ends = np.cumsum(sizes)
        edges = [(i, i + 1) for i in range(ends[-1] - 1) if i + 1 not in ends]
        y = np.where(np.arange(len(sizes)) % 2, "high", "low")
        owner = np.repeat(np.arange(len(sizes)), sizes if on == "vertex" else sizes - 1)
        values = rng.normal(size=(len(owner), 2)) + 4.0 * (y[owner] == "high")[:, np.newaxis]
        return gg.GraphBatch.from_edges(sizes, edges, **{f"{on}_attributes": values}), y

    return make


def own(member: dict) -> tuple[type, dict]:
    """The kernel of a member and its parameters, as the documentation says to read them."""
    others = ("kernel", "C", "alpha", "view")
    parameters = {name: value for name, value in member.items() if name not in others}
    return gg.list_kernels()[member["kernel"]], parameters


# ---------------------------------------------------------------- what is chosen


@pytest.mark.parametrize("solver", ["kernel", "linear"])
def test_with_tree_plus_plus_alone_they_are_the_tree_plus_plus_estimators(drugs, solver):
    graphs, y = drugs
    several = gg.GraphClassifier("tree++", 2, cv=3, solver=solver).fit(graphs[::2], y[::2])
    one = gg.TreePlusPlusClassifier(6, 2, cv=3, solver=solver).fit(graphs[::2], y[::2])
    named = [{"kernel": "tree++", "centrality": "eigenvector", **m} for m in several.members_]
    assert named == [{"kernel": "tree++", **member} for member in one.members_]
    np.testing.assert_array_equal(several.predict_proba(graphs), one.predict_proba(graphs))
    sizes = graphs.vertex_counts.astype(float)
    several = gg.GraphRegressor("tree++", 1, cv=3, solver=solver).fit(graphs[::2], sizes[::2])
    one = gg.TreePlusPlusRegressor(max_tree_depth=1, cv=3, solver=solver)
    one.fit(graphs[::2], sizes[::2])
    np.testing.assert_array_equal(several.predict(graphs), one.predict(graphs))
    np.testing.assert_array_equal(several.member_weights_, one.member_weights_)


def test_members_of_several_kernels_answer_their_mean(drugs):
    graphs, y = drugs
    kernels = ["sp", "wl-oa", "edge-histogram", gg.Propagation(2), "graph-hopper"]
    model = gg.GraphClassifier(kernels, 2, C=[1, 10], cv=3).fit(graphs[::2], y[::2])
    values = []
    for member in model.members_:
        kind, parameters = own(member)
        kernel = kind(**parameters)
        svm = SVC(C=member["C"], kernel="precomputed")
        svm.fit(kernel.fit_transform(graphs[::2]), y[::2])
        values.append(svm.decision_function(kernel.transform(graphs[1::2])))
    assert len(model.members_) == 12
    assert len({member["kernel"] for member in model.members_}) >= 3
    expected = np.mean(values, axis=0)
    np.testing.assert_allclose(model.decision_function(graphs[1::2]), expected, atol=5e-3)


def test_every_kernel_that_can_be_named_can_be_learnt_with(drugs):
    graphs, y = drugs
    assert {"tree++", "wl", "wl-oa", "sp"} < set(explicit_kernels())
    for name in explicit_kernels():
        model = gg.GraphClassifier(name, C=10, committee=1, **QUICK).fit(graphs[::2], y[::2])
        [member] = model.members_
        kind, parameters = own(member)
        kernel = kind(**parameters)
        svm = SVC(C=10, kernel="precomputed").fit(kernel.fit_transform(graphs[::2]), y[::2])
        expected = svm.decision_function(kernel.transform(graphs[1::2]))
        np.testing.assert_allclose(model.decision_function(graphs[1::2]), expected, atol=5e-3)


def test_what_auto_offers(drugs):
    graphs, y = drugs
    model = gg.GraphClassifier(**QUICK).fit(graphs, y)
    tried = model.cv_results_
    assert list(dict.fromkeys(tried["param_kernel"])) == ["tree++", "wl", "sp"]
    assert set(tried["param_counts"]) == {"raw", "sqrt", "intersection"}
    assert set(tried["param_edge_labels"]) == {False, True}
    assert set(tried["param_n_iter"]) == {None, 0, 1}  # what a kernel does not have is None
    assert len(tried["params"]) == 4 * 3 * 2 * (2 + 2 + 1)


def test_the_optimal_assignment_is_not_tried_twice(drugs):
    graphs, y = drugs
    model = gg.GraphClassifier(["wl", "wl-oa"], **QUICK).fit(graphs, y)
    tried = model.cv_results_
    pairs = set(zip(tried["param_kernel"], tried["param_counts"], strict=True))
    assert pairs == {("wl", "raw"), ("wl", "sqrt"), ("wl-oa", None)}


def test_estimators_and_grids_are_tried_as_they_are(drugs):
    graphs, y = drugs
    grid = KernelGrid("sp", gg.ShortestPath, "SP", (Setting({"counts": "log"}),))
    one = Setting({"n_iter": 3, "counts": "binary"})  # without levels: all three steps
    whole = KernelGrid("wl", gg.WeisfeilerLehman, "WL", (one,))
    kernels = [gg.WeisfeilerLehman(1, counts="log", edge_labels=True), grid, whole]
    model = gg.GraphClassifier(kernels, C=10, cv=2, committee=4).fit(graphs[::2], y[::2])
    assert model.cv_results_["param_kernel"] == ["wl", "wl", "sp", "wl"]
    assert model.cv_results_["param_counts"] == ["log", "log", "log", "binary"]
    alone = gg.GraphClassifier(whole, C=10, cv=2).fit(graphs[::2], y[::2])
    kernel = gg.WeisfeilerLehman(3, counts="binary")
    svm = SVC(C=10, kernel="precomputed").fit(kernel.fit_transform(graphs[::2]), y[::2])
    expected = svm.decision_function(kernel.transform(graphs[1::2]))
    np.testing.assert_allclose(alone.decision_function(graphs[1::2]), expected, atol=5e-3)
    assert clone(model).fit(graphs[::2], y[::2]).members_ == model.members_


def test_kernels_share_time(drugs):
    graphs, y = drugs
    model = gg.GraphClassifier(["wl", "sp"], time_budget=1e-9, **QUICK).fit(graphs, y)
    assert {member["kernel"] for member in model.members_} == {"wl"}
    assert [m["kernel"] for m in model.skipped_] == ["wl"] * 5 + ["sp"] * 6


# ---------------------------------------------------------------- attributes


@pytest.mark.parametrize("on", ["vertex", "edge"])
def test_attributes_are_seen_without_being_told(by_attributes, on):
    graphs, y = by_attributes(on)
    train, test = np.arange(20), np.arange(20, 30)
    model = gg.GraphClassifier(C=10, **QUICK).fit(graphs[train], y[train])
    assert model.score(graphs[test], y[test]) == 1.0
    assert isinstance(model.view_, gg.AttributeBins)
    assert model.view_.on == on
    blind = gg.GraphClassifier(C=10, attributes=False, **QUICK).fit(graphs[train], y[train])
    assert blind.score(graphs[test], y[test]) < 0.8
    assert blind.view_ is None
    number = gg.GraphRegressor("wl", **QUICK).fit(graphs[train], 3.0 * (y[train] == "high"))
    assert number.score(graphs[test], 3.0 * (y[test] == "high")) > 0.8


def test_attributes_are_seen_behind_views(by_attributes):
    graphs, y = by_attributes("vertex")
    labels = np.array([1, 2])[np.arange(graphs.n_edges) % 2]
    graphs = gg.GraphBatch.from_edges(
        graphs.vertex_counts, graphs.edges, edge_labels=labels,
        vertex_attributes=graphs.vertex_attributes,
    )  # fmt: skip
    views = [None, gg.EdgeFilter(drop=[1])]
    model = gg.GraphClassifier("wl", views=views, counts="raw", **QUICK).fit(graphs, y)
    names = list(dict.fromkeys(str(view) for view in model.cv_results_["param_view"]))
    assert len(names) == 2 + 2 * 3
    assert sum("EdgeFilter" in name and "AttributeBins" in name for name in names) == 3


def test_graphs_without_attributes_have_no_further_views(drugs):
    grids = kernel_grids(
        drugs[0], "auto", path_depth=6, max_level=1, edge_labels=False, views=None,
        attributes=True, counts="raw", normalize=True,
    )  # fmt: skip
    assert {setting.view for grid in grids for setting in grid.settings} == {None}


# ---------------------------------------------------------------- life


@pytest.mark.parametrize("kind", [gg.GraphClassifier, gg.GraphRegressor])
def test_scikit_learn_life(kind, drugs):
    graphs, y = drugs
    targets = y if kind is gg.GraphClassifier else graphs.vertex_counts.astype(float)
    model = kind(["wl", gg.ShortestPath(counts="sqrt")], **QUICK)
    assert clone(model).get_params()["kernels"][0] == "wl"
    assert (cross_val_score(model, graphs, targets, cv=3, error_score="raise") > 0.3).all()
    model.fit(graphs[::2], targets[::2], sample_weight=np.ones(len(graphs[::2])))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(graphs), model.predict(graphs))
    threads = clone(model).set_params(n_jobs=2).fit(graphs[::2], targets[::2])
    np.testing.assert_array_equal(threads.predict(graphs), model.predict(graphs))


def test_training_on_features_is_close_to_training_on_matrices(drugs):
    graphs, y = drugs
    scores = [
        gg.GraphClassifier(["wl", "wl-oa", "sp"], solver=solver, cv=3)
        .fit(graphs[::2], y[::2])
        .decision_function(graphs[1::2])
        for solver in ("kernel", "linear")
    ]
    np.testing.assert_allclose(scores[0], scores[1], atol=0.15)


@pytest.mark.parametrize("on", ["vertex", "edge"])
def test_round_trip_through_a_file(by_attributes, on, tmp_path):
    graphs, y = by_attributes(on)
    grid = KERNELS["edge-histogram"].with_parameters(counts="sqrt")
    kernels = ["wl-oa", gg.GraphHopper(), grid, gg.WeisfeilerLehman(1)]
    for number, kind in enumerate((gg.GraphClassifier, gg.GraphRegressor)):
        targets = y if kind is gg.GraphClassifier else graphs.edge_counts
        model = kind(kernels, committee=20, **QUICK).fit(graphs, targets)
        model.save(tmp_path / f"{number}.ggm")
        again = gg.load_model(tmp_path / f"{number}.ggm")
        assert type(again) is kind
        np.testing.assert_array_equal(again.predict(graphs), model.predict(graphs))
        assert str(again.members_) == str(model.members_)
        assert again.kernels[2] == grid
        np.testing.assert_array_equal(
            again.fit(graphs, targets).predict(graphs), model.predict(graphs)
        )


def test_kernels_of_others_stay_out_of_files(drugs, tmp_path):
    graphs, y = drugs

    class Mine(gg.VertexHistogram):
        pass

    model = gg.GraphClassifier(Mine(), cv=2).fit(graphs, y)
    assert model.members_[0]["kernel"] == "Mine"
    with pytest.raises(InvalidParameterError, match="got a Mine"):
        model.save(tmp_path / "model.ggm")
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernels": "weisfeiler"}, "kernels must be 'auto', a kernel or a list.*got 'weisf"),
        ({"kernels": []}, "kernels must be"),
        ({"kernels": [gg.WeisfeilerLehman]}, "kernels must be"),
        ({"kernels": "wwl"}, "explicit features.*WWL does not. Take some of tree"),
        ({"kernels": gg.HashedAttributes()}, "HashedAttributes does not"),
        ({"kernels": gg.Propagation(random_state=None)}, "random_state of Propa must be an int"),
        ({"kernels": gg.WeisfeilerLehman(-1)}, "n_iter must be"),
        ({"max_level": -1}, "max_level must be an integer of 0 or more"),
        ({"attributes": "auto"}, "attributes must be one of True, False"),
    ],
)
@pytest.mark.parametrize("kind", [gg.GraphClassifier, gg.GraphRegressor])
def test_wrong_parameters(kind, change, message, drugs):
    graphs, _ = drugs
    with pytest.raises(InvalidParameterError, match=message):
        kind(**change).fit(graphs, np.arange(len(graphs)) % 2)
