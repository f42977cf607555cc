"""WL-OA against the search for the best assignment, and against GraKeL."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import graphgrain as gg

from .peers import data_set, for_grakel, random_graphs


def colours(graph: gg.GraphBatch, steps: int, edge_labels: bool) -> list[list]:
    """The colours of each vertex at each step as nested tuples, nothing hashed."""
    current = [(label,) for label in graph.labels.tolist()]
    bonds = {}
    values = graph.edge_labels if edge_labels else np.zeros(graph.n_edges, int)
    for (u, v), value in zip(graph.edges.tolist(), values.tolist(), strict=True):
        bonds.setdefault(u, []).append((value, v))
        bonds.setdefault(v, []).append((value, u))
    history = [[c] for c in current]
    for _ in range(steps):
        current = [
            (current[v], tuple(sorted((bond, current[w]) for bond, w in bonds.get(v, []))))
            for v in range(len(current))
        ]
        for v, colour in enumerate(current):
            history[v].append(colour)
    return history


def best_assignment(first: list[list], second: list[list]) -> float:
    similarity = np.array(
        [[sum(a == b for a, b in zip(u, v, strict=True)) for v in second] for u in first]
    )
    if not similarity.size:
        return 0.0
    rows, columns = linear_sum_assignment(similarity, maximize=True)
    return float(similarity[rows, columns].sum())


@pytest.mark.parametrize("edge_labels", [False, True])
def test_it_is_the_best_assignment(edge_labels):
    batch = random_graphs(12, seed=3, largest=9)
    steps = 3
    histories = [colours(graph, steps, edge_labels) for graph in batch]
    expected = [[best_assignment(a, b) for b in histories] for a in histories]
    kernel = gg.WLOptimalAssignment(steps, similarity="dot", edge_labels=edge_labels)
    np.testing.assert_array_equal(kernel.fit_transform(batch), expected)


def test_the_same_values_as_grakel():
    grakel = pytest.importorskip("grakel")
    batch = data_set("MUTAG")[:50]
    peer = grakel.WeisfeilerLehmanOptimalAssignment(n_iter=4, normalize=True)
    expected = peer.fit_transform(for_grakel(batch))
    ours = gg.WLOptimalAssignment(4).fit_transform(batch)
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


def test_a_linear_model_on_its_features_is_the_kernel():
    batch = random_graphs(10)
    X = gg.WLOptimalAssignment(output="features").fit_transform(batch)
    assert set(X.data.tolist()) == {1.0}
    K = gg.WLOptimalAssignment(similarity="dot").fit_transform(batch)
    np.testing.assert_array_equal((X @ X.T).toarray(), K)
