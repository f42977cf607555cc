"""Solvers, weights, scoring, probabilities, units: what the estimators take and give."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import brier_score_loss, r2_score, roc_auc_score

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.learning import tuning
from graphgrain.learning.linear import train_svm
from graphgrain.learning.scoring import OF_CLASSES
from tests.real_data import load

MASSES = {"C": 12.011, "N": 14.007, "O": 15.999, "F": 18.998, "P": 30.974, "S": 32.06}
MASSES |= {"Cl": 35.45, "Br": 79.904, "I": 126.904}


@pytest.fixture(scope="module")
def drugs():
    return gg.load_drugs()


@pytest.fixture(scope="module")
def families(drugs):
    graphs, y = drugs
    pick = np.flatnonzero(np.isin(y, ["antihistamines", "tricyclics"]))
    return graphs[pick], y[pick]


@pytest.fixture(scope="module")
def masses(drugs):
    graphs, _ = drugs
    atoms = np.array([MASSES[label] for label in graphs.labels])
    return np.add.reduceat(atoms, graphs.offsets[:-1])


# ---------------------------------------------------------------- solvers


@pytest.mark.parametrize("counts", ["raw", "sqrt", "intersection"])
@pytest.mark.parametrize("normalize", [True, False])
def test_linear_ridge_is_kernel_ridge(drugs, masses, counts, normalize):
    graphs, _ = drugs
    options = {"alpha": [0.1], "counts": counts, "normalize": normalize, "committee": 2, "cv": 3}
    kernel, linear = (
        gg.TreePlusPlusRegressor(3, 1, solver=solver, **options).fit(graphs[::2], masses[::2])
        for solver in ("kernel", "linear")
    )
    expected = kernel.predict(graphs[1::2])
    assert kernel.members_ == linear.members_
    assert np.abs(linear.predict(graphs[1::2]) - expected).max() < 1e-3 * np.std(expected)


@pytest.mark.parametrize("classes", [2, 3])
def test_linear_and_kernel_machines_agree(drugs, classes):
    graphs, y = drugs
    pick = np.isin(y, ["antihistamines", "tricyclics", "opioids"][:classes])
    graphs, y = graphs[np.flatnonzero(pick)], y[pick]
    kernel, linear = (
        gg.TreePlusPlusClassifier(3, 2, solver=solver, cv=3).fit(graphs[::2], y[::2])
        for solver in ("kernel", "linear")
    )
    assert kernel.members_ == linear.members_
    ours, theirs = linear.decision_function(graphs), kernel.decision_function(graphs)
    assert np.corrcoef(ours.ravel(), theirs.ravel())[0, 1] > 0.99
    assert np.mean(linear.predict(graphs) == kernel.predict(graphs)) > 0.97


def test_many_graphs_are_judged_by_a_sample(families, monkeypatch):
    graphs, y = families
    monkeypatch.setattr(tuning, "MOST_FOR_KERNEL", 20)
    monkeypatch.setattr("graphgrain.learning.classification.MOST_FOR_KERNEL", 20)
    monkeypatch.setattr("graphgrain.learning.classification.SAMPLE", 16)
    monkeypatch.setattr("graphgrain.learning.regression.SAMPLE", 16)
    model = gg.TreePlusPlusClassifier(2, 1, cv=2).fit(graphs, y)
    assert model.n_graphs_ == len(graphs)
    assert model.score(graphs, y) > 0.9
    known = {level.hashes.size for w in model.pattern_weights_ for level in w.patterns.levels}
    assert max(known) > 100  # trained on all
    sizes = graphs.vertex_counts.astype(float)
    assert gg.TreePlusPlusRegressor(2, 1, cv=2).fit(graphs, sizes).score(graphs, sizes) > 0.9


def test_all_graphs_of_a_rare_class_judge_the_candidates(drugs, monkeypatch):
    graphs, y = drugs
    monkeypatch.setattr(tuning, "MOST_FOR_KERNEL", 60)
    monkeypatch.setattr("graphgrain.learning.classification.MOST_FOR_KERNEL", 60)
    monkeypatch.setattr("graphgrain.learning.classification.SAMPLE", 60)
    families, sizes = np.unique(y, return_counts=True)
    rare = y == families[sizes.argmin()]
    assert 5 < rare.sum() < min(30, 0.1 * len(y))
    seen = {}

    class Watched(gg.TreePlusPlusClassifier):
        def _search(self, batch, targets, weights, *rest):
            seen.update(targets=targets, weights=weights)
            return super()._search(batch, targets, weights, *rest)

    options = {"class_weight": "balanced", "counts": "raw", "edge_labels": False, "cv": 3}
    model = Watched(2, 1, **options).fit(graphs, rare)
    assert model.scoring_ == "roc_auc"
    assert np.bincount(seen["targets"]).tolist() == [60 - rare.sum(), rare.sum()]
    # both classes weigh the same in the sample, as they do among all graphs
    np.testing.assert_allclose(*np.bincount(seen["targets"], seen["weights"]))
    # probabilities are those of the shares that the classes have among all graphs
    assert abs(model.predict_proba(graphs)[:, 1].mean() - rare.mean()) < 0.05


def test_a_sample_chooses_and_all_graphs_train_on_their_kernel_matrix(drugs, masses, monkeypatch):
    graphs, _ = drugs
    monkeypatch.setattr("graphgrain.learning.regression.SAMPLE", 50)
    options = {"alpha": [0.1], "counts": "raw", "edge_labels": False, "committee": 1, "cv": 3}
    model = gg.TreePlusPlusRegressor(3, 0, normalize=True, **options).fit(graphs, masses)
    K = gg.TreePlusPlus(3, 0).fit_transform(graphs)
    ones = np.ones((len(K), 1))
    bordered = np.block([[K + 0.1 * np.eye(len(K)), ones], [ones.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(bordered, np.append(masses - masses.mean(), 0.0))
    alone = K @ solution[:-1] + solution[-1]
    expected = model.member_weights_[0] * alone + masses.mean()
    np.testing.assert_allclose(model.predict(graphs), expected, rtol=1e-6)


@pytest.mark.parametrize(("most", "side_by_side"), [(0, 1), (10**9, 2)])
def test_large_members_are_trained_one_after_the_other(families, monkeypatch, most, side_by_side):
    graphs, y = families
    monkeypatch.setattr("graphgrain.learning.members.MOST_SIDE_BY_SIDE", most)
    both, lock, running, seen = threading.Event(), threading.Lock(), [0], []

    def watched(*args):
        with lock:
            running[0] += 1
            seen.append(running[0])
            if running[0] == 2:
                both.set()
        if most:  # so that a second one has the time to begin
            both.wait(10)
        found = train_svm(*args)
        with lock:
            running[0] -= 1
        return found

    monkeypatch.setattr("graphgrain.learning.classification.train_svm", watched)
    options = {"solver": "linear", "counts": "raw", "edge_labels": False, "committee": 2}
    model = gg.TreePlusPlusClassifier(2, 3, C=[1], cv=2, n_jobs=2, **options).fit(graphs, y)
    assert len(model.members_) == 2
    assert max(seen) == side_by_side


def test_solvers_agree_on_NCI1():
    graphs, y = load("NCI1")
    rows = np.arange(len(y))
    train, test = rows[rows % 4 == 0], rows[rows % 4 == 1]
    found = {}
    for solver in ("kernel", "linear"):
        model = gg.TreePlusPlusClassifier(
            counts="sqrt", max_tree_depth=2, C=[1, 10], cv=2, solver=solver, n_jobs=2
        )
        found[solver] = model.fit(graphs[train], y[train]).decision_function(graphs[test])
    signs = {solver: values > 0 for solver, values in found.items()}
    assert np.mean(signs["kernel"] == signs["linear"]) > 0.98
    assert np.corrcoef(found["kernel"], found["linear"])[0, 1] > 0.995


# ---------------------------------------------------------------- regression


@pytest.mark.parametrize("change", [lambda y: 1e-6 * y, lambda y: 1e-9 * y, lambda y: y + 1e6])
def test_the_unit_of_the_targets_does_not_matter(drugs, masses, change):
    graphs, _ = drugs
    scores = []
    for targets in (masses, change(masses)):
        model = gg.TreePlusPlusRegressor(2, 1, cv=3).fit(graphs[::2], targets[::2])
        scores.append(r2_score(targets[1::2], model.predict(graphs[1::2])))
    assert scores[1] == pytest.approx(scores[0], abs=1e-6)


def test_what_grows_with_size_is_learnt(drugs, masses):
    graphs, _ = drugs
    model = gg.TreePlusPlusRegressor().fit(graphs[::2], masses[::2])
    atoms = gg.VertexHistogram(output="features").fit(graphs[::2])
    peer = Ridge(1e-3).fit(atoms.transform(graphs[::2]), masses[::2])
    assert peer.score(atoms.transform(graphs[1::2]), masses[1::2]) > 0.999
    assert model.score(graphs[1::2], masses[1::2]) > 0.99


def test_a_constant_target_is_predicted(families):
    graphs, _ = families
    model = gg.TreePlusPlusRegressor(1, 0, cv=2).fit(graphs, np.full(len(graphs), 7.0))
    np.testing.assert_allclose(model.predict(graphs), 7.0)


def test_weights_of_a_regressor_are_repetitions(families):
    graphs, _ = families
    values = np.random.default_rng(0).normal(size=len(graphs))
    weights = np.random.default_rng(1).integers(1, 4, len(graphs))
    options = {"alpha": [0.1], "committee": 1, "counts": "raw", "normalize": True}
    weighted = gg.TreePlusPlusRegressor(2, 0, edge_labels=False, **options)
    weighted.fit(graphs, values, sample_weight=weights)
    rows = np.repeat(np.arange(len(graphs)), weights)
    K = gg.TreePlusPlus(2, 0).fit_transform(graphs[rows])
    # weights are relative: the mean weight of a graph is one, and alpha is for that
    alpha = 0.1 * weights.mean()
    mean = values[rows].mean()
    ones = np.ones((len(K), 1))
    bordered = np.block([[K + alpha * np.eye(len(K)), ones], [ones.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(bordered, np.append(values[rows] - mean, 0.0))
    kernel = gg.TreePlusPlus(2, 0).fit(graphs[rows])
    alone = kernel.transform(graphs) @ solution[:-1] + solution[-1]
    expected = weighted.member_weights_[0] * alone + mean
    np.testing.assert_allclose(weighted.predict(graphs), expected, rtol=1e-6, atol=1e-9)


# ---------------------------------------------------------------- classes


def test_a_class_with_one_member_does_not_stop_a_fit(families):
    graphs, y = families
    y = y.copy()
    y[3] = "alone"
    model = gg.TreePlusPlusClassifier(2, 1, cv=3).fit(graphs, y)
    assert model.classes_.tolist() == ["alone", "antihistamines", "tricyclics"]
    assert np.mean(model.predict(graphs) == y) > 0.8
    assert model.predict_proba(graphs).shape == (len(graphs), 3)


def test_graphs_of_weight_zero_are_not_seen(families):
    graphs, y = families
    weights = np.ones(len(y))
    weights[::3] = 0
    weighted = gg.TreePlusPlusClassifier(2, 1, cv=3).fit(graphs, y, sample_weight=weights)
    without = gg.TreePlusPlusClassifier(2, 1, cv=3).fit(
        graphs[np.flatnonzero(weights)], y[weights > 0]
    )
    np.testing.assert_array_equal(
        weighted.decision_function(graphs), without.decision_function(graphs)
    )


@pytest.mark.parametrize("solver", ["kernel", "linear"])
def test_heavy_classes_are_found_more_often(families, solver):
    graphs, y = families
    noisy = y.copy()
    noisy[::4] = noisy[::4][::-1]
    found = {}
    for heavy in y[0], y[-1]:
        weight = {name: 20.0 if name == heavy else 0.05 for name in np.unique(y).tolist()}
        model = gg.TreePlusPlusClassifier(1, 0, C=[0.1], class_weight=weight, solver=solver)
        found[heavy] = np.mean(model.fit(graphs, noisy).predict(graphs) == heavy)
    assert all(share > 0.6 for share in found.values())


def test_balanced_weights(families):
    graphs, y = families
    count = {name: np.sum(y == name) for name in np.unique(y)}
    given = {name: len(y) / (2 * number) for name, number in count.items()}
    balanced, explicit = (
        gg.TreePlusPlusClassifier(2, 0, cv=2, class_weight=weight).fit(graphs, y)
        for weight in ("balanced", given)
    )
    np.testing.assert_allclose(
        balanced.decision_function(graphs), explicit.decision_function(graphs), atol=1e-9
    )


def test_probabilities_are_calibrated(drugs):
    graphs, y = drugs
    target = np.isin(y, ["opioids", "antihistamines", "tricyclics", "benzodiazepines"])
    model = gg.TreePlusPlusClassifier(3, 1, cv=4).fit(graphs[::2], target[::2])
    share = model.predict_proba(graphs[1::2])
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    order = np.argsort(model.decision_function(graphs[1::2]))
    assert (np.diff(share[order, 1]) >= 0).all()
    always = np.full(len(share), target.mean())
    assert brier_score_loss(target[1::2], share[:, 1]) < 0.5 * brier_score_loss(
        target[1::2], always
    )


def test_rare_classes_are_judged_by_the_roc_auc(drugs):
    graphs, y = drugs
    rare = y == "barbiturates"
    assert rare.mean() < 0.1
    model = gg.TreePlusPlusClassifier(2, 1, cv=3).fit(graphs, rare)
    assert model.scoring_ == "roc_auc"
    assert gg.TreePlusPlusClassifier(2, 1, cv=3).fit(graphs, y).scoring_ == "accuracy"


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 50)
    scores = rng.normal(size=(50, 3))
    each = [roc_auc_score(codes == c, scores[:, c]) for c in range(3)]
    assert OF_CLASSES["roc_auc"](codes, scores) == pytest.approx(np.mean(each))
    assert OF_CLASSES["roc_auc"](np.zeros(4, dtype=int), rng.normal(size=4)) == 0.5


def test_progress_is_told_if_asked_for(families, capsys):
    graphs, y = families
    gg.TreePlusPlusClassifier(1, 0, cv=2).fit(graphs, y)
    assert capsys.readouterr() == ("", "")
    gg.TreePlusPlusClassifier(1, 0, cv=2, verbose=1).fit(graphs, y)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("settings tried") == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"solver": "newton"}, "solver must be one of"),
        ({"scoring": "f1"}, "scoring must be one of"),
        ({"class_weight": "heavy"}, "class_weight must be None, 'balanced' or a dictionary"),
        ({"class_weight": {"opioids": 1}}, "must have a weight for every class"),
        ({"normalize": "yes"}, "normalize must be"),
        ({"verbose": -1}, "verbose must be"),
    ],
)
def test_wrong_options(change, message, families):
    with pytest.raises(InvalidParameterError, match=message):
        gg.TreePlusPlusClassifier(**change).fit(*families)


@pytest.mark.parametrize("weights", [[1.0], -np.ones(48), np.full(48, np.nan), np.zeros(48)])
def test_wrong_weights(weights, families):
    graphs, y = families
    weights = np.resize(weights, len(y)) if len(weights) > 1 else weights
    with pytest.raises(InvalidParameterError, match="sample_weight must"):
        gg.TreePlusPlusClassifier(1, 0).fit(graphs, y, sample_weight=weights)


@pytest.mark.parametrize("left", ["one class", "few graphs"])
def test_weights_that_leave_too_little(left):
    graphs = gg.load_drugs()[0][:12]
    y = np.arange(12) % 2
    weights = y if left == "one class" else (np.arange(12) < 2)
    words = "at least two classes" if left == "one class" else "got 2 graphs for 5 folds"
    with pytest.raises(InvalidParameterError, match=words):
        gg.TreePlusPlusClassifier(1, 0).fit(graphs, y, sample_weight=weights)
    if left == "few graphs":
        with pytest.raises(InvalidParameterError, match=words):
            gg.TreePlusPlusRegressor(1, 0).fit(graphs, y, sample_weight=weights)
