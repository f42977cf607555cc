"""explain: what it says of patterns, vertices and edges, and what it refuses."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, PoissonRegressor, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVC

import graphgrain as gg
from graphgrain.errors import InvalidGraphError, InvalidParameterError


def planted(count=60, seed=0):
    """Trees of C and N; class "yes" has an O at an N, both have an O somewhere."""
    rng = np.random.default_rng(seed)
    graphs, y = [], []
    for number in range(count):
        size = int(rng.integers(6, 12))
        tree = nx.random_labeled_tree(size, seed=number)
        labels = rng.choice(["C", "N"], size).tolist()
        labels[0], labels[1] = "C", "N"
        yes = number % 3 == 0
        tree.add_edge(1 if yes else 0, size)
        graphs.append((list(tree.edges), [*labels, "O"]))
        y.append("yes" if yes else "no")
    return gg.as_graphs(graphs), np.array(y)


GRAPHS, Y = planted()
MODEL = make_pipeline(
    gg.PathPattern(1, output="features", counts="binary"), LogisticRegression()
).fit(GRAPHS, Y)
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


def fitted(*steps, y=Y):
    return make_pipeline(*map(clone, steps)).fit(GRAPHS, y)


SEVERAL = np.arange(len(GRAPHS)) % 3
LABELS = np.column_stack([SEVERAL == 0, SEVERAL == 1])
NUMBERS = GRAPHS.vertex_counts
LOGISTIC = LogisticRegression(max_iter=500)

#: What cannot be explained: the model, options, and the rule that the error states.
REFUSALS = [
    (lambda: fitted(FEATURES, RandomForestClassifier(5)), {}, "coef_.*got RandomForestClassifier"),
    (lambda: fitted(FEATURES, SVC(kernel="rbf")), {}, "coef_.*got SVC"),
    (lambda: fitted(gg.WeisfeilerLehman(1), SVC(kernel="precomputed")), {}, "output='gram'"),
    (lambda: fitted(gg.ReturnProbability(), SVC(kernel="precomputed")), {}, "explicit features"),
    (lambda: fitted(FEATURES, MaxAbsScaler(), LOGISTIC), {}, "last two.*MaxAbsScaler"),
    (lambda: fitted(FEATURES, PoissonRegressor(), y=NUMBERS), {}, "not what its coefficients"),
    (lambda: fitted(FEATURES, RidgeClassifier(), y=LABELS), {}, "one class for each graph"),
    (lambda: FEATURES, {}, "alone is a kernel.*compare"),
    (lambda: LogisticRegression().fit([[0], [1]], [0, 1]), {}, "got LogisticRegression"),
    (lambda: make_pipeline(MaxAbsScaler(), LOGISTIC), {}, "a kernel and a linear model"),
    (lambda: make_pipeline(FEATURES), {}, "a kernel and a linear model"),
    (lambda: MODEL, {"share": "fair"}, "share must be path or tree; got 'fair'"),
    (lambda: MODEL, {"of": "doubt"}, "of must be one of 'decision', 'uncertainty'"),
    (lambda: MODEL, {"of": "uncertainty"}, "needs a GraphRegressor"),
    (lambda: MODEL, {"target": "yes"}, "the two classes 'no' and 'yes'. Leave it out"),
    (lambda: fitted(FEATURES, LOGISTIC, y=SEVERAL), {"target": 7}, "one of 0, 1, 2"),
    (lambda: fitted(FEATURES, Ridge(), y=LABELS * 1.0), {}, "target=0 to 1"),
    (lambda: fitted(FEATURES, Ridge(), y=LABELS * 1.0), {"target": "predicted"}, "one of 0, 1;"),
]


@pytest.mark.parametrize(("model", "options", "rule"), REFUSALS)
def test_refusals(model, options, rule):
    with pytest.raises(InvalidParameterError, match=rule):
        gg.explain(model(), GRAPHS[0], **options)


@pytest.mark.parametrize("model", [make_pipeline(FEATURES, LOGISTIC), gg.GraphClassifier()])
def test_models_must_be_fitted(model):
    with pytest.raises(NotFittedError):
        gg.explain(clone(model), GRAPHS[0])


def test_training_graphs_are_told():
    """One that the model was fitted to, in another numbering, and a graph that is new to it."""
    model = gg.GraphClassifier("wl").fit(GRAPHS, Y)
    graph = GRAPHS[4]
    turned = graph.n_vertices - 1 - graph.edges
    same = gg.GraphBatch.from_edges(graph.vertex_counts, turned, graph.labels[::-1])
    new = gg.as_graphs([([(0, 1), (1, 2)], ["O", "O", "C"])])
    for of in ("decision", "uncertainty"):
        whys = gg.explain(model, graph + same + new, of=of)
        assert [why.in_training for why in whys] == [True, True, False]
        assert ["trained on" in repr(why) for why in whys] == [True, True, False]
        assert ["was trained on this graph" in why._repr_html_() for why in whys] == [
            True, True, False,
        ]  # fmt: skip


def test_notebooks(model):
    [why] = gg.explain(model, GRAPHS[4])
    text = why._repr_html_()
    assert "<svg" in text
    assert "Predicted" in text
    assert f"{why.decision:+.3g}" in text
    svg = why.to_svg(theme="dark")
    assert "for yes" in svg
    assert "for no" in svg


@pytest.mark.parametrize("share", ["path", "tree"])
def test_vertices_of_patterns_add_up_and_do_not_depend_on_numbers(share):
    """In a ring, several shortest paths spell one pattern: all of them count."""
    graphs = gg.from_smiles(["C1CCCCC1O", "C1CCCCC1N", "CCO", "CCN"])
    kernel = gg.TreePlusPlus(3, 1, output="features", edge_labels=True)
    model = make_pipeline(kernel, LogisticRegression()).fit(graphs, [1, 0, 1, 0])
    ring = graphs[0]
    order = np.random.default_rng(0).permutation(ring.n_vertices)
    labels = np.empty(ring.n_vertices, dtype=object)
    labels[order] = ring.labels
    turned = gg.GraphBatch.from_edges(
        [ring.n_vertices], order[ring.edges], labels.tolist(), edge_labels=ring.edge_labels
    )
    [why], [other] = gg.explain(model, ring, share=share), gg.explain(model, turned, share=share)
    total = sum(pattern.vertices for pattern in why.patterns)
    np.testing.assert_allclose(total, why.vertices, atol=1e-12)
    by_name = {(p.name, p.description): p.vertices for p in other.patterns}
    for pattern in why.patterns:
        turned_back = by_name[pattern.name, pattern.description][order]
        np.testing.assert_allclose(pattern.vertices, turned_back, atol=1e-12)
