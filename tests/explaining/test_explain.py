"""explain: what it says of patterns, vertices and edges, and what it refuses."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, PolynomialFeatures
from sklearn.svm import SVC

import graphgrain as gg
from graphgrain.errors import InvalidGraphError, InvalidParameterError
from tests.explaining.test_class_patterns import GRAPHS, MODEL, Y

FEATURES = gg.TreePlusPlus(3, 1, output="features")


@pytest.fixture(scope="module")
def model():
    return make_pipeline(clone(FEATURES), LogisticRegression(max_iter=1000)).fit(GRAPHS, Y)


def test_patterns_are_those_of_the_graph(model):
    [why] = gg.explain(model, GRAPHS[4])
    row = model[0].transform(GRAPHS[4]).toarray()[0]
    names = model[0].feature_names()
    weights = model[-1].coef_[0]
    assert {p.name: p.count for p in why.patterns} == {
        names[column]: row[column] for column in np.flatnonzero(row)
    }
    by_name = dict(zip(names, weights * row, strict=True))
    for pattern in why.patterns:
        assert pattern.contribution == pytest.approx(by_name[pattern.name], rel=1e-9, abs=1e-12)
        assert pattern.occurrences == model[0].occurrences(GRAPHS[4], pattern.name)
    sizes = [abs(p.contribution) for p in why.patterns]
    assert sizes == sorted(sizes, reverse=True)
    assert why.top(3) == why.patterns[:3]
    assert why.bias == pytest.approx(model[-1].intercept_[0])


def test_shares_by_hand():
    """One path C-N-O: what each share makes of each pattern, counted by hand."""
    graph = gg.as_graphs([([(0, 1), (1, 2)], ["C", "N", "O"])])
    kernel = gg.TreePlusPlus(2, 1, output="features").fit(graph)
    names = kernel.feature_names().tolist()
    final = LogisticRegression()
    final.classes_, final.intercept_ = np.array([0, 1]), np.zeros(1)

    def shared(name, share):
        final.coef_ = np.zeros((1, len(names)))
        final.coef_[0, names.index(name)] = 1.0
        [why] = gg.explain(make_pipeline(kernel, final), graph, share=share)
        return why.vertices.round(6).tolist(), why.edges.round(6).tolist()

    assert shared("C->N", "path") == ([1.0, 1.0, 0.0], [2.0, 0.0])
    assert shared("C->N", "tree") == ([1.0, 1.0, 0.0], [2.0, 0.0])
    assert shared("C", "path") == ([1.0, 0.0, 0.0], [0.0, 0.0])
    assert shared("C->N->O", "path") == ([round(2 / 3, 6)] * 3, [1.0, 1.0])
    # the tree at C holds C and N
    assert shared("C(N) k=1", "path") == ([1.0, 0.0, 0.0], [0.0, 0.0])
    assert shared("C(N) k=1", "tree") == ([0.5, 0.5, 0.0], [1.0, 0.0])
    # C(N) - N(C,O): elements hand on 1/2 each; together they touch all three
    sixth = 2 * (1 / 4 + 1 / 6), 2 * (1 / 4 + 1 / 6), 2 / 6
    vertices, edges = shared("C(N)->N(C,O) k=1", "tree")
    np.testing.assert_allclose(vertices, sixth, atol=1e-5)
    assert edges == [1.5, 0.5]


def test_the_planted_atoms_are_found():
    for why, label in zip(gg.explain(MODEL, GRAPHS), Y, strict=True):
        best = int(np.argmax(why.vertices if label == "yes" else -why.vertices))
        oxygen = int(np.flatnonzero(why.graph.labels == "O")[-1])
        assert best == oxygen or [best, oxygen] in why.graph.edges.tolist()
        assert why.prediction == label


def test_views_that_drop_edges_leave_values_at_the_right_edges():
    graphs = gg.as_graphs(
        [([(0, 1), (1, 2), (0, 2)], list("CNO"), [1, 2, 1])] * 4 + [([], ["C"])] * 4
    )
    view = gg.EdgeFilter(drop=[2])
    model = make_pipeline(view, gg.PathPattern(1, output="features"), LogisticRegression())
    model.fit(graphs, [1] * 4 + [0] * 4)
    [why] = gg.explain(model, graphs[0])
    assert why.edges.shape == (3,)
    rows = {
        tuple(edge): value for edge, value in zip(graphs[0].edges.tolist(), why.edges, strict=True)
    }
    assert rows[1, 2] == 0.0
    assert rows[0, 1] > 0 < rows[0, 2]


class TestOddGraphs:
    def test_unseen_labels_are_told(self, model):
        [why] = gg.explain(model, [([(0, 1)], ["Xe", "Kr"])])
        assert why.unknown == 1.0
        assert why.decision == pytest.approx(why.bias)
        assert not why.vertices.any()
        assert "100 % of its patterns unknown to the model" in repr(why)
        assert "unknown to the model" in why._repr_html_()
        assert not any(pattern.known for pattern in why.patterns)

    def test_an_empty_graph_is_all_bias(self, model):
        [why] = gg.explain(model, [([], [])])
        assert why.decision == why.bias
        assert why.vertices.shape == why.edges.shape == (0,)
        assert why.patterns == []
        assert "no vertices" in why._repr_html_()

    def test_no_graphs(self, model):
        assert gg.explain(model, GRAPHS[:0]) == []

    def test_a_large_graph_is_explained_but_not_drawn(self, model):
        large = nx.path_graph(5000)
        nx.set_node_attributes(large, {v: "CNO"[v % 3] for v in large}, "label")
        batch = gg.from_networkx([large])
        [why] = gg.explain(model, batch)
        assert why.vertices.shape == (5000,)
        assert why.bias + why.vertices.sum() == pytest.approx(why.decision, rel=1e-9)
        with pytest.raises(InvalidGraphError, match="up to 600 vertices; this one has 5,000"):
            why.to_svg()
        assert "up to 600 vertices" in why._repr_html_()

    def test_labels_of_another_kind(self, model):
        numbered = gg.as_graphs([([(0, 1)], [1, 2])])
        learned = gg.GraphClassifier("wl").fit(GRAPHS, Y)
        for fitted in (model, learned):
            with pytest.raises(InvalidGraphError, match="kind seen at fit"):
                gg.explain(fitted, numbered)
            with pytest.raises(InvalidGraphError, match="kind seen at fit"):
                gg.class_patterns(fitted, gg.GraphBatch.concatenate([numbered] * 2), np.unique(Y))


class TestRefusals:
    @pytest.mark.parametrize(
        ("steps", "words"),
        [
            (
                [clone(FEATURES), RandomForestClassifier(5)],
                "linear model.*RandomForestClassifier",
            ),
            ([gg.TreePlusPlus(2, 0), SVC()], "linear model.*got SVC"),
            ([clone(FEATURES), SVC(kernel="rbf")], "linear model.*got SVC"),
            ([gg.ReturnProbability(), SVC(kernel="precomputed")], "explicit features"),
            (
                [gg.PathPattern(1, output="features"), PolynomialFeatures(), LogisticRegression()],
                "cannot look through PolynomialFeatures",
            ),
        ],
    )
    def test_models_that_are_not_linear(self, steps, words):
        with pytest.raises(InvalidParameterError, match=words):
            gg.explain(make_pipeline(*steps).fit(GRAPHS[:12], Y[:12]), GRAPHS[0])

    def test_a_link_function(self):
        model = make_pipeline(gg.PathPattern(1, output="features"), PoissonRegressor())
        model.fit(GRAPHS, GRAPHS.vertex_counts)
        with pytest.raises(InvalidParameterError, match="not what its coefficients add up to"):
            gg.explain(model, GRAPHS[0])

    def test_other_things(self, model):
        with pytest.raises(InvalidParameterError, match=r"alone is a kernel.*compare"):
            gg.explain(FEATURES, GRAPHS[0])
        with pytest.raises(InvalidParameterError, match="got LogisticRegression"):
            gg.explain(LogisticRegression().fit([[0], [1]], [0, 1]), GRAPHS[0])
        with pytest.raises(InvalidParameterError, match="a kernel among the steps"):
            gg.explain(make_pipeline(Normalizer(), LogisticRegression()), GRAPHS[0])
        with pytest.raises(InvalidParameterError, match="a model after the kernel"):
            gg.explain(make_pipeline(FEATURES), GRAPHS[0])
        with pytest.raises(NotFittedError):
            gg.explain(make_pipeline(clone(FEATURES), LogisticRegression()), GRAPHS[0])
        with pytest.raises(NotFittedError):
            gg.explain(gg.GraphClassifier(), GRAPHS[0])
        with pytest.raises(InvalidParameterError, match="share must be path or tree"):
            gg.explain(model, GRAPHS[0], share="fair")
        with pytest.raises(InvalidParameterError, match="Leave it out"):
            gg.explain(model, GRAPHS[0], target="yes")
        several = make_pipeline(clone(FEATURES), LogisticRegression(max_iter=500))
        several.fit(GRAPHS, np.arange(len(GRAPHS)) % 3)
        with pytest.raises(InvalidParameterError, match="target must be one of 0, 1, 2"):
            gg.explain(several, GRAPHS[0], target=7)
        numbers = make_pipeline(clone(FEATURES), Ridge()).fit(GRAPHS, np.ones((len(GRAPHS), 2)))
        with pytest.raises(InvalidParameterError, match="target must be one of 0, 1; got 'predic"):
            gg.explain(numbers, GRAPHS[0], target="predicted")
        wrong = make_pipeline(clone(FEATURES), SVC(kernel="precomputed"))
        wrong[-1].fit(np.eye(4), [0, 1, 0, 1])
        wrong[0].fit(GRAPHS[:4])
        with pytest.raises(InvalidParameterError, match="needs similarities"):
            gg.explain(wrong, GRAPHS[0])


def test_notebooks(model):
    [why] = gg.explain(model, GRAPHS[4])
    text = why._repr_html_()
    assert "<svg" in text
    assert "Predicted" in text
    assert f"{why.decision:+.3g}" in text
    svg = why.to_svg(theme="dark")
    assert "for yes" in svg
    assert "for no" in svg
