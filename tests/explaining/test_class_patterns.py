"""The patterns of a class: a planted one is found, with the right figures."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

import graphgrain as gg
from graphgrain.errors import InvalidParameterError


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


def test_the_planted_pattern_is_found():
    found = gg.class_patterns(MODEL, GRAPHS, Y, n=2, n_resamples=5)
    pattern = found.favour["yes"][0]
    assert pattern.name == "N->O"
    assert pattern.contribution > 0
    assert pattern.support == (Y == "yes").sum()
    assert pattern.precision == 1.0
    assert pattern.stability == 1.0
    assert Y[pattern.example] == "yes"
    labels = GRAPHS[pattern.example].labels
    assert {labels[v] for v in pattern.occurrence} == {"N", "O"}
    other = found.favour["no"][0]
    assert other.name == "C->O"
    assert other.contribution > 0
    assert found.against["yes"][0].name == "C->O"
    assert found.against["yes"][0].contribution < 0
    assert found.against["yes"][0].precision == 0.0
    assert "N->O" in repr(found)
    text = found._repr_html_()
    assert "N-&gt;O" in text
    assert "<svg" in text
    assert "100 %" in text


def test_figures_are_the_means_of_explanations():
    found = gg.class_patterns(MODEL, GRAPHS, Y, n=3, n_resamples=0)
    table: dict[str, np.ndarray] = {}
    for number, why in enumerate(gg.explain(MODEL, GRAPHS)):
        for pattern in why.patterns:
            row = table.setdefault(pattern.name, np.full(len(GRAPHS), np.nan))
            row[number] = pattern.contribution
    yes = Y == "yes"
    separation = {
        name: np.nan_to_num(row)[yes].mean() - np.nan_to_num(row)[~yes].mean()
        for name, row in table.items()
    }
    for pattern in found.favour["yes"] + found.against["yes"]:
        assert pattern.contribution == pytest.approx(np.nanmean(table[pattern.name]), rel=1e-9)
        assert pattern.separation == pytest.approx(separation[pattern.name], rel=1e-9)
        assert np.isnan(pattern.stability)
    for sign, kind in ((1, found.favour), (-1, found.against)):
        own = [name for name, row in table.items() if sign * np.nansum(row) > 0]
        best = sorted((n for n in own if separation[n] > 1e-9), key=lambda name: -separation[name])
        assert [p.name for p in kind["yes"]] == best[:3]


def test_chance_patterns_are_not_stable():
    """With classes by coin toss hardly any pattern comes back in most models."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, len(GRAPHS))
    kernel = gg.TreePlusPlus(3, 2, output="features", counts="binary")
    model = make_pipeline(kernel, LogisticRegression()).fit(GRAPHS, y)
    found = gg.class_patterns(model, GRAPHS, y, n=5, n_resamples=6)
    chance = [p.stability for p in found.favour[1]]
    real = gg.class_patterns(MODEL, GRAPHS, Y, n=1, n_resamples=6).favour["yes"][0].stability
    assert real == 1.0
    assert np.mean(chance) < 0.8


def test_several_classes():
    y = np.arange(len(GRAPHS)) % 3
    model = make_pipeline(gg.PathPattern(1, output="features"), LogisticRegression(max_iter=500))
    model.fit(GRAPHS, y)
    found = gg.class_patterns(model, GRAPHS, y, n=2, n_resamples=1)
    assert list(found.favour) == [0, 1, 2]
    assert found.favour[0][0].name == "N->O"


#: What is refused: the act, its arguments, and the rule that the error states.
NUMBERS = make_pipeline(gg.PathPattern(1, output="features"), Ridge()).fit(GRAPHS, Y == "yes")
REFUSALS = [
    (gg.class_patterns, (MODEL, GRAPHS, Y), {"n": 0}, "n must be"),
    (gg.class_fragments, (MODEL, GRAPHS, Y), {"n": 0}, "n must be"),
    (gg.class_patterns, (MODEL, GRAPHS, Y), {"n_jobs": 0}, "n_jobs must be"),
    (gg.class_fragments, (MODEL, GRAPHS, Y), {"n_jobs": 0}, "n_jobs must be"),
    (gg.explain, (MODEL, GRAPHS), {"n_jobs": "two"}, "n_jobs must be"),
    (gg.class_patterns, (MODEL, GRAPHS, Y[:3]), {}, "one class per graph"),
    (gg.class_fragments, (MODEL, GRAPHS, Y[:3]), {}, r"one target per graph \(60\)"),
    (gg.class_patterns, (NUMBERS, GRAPHS, Y), {}, "needs a classifier"),
    (gg.class_patterns, (MODEL, GRAPHS[:3], ["yes"] * 3), {}, "at least two classes"),
]


@pytest.mark.parametrize(("act", "arguments", "options", "rule"), REFUSALS)
def test_refusals(act, arguments, options, rule):
    with pytest.raises(InvalidParameterError, match=rule):
        act(*arguments, **options)


@pytest.mark.parametrize("act", [gg.class_patterns, gg.class_fragments])
def test_classes_that_the_model_does_not_know(act):
    graphs, y = gg.load_drugs()
    kernel = gg.VertexHistogram(output="features")
    codes = (y == "opioids").astype(int)
    model = make_pipeline(kernel, LogisticRegression()).fit(graphs, codes)
    for wrong in (codes.astype(str), codes + 7, np.where(codes == 1, np.nan, 0.0)):
        with pytest.raises(InvalidParameterError, match=r"classes of the model \(0, 1\)"):
            act(model, graphs[::5], wrong[::5])


@pytest.mark.parametrize("act", [gg.class_patterns, gg.class_fragments])
def test_threads_change_nothing(act):
    assert repr(act(MODEL, GRAPHS, Y, n_jobs=2)) == repr(act(MODEL, GRAPHS, Y))
