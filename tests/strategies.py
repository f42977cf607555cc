"""Random labelled graphs for Hypothesis: of every shape, with many equal labels."""

from __future__ import annotations

import networkx as nx
from hypothesis import strategies as st

from .oracle import Graph

SHAPES = [
    lambda n, seed: nx.empty_graph(n),
    lambda n, seed: nx.path_graph(n),
    lambda n, seed: nx.cycle_graph(n) if n > 2 else nx.path_graph(n),
    lambda n, seed: nx.complete_graph(n),
    lambda n, seed: nx.star_graph(max(n - 1, 0)) if n else nx.Graph(),
    lambda n, seed: nx.random_labeled_tree(n, seed=seed) if n else nx.Graph(),
    lambda n, seed: nx.complete_bipartite_graph(n // 2, n - n // 2),
    lambda n, seed: nx.random_regular_graph(3, n + n % 2, seed=seed) if n > 3 else nx.path_graph(n),
    lambda n, seed: nx.gnp_random_graph(n, 0.15, seed=seed),
    lambda n, seed: nx.gnp_random_graph(n, 0.4, seed=seed),
    lambda n, seed: nx.disjoint_union(
        nx.cycle_graph(3 + n // 4), nx.gnp_random_graph(n // 2, 0.3, seed=seed)
    ),
    lambda n, seed: nx.grid_2d_graph(2 + n % 2, 1 + n // 3),
]


@st.composite
def graphs(draw: st.DrawFn, max_size: int = 10, strings: bool | None = None) -> Graph:
    """One graph with vertex and edge labels, integers or strings."""
    shape = draw(st.sampled_from(SHAPES))
    made = nx.convert_node_labels_to_integers(
        shape(draw(st.integers(0, max_size)), draw(st.integers(0, 999)))
    )
    palette = [0, 1, 7, -3] if not strings else ["C", "N", "Cl", ""]
    few = draw(st.integers(1, len(palette)))
    labels = st.sampled_from(palette[:few])
    n, m = made.number_of_nodes(), made.number_of_edges()
    vertex_labels = draw(st.lists(labels, min_size=n, max_size=n))
    edge_labels = draw(st.lists(labels, min_size=m, max_size=m))
    edges = {frozenset(edge): e for edge, e in zip(made.edges, edge_labels, strict=True)}
    return Graph(vertex_labels, edges)


def to_tuple(graph: Graph) -> tuple:
    """The form that graphgrain.as_graphs takes."""
    pairs = [tuple(sorted(edge)) for edge in graph.edges]
    return pairs, graph.labels, list(graph.edges.values())


def renumbered(graph: Graph, permutation: list[int]) -> Graph:
    """The same graph with vertex v called permutation[v], edges in another order."""
    labels = list(graph.labels)
    for old, new in enumerate(permutation):
        labels[new] = graph.labels[old]
    edges = {frozenset(permutation[v] for v in edge): label for edge, label in graph.edges.items()}
    return Graph(labels, dict(sorted(edges.items(), key=lambda item: sorted(item[0]))))
