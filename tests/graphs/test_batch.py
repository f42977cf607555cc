"""GraphBatch: what goes in comes out, indexing like an array, and what it refuses."""

from __future__ import annotations

import pickle
import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold, train_test_split

import graphgrain as gg
from graphgrain.errors import GraphgrainWarning, InvalidGraphError

from .graph_strategies import batches

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


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (4, "index 4 is out of bounds"),
        (-5, "index -5"),
        ([0, 9], "index 9"),
        ([True, False], "boolean index"),
        ("a", "got 'a'"),
        (1.5, r"got 1\.5"),
        ([[0, 1]], "2 dimensions"),
    ],
)
def test_what_is_no_index(key, reason):
    with pytest.raises(IndexError, match=f"4 graphs are indexed by .*{reason}"):
        BATCH[key]


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


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([2], [(0, 2)]), {}, r"\(0, 2\).*outside"),
        (([2], [(-1, 0)]), {}, "outside"),
        (([1, 1], [(0, 1)]), {}, "graph 0 to graph 1"),
        (([3], [(0, 1, 2)]), {}, r"shape \(1, 3\)"),
        (([3], [(0, 1), (0, 1, 2)]), {}, "pairs of vertex numbers"),
        (([3], [(0.5, 1)]), {}, "type float64"),
        (([-1], []), {}, "0 or more; got -1"),
        (([2], [], [1]), {}, "1 labels for 2 vertices"),
        (([2], [], {0: "C", 1: "N"}), {}, "vertex labels must be a sequence, .*; got a dict"),
        (([2], [], [1, "C"]), {}, "1 and 'C'"),
        (([2], [], ["C", None]), {}, "position 1"),
        (([2], [], [1, float("nan")]), {}, "position 1"),
        (([1], [], [1.5]), {}, "1.5 of type float"),
        (([1], [], [True]), {}, "True of type bool"),
        (([1], [], [2**63]), {}, "64 signed bits"),
        (([2], [(0, 1)]), {"edge_labels": {(0, 1): "x"}}, "edge labels must be .*; got a dict"),
        (([2], [(0, 1)]), {"edge_labels": [1, 2]}, "2 edge labels for 1 edges"),
        (([2], []), {"vertex_attributes": [[1.0]]}, "1 rows of vertex attributes for 2 vertices"),
        (([2], []), {"vertex_attributes": [[1.0], [np.nan]]}, "vertex 1 has nan in column 0"),
        (([2], []), {"vertex_attributes": [[1.0], [1.0, 2.0]]}, "same number in each row"),
        (([2], []), {"vertex_attributes": [["x"], ["y"]]}, "must be numbers"),
        (([2], [(0, 1)]), {"edge_attributes": [[np.inf]]}, "edge 0 has inf"),
    ],
)
def test_bad_input_states_rule_value_and_way_out(arguments, options, message):
    with pytest.raises(InvalidGraphError, match=message):
        gg.GraphBatch.from_edges(*arguments, **options)


def test_batches_that_do_not_join():
    with pytest.raises(InvalidGraphError, match="vertex attributes"):
        BATCH + gg.as_graphs([([], ["C"])])
    with pytest.raises(InvalidGraphError, match="all integers or all strings"):
        gg.as_graphs([([], ["C"])]) + gg.as_graphs([([], [1])])


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


# ---------------------------------------------------------------- against plain Python


def listed(batch):
    """A batch as plain Python data: per graph its labels, and its edges with all they carry."""
    edge_labels = batch.edge_labels
    rows = None if batch.edge_attributes is None else batch.edge_attributes[batch.edge_entries]
    result = []
    for number in range(len(batch)):
        low, high = batch.offsets[number], batch.offsets[number + 1]
        inside = (batch.edges[:, 0] >= low) & (batch.edges[:, 0] < high)
        result.append(
            (
                batch.labels[low:high].tolist(),
                None
                if batch.vertex_attributes is None
                else batch.vertex_attributes[low:high].tolist(),
                (batch.edges[inside] - low).tolist(),
                None if edge_labels is None else edge_labels[inside].tolist(),
                None if rows is None else rows[inside].tolist(),
            )
        )
    return result


def test_the_door_sorts_merges_and_drops():
    batch = gg.GraphBatch.from_edges(
        [3, 1, 2],
        [(2, 0), (0, 2), (1, 1), (5, 4), (0, 1)],
        ["b", "a", "b", "c", "a", "a"],
        edge_labels=[7, 5, 1, 3, 9],
        edge_attributes=[[0.7], [0.5], [0.1], [0.3], [0.9]],
    )
    assert batch.indptr.tolist() == [0, 2, 3, 4, 4, 5, 6]
    assert batch.indices.tolist() == [1, 2, 0, 0, 5, 4]
    assert batch.edges.tolist() == [[0, 1], [0, 2], [4, 5]]
    assert batch.edge_labels.tolist() == [9, 5, 3]  # of 7 and 5 the smaller stays
    assert batch.edge_attributes[:, 0].tolist() == [0.9, 0.5, 0.9, 0.5, 0.3, 0.3]
    assert batch.label_table.tolist() == ["a", "b", "c"]
    assert batch.degrees.tolist() == [2, 1, 1, 0, 1, 1]
    assert batch.vertex_counts.tolist() == [3, 1, 2]
    assert batch.edge_counts.tolist() == [2, 0, 1]


@given(batches(), st.data())
def test_indexing_takes_the_graphs_asked_for(batch, data):
    numbers = data.draw(
        st.lists(st.integers(0, len(batch) - 1), max_size=5) if len(batch) else st.just([])
    )
    plain = listed(batch)
    assert listed(batch[numbers]) == [plain[number] for number in numbers]
    assert listed(batch[1:]) == plain[1:]
    assert listed(batch[np.arange(len(batch)) % 2 == 0]) == plain[::2]
    assert [listed(graph)[0] for graph in batch] == plain


@given(batches())
def test_parts_join_to_the_whole(batch):
    assert gg.GraphBatch.concatenate([batch[:2], batch[2:]]) == batch
    assert batch[:1] + batch[1:] == batch
    assert gg.as_graphs(list(batch)) == batch
    assert pickle.loads(pickle.dumps(batch)) == batch
