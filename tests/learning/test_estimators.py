"""Both estimators: exact machines, one comparison, probabilities, weights, groups, bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import graphgrain as gg
from graphgrain.errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError
from graphgrain.learning import estimator, machine

WL = gg.WeisfeilerLehman(1, similarity="minmax")
BOTH = [gg.GraphClassifier, gg.GraphRegressor]


@pytest.fixture(scope="module")
def regressor(drugs, masses):
    return gg.GraphRegressor().fit(drugs[0][::2], masses[::2])


# ---------------------------------------------------------------- the machine


@pytest.mark.parametrize("alpha", [0.01, 1.0])
def test_a_model_is_kernel_ridge_on_the_weighted_sum_of_its_terms(drugs, masses, alpha):
    """scikit-learn's has no intercept: that of ours is a constant kernel of huge weight."""
    graphs, _ = drugs
    train, new = graphs[::2], graphs[1::2]
    kernels = [WL, gg.ShortestPath(), gg.EdgeHistogram(similarity="dot")]
    model = gg.GraphRegressor(kernels, weights=[2, 1, 1], alpha=alpha).fit(train, masses[::2])
    assert [term["weight"] for term in model.terms_] == [0.5, 0.25, 0.25]
    K, rows = np.zeros((len(train), len(train))), np.zeros((len(new), len(train)))
    for kernel, weight in zip(kernels, (0.5, 0.25, 0.25), strict=True):
        gram = clone(kernel).fit_transform(train)
        weight = weight / np.mean(np.diagonal(gram))
        K += weight * gram
        rows += weight * clone(kernel).fit(train).transform(new)
    constant = 1e5
    peer = KernelRidge(alpha=alpha, kernel="precomputed")
    centre = masses[::2].mean()
    peer.fit(K + constant, masses[::2] - centre)
    expected = peer.predict(rows + constant) + centre
    np.testing.assert_allclose(model.predict(new), expected, rtol=1e-3)


def test_weights_equal_or_by_evidence(drugs, masses):
    graphs, _ = drugs
    equal = gg.GraphRegressor(weights="equal").fit(graphs[::4], masses[::4])
    assert [term["weight"] for term in equal.terms_] == pytest.approx([1 / 9] * 9)
    assert all(term["similarity"] == "minmax" for term in equal.terms_)
    likely = gg.GraphRegressor().fit(graphs[::2], masses[::2])
    assert sum(term["weight"] for term in likely.terms_) == pytest.approx(1)
    assert likely.score(graphs[1::2], masses[1::2]) > equal.score(graphs[1::2], masses[1::2])


def test_held_out_predictions_are_those_of_refits_without_all_copies(drugs, masses):
    graphs, _ = drugs
    pick = [*range(40), 3, 3, 17]
    y = masses[pick] + np.random.default_rng(0).normal(size=43)
    model = gg.GraphRegressor(WL, alpha=0.1).fit(graphs[pick], y)
    kernel = clone(WL).fit(graphs[pick])
    copies = kernel.gram() > 1 - 1e-9
    for left_out in (0, 3, 17, 41, 42):
        rest = np.flatnonzero(~copies[left_out])
        again = gg.GraphRegressor(WL, alpha=0.1).fit(graphs[np.array(pick)[rest]], y[rest])
        expected = again.predict(graphs[[pick[left_out]]])
        assert model.held_out_[left_out] == pytest.approx(expected[0], rel=1e-9)


def test_groups_are_left_out_together(drugs):
    """Labels of whole groups cannot be learned from the other members of the group."""
    graphs, _ = drugs
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(25), 4)
    pick = rng.permutation(25)[groups]  # four copies of each graph
    y = rng.integers(0, 2, 25)[groups]
    model = gg.GraphClassifier(WL, alpha=0.1).fit(graphs[pick], y, groups=groups)
    assert np.mean(model.held_out_.argmax(axis=1) == y) < 0.7
    numbers = graphs.vertex_counts[pick].astype(float)
    model = gg.GraphRegressor(WL, alpha=0.1).fit(graphs[pick], numbers, groups=groups)
    several = np.arange(100) % 7  # of different graphs, copies of which are in other groups
    model = gg.GraphRegressor(WL, alpha=0.1).fit(graphs[pick], numbers, groups=several)
    rest = several != 3
    again = gg.GraphRegressor(WL, alpha=0.1).fit(graphs[pick[rest]], numbers[rest])
    np.testing.assert_allclose(model.held_out_[~rest], again.predict(graphs[pick[~rest]]))


def test_targets_with_gaps_are_models_of_their_own(drugs, masses):
    graphs, _ = drugs
    sizes = graphs.vertex_counts.astype(float)
    targets = np.column_stack([masses, sizes, masses])
    targets[::3, 1] = np.nan
    model = gg.GraphRegressor(WL, alpha=0.1).fit(graphs, targets)
    for output, rows in ((0, slice(None)), (1, np.isfinite(targets[:, 1])), (2, slice(None))):
        alone = gg.GraphRegressor(WL, alpha=0.1).fit(graphs[rows], targets[rows, output])
        np.testing.assert_allclose(model.predict(graphs)[:, output], alone.predict(graphs))
        np.testing.assert_allclose(model.held_out_[rows, output], alone.held_out_)
    assert np.isnan(model.held_out_[::3, 1]).all()


@pytest.mark.parametrize("kind", BOTH)
def test_weights_of_graphs_are_repetitions(kind, drugs):
    """A graph of weight 2 is one that is there twice; one of weight 0 is not there."""
    graphs, y = drugs
    target = (y == "opioids") if kind is gg.GraphClassifier else graphs.vertex_counts
    weights = np.ones(len(y))
    weights[::5], weights[1::5] = 2, 0
    twice = np.repeat(np.arange(len(y)), weights.astype(int))
    options = {"kernels": WL, "weights": "equal"}
    model = kind(**options, alpha=0.1).fit(graphs, target, sample_weight=weights)
    again = kind(**options, alpha=0.1).fit(graphs[twice], target[twice])
    values = [
        each.predict(graphs) if kind is gg.GraphRegressor else each.decision_function(graphs)
        for each in (model, again)
    ]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-6)
    assert np.isnan(model.held_out_.reshape(len(y), -1)[1::5]).all()


def test_class_weights_are_weights_of_graphs(drugs):
    graphs, y = drugs
    target = y == "opioids"
    balanced = gg.GraphClassifier(WL, alpha=0.1, class_weight="balanced").fit(graphs, target)
    shares = {True: 0.5 / np.mean(target), False: 0.5 / np.mean(~target)}
    by_hand = gg.GraphClassifier(WL, alpha=0.1, class_weight=shares)
    expected = by_hand.fit(graphs, target).decision_function(graphs)
    np.testing.assert_allclose(balanced.decision_function(graphs), expected, rtol=1e-8)


@pytest.mark.parametrize("kind", BOTH)
def test_large_sets_are_solved_by_conjugate_gradients(kind, drugs, monkeypatch):
    graphs, y = drugs
    target = (y == "opioids") if kind is gg.GraphClassifier else graphs.vertex_counts
    options = {"kernels": [WL, gg.ShortestPath(similarity="minmax")], "weights": "equal"}
    dense = kind(**options, alpha=0.1).fit(graphs, target)
    monkeypatch.setattr(estimator, "MOST_DENSE", 100)
    monkeypatch.setattr(estimator, "MOST_LEFT_OUT", 150)
    monkeypatch.setattr(estimator, "LANDMARKS", 40)
    large = kind(**options, alpha=0.1).fit(graphs, target)
    if kind is gg.GraphRegressor:
        np.testing.assert_allclose(large.predict(graphs), dense.predict(graphs), atol=0.02)
        with pytest.raises(InvalidParameterError, match="in closed form up to"):
            large.predict(graphs[:3], return_cov=True)
        low, high = large.predict_interval(graphs)
        assert ((low < high) & np.isfinite(low)).all()
    assert large.score(graphs, target) > 0.9
    known = np.isfinite(large.held_out_.reshape(len(y), -1)[:, 0])
    assert 0.1 < known.mean() < 0.3


def test_more_graphs_than_wanted_are_a_sample_by_strata(drugs):
    graphs, y = drugs
    with pytest.warns(GraphgrainWarning, match="max_graphs=100: the model learns from a sample"):
        model = gg.GraphClassifier(WL, max_graphs=100).fit(graphs, y == "opioids")
    assert model.n_graphs_ == 100
    assert "fitted to 100 of 292" in repr(model)
    known = np.isfinite(model.held_out_[:, 0])
    assert known.sum() == 100
    assert np.mean(y[known] == "opioids") == pytest.approx(np.mean(y == "opioids"), abs=0.01)
    assert set(model.domain(graphs)["nearest"]) <= set(np.flatnonzero(known))


def test_kernels_without_features_are_terms_and_not_explained(drugs):
    graphs, y = drugs
    pick = np.flatnonzero(np.isin(y, ["opioids", "barbiturates"]))
    graphs, y = graphs[pick], y[pick]
    model = gg.GraphClassifier([gg.WassersteinWL(), WL]).fit(graphs[::2], y[::2])
    assert model.score(graphs[1::2], y[1::2]) > 0.9
    with pytest.raises(InvalidParameterError, match="WassersteinWL does not"):
        gg.explain(model, graphs[:1])
    with pytest.raises(InvalidParameterError, match="must have similarity='cosine'"):
        gg.GraphClassifier(gg.MultiscaleLaplacian(similarity="dot")).fit(graphs, y)


# ---------------------------------------------------------------- one comparison


def test_a_batch_is_counted_and_compared_once(regressor, drugs, monkeypatch):
    counts, comparisons = [], []
    for kind in {type(source.kernel) for source in regressor.machine_.sources}:
        whole = kind.count
        monkeypatch.setattr(
            kind, "count", lambda self, X, whole=whole: counts.append(self) or whole(self, X)
        )
    whole = machine.FittedTerm.compare
    monkeypatch.setattr(
        machine.FittedTerm, "compare",
        lambda self, *args: comparisons.append(self) or whole(self, *args),
    )  # fmt: skip
    counted = regressor.count(drugs[0][1:20])
    values = regressor.predict(counted)
    regressor.predict_interval(counted)
    regressor.domain(counted)
    explained = gg.explain(regressor, counted)
    gg.explain(regressor, counted, of="uncertainty")
    assert len(counts) == len(regressor.machine_.sources)
    assert len(comparisons) == len(regressor.machine_.terms)
    np.testing.assert_allclose([why.decision for why in explained], values)
    np.testing.assert_array_equal(regressor.predict(drugs[0][1:20]), values)


def test_counted_graphs_belong_to_one_fit(regressor, drugs, masses):
    counted = regressor.count(drugs[0][:3])
    again = clone(regressor).fit(drugs[0][:100], masses[:100])
    with pytest.raises(InvalidParameterError, match="counted for one fit of one model"):
        again.predict(counted)


def test_blocks_are_the_whole(regressor, drugs, monkeypatch):
    whole, domain = regressor.predict(drugs[0]), regressor.domain(drugs[0])
    monkeypatch.setattr(estimator, "BLOCK", 1000)
    np.testing.assert_allclose(regressor.predict(drugs[0]), whole, rtol=1e-12)
    np.testing.assert_array_equal(regressor.domain(drugs[0])["nearest"], domain["nearest"])


def test_domain_says_why(regressor, drugs):
    graphs, _ = drugs
    new = gg.from_smiles(["[Na+].[Cl-]", "[Pt]", "CCCCCCCCCCCCCCCCCC"])
    domain = regressor.domain(gg.GraphBatch.concatenate([new, graphs[[0, 4]]]))
    assert domain["inside"].tolist() == [False, False, False, True, True]
    assert domain["in_training"].tolist() == [False] * 3 + [True] * 2
    assert domain["nearest"][3:].tolist() == [0, 2]
    assert domain["reason"][1] == "no training graph has the label Pt"
    assert "nearest training graph has similarity" in domain["reason"][2]
    assert (domain["unseen"][3:] == 0).all()
    assert (domain["leverage"][:2] > 0.8).all()


@pytest.mark.parametrize("kind", BOTH)
def test_explanations_add_up_and_held_out_ones_too(kind, drugs):
    graphs, y = drugs
    target = y if kind is gg.GraphClassifier else graphs.vertex_counts + np.sin(np.arange(len(y)))
    model = kind().fit(graphs[::2], target[::2])
    some = graphs[np.arange(0, 12)]
    held_out = np.log(np.maximum(np.stack(model.held_out_[:6]), 1e-300))
    for of, out in (("decision", False), ("decision", True), ("uncertainty", False)):
        for why in gg.explain(model, some, of=of, held_out=out):
            total = why.bias + why.columns + why.vertices.sum()
            assert why.decision == pytest.approx(total, abs=1e-9)
    whys = gg.explain(model, some, held_out=True)
    assert not any(why.in_training for why in whys)
    assert [why.in_training for why in gg.explain(model, some)] == [True, False] * 6
    for number in range(6):
        why = whys[2 * number]
        if kind is gg.GraphRegressor:
            assert why.decision == pytest.approx(model.held_out_[number])
        else:
            expected = model.classes_[held_out[number].argmax()]
            assert why.prediction == expected


@pytest.mark.parametrize("of", ["decision", "uncertainty"])
def test_parts_add_up_to_the_values(of):
    """The bias is one of its own, not what the others leave."""
    table, y = {"smiles": SMALL * 4, "dose": np.arange(24.0)}, np.sin(np.arange(24)) + 3
    model = gg.GraphRegressor(graphs="smiles").fit(table, y)
    counted = model.count({"smiles": [*SMALL, "c1ccccc1O"], "dose": np.arange(7.0) * 3})
    sums = model.pattern_sums(counted, of=of)
    for graph in range(7):
        total = sums.biases[graph] + sums.columns[graph]
        for fitted in sums.terms:
            features = counted.features[id(fitted.term.source)][graph : graph + 1]
            levels = features.first_levels(fitted.term.n_levels).levels
            total = total + sum(map(np.sum, fitted.contributions(levels, sums.of(graph))))
            own = sum(map(np.sum, fitted.own_contributions(levels)))
            total = total + sums.factors[graph] * own
        np.testing.assert_allclose(sums.values[graph], total, atol=1e-9)


# ---------------------------------------------------------------- probabilities


def test_prediction_is_the_class_of_the_largest_probability(drugs):
    graphs, y = drugs
    for target in (y == "opioids", y):
        model = gg.GraphClassifier(WL).fit(graphs[::2], target[::2])
        share, values = model.predict_proba(graphs), model.decision_function(graphs)
        np.testing.assert_allclose(share.sum(axis=1), 1.0)
        assert model.predict(graphs).tolist() == model.classes_[share.argmax(axis=1)].tolist()
        if len(model.classes_) == 2:
            np.testing.assert_allclose(logit(share[:, 1]), values, rtol=1e-6, atol=1e-9)


def test_probabilities_hold_on_chains(chains):
    """The chance of the class is known: a sigmoid of the share of one kind of atoms."""
    graphs, count = chains(2500)
    truth = expit(8 * count / graphs.vertex_counts - 5)
    y = np.random.default_rng(0).random(2500) < truth
    model = gg.GraphClassifier(WL).fit(graphs[:500], y[:500])
    share = model.predict_proba(graphs[500:])[:, 1]
    assert abs(share.mean() - y[500:].mean()) < 0.15 * y[500:].mean()
    line = LogisticRegression(C=1e6).fit(logit(share)[:, np.newaxis], y[500:])
    assert 0.8 < line.coef_[0, 0] < 1.25


def test_sets_hold_the_true_class(chains):
    graphs, count = chains(1400)
    y = np.where(count + np.random.default_rng(0).normal(size=1400) > 6.5, "rare", "usual")
    model = gg.GraphClassifier(WL, alpha=1.0).fit(graphs[:400], y[:400])
    for coverage in (0.8, 0.9):
        sets = model.predict_set(graphs[400:], coverage)
        for name in ("rare", "usual"):
            inside = [name in s for s, true in zip(sets, y[400:], strict=True) if true == name]
            # three deviations of new graphs and of the quantile of the training graphs
            there = 1 / len(inside) + 1 / np.sum(y[:400] == name)
            assert abs(np.mean(inside) - coverage) < 3 * np.sqrt(coverage * (1 - coverage) * there)
        assert np.mean([len(found) for found in sets]) < 1.4


# ---------------------------------------------------------------- life


@pytest.mark.parametrize("kind", BOTH)
def test_life_with_scikit_learn(kind, drugs):
    graphs, y = drugs
    pick = np.flatnonzero(np.isin(y, ["opioids", "barbiturates"]))
    graphs, y = graphs[pick], y[pick]
    target = y if kind is gg.GraphClassifier else graphs.vertex_counts
    model = kind(WL)
    with pytest.raises(NotFittedError):
        model.predict(graphs)
    assert np.isfinite(cross_val_score(model, graphs, target, cv=2, error_score="raise")).all()
    model.fit(graphs, target)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(graphs), model.predict(graphs))
    threads = kind(WL, n_jobs=2).fit(graphs, target)
    np.testing.assert_array_equal(threads.predict(graphs), model.predict(graphs))
    state = dict(vars(model))
    with pytest.raises(InvalidParameterError):
        model.fit(graphs, target[:-1])
    assert vars(model) == state
    assert len(kind._get_param_names()) <= 12


SMALL = ["CCO", "CCN", "CCC", "CO", "CN", "CCCO"]


@pytest.mark.parametrize(
    ("graphs", "y"),
    [
        (SMALL, [2.0] * 6),
        (SMALL[:3], [1.0, 2.0, 4.0]),
        (["CCO"] * 6, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]),
        ([([], [])] * 6, [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]),
        (SMALL[:2], np.random.default_rng(0).normal(size=(2, 4))),
        (["CCO"], [3.0]),
    ],
    ids=["constant", "three", "equal", "empty", "more outputs", "one"],
)
def test_hard_targets_are_answered(graphs, y):
    model = gg.GraphRegressor().fit(graphs, y)
    values, sigma = model.predict(graphs, return_std=True)
    assert np.isfinite(values).all()
    assert np.isfinite(sigma).all()
    if np.ndim(y) == 1 and len(set(graphs if isinstance(graphs[0], str) else "1")) == 1:
        np.testing.assert_allclose(values, np.mean(y))


@pytest.mark.parametrize(
    ("kind", "y", "options", "rule"),
    [
        (gg.GraphClassifier, ["a"] * 6, {}, "at least two classes"),
        (gg.GraphRegressor, [np.nan, 1, 2, 3, 4, 5], {}, "graph 0 has nan"),
        (gg.GraphRegressor, [np.inf, 1, 2, 3, 4, 5], {}, "must be finite"),
        (gg.GraphRegressor, range(6), {"sample_weight": [0] * 6}, "all weights are zero"),
        (gg.GraphRegressor, range(6), {"sample_weight": [-1] * 6}, "smallest entry -1"),
        (gg.GraphRegressor, range(6), {"groups": [1, 2]}, "groups must hold one entry"),
    ],
)
def test_bad_input_has_one_clear_error(kind, y, options, rule):
    with pytest.raises(InvalidParameterError, match=rule):
        kind().fit(SMALL, y, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"kernels": "none"}, {"kernels": []}, {"weights": "best"}, {"weights": [-1.0]},
        {"alpha": 0.0}, {"alpha": []}, {"views": "auto"}, {"max_graphs": 1}, {"descriptors": "x"},
    ],
    ids=str,
)  # fmt: skip
def test_parameters_have_rules(options):
    [name] = options
    with pytest.raises(InvalidParameterError, match=f"{name} must be"):
        gg.GraphRegressor(**options).fit(SMALL, range(6))


def test_more_rules():
    with pytest.raises(InvalidParameterError, match="for each of the 1 terms"):
        gg.GraphRegressor(WL, weights=[1, 2]).fit(SMALL, range(6))
    with pytest.raises(InvalidGraphError, match="got an empty list"):
        gg.GraphRegressor().fit([], [])
    model = gg.GraphRegressor(WL).fit(SMALL, range(6))
    with pytest.raises(
        InvalidParameterError, match="needs at least 9 training graphs; there are 6"
    ):
        model.predict_interval(SMALL, 0.9)
    with pytest.raises(InvalidParameterError, match="At most one of return_std and return_cov"):
        model.predict(SMALL, return_std=True, return_cov=True)
    with pytest.raises(InvalidGraphError, match="labels of the kind seen at fit"):
        model.predict([([(0, 1)], [1, 2])])
