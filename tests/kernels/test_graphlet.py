"""Graphlets against enumeration of all vertex sets with networkx, and samples against counts."""

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

import graphgrain as gg
from tests.strategies import graphs as any_graph
from tests.strategies import to_tuple

from ..kernels.peers import data_set, random_graphs


def as_networkx(graph):
    made = nx.empty_graph(graph.n_vertices)
    made.add_edges_from(graph.edges.tolist())
    return made


def enumerated(graph, size, connected):
    """Counts of induced subgraphs by brute force; types told apart by isomorphism tests."""
    made, kinds = as_networkx(graph), []
    for chosen in combinations(range(graph.n_vertices), size):
        part = made.subgraph(chosen)
        if connected and not nx.is_connected(part):
            continue
        for kind in kinds:
            if nx.is_isomorphic(kind[0], part):
                kind[1] += 1
                break
        else:
            kinds.append([part, 1])
    return kinds


def product(first, second):
    return sum(a * b for one, a in first for other, b in second if nx.is_isomorphic(one, other))


@pytest.mark.parametrize("size", [3, 4, 5])
@pytest.mark.parametrize("connected", [True, False])
def test_exact_counts_are_those_of_all_vertex_sets(size, connected):
    batch = random_graphs(5, seed=size, largest=9, density=0.35)
    found = [enumerated(graph, size, connected) for graph in batch]
    expected = [[product(a, b) for b in found] for a in found]
    kernel = gg.Graphlet(size, connected=connected, similarity="dot")
    np.testing.assert_array_equal(kernel.fit_transform(batch), expected)


@settings(max_examples=25)
@given(any_graph(max_size=9))
def test_disconnected_counts_add_up_to_all_vertex_sets(graph):
    batch = gg.as_graphs([to_tuple(graph)])
    for size in (3, 4, 5):
        X = gg.Graphlet(size, connected=False, output="features").fit_transform(batch)
        sets = len(list(combinations(range(batch.n_vertices), size)))
        assert X.sum() == sets
        [located] = gg.Graphlet(size, connected=False).locate(batch)
        hashes, times = np.unique(located.hashes, return_counts=True)
        [counts] = gg.Graphlet(size, connected=False).count_features(batch)
        assert dict(zip(hashes.tolist(), times.tolist(), strict=True)) == dict(
            zip(counts.hashes.tolist(), counts.counts.tolist(), strict=True)
        )


def test_all_types_have_their_numbers():
    """Complete, empty and bipartite graphs, where counts are binomial coefficients."""
    complete = gg.as_graphs([([(u, v) for v in range(9) for u in range(v)], [0] * 9)])
    edgeless = gg.GraphBatch.from_edges([40], [])
    for size, expected in ((3, 84), (4, 126), (5, 126)):
        for connected in (True, False):
            X = gg.Graphlet(size, connected=connected, output="features").fit_transform(complete)
            assert X.data.tolist() == [expected]
    assert gg.Graphlet(5, connected=False, output="features").fit_transform(
        edgeless
    ).data.tolist() == [658008]
    assert gg.Graphlet(5, output="features").fit_transform(edgeless).nnz == 0


def test_numbers_past_64_bits():
    edgeless = gg.GraphBatch.from_edges([60_000], [(0, 1)])
    X = gg.Graphlet(5, connected=False, output="features").fit_transform(edgeless)
    n = 59_998
    with_edge = n * (n - 1) * (n - 2) // 6
    assert sorted(X.data.tolist())[0] == with_edge


def test_connected_sets_of_real_graphs_against_networkx():
    batch = data_set("MUTAG")[:3]
    for graph in batch:
        made = as_networkx(graph)
        stars = sum(len(list(combinations(made[v], 3))) for v in made)  # no triangles in MUTAG
        kernel = gg.Graphlet(4, output="features")
        X = kernel.fit_transform(graph)
        named = dict(zip(kernel.feature_names(), X.toarray()[0], strict=True))
        assert named["4 vertices: 0-1 0-2 0-3"] == stars


@pytest.mark.parametrize("connected", [True, False])
@pytest.mark.parametrize("size", [3, 5])
def test_samples_estimate_the_counts(size, connected):
    batch = random_graphs(3, seed=2, largest=12, density=0.3)
    exact = gg.Graphlet(size, connected=connected, output="features", n_features=2**20)
    drawn = gg.Graphlet(
        size, connected=connected, output="features", n_features=2**20, n_samples=80_000
    )
    X, estimate = exact.transform(batch).toarray(), drawn.transform(batch).toarray()
    total = np.maximum(X.sum(axis=1, keepdims=True), 1)
    # 80,000 draws: relative frequencies are right to about 0.002 for likely weights
    np.testing.assert_allclose(estimate / total, X / total, atol=0.012)
    assert not np.array_equal(estimate, drawn.set_params(random_state=1).transform(batch).toarray())


def test_a_graph_gets_the_same_draws_in_every_call():
    batch = random_graphs(8, largest=12)
    kernel = gg.Graphlet(4, n_samples=50)
    K = kernel.fit_transform(batch)
    np.testing.assert_allclose(kernel.transform(batch[::-1]), K[::-1], rtol=1e-12)


def test_names_are_all_types():
    assert Counter(len(gg.Graphlet(size)._hashes()) for size in (3, 4, 5)) == {4: 1, 11: 1, 34: 1}
