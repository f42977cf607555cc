"""Saving in TU format: a round trip is the identity, and nothing is lost on the way."""

import builtins
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphgrain as gg
from graphgrain.errors import InvalidParameterError

from .graph_strategies import STRINGS, batches

CLASS = st.integers(-(2**63), 2**63 - 1)
VALUE = st.floats(allow_nan=True, allow_infinity=False)


def targets(count):
    """One y of each kind, or None."""
    return st.none() | st.one_of(
        *(
            st.lists(item, min_size=count, max_size=count).map(np.array)
            for item in (CLASS, VALUE, STRINGS)
            if count
        ),
        st.lists(st.lists(VALUE, min_size=2, max_size=2), min_size=count, max_size=count).map(
            lambda rows: np.array(rows).reshape(count, 2)
        ),
    )


@given(batches(), st.data(), st.booleans())
def test_a_round_trip_is_the_identity(tmp_path_factory, batch, data, zipped):
    y = data.draw(targets(len(batch)) if len(batch) else st.none())
    path = tmp_path_factory.mktemp("tu") / ("SET.zip" if zipped else "SET")
    gg.save_tu(path, batch, y)
    graphs, found = gg.load_tu(path)
    assert graphs == batch
    if y is None:
        assert found is None
    else:
        assert found.dtype.kind == y.dtype.kind
        assert found.shape == y.shape
        assert np.array_equal(found, y, equal_nan=y.dtype.kind == "f")


@pytest.mark.parametrize("name", ["MUTAG", "KKI"])
def test_a_round_trip_of_real_data(name, shared_data, tmp_path):
    graphs, y = gg.load_tu(shared_data / f"{name}.zip")
    gg.save_tu(tmp_path / name, graphs, y)
    again, y_again = gg.load_tu(tmp_path / name)
    assert again == graphs
    assert np.array_equal(y, y_again)
    assert not list(tmp_path.glob("*/*.json"))  # plain TU says it all


def test_plain_sets_are_written_as_the_collection_does(tmp_path):
    graph = ([(0, 1), (1, 2)], [5, -1, 5], [2, 3])
    gg.save_tu(tmp_path / "DS", [graph], [-1])
    files = {file.name: file.read_text() for file in (tmp_path / "DS").iterdir()}
    assert files == {
        "DS_A.txt": "1, 2\n2, 1\n2, 3\n3, 2\n",
        "DS_graph_indicator.txt": "1\n1\n1\n",
        "DS_graph_labels.txt": "-1\n",
        "DS_node_labels.txt": "5\n-1\n5\n",
        "DS_edge_labels.txt": "2\n2\n3\n3\n",
    }


def test_empty_graphs_and_absent_edges_survive(tmp_path):
    batch = gg.GraphBatch.from_edges(
        [0, 2, 0], [], ["a", "\n,"], edge_labels=[], edge_attributes=np.empty((0, 3))
    )
    gg.save_tu(tmp_path / "DS.zip", batch)
    assert gg.load_tu(tmp_path / "DS.zip")[0] == batch
    assert gg.load_tu(tmp_path / "DS.zip")[0].edge_attributes.shape == (0, 3)


def test_the_same_graphs_give_the_same_file(tmp_path):
    for name in ("a", "b"):
        gg.save_tu(tmp_path / f"{name}.zip", [([(0, 1)], ["C", "O"])], ["x"], name="DS")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_nothing_is_replaced_unasked_and_nothing_old_stays(tmp_path):
    labelled, bare = [([(0, 1)], ["C", "O"])], [([(0, 1)], None)]
    for path in (tmp_path / "DS", tmp_path / "DS.zip"):
        gg.save_tu(path, labelled, [1])
        with pytest.raises(InvalidParameterError, match="overwrite=True"):
            gg.save_tu(path, bare)
        assert gg.load_tu(path)[0] == gg.as_graphs(labelled)
        gg.save_tu(path, bare, overwrite=True)
        graphs, y = gg.load_tu(path)
        assert graphs == gg.as_graphs(bare)
        assert y is None


@pytest.mark.parametrize("path", ["DS", "DS.zip"])
def test_a_failing_disk_leaves_no_half_written_set(tmp_path, monkeypatch, path):
    gg.save_tu(tmp_path / "old.zip", [([(0, 1)], None)])
    real = builtins.open

    def failing(file, *arguments, **options):
        stream = real(file, *arguments, **options)
        if str(file).endswith(".part") and ("A.txt" in str(file) or ".zip" in str(file)):
            stream.write(b"half")
            stream.close()
            raise OSError("No space left on device")
        return stream

    monkeypatch.setattr(builtins, "open", failing)
    with pytest.raises(OSError, match="No space"):
        gg.save_tu(tmp_path / path, [([(0, 1)], None)])
    monkeypatch.undo()
    assert not (tmp_path / "DS.zip").exists()
    assert not (tmp_path / "DS" / "DS_A.txt").exists()
    assert not [file for file in tmp_path.rglob("*") if file.name.endswith(".part")]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 2], r"each of the 1 graphs; got an array of shape \(2,\)"),
        ([[[1]]], "shape"),
        ([1j], "complex"),
        ([None], "object"),
        ([{"a": 1}], "object"),
        (np.array([2**63], dtype=np.uint64), "uint64"),
    ],
)
def test_targets_that_cannot_be_written(tmp_path, y, message):
    with pytest.raises(InvalidParameterError, match=message):
        gg.save_tu(tmp_path / "DS", [([(0, 1)], None)], y)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["", "..", "a/b", "a b", 3])
def test_names_that_cannot_be_file_names(tmp_path, name):
    with pytest.raises(InvalidParameterError, match="name"):
        gg.save_tu(tmp_path / "DS", [([(0, 1)], None)], name=name)


def test_attributes_without_columns_are_refused(tmp_path):
    batch = gg.GraphBatch.from_edges([2], [], vertex_attributes=np.empty((2, 0)))
    with pytest.raises(InvalidParameterError, match="at least one column"):
        gg.save_tu(tmp_path / "DS", batch)


def test_the_zip_holds_one_folder(tmp_path):
    gg.save_tu(tmp_path / "DS.zip", [([(0, 1)], None)])
    with zipfile.ZipFile(tmp_path / "DS.zip") as archive:
        assert archive.namelist() == ["DS/DS_graph_indicator.txt", "DS/DS_A.txt"]
