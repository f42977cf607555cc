"""GraphRegressor: the ridge that it says it is, intervals that hold, scales, gaps, bad input."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom, norm
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import LeaveOneOut

import graphgrain as gg
from graphgrain.errors import InvalidParameterError

#: One kernel, nothing to choose.
ONE = {
    "kernels": "wl", "max_level": 1, "edge_labels": False, "counts": "raw", "similarity": "minmax",
    "views": None, "max_terms": 1, "scale": "none", "cv": 3,
}  # fmt: skip
QUICK = {"path_depth": 2, "max_level": 1, "cv": 3}


def dense(K, y, alpha, weights=None):
    """Coefficients and a free intercept of kernel ridge regression, by a bordered system."""
    noise = np.full(len(K), alpha) if weights is None else alpha / weights
    ones = np.ones((len(K), 1))
    bordered = np.block([[K + np.diag(noise), ones], [ones.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(bordered, np.append(y, 0.0))
    return solution[:-1], solution[-1]


def kernel_of(model):
    [term] = model.terms_
    own = {name: value for name, value in term.items() if name != "kernel"}
    return gg.list_kernels()[term["kernel"]](**own)


# ---------------------------------------------------------------- the machine


@pytest.mark.parametrize("similarity", ["minmax", "cosine", "dot"])
def test_predictions_are_the_dense_formula(drugs, masses, similarity):
    graphs, _ = drugs
    options = {**ONE, "similarity": similarity, "alpha": 0.1}
    model = gg.GraphRegressor(**options).fit(graphs[::2], masses[::2])
    kernel = kernel_of(model)
    K, rows = kernel.fit_transform(graphs[::2]), kernel.transform(graphs[1::2])
    unit = np.mean(np.diag(K))  # 1 but for products
    coefficients, intercept = dense(K / unit, masses[::2], 0.1)
    expected = rows / unit @ coefficients + intercept
    np.testing.assert_allclose(model.predict(graphs[1::2]), expected, rtol=1e-6)


def test_a_sample_chooses_and_all_graphs_train(drugs, masses, monkeypatch):
    graphs, _ = drugs
    monkeypatch.setattr(gg.GraphRegressor, "_rounds", (20, 40, 60))
    model = gg.GraphRegressor(**{**ONE, "alpha": 0.1}).fit(graphs, masses)
    assert max(model.cv_results_["n_graphs"]) == 40
    kernel = kernel_of(model)
    K = kernel.fit_transform(graphs)
    coefficients, intercept = dense(K, masses, 0.1)
    np.testing.assert_allclose(model.predict(graphs), K @ coefficients + intercept, rtol=1e-6)


def test_held_out_predictions_leave_one_out(families):
    graphs, _ = families
    y = graphs.edge_counts.astype(float)
    model = gg.GraphRegressor(**ONE, alpha=0.1).fit(graphs, y)
    K = kernel_of(model).fit_transform(graphs)
    for out in (0, 7, 30):
        rest = np.arange(len(y)) != out
        coefficients, intercept = dense(K[np.ix_(rest, rest)], y[rest], 0.1)
        assert model.held_out_[out] == pytest.approx(K[out, rest] @ coefficients + intercept)


@pytest.mark.parametrize("counts", ["raw", "sqrt", "intersection"])
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_linear_ridge_is_kernel_ridge(drugs, masses, counts, similarity):
    graphs, _ = drugs
    options = {**ONE, "alpha": 0.1, "counts": counts, "similarity": similarity}
    kernel, linear = (
        gg.GraphRegressor(**options, solver=solver).fit(graphs[::2], masses[::2])
        for solver in ("kernel", "linear")
    )
    expected = kernel.predict(graphs[1::2])
    assert kernel.terms_ == linear.terms_
    assert np.abs(linear.predict(graphs[1::2]) - expected).max() < 1e-3 * np.std(expected)
    low, high = linear.predict_interval(graphs[1::2])
    assert 0.8 < np.mean((low <= masses[1::2]) & (masses[1::2] <= high)) < 0.98


def test_weights_are_repetitions(families):
    graphs, _ = families
    values = np.random.default_rng(0).normal(size=len(graphs))
    weights = np.random.default_rng(1).integers(1, 4, len(graphs))
    model = gg.GraphRegressor(**ONE, alpha=0.1).fit(graphs, values, sample_weight=weights)
    rows = np.repeat(np.arange(len(graphs)), weights)
    kernel = kernel_of(model).fit(graphs[rows])
    # weights are relative: the mean weight of a graph is one, and alpha is for that
    alpha = 0.1 * weights.mean()
    coefficients, intercept = dense(kernel.gram(), values[rows], alpha)
    expected = kernel.transform(graphs) @ coefficients + intercept
    np.testing.assert_allclose(model.predict(graphs), expected, rtol=1e-6, atol=1e-9)


def test_graphs_of_weight_zero_are_not_seen(families):
    graphs, _ = families
    y = graphs.edge_counts.astype(float)
    weights = np.ones(len(y))
    weights[::3] = 0
    kept = np.flatnonzero(weights)
    weighted = gg.GraphRegressor(**QUICK).fit(graphs, y, sample_weight=weights)
    without = gg.GraphRegressor(**QUICK).fit(graphs[kept], y[kept])
    np.testing.assert_array_equal(weighted.predict(graphs), without.predict(graphs))


@pytest.mark.parametrize("change", [lambda y: 1e-6 * y, lambda y: 1e-9 * y, lambda y: 1e100 * y])
def test_the_unit_of_the_targets_does_not_matter(drugs, masses, change):
    graphs, _ = drugs
    scores = []
    for targets in (masses, change(masses)):
        model = gg.GraphRegressor(**QUICK).fit(graphs[::4], targets[::4])
        scores.append(r2_score(targets[1::4], model.predict(graphs[1::4])))
    assert scores[1] == pytest.approx(scores[0], abs=1e-4)


def test_nor_does_the_zero_of_the_targets(drugs, masses):
    graphs, _ = drugs
    one, other = (
        gg.GraphRegressor(**QUICK, scale="none").fit(graphs[::4], masses[::4] + shift)
        for shift in (0.0, 1e6)
    )
    np.testing.assert_allclose(other.predict(graphs) - 1e6, one.predict(graphs), atol=1e-4)


def test_what_grows_with_size_is_learned(drugs, masses):
    graphs, _ = drugs
    model = gg.GraphRegressor(cv=3).fit(graphs[::2], masses[::2])
    atoms = gg.VertexHistogram(output="features").fit(graphs[::2])
    peer = Ridge(1e-3).fit(atoms.transform(graphs[::2]), masses[::2])
    assert peer.score(atoms.transform(graphs[1::2]), masses[1::2]) > 0.999
    assert model.score(graphs[1::2], masses[1::2]) > 0.99


@pytest.mark.parametrize("solver", ["kernel", "linear"])
def test_a_constant_target_is_predicted(families, solver):
    graphs, _ = families
    model = gg.GraphRegressor(max_level=0, cv=2, solver=solver)
    model.fit(graphs, np.full(len(graphs), 7.0))
    np.testing.assert_allclose(model.predict(graphs), 7.0)
    low, high = model.predict_interval(graphs)
    np.testing.assert_allclose([low, high], 7.0)


# ---------------------------------------------------------------- several targets


def test_targets_with_gaps_are_those_of_models_of_their_own(drugs, masses):
    graphs, _ = drugs
    rng = np.random.default_rng(0)
    y = np.column_stack([masses, graphs.edge_counts, rng.normal(size=len(masses))])
    y[rng.random(y.shape) < 0.3] = np.nan
    y[:3] = np.nan  # rows without any
    options = {**ONE, "alpha": 0.1}
    model = gg.GraphRegressor(**options).fit(graphs, y)
    found, deviations = model.predict(graphs, return_std=True)
    assert found.shape == deviations.shape == y.shape
    low, high = model.predict_interval(graphs, 0.8)
    for target in range(3):
        there = np.flatnonzero(np.isfinite(y[:, target]))
        alone = gg.GraphRegressor(**options).fit(graphs[there], y[there, target])
        assert alone.terms_ == model.terms_
        expected, spread = alone.predict(graphs, return_std=True)
        np.testing.assert_allclose(found[:, target], expected, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(deviations[:, target], spread, rtol=1e-6)
        own = alone.predict_interval(graphs, 0.8)
        np.testing.assert_allclose([low[:, target], high[:, target]], own, rtol=1e-6, atol=1e-9)
        # positions are those of the rows given, with gaps where a row was not used
        held_out = np.full(len(y), np.nan)
        held_out[there] = alone.held_out_
        np.testing.assert_allclose(model.held_out_[:, target], held_out, rtol=1e-6, atol=1e-9)
        why = gg.explain(model, graphs[:2], of="uncertainty", target=target)
        variances = [one.decision for one in why]
        np.testing.assert_allclose(variances, deviations[:2, target] ** 2, rtol=1e-6)
    found = model.domain(graphs[[3, 100]])
    assert found["nearest"].tolist() == [3, 100]
    assert np.isfinite(found["leverage"]).all()
    with pytest.raises(InvalidParameterError, match="target=0 to 2"):
        gg.explain(model, graphs[:1], of="uncertainty")


def test_each_target_with_gaps_has_its_own_alpha(drugs, masses):
    graphs, _ = drugs
    noise = np.random.default_rng(0).normal(size=len(masses))
    y = np.column_stack([masses, noise])
    y[::5, 0], y[1::5, 1] = np.nan, np.nan
    model = gg.GraphRegressor(**ONE, alpha=(1e-3, 10.0)).fit(graphs, y)
    assert model._alphas.tolist() == [1e-3, 10.0]


def test_targets_without_gaps_share_a_model(drugs):
    graphs, _ = drugs
    sizes = np.column_stack((graphs.vertex_counts, graphs.edge_counts)).astype(float)
    model = gg.GraphRegressor(**QUICK).fit(graphs[::2], sizes[::2])
    assert model.predict(graphs[1::2]).shape == (len(graphs) // 2, 2)
    assert model.score(graphs[1::2], sizes[1::2]) > 0.9
    assert model.held_out_.shape == sizes[::2].shape


# ---------------------------------------------------------------- how sure


def test_deviations_are_those_of_the_process(drugs, masses):
    """A dense Gaussian process with a constant kernel of huge variance for the intercept."""
    graphs, _ = drugs
    train, new, y = graphs[::2], graphs[1::2], masses[::2] - masses[::2].mean()
    model = gg.GraphRegressor(**ONE, alpha=0.1).fit(train, y)
    kernel = kernel_of(model)
    K, rows = kernel.fit_transform(train), kernel.transform(new)
    A = K + 1e4 + 0.1 * np.eye(len(K))
    left = 1 - np.einsum("ij,ji->i", rows + 1e4, np.linalg.solve(A, (rows + 1e4).T)) + 1e4
    # noise and scale with the largest density of what is left out
    errors = np.empty(len(y))
    spread = np.empty(len(y))
    for out in range(len(y)):
        rest = np.arange(len(y)) != out
        inverse = np.linalg.inv(A[np.ix_(rest, rest)])
        row = K[out, rest] + 1e4
        errors[out] = y[out] - row @ inverse @ y[rest]
        spread[out] = 1e4 + 1 - row @ inverse @ row

    def density(logs: np.ndarray) -> float:
        total = np.exp(logs[0]) * (spread + np.exp(logs[1]))
        return -float(norm.logpdf(errors, 0, np.sqrt(total)).mean())

    best = minimize(density, [np.log(np.mean(errors**2)), np.log(0.1)], method="Nelder-Mead")
    scale, noise = np.exp(best.x)
    _, found = model.predict(new, return_std=True)
    np.testing.assert_allclose(found, np.sqrt(scale * (left + noise)), rtol=0.01)


def test_a_few_equal_graphs_with_different_values_do_not_make_all_others_unsure(drugs):
    """The kernel says that they are the same: only noise can tell them apart."""
    graphs = drugs[0]
    rng = np.random.default_rng(0)
    size = graphs.vertex_counts.astype(float)
    train, new = np.arange(0, len(graphs), 2), np.arange(1, len(graphs), 2)
    twice = np.concatenate([train, train[:4]])
    y = size[twice] + rng.normal(0, 0.5, len(twice))
    y[-4:] += 4.0
    model = gg.GraphRegressor(**{**ONE, "alpha": 1e-6}).fit(graphs[twice], y)
    value, std = model.predict(graphs[new], return_std=True)
    assert 0.5 < np.sqrt(np.mean(((size[new] - value) / std) ** 2)) < 2.0


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_deviations_survive_a_pickle(families, loss):
    graphs, _ = families
    weights = np.random.default_rng(0).uniform(0.2, 4.0, len(graphs))
    y = graphs.edge_counts + np.random.default_rng(0).normal(size=len(graphs))
    model = gg.GraphRegressor(**ONE, alpha=0.1, loss=loss).fit(graphs[:40], y[:40], weights[:40])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(
        again.predict(graphs, return_std=True), model.predict(graphs, return_std=True), rtol=1e-9
    )


@pytest.mark.parametrize("noise", ["even", "uneven"])
def test_intervals_cover_what_they_promise(chains, noise):
    hits = total = 0
    for seed in range(4):
        graphs, count = chains(360, seed)
        rng = np.random.default_rng(seed)
        spread = 1.0 if noise == "even" else 0.2 * graphs.vertex_counts
        y = count + spread * rng.normal(size=360)
        options = {**ONE, "alpha": 1.0}
        model = gg.GraphRegressor(**options).fit(graphs[:120], y[:120])
        low, high = model.predict_interval(graphs[120:], 0.9)
        assert (low < high).all()
        hits += np.sum((low <= y[120:]) & (y[120:] <= high))
        total += 240
    # new graphs and training graphs both are samples: the quantile of 4 * 120 has its own error
    width = 3 * np.sqrt(0.09 * (1 / total + 1 / 480))
    assert abs(hits / total - 0.9) < width
    assert binom.ppf(1e-6, total, 0.9) - 0.03 * total <= hits


def test_intervals_of_huber_cover_what_they_promise(chains):
    hits = total = 0
    for seed in range(8):
        graphs, count = chains(500, seed)
        y = count + np.random.default_rng(seed).standard_t(1.5, size=500)
        options = {**ONE, "alpha": 1.0, "loss": "huber"}
        model = gg.GraphRegressor(**options).fit(graphs[:100], y[:100])
        low, high = model.predict_interval(graphs[100:], 0.9)
        hits += np.sum((low <= y[100:]) & (y[100:] <= high))
        total += 400
    assert abs(hits / total - 0.9) < 3 * np.sqrt(0.09 * (1 / total + 1 / 800))


def test_intervals_grow_with_coverage_and_distance(chains):
    graphs, count = chains(150)
    model = gg.GraphRegressor(**ONE, alpha=0.1).fit(graphs, count)
    widths = [np.subtract(*model.predict_interval(graphs, c)[::-1]) for c in (0.5, 0.8, 0.95)]
    assert (widths[0] < widths[1]).all()
    assert (widths[1] < widths[2]).all()
    strange = gg.as_graphs([([(0, 1), (1, 2)], ["Xx", "Yy", "Zz"])])
    _, far = model.predict(strange, return_std=True)
    _, near = model.predict(graphs, return_std=True)
    assert far > near.max()


def test_domain(chains):
    graphs, count = chains(150)
    model = gg.GraphRegressor(**ONE, alpha=0.1).fit(graphs, count)
    strange = gg.as_graphs([([(0, 1), (1, 2)], ["Xx", "Yy", "Zz"])])
    found = model.domain(strange)
    assert found["similarity"][0] == 0.0
    assert found["unseen"][0] == 1.0
    assert found["leverage"][0] > 0.9
    assert not found["inside"][0]
    new, _ = chains(40, 1)
    found = model.domain(new)
    similar = kernel_of(model).fit(graphs).transform(new)
    np.testing.assert_allclose(found["similarity"], similar.max(axis=1), rtol=1e-9)
    np.testing.assert_allclose(similar[np.arange(40), found["nearest"]], similar.max(axis=1))
    own = model.domain(graphs)
    np.testing.assert_allclose(own["similarity"], 1.0)
    assert (own["unseen"] == 0).all()
    assert own["inside"].all()
    assert (own["leverage"] < found["leverage"].max()).all()


@pytest.mark.parametrize("coverage", [0, 1, 1.5, -0.1, "high", None])
def test_wrong_coverage(coverage, families):
    graphs, _ = families
    model = gg.GraphRegressor(**ONE, alpha=1.0).fit(graphs, graphs.vertex_counts)
    with pytest.raises(InvalidParameterError, match="coverage must be a number above 0 and below"):
        model.predict_interval(graphs, coverage)


def test_five_graphs_predict_but_have_no_wide_intervals(families):
    graphs, _ = families
    model = gg.GraphRegressor().fit(graphs[:5], graphs.vertex_counts[:5])
    assert np.isfinite(model.predict(graphs)).all()
    low, high = model.predict_interval(graphs, 0.8)
    assert (low <= high).all()
    with pytest.raises(
        InvalidParameterError, match=r"0.9 needs at least 9 .* are 5\..*coverage=0.833"
    ):
        model.predict_interval(graphs, 0.9)


# ---------------------------------------------------------------- losses, scales, scores


def test_five_wild_values_do_not_spoil_huber(chains):
    graphs, count = chains(700)
    rng = np.random.default_rng(0)
    y = count + 0.5 * rng.normal(size=700)
    wild = y.copy()
    wild[rng.choice(500, 5, replace=False)] = 1000.0
    options = {**ONE, "similarity": "dot", "alpha": (0.001, 0.1)}

    def error(targets, loss):
        model = gg.GraphRegressor(**options, loss=loss).fit(graphs[:500], targets[:500])
        return np.sqrt(np.mean((model.predict(graphs[500:]) - y[500:]) ** 2))

    clean = error(y, "squared")
    assert error(wild, "huber") < 1.1 * clean
    assert error(wild, "squared") > 3 * clean  # or the test says nothing


def test_the_logarithm_is_found_where_it_helps(chains):
    graphs, count = chains(300)
    y = np.exp(1.2 * count + 0.3 * np.random.default_rng(0).normal(size=300))
    options = {**ONE, "similarity": "dot"}
    options.pop("scale")
    model = gg.GraphRegressor(**options).fit(graphs[:200], y[:200])
    assert model.scale_ != "none"
    log = gg.GraphRegressor(**options, scale="log").fit(graphs[:200], y[:200])
    plain = gg.GraphRegressor(**options, scale="none").fit(graphs[:200], y[:200])
    errors = [
        np.median(np.abs(np.log(np.maximum(m.predict(graphs[200:]), 1e-3) / y[200:])))
        for m in (model, log, plain)
    ]
    assert errors[1] < 0.5
    assert errors[0] < 0.6 * errors[2]
    # on that scale it is ridge regression of the logarithm
    straight = gg.GraphRegressor(**{**ONE, "similarity": "dot"}, alpha=log.best_params_["alpha"])
    straight.fit(graphs[:200], np.log(y[:200]))
    np.testing.assert_allclose(
        log.predict(graphs[200:]), np.exp(straight.predict(graphs[200:])), rtol=1e-6
    )
    low, high = log.predict_interval(graphs[200:])
    assert (low > 0).all()
    assert np.mean((low <= y[200:]) & (y[200:] <= high)) > 0.8


def test_plain_targets_stay_as_they_are(drugs, masses):
    graphs, _ = drugs
    model = gg.GraphRegressor(**QUICK).fit(graphs[::2], masses[::2])
    assert model.score(graphs[1::2], masses[1::2]) > 0.98


def test_logarithms_need_positive_targets(families):
    graphs, _ = families
    y = np.arange(len(graphs)) - 3.0
    with pytest.raises(InvalidParameterError, match=r"scale='log' needs targets above 0.*-3.*yeo"):
        gg.GraphRegressor(scale="log").fit(graphs, y)


@pytest.mark.parametrize("scoring", ["rmse", "mae", "r2", "spearman"])
def test_scores_are_those_of_what_is_held_out(families, scoring):
    """The score of each setting, from models trained by hand without each fold."""
    graphs, _ = families
    y = graphs.edge_counts + np.random.default_rng(0).normal(size=len(graphs))
    folds = np.arange(len(y)) % 3

    class Folds:
        def split(self, X, y=None, groups=None):
            return [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(3)]

    options = {**ONE, "kernels": gg.GraphHopper(), "cv": Folds(), "alpha": (0.1, 1.0)}
    model = gg.GraphRegressor(**options, scoring=scoring).fit(graphs, y)
    K = gg.GraphHopper().fit_transform(graphs)
    for alpha, score in zip((0.1, 1.0), model.cv_results_["mean_test_score"], strict=True):
        found = []
        for fold in range(3):
            train, test = folds != fold, folds == fold
            coefficients, intercept = dense(K[np.ix_(train, train)], y[train], alpha)
            said = K[np.ix_(test, train)] @ coefficients + intercept
            found.append(MEASURES[scoring](y[test], said))
        assert score == pytest.approx(np.mean(found), abs=1e-9)
    assert model.scoring_ == scoring
    assert model.best_score_ == pytest.approx(max(model.cv_results_["mean_test_score"]))


def _rank_correlation(y, said):
    from scipy.stats import spearmanr

    return spearmanr(y, np.round(said, 8)).statistic  # stereoisomers are equal


MEASURES = {
    "rmse": lambda y, said: -np.sqrt(np.mean((y - said) ** 2)),
    "mae": lambda y, said: -np.mean(np.abs(y - said)),
    "r2": r2_score,
    "spearman": _rank_correlation,
}


def test_auto_scoring(families):
    graphs, _ = families
    y = graphs.edge_counts.astype(float)
    assert gg.GraphRegressor(**ONE, alpha=1.0).fit(graphs, y).scoring_ == "rmse"
    assert gg.GraphRegressor(**ONE, alpha=1.0, loss="huber").fit(graphs, y).scoring_ == "mae"
    skewed = {**ONE, "alpha": 1.0, "scale": "log"}
    assert gg.GraphRegressor(**skewed).fit(graphs, y).scoring_ == "mae"
    assert gg.GraphRegressor(**skewed, scoring="r2").fit(graphs, y).scoring_ == "r2"


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize("method", ["predict", "predict_interval", "domain", "score"])
def test_unfitted(method, families):
    graphs, _ = families
    rest = (graphs.vertex_counts,) if method == "score" else ()
    with pytest.raises(NotFittedError):
        getattr(gg.GraphRegressor(), method)(graphs, *rest)


def test_unfitted_elsewhere(families, tmp_path):
    graphs, _ = families
    with pytest.raises(NotFittedError):
        gg.GraphRegressor().predict(graphs, return_std=True)
    with pytest.raises(NotFittedError):
        gg.GraphRegressor().save(tmp_path / "model.ggm")
    for of in ("decision", "uncertainty"):
        with pytest.raises(NotFittedError):
            gg.explain(gg.GraphRegressor(), graphs, of=of)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: y * 1e300, r"below 1e\+150 in size.*Divide them"),
        (lambda y: y * 1j, "must be real numbers; got complex"),
        (lambda y: np.where(y > y.mean(), np.inf, y), "must be finite"),
        (lambda y: [*y[:-1].tolist(), "a"], "all numbers or all strings; got .*float, str"),
        (lambda y: [*y[:-1].tolist(), None], "must have its target"),
        (lambda y: ["large" if v > 20 else "small" for v in y], "must be numbers; got '"),
        (lambda y: y[:-1], r"each of the 52 graphs; its shape is \(51,\)"),
        (lambda y: np.column_stack([y, np.full(52, np.nan)]), "column 1 has none"),
        (lambda y: y.reshape(2, 26), "each of the 52 graphs"),
        (lambda y: y.reshape(52, 1, 1), "got 3 dimensions"),
    ],
)
def test_wrong_targets(change, message, families):
    graphs, _ = families
    with pytest.raises(InvalidParameterError, match=message):
        gg.GraphRegressor(**ONE).fit(graphs, change(graphs.vertex_counts.astype(float)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alpha": 0}, "alpha must be a finite number above 0"),
        ({"alpha": []}, "alpha must be"),
        ({"loss": "absolute"}, "loss must be one of"),
        ({"scale": "sqrt"}, "scale must be one of"),
        ({"scoring": "accuracy"}, "scoring must be one of"),
    ],
)
def test_wrong_parameters(change, message, families):
    graphs, _ = families
    with pytest.raises(InvalidParameterError, match=message):
        gg.GraphRegressor(**change).fit(graphs, graphs.vertex_counts)


def test_gaps_need_the_kernel_solver(families):
    graphs, _ = families
    y = np.column_stack([graphs.vertex_counts, graphs.edge_counts]).astype(float)
    y[0, 1] = np.nan
    with pytest.raises(InvalidParameterError, match="gaps need solver='kernel'"):
        gg.GraphRegressor(**{**ONE, "similarity": "dot"}, solver="linear").fit(graphs, y)


@pytest.fixture(scope="module")
def from_features(families):
    graphs, _ = families
    y = graphs.vertex_counts + 0.3 * np.random.default_rng(0).normal(size=len(graphs))
    options = {"similarity": ["cosine", "dot"], "path_depth": 2, "views": None, "max_level": 1}
    model = gg.GraphRegressor(**options, solver="linear", scale="none").fit(graphs[::2], y[::2])
    return model, graphs, y


def test_models_trained_on_features_know_how_sure_they_are(from_features):
    model, graphs, y = from_features
    _, std = model.predict(graphs[1::2], return_std=True)
    assert std.min() > 0
    assert std.max() > 1.2 * std.min()  # not the same for every graph
    low, high = model.predict_interval(graphs[1::2], 0.8)
    inside = ((low <= y[1::2]) & (y[1::2] <= high)).mean()
    assert 0.65 < inside < 0.95
    [why] = gg.explain(model, graphs[[1]], of="uncertainty")
    assert why.decision == pytest.approx(std[0] ** 2, rel=1e-9)
    assert why.vertices.sum() + why.bias == pytest.approx(why.decision, abs=1e-9)


def test_all_training_graphs_as_landmarks_are_the_exact_process(from_features):
    model, graphs, _ = from_features
    landmarks, alpha = model._landmarks, model._alphas[0]
    assert landmarks.n_graphs == len(graphs[::2])
    K = landmarks.gram()
    new = landmarks.count(graphs[1::2])
    k, own = landmarks.compare(new), landmarks.own_similarity(new)
    exact = own - np.einsum("ij,ji->i", k, np.linalg.solve(K + alpha * np.eye(len(K)), k.T))
    _, std = model.predict(graphs[1::2], return_std=True)
    scale = model._target_scale.spread[0] ** 2 * model._variance[0]
    np.testing.assert_allclose(std**2 / scale - model._noises[0], exact, rtol=1e-3, atol=1e-9)


def test_domain_of_a_model_trained_on_features(from_features, tmp_path):
    model, graphs, _ = from_features
    found = model.domain(graphs[::2])
    assert (found["similarity"] > 1 - 1e-9).all()
    assert (found["unseen"] == 0).all()
    assert found["inside"].all()
    pytest.importorskip("rdkit")
    far = model.domain(gg.from_smiles(["[U][Pu]"]))
    assert not far["inside"][0]
    assert far["unseen"][0] == 1
    model.save(tmp_path / "m.ggm")
    again = gg.load_model(tmp_path / "m.ggm")
    for name, values in model.domain(graphs[1::2]).items():
        np.testing.assert_allclose(again.domain(graphs[1::2])[name], values, rtol=1e-9)
    for one, other in zip(
        again.predict_interval(graphs), model.predict_interval(graphs), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_landmarks_are_forgotten_by_another_fit(from_features):
    model, graphs, y = from_features
    again = gg.GraphRegressor(**model.get_params()).fit(graphs[:60], y[:60])
    again.set_params(solver="kernel").fit(graphs[:60], y[:60])
    assert again._similar_to() is again.machine_


# ---------------------------------------------------------------- found by trying


def test_a_second_fit_forgets_the_first(drugs, masses):
    graphs, _ = drugs
    options = {"max_level": 1, "max_terms": 1}
    again, y = gg.GraphRegressor(**options), np.column_stack([masses, -masses])
    again.fit(graphs[:60], y[:60]).domain(graphs[:1])
    gaps = y[40:90].copy()
    gaps[::3, 1] = np.nan
    fresh = gg.GraphRegressor(**options).fit(graphs[40:90], gaps)
    again.fit(graphs[40:90], gaps)
    for found, expected in zip(
        again.predict(graphs[90:], return_std=True),
        fresh.predict(graphs[90:], return_std=True),
        strict=True,
    ):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(
        again.domain(graphs[90:])["leverage"], fresh.domain(graphs[90:])["leverage"]
    )


def test_constant_targets_of_any_size(drugs):
    graphs = drugs[0][:20]
    for value in (1e9, 1.0, 0.1, -7e-9):
        model = gg.GraphRegressor(max_level=1, max_terms=1).fit(graphs, [value] * 20)
        np.testing.assert_allclose(model.predict(graphs), value)


def test_a_target_with_values_in_one_fold_only(drugs, masses):
    graphs = drugs[0][:40]
    y = np.column_stack([masses[:40], np.full(40, np.nan)])
    y[3, 1] = 5.0
    found = gg.GraphRegressor(max_level=1, max_terms=1).fit(graphs, y).predict(graphs)
    np.testing.assert_allclose(found[:, 1], 5.0, atol=1e-9)


def test_nullable_columns_of_pandas_as_targets(drugs, masses):
    pd = pytest.importorskip("pandas")
    graphs = drugs[0][:40]
    y = np.column_stack([masses[:40], masses[:40] ** 0.5])
    y[::4, 1] = np.nan
    options = {"max_level": 1, "max_terms": 1}
    expected = gg.GraphRegressor(**options).fit(graphs, y).predict(graphs)
    frame = pd.DataFrame(y, columns=["a", "b"]).astype("Float64")
    found = gg.GraphRegressor(**options).fit(graphs, frame).predict(graphs)
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(InvalidParameterError, match="got 'abc'"):
        gg.GraphRegressor().fit(graphs, ["1.0"] * 39 + ["abc"])
    with pytest.raises(InvalidParameterError, match="must be numbers"):
        gg.GraphRegressor().fit(graphs, [1] * 39 + [10**400])


def test_scores_need_folds_in_which_they_are_defined(drugs, masses):
    graphs = drugs[0][:20]
    for scoring in ("r2", "spearman"):
        model = gg.GraphRegressor(cv=LeaveOneOut(), scoring=scoring)
        with pytest.raises(InvalidParameterError, match="needs folds of two graphs or more"):
            model.fit(graphs, masses[:20])
    rare = np.arange(20) < 3
    model = gg.GraphClassifier(cv=LeaveOneOut(), scoring="roc_auc")
    with pytest.raises(InvalidParameterError, match="graphs of several classes"):
        model.fit(graphs, rare)
    model = gg.GraphClassifier(cv=LeaveOneOut(), max_level=1, max_terms=1).fit(graphs, rare)
    assert model.scoring_ == "accuracy"


def test_numpy_integers_are_numbers_of_folds(drugs, masses):
    with pytest.raises(InvalidParameterError, match="20 graphs for 30 folds"):
        gg.GraphRegressor(cv=np.int64(30)).fit(drugs[0][:20], masses[:20])


def test_weights_that_are_no_numbers(drugs, masses):
    with pytest.raises(InvalidParameterError, match="sample_weight must hold a number"):
        gg.GraphRegressor().fit(drugs[0][:20], masses[:20], ["a"] * 20)
    with pytest.raises(InvalidParameterError, match="Weights of classes must be numbers"):
        gg.GraphClassifier(class_weight={0: "x", 1: 1.0}).fit(drugs[0][:20], [0, 1] * 10)


def test_rows_of_weight_zero_keep_their_places(drugs, masses):
    graphs = drugs[0][:60]
    weights = np.ones(60)
    weights[:10] = 0
    model = gg.GraphRegressor(max_level=1, max_terms=1).fit(graphs, masses[:60], weights)
    assert model.domain(graphs[[30]])["nearest"].tolist() == [30]
    assert np.isnan(model.held_out_).tolist() == [True] * 10 + [False] * 50
    classifier = gg.GraphClassifier(max_level=1, max_terms=1)
    classifier.fit(graphs, masses[:60] > 250, weights)
    assert classifier.domain(graphs[[30]])["nearest"].tolist() == [30]
    assert classifier.held_out_classes_[:10].tolist() == [-1] * 10
    without = gg.GraphClassifier(max_level=1, max_terms=1)
    without.fit(graphs[10:], masses[10:60] > 250)
    assert classifier.predict_set(graphs[:9]) == without.predict_set(graphs[:9])


@pytest.fixture(scope="module")
def with_gaps(drugs, masses):
    """A model of three targets, each of which other graphs lack, and graphs it was not given."""
    graphs, _ = drugs
    rng = np.random.default_rng(0)
    y = np.column_stack([masses, masses**2, rng.normal(size=len(graphs))])
    y[:30, 0], y[20:60, 1] = np.nan, np.nan
    return gg.GraphRegressor(**ONE).fit(graphs[:150], y[:150]), graphs[150:170]


def test_features_are_counted_once_for_all_targets(with_gaps, monkeypatch):
    model, new = with_gaps
    counted = []
    whole = gg.WeisfeilerLehman.count_features

    def watched(self, batch):
        counted.append(len(batch))
        return whole(self, batch)

    monkeypatch.setattr(gg.WeisfeilerLehman, "count_features", watched)
    for ask in (
        lambda: model.predict(new, return_std=True),
        lambda: model.predict_interval(new, 0.8),
        lambda: model.domain(new),
    ):
        counted.clear()
        ask()
        assert counted == [len(new)]


@pytest.mark.parametrize("target", [0, 1, 2])
def test_the_uncertainty_explained_is_that_of_the_prediction(with_gaps, target):
    model, new = with_gaps
    _, std = model.predict(new, return_std=True)
    explained = gg.explain(model, new, of="uncertainty", target=target)
    found = [why.decision for why in explained]
    np.testing.assert_allclose(found, std[:, target] ** 2, rtol=1e-12)
    for why in explained:
        assert why.bias + why.vertices.sum() == pytest.approx(why.decision, rel=1e-9)


def test_counted_graphs_take_the_place_of_graphs(with_gaps, monkeypatch):
    model, new = with_gaps
    asked = [model.predict, lambda X: model.predict(X, return_std=True), model.domain]
    asked += [lambda X: model.predict_interval(X, 0.8)]
    expected = [ask(new) for ask in asked]
    explained = [why.decision for why in gg.explain(model, new, of="uncertainty", target=2)]
    counted = model.count(new)
    monkeypatch.setattr(gg.WeisfeilerLehman, "count_features", None)  # nothing is counted again
    for ask, values in zip(asked, expected, strict=True):
        np.testing.assert_equal(ask(counted), values)
    found = gg.explain(model, counted, of="uncertainty", target=2)
    assert [why.decision for why in found] == explained


def test_graphs_counted_by_another_model(with_gaps):
    model, new = with_gaps
    other = pickle.loads(pickle.dumps(model))
    for ask in (other.predict, other.domain, other.predict_interval):
        with pytest.raises(InvalidParameterError, match="Count them again"):
            ask(model.count(new))
    # memory may be used again: what counts is the source, not its id
    [features] = model.count(new).features.values()
    renamed = replace(model.count(new), features={id(other.machine_.sources[0]): features})
    with pytest.raises(InvalidParameterError, match="Count them again"):
        other.predict(renamed)


def test_graphs_counted_before_another_fit(drugs, masses):
    graphs, _ = drugs
    model = gg.GraphRegressor(**ONE).fit(graphs[:40], masses[:40])
    counted = model.count(graphs[40:45])
    model.fit(graphs[:50], masses[:50])
    with pytest.raises(InvalidParameterError, match="Count them again"):
        model.predict(counted)
