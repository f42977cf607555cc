"""Wasserstein WL against linear programs for the cheapest transport."""

import numpy as np
import pytest
from scipy.optimize import linprog

import graphgrain as gg

from .peers import random_graphs
from .test_wl_optimal_assignment import colours


def cheapest_transport(costs):
    """Mean cost of moving n equal points onto m equal ones, as a linear program."""
    n, m = costs.shape
    rows = np.zeros((n + m, n * m))
    for u in range(n):
        rows[u, u * m : (u + 1) * m] = 1
    for v in range(m):
        rows[n + v, v::m] = 1
    sums = np.concatenate((np.full(n, 1 / n), np.full(m, 1 / m)))
    return linprog(costs.ravel(), A_eq=rows, b_eq=sums, method="highs").fun


@pytest.mark.parametrize("edge_labels", [False, True])
def test_labels_have_the_distances_of_the_cheapest_transport(edge_labels):
    batch = random_graphs(9, seed=2, largest=9)
    steps = 2
    histories = [colours(graph, steps, edge_labels) for graph in batch]

    def differing(first, second):
        """The share of steps in which the colours of two vertices differ, for all pairs."""
        return np.array(
            [[np.mean([a != b for a, b in zip(u, v, strict=True)]) for v in second] for u in first]
        )

    expected = [[cheapest_transport(differing(a, b)) for b in histories] for a in histories]
    kernel = gg.WassersteinWL(steps, gamma=2.0, edge_labels=edge_labels).fit(batch)
    np.testing.assert_allclose(kernel.distances(batch), expected, atol=1e-10)
    np.testing.assert_allclose(kernel.gram(), np.exp(-2 * np.array(expected)), atol=1e-10)


def with_attributes(batch, seed=0, width=2):
    rng = np.random.default_rng(seed)
    return gg.GraphBatch.from_edges(
        batch.vertex_counts,
        batch.edges,
        vertex_attributes=rng.normal(size=(batch.n_vertices, width)),
    )


def smoothed(graph, steps):
    A = np.zeros((graph.n_vertices, graph.n_vertices))
    for u, v in graph.edges.tolist():
        A[u, v] = A[v, u] = 1
    x = graph.vertex_attributes
    rows = [x]
    for _ in range(steps):
        mean = [x[A[v] > 0].mean(axis=0) if A[v].any() else x[v] for v in range(len(x))]
        x = (x + np.array(mean)) / 2
        rows.append(x)
    return np.hstack(rows)


def test_attributes_have_the_distances_of_the_cheapest_transport():
    batch = with_attributes(random_graphs(9, seed=4, largest=10))
    points = [smoothed(graph, 2) for graph in batch]
    expected = [
        [cheapest_transport(np.linalg.norm(x[:, None] - y, axis=2)) for y in points] for x in points
    ]
    kernel = gg.WassersteinWL(2, attributes=True).fit(batch)
    np.testing.assert_allclose(kernel.distances(batch), expected, atol=1e-8)
    np.testing.assert_allclose(kernel.gram(), np.exp(-np.array(expected)), atol=1e-8)
    np.testing.assert_allclose(
        kernel.transform(batch[4:6]), np.exp(-np.array(expected)[4:6]), atol=1e-8
    )


def test_transport_with_equal_and_repeated_points():
    """Ties everywhere: whole numbers, and as many points as fit into a few places."""
    rng = np.random.default_rng(1)
    sizes = [1, 7, 8, 12, 5]
    points = rng.integers(0, 3, size=(sum(sizes), 1)).astype(float)
    batch = gg.GraphBatch.from_edges(sizes, [], vertex_attributes=points)
    parts = np.split(points, np.cumsum(sizes)[:-1])
    expected = [[cheapest_transport(np.abs(x - y.T)) for y in parts] for x in parts]
    kernel = gg.WassersteinWL(0, attributes=True).fit(batch)
    np.testing.assert_allclose(kernel.distances(batch), expected, atol=1e-10)


def test_one_dimension_has_a_closed_form():
    rng = np.random.default_rng(2)
    batch = gg.GraphBatch.from_edges([40, 40], [], vertex_attributes=rng.normal(size=80))
    x, y = np.sort(batch.vertex_attributes[:40, 0]), np.sort(batch.vertex_attributes[40:, 0])
    kernel = gg.WassersteinWL(0, attributes=True).fit(batch)
    assert kernel.distances(batch)[0, 1] == pytest.approx(np.abs(x - y).mean())
