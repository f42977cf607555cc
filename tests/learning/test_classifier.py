"""GraphClassifier: the machine that it says it is, probabilities that hold, weights, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import brier_score_loss

import graphgrain as gg
from graphgrain.errors import InvalidGraphError, InvalidParameterError
from graphgrain.learning.classifier import fit_sigmoids
from graphgrain.learning.folds import stratified_folds
from tests.learning.machines import check_straight, explicit
from tests.real_data import molecule_file

#: One kernel, nothing to choose.
ONE = {
    "kernels": "wl",
    "max_level": 1,
    "edge_labels": False,
    "views": None,
    "max_terms": 1,
    "cv": 3,
}
QUICK = {"path_depth": 2, "max_level": 1, "cv": 3}


def rebuilt(term: dict):
    """The kernel of a term, as the documentation says to read it."""
    own = {name: value for name, value in term.items() if name not in ("kernel", "view")}
    return gg.list_kernels()[term["kernel"]](**own)


# ---------------------------------------------------------------- the machine


@pytest.mark.parametrize("similarity", ["minmax", "cosine", "dot"])
def test_decisions_are_log_odds_of_the_machine_that_scikit_learn_trains(families, similarity):
    """Kernel, machine and the sigmoid of held-out scores, each by scikit-learn."""
    graphs, y = families
    train, new = graphs[::2], graphs[1::2]
    codes = (y[::2] == "opioids").astype(int)
    kernel = gg.WeisfeilerLehman(1, similarity=similarity)
    estimator = {"kernels": kernel, "alpha": 1.0, "cv": 3, "max_terms": 1, "random_state": 5}
    model = gg.GraphClassifier(**estimator).fit(train, y[::2])
    [term] = model.terms_
    K, rows = (f(rebuilt(term).fit(train)) for f in (_gram(train), _gram(new)))
    scale = 1.0 if similarity != "dot" else 1 / np.mean(np.diag(K))
    K, rows = K * scale, rows * scale
    X, places = explicit(K, rows)
    signs = 2.0 * codes - 1
    folds = stratified_folds(codes, 3, np.random.default_rng(5))
    held_out = np.empty(len(codes))
    for test in folds:
        rest = np.setdiff1d(np.arange(len(codes)), test)
        held_out[test] = Ridge(1.0).fit(X[rest], signs[rest]).predict(X[test])
    [[slope, intercept]] = fit_sigmoids(codes, held_out[:, np.newaxis], np.ones(len(codes)))
    expected = slope * Ridge(1.0).fit(X, signs).predict(places) + intercept
    found = model.decision_function(new)
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], expit(found), rtol=1e-9)


def _gram(graphs):
    return lambda kernel: kernel.transform(graphs)


@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_several_terms_are_the_mean_of_their_kernels(families, alpha):
    graphs, y = families
    noisy = np.where(np.arange(len(y)) % 5 == 0, y[::-1], y)
    train, new = graphs[::2], graphs[1::2]
    model = gg.GraphClassifier(["wl", "sp"], 2, alpha=alpha, views=None, cv=3, max_terms=5)
    model.fit(train, noisy[::2])
    kernels = [rebuilt(term).fit(train) for term in model.terms_]
    K = np.mean([kernel.transform(train) for kernel in kernels], axis=0)
    rows = np.mean([kernel.transform(new) for kernel in kernels], axis=0)
    X, places = explicit(K, rows)
    peer = Ridge(alpha).fit(X, np.where(noisy[::2] == model.classes_[1], 1.0, -1.0))
    check_straight(model.decision_function(new), peer.predict(places))


def test_several_classes_are_each_learned_against_the_rest(drugs):
    graphs, y = drugs
    pick = np.flatnonzero(np.isin(y, ["opioids", "antihistamines", "tricyclics", "barbiturates"]))
    graphs, y = graphs[pick], y[pick]
    model = gg.GraphClassifier(alpha=0.1, similarity="cosine", **ONE).fit(graphs[::2], y[::2])
    kernel = rebuilt(model.terms_[0])
    X, places = explicit(kernel.fit_transform(graphs[::2]), kernel.transform(graphs[1::2]))
    found = model.decision_function(graphs[1::2])
    for name, own in zip(model.classes_, found.T, strict=True):
        peer = Ridge(0.1).fit(X, np.where(y[::2] == name, 1.0, -1.0))
        check_straight(own, peer.predict(places))


def test_linear_and_kernel_machines_agree(families):
    graphs, y = families
    options = {"alpha": 1.0, "similarity": "cosine", "counts": "sqrt"}
    kernel, linear = (
        gg.GraphClassifier(**ONE, **options, solver=solver).fit(graphs[::2], y[::2])
        for solver in ("kernel", "linear")
    )
    assert kernel.terms_ == linear.terms_
    ours, theirs = linear.decision_function(graphs), kernel.decision_function(graphs)
    np.testing.assert_allclose(ours, theirs, atol=1e-3 * np.ptp(theirs))
    assert linear.machine_.coefficients is None
    several = gg.GraphClassifier(**ONE, **options, solver="linear")
    third = np.where(np.arange(len(y)) % 7 == 0, "else", y)
    assert several.fit(graphs, third).decision_function(graphs).shape == (len(y), 3)


def test_the_linear_solver_needs_products(families):
    with pytest.raises(InvalidParameterError, match=r"similarity='cosine' or 'dot'; got 'minmax'"):
        gg.GraphClassifier(similarity="minmax", solver="linear").fit(*families)


def test_little_memory_means_the_linear_solver(families, monkeypatch):
    graphs, y = families
    monkeypatch.setattr("graphgrain.learning.estimator.available_memory", lambda: 20_000)
    model = gg.GraphClassifier(**ONE, alpha=1.0).fit(graphs, y)
    assert model.machine_.coefficients is None
    monkeypatch.setattr("graphgrain.learning.estimator.available_memory", lambda: 2e9)
    assert gg.GraphClassifier(**ONE, alpha=1.0).fit(graphs, y).machine_.coefficients is not None


# ---------------------------------------------------------------- predictions and probabilities


def check_consistent(model, graphs):
    """Prediction, probabilities and decisions of one mind."""
    share, values = model.predict_proba(graphs), model.decision_function(graphs)
    predicted = model.predict(graphs)
    np.testing.assert_allclose(share.sum(axis=1), 1.0)
    assert predicted.tolist() == model.classes_[share.argmax(axis=1)].tolist()
    if len(model.classes_) == 2:
        assert values.shape == (len(graphs),)
        assert predicted.tolist() == model.classes_[(values > 0).astype(int)].tolist()
        np.testing.assert_allclose(logit(share[:, 1]), values, rtol=1e-6, atol=1e-9)
    else:
        assert values.shape == share.shape
        assert predicted.tolist() == model.classes_[values.argmax(axis=1)].tolist()


def test_prediction_is_the_class_of_the_largest_probability(drugs, families):
    graphs, y = drugs
    check_consistent(gg.GraphClassifier(**QUICK).fit(*families), families[0])
    check_consistent(gg.GraphClassifier(**ONE, alpha=0.1).fit(graphs[::2], y[::2]), graphs)


def test_a_rare_class_is_predicted_where_it_is_likely(drugs):
    graphs, y = drugs
    hard, easy = np.zeros(len(y), dtype=bool), y == "barbiturates"
    hard[np.flatnonzero(y == "antihistamines")[:8]] = True  # others of the family are not meant
    for rare in (hard, easy):
        model = gg.GraphClassifier(**QUICK).fit(graphs, rare)
        assert model.scoring_ == "roc_auc"
        check_consistent(model, graphs)
        likely = model.predict_proba(graphs)[:, 1] > 0.5
        np.testing.assert_array_equal(model.predict(graphs), likely)
        assert likely[rare].sum() >= 1
    assert likely[easy].all()


def test_probabilities_hold_on_hiv():
    path = molecule_file("hiv.csv.gz")
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv(path)
    smiles = next(name for name in table if "smiles" in name.lower())
    active = next(name for name in table if "activ" in name.lower() and table[name].nunique() == 2)
    ones = table[table[active] == 1].iloc[:240]
    zeros = table[table[active] == 0].iloc[:: max(1, (table[active] == 0).sum() // 960)].iloc[:960]
    both = pandas.concat([ones, zeros]).sample(frac=1.0, random_state=0)
    graphs, y = gg.from_smiles(both[smiles].tolist()), both[active].to_numpy()
    options = {"kernels": gg.WeisfeilerLehman(2, similarity="minmax"), "max_terms": 1}
    model = gg.GraphClassifier(**options, alpha=1.0).fit(graphs[:600], y[:600])
    share = model.predict_proba(graphs[600:])[:, 1]
    assert abs(share.mean() - y[600:].mean()) < 0.15 * y[600:].mean() + 0.03
    line = LogisticRegression(C=1e6).fit(logit(share)[:, np.newaxis], y[600:])
    assert 0.8 < line.coef_[0, 0] < 1.25
    check_consistent(model, graphs[600:])


def test_probabilities_hold_on_chains(chains):
    """The chance of the class is known: a sigmoid of the share of one kind of atoms."""
    graphs, count = chains(2500)
    truth = expit(8 * count / graphs.vertex_counts - 5)
    y = np.random.default_rng(0).random(2500) < truth
    kernel = gg.WeisfeilerLehman(1, similarity="minmax")
    model = gg.GraphClassifier(kernel, alpha=3.0, max_terms=1).fit(graphs[:500], y[:500])
    share = model.predict_proba(graphs[500:])[:, 1]
    assert abs(share.mean() - y[500:].mean()) < 0.15 * y[500:].mean()
    line = LogisticRegression(C=1e6).fit(logit(share)[:, np.newaxis], y[500:])
    assert 0.8 < line.coef_[0, 0] < 1.25
    best = brier_score_loss(y[500:], truth[500:])
    always = brier_score_loss(y[500:], np.full(2000, y[:500].mean()))
    assert brier_score_loss(y[500:], share) < best + 0.25 * (always - best)


def test_probabilities_of_a_sample_are_those_of_all(drugs, monkeypatch):
    """Sigmoids belong to the machine that is shipped, trained on more graphs than have judged."""
    graphs, y = drugs
    target = np.isin(y, ["opioids", "antihistamines", "tricyclics", "benzodiazepines"])
    monkeypatch.setattr(gg.GraphClassifier, "_rounds", (20, 40, 60))
    model = gg.GraphClassifier(**ONE, alpha=1.0).fit(graphs[::2], target[::2])
    assert model.held_out_probabilities_.shape == (146, 2)
    assert max(model.cv_results_["n_graphs"]) <= 60
    share = model.predict_proba(graphs[1::2])[:, 1]
    assert abs(share.mean() - target.mean()) < 0.15 * target.mean()
    always = brier_score_loss(target[1::2], np.full(146, target.mean()))
    assert brier_score_loss(target[1::2], share) < 0.6 * always


def test_sets_hold_the_true_class(chains):
    graphs, count = chains(1400)
    y = np.where(count + np.random.default_rng(0).normal(size=1400) > 6.5, "rare", "usual")
    assert (y == "rare").mean() < 0.2
    kernel = gg.WeisfeilerLehman(2, similarity="minmax")
    model = gg.GraphClassifier(kernel, alpha=1.0, max_terms=1).fit(graphs[:400], y[:400])
    for coverage in (0.8, 0.9):
        sets = model.predict_set(graphs[400:], coverage)
        for name in ("rare", "usual"):
            own = [name in found for found, true in zip(sets, y[400:], strict=True) if true == name]
            # three deviations of new graphs and of the quantile of the training graphs
            there = 1 / len(own) + 1 / np.sum(y[:400] == name)
            assert abs(np.mean(own) - coverage) < 3 * np.sqrt(coverage * (1 - coverage) * there)
        assert np.mean([len(found) for found in sets]) < 1.4
    share = model.predict_proba(graphs[400:])
    for found, row in zip(sets, share, strict=True):
        assert found == sorted(found, key=lambda name: -row[model.classes_.tolist().index(name)])


# ---------------------------------------------------------------- weights


def test_graphs_of_weight_zero_are_not_seen(families):
    graphs, y = families
    weights = np.ones(len(y))
    weights[::3] = 0
    kept = np.flatnonzero(weights)
    weighted = gg.GraphClassifier(**QUICK).fit(graphs, y, sample_weight=weights)
    without = gg.GraphClassifier(**QUICK).fit(graphs[kept], y[kept])
    np.testing.assert_array_equal(
        weighted.decision_function(graphs), without.decision_function(graphs)
    )


def test_weights_are_repetitions_for_the_machine(families):
    graphs, y = families
    noisy = np.where(np.arange(len(y)) % 4 == 0, y[::-1], y)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    options = {**ONE, "alpha": 1.0, "similarity": "cosine", "counts": "raw", "max_level": 0}
    model = gg.GraphClassifier(**options).fit(graphs, noisy, sample_weight=weights)
    kernel = gg.WeisfeilerLehman(0)
    X, places = explicit(kernel.fit_transform(graphs[rows]), kernel.transform(graphs))
    # weights count relative to their mean
    peer = Ridge(weights.mean()).fit(X, np.where(noisy[rows] == model.classes_[1], 1.0, -1.0))
    check_straight(model.decision_function(graphs), peer.predict(places))


def test_balanced_weights(families):
    graphs, y = families
    count = {name: np.sum(y == name) for name in np.unique(y)}
    given = {name: len(y) / (2 * number) for name, number in count.items()}
    balanced, explicit = (
        gg.GraphClassifier(**ONE, class_weight=weight).fit(graphs, y)
        for weight in ("balanced", given)
    )
    np.testing.assert_allclose(
        balanced.decision_function(graphs), explicit.decision_function(graphs), atol=1e-9
    )


def test_balanced_classes_have_the_same_total_weight(families):
    graphs, y = families
    weights = np.random.default_rng(0).uniform(0.2, 4.0, len(y))
    weights[np.flatnonzero(y == "opioids")[::2]] = 0.0
    kept = np.flatnonzero(weights)
    own = weights[kept].copy()
    for name in np.unique(y):
        own[y[kept] == name] /= own[y[kept] == name].sum()
    balanced = gg.GraphClassifier(**ONE, class_weight="balanced").fit(graphs, y, weights)
    explicit = gg.GraphClassifier(**ONE, class_weight=None).fit(graphs[kept], y[kept], own)
    np.testing.assert_allclose(
        balanced.decision_function(graphs), explicit.decision_function(graphs), atol=1e-9
    )


@pytest.mark.parametrize("kind", [bool, int, float, str])
@pytest.mark.parametrize("given", [{0: 1.0, 1: 5.0}, {False: 1.0, True: 5.0}])
def test_weights_of_classes_belong_to_equal_classes(families, kind, given):
    graphs, y = families
    positive = y == "opioids"
    low, high = map(str, given)
    classes = np.where(positive, high, low)
    classes = classes if kind is str else positive.astype(kind)
    model = gg.GraphClassifier(**ONE, class_weight=given).fit(graphs, classes)
    weights = np.where(positive, 5.0, 1.0)
    peer = gg.GraphClassifier(**ONE, class_weight=None).fit(graphs, positive, weights)
    np.testing.assert_allclose(
        model.decision_function(graphs), peer.decision_function(graphs), atol=1e-9
    )


def test_weights_that_are_better_in_cross_validation(drugs):
    """Where one of two classes is rare, balanced weights are taken if they help."""
    graphs, y = drugs
    chosen = set()
    for family in np.unique(y)[:6]:
        rare = y == family
        options = {**ONE, "similarity": "cosine", "counts": "raw", "max_level": 1, "alpha": 1.0}
        scores = {}
        for weight in (None, "balanced", "auto"):
            model = gg.GraphClassifier(**options, class_weight=weight).fit(graphs, rare)
            assert model.scoring_ == "roc_auc"
            scores[weight] = model.best_score_
            said = model.held_out_probabilities_[:, 1]
            assert abs(said.mean() - rare.mean()) < 0.005  # probabilities follow the data
        assert scores["auto"] == pytest.approx(max(scores[None], scores["balanced"]), abs=1e-9)
        chosen.add(scores["balanced"] > scores[None])
    assert chosen == {True, False}


def test_a_class_with_one_member_does_not_stop_a_fit(families):
    graphs, y = families
    y = y.astype("U20")
    y[3] = "alone"
    model = gg.GraphClassifier(**ONE, alpha=0.1).fit(graphs, y)
    assert model.classes_.tolist() == ["alone", "barbiturates", "opioids"]
    assert np.mean(model.predict(graphs) == y) > 0.8
    check_consistent(model, graphs)


@pytest.mark.parametrize("weights", [[1.0], -np.ones(52), np.full(52, np.nan), np.zeros(52)])
def test_wrong_weights(weights, families):
    with pytest.raises(InvalidParameterError, match="sample_weight must"):
        gg.GraphClassifier(**ONE).fit(*families, sample_weight=weights)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.arange(12) % 2, "at least two classes"),
        (np.arange(12) < 2, "got 2 graphs for 5 folds"),
    ],
)
def test_weights_that_leave_too_little(weights, words, drugs):
    with pytest.raises(InvalidParameterError, match=words):
        gg.GraphClassifier().fit(drugs[0][:12], np.arange(12) % 2, sample_weight=weights)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "decision_function", "predict_set", "domain", "score"]
)
def test_unfitted(method, families):
    graphs, y = families
    rest = (y,) if method == "score" else ()
    with pytest.raises(NotFittedError):
        getattr(gg.GraphClassifier(), method)(graphs, *rest)


def test_unfitted_elsewhere(families, tmp_path):
    with pytest.raises(NotFittedError):
        gg.GraphClassifier().save(tmp_path / "model.ggm")
    for of in ("decision", "uncertainty"):
        with pytest.raises(NotFittedError):
            gg.explain(gg.GraphClassifier(), families[0], of=of)


@pytest.mark.parametrize("coverage", [0, 1, 1.5, -0.1, "high"])
def test_wrong_coverage(coverage, families):
    model = gg.GraphClassifier(**ONE, alpha=1.0).fit(*families)
    with pytest.raises(InvalidParameterError, match="coverage must be a number above 0 and below"):
        model.predict_set(families[0], coverage)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": []}, "alpha must be"),
        ({"alpha": [1, -1]}, "alpha must be a finite number above 0"),
        ({"cv": 1}, "cv must be an integer of 2 or more"),
        ({"cv": "random"}, "cv must be .*'scaffold'"),
        ({"max_level": -1}, "max_level must be an integer of 0 or more"),
        ({"counts": ["raw", "cube"]}, "counts must be"),
        ({"counts": "automatic"}, "or a list of such values to choose from; or 'auto'; got 'autom"),
        ({"similarity": "tanimoto"}, "similarity must be"),
        ({"path_depth": "auto"}, "path_depth must be"),
        ({"max_terms": 0}, "max_terms must be an integer of 1 or more; got 0"),
        ({"time_budget": 0}, "time_budget must be a finite number above 0, or None; got 0"),
        ({"solver": "newton"}, "solver must be one of"),
        ({"scoring": "f1"}, "scoring must be one of"),
        ({"class_weight": "heavy"}, "class_weight must be None, 'auto', 'balanced' or"),
        ({"class_weight": {"opioids": 1}}, "must have a weight for every class"),
        ({"class_weight": {"opioids": 1, "barbiturates": -1}}, "must be finite numbers above 0"),
        ({"descriptors": "mordred"}, "descriptors must be one of"),
        ({"verbose": -1}, "verbose must be"),
        ({"attributes": "auto"}, "attributes must be one of True, False"),
    ],
)
def test_wrong_parameters(change, message, families):
    with pytest.raises(InvalidParameterError, match=message):
        gg.GraphClassifier(**change).fit(*families)


def test_wrong_input(families):
    graphs, y = families
    with pytest.raises(InvalidGraphError, match="needs graphs to learn from"):
        gg.GraphClassifier().fit([], [])
    with pytest.raises(InvalidParameterError, match="got 3 graphs for 5 folds"):
        gg.GraphClassifier().fit(graphs[:3], y[:3])
    with pytest.raises(InvalidParameterError, match="GraphRegressor"):
        gg.GraphClassifier().fit(graphs, np.linspace(0, 1, len(graphs)))
    with pytest.raises(InvalidParameterError, match="at least two classes to tell apart"):
        gg.GraphClassifier().fit(graphs, ["one"] * len(graphs))
    with pytest.raises(InvalidParameterError, match="weight for every class; 1 has none"):
        gg.GraphClassifier(class_weight={0: 2.0}).fit(graphs, np.arange(len(graphs)) % 2)


def test_five_graphs(families):
    graphs, y = families
    pick = [0, 1, 2, -1, -2]
    model = gg.GraphClassifier().fit(graphs[pick], y[pick])
    check_consistent(model, graphs)
    # too few to leave a class out with this certainty
    [found] = model.predict_set(graphs[[0]], 0.9)
    assert sorted(found) == ["barbiturates", "opioids"]


def test_plain_lists_of_graphs_will_do():
    ring, path = ([(0, 1), (1, 2), (0, 2)], [1, 1, 1]), ([(0, 1), (1, 2)], [1, 1, 1])
    model = gg.GraphClassifier(cv=2).fit([ring, path] * 4, ["ring", "path"] * 4)
    assert model.predict([path, ring]).tolist() == ["path", "ring"]
    assert model.predict([]).tolist() == []


def test_progress_is_told_if_asked_for(families, capsys):
    gg.GraphClassifier(**ONE).fit(*families)
    assert capsys.readouterr() == ("", "")
    gg.GraphClassifier(**ONE, verbose=1).fit(*families)
    out, err = capsys.readouterr()
    assert out == ""
    assert "GraphClassifier: round 1 of 1, 52 graphs" in err
