"""GraphBatch: what goes in comes out, indexing like an array, and what it refuses."""

from __future__ import annotations

import pickle
import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold, train_test_split

import graphgrain as gg
from graphgrain.errors import GraphgrainWarning, InvalidGraphError

from ..strategies import graphs, to_tuple

BATCH = gg.GraphBatch.from_edges(
    [3, 0, 2, 1],
    [(0, 1), (1, 2), (3, 4)],
    list("CNOCNO"),
    edge_labels=["single", "double", "single"],
    vertex_attributes=np.arange(12).reshape(6, 2),
    edge_attributes=[1.5, 2.5, 3.5],
)


def test_parts():
    assert len(BATCH) == 4
    assert BATCH.vertex_counts.tolist() == [3, 0, 2, 1]
    assert BATCH.edge_counts.tolist() == [2, 0, 1, 0]
    assert BATCH.degrees.tolist() == [1, 2, 1, 1, 1, 0]
    assert BATCH.graph_of_vertex.tolist() == [0, 0, 0, 2, 2, 3]
    assert BATCH.labels.tolist() == list("CNOCNO")
    assert BATCH.edges.tolist() == [[0, 1], [1, 2], [3, 4]]
    assert BATCH.edge_labels.tolist() == ["single", "double", "single"]
    assert repr(BATCH) == (
        "GraphBatch(4 graphs, 6 vertices, 3 edges, 3 vertex labels, 2 edge labels, "
        "2 vertex attributes, 1 edge attribute)"
    )


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (2, [2]),
        (-1, [3]),
        (slice(1, None), [1, 2, 3]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        ([2, 0, 2], [2, 0, 2]),
        (np.array([True, False, True, False]), [0, 2]),
        ([], []),
        ((np.array([1, 2]), ...), [1, 2]),
    ],
)
def test_indexing(key, expected):
    taken = BATCH[key]
    assert [graph.labels.tolist() for graph in taken] == [
        [["C", "N", "O"], [], ["C", "N"], ["O"]][number] for number in expected
    ]
    assert len(taken) == len(expected)
    assert taken == gg.GraphBatch.concatenate([BATCH[number] for number in expected] or [BATCH[[]]])


def test_a_part_keeps_everything_that_belongs_to_it():
    part = BATCH[2]
    assert part.edges.tolist() == [[0, 1]]
    assert part.edge_labels.tolist() == ["single"]
    assert part.vertex_attributes.tolist() == [[6, 7], [8, 9]]
    assert part.edge_attributes.tolist() == [[3.5], [3.5]]


@pytest.mark.parametrize("key", [4, -5, [0, 9]])
def test_index_out_of_range(key):
    with pytest.raises(IndexError, match="there are 4 graphs"):
        BATCH[key]


@pytest.mark.parametrize("key", [[True, False], "a", 1.5, [[0, 1]]])
def test_index_of_a_wrong_kind(key):
    with pytest.raises(IndexError):
        BATCH[key]


@settings(max_examples=60, derandomize=True)
@given(st.lists(graphs(), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_slices_and_sums_agree_with_building_from_scratch(made, random):
    whole = gg.as_graphs([to_tuple(graph) for graph in made])
    order = [random.randrange(len(made)) for _ in range(5)]
    assert whole[order] == gg.as_graphs([to_tuple(made[number]) for number in order])
    assert whole[:2] + whole[2:] == whole
    assert gg.GraphBatch.concatenate(list(whole)) == whole
    assert pickle.loads(pickle.dumps(whole)) == whole
    assert gg.as_graphs(list(whole)) == whole


def test_equality_sees_every_part():
    same = pickle.loads(pickle.dumps(BATCH))
    assert same == BATCH
    assert BATCH[::-1] != BATCH
    assert BATCH.with_labels(list("CNOCNX")) != BATCH
    assert BATCH.with_labels(None) != BATCH
    assert BATCH != "graphs"
    # the numbers behind the labels do not matter, the labels do
    other_table = gg.GraphBatch.concatenate([BATCH, BATCH.with_labels(["Zn"] * 6)])[:4]
    assert len(other_table.label_table) == 4
    assert other_table == BATCH


def test_loops_directions_and_parallel_edges():
    batch = gg.GraphBatch.from_edges(
        [3],
        [(0, 0), (1, 0), (0, 1), (1, 2), (2, 1)],
        edge_labels=[5, 3, 2, 7, 7],
        edge_attributes=[0, 30, 20, 71, 70],
    )
    assert batch.edges.tolist() == [[0, 1], [1, 2]]
    assert batch.edge_labels.tolist() == [2, 7]
    assert batch.edge_attributes[batch.edge_entries].tolist() == [[20], [70]]


def test_without_labels_and_with_degrees():
    batch = gg.as_graphs([nx.star_graph(3), nx.empty_graph(2)])
    assert not batch.labelled
    assert batch.label_kind == "none"
    assert "no labels" in repr(batch)
    assert batch.with_degree_labels().labels.tolist() == [3, 1, 1, 1, 0, 0]


def test_labels_sort_as_numbers_or_code_points():
    assert gg.as_graphs([([], [10, 9, -1])]).label_table.tolist() == [-1, 9, 10]
    assert gg.as_graphs([([], ["é", "b", "B", "10"])]).label_table.tolist() == ["10", "B", "b", "é"]


def test_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        BATCH.indices[0] = 5


def test_splitters_of_scikit_learn():
    batch = gg.as_graphs([nx.path_graph(n) for n in range(1, 21)])
    y = np.arange(20) % 2
    for train, test in StratifiedKFold(4).split(batch, y):
        assert isinstance(batch[train], gg.GraphBatch)
        assert len(batch[train]) == 15
        assert batch[test].vertex_counts.tolist() == (test + 1).tolist()
    train, test, _, _ = train_test_split(batch, y, test_size=5, random_state=0)
    assert isinstance(train, gg.GraphBatch)
    assert sorted(train.vertex_counts.tolist() + test.vertex_counts.tolist()) == list(range(1, 21))


BAD = {
    "edge outside": (lambda: gg.GraphBatch.from_edges([2], [(0, 2)]), r"\(0, 2\).*outside"),
    "edge below zero": (lambda: gg.GraphBatch.from_edges([2], [(-1, 0)]), "outside"),
    "edge across graphs": (
        lambda: gg.GraphBatch.from_edges([1, 1], [(0, 1)]),
        "graph 0 to graph 1",
    ),
    "edges of three": (lambda: gg.GraphBatch.from_edges([3], [(0, 1, 2)]), r"shape \(1, 3\)"),
    "edges of two and of three": (
        lambda: gg.GraphBatch.from_edges([3], [(0, 1), (0, 1, 2)]),
        "pairs of vertex numbers",
    ),
    "edges of floats": (lambda: gg.GraphBatch.from_edges([3], [(0.5, 1)]), "type float64"),
    "negative size": (lambda: gg.GraphBatch.from_edges([-1], []), "0 or more; got -1"),
    "too few labels": (lambda: gg.GraphBatch.from_edges([2], [], [1]), "1 labels for 2 vertices"),
    "dictionary of labels": (
        lambda: gg.GraphBatch.from_edges([2], [], {0: "C", 1: "N"}),
        "vertex labels must be a sequence, in the order of the vertices; got a dict",
    ),
    "dictionary of edge labels": (
        lambda: gg.GraphBatch.from_edges([2], [(0, 1)], edge_labels={(0, 1): "single"}),
        "edge labels must be a sequence, in the order of the edges; got a dict",
    ),
    "set of labels": (lambda: gg.as_graphs([([(0, 1)], {"C", "N"})]), "Labels are a sequence"),
    "mixed labels": (lambda: gg.GraphBatch.from_edges([2], [], [1, "C"]), "1 and 'C'"),
    "missing label": (lambda: gg.GraphBatch.from_edges([2], [], ["C", None]), "position 1"),
    "NaN label": (lambda: gg.GraphBatch.from_edges([2], [], [1, float("nan")]), "position 1"),
    "fraction as label": (lambda: gg.GraphBatch.from_edges([1], [], [1.5]), "1.5 of type float"),
    "truth as label": (lambda: gg.GraphBatch.from_edges([1], [], [True]), "True of type bool"),
    "huge label": (lambda: gg.GraphBatch.from_edges([1], [], [2**63]), "64 signed bits"),
    "NaN attribute": (
        lambda: gg.GraphBatch.from_edges([2], [], vertex_attributes=[[1.0], [np.nan]]),
        "vertex 1 has nan in column 0",
    ),
    "ragged attributes": (
        lambda: gg.GraphBatch.from_edges([2], [], vertex_attributes=[[1.0], [1.0, 2.0]]),
        "same number in each row",
    ),
    "labels on some graphs": (
        lambda: gg.as_graphs([([(0, 1)], ["C", "C"]), ([(0, 1)], None)]),
        "graph 0 has them, graph 1 does not",
    ),
    "vertex of networkx without label": (
        lambda: gg.from_networkx([nx.path_graph(2)], vertex_label="symbol"),
        "vertex 0 of graph 0 has no 'symbol'",
    ),
    "string": (lambda: gg.as_graphs("MUTAG"), "'MUTAG'.*load_tu"),
    "number": (lambda: gg.as_graphs(3), "got 3"),
    "numbers": (lambda: gg.as_graphs([1, 2]), "item 0 is 1"),
    "one networkx graph": (lambda: gg.as_graphs(nx.path_graph(3)), r"\[graph\]"),
    "adjacency not square": (lambda: gg.as_graphs([(np.ones((2, 3)), [1, 2])]), r"\(2, 3\)"),
    "adjacency with NaN": (
        lambda: gg.as_graphs([(np.array([[0, np.nan, 0]] * 3), [1, 2, 3])]),
        "NaN",
    ),
    "attributes on some graphs": (
        lambda: BATCH + gg.as_graphs([([], ["C"])]),
        "vertex attributes",
    ),
    "other kind of labels": (
        lambda: gg.GraphBatch.concatenate([gg.as_graphs([([], ["C"])]), gg.as_graphs([([], [1])])]),
        "all integers or all strings",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_states_rule_value_and_way_out(name):
    make, message = BAD[name]
    with pytest.raises(InvalidGraphError, match=message):
        make()


def test_direct_construction_points_to_the_door():
    with pytest.raises(TypeError, match="from_edges"):
        gg.GraphBatch()


# ---------------------------------------------------------------- what is dropped


@pytest.mark.parametrize(
    ("edges", "labels", "message"),
    [
        ([(0, 0), (0, 1), (2, 2)], None, "hold 2 self-loops. Here"),
        ([(0, 1), (0, 1), (0, 1)], None, "hold 2 repeated edges. Here"),
        ([(0, 1), (1, 0), (1, 0), (1, 1)], None, "hold 1 self-loop and 1 repeated edge. Here"),
        ([(0, 1), (1, 0), (1, 2)], [5, 6, 6], "hold 1 edge with several labels. Here"),
        ([(0, 1), (1, 0), (1, 2), (2, 1)], list("abcd"), "hold 2 edges with several labels. Here"),
    ],
)
def test_what_is_dropped_is_mentioned(edges, labels, message):
    with pytest.warns(GraphgrainWarning, match=message):
        gg.GraphBatch.from_edges([3], edges, edge_labels=labels)


@pytest.mark.parametrize(
    ("edges", "labels"),
    [
        ([(0, 1), (1, 2)], [1, 2]),
        ([(0, 1), (1, 0), (1, 2), (2, 1)], [1, 1, 2, 2]),
        ([(0, 1), (1, 0), (1, 2)], None),
        ([], None),
    ],
)
def test_the_usual_lists_of_edges_are_not_worth_a_word(edges, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gg.GraphBatch.from_edges([3], edges, edge_labels=labels)


def test_a_part_counts_its_own_labels():
    batch = gg.GraphBatch.from_edges(
        [2, 2, 1], [(0, 1), (2, 3)], list("CCONS"), edge_labels=["single", "double"]
    )
    assert repr(batch[0]) == "GraphBatch(1 graph, 2 vertices, 1 edge, 1 vertex label, 1 edge label)"
    assert repr(batch[2]) == "GraphBatch(1 graph, 1 vertex, 0 edges, 1 vertex label, 0 edge labels)"
    assert "4 vertex labels, 2 edge labels" in repr(batch)
