"""Contributions add up to the model's own values, for every model that can be explained."""

from __future__ import annotations

import functools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.linear_model import Lasso, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC, LinearSVR

import graphgrain as gg
from graphgrain.errors import InvalidGraphError, InvalidParameterError
from graphgrain.kernels.features import located_vertices
from tests.kernels.found_kernels import EXPLICIT, Y
from tests.kernels.found_kernels import GRAPHS as WITH_ATTRIBUTES
from tests.strategies import graphs, to_tuple

GRAPHS = gg.GraphBatch.from_edges(
    WITH_ATTRIBUTES.vertex_counts,
    WITH_ATTRIBUTES.edges,
    WITH_ATTRIBUTES.labels,
    edge_labels=WITH_ATTRIBUTES.edge_labels,
)
THREE = np.arange(len(GRAPHS)) % 3
NUMBERS = GRAPHS.vertex_counts + 0.1 * np.arange(len(GRAPHS))
ODD = gg.as_graphs([([], []), ([], ["C"]), ([(0, 1)], ["new", "labels"], [7])])
NEW = GRAPHS[:5] + ODD


def features(**parameters):
    return gg.TreePlusPlus(3, 1, output="features", **parameters)


LOGISTIC = LogisticRegression(max_iter=2000)
BINARY = {
    "features": [features(), LOGISTIC],
    "binary": [features(counts="binary"), LinearSVC()],
    "intersection": [features(counts="intersection"), LOGISTIC],
    "sqrt and edge labels": [features(counts="sqrt", edge_labels=True), RidgeClassifier()],
    "log": [features(counts="log"), LOGISTIC],
    "linear machine": [features(), SVC(kernel="linear")],
    "shared columns": [features(n_features=64), LOGISTIC],
    "shared columns, intersection": [features(n_features=32, counts="intersection"), LOGISTIC],
    "view": [gg.EdgeFilter(drop=[2]), features(edge_labels=True), LOGISTIC],
}


def check(model, batch=NEW, own=None):
    """Decisions, patterns and vertices of one output agree with the model's own values."""
    expected = model.decision_function(batch) if own is None else own
    found = gg.explain(model, batch)
    assert len(found) == len(batch)
    for why, value in zip(found, expected, strict=True):
        check_one(why, value)
    return found


def check_one(why, value):
    size = max(1.0, abs(value))
    assert abs(why.decision - value) <= 1e-9 * size
    total = sum(pattern.contribution for pattern in why.patterns)
    assert abs(why.bias + total - value) <= 1e-9 * size
    assert abs(why.bias + why.vertices.sum() - value) <= 1e-9 * size
    assert why.vertices.shape == (why.graph.n_vertices,)
    assert why.edges.shape == (why.graph.n_edges,)


@pytest.mark.parametrize("steps", BINARY.values(), ids=BINARY)
def test_two_classes(steps):
    model = make_pipeline(*steps).fit(GRAPHS, Y)
    for why, predicted in zip(check(model), model.predict(NEW), strict=True):
        assert why.prediction == predicted
        assert (why.opposite, why.target) == (0, 1)
    assert gg.explain(model, NEW[:1], target="predicted")[0].target == 1


@pytest.mark.parametrize("Kernel", EXPLICIT, ids=lambda kernel: kernel.__name__)
def test_every_kernel(Kernel):
    check(make_pipeline(Kernel(output="features"), LOGISTIC).fit(GRAPHS, Y), GRAPHS[:3] + ODD[:2])


class LabelsAndDegrees(gg.FeatureKernel):
    """A kernel of one's own with two levels and no parameter for them."""

    def _levels(self, batch):
        return [gg.hash_labels(batch.labels), gg.hash_labels(batch.degrees)]

    def count_features(self, batch):
        return [gg.count_hashes(batch.offsets, hashes) for hashes in self._levels(batch)]

    def locate_each(self, batch):
        return located_vertices(batch, self._levels(batch))


@pytest.mark.parametrize("similarity", ["cosine", "dot", "minmax"])
def test_a_kernel_with_two_levels_and_no_parameter_for_them(similarity):
    kernel = LabelsAndDegrees(similarity=similarity)
    pair = gg.compare(kernel, GRAPHS[0], GRAPHS[1])
    assert pair.similarity == pytest.approx(kernel.fit_transform(GRAPHS)[0, 1])
    learned = gg.GraphClassifier(kernel)
    for model in (make_pipeline(LabelsAndDegrees(output="features"), LOGISTIC), learned):
        for why in check(model.fit(GRAPHS, Y)):
            assert len(why.levels) == 2


def test_minmax_by_brute_force():
    """The sum over training graphs of coefficient * min(counts) / (sum of the maxima)."""
    kernel = gg.TreePlusPlus(3, 1, similarity="minmax")
    model = gg.GraphRegressor(kernel)
    sums = model.fit(GRAPHS, NUMBERS).pattern_sums(GRAPHS[:1])
    [fitted], [coefficients] = sums.terms, sums.of(0)
    kernel = fitted.term.kernel

    def counted(graph):
        levels = enumerate(kernel.locate(graph))
        return Counter((k, code) for k, level in levels for code in level.hashes.tolist())

    training = [counted(GRAPHS[number]) for number in range(len(GRAPHS))]
    for graph in (GRAPHS[3], ODD[2], ODD[1]):
        own, expected = counted(graph), Counter()
        for coefficient, other in zip(coefficients * fitted.scale, training, strict=True):
            for key in own & other:
                share = min(own[key], other[key]) / (own | other).total()
                expected[key] += coefficient * share
        [why] = gg.explain(model, graph)
        for level in why.levels:
            found = zip(level.tally.hashes.tolist(), level.contributions, level.known, strict=True)
            for code, contribution, known in found:
                assert contribution == pytest.approx(expected[level.level, code], abs=1e-9)
                assert known == any((level.level, code) in other for other in training)


@pytest.mark.parametrize("share", ["path", "tree"])
def test_shares_add_up_to_the_same(share):
    model = make_pipeline(features(), LOGISTIC).fit(GRAPHS, Y)
    for why, value in zip(
        gg.explain(model, NEW, share=share), model.decision_function(NEW), strict=True
    ):
        check_one(why, value)


REGRESSORS = {
    "ridge": [features(), Ridge()],
    "lasso": [features(), Lasso(0.1)],
    "linear svr": [features(), LinearSVR()],
    "without intercept": [features(), Ridge(fit_intercept=False)],
}


@pytest.mark.parametrize("steps", REGRESSORS.values(), ids=REGRESSORS)
def test_numbers(steps):
    model = make_pipeline(*steps).fit(GRAPHS, NUMBERS)
    for why in check(model, own=model.predict(NEW)):
        assert why.prediction is None


def test_several_numbers():
    y = np.column_stack([NUMBERS, -(NUMBERS**2)])
    model = make_pipeline(features(), Ridge()).fit(GRAPHS, y)
    for target in (0, 1):
        found = gg.explain(model, NEW, target=target)
        for why, values in zip(found, model.predict(NEW), strict=True):
            check_one(why, values[target])


@pytest.mark.parametrize("searched", [False, True])
def test_several_classes(searched):
    model = make_pipeline(features(), LOGISTIC)
    if searched:
        model = GridSearchCV(model, {"treeplusplus__tree_depth": [0, 1]}, cv=2)
    model.fit(GRAPHS, THREE)
    values, predicted = model.decision_function(NEW), model.predict(NEW)
    for label in range(3):
        for number, why in enumerate(gg.explain(model, NEW, target=label)):
            check_one(why, values[number, label])
            assert why.prediction == predicted[number]
    for number, why in enumerate(gg.explain(model, NEW)):
        assert why.target == predicted[number]
        check_one(why, values[number].max())


WL = gg.WeisfeilerLehman
TUNED = {
    "default": {},
    "views": {"views": [None, gg.EdgeFilter(drop=[2])]},
    "min-max": {"kernels": [WL(2, similarity="minmax"), gg.ShortestPath(similarity="minmax")]},
    "min-max of roots": {"kernels": WL(2, similarity="minmax", counts="sqrt")},
    "cosine": {"kernels": [WL(1), WL(2, counts="intersection"), WL(2, counts="binary")]},
    "dot": {"kernels": [WL(1, similarity="dot"), WL(2, similarity="dot", counts="log")]},
    "others": {"kernels": ["wl-oa", "sp", WL(2, counts="sqrt"), "graph-hopper"]},
}


@pytest.mark.parametrize("name", TUNED)
def test_classifiers(name):
    model = gg.GraphClassifier(**TUNED[name]).fit(GRAPHS, Y)
    for why, predicted in zip(check(model), model.predict(NEW), strict=True):
        assert why.prediction == predicted


def test_classifier_of_several_classes():
    """Each class has a value that is a sum over patterns, and the largest is predicted."""
    model = gg.GraphClassifier().fit(GRAPHS, THREE)
    values, predicted = model.decision_function(NEW), model.predict(NEW)
    for label in (0, 1, 2):
        for why, own in zip(gg.explain(model, NEW, target=label), values, strict=True):
            check_one(why, own[label])
    chosen = gg.explain(model, NEW)
    assert [why.target for why in chosen] == predicted.tolist()
    for why, own in zip(chosen, values, strict=True):
        assert why.prediction == why.target
        assert abs(why.decision - own.max()) < 1e-9


def test_regressors():
    model = gg.GraphRegressor()
    check(model.fit(GRAPHS, NUMBERS), own=model.predict(NEW))
    several = np.column_stack([NUMBERS, -3 * NUMBERS**2])
    model.fit(GRAPHS, several)
    with pytest.raises(InvalidParameterError, match="target=0 to 1"):
        gg.explain(model, NEW)
    for target in (0, 1):
        found = gg.explain(model, NEW, target=target)
        for why, values in zip(found, model.predict(NEW), strict=True):
            check_one(why, values[target])


def test_uncertainty_is_a_sum_over_the_patterns_of_the_decision():
    model = gg.GraphRegressor().fit(GRAPHS, NUMBERS)
    _, sigma = model.predict(NEW, return_std=True)
    decisions, unsure = gg.explain(model, NEW), gg.explain(model, NEW, of="uncertainty")
    unseen = model.domain(NEW)["unseen"]
    for decision, why, size, new in zip(decisions, unsure, sigma, unseen, strict=True):
        check_one(why, np.log(size))
        assert {p.name for p in why.patterns} == {p.name for p in decision.patterns}
        assert why.unknown == decision.unknown == pytest.approx(new)


class WithOneMore(TransformerMixin, BaseEstimator):
    """A view that adds a vertex to each graph."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return gg.as_graphs([([], ["C"] * (vertices + 1)) for vertices in X.vertex_counts])


@pytest.mark.parametrize("of", ["decision", "uncertainty"])
def test_views_must_keep_the_vertices(of):
    model = gg.GraphRegressor("wl", views=WithOneMore()).fit(GRAPHS, NUMBERS)
    with pytest.raises(InvalidGraphError, match=r"views that keep the vertices.*WithOneMore\(\)"):
        gg.explain(model, NEW, of=of)


@functools.cache
def fitted(name):
    return clone(make_pipeline(*BINARY[name])).fit(GRAPHS, Y)


@settings(max_examples=25)
@given(st.lists(graphs(max_size=8, strings=True), min_size=1, max_size=3), st.data())
def test_any_graph(items, data):
    model = fitted(data.draw(st.sampled_from(["features", "intersection"])))
    share = data.draw(st.sampled_from(["path", "tree"]))
    batch = gg.as_graphs([to_tuple(graph)[:2] for graph in items])
    batch = batch if batch.n_vertices else GRAPHS[:0]
    for why, value in zip(
        gg.explain(model, batch, share=share),
        model.decision_function(batch) if len(batch) else [],
        strict=True,
    ):
        check_one(why, value)
