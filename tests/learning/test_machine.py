"""KernelMachine against the dense formula with kernel matrices of the kernels themselves."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import InvalidGraphError
from graphgrain.kernels.features import COUNT_MAPS, SIMILARITIES, Features
from graphgrain.learning.estimator import grouped_columns
from graphgrain.learning.machine import FittedTerm, KernelMachine, PatternWeights, Source, Term

ALL = list(product(SIMILARITIES, COUNT_MAPS))
EMPTY, BARE = ([], []), ([], ["C"])


@pytest.fixture(scope="module")
def molecules():
    """Training and new graphs, with a graph without vertices and one of a single atom in both."""
    drugs = [gg.load_drugs()[0][i] for i in range(0, 120, 3)]
    odd = [EMPTY, BARE, ([(0, 1)], ["Xx", "Yy"], ["zz"])]  # the last has patterns of its own
    train, new = drugs[:20], drugs[20:]
    both = [[*(_tuple(g) for g in train), EMPTY, BARE], [*(_tuple(g) for g in new), *odd]]
    return tuple(map(gg.as_graphs, both))


def _tuple(graph: gg.GraphBatch) -> tuple:
    return graph.edges.tolist(), graph.labels.tolist(), graph.edge_labels.tolist()


def fitted(train, similarity, counts, n_levels, scale=1.0, kernel=None):
    kernel = gg.TreePlusPlus(3, 2) if kernel is None else kernel
    source = Source("tree++", kernel, None, train.label_kind)
    return FittedTerm(Term(source, counts, similarity, n_levels), source.count(train), scale)


@pytest.mark.parametrize(("similarity", "counts"), ALL)
def test_values_are_the_dense_formula(molecules, similarity, counts):
    train, new = molecules
    rng = np.random.default_rng(0)
    coefficients, intercept = rng.normal(size=(2, len(train))), np.array([0.5, -2.0])
    terms = [
        fitted(train, similarity, counts, 3, 0.7),
        fitted(train, "minmax", "raw", 1, 0.3),
        fitted(train, similarity, counts, None, 0.2, gg.VertexHistogram()),
    ]
    machine = KernelMachine(terms, coefficients, intercept)
    kernels = [
        (0.7, gg.TreePlusPlus(3, 2, counts=counts, similarity=similarity)),
        (0.3, gg.TreePlusPlus(3, 0, counts="raw", similarity="minmax")),
        (0.2, gg.VertexHistogram(counts=counts, similarity=similarity)),
    ]
    gram = sum(scale * kernel.fit_transform(train) for scale, kernel in kernels)
    rows = sum(scale * kernel.transform(new) for scale, kernel in kernels)
    size = np.abs(gram).max()
    np.testing.assert_allclose(machine.gram(), gram, atol=1e-12 * size)
    counted = machine.count(new)
    np.testing.assert_allclose(machine.compare(counted), rows, atol=1e-12 * size)
    expected = rows @ coefficients.T + intercept
    np.testing.assert_allclose(machine.graph_values(new), expected, atol=1e-10 * size)
    own = sum(scale * np.diag(kernel.fit_transform(new)) for scale, kernel in kernels)
    np.testing.assert_allclose(machine.own_similarity(counted), own, rtol=1e-12)
    again = machine.rescaled(np.array([2.0, -1.0]), np.array([1.0, 3.0]))
    np.testing.assert_allclose(
        again.graph_values(new), expected * [2, -1] + [1, 3], atol=1e-9 * size
    )


def test_blocks_change_nothing(molecules, monkeypatch):
    train, new = molecules
    coefficients = np.random.default_rng(0).normal(size=(1, len(train)))
    machine = KernelMachine([fitted(train, "minmax", "raw", 3)], coefficients, np.zeros(1))
    together = machine.graph_values(new)
    monkeypatch.setattr("graphgrain.learning.machine.BLOCK", 3 * len(train))
    np.testing.assert_allclose(machine.graph_values(new), together, rtol=1e-12)


@pytest.mark.parametrize(("similarity", "counts"), ALL)
@pytest.mark.parametrize("n_levels", [1, 3])
def test_contributions_add_up(molecules, similarity, counts, n_levels):
    train, new = molecules
    coefficients = np.random.default_rng(0).normal(size=(2, len(train)))
    term = fitted(train, similarity, counts, n_levels, 0.7)
    machine = KernelMachine([term], coefficients, np.zeros(2))
    values = machine.graph_values(new)
    size = np.abs(values).max()
    own = machine.own_similarity(machine.count(new))
    for number in range(len(new)):
        levels = term.term.source.count(new[[number]]).levels
        parts = [term.contributions(levels, coefficients, output) for output in (0, 1)]
        sizes = [len(level.hashes) for level in levels[:n_levels]]
        assert [[len(part) for part in own] for own in parts] == [sizes, sizes]
        total = np.array([sum(part.sum() for part in own) for own in parts])
        together = term.value(levels, coefficients)
        np.testing.assert_allclose(together, total, atol=1e-10 * size)
        if new.vertex_counts[number] == 0:
            np.testing.assert_array_equal(total, 0)
            np.testing.assert_allclose(
                term.without_patterns(coefficients), values[number], atol=1e-12 * size
            )
            continue
        np.testing.assert_allclose(total, values[number], atol=1e-10 * size)
        shares = sum(part.sum() for part in term.own_contributions(levels))
        np.testing.assert_allclose(shares, own[number], rtol=1e-12)


def test_contributions_of_patterns_one_by_one(molecules):
    """Brute force over patterns and training graphs, from the definition of min-max."""
    train, new = molecules
    coefficients = np.random.default_rng(1).normal(size=(1, len(train)))
    term = fitted(train, "minmax", "raw", 1)
    counted = term.features.levels[0]
    ends = np.cumsum(counted.lengths)
    graphs = [
        dict(zip(counted.hashes[a:b].tolist(), counted.counts[a:b].tolist(), strict=True))
        for a, b in zip(ends - counted.lengths, ends, strict=True)
    ]
    levels = term.term.source.count(new[[4]]).levels[:1]
    own = dict(zip(levels[0].hashes.tolist(), levels[0].counts.tolist(), strict=True))
    [found] = term.contributions(levels, coefficients)
    for place, pattern in enumerate(own):
        expected = 0.0
        for i, other in enumerate(graphs):
            both = own.keys() | other.keys()
            most = sum(max(own.get(p, 0), other.get(p, 0)) for p in both)
            expected += coefficients[0, i] * min(own[pattern], other.get(pattern, 0)) / most
        assert found[place] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("counts", COUNT_MAPS)
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_grouped_columns_have_the_products_of_the_kernel(counts, similarity):
    """Few columns, the same inner products; weights on them are weights on patterns."""
    drugs = gg.load_drugs()[0][::8]
    train, new = drugs[::2], drugs[1::2]
    term = fitted(train, similarity, counts, 2, 0.5, gg.TreePlusPlus(4, 2))
    matrix, mix = grouped_columns(term)
    kernel = gg.TreePlusPlus(4, 1, counts=counts, similarity=similarity)
    gram = 0.5 * kernel.fit_transform(train)
    np.testing.assert_allclose((matrix @ matrix.T).toarray(), gram, rtol=1e-9, atol=1e-9)
    assert matrix.shape[1] < len(kernel.feature_names())
    coefficients = np.random.default_rng(0).normal(size=(2, len(train)))
    own = mix(coefficients @ matrix.toarray())
    weights = PatternWeights(term.term, term.columns.vocabulary, own)
    machine = KernelMachine([weights], None, np.zeros(2))
    expected = 0.5 * kernel.transform(new) @ coefficients.T
    size = np.abs(expected).max()
    np.testing.assert_allclose(machine.graph_values(new), expected, atol=1e-9 * size)
    levels = term.term.source.count(new[[3]]).levels
    for output in (0, 1):
        total = sum(part.sum() for part in weights.contributions(levels, None, output))
        np.testing.assert_allclose(total, expected[3, output], atol=1e-9 * size)
    np.testing.assert_allclose(weights.value(levels, None), expected[3], atol=1e-9 * size)


def test_what_no_training_graph_has_is_unseen(molecules):
    train, new = molecules
    terms = [fitted(train, "minmax", "raw", n) for n in (3, 1)]
    machine = KernelMachine(terms, np.zeros((1, len(train))), np.zeros(1))
    np.testing.assert_array_equal(machine.unseen(machine.count(train)), 0.0)
    found = machine.unseen(machine.count(new))
    assert found[-1] == 1.0  # labels of its own
    assert found[-3] == 0.0  # no patterns at all
    # by hand: of all occurrences those whose pattern is in no training graph, for each term
    for number in (0, 5):
        new_share = np.zeros(2)
        for term in {id(t.term.source): t for t in reversed(terms)}.values():
            levels = term.term.source.count(new[[number]]).levels[: 3 if term is terms[0] else 1]
            for level, mine in enumerate(levels):
                known = np.isin(mine.hashes, term.features.levels[level].hashes)
                new_share += [mine.counts[~known].sum(), mine.counts.sum()]
        assert found[number] == pytest.approx(new_share[0] / new_share[1])


def test_labels_of_another_kind_are_refused(molecules):
    train, _ = molecules
    machine = KernelMachine(
        [fitted(train, "minmax", "raw", 1)], np.zeros((1, len(train))), np.zeros(1)
    )
    with pytest.raises(InvalidGraphError, match=r"labels of the kind seen at fit \(str"):
        machine.graph_values(gg.as_graphs([([(0, 1)], [1, 2])]))


def test_only_what_is_needed_is_pickled(molecules):
    train, _ = molecules
    term = fitted(train, "cosine", "raw", 2)
    term.weights_for(np.ones((1, len(train))))
    assert set(term.__getstate__()) == {"term", "features", "scale"}
    assert isinstance(term.features, Features)
