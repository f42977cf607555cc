"""The histogram kernels against GraKeL and plain counting."""

from collections import Counter

import grakel
import numpy as np
import pytest

import graphgrain as gg

from .peers import data_set, for_grakel, random_graphs


def test_vertex_histogram_equals_grakel():
    batch = data_set("PTC_MM")
    expected = grakel.VertexHistogram().fit_transform(for_grakel(batch))
    ours = gg.VertexHistogram(similarity="dot").fit_transform(batch)
    np.testing.assert_array_equal(ours, expected)


def test_edge_histogram_equals_grakel():
    batch = data_set("PTC_MM")
    expected = grakel.EdgeHistogram().fit_transform(for_grakel(batch))
    kernel = gg.EdgeHistogram(vertex_labels=False, edge_labels=True, similarity="dot")
    np.testing.assert_array_equal(4 * kernel.fit_transform(batch), expected)


@pytest.mark.parametrize("edge_labels", [False, True])
def test_edge_features_are_counts_by_the_labels_of_the_ends(edge_labels):
    batch = random_graphs(seed=1)
    kernel = gg.EdgeHistogram(edge_labels=edge_labels, output="features")
    X = kernel.fit_transform(batch).toarray()
    names = kernel.feature_names()
    for graph, row in zip(batch, X, strict=True):
        expected = Counter()
        for (u, v), bond in zip(graph.edges, graph.edge_labels, strict=True):
            low, high = sorted(graph.labels[[u, v]].tolist())
            expected[f"{low} -{bond}-> {high}" if edge_labels else f"{low}->{high}"] += 1
        assert expected == {n: c for n, c in zip(names, row, strict=True) if c}


def test_vertex_features_are_label_counts():
    graphs = [([], ["C", "C", "O"]), ([], ["N"])]
    kernel = gg.VertexHistogram(output="features")
    X = kernel.fit_transform(graphs).toarray()
    assert dict(zip(kernel.feature_names(), X[0], strict=True)) == {"C": 2, "O": 1, "N": 0}


def test_without_any_labels_edges_are_counted():
    graphs = [([(0, 1), (1, 2)], [1, 2, 3]), ([(0, 1)], [7, 8]), ([], [1])]
    kernel = gg.EdgeHistogram(vertex_labels=False, similarity="dot")
    assert kernel.fit_transform(graphs).tolist() == [[4, 2, 0], [2, 1, 0], [0, 0, 0]]
    assert kernel.feature_names().tolist() == ["-"]
    assert kernel.transform([([(0, 1)], ["a", "b"])]).tolist() == [[2, 1, 0]]
