"""NSPDK against the definition of its paper, spelled out with networkx."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphgrain as gg
from tests.strategies import graphs as any_graph
from tests.strategies import to_tuple

from .peers import data_set, for_grakel, random_graphs


def as_networkx(graph):
    made = nx.Graph()
    for vertex, label in enumerate(graph.labels.tolist()):
        made.add_node(vertex, label=str(label))
    bonds = graph.edge_labels if graph.edge_labels is not None else np.zeros(graph.n_edges)
    for (u, v), bond in zip(graph.edges.tolist(), bonds.tolist(), strict=True):
        made.add_edge(u, v, label=str(bond))
    return made


def described(made, root, radius, edge_labels):
    """The invariant of a rooted neighbourhood: edges by their ends, ends by all distances."""
    part = nx.ego_graph(made, root, radius=radius)
    distance = dict(nx.all_pairs_shortest_path_length(part))
    vertex = {
        v: (
            distance[root][v],
            tuple(sorted((distance[v][w], part.nodes[w]["label"]) for w in part)),
        )
        for v in part
    }
    edges = tuple(
        sorted(
            (*sorted((vertex[u], vertex[v])), data["label"] if edge_labels else "")
            for u, v, data in part.edges(data=True)
        )
    )
    return edges or vertex[root]


def blocks(graph, radius, furthest, edge_labels):
    made = as_networkx(graph)
    apart = dict(nx.all_pairs_shortest_path_length(made, cutoff=furthest))
    result = []
    for r in range(radius + 1):
        balls = {v: described(made, v, r, edge_labels) for v in made}
        for d in range(furthest + 1):
            result.append(
                Counter(
                    tuple(sorted((balls[u], balls[v]), key=repr))
                    for u in made
                    for v, between in apart[u].items()
                    if between == d and u <= v
                )
            )
    return result


def cosine(first, second):
    product = sum(count * second[key] for key, count in first.items())
    norms = [sum(count**2 for count in one.values()) for one in (first, second)]
    return product / np.sqrt(norms[0] * norms[1]) if all(norms) else 0.0


def by_definition(batch, radius, furthest, edge_labels):
    found = [blocks(graph, radius, furthest, edge_labels) for graph in batch]
    return np.array([[sum(map(cosine, one, other)) for other in found] for one in found]).reshape(
        len(batch), len(batch)
    )


@pytest.mark.parametrize("edge_labels", [False, True])
@pytest.mark.parametrize(("radius", "furthest"), [(0, 0), (1, 2), (2, 3)])
def test_the_definition_of_the_paper(radius, furthest, edge_labels):
    batch = random_graphs(6, seed=1, largest=9, density=0.3)
    kernel = gg.NeighbourhoodPairs(radius, furthest, edge_labels=edge_labels, similarity="dot")
    expected = by_definition(batch, radius, furthest, edge_labels)
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-12)


@settings(max_examples=20)
@given(st.lists(any_graph(max_size=8), min_size=2, max_size=2))
def test_odd_graphs_too(pair):
    batch = gg.as_graphs([to_tuple(graph) for graph in pair])
    kernel = gg.NeighbourhoodPairs(2, 2, similarity="dot")
    expected = by_definition(batch, 2, 2, False)
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-12, atol=1e-12)


def test_every_block_weighs_the_same():
    batch = data_set("MUTAG")[:10]
    K = gg.NeighbourhoodPairs(2, 3, similarity="dot").fit_transform(batch)
    np.testing.assert_allclose(np.diag(K), 12.0, rtol=1e-12)


def test_grakel_agrees_where_it_means_the_same():
    """It counts ordered pairs, and its invariant of neighbourhoods is another one."""
    grakel = pytest.importorskip("grakel")
    batch = data_set("MUTAG")[:30]
    peer = grakel.NeighborhoodSubgraphPairwiseDistance(r=0, d=0, normalize=True)
    ours = gg.NeighbourhoodPairs(0, 0).fit_transform(batch)
    np.testing.assert_allclose(ours, peer.fit_transform(for_grakel(batch)), rtol=1e-12)
