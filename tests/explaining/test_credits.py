"""Credits of vertices and edges: the mean over all shortest paths, whatever the numbering."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import graphgrain as gg
from tests.kernels.found_kernels import EXPLICIT
from tests.oracle import Graph
from tests.strategies import graphs, renumbered, to_tuple


def truncated_icosahedron() -> nx.Graph:
    """The graph of C60: every vertex of an icosahedron becomes a ring of five."""
    solid, ball = nx.icosahedral_graph(), nx.Graph()
    for u, v in solid.edges:
        ball.add_edge((u, v), (v, u))
    for u in solid:
        ball.add_edges_from(((u, v), (u, w)) for v, w in solid.subgraph(solid[u]).edges)
    return ball


def sandwich(ring: int) -> nx.Graph:
    """A metal between two rings, as in ferrocene."""
    made = nx.disjoint_union(nx.cycle_graph(ring), nx.cycle_graph(ring))
    made.add_edges_from(("Fe", vertex) for vertex in range(2 * ring))
    return made


SYMMETRIC = {
    "cubane": nx.hypercube_graph(3),
    "C60": truncated_icosahedron(),
    "prismane": nx.circular_ladder_graph(3),
    "ferrocene": sandwich(5),
    "grid": nx.grid_2d_graph(4, 5),
    "complete bipartite": nx.complete_bipartite_graph(3, 5),
    "petersen": nx.petersen_graph(),
    "disconnected": nx.disjoint_union_all(
        [nx.cycle_graph(6), nx.cycle_graph(6), nx.path_graph(4), nx.empty_graph(2)]
    ),
    "adamantane": nx.Graph(
        [(c, f"{min(c, d)}{max(c, d)}") for c in "abcd" for d in "abcd" if c != d]
    ),
}


def numbered(graph: nx.Graph, order: np.ndarray, label: str = "C") -> tuple:
    """The graph with its vertices in another order."""
    place = dict(zip(np.array([*graph, None], dtype=object)[order], range(len(graph)), strict=True))
    labels = ["Fe" if vertex == "Fe" else label for vertex in place]
    edges = [(place[u], place[v]) for u, v in graph.edges]
    bonds = [1 + (u == "Fe" or v == "Fe") for u, v in graph.edges]
    return edges, labels, bonds


def with_weights(kernel, batch, seed=0):
    """A linear model whose weights are a random function of the patterns."""
    width = int(kernel.fit(batch).level_offsets_[-1])
    final = LogisticRegression()
    final.classes_, final.intercept_ = np.array([0, 1]), np.zeros(1)
    final.coef_ = np.random.default_rng(seed).normal(size=(1, width))
    return make_pipeline(kernel, final)


@pytest.mark.parametrize("share", ["path", "tree"])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_renumbering_permutes_the_credits(name, share):
    graph = SYMMETRIC[name]
    n = len(graph)
    rng = np.random.default_rng(0)
    orders = [np.arange(n), *(rng.permutation(n) for _ in range(3))]
    batch = gg.as_graphs([numbered(graph, order) for order in orders])
    kernels = [
        gg.TreePlusPlus(4, 2, output="features", edge_labels=True),
        gg.TreePlusPlus(5, 1, output="features", centrality=None),
        gg.ShortestPath(output="features", edge_labels=True),
    ]
    for kernel in kernels:
        expected = None
        for order, why in zip(
            orders, gg.explain(with_weights(kernel, batch), batch, share=share), strict=True
        ):
            vertices, edges = np.empty(n), {}
            vertices[order] = why.vertices
            for (u, v), value in zip(why.graph.edges.tolist(), why.edges, strict=True):
                edges[frozenset((int(order[u]), int(order[v])))] = value
            assert np.isclose(why.vertices.sum(), why.decision, rtol=1e-12, atol=1e-12)
            found = np.array([*vertices, *(edges[key] for key in sorted(edges, key=sorted))])
            expected = found if expected is None else expected
            limit = 1e-12 * max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(found, expected, rtol=0, atol=limit)


@pytest.mark.parametrize("share", ["path", "tree"])
@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_vertices_have_equal_credits(name, share):
    """Orbits are found by networkx: vertices are exchanged by an isomorphism that marks them."""
    graph = nx.convert_node_labels_to_integers(SYMMETRIC[name], label_attribute="name")
    batch = gg.as_graphs([numbered(SYMMETRIC[name], np.arange(len(graph)))])
    kernel = gg.TreePlusPlus(4, 1, output="features")
    [why] = gg.explain(with_weights(kernel, batch), batch, share=share)
    limit = 1e-12 * max(1.0, np.abs(why.vertices).max())

    def marked(vertex):
        copied = graph.copy()
        nx.set_node_attributes(copied, {v: (v == vertex, graph.degree[v]) for v in graph}, "mark")
        return copied

    orbits: list[int] = []
    for vertex in graph:
        for first in orbits:
            if nx.vf2pp_is_isomorphic(marked(first), marked(vertex), node_label="mark"):
                assert abs(why.vertices[vertex] - why.vertices[first]) <= limit
                break
        else:
            orbits.append(vertex)
    assert (len(orbits) == 1) == (name in ("cubane", "C60", "prismane", "petersen"))


def of_edges(labels, edges):
    return Graph(list(labels), {frozenset(edge): bond for *edge, bond in edges})


#: One path that spells CCOC from 0 to 5, and two that spell it from 5 to 0.
BOTH_WAYS = of_edges(
    "CCOOCCOC",
    [(0, 1, 1), (1, 2, 1), (2, 5, 1), (0, 3, 1), (3, 4, 1), (4, 5, 1), (0, 6, 1), (6, 7, 1),
     (7, 5, 1)],
)  # fmt: skip
#: Three of the four paths from 0 to 5 have equal bonds.
ANOTHER_BOND = of_edges(
    "CCCCCC",
    [(0, 1, 1), (0, 2, 1), (1, 3, 1), (1, 4, 7), (2, 3, 1), (2, 4, 1), (3, 5, 1), (4, 5, 1)],
)


@settings(max_examples=40, deadline=None)
@given(graphs(max_size=9), st.booleans(), st.integers(0, 2))
@example(BOTH_WAYS, False, 0)
@example(ANOTHER_BOND, True, 0)
def test_credits_are_means_over_all_shortest_paths(graph, edge_labels, level):
    """Against the obvious sum over all shortest paths, found by networkx."""
    batch = gg.as_graphs([to_tuple(graph)])
    kernel = gg.TreePlusPlus(4, level, output="features", edge_labels=edge_labels)
    assume(kernel.fit(batch).level_offsets_[-1])
    model = with_weights(kernel, batch)
    [why] = gg.explain(model, batch, share="path")
    whole = nx.Graph([tuple(edge) for edge in graph.edges])
    whole.add_nodes_from(range(len(graph.labels)))
    vertices = np.zeros(len(graph.labels))
    edges = dict.fromkeys(map(tuple, batch.edges.tolist()), 0.0)
    for number, occurrences in enumerate(kernel.locate(batch)):
        offset = kernel.level_offsets_[number]

        def spelled(path, codes=occurrences.spelling.codes):
            bonds = [graph.edges[frozenset(step)] if edge_labels else 0 for step in pairwise(path)]
            sequence = [int(codes[path[0]])]
            for bond, vertex in zip(bonds, path[1:], strict=True):
                sequence += [bond, int(codes[vertex])]
            return sequence

        for code, row in zip(occurrences.hashes, occurrences.paths.tolist(), strict=True):
            row = [vertex for vertex in row if vertex >= 0]
            wanted = spelled(row)
            paths = [
                path
                for path in nx.all_shortest_paths(whole, row[0], row[-1])
                if spelled(path) in (wanted, wanted[::-1])
            ]
            column = offset + int(np.searchsorted(kernel.vocabulary_[number], code))
            value = model[-1].coef_[0, column] / len(paths)
            for path in paths:
                vertices[path] += value / len(path)
                for step in pairwise(path):
                    edges[tuple(sorted(step))] += value / (len(path) - 1)
    np.testing.assert_allclose(why.vertices, vertices, atol=1e-11)
    np.testing.assert_allclose(why.edges, list(edges.values()), atol=1e-11)


@settings(max_examples=20, deadline=None)
@given(graphs(max_size=8), st.randoms())
@pytest.mark.parametrize("Kernel", EXPLICIT, ids=lambda kernel: kernel.__name__)
def test_renumbering_with_every_kernel(Kernel, graph, random):
    n = len(graph.labels)
    permutation = list(range(n))
    random.shuffle(permutation)
    batch = gg.as_graphs([to_tuple(graph), to_tuple(renumbered(graph, permutation))])
    kernel = Kernel(output="features").fit(batch)
    assume(kernel.level_offsets_[-1])
    model = with_weights(kernel, batch)
    first, second = gg.explain(model, batch)
    assert np.allclose(first.decision, second.decision, rtol=1e-12)
    limit = 1e-11 * max(1.0, np.abs(first.vertices).max(initial=0.0))
    np.testing.assert_allclose(second.vertices[permutation], first.vertices, rtol=0, atol=limit)
    before = {
        frozenset(permutation[v] for v in edge): value
        for edge, value in zip(first.graph.edges.tolist(), first.edges, strict=True)
    }
    for edge, value in zip(second.graph.edges.tolist(), second.edges, strict=True):
        assert abs(before[frozenset(edge)] - value) <= limit


def test_a_pattern_and_its_reverse_give_the_same_credits():
    """Two shortest paths from C to N, by C->O and by O->C: neither end decides which counts."""
    labels = ["C", "C", "O", "O", "C", "C"]
    edges = [(0, 1), (1, 2), (2, 5), (0, 3), (3, 4), (4, 5)]
    batch = gg.as_graphs([(edges, labels)])
    [why] = gg.explain(with_weights(gg.PathPattern(3, output="features"), batch), batch)
    np.testing.assert_allclose(why.vertices, why.vertices[[5, 4, 3, 2, 1, 0]], atol=1e-12)
