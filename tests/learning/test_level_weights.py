"""Weights of levels: the alignment against a general solver, and models against Gram matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.svm import SVC

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.kernels.registry import KERNELS, Setting
from graphgrain.learning.level_weights import aligned_weights, most_aligned, stacked_levels
from graphgrain.learning.splits import stratified_folds, train_and_test

ESTIMATORS = [
    gg.TreePlusPlusClassifier,
    gg.TreePlusPlusRegressor,
    gg.GraphClassifier,
    gg.GraphRegressor,
]


@pytest.fixture(scope="module")
def drugs():
    graphs, y = gg.load_drugs()
    pick = np.flatnonzero(np.isin(y, ["opioids", "barbiturates"]))
    return graphs[pick], y[pick]


@pytest.fixture
def learnt_alone(monkeypatch):
    """Candidates with learnt weights win, of settings with the levels 0 to 3."""

    def best(candidates, members):
        return [one for one in candidates if one.level == 4][:members]

    monkeypatch.setattr("graphgrain.learning.search.best_members", best)


def random_matrices(rng, levels=5, n=14, rank=6):
    parts = rng.normal(size=(levels, n, rank)) * rng.gamma(1.0, size=(levels, 1, 1))
    return parts @ parts.transpose(0, 2, 1)


def centred(K):
    H = np.eye(len(K)) - 1.0 / len(K)
    return H @ K @ H


def alignment(weights, matrices, Y):
    """The definition: the cosine of the two centred matrices."""
    K, T = centred(np.tensordot(weights, matrices, 1)), centred(Y @ Y.T)
    return np.sum(K * T) / np.linalg.norm(K) / np.linalg.norm(T)


def best_alignment(matrices, Y):
    """The best that a general solver finds from several starts."""
    found = [
        minimize(
            lambda w: -alignment(w, matrices, Y),
            start,
            bounds=[(0.0, None)] * len(matrices),
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        for start in np.vstack([np.full(len(matrices), 1 / len(matrices)), np.eye(len(matrices))])
    ]
    return min(found, key=lambda result: result.fun)


# ---------------------------------------------------------------- alignment


@pytest.mark.parametrize("seed", range(6))
def test_no_weights_are_more_aligned(seed):
    rng = np.random.default_rng(seed)
    matrices = random_matrices(rng)
    y = np.arange(14) % (2 + seed % 3)
    Y = np.eye(y.max() + 1)[y]
    weights = aligned_weights(matrices, y, np.ones(14), np.arange(14))
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1.0)
    best = best_alignment(matrices, Y)
    assert alignment(weights, matrices, Y) == pytest.approx(-best.fun, abs=1e-7)
    np.testing.assert_allclose(weights, best.x, atol=1e-3)
    numbers = rng.normal(size=(14, 2))
    weights = aligned_weights(matrices, numbers, np.ones(14), np.arange(14))
    best = best_alignment(matrices, numbers)
    assert alignment(weights, matrices, numbers) == pytest.approx(-best.fun, abs=1e-7)


def test_only_the_rows_that_are_given_have_a_say():
    rng = np.random.default_rng(0)
    matrices, y = random_matrices(rng), rng.integers(0, 2, 14)
    rows = np.array([1, 2, 3, 5, 8, 9, 11, 12])
    part = matrices[:, rows][:, :, rows]
    alone = aligned_weights(part, y[rows], np.ones(8), np.arange(8))
    np.testing.assert_allclose(aligned_weights(matrices, y, np.ones(14), rows), alone, atol=1e-12)


def test_a_graph_of_weight_two_is_two_graphs():
    rng = np.random.default_rng(1)
    matrices, y = random_matrices(rng), np.arange(14) % 2
    times = rng.integers(1, 4, 14)
    twice = np.repeat(np.arange(14), times)
    several = matrices[:, twice][:, :, twice]
    expected = aligned_weights(several, y[twice], np.ones(len(twice)), np.arange(len(twice)))
    weighted = aligned_weights(matrices, y, 2.5 * times, np.arange(14))
    np.testing.assert_allclose(weighted, expected, atol=1e-10)


def test_levels_that_say_nothing_or_the_same():
    ones = np.ones((4, 4))
    y = np.array([0, 0, 1, 1])
    telling = (y[:, None] == y).astype(float)
    found = aligned_weights(np.array([ones, telling, telling]), y, np.ones(4), np.arange(4))
    assert found[0] == 0  # a constant matrix is nothing once it is centred
    assert found.sum() == pytest.approx(1.0)
    against = np.array([1.0 - telling, ones])
    np.testing.assert_allclose(aligned_weights(against, y, np.ones(4), np.arange(4)), 0.5)
    np.testing.assert_allclose(most_aligned(np.zeros((3, 3)), np.zeros(3)), 1 / 3)


def test_weights_gather_where_the_signal_is():
    """Two centres with neighbours a, a and b, b or twice a, b; all else is noise.

    Labels alone (step 0) are the same in both classes; after step 2 the colours of the centres
    tell the random ends apart, and no two graphs have one in common.
    """
    rng = np.random.default_rng(0)
    graphs, y = [], []
    for number in range(40):
        around = ["a", "a", "b", "b"] if number % 2 else ["a", "b", "a", "b"]
        ends = [f"z{rng.integers(10**9)}" for _ in range(4)]
        edges = [(0, 2), (0, 3), (1, 4), (1, 5), (2, 6), (3, 7), (4, 8), (5, 9)]
        graphs.append((edges, ["x", "x", *around, *ends]))
        y.append(number % 2)
    grid = KERNELS["wl"].with_settings([Setting({"n_iter": 3})])
    [fitted] = grid.fit_each(gg.as_graphs(graphs))
    matrices = stacked_levels(fitted, np.float64)
    weights = aligned_weights(matrices, np.array(y), np.ones(40), np.arange(40))
    assert weights[1] > 0.99
    assert (weights >= 0).all()


# ---------------------------------------------------------------- models


def level_grams(kernel, graphs, new):
    """For each level, between training graphs and between new and training graphs."""
    own = np.diff(kernel.gram_levels(), axis=0, prepend=0.0)
    other = np.diff(kernel.gram_levels(new), axis=0, prepend=0.0)
    news = type(kernel)(**kernel.get_params()).fit(new)
    squares = np.diff(news.gram_levels(), axis=0, prepend=0.0).diagonal(axis1=1, axis2=2)
    return own, other, squares


@pytest.mark.parametrize("counts", ["raw", "sqrt", "intersection"])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("kind", ["tree++", "wl"])
def test_weights_on_patterns_predict_what_the_gram_matrix_does(
    kind, counts, normalize, drugs, learnt_alone
):
    graphs, _ = drugs
    train, new = graphs[::2], graphs[1::2]
    values = train.vertex_counts + np.random.default_rng(0).normal(size=len(train))
    model = gg.GraphRegressor(
        kind, 3, counts=counts, normalize=normalize, alpha=0.1, weights="learned", cv=3,
        edge_labels=True, committee=1, solver="kernel",
    ).fit(train, values)  # fmt: skip
    [member], [weighted] = model.members_, model.pattern_weights_
    assert member["weights"] == "learned"
    options = {"counts": counts, "edge_labels": True, "similarity": "dot"}
    options |= {"path_depth": member["path_depth"]} if kind == "tree++" else {}
    kernel = gg.list_kernels()[kind](**options)
    kernel.set_params(**{kernel.level_parameter: 3}).fit(train)
    own, other, squares = level_grams(kernel, train, new)
    assert len(weighted.level_weights) == 4
    K, rows = np.zeros(own.shape[1:]), np.zeros(other.shape[1:])
    for level, weight in enumerate(weighted.level_weights):
        diagonal = np.diagonal(own[level])
        if normalize:
            K += weight * own[level] / np.sqrt(np.outer(diagonal, diagonal))
            rows += weight * other[level] / np.sqrt(np.outer(squares[level], diagonal))
        else:
            K += weight * own[level] / diagonal.mean()
            rows += weight * other[level] / diagonal.mean()
    expected = ridge(K, rows, (values - values.mean()) / values.std())
    factor = model.member_weights_[0] * values.std()
    np.testing.assert_allclose(
        model.predict(new), factor * expected + values.mean(), rtol=1e-9, atol=1e-9
    )


def ridge(K, rows, targets, alpha=0.1):
    """Kernel ridge regression with a free intercept, written out."""
    ones = np.ones((len(K), 1))
    bordered = np.block([[K + alpha * np.eye(len(K)), ones], [ones.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(bordered, np.append(targets, 0.0))
    return rows @ solution[:-1] + solution[-1]


def test_validation_learns_weights_on_training_parts_alone(drugs):
    graphs, y = drugs
    model = gg.TreePlusPlusClassifier(
        3, 2, C=[1, 10], counts="sqrt", edge_labels=False, weights="learned", cv=3, random_state=4
    ).fit(graphs, y)
    codes = np.unique(y, return_inverse=True)[1]
    folds = stratified_folds(codes, 3, np.random.default_rng(4))
    kernel = gg.TreePlusPlus(3, 2, counts="sqrt", similarity="dot").fit(graphs)
    own = np.diff(kernel.gram_levels(), axis=0, prepend=0.0)
    own = np.array([K / np.sqrt(np.outer(np.diagonal(K), np.diagonal(K))) for K in own])
    expected = {1: [], 10: []}
    for fold in range(3):
        train, test = train_and_test(folds, fold)
        weights = best_alignment(own[:, train][:, :, train], np.eye(2)[codes[train]]).x
        K = np.tensordot(weights, own, 1)
        for C in expected:
            svm = SVC(C=C, kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
            expected[C].append(svm.score(K[np.ix_(test, train)], y[test]))
    results = model.cv_results_
    tried = {
        params["C"]: score
        for params, score in zip(results["params"], results["mean_test_score"], strict=True)
        if params.get("weights") == "learned"
    }
    assert tried == pytest.approx({C: np.mean(found) for C, found in expected.items()})
    assert len(results["params"]) == 2 * (3 + 1)  # beside the plain sums


@pytest.mark.parametrize("normalize", [True, False])
def test_features_and_matrices_agree(normalize, drugs):
    graphs, _ = drugs
    values = graphs.vertex_counts.astype(float)
    options = {"alpha": 0.1, "normalize": normalize, "weights": "learned", "cv": 3}
    kernel, linear = (
        gg.GraphRegressor("wl", 2, solver=solver, committee=20, **options).fit(graphs, values)
        for solver in ("kernel", "linear")
    )
    assert kernel.members_ == linear.members_
    for one, other in zip(kernel.pattern_weights_, linear.pattern_weights_, strict=True):
        found, expected = (weights.decision_values(graphs) for weights in (one, other))
        assert np.abs(found - expected).max() < 1e-3 * np.std(values)


def test_graphs_without_features_are_equal_and_unlike_all_others(drugs, learnt_alone):
    graphs, _ = drugs
    empty = gg.GraphBatch.from_edges([0, 0, 0], []).with_labels(np.array([], dtype=object))
    train = gg.GraphBatch.concatenate([graphs[:20], empty])
    values = np.append(graphs.vertex_counts[:20].astype(float), [50.0, 50.0, 50.0])
    model = gg.GraphRegressor(
        "wl", 3, normalize=True, alpha=0.1, weights="learned", cv=2, committee=1
    )
    model.fit(train, values)
    [weighted], [share] = model.pattern_weights_, model.member_weights_
    kernel = weighted.kernel.set_params(normalize=False).fit(graphs[:20])
    K = np.zeros((23, 23))
    for level, weight in enumerate(weighted.level_weights):
        own = np.diff(kernel.gram_levels(), axis=0, prepend=0.0)[level]
        K[:20, :20] += weight * own / np.sqrt(np.outer(np.diagonal(own), np.diagonal(own)))
    K[20:, 20:] = 1.0
    expected = ridge(K, K, (values - values.mean()) / values.std())
    expected = share * values.std() * expected + values.mean()
    np.testing.assert_allclose(model.predict(train), expected, rtol=1e-9)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_files_and_threads(kind, drugs, tmp_path, learnt_alone):
    graphs, y = drugs
    targets = y if "Classifier" in kind.__name__ else graphs.vertex_counts.astype(float)
    options = {"cv": 2, "weights": "learned", "committee": 2, "counts": "raw"}
    graph = "Graph" in kind.__name__
    options |= {"kernels": "wl", "max_level": 3} if graph else {"max_tree_depth": 3}
    model = kind(**options).fit(graphs, targets)
    assert {member["weights"] for member in model.members_} == {"learned"}
    model.save(tmp_path / "model.ggm")
    again = gg.load_model(tmp_path / "model.ggm")
    np.testing.assert_array_equal(again.predict(graphs), model.predict(graphs))
    threads = kind(n_jobs=2, **options).fit(graphs, targets)
    np.testing.assert_array_equal(threads.predict(graphs), model.predict(graphs))


def test_wrong_weights(drugs):
    with pytest.raises(InvalidParameterError, match="weights must be one of 'equal', 'learned'"):
        gg.GraphClassifier(weights="sum").fit(*drugs)
