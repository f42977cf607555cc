"""MAT-files: the authors' data against their TU twins, the reader against SciPy's, damage."""

import struct
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import graphgrain as gg
from graphgrain.errors import InvalidFileError
from graphgrain.graphs.files import archive


@pytest.mark.parametrize("name", ["COX2_MD", "MUTAG", "PROTEINS"])
def test_the_authors_files_equal_their_twins(name, shared_data):
    graphs, y = gg.load_mat(shared_data / "mat" / f"{name}.mat")
    twins, y_twins = gg.load_tu(shared_data / f"{name}.zip")
    assert np.array_equal(y, y_twins)
    assert len(graphs) == len(twins)
    for graph, twin in zip(graphs, twins, strict=True):
        assert graph.labels.tolist() == twin.labels.tolist()
        assert graph.edges.tolist() == twin.edges.tolist()
        if name != "PROTEINS":
            assert graph.edge_labels.tolist() == twin.edge_labels.tolist()
    # The Matlab form of PROTEINS has 29 attributes, of which the TU form kept one.
    if name == "PROTEINS":
        assert graphs.vertex_attributes.shape[1] == 29
        assert (graphs.vertex_attributes == twins.vertex_attributes).all(axis=0).any()


# ---------------------------------------------------------------- graphs


def saved(path, graphs, **variables):
    fields = list(graphs[0])
    array = np.zeros((1, len(graphs)), dtype=[(field, object) for field in fields])
    for number, graph in enumerate(graphs):
        array[0, number] = tuple(graph[field] for field in fields)
    scipy.io.savemat(path, {"graph": array, **variables})
    return path


PATH = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])


def test_all_fields(tmp_path):
    graph = {
        "am": scipy.sparse.csc_array(PATH),
        "nl": {"values": np.array([[6.0], [6.0], [8.0]])},
        "el": np.array([[1, 2, 1], [2, 1, 1], [3, 2, 2], [2, 3, 2]]),
        "na": np.array([[0.5, 1], [1.5, 2], [2.5, 3]]),
        "other": np.array([[1]]),
    }
    graphs, y = gg.load_mat(saved(tmp_path / "x.mat", [graph], lgraph=np.array([[3]])))
    assert graphs == gg.GraphBatch.from_edges(
        [3],
        [(0, 1), (1, 2)],
        [6, 6, 8],
        edge_labels=[1, 2],
        vertex_attributes=[[0.5, 1], [1.5, 2], [2.5, 3]],
    )
    assert y.tolist() == [3]


def test_classes_may_be_missing_or_fractions(tmp_path):
    assert gg.load_mat(saved(tmp_path / "a.mat", [{"am": PATH}]))[1] is None
    file = saved(tmp_path / "b.mat", [{"am": PATH}], label=np.array([[0.5]]))
    assert gg.load_mat(file)[1].tolist() == [0.5]


def test_graphs_without_vertices_or_edges(tmp_path):
    nothing = {"am": np.zeros((0, 0)), "nl": np.zeros((0, 1)), "el": np.zeros((0, 0))}
    single = {"am": np.zeros((1, 1)), "nl": np.ones((1, 1)), "el": np.zeros((0, 3))}
    graphs, _ = gg.load_mat(saved(tmp_path / "x.mat", [nothing, single]))
    assert graphs.vertex_counts.tolist() == [0, 1]
    assert graphs.n_edges == 0


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ({"am": PATH[:2]}, r"x.mat, graph\(1\).am must be square; its shape is \(2, 3\)"),
        ({"am": "text"}, r"am must be a matrix"),
        ({"am": PATH, "nl": np.array([[1], [2]])}, r"nl must hold one label .* 3 vertices; .* 2"),
        ({"am": PATH, "nl": np.array([[1], [2], [2.5]])}, r"nl must hold whole numbers.*2.5"),
        ({"am": PATH, "nl": np.array([[1], [2], [1e300]])}, r"nl must hold whole numbers.*1e\+300"),
        ({"am": PATH, "nl": np.array([[1], [2], [np.nan]])}, r"nl must hold whole numbers.*nan"),
        ({"am": PATH, "el": np.array([[1, 2]])}, r"el must have rows i, j, label"),
        ({"am": PATH, "el": np.array([[1, 4, 1]])}, r"el must name vertices from 1 to 3; row 1 is"),
        ({"am": PATH, "el": np.array([[1, 2, 1]])}, r"el must name the edges of"),
        ({"am": PATH, "na": np.array([[1.0]])}, r"na must hold a row .* 3 vertices"),
        ({"am": PATH, "na": np.full((3, 1), np.inf)}, r"na must hold a row of finite numbers"),
        ({"xx": PATH}, r"field 'am'; it has 0 among its variables \['graph', 'label'\]"),
        ({"am": PATH}, r"one class for each of the 1 graphs; .* 2"),
    ],
)
def test_mistakes_are_named_with_graph_and_field(tmp_path, graph, message):
    file = saved(tmp_path / "x.mat", [graph], label=np.array([[1], [2]]))
    with pytest.raises(InvalidFileError, match=message):
        gg.load_mat(file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a MAT-file"),
        (b"MATLAB 5.0 MAT-file", "not a MAT-file"),
        (b"PK" * 100, "not a MAT-file"),
        (b"MATLAB 7.3 MAT-file" + b" " * 600, "version 7.3.*-v7"),
    ],
)
def test_files_of_another_kind(tmp_path, content, message):
    (tmp_path / "x.mat").write_bytes(content)
    with pytest.raises(InvalidFileError, match=message):
        gg.load_mat(tmp_path / "x.mat")


@pytest.mark.parametrize("packed", [False, True])
def test_cutting_a_file_short_anywhere_is_noticed(tmp_path, packed):
    graphs = [{"am": PATH, "nl": np.array([[1], [2], [3]])}]
    whole = saved(tmp_path / "x.mat", graphs).read_bytes()
    if packed:
        # Cut what is packed, so that every length but that of the contents is right.
        for length in range(10):
            data = zlib.compress(whole[128:])[: -1 - length]
            part = struct.pack("<II", 15, len(data)) + data
            (tmp_path / "x.mat").write_bytes(whole[:128] + part)
            with pytest.raises(InvalidFileError, match="cut short"):
                gg.load_mat(tmp_path / "x.mat")
        return
    for length in range(len(whole) - 1):
        (tmp_path / "x.mat").write_bytes(whole[:length])
        with pytest.raises(InvalidFileError, match=r"x\.mat"):
            gg.load_mat(tmp_path / "x.mat")


def test_claims_that_are_not_true_are_not_believed(tmp_path):
    whole = bytearray(saved(tmp_path / "x.mat", [{"am": PATH}]).read_bytes())
    shape = struct.pack("<ii", 1, 1)
    at = whole.index(shape, 128)
    whole[at : at + 8] = struct.pack("<ii", 2**30, 2**30)
    (tmp_path / "x.mat").write_bytes(whole)
    with pytest.raises(InvalidFileError, match="claims 1,152,921,504,606,846,976 elements"):
        gg.load_mat(tmp_path / "x.mat")


def test_damaged_files_are_an_error_or_read_but_never_a_crash(tmp_path):
    """SciPy alone crashes on one in twenty of these files."""
    cell = np.array([[1], ["a"]], dtype=object)
    graph = {"am": scipy.sparse.csc_array(PATH), "nl": {"values": np.ones((3, 1))}, "s": "text"}
    whole = saved(tmp_path / "x.mat", [graph, graph], c=np.array([[1, 2]]), cell=cell).read_bytes()
    rng = np.random.default_rng(0)
    numbers = [0, 1, 5, 14, 15, 16, 20, 255, 2**30, 2**31 - 1, 2**32 - 1]
    errors = 0
    for _ in range(300):
        content = bytearray(whole)
        at = 128 + 4 * int(rng.integers((len(whole) - 128) // 4))
        if rng.random() < 0.8:
            content[at : at + 4] = struct.pack("<I", rng.choice(numbers))
        else:
            del content[at : at + 8]
        (tmp_path / "x.mat").write_bytes(content)
        try:
            gg.load_mat(tmp_path / "x.mat")
        except InvalidFileError:
            errors += 1
    assert 30 < errors < 300


def test_a_compressed_bomb(tmp_path):
    data = zlib.compress(b"\0" * (100 * 2**20), 9)
    content = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + struct.pack("<II", 15, len(data))
    (tmp_path / "x.mat").write_bytes(content + data)
    with pytest.raises(InvalidFileError, match="max_bytes"):
        gg.load_mat(tmp_path / "x.mat")


def test_the_limit_can_be_raised_and_lowered(tmp_path, monkeypatch):
    graph = np.zeros((1, 1), dtype=[("am", object)])
    graph[0, 0] = (np.zeros((50, 50)),)
    scipy.io.savemat(tmp_path / "x.mat", {"graph": graph})
    size = (tmp_path / "x.mat").stat().st_size
    with pytest.raises(InvalidFileError, match="must not hold more than"):
        gg.load_mat(tmp_path / "x.mat", max_bytes=size - 1)
    monkeypatch.setattr(archive, "_limit", lambda place: size - 1)
    with pytest.raises(InvalidFileError, match="must not hold more than"):
        gg.load_mat(tmp_path / "x.mat")
    assert gg.load_mat(tmp_path / "x.mat", max_bytes=size)[0].n_vertices == 50
