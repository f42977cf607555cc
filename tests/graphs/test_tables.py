"""Tables of edges: random graphs there and back, plain pairs, and what is refused."""

import numpy as np
import pytest
from hypothesis import given

import graphgrain as gg
from graphgrain.errors import InvalidGraphError, InvalidParameterError

from .graph_strategies import batches


@given(batches())
def test_tables_there_and_back(batch):
    pd = pytest.importorskip("pandas")
    owner = batch.graph_of_vertex
    local = np.arange(batch.n_vertices) - batch.offsets[owner]
    vertices = pd.DataFrame({"g": owner, "vertex": local})
    edges = pd.DataFrame(
        batch.edges - batch.offsets[owner[batch.edges]], columns=["source", "target"]
    )
    edges["g"] = owner[batch.edges[:, 0]]
    options = {}
    if batch.labelled:
        vertices["label"] = pd.Series(batch.labels.tolist(), dtype=object)
    labels, attributes = batch.edge_labels, batch.edge_attributes
    if attributes is not None:
        attributes = attributes[batch.edge_entries]
    if labels is not None:
        edges["bond"] = pd.Series(labels.tolist(), dtype=object)
        options["edge_label"] = "bond"
    for table, values, name in (
        (vertices, batch.vertex_attributes, "vertex_attributes"),
        (edges, attributes, "edge_attributes"),
    ):
        if values is not None:
            options[name] = [f"x{n}" for n in range(values.shape[1])]
            table[options[name]] = values
    found = gg.from_edge_list(edges, vertices, graph="g", **options)
    # A table has no row for a graph without vertices.
    filled = batch[np.flatnonzero(batch.vertex_counts)]
    assert found == filled
    columns = {name: edges[name].tolist() for name in edges}
    rows = {name: vertices[name].tolist() for name in vertices}
    assert gg.from_edge_list(columns, rows, graph="g", **options) == filled


def test_rows_in_any_order():
    edges = {"g": ["b", "a", "b"], "source": [1, 1, 2], "target": [2, 2, 3], "w": [7, 8, 9]}
    vertices = {
        "g": list("babab"),
        "vertex": [3, 2, 1, 1, 2],
        "label": list("zxyxw"),
        "x": range(5),
    }
    found = gg.from_edge_list(edges, vertices, graph="g", edge_label="w", vertex_attributes=["x"])
    assert found == gg.GraphBatch.from_edges(
        [2, 3],
        [(0, 1), (2, 4), (3, 4)],
        ["x", "x", "z", "y", "w"],
        edge_labels=[8, 9, 7],
        vertex_attributes=[1, 3, 0, 2, 4],
    )


def test_plain_pairs():
    found = gg.from_edge_list([(30, 10), (10, 20)])
    assert found.edges.tolist() == [[0, 1], [0, 2]]
    assert len(gg.from_edge_list([])) == 1
    named = gg.from_edge_list([("b", "a")], {"c": 1, "a": 2, "b": 3})
    assert named.labels.tolist() == [1, 2, 3]
    assert named.edges.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("edges", "vertices", "options", "message"),
    [
        ([(1, 2, 3)], None, {}, r"row 0 is \(1, 2, 3\)"),
        ("ab", None, {}, "'ab'"),
        ([(1, "a")], None, {}, "all integers or all strings"),
        ([(1.5, 2.5)], None, {}, "1.5"),
        ([(1, 2)], {1: "a"}, {}, r"2 in row 0"),
        ([(1, 2)], [1, 2], {}, "Vertices are expected"),
        (
            {"source": [1], "goal": [2]},
            None,
            {},
            r"no column 'target'; it has \['source', 'goal'\]",
        ),
        ({"source": [1], "target": [2, 3]}, None, {}, "of one length"),
        ({"source": [1], "target": [2]}, None, {"graph": "g"}, "no column 'g'"),
        ({"source": [1], "target": [2]}, {"vertex": [1, 2, 1]}, {}, "1 is listed more than once"),
        ({"source": [1], "target": [2]}, {"vertex": [1, 2]}, {"label": "l"}, "no column 'l'"),
        ([(1, 2)], None, {"vertex_attributes": ["x"]}, "need a table of vertices"),
        ({"source": [1], "target": [2], "w": ["x"]}, None, {"edge_attributes": ["w"]}, "numbers"),
    ],
)
def test_tables_that_are_refused(edges, vertices, options, message):
    with pytest.raises((InvalidGraphError, InvalidParameterError), match=message):
        gg.from_edge_list(edges, vertices, **options)
