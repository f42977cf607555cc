"""Centralities against mpmath, NumPy and networkx; the classes of equal ones."""

from __future__ import annotations

import mpmath
import networkx as nx
import numpy as np
import pytest

import graphgrain as gg
from graphgrain.core.centrality import ENVELOPE_WORK, centrality_classes

GRAPHS = [
    *(nx.gnp_random_graph(n, p, seed=s) for s in range(6) for n, p in [(30, 0.1), (60, 0.05)]),
    nx.path_graph(200),
    nx.star_graph(20),
    nx.lollipop_graph(6, 40),
    nx.random_labeled_tree(300, seed=1),
    nx.ladder_graph(100),
    nx.convert_node_labels_to_integers(nx.grid_2d_graph(30, 3)),
    nx.complete_graph(40),
    nx.cycle_graph(50),
    nx.gnp_random_graph(150, 0.3, seed=1),
    nx.empty_graph(3),
]


def centralities(graph: nx.Graph, kind: str, **options) -> np.ndarray:
    batch = gg.as_graphs([graph])
    values = np.empty(len(graph))
    centrality_classes(batch.arrays, kind, values=values, **options)
    return values


@pytest.mark.parametrize("envelope_work", [ENVELOPE_WORK, 0.0], ids=["elimination", "gradients"])
@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_eigenvector_centrality_of_each_component(graph, envelope_work):
    values = centralities(graph, "eigenvector", envelope_work=envelope_work)
    for component in map(sorted, nx.connected_components(graph)):
        _, vectors = np.linalg.eigh(nx.to_numpy_array(graph, nodelist=component))
        np.testing.assert_allclose(values[component], np.abs(vectors[:, -1]), atol=1e-10)


@pytest.mark.parametrize("length", [8, 16, 24, 28])
def test_eigenvector_centrality_where_the_gap_is_tiny(length):
    """Two cliques far apart, slightly different surroundings: gaps down to about 1e-14."""
    graph = nx.barbell_graph(5, length)
    graph.add_edge(5 + length // 3, "tail")
    graph = nx.convert_node_labels_to_integers(graph)
    n = len(graph)
    with mpmath.workdps(60):
        values, vectors = mpmath.eigsy(mpmath.matrix(nx.to_numpy_array(graph).tolist()))
        expected = np.array([abs(float(vectors[v, n - 1])) for v in range(n)])
        gap = float(values[n - 1] - values[n - 2])
    assert gap < 1e-3
    np.testing.assert_allclose(centralities(graph, "eigenvector"), expected, atol=1e-10)


@pytest.mark.parametrize("graph", GRAPHS[:14], ids=str)
def test_closeness_and_betweenness_equal_networkx(graph):
    for component in nx.connected_components(graph):
        if len(component) < 2:
            continue
        part = nx.convert_node_labels_to_integers(graph.subgraph(component))
        np.testing.assert_allclose(
            centralities(part, "closeness"), list(nx.closeness_centrality(part).values())
        )
        np.testing.assert_allclose(
            centralities(part, "betweenness"),
            list(nx.betweenness_centrality(part, normalized=False).values()),
            atol=1e-9,
        )


def test_betweenness_of_large_graphs_is_equal_up_to_its_rounding_errors():
    """Two copies of a graph, joined by an edge: every vertex has the class of its mirror image."""
    graph = nx.grid_2d_graph(4, 400)
    graph.remove_nodes_from(
        [(row, column) for column in range(9, 400, 13) for row in (column % 4,)]
    )
    graph = nx.convert_node_labels_to_integers(graph)
    assert nx.is_connected(graph)
    n = len(graph)
    both = nx.disjoint_union(graph, graph)
    both.add_edge(0, n)
    place = np.random.default_rng(0).permutation(2 * n)
    batch = gg.GraphBatch.from_edges([2 * n], place[np.array(both.edges)])
    classes = centrality_classes(batch.arrays, "betweenness")
    np.testing.assert_array_equal(classes[place[:n]], classes[place[n:]])


def test_classes_join_neighbours_within_the_tolerance():
    from graphgrain.core.components import classify

    values = np.array([0.5, 0.1, 0.1 + 0.9e-7, 0.1 + 1.8e-7, 0.5 + 1.1e-7])
    classes = np.full(5, -1, dtype=np.int32)
    bits, ranked = values.view(np.int64), np.empty(5, dtype=np.int64)
    classify(np.arange(5), 0, 5, 0, values, bits, ranked, classes)
    assert classes.tolist() == [1, 0, 0, 0, 2]
