"""WL shortest path and WL edge against colours that are spelled out, and against GraKeL."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest

import graphgrain as gg

from .peers import data_set, for_grakel, random_graphs
from .test_wl_optimal_assignment import colours


def products(found):
    return np.array(
        [[sum(count * b[key] for key, count in a.items()) for b in found] for a in found]
    )


def pairs(graph, steps, edge_labels):
    made = nx.empty_graph(graph.n_vertices)
    made.add_edges_from(graph.edges.tolist())
    history = colours(graph, steps, edge_labels)
    return Counter(
        (step, history[u][step], history[v][step], distance)
        for u, reached in nx.all_pairs_shortest_path_length(made)
        for v, distance in reached.items()
        if u != v
        for step in range(steps + 1)
    )


def edges(graph, steps, edge_labels):
    history = colours(graph, steps, edge_labels)
    bonds = graph.edge_labels if edge_labels else np.zeros(graph.n_edges, int)
    return Counter(
        (step, tuple(sorted((history[u][step], history[v][step]))), bond)
        for (u, v), bond in zip(graph.edges.tolist(), bonds.tolist(), strict=True)
        for step in range(steps + 1)
    )


@pytest.mark.parametrize("edge_labels", [False, True])
@pytest.mark.parametrize(("Kernel", "features"), [("WLShortestPath", pairs), ("WLEdge", edges)])
def test_counts_of_colours_spelled_out(Kernel, features, edge_labels):
    batch = random_graphs(10, seed=7, largest=9)
    kernel = getattr(gg, Kernel)(2, similarity="dot", edge_labels=edge_labels)
    expected = products([features(graph, 2, edge_labels) for graph in batch])
    np.testing.assert_array_equal(kernel.fit_transform(batch), expected)


def test_step_zero_is_the_kernel_of_labels():
    batch = random_graphs(10, seed=8)
    np.testing.assert_array_equal(
        gg.WLShortestPath(0).fit_transform(batch), gg.ShortestPath().fit_transform(batch)
    )
    for edge_labels in (False, True):
        np.testing.assert_array_equal(
            gg.WLEdge(0, edge_labels=edge_labels).fit_transform(batch),
            gg.EdgeHistogram(edge_labels=edge_labels).fit_transform(batch),
        )


def test_the_same_values_as_grakel():
    grakel = pytest.importorskip("grakel")
    batch = data_set("MUTAG")[:25]
    peer = grakel.WeisfeilerLehman(n_iter=2, base_graph_kernel=grakel.ShortestPath)
    expected = peer.fit_transform(for_grakel(batch))
    ours = gg.WLShortestPath(2, similarity="dot").fit_transform(batch)
    np.testing.assert_allclose(ours, expected, rtol=1e-12)
