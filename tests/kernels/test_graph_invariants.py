"""Graph invariant kernels against the double sum over patterns and vertices, with networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphgrain as gg
from tests.strategies import graphs as any_graph
from tests.strategies import to_tuple

from .peers import data_set, random_graphs
from .test_graph_hopper import with_attributes


def as_networkx(graph):
    made = nx.Graph()
    for vertex, label in enumerate(graph.labels.tolist()):
        made.add_node(vertex, label=label)
    bonds = graph.edge_labels if graph.edge_labels is not None else np.zeros(graph.n_edges)
    for (u, v), bond in zip(graph.edges.tolist(), bonds.tolist(), strict=True):
        made.add_edge(u, v, label=bond)
    return made


def colours(made, n_iter, edge_labels):
    """For each vertex its colour after 0, 1, ... steps, as nested tuples: nothing is hashed."""
    steps = [{v: made.nodes[v]["label"] for v in made}]
    for _ in range(n_iter):
        last = steps[-1]
        steps.append(
            {
                v: (
                    last[v],
                    tuple(
                        sorted(
                            (
                                (last[w], made.edges[v, w]["label"] if edge_labels else 0)
                                for w in made[v]
                            ),
                            key=repr,
                        )
                    ),
                )
                for v in made
            }
        )
    return {v: [step[v] for step in steps] for v in made}


def patterns(graph, radius, n_iter, invariant, match, edge_labels):
    """All neighbourhoods: what must match, the number of vertices, the colours of each vertex."""
    made = as_networkx(graph)
    whole = colours(made, n_iter, edge_labels)
    found = []
    for root in made:
        part = nx.ego_graph(made, root, radius=radius)
        inside = colours(part, n_iter, edge_labels)
        key = sorted((seen[-1] for seen in inside.values()), key=repr)
        found.append(
            (
                key if match == "colours" else len(part),
                len(part),
                {v: inside[v] if invariant == "local" else whole[v] for v in part},
            )
        )
    return found


def compared(first, second, similarity):
    total = 0.0
    for key, size, members in first:
        for other_key, other_size, other_members in second:
            if key != other_key:
                continue
            for v, seen in members.items():
                for w, other_seen in other_members.items():
                    same = sum(a == b for a, b in zip(seen, other_seen, strict=True))
                    if same:
                        total += same * similarity(v, w) / (size * other_size)
    return total


def by_definition(batch, radius, *how, similarity=None):
    K = np.zeros((len(batch), len(batch)))
    starts = batch.offsets.tolist()
    for r in range(radius + 1):
        found = [patterns(graph, r, *how) for graph in batch]
        for i, one in enumerate(found):
            for j, other in enumerate(found):

                def alike(v, w, i=i, j=j):
                    return similarity(starts[i] + v, starts[j] + w) if similarity else 1.0

                K[i, j] += compared(one, other, alike)
    return K


@pytest.mark.parametrize("edge_labels", [False, True])
@pytest.mark.parametrize("match", ["colours", "size"])
@pytest.mark.parametrize("invariant", ["local", "global"])
def test_the_sum_over_all_patterns_and_vertices(invariant, match, edge_labels):
    batch = random_graphs(6, seed=3, largest=9, density=0.3)
    kernel = gg.GraphInvariants(
        2, 2, invariant=invariant, match=match, edge_labels=edge_labels, similarity="dot"
    )
    expected = by_definition(batch, 2, 2, invariant, match, edge_labels)
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-12)
    fitted = gg.GraphInvariants(**kernel.get_params()).fit(batch[:3])
    np.testing.assert_allclose(fitted.transform(batch[3:]), expected[3:, :3], rtol=1e-12)


@settings(max_examples=25)
@given(
    st.lists(any_graph(max_size=7), min_size=2, max_size=2),
    st.sampled_from(["local", "global"]),
    st.integers(0, 2),
    st.integers(0, 3),
)
def test_odd_graphs_too(pair, invariant, radius, n_iter):
    batch = gg.as_graphs([to_tuple(graph) for graph in pair])
    kernel = gg.GraphInvariants(radius, n_iter, invariant=invariant, similarity="dot")
    expected = by_definition(batch, radius, n_iter, invariant, "colours", False)
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-12, atol=1e-12)


def test_radius_0_is_the_vertex_histogram_once_for_every_step():
    """A vertex alone has no neighbours, so that its colour says no more than its label."""
    batch = data_set("MUTAG")[:20]
    alone = gg.GraphInvariants(0, 3, similarity="dot").fit_transform(batch)
    np.testing.assert_allclose(
        alone, 4 * gg.VertexHistogram(similarity="dot").fit_transform(batch), rtol=1e-12
    )


def test_patterns_of_one_size_without_structure_are_weisfeiler_lehman():
    """At radius 0 all patterns are one vertex: global colours are counted as WL counts them."""
    batch = data_set("MUTAG")[:20]
    kernel = gg.GraphInvariants(0, 3, invariant="global", match="size", similarity="dot")
    expected = gg.WeisfeilerLehman(3, similarity="dot").fit_transform(batch)
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-12)


def test_a_local_invariant_does_not_see_beyond_the_pattern():
    """Two long rings differ in nothing that a small neighbourhood shows."""
    rings = gg.as_graphs([(list(nx.cycle_graph(n).edges), [0] * n) for n in (9, 12)])
    K = gg.GraphInvariants(2, 5).fit_transform(rings)
    np.testing.assert_allclose(K, 1.0, rtol=1e-12)


def test_neighbourhoods_with_equal_labels_and_other_edges_do_not_match():
    triangle = ([(0, 1), (1, 2), (0, 2)], [0, 0, 0])
    star = ([(0, 1), (0, 2)], [0, 0, 0])
    kernel = gg.GraphInvariants(1, 2, similarity="dot").fit([triangle, star])
    by_radius = kernel.gram_levels()
    assert by_radius[0, 0, 1] == by_radius[1, 0, 1] == 27.0  # 3 x 3 single vertices, 3 steps


@pytest.mark.parametrize("invariant", ["local", "global"])
@pytest.mark.parametrize("vertex_kernel", ["gaussian", "linear"])
def test_attributes_on_all_patterns_and_vertices(vertex_kernel, invariant):
    batch = with_attributes(random_graphs(5, seed=6, largest=7, density=0.4))
    x = batch.vertex_attributes

    def similarity(u, v):
        if vertex_kernel == "linear":
            return x[u] @ x[v]
        return np.exp(-0.3 * ((x[u] - x[v]) ** 2).sum())

    kernel = gg.AttributedGraphInvariants(
        vertex_kernel, radius=2, n_iter=2, gamma=0.3, invariant=invariant, similarity="dot"
    )
    expected = by_definition(batch, 2, 2, invariant, "colours", False, similarity=similarity)
    K = kernel.fit_transform(batch)
    np.testing.assert_allclose(K, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(kernel.transform(batch[::-1]), expected[::-1], rtol=1e-10)
    assert np.linalg.eigvalsh(K)[0] > -1e-9 * np.linalg.eigvalsh(K)[-1]
    scaled = kernel.set_params(similarity="cosine").transform(batch)
    roots = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(scaled, expected / np.outer(roots, roots), atol=1e-10)


def test_attributes_that_are_all_equal_leave_the_kernel_for_labels():
    batch = random_graphs(8, seed=9)
    same = gg.GraphBatch.from_edges(
        batch.vertex_counts,
        batch.edges,
        batch.labels,
        vertex_attributes=np.ones((batch.n_vertices, 1)),
    )
    kernel = gg.AttributedGraphInvariants(match="size", invariant="global", n_jobs=2)
    expected = gg.GraphInvariants(match="size", invariant="global").fit_transform(batch)
    np.testing.assert_allclose(kernel.fit_transform(same), expected, rtol=1e-12)
