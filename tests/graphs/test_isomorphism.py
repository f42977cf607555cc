"""Isomorphic graphs, against networkx: random ones, hard ones, and those in real data."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphgrain as gg
from graphgrain.errors import GraphgrainWarning
from graphgrain.evaluation.splits import without_duplicates
from graphgrain.graphs import isomorphism
from graphgrain.graphs.batch import replaced

from .graph_strategies import batches

nx = pytest.importorskip("networkx")
from networkx.algorithms.isomorphism import categorical_edge_match, categorical_node_match  # noqa: E402

MATCH = {
    "node_match": categorical_node_match("label", None),
    "edge_match": categorical_edge_match("label", None),
}


def groups_by_networkx(graphs, **match):
    """The obvious way: each graph joins the first group that it is isomorphic to."""
    groups = []
    for number, graph in enumerate(graphs):
        for group in groups:
            other = graphs[group[0]]
            if len(graph) == len(other) and nx.is_isomorphic(other, graph, **match):
                group.append(number)
                break
        else:
            groups.append([number])
    return [group for group in groups if len(group) > 1]


def shuffled(graph, seed=0):
    """The same graph with its vertices numbered otherwise."""
    order = np.random.default_rng(seed).permutation(len(graph)).tolist()
    named = nx.relabel_nodes(nx.convert_node_labels_to_integers(graph), dict(enumerate(order)))
    made = nx.Graph()
    made.add_nodes_from((v, named.nodes[v]) for v in range(len(graph)))
    made.add_edges_from(named.edges(data=True))
    return made


# Few labels and few vertices, so that many graphs are isomorphic.
@st.composite
def alike(draw):
    graphs = []
    for _ in range(draw(st.integers(2, 8))):
        size = draw(st.integers(0, 4))
        graph = nx.Graph()
        graph.add_nodes_from((v, {"label": draw(st.integers(0, 1))}) for v in range(size))
        for u, v in itertools.combinations(range(size), 2):
            if draw(st.booleans()):
                graph.add_edge(u, v, label=draw(st.integers(0, 1)))
        graphs.append(graph)
    return graphs


@given(alike())
@settings(max_examples=150)
def test_small_graphs(graphs):
    assert gg.duplicates(graphs) == groups_by_networkx(graphs, **MATCH)
    assert gg.duplicates(graphs, edge_labels=False) == groups_by_networkx(
        graphs, node_match=MATCH["node_match"]
    )
    assert gg.duplicates(graphs, vertex_labels=False) == groups_by_networkx(
        graphs, edge_match=MATCH["edge_match"]
    )
    bare = gg.duplicates(graphs, vertex_labels=False, edge_labels=False)
    assert bare == groups_by_networkx(graphs)


@given(batches(min_graphs=1), st.integers(0, 99))
def test_a_renumbered_copy_is_found(batch, seed):
    copies = [shuffled(graph, seed) for graph in gg.to_networkx(batch)]
    if not batch.n_edges:
        batch = replaced(batch, edge_label_codes=None, edge_label_table=None)
    bare = replaced(batch, vertex_attributes=None, edge_attributes=None)
    both = gg.GraphBatch.concatenate([bare, gg.from_networkx(copies)])
    groups = gg.duplicates(both)
    for number in range(len(batch)):
        assert any({number, number + len(batch)} <= set(group) for group in groups)


def shrikhande():
    graph = nx.Graph()
    for i, j in itertools.product(range(4), repeat=2):
        for a, b in ((0, 1), (1, 0), (1, 1)):
            graph.add_edge((i, j), ((i + a) % 4, (j + b) % 4))
    return graph


def rook():
    return nx.cartesian_product(nx.complete_graph(4), nx.complete_graph(4))


def cai_fuerer_immerman(twisted):
    """Over K4: a graph and its twist, which no colouring of vertices can tell apart."""
    base = nx.complete_graph(4)
    graph = nx.Graph()
    for v in base:
        ends = [frozenset((v, u)) for u in base[v]]
        for size in (0, 2):
            for subset in itertools.combinations(ends, size):
                for end in ends:
                    graph.add_edge((v, subset), (v, end, end in subset))
    for number, (u, v) in enumerate(base.edges):
        end = frozenset((u, v))
        cross = twisted and number == 0
        for side in (False, True):
            graph.add_edge((u, end, side), (v, end, side != cross))
    return graph


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (rook(), shrikhande()),
        (nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))),
        (cai_fuerer_immerman(False), cai_fuerer_immerman(True)),
        (nx.circular_ladder_graph(8), nx.moebius_kantor_graph()),
    ],
    ids=["strongly regular", "cycles", "Cai-Fuerer-Immerman", "cubic"],
)
def test_graphs_that_colours_do_not_tell_apart(one, other):
    graphs = [shuffled(graph, seed) for seed in range(3) for graph in (one, other)]
    assert not nx.is_isomorphic(graphs[0], graphs[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gg.duplicates(graphs) == [[0, 2, 4], [1, 3, 5]]


@pytest.mark.parametrize(
    "graph",
    [
        nx.complete_graph(60),
        nx.star_graph(500),
        nx.empty_graph(500),
        nx.hypercube_graph(6),
        nx.paley_graph(29).to_undirected(),
        nx.disjoint_union_all([nx.cycle_graph(6)] * 20),
        nx.balanced_tree(3, 4),
        nx.grid_2d_graph(12, 12, periodic=True),
    ],
    ids=["complete", "star", "empty", "cube", "Paley", "rings", "tree", "torus"],
)
def test_symmetric_graphs_take_no_search(graph):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gg.duplicates([shuffled(graph, 1), shuffled(graph, 2)], max_steps=100) == [[0, 1]]


def test_many_regular_graphs():
    graphs = [nx.random_regular_graph(3, 16, seed=seed) for seed in range(12)]
    copies = [shuffled(graph, seed) for seed, graph in enumerate(graphs)]
    wanted = groups_by_networkx([*graphs, *copies])
    assert gg.duplicates([*map(shuffled, graphs), *copies]) == wanted


def test_giving_up_is_said():
    graphs = [shuffled(rook()), shuffled(shrikhande())]
    with pytest.warns(GraphgrainWarning, match=r"graphs 0 and 1 .* in 3 steps.*max_steps"):
        assert gg.duplicates(graphs, max_steps=3) == []


@pytest.mark.parametrize(("name", "labelled"), [("PTC_MM", True), ("DHFR", True), ("MUTAG", False)])
def test_real_data(name, labelled, shared_data):
    graphs, _ = gg.load_tu(shared_data / f"{name}.zip")
    converted = gg.to_networkx(graphs)
    key = [
        (
            len(g),
            g.number_of_edges(),
            sorted(d for _, d in g.degree()),
            sorted(g.nodes[v]["label"] for v in g) if labelled else None,
        )
        for g in converted
    ]
    wanted = []
    for _, numbers in itertools.groupby(
        sorted(range(len(key)), key=key.__getitem__), key.__getitem__
    ):
        members = list(numbers)
        found = groups_by_networkx([converted[n] for n in members], **(MATCH if labelled else {}))
        wanted += [[members[n] for n in group] for group in found]
    labels = {"vertex_labels": labelled, "edge_labels": labelled}
    assert gg.duplicates(graphs, **labels) == sorted(wanted)
    assert wanted


def test_attributes():
    """A path whose ends differ in an attribute, turned around, and with another attribute."""
    path = [(0, 1), (1, 2)]

    def graph(vertices, edges=((5,), (6,))):
        return gg.GraphBatch.from_edges(
            [3], path, list("ABA"), vertex_attributes=vertices, edge_attributes=edges
        )

    one = graph([[1, 0], [2, 0], [3, -0.0]])
    turned = graph([[3, 0], [2, 0], [1, 0]], ((6,), (5,)))
    other = graph([[1, 0], [2, 0], [3.001, 0]])
    crossed = graph([[3, 0], [2, 0], [1, 0]])  # vertices turned around, edges not
    graphs = one + turned + other + crossed
    assert gg.duplicates(graphs, attributes=True) == [[0, 1]]
    assert gg.duplicates(graphs, decimals=2) == [[0, 1, 2]]
    assert gg.duplicates(graphs) == [[0, 1, 2, 3]]
    statistics = gg.describe(graphs, ["a", "b", "a", "b"])
    assert (statistics.duplicates, statistics.identical, statistics.contradictions) == (3, 1, 2)


@pytest.mark.parametrize(
    ("name", "duplicates", "identical"),
    [("DHFR", 37, 0), ("BZR", 1, 0), ("COX2", 2, 0), ("PROTEINS", 44, 3)],
)
def test_duplicates_of_real_data_are_the_same_everywhere(name, duplicates, identical, shared_data):
    graphs, y = gg.load_tu(shared_data / f"{name}.zip")
    statistics = gg.describe(graphs, y)
    assert (statistics.duplicates, statistics.identical) == (duplicates, identical)
    assert sum(len(group) - 1 for group in gg.duplicates(graphs)) == duplicates
    assert len(graphs) - len(without_duplicates(graphs, y)) == duplicates


@pytest.mark.parametrize("name", ["Letter-high", "ENZYMES"])
def test_attributes_of_real_data(name, shared_data):
    """Equal multisets of (label, attributes) are needed, and in these sets also enough."""
    graphs = gg.load_tu(shared_data / f"{name}.zip")[0]
    groups = {}
    for number, graph in enumerate(graphs):
        rows = sorted(map(tuple, np.column_stack((graph.labels, graph.vertex_attributes)).tolist()))
        groups.setdefault((tuple(rows), graph.n_edges), []).append(number)
    identical = sorted(group for group in groups.values() if len(group) > 1)
    assert gg.duplicates(graphs, attributes=True) == identical


def test_nothing_in_nothing():
    assert gg.duplicates([]) == []
    assert gg.duplicates(gg.GraphBatch.from_edges([0, 0], [])) == [[0, 1]]


def test_pairs_that_take_too_long_count_as_different(monkeypatch):
    path = [(i, i + 1) for i in range(300)]
    turned = [(300 - u, 300 - v) for u, v in path]
    labels = ["a"] * 300 + ["b"]
    pair = [(path, labels), (turned, labels[::-1])]
    assert gg.duplicates(pair) == [[0, 1]]
    monkeypatch.setattr(isomorphism, "_WORK", 20_000)
    with pytest.warns(GraphgrainWarning, match=r"graphs 0 and 1 .* they are large"):
        assert gg.duplicates(pair) == []
