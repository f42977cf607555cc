"""Directions and weights: counted in a warning where they are ignored, kept exactly if asked."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import graphgrain as gg
from graphgrain.errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError

nx = pytest.importorskip("networkx")
igraph = pytest.importorskip("igraph")
pd = pytest.importorskip("pandas")


def directed(arcs, size, labels=None):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(arcs)
    if labels is not None:
        nx.set_node_attributes(graph, dict(enumerate(labels)), "label")
    return graph


def as_igraph(arcs, size):
    return igraph.Graph(n=size, edges=list(arcs), directed=True)


def as_pyg(arcs, size):
    return SimpleNamespace(
        num_nodes=size, edge_index=np.array(list(arcs), dtype=np.int64).reshape(-1, 2).T
    )


ARCS = [(0, 1), (1, 0), (1, 2), (2, 3)]  # the first edge goes both ways


@pytest.mark.parametrize(
    "x", [directed(ARCS, 4), as_igraph(ARCS, 4), as_pyg(ARCS, 4)], ids=["nx", "igraph", "pyg"]
)
def test_one_way_edges_are_counted_once_for_all_graphs(x):
    with pytest.warns(GraphgrainWarning, match="the direction of 6 one-way edges") as caught:
        found = gg.as_graphs([x, x, x])
    assert len(caught) == 1
    assert "direction='vertices'" in str(caught[0].message)
    assert found.edges[:3].tolist() == [[0, 1], [1, 2], [2, 3]]


def test_nothing_is_said_where_nothing_is_lost():
    both = [(0, 1), (1, 0)]
    plain = nx.path_graph(4)
    nx.set_edge_attributes(plain, 1.0, "weight")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gg.as_graphs([directed(both, 2)])
        gg.as_graphs([as_igraph(both, 2)])
        gg.as_graphs([as_pyg(both, 2)])
        gg.as_graphs([nx.path_graph(3)])
        gg.as_graphs([plain])  # all weights are equal
        gg.from_adjacency([np.ones((3, 3)) - np.eye(3)])
        gg.as_graphs([([(0, 1), (1, 2), (2, 0)], None), ([(1, 0), (3, 2), (2, 1)], None)])
        gg.as_graphs([(both, None)])
        gg.from_edge_list([("a", "b"), ("c", "b")])


@pytest.mark.parametrize(
    ("convert", "count"),
    [
        (lambda: gg.from_adjacency([np.triu(np.ones((3, 3)), 1)]), 3),
        (lambda: gg.as_graphs([(csr_array([[0, 1], [0, 0]]), None)]), 1),
        (lambda: gg.as_graphs([np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0]])]), 1),
        # pairs say nothing about direction, unless some are listed both ways and others are not,
        (lambda: gg.as_graphs([(ARCS, None), ([(0, 1), (1, 2)], None)]), 2),
        (lambda: gg.from_edge_list([("a", "b"), ("b", "a"), ("c", "a")]), 1),
        (lambda: gg.from_grakel([({0: [1, 2], 1: [0], 2: []}, dict.fromkeys(range(3), "C"))]), 1),
        # or graphs differ in nothing else
        (lambda: gg.as_graphs([([(0, 1), (0, 2)], None), ([(1, 0), (2, 0)], None)]), 2),
        (
            lambda: gg.from_edge_list({"g": [1, 2], "source": [1, 2], "target": [2, 1]}, graph="g"),
            1,
        ),
    ],
)
def test_directions_that_show_are_counted_by_every_way_in(convert, count):
    with pytest.warns(GraphgrainWarning, match=f"direction of {count} one-way edge") as caught:
        convert()
    assert len(caught) == 1
    assert "paths three times as long" in str(caught[0].message)


def test_tuples_and_matrices_keep_directions_if_asked():
    pair = [([(0, 1), (2, 1)], list("aba")), ([(0, 1), (1, 2)], list("aba"))]
    graphs = gg.as_graphs(pair, direction="vertices")
    wanted = gg.from_networkx(
        [directed(edges, 3, labels) for edges, labels in pair], direction="vertices"
    )
    assert graphs == wanted
    matrices = [np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]])]
    labelled = [(matrix, list("aba")) for matrix in matrices]
    assert gg.as_graphs(labelled, direction="vertices") == wanted[:1]


def symbols(values, name="symbol", **more):
    graph = nx.path_graph(len(values))
    nx.set_node_attributes(graph, dict(enumerate(values)), name)
    for other, column in more.items():
        nx.set_node_attributes(graph, dict(enumerate(column)), other)
    return graph


@pytest.mark.parametrize("name", ["type", "element", "symbol", "kind", "name"])
@pytest.mark.parametrize("values", [["C", "O", "C"], [6, 8, 6]])
def test_a_lone_attribute_with_the_name_of_a_label_is_read(name, values):
    for graph in (symbols(values, name, x=[0.5, 1, 2], pos=[(0, 1)] * 3), igraph_of(values, name)):
        with pytest.warns(GraphgrainWarning, match=f"attribute '{name}' is read as label"):
            found = gg.as_graphs([graph])
        assert found.labels.tolist() == values
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert gg.as_graphs([graph], vertex_label=name) == found
            assert not gg.as_graphs([graph], vertex_label=None).labelled


def igraph_of(values, name):
    graph = igraph.Graph(n=3, edges=[(0, 1), (1, 2)])
    graph.vs[name] = values
    return graph


@pytest.mark.parametrize(
    ("graph", "names"),
    [
        (symbols(["a", "b"], kind=[1, 2]), "'symbol', 'kind'"),  # several
        (symbols(["a", "b"], "club"), "'club'"),  # another name
        (symbols([0.5, 1.5], "type"), "'type'"),  # floats
        (symbols([[0, 1], [1, 0]], "feat"), "'feat'"),  # vectors
        (symbols([6, 10**6], "element"), "'element'"),  # numbers of something
        (symbols([True, False], "kind"), "'kind'"),
    ],
)
def test_other_attributes_are_listed_and_not_read(graph, names):
    with pytest.warns(GraphgrainWarning, match=f"their attributes are {names}[.] Choose") as caught:
        assert not gg.as_graphs([graph, graph]).labelled
    assert len(caught) == 1


def test_what_generators_set_is_neither_read_nor_listed():
    blocks = nx.stochastic_block_model([2, 2], [[1, 0], [0, 1]], seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not gg.as_graphs([blocks]).labelled
        assert not gg.as_graphs([nx.random_geometric_graph(4, 2, seed=0)]).labelled
        gg.from_networkx([symbols([1.0, 2.0], "x")], vertex_attributes="x")


def test_attributes_that_were_asked_for_and_are_not_used_are_said_once():
    light, heavy = (nx.path_graph(3) for _ in range(2))
    nx.set_edge_attributes(light, 1, "weight")
    nx.set_edge_attributes(heavy, 99, "weight")
    graphs = gg.from_networkx([light, heavy], edge_attributes="weight")
    for kernel in (gg.TreePlusPlus(), gg.WeisfeilerLehman(), gg.NetLSD(), gg.EdgeHistogram()):
        with pytest.warns(GraphgrainWarning, match="does not use the attributes") as caught:
            [kernel.fit(part) for part in (graphs[:2], graphs[1:])]
        assert [type(kernel).__name__ in str(item.message) for item in caught] == [True]
    with pytest.warns(GraphgrainWarning, match="ShortestPath does not use the attributes"):
        gg.pairs(graphs, kernel=gg.ShortestPath())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bins = gg.AttributeBins(on="edge").fit_transform(graphs)
        gg.TreePlusPlus(edge_labels=True).fit(bins)
        gg.WeisfeilerLehman().fit(gg.GraphBatch.from_edges([2], [(0, 1)], edge_attributes=[1.0]))


def test_edge_labels_that_make_the_only_difference_are_said():
    for pair in (["C=C", "CC"], ["CCO", "OC=C"]):
        for kernel in (gg.WeisfeilerLehman(2), gg.TreePlusPlus()):
            with pytest.warns(GraphgrainWarning, match="differ in nothing else.*edge_labels=True"):
                assert kernel.fit_transform(pair)[0, 1] == pytest.approx(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gg.WeisfeilerLehman(2, edge_labels=True).fit(["C=C", "CC"])
        gg.WeisfeilerLehman(2).fit(["C=C", "CC", "CO"])
        gg.WeisfeilerLehman(2).fit(["CC", "CC"])


def test_weights_are_counted():
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, {(0, 1): 0.5, (1, 2): 2.0, (2, 3): 2.0}, "weight")
    made = igraph.Graph(n=4, edges=[(0, 1), (1, 2), (2, 3)])
    made.es["weight"] = [0.5, 2.0, 2.0]
    pyg = as_pyg([(0, 1), (1, 0), (1, 2), (2, 1)], 3)
    pyg.edge_weight = np.array([0.5, 0.5, 1, 1])
    matrix = np.array([[0, 2, 0], [2, 0, 3], [0, 3, 0]])
    for x, count in ((graph, 3), (made, 3), (pyg, 4), ((matrix, None), 2)):
        with pytest.warns(GraphgrainWarning, match=f"Ignored: the weights of {count} edges"):
            gg.as_graphs([x])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = [
            gg.from_networkx([graph], edge_attributes="weight"),
            gg.from_igraph([made], edge_attributes=["weight"]),
        ]
        gg.from_adjacency([matrix], values="labels")
        gg.as_graphs([(matrix, None, {(0, 1): 2, (1, 2): 3})])
        assert gg.from_pyg([pyg], edge_label="edge_weight").edge_attributes is not None
    for found in read:
        assert found.edge_attributes[found.edge_entries].ravel().tolist() == [0.5, 2, 2]


@st.composite
def arcs(draw):
    size = draw(st.integers(1, 5))
    ends = st.integers(0, size - 1)
    return size, draw(st.lists(st.tuples(ends, ends), max_size=8, unique=True))


@settings(max_examples=60)
@given(arcs(), arcs())
def test_graphs_are_isomorphic_exactly_if_the_directed_ones_are(a, b):
    """Nothing is lost and nothing made up: networkx compares the directed graphs."""
    made = [directed(pairs, size) for size, pairs in (a, b)]
    batch = gg.from_networkx(made, direction="vertices")
    assert bool(gg.duplicates(batch)) == nx.is_isomorphic(*made)
    for (size, pairs), graph in zip((a, b), batch, strict=True):
        assert graph.n_vertices == size + 2 * len(pairs)
        assert graph.n_edges == 3 * len(pairs)


@settings(max_examples=30)
@given(st.lists(arcs(), min_size=1, max_size=4))
def test_all_converters_agree(several):
    made = gg.from_networkx([directed(p, s) for s, p in several], direction="vertices")
    matrices = []
    for size, pairs in several:
        matrix = np.zeros((size, size), dtype=int)
        for u, v in pairs:
            matrix[u, v] = 1
        matrices.append(matrix)
    rows = [(n, u, v) for n, (_, pairs) in enumerate(several) for u, v in pairs]
    edges = {name: [row[at] for row in rows] for at, name in enumerate(("g", "source", "target"))}
    vertices = [(n, v) for n, (size, _) in enumerate(several) for v in range(size)]
    others = [
        gg.from_igraph([as_igraph(p, s) for s, p in several], direction="vertices"),
        gg.from_pyg([as_pyg(p, s) for s, p in several], direction="vertices"),
        gg.from_edge_list(
            edges,
            {"g": [n for n, _ in vertices], "vertex": [v for _, v in vertices]},
            graph="g",
            direction="vertices",
        ),
    ]
    for other in others:
        assert gg.duplicates(made + other) == gg.duplicates(made + made)
    by_matrix = gg.from_adjacency(matrices, direction="vertices")
    assert gg.duplicates(made + by_matrix) == gg.duplicates(made + made)


@pytest.mark.parametrize("kernel", [gg.TreePlusPlus(2, 1), gg.WeisfeilerLehman(2)])
def test_reversal_changes_the_kernel(kernel):
    graph = directed([(0, 1), (0, 2), (2, 3)], 4, ["a", "a", "b", "a"])
    pair = [graph, graph.reverse()]
    similar = kernel.fit_transform(gg.from_networkx(pair, direction="vertices"))[0, 1]
    assert similar < 0.99
    with pytest.warns(GraphgrainWarning):
        assert kernel.fit_transform(pair)[0, 1] == pytest.approx(1)


def test_labels_and_attributes_of_arcs():
    graph = nx.MultiDiGraph()
    graph.add_node("u", label=7, x=1.0)
    graph.add_node("v", label=8, x=2.0)
    graph.add_edge("u", "v", label="bond", weight=0.5)
    found = gg.from_networkx(
        [graph], vertex_attributes="x", edge_attributes="weight", direction="vertices"
    )
    assert found.labels.tolist() == ["7", "8", "(tail)", "(head)"]
    assert found.edges.tolist() == [[0, 2], [1, 3], [2, 3]]
    assert found.vertex_attributes.ravel().tolist() == [1, 2, 1, 2]
    assert set(found.edge_labels.tolist()) == {"bond"}
    assert set(found.edge_attributes.ravel().tolist()) == {0.5}
    # an undirected graph in the same list stays as it is
    plain = nx.path_graph(2)
    nx.set_node_attributes(plain, 7, "label")
    mixed = gg.from_networkx([plain, graph], edge_label=None, direction="vertices")
    assert mixed[0].labels.tolist() == ["7", "7"]
    assert mixed[0].n_edges == 1


def test_what_is_refused():
    with pytest.raises(InvalidParameterError, match="'ignore' or 'vertices'; got 'arcs'"):
        gg.from_networkx([nx.path_graph(2)], direction="arcs")
    with pytest.raises(InvalidParameterError, match="direction"):
        gg.from_edge_list([("a", "b")], direction=None)
    with pytest.raises(InvalidGraphError, match=r"label '\(tail\)'"):
        gg.from_networkx([directed([(0, 1)], 2, ["(tail)", "b"])], direction="vertices")


def test_a_label_that_is_none():
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: "a", 1: None, 2: "c"}, "label")
    with pytest.raises(InvalidGraphError, match=r"; vertex 1 of graph 0 has None as its 'label'"):
        gg.as_graphs([graph])
