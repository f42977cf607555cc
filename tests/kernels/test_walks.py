"""Random walk and marginalised kernels against their product graphs, and against GraKeL."""

import networkx as nx
import numpy as np
import pytest

import graphgrain as gg

from .peers import data_set, matrices_for_grakel, random_graphs


def parts(graph):
    """Adjacency matrix, labels and matrix of edge labels (-1: no edge)."""
    n = graph.n_vertices
    A, bonds = np.zeros((n, n)), np.full((n, n), -1)
    values = graph.edge_labels if graph.edge_labels is not None else np.zeros(graph.n_edges, int)
    for (u, v), value in zip(graph.edges.tolist(), values.tolist(), strict=True):
        A[u, v] = A[v, u] = 1
        bonds[u, v] = bonds[v, u] = value
    return A, graph.labels, bonds


def product_graph(first, second, labels, edge_labels):
    """Adjacency of the product graph as a dense matrix, and its vertices as pairs."""
    (A, a, e), (B, b, f) = parts(first), parts(second)
    pairs = [(u, v) for u in range(len(A)) for v in range(len(B)) if not labels or a[u] == b[v]]
    X = np.array(
        [
            [A[u, x] * B[v, y] * (not edge_labels or e[u, x] == f[v, y]) for x, y in pairs]
            for u, v in pairs
        ]
    ).reshape(len(pairs), len(pairs))
    return X, pairs


@pytest.mark.parametrize("edge_labels", [False, True])
@pytest.mark.parametrize("labels", [False, True])
def test_walks_of_any_length_are_the_inverse_of_the_product_graph(labels, edge_labels):
    batch = random_graphs(8, seed=1, largest=7, density=0.4)
    expected = np.zeros((8, 8))
    for i, one in enumerate(batch):
        for j, other in enumerate(batch):
            X, pairs = product_graph(one, other, labels, edge_labels)
            ones = np.ones(len(pairs))
            expected[i, j] = ones @ np.linalg.solve(np.eye(len(pairs)) - 0.02 * X, ones)
    kernel = gg.RandomWalk(decay=0.02, labels=labels, edge_labels=edge_labels, similarity="dot")
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-11)
    np.testing.assert_allclose(kernel.transform(batch[3:5]), expected[3:5], rtol=1e-11)


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("share", [1e-6, 0.9, 0.9999])
def test_the_sum_stays_exact_near_the_decay_where_it_becomes_infinite(share, labels):
    batch = random_graphs(6, seed=4, largest=9, density=0.5)
    limit = 2.0 * gg.RandomWalk().fit(batch).decay_
    expected = np.zeros((6, 6))
    for i, one in enumerate(batch):
        for j, other in enumerate(batch):
            X, pairs = product_graph(one, other, labels, False)
            ones = np.ones(len(pairs))
            expected[i, j] = ones @ np.linalg.solve(np.eye(len(pairs)) - share * limit * X, ones)
    kernel = gg.RandomWalk(decay=share * limit, labels=labels, similarity="dot")
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-10)


def test_graphs_without_a_common_label_have_no_common_walk():
    graphs = [([(0, 1)], [1, 2]), ([(0, 1)], [3, 4]), ([], [0]), ([(0, 1), (1, 2)], [4, 1, 5])]
    for kernel in (gg.RandomWalk(decay=0.1, similarity="dot"), gg.Marginalized(similarity="dot")):
        K = kernel.fit_transform(graphs)
        assert ((K > 0) == [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0], [1, 1, 0, 1]]).all()
        np.testing.assert_allclose(kernel.transform(graphs[::-1]), K[::-1], rtol=1e-14)


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_walks_of_few_steps_are_powers_of_the_product_graph(steps):
    batch = random_graphs(6, seed=2, largest=7, density=0.4)
    expected = np.zeros((6, 6))
    for i, one in enumerate(batch):
        for j, other in enumerate(batch):
            X, _ = product_graph(one, other, True, False)
            expected[i, j] = sum(
                0.3**k * np.linalg.matrix_power(X, k).sum() for k in range(steps + 1)
            )
    kernel = gg.RandomWalk(steps, decay=0.3, similarity="dot")
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-12)


def test_the_default_decay_is_half_of_the_limit():
    batch = random_graphs(10, seed=3)
    made = [nx.from_numpy_array(A) for A, _ in matrices_for_grakel(batch)]
    largest = max(np.linalg.eigvalsh(nx.to_numpy_array(graph))[-1] for graph in made)
    assert gg.RandomWalk().fit(batch).decay_ == pytest.approx(0.5 / largest**2, rel=1e-9)
    star = gg.GraphBatch.from_edges([901], [(0, leaf) for leaf in range(1, 901)])
    assert gg.RandomWalk().fit(star).decay_ == pytest.approx(0.5 / 900, rel=1e-9)


def test_the_default_decay_of_a_large_graph_that_ends_with_isolated_vertices():
    n = 700  # a cycle with a chord, whose largest eigenvalue is found by iteration
    edges = [(v, (v + 1) % 600) for v in range(600)] + [(0, 300)]
    kernel = gg.RandomWalk(1).fit(gg.GraphBatch.from_edges([n], edges))
    A = nx.to_numpy_array(nx.Graph(edges))
    assert kernel.decay_ == pytest.approx(1 / (2 * np.linalg.eigvalsh(A)[-1] ** 2), rel=1e-9)


def test_infinite_sums_are_refused():
    batch = random_graphs(4, seed=3)
    complete = gg.as_graphs([([(u, v) for v in range(9) for u in range(v)], [0] * 9)])
    with pytest.raises(gg.errors.InvalidParameterError, match="decay must be below 1 / r"):
        gg.RandomWalk(decay=1.0 / 64).fit(complete)
    kernel = gg.RandomWalk().fit(batch)
    with pytest.raises(gg.errors.InvalidParameterError, match="Set a smaller decay, or n_steps"):
        kernel.transform(complete)
    assert np.isfinite(gg.RandomWalk(3, decay=1.0).fit_transform(complete)).all()


def test_the_same_values_as_grakel_but_for_walks_without_a_step():
    """Those it counts for vertices with different labels, too."""
    grakel = pytest.importorskip("grakel")
    batch = data_set("MUTAG")[:8]
    peer = grakel.RandomWalkLabeled(lamda=0.02, kernel_type="geometric", method_type="baseline")
    theirs = peer.fit_transform(matrices_for_grakel(batch))
    ours = gg.RandomWalk(decay=0.02, similarity="dot").fit_transform(batch)
    sizes = batch.vertex_counts
    alike = gg.VertexHistogram(similarity="dot").fit_transform(batch)
    np.testing.assert_allclose(ours, theirs - np.outer(sizes, sizes) + alike, rtol=1e-8)


@pytest.mark.parametrize("method", ["fast", "baseline"])
def test_walks_without_labels_have_the_same_values_as_in_grakel(method):
    grakel = pytest.importorskip("grakel")
    batch = data_set("MUTAG")[:8]
    peer = grakel.RandomWalk(lamda=0.02, kernel_type="geometric", method_type=method)
    theirs = peer.fit_transform(matrices_for_grakel(batch))
    ours = gg.RandomWalk(decay=0.02, labels=False, similarity="dot").fit_transform(batch)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("edge_labels", [False, True])
def test_marginalised_kernel_by_its_linear_system(edge_labels):
    batch = random_graphs(7, seed=5, largest=6, density=0.3)
    stop = 0.3
    expected = np.zeros((7, 7))
    for i, one in enumerate(batch):
        for j, other in enumerate(batch):
            X, pairs = product_graph(one, other, True, edge_labels)
            d, e = one.degrees, other.degrees
            go = np.array(
                [((1 - stop) / max(d[u], 1)) * ((1 - stop) / max(e[v], 1)) for u, v in pairs]
            )
            ends = np.array([(stop if d[u] else 1) * (stop if e[v] else 1) for u, v in pairs])
            reach = np.linalg.solve(np.eye(len(pairs)) - go[:, None] * X, ends)
            expected[i, j] = reach.sum() / (len(d) * len(e))
    kernel = gg.Marginalized(stop, edge_labels=edge_labels, similarity="dot")
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-11)


def test_walks_read_the_same_labels_as_often_as_drawn_ones():
    """The probability, estimated by walking."""
    rng = np.random.default_rng(0)
    batch = gg.as_graphs([([(0, 1), (1, 2)], [1, 1, 2]), ([(0, 1), (1, 2), (0, 2)], [1, 1, 2])])
    stop = 0.5

    def walk(graph):
        neighbours = {v: [] for v in range(3)}
        for u, v in graph.edges.tolist():
            neighbours[u].append(v)
            neighbours[v].append(u)
        at = int(rng.integers(3))
        read = [int(graph.labels[at])]
        while rng.random() > stop:
            at = int(rng.choice(neighbours[at]))
            read.append(int(graph.labels[at]))
        return tuple(read)

    drawn = np.mean([walk(batch[0]) == walk(batch[1]) for _ in range(4000)])
    K = gg.Marginalized(stop, similarity="dot").fit_transform(batch)
    assert K[0, 1] == pytest.approx(drawn, abs=0.03)
