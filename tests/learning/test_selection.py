"""What the estimators choose, in rounds and within a time: kernels, views, levels."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge
from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.kernels.grid import KernelGrid, Setting
from graphgrain.learning import estimator
from graphgrain.learning.folds import stratified_folds, train_and_test
from graphgrain.learning.selection import (
    OF_NUMBERS,
    SCORES_OF_CLASSES,
    USUAL,
    FoldScores,
    best_value,
    explicit_kernels,
    is_better,
    possible_terms,
)
from tests.learning.machines import check_straight, explicit

ESTIMATORS = [gg.GraphClassifier, gg.GraphRegressor]
QUICK = {"max_level": 1, "views": None, "cv": 2}
BONDS = gg.EdgeFilter(drop=[1])
LENGTHS = make_pipeline(gg.EdgeLengths(), gg.AttributeBins("edge", 2, "kmeans"))


def targets_for(kind, graphs, y):
    return y if kind is gg.GraphClassifier else graphs.vertex_counts.astype(float)


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


# ---------------------------------------------------------------- figures


def test_every_figure_is_that_of_an_exhaustive_search(families):
    graphs, y = families
    noisy = np.where(np.arange(len(y)) % 4 == 0, y[::-1], y)
    model = gg.GraphClassifier(
        "wl", 2, alpha=[0.1, 1.0], counts="raw", similarity="cosine", edge_labels=False,
        views=None, cv=3, random_state=5, max_terms=1,
    ).fit(graphs, noisy)  # fmt: skip
    codes = np.unique(noisy, return_inverse=True)[1]
    folds = stratified_folds(codes, 3, np.random.default_rng(5))
    expected = {}
    for depth in range(3):
        K = gg.WeisfeilerLehman(depth).fit_transform(graphs)
        X, _ = explicit(K, K)
        for alpha in (0.1, 1.0):
            scores = []
            for fold in range(3):
                train, test = train_and_test(folds, fold)
                peer = Ridge(alpha).fit(X[train], 2.0 * codes[train] - 1)
                scores.append(np.mean((peer.predict(X[test]) > 0) == codes[test]))
            expected[depth, alpha] = np.mean(scores)
    results = model.cv_results_
    tried = {
        (params["n_iter"], params["alpha"]): score
        for params, score in zip(results["params"], results["mean_test_score"], strict=True)
    }
    assert tried == pytest.approx(expected)
    top = max(tried.values())
    assert model.best_score_ == pytest.approx(top)
    winners = [key for key, score in tried.items() if np.isclose(score, top)]
    # of equally good ones fewer levels, then the larger alpha
    [term] = model.terms_
    chosen = (term["n_iter"], -model.best_params_["alpha"])
    assert chosen == min((depth, -alpha) for depth, alpha in winners)
    assert sorted(results["rank_test_score"]) == list(range(1, 7))
    assert results["mean_test_score"][results["rank_test_score"].argmin()] == top


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 50)
    scores = rng.normal(size=(50, 3))
    each = [roc_auc_score(codes == c, scores[:, c]) for c in range(3)]
    assert SCORES_OF_CLASSES["roc_auc"](codes, scores) == pytest.approx(np.mean(each))
    each = [average_precision_score(codes == c, scores[:, c]) for c in range(3)]
    assert SCORES_OF_CLASSES["average_precision"](codes, scores) == pytest.approx(np.mean(each))
    expected = balanced_accuracy_score(codes, scores.argmax(axis=1))
    assert SCORES_OF_CLASSES["balanced_accuracy"](codes, scores) == pytest.approx(expected)
    assert SCORES_OF_CLASSES["accuracy"](codes, scores) == np.mean(codes == scores.argmax(axis=1))
    two = rng.integers(0, 2, 50)
    expected = roc_auc_score(two, scores[:, 0])
    assert SCORES_OF_CLASSES["roc_auc"](two, scores[:, 0]) == pytest.approx(expected)
    assert SCORES_OF_CLASSES["roc_auc"](np.zeros(4, dtype=int), rng.normal(size=4)) == 0.5


def test_units_of_scores_do_not_matter():
    rng = np.random.default_rng(0)
    for _ in range(50):
        one, other = rng.normal(size=5), rng.normal(size=5) + 0.5
        answers = set()
        for unit in (1.0, 1e-12, 1e12):
            scored = [FoldScores(unit * s[np.newaxis], 0) for s in (one, other)]
            answers.add(is_better(*scored))
            assert best_value(unit * np.array([3.0, 5.0, 5.0, 4.0])) == 2
        assert len(answers) == 1
    same = FoldScores(np.ones((1, 5)), 0)
    assert not is_better(same, same)


def test_many_graphs_are_judged_in_rounds(drugs, monkeypatch):
    graphs, y = drugs
    target = np.isin(y, ["opioids", "antihistamines", "tricyclics"])
    monkeypatch.setattr(gg.GraphClassifier, "_rounds", (40, 80, 120))
    model = gg.GraphClassifier("wl", 2, alpha=[0.1, 1.0], views=None, cv=3).fit(graphs, target)
    results = model.cv_results_
    assert set(results["n_graphs"]) == {40, 80}
    small = {str(p) for p, n in zip(results["params"], results["n_graphs"], strict=True) if n == 40}
    large = {str(p) for p, n in zip(results["params"], results["n_graphs"], strict=True) if n == 80}
    assert large < small  # the better part goes on
    assert model.machine_.coefficients.shape == (1, len(y))  # trained on all
    assert model.n_graphs_ == len(y)


def test_all_graphs_of_a_rare_class_judge(drugs, monkeypatch):
    graphs, y = drugs
    families, sizes = np.unique(y, return_counts=True)
    rare = y == families[sizes.argmin()]
    assert 5 < rare.sum() < min(30, 0.1 * len(y))
    monkeypatch.setattr(gg.GraphClassifier, "_rounds", (60, 60, 60))
    seen = []

    class Watched(gg.GraphClassifier):
        def _select(self, data, rounds, validation, terms):
            seen.append((validation.targets, validation.weights))
            return super()._select(data, rounds, validation, terms)

    model = Watched("wl", 1, class_weight="balanced", views=None, cv=3).fit(graphs, rare)
    assert model.scoring_ == "roc_auc"
    [(signs, weights)] = seen
    codes = (signs[:, 0] > 0).astype(int)
    assert np.bincount(codes).tolist() == [60 - rare.sum(), rare.sum()]
    # both classes weigh the same in the sample, as they do among all graphs
    np.testing.assert_allclose(*np.bincount(codes, weights))
    # probabilities are those of the shares that the classes have among all graphs
    assert abs(model.predict_proba(graphs)[:, 1].mean() - rare.mean()) < 0.05


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_features_are_counted_once_for_each_way_to_count(kind, families, monkeypatch):
    graphs, y = families
    calls = []
    count = gg.TreePlusPlus.count

    def counting(self, batch):
        calls.append((self.path_depth, self.edge_labels, len(batch)))
        return count(self, batch)

    monkeypatch.setattr(gg.TreePlusPlus, "count", counting)
    options = {"scale": "none"} if kind is gg.GraphRegressor else {}
    model = kind("tree++", 2, path_depth=[2, 3], views=None, cv=2, **options)
    model.fit(graphs, targets_for(kind, graphs, y))
    n = len(graphs)
    each = [(2, False, n), (2, True, n), (3, False, n), (3, True, n)]
    assert sorted(calls[:4]) == each  # all count maps, similarities and levels share them
    assert set(calls[4:]) <= set(each)  # once more for what was chosen
    assert len(calls) <= 8


# ---------------------------------------------------------------- kernels


def test_every_kernel_that_can_be_named_can_be_learned_with(families):
    graphs, y = families
    assert {"tree++", "wl", "sp"} <= set(explicit_kernels())
    for name in explicit_kernels():
        model = gg.GraphClassifier(name, alpha=0.1, max_terms=1, **QUICK).fit(graphs[::2], y[::2])
        [term] = model.terms_
        assert term["kernel"] == name
        own = {key: value for key, value in term.items() if key != "kernel"}
        kernel = gg.list_kernels()[name](**own)
        X, places = explicit(kernel.fit_transform(graphs[::2]), kernel.transform(graphs[1::2]))
        peer = Ridge(0.1).fit(X, np.where(y[::2] == model.classes_[1], 1.0, -1.0))
        check_straight(model.decision_function(graphs[1::2]), peer.predict(places))


def test_what_auto_offers(families):
    graphs, y = families
    tried = gg.GraphClassifier("auto", alpha=1.0, **QUICK).fit(graphs, y).cv_results_
    assert list(dict.fromkeys(tried["param_kernel"])) == list(USUAL) == ["tree++", "wl", "sp"]
    pairs = set(zip(tried["param_counts"], tried["param_similarity"], strict=True))
    assert pairs == {("raw", "minmax"), ("sqrt", "cosine"), ("raw", "cosine")}
    assert set(tried["param_edge_labels"]) == {False, True}
    assert set(tried["param_n_iter"]) == {None, 0, 1}  # what a kernel does not have is None
    assert set(tried["param_path_depth"]) >= {None, 0}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_molecules_are_compared_by_pairs_of_atoms_too(kind, tmp_path):
    """Pairs through every view, in the sum itself; exact in explanations and in files."""
    smiles = ["C" * n + tail for n in range(2, 12) for tail in ("O", "N", "C(=O)O", "c1ccccc1F")]
    graphs = gg.from_smiles(smiles)
    y = np.arange(40) % 4 // 2 if kind is gg.GraphClassifier else np.cos(np.arange(40) ** 2)
    model = kind(max_level=2, cv=3).fit(graphs, y)
    views = [term.get("view") for term in model.terms_ if term["kernel"] == "sp"]
    assert set(views) >= {None, "StructuralLabels()", "PharmacophoreLabels()"}
    model.save(tmp_path / "model.ggm")
    loaded = gg.load_model(tmp_path / "model.ggm")
    np.testing.assert_allclose(loaded.predict(graphs), model.predict(graphs), rtol=1e-9)
    [why] = gg.explain(model, graphs[[5]])
    said = model.predict if kind is gg.GraphRegressor else model.decision_function
    assert why.decision == pytest.approx(float(said(graphs[[5]])[0]), abs=1e-9)
    assert why.bias + why.vertices.sum() == pytest.approx(why.decision, abs=1e-9)


def test_pairs_of_too_many_vertices_are_left_out(families, monkeypatch):
    graphs, y = families
    pairs = int((graphs.vertex_counts.astype(int) ** 2).sum())
    for most, tried in ((pairs, {"tree++", "sp"}), (pairs - 1, {"tree++"})):
        monkeypatch.setattr("graphgrain.learning.selection.MOST_PAIRS", most)
        model = gg.GraphClassifier(alpha=1.0, path_depth=1, **QUICK).fit(graphs, y)
        assert set(model.cv_results_["param_kernel"]) == tried
    assert gg.GraphClassifier("sp", alpha=1.0, **QUICK).fit(graphs, y).terms_  # whoever asks for it


def test_estimators_and_grids_are_tried_as_they_are(families):
    graphs, y = families
    grid = KernelGrid("sp", gg.ShortestPath, "SP", (Setting({"counts": "log"}),))
    kernels = [gg.WeisfeilerLehman(1, counts="log", edge_labels=True, similarity="dot"), grid]
    model = gg.GraphClassifier(kernels, alpha=0.1, cv=2).fit(graphs[::2], y[::2])
    tried = model.cv_results_
    assert tried["param_kernel"] == ["wl", "wl", "sp"]
    assert tried["param_counts"] == ["log"] * 3
    assert tried["param_n_iter"] == [0, 1, None]
    assert tried["param_similarity"] == ["dot", "dot", "cosine"]
    assert tried["param_edge_labels"][:2] == [True, True]
    assert clone(model).fit(graphs[::2], y[::2]).terms_ == model.terms_


def test_edge_labels_are_chosen_where_they_matter(bonds_matter):
    graphs, y = bonds_matter
    model = gg.GraphClassifier(cv=3).fit(graphs[:18], y[:18])
    assert any(term["edge_labels"] for term in model.terms_)
    assert model.score(graphs[18:], y[18:]) == 1.0
    blind = gg.GraphClassifier(cv=3, edge_labels=False).fit(graphs[:18], y[:18])
    assert blind.best_score_ < 1.0


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize("bonds", [None, [1, 1, 1]])
def test_edge_labels_that_say_nothing_are_not_tried(kind, bonds):
    ring = ([(0, 1), (1, 2), (0, 2)], [1, 1, 1], *([bonds] if bonds else []))
    path = ([(0, 1), (1, 2)], [1, 1, 1], *([bonds[:2]] if bonds else []))
    y = ["ring", "path"] * 4 if kind is gg.GraphClassifier else [3.0, 2.0] * 4
    model = kind(**QUICK).fit([ring, path] * 4, y)
    assert set(model.cv_results_["param_edge_labels"]) == {False}
    assert model.predict([path, ring])[0] == (
        "path" if kind is gg.GraphClassifier else pytest.approx(2.0, abs=0.05)
    )


def test_lists_of_kernel_parameters_are_tried(families):
    graphs, y = families
    model = gg.GraphClassifier(
        "tree++", path_depth=[1, 2], max_level=1, edge_labels=[False, True], counts=["raw", "sqrt"],
        similarity="cosine", centrality=["degree", None], alpha=0.1, views=None, cv=2,
    ).fit(graphs, y)  # fmt: skip
    assert len(model.cv_results_["params"]) == 2**5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kernels": "weisfeiler"}, "kernels must be 'auto', a kernel or a list.*got 'weisf"),
        ({"kernels": []}, "kernels must be"),
        ({"kernels": [gg.WeisfeilerLehman]}, "kernels must be"),
        ({"kernels": "wwl"}, "explicit features.*WassersteinWL does not. Take some of tree"),
        ({"kernels": gg.Propagation(random_state=None)}, "random_state of Propa.* must be an int"),
        ({"kernels": gg.WeisfeilerLehman(-1)}, "n_iter must be"),
    ],
)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_wrong_kernels(kind, change, message, families):
    graphs, _ = families
    with pytest.raises(InvalidParameterError, match=message):
        kind(**change).fit(graphs, np.arange(len(graphs)) % 2)


# ---------------------------------------------------------------- views and attributes


def test_the_view_that_matters_is_chosen(complete):
    graphs, y = complete
    chooses = gg.GraphClassifier("wl", 2, views=[None, BONDS], edge_labels=False, cv=2)
    model = chooses.fit(graphs[:12], y[:12])
    assert any("EdgeFilter" in term.get("view", "") for term in model.terms_)
    assert model.score(graphs[12:], y[12:]) == 1.0
    blind = gg.GraphClassifier("wl", 2, views=None, edge_labels=False, cv=2)
    blind.fit(graphs[:12], y[:12])
    assert not any("view" in term for term in blind.terms_)
    assert blind.best_score_ < 1.0


def test_a_single_view_is_the_same_as_graphs_seen_through_it(complete):
    graphs, y = complete
    y = np.arange(len(y)) % 3 == 0  # nothing to find, so that scores differ
    seen = clone(BONDS).fit_transform(graphs)
    inside = gg.GraphClassifier("wl", 2, views=BONDS, cv=3).fit(graphs[::2], y[::2])
    before = gg.GraphClassifier("wl", 2, views=None, cv=3).fit(seen[::2], y[::2])
    np.testing.assert_array_equal(
        inside.cv_results_["mean_test_score"], before.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(inside.decision_function(graphs), before.decision_function(seen))


def test_kernels_with_parameters_of_their_own_are_tried_in_every_view(complete):
    graphs, y = complete
    kernel = gg.WeisfeilerLehman(2)
    model = gg.GraphClassifier(kernel, views=[None, BONDS], cv=2).fit(graphs[:12], y[:12])
    assert model.score(graphs[12:], y[12:]) == 1.0
    assert gg.GraphClassifier(kernel, views=None, cv=2).fit(graphs[:12], y[:12]).best_score_ < 1.0


def test_the_view_of_a_setting_comes_after_that_of_the_estimator(complete):
    graphs, y = complete
    grid = KernelGrid("wl", gg.WeisfeilerLehman, "WL", (Setting({}, gg.StructuralLabels()),))
    seen = clone(BONDS).fit_transform(graphs)
    inside = gg.GraphClassifier(grid, views=BONDS, cv=3).fit(graphs[:12], y[:12])
    before = gg.GraphClassifier(grid, views=None, cv=3).fit(seen[:12], y[:12])
    np.testing.assert_array_equal(inside.decision_function(graphs), before.decision_function(seen))
    plain = gg.GraphClassifier(grid, views=None, cv=3).fit(graphs[:12], y[:12])
    assert not np.allclose(inside.decision_function(graphs), plain.decision_function(graphs))


def test_a_view_is_fitted_once_for_all_settings_of_a_grid(complete):
    fits = []

    class Counted(gg.EdgeFilter):
        def fit(self, X, y=None):
            fits.append(len(X))
            return super().fit(X, y)

    graphs, y = complete
    grid = KernelGrid(
        "wl", gg.WeisfeilerLehman, "WL", tuple(Setting({"n_iter": n}) for n in range(3))
    )
    gg.GraphClassifier(grid, views=Counted(drop=[1]), cv=2).fit(graphs, y)
    assert fits == [len(graphs)]


@pytest.mark.parametrize(
    ("views", "tried"),
    [
        (None, [(None, True), (None, False)]),
        ([None, None], [(None, True), (None, False)]),  # the same again
        ([None, gg.EdgeFilter(drop=[9])], [(None, True), (None, False)]),  # nothing is dropped
        # bonds alone all have the same label
        ([None, BONDS], [(None, True), (None, False), ("EdgeFilter", False)]),
    ],
)
def test_views_that_show_the_same_are_tried_once(complete, views, tried):
    graphs, y = complete
    model = gg.GraphClassifier("wl", 0, views=views, counts="raw", alpha=1.0, cv=2).fit(graphs, y)
    results = model.cv_results_
    flags = results["param_edge_labels"]
    names = results.get("param_view", [None] * len(flags))
    short = [None if name is None else str(name).split("(")[0] for name in names]
    assert list(dict.fromkeys(zip(short, flags, strict=True))) == tried


def test_a_regressor_sees_through_views_too(stretched):
    graphs, y = stretched
    values = np.where(y, 1.5, 1.2)
    model = gg.GraphRegressor("wl", 1, views=[None, LENGTHS], attributes=False, cv=3)
    assert model.fit(graphs[:16], values[:16]).score(graphs[16:], values[16:]) > 0.98


def test_views_learn_from_training_graphs_alone(stretched):
    graphs, y = stretched
    views = [None, LENGTHS]
    options = {"views": views, "attributes": False, "cv": 3}
    model = gg.GraphClassifier("wl", 1, **options).fit(graphs[:16], y[:16])
    assert not hasattr(views[1].steps[-1][1], "centres_")  # the user's own is not touched
    [bins] = {
        id(source): source.view.steps[-1][1]
        for source in model.machine_.sources
        if source.view is not None
    }.values()
    found = bins.centres_ * bins.scale_
    np.testing.assert_allclose(np.sort(found.ravel()), [1.2, 1.5])
    together = model.decision_function(graphs[16:])
    alone = [model.decision_function(graphs[[i]])[0] for i in range(16, 24)]
    np.testing.assert_allclose(together, alone)
    np.testing.assert_array_equal(bins.centres_ * bins.scale_, found)


@pytest.mark.parametrize("on", ["vertex", "edge"])
def test_attributes_are_seen_without_being_told(by_attributes, on):
    graphs, y = by_attributes(on)
    train, test = np.arange(20), np.arange(20, 30)
    model = gg.GraphClassifier("wl", alpha=0.1, **QUICK).fit(graphs[train], y[train])
    assert model.score(graphs[test], y[test]) == 1.0
    assert any(f"'{on}'" in t["view"] or "AttributeBins" in t["view"] for t in model.terms_)
    blind = gg.GraphClassifier("wl", alpha=0.1, attributes=False, **QUICK).fit(
        graphs[train], y[train]
    )
    assert blind.score(graphs[test], y[test]) < 0.8
    number = gg.GraphRegressor("wl", **QUICK).fit(graphs[train], 3.0 * (y[train] == "high"))
    assert number.score(graphs[test], 3.0 * (y[test] == "high")) > 0.8


def test_attributes_are_seen_behind_views(by_attributes):
    graphs, _ = by_attributes("vertex")
    labels = np.array([1, 2])[np.arange(graphs.n_edges) % 2]
    graphs = gg.GraphBatch.from_edges(
        graphs.vertex_counts, graphs.edges, edge_labels=labels,
        vertex_attributes=graphs.vertex_attributes,
    )  # fmt: skip
    options = {"path_depth": 6, "max_level": 1, "centrality": "degree", "edge_labels": False}
    options |= {"attributes": True, "counts": "raw", "similarity": "dot", "usual": OF_NUMBERS}
    terms = possible_terms(graphs, "wl", views=[None, gg.EdgeFilter(drop=[1])], **options)
    shown = {id(term.source.view): str(term.source.view) for term in terms}
    assert len(shown) == 2 + 2 * 3
    assert sum("EdgeFilter" in name and "AttributeBins" in name for name in shown.values()) == 3


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
        gg.GraphClassifier(views=Loses()).fit(graphs, y)


@pytest.mark.parametrize(
    "views",
    ["bonds", 3, [], [BONDS, "bonds"], gg.EdgeFilter, gg.TreePlusPlus(), [gg.TreePlusPlus()]],
    ids=str,
)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_what_is_no_view(kind, views, complete):
    graphs, _ = complete
    with pytest.raises(InvalidParameterError, match=r"views must be None .* or a view.*EdgeFilter"):
        kind(views=views).fit(graphs, np.arange(len(graphs)) % 2)


# ---------------------------------------------------------------- training data only


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_graphs_to_predict_change_nothing(kind, families):
    graphs, y = families
    targets = targets_for(kind, graphs, y)
    train, test = graphs[::2], graphs[1::2]
    model = kind("wl", **QUICK).fit(train, targets[::2])
    before = pickle.dumps(model.cv_results_)
    together = model._values(test)
    alone = np.vstack([model._values(test[[i]]) for i in range(len(test))])
    np.testing.assert_allclose(together, alone, atol=1e-9)
    assert pickle.dumps(model.cv_results_) == before


def test_in_cross_validation_test_graphs_have_no_say(families):
    """Whatever the test graphs and their classes are, each fold chooses the same."""
    graphs, y = families
    rest = np.arange(len(y)) % 3 != 0
    seen = []

    class Spy(gg.GraphClassifier):
        def fit(self, X, y):
            super().fit(X, y)
            seen.append((self.best_params_, self.cv_results_["mean_test_score"].tolist()))
            return self

    split = [(np.flatnonzero(rest), np.flatnonzero(~rest))]
    cross_val_score(Spy("wl", **QUICK), graphs, y, cv=split)
    order = np.arange(len(y))
    order[~rest] = order[~rest][::-1]  # other graphs in the test places
    wrong = np.where(rest, y, "opioids")
    cross_val_score(Spy("wl", **QUICK), graphs[order], wrong, cv=split)
    assert seen[0] == seen[1]


# ---------------------------------------------------------------- time


class Clock:
    """Tells the times that it was given, one after the other, then the last for ever."""

    def __init__(self, *times):
        self.times = list(times)

    def __call__(self):
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.parametrize(("times", "groups"), [((0, 99), 1), ((0, 1, 2, 10), 3)])
def test_nothing_is_begun_once_the_time_is_over(kind, times, groups, families, monkeypatch):
    graphs, y = families
    monkeypatch.setattr(estimator, "perf_counter", Clock(*times))
    options = {"counts": ["raw", "sqrt"], "similarity": ["cosine", "dot"], "alpha": 1.0}
    model = kind("wl", time_budget=10, edge_labels=[False, True], **options, **QUICK)
    model.fit(graphs, targets_for(kind, graphs, y))
    results = model.cv_results_
    names = ("param_edge_labels", "param_counts", "param_similarity")
    tried = list(dict.fromkeys(zip(*(results[name] for name in names), strict=True)))
    assert len(tried) == groups  # the first is tried even if it is too late
    skipped = [(t["edge_labels"], t["counts"], t["similarity"]) for t in model.skipped_]
    assert len(dict.fromkeys(tried + skipped)) == 8
    assert not set(tried) & set(skipped)
    assert len(model.predict(graphs)) == len(graphs)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_was_counted_in_time_is_evaluated(n_jobs, families, monkeypatch):
    """Each of four kernels takes a second to count; three of them are begun in time."""
    now = [0.0]
    monkeypatch.setattr(estimator, "perf_counter", lambda: now[0])

    class Slow(gg.VertexHistogram):
        def count_features(self, batch):
            now[0] += 1.0
            return super().count_features(batch)

    graphs, y = families
    kernels = [Slow(counts=counts) for counts in ("raw", "sqrt", "log", "binary")]
    model = gg.GraphClassifier(kernels, time_budget=2.5, cv=2, n_jobs=n_jobs).fit(graphs, y)
    tried = dict.fromkeys(model.cv_results_["param_counts"])
    assert list(tried) == ["raw", "sqrt", "log"]
    assert [term["counts"] for term in model.skipped_] == ["binary"]


def test_without_a_budget_all_is_tried(families, monkeypatch):
    monkeypatch.setattr(estimator, "perf_counter", Clock(0, 1e9))
    assert gg.GraphClassifier("wl", **QUICK).fit(*families).skipped_ == []


# ---------------------------------------------------------------- scikit-learn


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_scikit_learn_life(kind, families):
    graphs, y = families
    targets = targets_for(kind, graphs, y)
    model = kind(["wl", gg.ShortestPath(counts="sqrt")], **QUICK)
    assert clone(model).get_params()["kernels"][0] == "wl"
    scores = cross_val_score(
        model, graphs, targets, cv=KFold(3, shuffle=True, random_state=0), error_score="raise"
    )
    assert (scores > 0.3).all()
    grid = GridSearchCV(model, {"max_level": [0, 1]}, cv=2, error_score="raise")
    assert grid.fit(graphs, targets).best_params_["max_level"] in (0, 1)
    model.fit(graphs, targets)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(graphs), model.predict(graphs))
    model.fit(graphs[::2], targets[::2])  # a second fit forgets the first
    fresh = clone(model).fit(graphs[::2], targets[::2])
    np.testing.assert_array_equal(model.predict(graphs), fresh.predict(graphs))


def test_life_with_views(complete):
    graphs, y = complete
    model = gg.GraphClassifier("wl", 1, views=[None, gg.EdgeFilter(drop=[1])], cv=2)
    again = clone(model)
    assert again.views is not model.views
    assert again.views[1].drop == [1]
    model.fit(graphs[:12], y[:12])
    kept = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(kept.decision_function(graphs), model.decision_function(graphs))
    one = gg.GraphClassifier("wl", 2, views=gg.EdgeFilter(), edge_labels=False, cv=2)
    search = GridSearchCV(one, {"views__drop": [None, [1]]}, cv=2, error_score="raise")
    assert search.fit(graphs, y).best_params_ == {"views__drop": [1]}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_threads_change_nothing(kind):
    """Not a bit, and BLAS has one thread for matrices as small as these."""
    graphs, y = gg.load_drugs()
    targets = targets_for(kind, graphs, y)
    with threadpool_limits(2, "blas"):
        fitted = [kind(n_jobs=n, **QUICK).fit(graphs[::2], targets[::2]) for n in (1, 2)]
        one, two = (model._values(graphs[1::2]) for model in fitted)
    assert fitted[0].best_params_ == fitted[1].best_params_
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_life_without_arguments(kind, families):
    graphs, y = families
    targets = targets_for(kind, graphs, y)
    assert clone(kind(time_budget=3.5)).time_budget == 3.5
    model = kind().fit(graphs[::2], targets[::2])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(graphs), model.predict(graphs))
    assert again.best_params_ == model.best_params_
    assert model.score(graphs[1::2], targets[1::2]) > 0.9
