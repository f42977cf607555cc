"""Streams: every source gives the graphs that reading all of it gives, in chunks of one size."""

import gzip
import io
import itertools
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from hypothesis import given
from hypothesis import strategies as st

import graphgrain as gg
from graphgrain.errors import (
    GraphgrainWarning,
    InvalidFileError,
    InvalidGraphError,
    InvalidParameterError,
)

from .graph_strategies import batches


def sizes(chunks):
    return [len(chunk) for chunk in chunks]


@given(st.lists(batches(), max_size=1), st.integers(1, 5))
def test_a_batch_in_chunks(some, chunk_size):
    for batch in some:
        chunks = list(gg.as_chunks(batch, chunk_size=chunk_size))
        assert all(size == chunk_size for size in sizes(chunks)[:-1])
        if len(batch):
            assert gg.GraphBatch.concatenate(chunks) == batch
        else:
            assert chunks == []


def paths(count):
    return [([(i, i + 1) for i in range(n)], [0] * n + [1]) for n in range(count)]


@pytest.mark.parametrize(
    "source",
    [
        paths(7),
        iter(paths(7)),
        (graph for graph in gg.as_graphs(paths(7))),
        [gg.as_graphs(paths(5)), gg.as_graphs(paths(7)[5:])],
        [gg.as_graphs(paths(5)), *paths(7)[5:]],
        gg.as_chunks(gg.as_graphs(paths(7)), chunk_size=2),
    ],
    ids=["list", "generator", "single graphs", "batches", "a mixture", "chunks"],
)
def test_any_iterable_of_graphs(source):
    chunks = list(gg.as_chunks(source, chunk_size=3))
    assert sizes(chunks) == [3, 3, 1]
    assert gg.GraphBatch.concatenate(chunks) == gg.as_graphs(paths(7))


def test_a_column_as_an_array_of_two_dimensions():
    column = np.array([["CCO"], ["CN"], ["C"]], dtype=object)
    chunks = list(gg.as_chunks(column, chunk_size=2))
    assert gg.GraphBatch.concatenate(chunks) == gg.as_graphs(column)


def test_a_stream_without_end_is_read_no_further_than_asked():
    taken = []

    def endless():
        for number in itertools.count():
            taken.append(number)
            yield ([], [number])

    first = next(gg.as_chunks(endless(), chunk_size=5))
    assert first.labels.tolist() == list(range(5))
    assert len(taken) == 5


def peak_memory(chunks) -> int:
    tracemalloc.start()
    try:
        for _ in chunks:
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_the_number_of_graphs(tmp_path):
    """Ten times the graphs, the same peak: in a generator, and in a file of molecules."""

    def stream(count):
        return gg.as_chunks((([(0, 1)], [n % 7, 1]) for n in range(count)), chunk_size=100)

    peak_memory(stream(300))  # what is imported at the first call
    assert peak_memory(stream(5_000)) < 1.5 * peak_memory(stream(500))
    pytest.importorskip("rdkit")
    for name, lines in (("a.smi", 500), ("b.smi", 5_000)):
        (tmp_path / name).write_text("CCO name\n" * lines)
    peaks = [
        peak_memory(gg.iter_molecules(tmp_path / name, chunk_size=100))
        for name in ("a.smi", "a.smi", "b.smi")
    ]
    assert peaks[2] < 1.5 * peaks[1]


def test_columns_stay_with_their_graphs():
    graphs = gg.as_graphs(paths(5))
    parts = [
        graphs[:2].with_columns({"name": ["a", "b"]}),
        graphs[2:].with_columns({"name": ["long name", "d", "e"], "x": list("123")}),
    ]
    chunks = list(gg.as_chunks(parts, chunk_size=3))
    assert [chunk.columns["name"].tolist() for chunk in chunks] == [
        ["a", "b", "long name"],
        ["d", "e"],
    ]
    assert chunks[0].columns["x"].tolist() == ["", "", "1"]


@pytest.mark.parametrize("name", ["x.mat", "x.mat.gz"])
def test_matlab_files_in_chunks(tmp_path, name):
    graph = np.zeros((1, 5), dtype=[("am", object)])
    for number in range(5):
        graph[0, number] = (np.zeros((number + 1, number + 1)),)
    content = io.BytesIO()
    scipy.io.savemat(content, {"graph": graph})
    packed = gzip.compress(content.getvalue()) if name.endswith("gz") else content.getvalue()
    (tmp_path / name).write_bytes(packed)
    chunks = list(gg.as_chunks(tmp_path / name, chunk_size=2))
    assert [chunk.vertex_counts.tolist() for chunk in chunks] == [[1, 2], [3, 4], [5]]


def test_files_in_chunks(tmp_path):
    pytest.importorskip("rdkit")
    rows = [f"m{n},{'C' * (n + 1)}O,{n if n % 3 else ''}" for n in range(10)]
    file = tmp_path / "x.csv.gz"
    file.write_bytes(gzip.compress("\n".join(["id,smiles,value", *rows]).encode()))
    graphs, columns = gg.load_molecules(file)
    chunks = list(gg.as_chunks(file, chunk_size=4))
    assert sizes(chunks) == [4, 4, 2]
    assert gg.GraphBatch.concatenate(chunks) == graphs
    ids = np.concatenate([chunk.columns["id"] for chunk in chunks])
    assert ids.tolist() == columns["id"].tolist() == [f"m{n}" for n in range(10)]
    # As text, in every chunk: what is a number in one may be missing in another.
    assert chunks[0].columns["value"].tolist() == ["", "1", "2", ""]
    assert np.isnan(columns["value"]).tolist() == [n % 3 == 0 for n in range(10)]


def test_a_bad_line_far_down_loses_nothing_before_it(tmp_path):
    pytest.importorskip("rdkit")
    file = tmp_path / "x.smi"
    file.write_text("CCO\n" * 5 + "C1CC\n" + "CN\n" * 3)
    stream = gg.iter_molecules(file, chunk_size=2)
    assert sizes([next(stream), next(stream)]) == [2, 2]
    with pytest.raises(InvalidGraphError, match=r"x.smi, line 6, 'C1CC'"):
        next(stream)
    with pytest.warns(GraphgrainWarning, match=r"x.smi, line 6"):
        chunks = list(gg.iter_molecules(file, chunk_size=2, errors="skip"))
    lines = np.concatenate([chunk.columns["line"] for chunk in chunks])
    assert lines.tolist() == [1, 2, 3, 4, 5, 7, 8, 9]


# ---------------------------------------------------------------- TU format


@given(batches(min_graphs=1), st.integers(1, 4), st.booleans())
def test_data_sets_in_tu_format(batch, chunk_size, zipped):
    """Whatever load_tu reads, the stream reads: labels, attributes, empty graphs, targets."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "X.zip" if zipped else "X")
        y = np.arange(len(batch)) % 3
        gg.save_tu(path, batch, y)
        chunks = list(gg.as_chunks(path, chunk_size=chunk_size))
        graphs, _ = gg.load_tu(path)
    assert sizes(chunks)[:-1] == [chunk_size] * (len(chunks) - 1)
    assert np.concatenate([chunk.columns["target"] for chunk in chunks]).tolist() == y.tolist()
    whole = gg.GraphBatch.concatenate(chunks)
    for one, other in zip(whole, graphs, strict=True):
        assert one == other


@pytest.mark.parametrize(
    ("source", "options", "error", "message"),
    [
        (5, {}, InvalidGraphError, "got int"),
        (b"x.smi", {}, InvalidGraphError, "got bytes"),
        ([], {"chunk_size": 0}, InvalidParameterError, "chunk_size must be an integer of 1"),
        ([], {"chunk_size": 2.5}, InvalidParameterError, "2.5"),
        ([], {"charge": True}, InvalidParameterError, "'charge' are for files"),
        ("nowhere.smi", {}, InvalidFileError, "no file or folder 'nowhere.smi'"),
    ],
)
def test_what_is_no_stream(source, options, error, message):
    with pytest.raises(error, match=message):
        list(gg.as_chunks(source, **options))
