"""GraphBatch: the checks of input, and parts and sums of batches, against plain Python."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphgrain as gg
from graphgrain import GraphBatch
from graphgrain.errors import InvalidGraphError

from .graph_strategies import batches


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
    batch = GraphBatch.from_edges(
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


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"edge_labels": [1, 2]}, "2 edge labels for 1 edges"),
        ({"vertex_attributes": [[1.0]]}, "1 rows of vertex attributes for 2 vertices"),
        ({"vertex_attributes": [[1.0], [float("nan")]]}, "vertex 1 has nan"),
        ({"vertex_attributes": [["x"], ["y"]]}, "must be numbers"),
        ({"edge_attributes": [[float("inf")]]}, "edge 0 has inf"),
    ],
)
def test_the_door_checks_what_goes_with_vertices_and_edges(extra, message):
    with pytest.raises(InvalidGraphError, match=message):
        GraphBatch.from_edges([2], [(0, 1)], **extra)


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
    assert GraphBatch.concatenate([batch[:2], batch[2:]]) == batch
    assert batch[:1] + batch[1:] == batch
    assert pickle.loads(pickle.dumps(batch)) == batch


def test_labels_can_be_replaced():
    batch = gg.as_graphs([([(0, 1), (1, 2)], ["a", "b", "a"])])
    assert batch.with_degree_labels().labels.tolist() == [1, 2, 1]
    assert batch.with_labels(None).label_kind == "none"
    assert batch.label_kind == "string"
    assert batch.with_labels([3, 2, 1]).label_kind == "integer"
