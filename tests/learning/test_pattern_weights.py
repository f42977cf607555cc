"""Weights on patterns against the dual form that they come from."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import InvalidGraphError
from graphgrain.kernels.features import COUNT_MAPS
from graphgrain.learning.folding import Folding, without_zeros
from graphgrain.learning.pattern_weights import decision_values


@pytest.fixture(scope="module")
def drugs():
    graphs, y = gg.load_drugs()
    return graphs, y


@pytest.mark.parametrize("counts", COUNT_MAPS)
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("edge_labels", [True, False])
def test_weights_are_the_dual_form(drugs, counts, normalize, edge_labels):
    graphs, _ = drugs
    train, new = graphs[::3], graphs[1::3]
    rng = np.random.default_rng(0)
    coefficients = rng.normal(size=(2, len(train)))
    coefficients[:, rng.random(len(train)) < 0.4] = 0.0  # no support vectors
    intercept = np.array([0.5, -2.0])
    kernel = gg.TreePlusPlus(
        4, 2, edge_labels=edge_labels, counts=counts, similarity="cosine" if normalize else "dot"
    )
    kernel.fit(train)
    expected = kernel.transform(new) @ coefficients.T + intercept
    counter = gg.TreePlusPlus(4, 2, edge_labels=edge_labels)
    folding = Folding(None, counter, train.label_kind, counter.count_features(train))
    whole = folding.fold(counts, normalize, 3, coefficients, intercept)
    shallow = folding.fold("raw", True, 1, coefficients, intercept)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(whole.decision_values(new), expected, rtol=0, atol=1e-12 * scale)
    members = without_zeros([whole, shallow])
    assert members[0].patterns is members[1].patterns
    assert len(members[0].patterns.levels[2].hashes) < len(whole.patterns.levels[2].hashes)
    first, second = decision_values(members, new)
    np.testing.assert_array_equal(first, whole.decision_values(new))
    np.testing.assert_array_equal(second, shallow.decision_values(new))
    assert whole.kernel.get_params() == kernel.get_params()


def test_contributions_add_up_to_the_value(drugs):
    graphs, y = drugs
    model = gg.TreePlusPlusClassifier(3, 2, committee=3, cv=3).fit(graphs, y == "opioids")
    one = graphs[[7]]
    for weights in model.pattern_weights_:
        levels = weights.patterns.count(one)[: weights.n_levels]
        total, square = np.zeros(1), 0.0
        for number, level in enumerate(levels):
            total += weights.contributions(number, level.hashes, level.counts).sum(axis=0)
            squares = {"raw": level.counts**2, "sqrt": level.counts, "intersection": level.counts}
            square += squares[weights.counts].sum()
        value = total / np.sqrt(square) + weights.intercept
        np.testing.assert_allclose(weights.decision_values(one)[0], value, rtol=1e-12)


def test_patterns_that_no_training_graph_has_add_nothing(drugs):
    graphs, y = drugs
    model = gg.TreePlusPlusClassifier(2, 1, committee=1, cv=2).fit(graphs, y == "opioids")
    [weights] = model.pattern_weights_
    added = weights.contributions(0, np.array([1, 2], dtype=np.uint64), np.array([1, 5]))
    assert added.tolist() == [[0.0], [0.0]]
    strange = gg.as_graphs([([(0, 1)], ["Xx", "Yy"], ["zz"])])
    np.testing.assert_allclose(weights.decision_values(strange)[0], weights.intercept)


def test_labels_of_another_kind_are_refused(drugs):
    graphs, y = drugs
    model = gg.TreePlusPlusClassifier(2, 1, committee=1, cv=2).fit(graphs, y == "opioids")
    with pytest.raises(InvalidGraphError, match="labels of the kind seen at fit"):
        model.predict([([(0, 1)], [1, 2])])


def test_no_training_graph_is_kept(drugs):
    graphs, y = drugs
    model = gg.TreePlusPlusClassifier(3, 1, cv=2).fit(graphs, y)
    kept = [value for value in vars(model).values() if isinstance(value, gg.GraphBatch)]
    assert kept == []
    assert not hasattr(model.kernel_, "graphs_")
