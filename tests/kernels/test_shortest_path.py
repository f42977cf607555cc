"""The shortest-path kernel against GraKeL, SciPy's distances and all paths one by one."""

from collections import Counter

import grakel
import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

import graphgrain as gg

from .peers import data_set, for_grakel, matrices_for_grakel, random_graphs


def scipy_distances(graph):
    n = graph.n_vertices
    data = np.ones(len(graph.indices))
    indices, indptr = graph.indices.astype(np.int32), graph.indptr.astype(np.int32)
    return shortest_path(csr_array((data, indices, indptr), shape=(n, n)), unweighted=True)


@pytest.mark.parametrize("name", ["MUTAG", "PTC_MM"])
def test_equals_grakel_on_real_graphs(name):
    batch = data_set(name)
    expected = grakel.ShortestPath().fit_transform(for_grakel(batch))
    ours = gg.ShortestPath(similarity="dot").fit_transform(batch)
    np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("density", [0.05, 0.3])
def test_equals_grakel_on_graphs_with_isolated_vertices(density):
    batch = random_graphs(density=density)
    train, test = batch[:20], batch[20:]
    peer = grakel.ShortestPath(algorithm_type="floyd_warshall")  # its other choice raises
    expected = peer.fit_transform(matrices_for_grakel(train))
    ours = gg.ShortestPath(similarity="dot")
    np.testing.assert_array_equal(ours.fit_transform(train), expected)
    np.testing.assert_array_equal(ours.transform(test), peer.transform(matrices_for_grakel(test)))


def test_distances_equal_scipys():
    batch = data_set("PTC_MM")[:60].with_labels(None)
    kernel = gg.ShortestPath(output="features")
    X = kernel.fit_transform(batch).toarray()
    lengths = [int(name.split()[1]) for name in kernel.feature_names()]
    for graph, row in zip(batch, X, strict=True):
        finite = scipy_distances(graph)
        found = Counter(finite[np.isfinite(finite) & (finite > 0)].astype(int).tolist())
        assert found == {d: c for d, c in zip(lengths, row, strict=True) if c}


def first_sequences(graph):
    """(label, smallest edge label sequence, label) of all ordered pairs, from all paths."""
    G = nx.Graph()
    G.add_nodes_from(range(graph.n_vertices))
    for (u, v), label in zip(graph.edges.tolist(), graph.edge_labels.tolist(), strict=True):
        G.add_edge(u, v, label=label)
    labels = graph.labels.tolist()
    for u in G:
        for v in nx.node_connected_component(G, u) - {u}:
            paths = nx.all_shortest_paths(G, u, v)
            sequences = [[G[a][b]["label"] for a, b in nx.utils.pairwise(p)] for p in paths]
            yield f"{labels[u]} [{','.join(map(str, min(sequences)))}] {labels[v]}"


@pytest.mark.parametrize("density", [0.15, 0.4])
def test_with_edge_labels_the_first_sequence_counts(density):
    batch = random_graphs(seed=5, density=density)
    kernel = gg.ShortestPath(edge_labels=True, output="features")
    X = kernel.fit_transform(batch).toarray()
    names = kernel.feature_names()
    assert len(set(names)) == len(names)
    for graph, row in zip(batch, X, strict=True):
        assert Counter(first_sequences(graph)) == {
            name: count for name, count in zip(names, row, strict=True) if count
        }


def test_many_distinct_pairs_outgrow_the_first_table():
    n = 200
    graph = gg.GraphBatch.from_edges([n], [(v, v + 1) for v in range(n - 1)], range(n))
    X = gg.ShortestPath(output="features").fit_transform(graph)
    assert X.shape == (1, n * (n - 1))
    assert (X.data == 1).all()
