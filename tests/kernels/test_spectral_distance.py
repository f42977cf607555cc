"""Spectral distances against NetworkX, the pseudo-inverse and plain histograms."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest

import graphgrain as gg

from .peers import data_set, matrices_for_grakel, random_graphs


def laplacian(graph):
    A = matrices_for_grakel(graph)[0][0]
    return np.diag(A.sum(axis=1)) - A


def test_distances_equal_networkx_on_connected_graphs():
    kernel = gg.SpectralDistance()
    batch = random_graphs(30, seed=4, density=0.4)
    connected = 0
    for graph in batch:
        G = gg.to_networkx(graph)[0]
        if len(G) > 1 and nx.is_connected(G):
            connected += 1
            expected = nx.resistance_distance(G)
            expected = np.array([[expected[u][v] for v in G] for u in G])
            np.testing.assert_allclose(kernel.distances(graph), expected, atol=1e-9)
    assert connected > 10


@pytest.mark.parametrize(("function", "power"), [("harmonic", 1), ("biharmonic", 2)])
def test_distances_come_from_the_pseudo_inverse_whatever_the_components(function, power):
    for graph in random_graphs(20, seed=6, density=0.12):
        F = np.linalg.matrix_power(np.linalg.pinv(laplacian(graph), hermitian=True), power)
        expected = np.diag(F)[:, None] + np.diag(F) - 2 * F
        ours = gg.SpectralDistance(function=function).distances(graph)
        np.testing.assert_allclose(ours, expected, atol=1e-9)


def test_features_are_the_histogram_of_all_entries():
    batch = random_graphs(10, seed=6)
    kernel = gg.SpectralDistance(bin_width=0.01, output="features")
    X = kernel.fit_transform(batch).toarray()
    names = kernel.feature_names()
    assert len(set(names)) == len(names)
    for graph, row in zip(batch, X, strict=True):
        F = np.linalg.pinv(laplacian(graph), hermitian=True)
        S = np.diag(F)[:, None] + np.diag(F) - 2 * F
        expected = Counter(np.round(S.ravel() + 1e-9, 2).tolist())
        found = {float(n.split()[1]): c for n, c in zip(names, row, strict=True) if c}
        assert found == pytest.approx(expected)


def test_equal_distances_share_a_bin_in_trees_and_rings():
    tree = nx.to_edgelist(nx.balanced_tree(2, 5))
    G = gg.GraphBatch.from_edges([63], [(u, v) for u, v, _ in tree])
    kernel = gg.SpectralDistance(output="features")
    kernel.fit(G)
    names = kernel.feature_names()
    assert {n.split()[1] for n in names} == {str(d) for d in range(11)}


def test_labels_are_not_used():
    batch = data_set("PTC_MM")[:80]
    kernel = gg.SpectralDistance().fit(batch)
    np.testing.assert_array_equal(
        kernel.transform(batch.with_labels(None)), kernel.transform(batch)
    )
