"""Explanations of the estimators: exact, each pattern located once, graphs without patterns too."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrain as gg

ONE = {"edge_labels": False, "similarity": "minmax", "views": None, "cv": 2}


@pytest.fixture(scope="module")
def model(families):
    graphs, y = families
    return gg.GraphClassifier(["wl", "sp"], 2, alpha=1.0, max_terms=4, **ONE).fit(graphs, y)


def test_patterns_are_located_once_for_each_way_to_count(model, families, monkeypatch):
    graphs, _ = families
    calls = []
    for kind in (gg.WeisfeilerLehman, gg.ShortestPath):
        for name in ("locate_each", "count"):
            whole = getattr(kind, name)

            def watched(self, batch, whole=whole, name=name):
                calls.append((name, type(self).__name__, len(batch)))
                return whole(self, batch)

            monkeypatch.setattr(kind, name, watched)
    gg.explain(model, graphs[:6])
    located = [call for call in calls if call[0] == "locate_each"]
    sources = [type(source.kernel).__name__ for source in model.machine_.sources]
    assert sorted(located) == sorted(("locate_each", name, 6) for name in sources)


def test_training_graphs_have_no_unknown_patterns(model, families, drugs):
    graphs, _ = families
    for why in gg.explain(model, graphs[:10]):
        assert why.unknown == 0
    others = gg.explain(model, drugs[0][100:130])
    assert any(why.unknown > 0 for why in others)


def test_explanations_are_the_decisions(model, families):
    graphs, _ = families
    values = model.decision_function(graphs[:10])
    for why, value in zip(gg.explain(model, graphs[:10]), values, strict=True):
        assert why.decision == pytest.approx(value, abs=1e-9)
        total = why.bias + why.columns + why.vertices.sum()
        assert total == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("similarity", ["minmax", "cosine", "dot"])
def test_graphs_without_patterns_are_explained_too(similarity):
    """Vertices without edges have nothing for a kernel of edges to count."""
    ring, path = ([(0, 1), (1, 2), (0, 2)], [1, 1, 2]), ([(0, 1), (1, 2)], [1, 2, 2])
    bare, empty = ([], [1, 2]), ([], [])
    graphs = gg.as_graphs([ring, path, bare, empty] * 5)
    y = np.array([1.0, 2.0, 5.0, 5.0] * 5)
    model = gg.GraphRegressor(gg.EdgeHistogram(similarity=similarity), cv=2, scale="none")
    model.fit(graphs, y)
    for why, value in zip(gg.explain(model, graphs[:4]), model.predict(graphs[:4]), strict=True):
        assert why.decision == pytest.approx(value, abs=1e-9)
