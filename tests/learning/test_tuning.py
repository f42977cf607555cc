"""TreePlusPlusClassifier and TreePlusPlusRegressor: what they choose, and life in scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.svm import SVC

import graphgrain as gg
from graphgrain.errors import InvalidGraphError, InvalidParameterError
from graphgrain.learning.splits import stratified_folds, train_and_test


@pytest.fixture(scope="module")
def drugs():
    graphs, y = gg.load_drugs()
    return graphs[::3], y[::3]


@pytest.fixture(scope="module")
def two_families():
    graphs, y = gg.load_drugs()
    pick = np.flatnonzero(np.isin(y, ["opioids", "barbiturates"]))
    return graphs[pick], y[pick]


def test_it_chooses_what_an_exhaustive_search_finds(drugs):
    graphs, y = drugs
    model = gg.TreePlusPlusClassifier(
        4, 2, C=[1, 10], counts="raw", edge_labels=False, cv=3, random_state=5
    ).fit(graphs, y)
    codes = np.unique(y, return_inverse=True)[1]
    folds = stratified_folds(codes, 3, np.random.default_rng(5))
    expected = {}
    for depth in range(3):
        K = gg.TreePlusPlus(4, depth).fit_transform(graphs)
        for C in (1, 10):
            scores = []
            for fold in range(3):
                train, test = train_and_test(folds, fold)
                svm = SVC(C=C, kernel="precomputed", break_ties=True).fit(
                    K[np.ix_(train, train)], y[train]
                )
                scores.append(svm.score(K[np.ix_(test, train)], y[test]))
            expected[depth, C] = np.mean(scores)
    tried = {
        (params["tree_depth"], params["C"]): score
        for params, score in zip(
            model.cv_results_["params"], model.cv_results_["mean_test_score"], strict=True
        )
    }
    assert tried == pytest.approx(expected)
    top = max(expected.values())
    winners = [key for key, score in expected.items() if np.isclose(score, top)]
    wanted = min((-C, depth) for depth, C in winners)
    assert (model.best_params_["tree_depth"], -model.best_params_["C"]) == wanted[::-1]
    assert model.best_score_ == pytest.approx(top)
    assert min(model.cv_results_["rank_test_score"]) == 1


def test_predictions_are_those_of_the_chosen_kernel_and_machine(drugs):
    graphs, y = drugs
    model = gg.TreePlusPlusClassifier(max_tree_depth=3, cv=3, committee=1)
    model.fit(graphs[::2], y[::2])
    best = model.best_params_
    assert model.members_ == [best]
    kernel = gg.TreePlusPlus(**{name: best[name] for name in best if name != "C"})
    K = kernel.fit_transform(graphs[::2])
    svm = SVC(C=best["C"], kernel="precomputed", break_ties=True).fit(K, y[::2])
    rows = kernel.transform(graphs[1::2])
    assert model.predict(graphs[1::2]).tolist() == svm.predict(rows).tolist()
    assert model.decision_function(graphs[1::2]).shape == (len(rows), len(model.classes_))
    assert model.score(graphs[1::2], y[1::2]) == svm.score(rows, y[1::2])


def test_a_committee_answers_the_mean_of_its_members(two_families):
    graphs, y = two_families
    model = gg.TreePlusPlusClassifier(3, 2, C=[1, 10], cv=3, committee=7).fit(graphs[::2], y[::2])
    # Who has a seat, from what was tried: of each kernel the best C, of these the seven best.
    results = model.cv_results_
    kernels: dict[tuple, list] = {}
    for params, score in zip(results["params"], results["mean_test_score"], strict=True):
        kernel = tuple((name, value) for name, value in params.items() if name != "C")
        kernels.setdefault(kernel, []).append((score, params["C"]))
    plainest = list(dict.fromkeys(kernel[:-1] for kernel in kernels))
    ranked = sorted(
        (-max(found)[0], plainest.index(kernel[:-1]), -max(found)[1], dict(kernel)["tree_depth"])
        for kernel, found in kernels.items()
    )[:7]
    members = [
        {**dict(plainest[setting]), "tree_depth": depth, "C": -C} for _, setting, C, depth in ranked
    ]
    assert model.members_ == members
    assert model.best_params_ == members[0]
    assert model.best_score_ == pytest.approx(-ranked[0][0])
    values = []
    for member in members:
        kernel = gg.TreePlusPlus(**{name: member[name] for name in member if name != "C"})
        svm = SVC(C=member["C"], kernel="precomputed").fit(
            kernel.fit_transform(graphs[::2]), y[::2]
        )
        values.append(svm.decision_function(kernel.transform(graphs[1::2])))
    expected = np.mean(values, axis=0)
    assert len({tuple(member.items()) for member in members}) == 7
    np.testing.assert_allclose(model.decision_function(graphs[1::2]), expected, atol=5e-3)
    clear = np.abs(expected) > 0.01
    predicted = model.predict(graphs[1::2])
    assert (predicted == model.classes_[(expected > 0).astype(int)])[clear].all()


def test_a_committee_of_regressors_adds_up_its_shares():
    graphs, _ = gg.load_drugs()
    sizes = graphs.vertex_counts.astype(float)
    model = gg.TreePlusPlusRegressor(2, 1, alpha=[0.01, 0.1], normalize=True, committee=3, cv=2)
    model.fit(graphs[::4], sizes[::4])
    alone = []
    for member in model.members_:
        alpha = member["alpha"]
        kernel = gg.TreePlusPlus(**{name: member[name] for name in member if name != "alpha"})
        K = kernel.fit_transform(graphs[::4])
        # coefficients and a free intercept: they add up to zero
        ones = np.ones((len(K), 1))
        bordered = np.block([[K + alpha * np.eye(len(K)), ones], [ones.T, np.zeros((1, 1))]])
        solution = np.linalg.solve(bordered, np.append(sizes[::4] - sizes[::4].mean(), 0.0))
        alone.append(kernel.transform(graphs[1::4]) @ solution[:-1] + solution[-1])
    expected = model.member_weights_ @ alone + sizes[::4].mean()
    np.testing.assert_allclose(model.predict(graphs[1::4]), expected, rtol=1e-6)


def test_shares_of_regressors_predict_what_is_held_out_best():
    graphs, _ = gg.load_drugs()
    values = np.random.default_rng(0).normal(size=len(graphs)) + graphs.vertex_counts
    model = gg.TreePlusPlusRegressor(2, 1, normalize=True, cv=2, committee=4)
    model.fit(graphs[::2], values[::2])
    assert (model.member_weights_ > 0).all()
    assert len(model.member_weights_) == len(model.members_) <= 4


def test_two_classes_have_one_decision_value(two_families):
    graphs, y = two_families
    model = gg.TreePlusPlusClassifier(max_tree_depth=1, cv=3).fit(graphs, y)
    values = model.decision_function(graphs)
    assert values.shape == (len(y),)
    assert model.classes_[(values > 0).astype(int)].tolist() == model.predict(graphs).tolist()


def test_at_level_is_a_kernel_fitted_with_that_depth(drugs):
    graphs, _ = drugs
    deep = gg.TreePlusPlus(tree_depth=4).fit(graphs[::2])
    for depth in (0, 2, 4):
        fresh = gg.TreePlusPlus(tree_depth=depth).fit(graphs[::2])
        cut = deep.at_level(depth)
        np.testing.assert_array_equal(cut.transform(graphs), fresh.transform(graphs))
        assert cut.feature_names().tolist() == fresh.feature_names().tolist()
    assert deep.tree_depth == 4
    with pytest.raises(InvalidParameterError, match="from 0 to 4; got 5"):
        deep.at_level(5)


def test_lists_of_kernel_parameters_are_tried(two_families):
    graphs, y = two_families
    model = gg.TreePlusPlusClassifier(
        [1, 2], 1, edge_labels=[False, True], counts=["raw", "sqrt"], C=10, cv=2
    ).fit(graphs, y)
    assert len(model.cv_results_["params"]) == 2 * 2 * 2 * 2
    assert model.kernel_.get_params()["path_depth"] == model.best_params_["path_depth"]
    assert model.kernel_.get_params()["counts"] == model.best_params_["counts"]


def test_threads_change_nothing(drugs):
    graphs, y = drugs
    one = gg.TreePlusPlusClassifier(max_tree_depth=2, cv=3).fit(graphs, y)
    two = gg.TreePlusPlusClassifier(max_tree_depth=2, cv=3, n_jobs=2).fit(graphs, y)
    assert one.best_params_ == two.best_params_
    np.testing.assert_array_equal(one.decision_function(graphs), two.decision_function(graphs))


@pytest.mark.parametrize("kind", [gg.TreePlusPlusClassifier, gg.TreePlusPlusRegressor])
def test_scikit_learn_life(kind, two_families):
    graphs, y = two_families
    targets = y if kind is gg.TreePlusPlusClassifier else graphs.vertex_counts.astype(float)
    model = kind(path_depth=3, max_tree_depth=1, cv=3)
    assert clone(model).get_params() == model.get_params()
    scores = cross_val_score(model, graphs, targets, cv=KFold(3, shuffle=True, random_state=0))
    assert scores.shape == (3,)
    assert (scores > 0.3).all()
    grid = GridSearchCV(model, {"path_depth": [1, 3]}, cv=2).fit(graphs, targets)
    assert grid.best_params_["path_depth"] in (1, 3)
    model.fit(graphs, targets)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(graphs), model.predict(graphs))
    model.fit(graphs[::2], targets[::2])  # a second fit forgets the first
    np.testing.assert_array_equal(
        model.predict(graphs), kind(3, 1, cv=3).fit(graphs[::2], targets[::2]).predict(graphs)
    )


def test_plain_lists_of_graphs_will_do():
    ring, path = ([(0, 1), (1, 2), (0, 2)], [1, 1, 1]), ([(0, 1), (1, 2)], [1, 1, 1])
    model = gg.TreePlusPlusClassifier(cv=2).fit([ring, path] * 4, ["ring", "path"] * 4)
    assert model.predict([path, ring]).tolist() == ["path", "ring"]


def test_the_regressor_predicts_sizes_of_unseen_graphs():
    graphs, _ = gg.load_drugs()
    sizes = np.column_stack((graphs.vertex_counts, graphs.edge_counts)).astype(float)
    model = gg.TreePlusPlusRegressor(3, 1, counts="raw").fit(graphs[::2], sizes[::2])
    predicted = model.predict(graphs[1::2])
    assert predicted.shape == (len(graphs) // 2, 2)
    assert model.score(graphs[1::2], sizes[1::2]) > 0.6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": []}, "C must be"),
        ({"C": [1, -1]}, "C must be a finite number above 0"),
        ({"cv": 1}, "cv must be an integer of 2 or more"),
        ({"max_tree_depth": -1}, "max_tree_depth must be"),
        ({"counts": ["raw", "cube"]}, "counts must be"),
        ({"counts": "automatic"}, "or a list of such values to choose from; or 'auto'; got 'autom"),
        ({"path_depth": "auto"}, "path_depth must be"),
        ({"path_depth": "6"}, "path_depth must be"),
        ({"committee": 0}, "committee must be an integer of 1 or more; got 0"),
        ({"time_budget": 0}, "time_budget must be a finite number above 0, or None; got 0"),
        ({"time_budget": "1 h"}, "time_budget must be"),
    ],
)
def test_wrong_parameters(change, message, two_families):
    with pytest.raises(InvalidParameterError, match=message):
        gg.TreePlusPlusClassifier(**change).fit(*two_families)


def test_wrong_input(two_families):
    graphs, y = two_families
    with pytest.raises(InvalidGraphError, match="needs graphs to learn from"):
        gg.TreePlusPlusClassifier().fit([], [])
    with pytest.raises(InvalidParameterError, match="got 3 graphs for 5 folds"):
        gg.TreePlusPlusClassifier().fit(graphs[:3], y[:3])
    with pytest.raises(InvalidParameterError, match="TreePlusPlusRegressor"):
        gg.TreePlusPlusClassifier().fit(graphs, np.linspace(0, 1, len(graphs)))
