"""RetGK: return probabilities against powers of P, its MMD against brute force."""

import networkx as nx
import numpy as np
import pytest

import graphgrain as gg

from .peers import matrices_for_grakel, random_graphs, renumbered


def returns(A, steps):
    """The diagonal of P^s by repeated multiplication."""
    A = A + np.eye(len(A))
    P = A / A.sum(axis=1, keepdims=True)
    return np.array([np.diag(np.linalg.matrix_power(P, s)) for s in range(1, steps + 1)]).T


def brute_force(kernel, left, right, sigma_1):
    """MMD between all graphs of two batches, vertex pair by vertex pair."""

    def mean(G, H):
        (A, a), (B, b) = G, H
        r, s = returns(A, kernel.n_steps), returns(B, kernel.n_steps)
        total = sum(
            np.exp(-np.linalg.norm(r[v] - s[w]) / sigma_1)
            for v in range(len(A))
            for w in range(len(B))
            if a[v] == b[w]
        )
        return total / max(1, len(A) * len(B))

    left, right = matrices_for_grakel(left), matrices_for_grakel(right)
    return np.array(
        [[np.sqrt(max(0, mean(G, G) + mean(H, H) - 2 * mean(G, H))) for H in right] for G in left]
    )


def test_descriptions_are_the_diagonals_of_powers():
    batch = random_graphs(15, density=0.3)
    R = gg.ReturnProbability(n_steps=12)._descriptions(batch)
    expected = np.concatenate([returns(A, 12) for A, _ in matrices_for_grakel(batch)])
    np.testing.assert_allclose(R, expected, atol=1e-12)


def test_the_exact_form_equals_brute_force():
    batch = random_graphs(12, seed=1, largest=9)
    train, test = batch[:8], batch[8:]
    kernel = gg.ReturnProbability(n_steps=10)
    K = kernel.fit_transform(train)
    distance = brute_force(kernel, train, train, kernel.sigma_1_)
    sigma_2 = np.median(distance[np.triu_indices(8, 1)])
    assert kernel.sigma_2_ == pytest.approx(sigma_2)
    np.testing.assert_allclose(K, np.exp(-distance / sigma_2), atol=1e-6)
    distance = brute_force(kernel, test, train, kernel.sigma_1_)
    np.testing.assert_allclose(kernel.transform(test), np.exp(-distance / sigma_2), atol=1e-6)


def test_vertices_that_differ_only_in_rounding_errors_are_equal():
    """In a vertex-transitive graph all return probabilities are the same: only labels count."""
    petersen = nx.petersen_graph()
    made = [(list(petersen.edges), ["C"] * n + ["N"] * (10 - n)) for n in (10, 8, 5, 3)]
    kernel = gg.ReturnProbability()
    K = kernel.fit_transform(made)
    shares = np.array([[n / 10, 1 - n / 10] for n in (10, 8, 5, 3)])
    distance = np.linalg.norm(shares[:, None] - shares, axis=2)
    sigma_2 = np.median(distance[np.triu_indices(4, 1)])
    assert kernel.sigma_1_ == 1.0
    np.testing.assert_allclose(K, np.exp(-distance / sigma_2), atol=1e-6)
    other = renumbered(gg.as_graphs(made), 1)
    np.testing.assert_allclose(kernel.transform(other), K, atol=1e-6)


def test_sigma_1_is_the_median_distance_of_the_vertices():
    graph = random_graphs(1, seed=3, largest=40)
    five = gg.GraphBatch.from_edges([5], [(0, 1), (1, 2), (2, 3), (1, 3)])
    R = returns(matrices_for_grakel(five)[0][0], 50)
    pairs = [np.linalg.norm(R[v] - R[w]) for v in range(5) for w in range(v)]
    assert gg.ReturnProbability().fit(five).sigma_1_ == pytest.approx(np.median(pairs))
    assert gg.ReturnProbability().fit(graph).sigma_1_ > 0


def test_the_random_features_approach_their_kernel():
    batch = random_graphs(10, seed=2, labels=2)
    kernel = gg.ReturnProbability(approximate=True, n_components=40_000, gamma=3.0).fit(batch)
    distance = np.zeros((10, 10))
    graphs = [(returns(A, 50), labels) for A, labels in matrices_for_grakel(batch)]

    def mean(G, H):
        (r, a), (s, b) = G, H
        return np.mean(
            [
                [np.exp(-3.0 * np.sum((x - y) ** 2)) * (a[v] == b[w]) for w, y in enumerate(s)]
                for v, x in enumerate(r)
            ]
        )

    for i, G in enumerate(graphs):
        for j, H in enumerate(graphs):
            distance[i, j] = np.sqrt(max(0, mean(G, G) + mean(H, H) - 2 * mean(G, H)))
    np.testing.assert_allclose(kernel._distance, distance, atol=0.02)


@pytest.mark.parametrize("approximate", [False, True])
def test_does_not_depend_on_vertex_numbers(approximate):
    batch = random_graphs(20)
    kernel = gg.ReturnProbability(approximate=approximate)
    np.testing.assert_allclose(
        kernel.fit_transform(renumbered(batch)), kernel.fit_transform(batch), atol=1e-6
    )


@pytest.mark.parametrize("approximate", [False, True])
def test_new_labels_match_nothing(approximate):
    batch = random_graphs(6, labels=2)
    kernel = gg.ReturnProbability(approximate=approximate).fit(batch)
    other = batch.with_labels(batch.labels + 100)
    own = kernel._own
    expected = np.exp(-np.sqrt(own[:, None] + own) / kernel.sigma_2_)
    np.testing.assert_allclose(kernel.transform(other), expected, rtol=1e-9)
