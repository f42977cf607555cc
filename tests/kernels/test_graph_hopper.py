"""GraphHopper against the comparison of all pairs of shortest paths, and against GraKeL."""

import networkx as nx
import numpy as np
import pytest

import graphgrain as gg

from .peers import data_set, matrices_for_grakel, random_graphs


def shortest_paths(graph):
    """All shortest paths between all ordered pairs, single vertices included."""
    made = nx.empty_graph(graph.n_vertices)
    made.add_edges_from(graph.edges.tolist())
    paths = [[v] for v in made]
    for source in made:
        for target in nx.node_connected_component(made, source) - {source}:
            paths += nx.all_shortest_paths(made, source, target)
    return paths


def compared(first, second, similarity):
    return sum(
        sum(similarity(u, v) for u, v in zip(one, other, strict=True))
        for one in first
        for other in second
        if len(one) == len(other)
    )


def by_definition(batch, similarity):
    paths = [
        [[base + v for v in path] for path in shortest_paths(graph)]
        for base, graph in zip(batch.offsets.tolist(), batch, strict=False)
    ]
    return np.array([[compared(a, b, similarity) for b in paths] for a in paths])


def test_the_sum_over_all_pairs_of_shortest_paths():
    batch = random_graphs(6, seed=4, largest=7, density=0.4)
    labels = batch.labels
    expected = by_definition(batch, lambda u, v: labels[u] == labels[v])
    np.testing.assert_array_equal(gg.GraphHopper(similarity="dot").fit_transform(batch), expected)


def test_many_shortest_paths():
    """Between opposite corners of a grid there are binomially many."""
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 4))
    batch = gg.as_graphs([(list(grid.edges), [0] * 16)])
    kernel = gg.GraphHopper(output="features")
    X = kernel.fit_transform(batch).toarray()[0]
    named = dict(zip(kernel.feature_names(), X, strict=True))
    assert named["0 at 6 of 6"] == 4 * 20  # from each corner to the opposite one: 6 choose 3


def one_hot(batch):
    hot = np.eye(len(batch.label_table))
    return [
        [A, dict(enumerate(hot[codes].tolist()))]
        for (A, _), codes in zip(
            matrices_for_grakel(batch),
            np.split(batch.label_codes, batch.offsets[1:-1]),
            strict=True,
        )
    ]


def test_the_same_values_as_grakel():
    grakel = pytest.importorskip("grakel")
    batch = data_set("MUTAG")[:25]  # GraKeL fails on isolated vertices
    theirs = grakel.GraphHopper(kernel_type="linear").fit_transform(one_hot(batch))
    ours = gg.GraphHopper(similarity="dot").fit_transform(batch)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def with_attributes(batch, seed=0):
    rng = np.random.default_rng(seed)
    return gg.GraphBatch.from_edges(
        batch.vertex_counts,
        batch.edges,
        batch.labels,
        vertex_attributes=rng.normal(size=(batch.n_vertices, 2)),
    )


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("vertex_kernel", ["gaussian", "linear"])
def test_attributes_on_all_pairs_of_shortest_paths(vertex_kernel, labels):
    batch = with_attributes(random_graphs(5, seed=6, largest=6, density=0.4))
    x, names = batch.vertex_attributes, batch.labels

    def similarity(u, v):
        if labels and names[u] != names[v]:
            return 0.0
        if vertex_kernel == "linear":
            return x[u] @ x[v]
        return np.exp(-0.3 * ((x[u] - x[v]) ** 2).sum())

    kernel = gg.AttributedGraphHopper(vertex_kernel, gamma=0.3, labels=labels, similarity="dot")
    expected = by_definition(batch, similarity)
    K = kernel.fit_transform(batch)
    np.testing.assert_allclose(K, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(
        kernel.transform(batch[::-1]), expected[::-1], rtol=1e-10, atol=1e-10
    )
    scaled = kernel.set_params(similarity="cosine").transform(batch)
    roots = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(scaled, expected / np.outer(roots, roots), atol=1e-10)


def test_attributes_far_from_zero_are_compared_by_their_differences():
    batch = with_attributes(random_graphs(5, seed=6, largest=6, density=0.4))
    far = gg.GraphBatch.from_edges(
        batch.vertex_counts, batch.edges, batch.labels,
        vertex_attributes=np.round(batch.vertex_attributes, 2) + 2.0**30,
    )  # fmt: skip
    near = gg.GraphBatch.from_edges(
        batch.vertex_counts, batch.edges, batch.labels,
        vertex_attributes=far.vertex_attributes - 2.0**30,
    )  # fmt: skip
    K = gg.AttributedGraphHopper(gamma=0.3).fit_transform(far)
    np.testing.assert_allclose(K, gg.AttributedGraphHopper(gamma=0.3).fit_transform(near))


def test_places_that_do_not_fit_into_memory_are_refused(monkeypatch):
    """A path has long shortest paths, a grid many of them."""
    monkeypatch.setattr("graphgrain.core.memory.available_memory", lambda: 1 << 30)
    path = gg.GraphBatch.from_edges(
        [1200], [(v, v + 1) for v in range(1199)], vertex_attributes=np.zeros(1200)
    )
    with pytest.raises(gg.errors.NotEnoughMemoryError, match="paths of up to 1,199 edges"):
        gg.AttributedGraphHopper().fit(path)
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(14, 14))
    with pytest.raises(gg.errors.NotEnoughMemoryError, match="listed one by one"):
        gg.GraphHopper().locate([(list(grid.edges), [0] * 196)])


def test_attributes_as_grakel_has_them():
    grakel = pytest.importorskip("grakel")
    batch = with_attributes(data_set("MUTAG")[:12])
    graphs = [
        [A, dict(enumerate(graph.vertex_attributes.tolist()))]
        for (A, _), graph in zip(matrices_for_grakel(batch), batch, strict=True)
    ]
    theirs = grakel.GraphHopper(kernel_type=("gaussian", 0.5)).fit_transform(graphs)
    ours = gg.AttributedGraphHopper(gamma=0.5, labels=False, similarity="dot").fit_transform(batch)
    np.testing.assert_allclose(ours, theirs, rtol=1e-8)
