"""The Weisfeiler-Lehman kernel against GraKeL and against refinement with tuples."""

from collections import Counter

import grakel
import numpy as np
import pytest

import graphgrain as gg

from .peers import data_set, for_grakel, random_graphs


def colours(graph, steps, edge_labels):
    """Colours as nested tuples: the definition itself."""
    current = graph.labels.tolist()
    codes = graph.edge_label_codes
    history = [current]
    for _ in range(steps):
        following = []
        for v in range(graph.n_vertices):
            entries = range(graph.indptr[v], graph.indptr[v + 1])
            near = [
                (int(codes[e]) if edge_labels else 0, current[graph.indices[e]]) for e in entries
            ]
            following.append((current[v], tuple(sorted(near, key=repr))))
        current = following
        history.append(current)
    return history


def definition(batch, steps, edge_labels):
    counts = [[Counter(row) for row in colours(graph, steps, edge_labels)] for graph in batch]
    return np.array(
        [
            [sum(a[t][c] * b[t][c] for t in range(steps + 1) for c in a[t]) for b in counts]
            for a in counts
        ],
        dtype=float,
    )


@pytest.mark.parametrize("name", ["MUTAG", "PTC_MM"])
def test_equals_grakel_on_real_graphs(name):
    batch = data_set(name)
    peer = grakel.WeisfeilerLehman(n_iter=5, base_graph_kernel=grakel.VertexHistogram)
    expected = peer.fit_transform(for_grakel(batch))
    ours = gg.WeisfeilerLehman(n_iter=5, similarity="dot").fit_transform(batch)
    np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("density", [0.05, 0.3])
def test_equals_grakel_on_graphs_with_isolated_vertices(density):
    batch = random_graphs(density=density)
    assert (batch.degrees == 0).any()
    train, test = batch[:20], batch[20:]
    peer = grakel.WeisfeilerLehman(n_iter=3, base_graph_kernel=grakel.VertexHistogram)
    ours = gg.WeisfeilerLehman(n_iter=3, similarity="dot")
    np.testing.assert_array_equal(ours.fit_transform(train), peer.fit_transform(for_grakel(train)))
    np.testing.assert_array_equal(ours.transform(test), peer.transform(for_grakel(test)))


@pytest.mark.parametrize("edge_labels", [False, True])
def test_equals_the_definition(edge_labels):
    batch = random_graphs(12, seed=3)
    kernel = gg.WeisfeilerLehman(n_iter=3, similarity="dot", edge_labels=edge_labels)
    np.testing.assert_array_equal(kernel.fit_transform(batch), definition(batch, 3, edge_labels))


def test_levels_are_the_kernels_with_fewer_steps():
    batch = random_graphs(10)
    levels = gg.WeisfeilerLehman(n_iter=4).fit(batch).gram_levels()
    for steps, K in enumerate(levels):
        np.testing.assert_allclose(K, gg.WeisfeilerLehman(n_iter=steps).fit_transform(batch))


def test_intersection_is_the_optimal_assignment_kernel():
    batch = data_set("MUTAG")[:40]  # without isolated vertices, which GraKeL drops here
    peer = grakel.WeisfeilerLehmanOptimalAssignment(n_iter=3)
    ours = gg.WeisfeilerLehman(n_iter=3, similarity="dot", counts="intersection")
    np.testing.assert_array_equal(ours.fit_transform(batch), peer.fit_transform(for_grakel(batch)))


def test_names_are_the_trees_and_stay_apart_when_shortened():
    graph = [([(0, 1), (1, 2)], ["C", "C", "O"])]
    labelled = gg.GraphBatch.from_edges([2], [(0, 1)], ["a", "b"], edge_labels=["double"])
    assert set(gg.WeisfeilerLehman(n_iter=2).fit(graph).feature_names()[-3:]) == {
        "C(C(C,O)) t=2",
        "C(C(C),O(C)) t=2",
        "O(C(C,O)) t=2",
    }
    names = gg.WeisfeilerLehman(n_iter=1, edge_labels=True).fit(labelled).feature_names()
    assert set(names) == {"a", "b", "a([double]b) t=1", "b([double]a) t=1"}
    batch = random_graphs(labels=2, density=0.5)
    names = gg.WeisfeilerLehman(n_iter=6).fit(batch).feature_names()
    assert len(set(names)) == len(names)
    assert max(map(len, names)) < 130
