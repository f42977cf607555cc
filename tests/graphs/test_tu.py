"""The TU format: real data sets, the variants seen in the wild, and files with mistakes."""

import zipfile

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import GraphgrainError, InvalidFileError, InvalidParameterError

# The table of the data's README: graphs, average vertices and edges, labels, edge labels,
# vertex attributes, edge attributes; and the isolated vertices that it mentions.
TABLE = {
    "BZR": (405, 35.75, 38.36, 10, False, 3, 0),
    "BZR_MD": (306, 21.30, 225.06, 8, True, 0, 1),
    "COX2": (467, 41.22, 43.45, 8, False, 3, 0),
    "COX2_MD": (303, 26.28, 335.12, 7, True, 0, 1),
    "DHFR": (756, 42.43, 44.54, 9, False, 3, 0),
    "DHFR_MD": (393, 23.87, 283.02, 7, True, 0, 1),
    "NCI1": (4110, 29.87, 32.30, 37, False, 0, 0),
    "PROTEINS": (1113, 39.06, 72.82, 3, False, 1, 0),
    "Mutagenicity": (4337, 30.32, 30.77, 14, True, 0, 0),
    "PTC_MM": (336, 13.97, 14.32, 20, True, 0, 0),
    "PTC_FR": (351, 14.56, 15.00, 19, True, 0, 0),
    "KKI": (83, 26.96, 48.42, 190, False, 0, 0),
    "MUTAG": (188, 17.93, 19.79, 7, True, 0, 0),
}
ISOLATED = {"NCI1": 428, "Mutagenicity": 2401}
CLASSES = {"NCI1": [0, 1], "Mutagenicity": [0, 1], "PROTEINS": [1, 2]}


@pytest.mark.parametrize("name", TABLE)
def test_the_real_data_sets_match_their_table(name, shared_data):
    graphs, y = gg.load_tu(shared_data / f"{name}.zip")
    count, vertices, edges, labels, edge_labels, attributes, edge_attributes = TABLE[name]
    assert len(graphs) == len(y) == count
    assert round(float(graphs.vertex_counts.mean()), 2) == vertices
    assert round(float(graphs.edge_counts.mean()), 2) == edges
    assert len(np.unique(graphs.labels)) == len(graphs.label_table) == labels
    assert (graphs.edge_labels is not None) == edge_labels
    assert (0 if attributes == 0 else graphs.vertex_attributes.shape[1]) == attributes
    assert (graphs.vertex_attributes is not None) == (attributes > 0)
    assert (graphs.edge_attributes is not None) == (edge_attributes > 0)
    if name in ISOLATED:
        assert int((graphs.degrees == 0).sum()) == ISOLATED[name]
    assert np.unique(y).tolist() == CLASSES.get(name, [-1, 1])
    assert y.dtype == np.int64


def test_a_line_by_line_reading_gives_the_same_graphs(shared_data):
    with zipfile.ZipFile(shared_data / "PTC_MM.zip") as archive:

        def lines(part):
            return archive.read(f"PTC_MM//PTC_MM_{part}.txt").decode().split("\n")[:-1]

        graph_of = [int(line) for line in lines("graph_indicator")]
        labels = [int(line) for line in lines("node_labels")]
        bonds = {}
        for edge, label in zip(lines("A"), lines("edge_labels"), strict=True):
            u, v = edge.split(",")
            bonds[int(u), int(v)] = int(label)
    graphs, _ = gg.load_tu(shared_data / "PTC_MM.zip")
    start = 1
    for number, graph in enumerate(graphs, start=1):
        size = graph_of.count(number)
        assert graph.labels.tolist() == labels[start - 1 : start - 1 + size]
        found = {
            (u + start, v + start): label
            for (u, v), label in zip(graph.edges.tolist(), graph.edge_labels.tolist(), strict=True)
        }
        wanted = {(u, v): b for (u, v), b in bonds.items() if start <= u < v < start + size}
        assert found == wanted
        start += size


# ---------------------------------------------------------------- variants

PLAIN = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "0\n0\n1\n0\n2\n",
    "edge_labels": "0\n0\n1\n1\n0\n0\n",
    "node_attributes": "0.5, 1\n1e-3, 2\n-1, 3\n7, 4\n 8.25, 5\n",
    "edge_attributes": "1\n1\n2\n2\n3\n3\n",
}


def write(folder, parts, name="DS"):
    for part, content in parts.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / f"{name}_{part}.txt").write_bytes(data)
    return folder


def expected():
    return gg.GraphBatch.from_edges(
        [3, 2],
        [(0, 1), (1, 2), (3, 4)],
        [0, 0, 1, 0, 2],
        edge_labels=[0, 1, 0],
        vertex_attributes=[[0.5, 1], [0.001, 2], [-1, 3], [7, 4], [8.25, 5]],
        edge_attributes=[1, 2, 3],
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace(", ", ","),
        lambda text: text.replace(",", " "),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", " \n"),
        lambda text: text.rstrip("\n"),
        lambda text: text + "\n\n",
        lambda text: "\ufeff" + text,
        lambda text: text.replace(", ", "\t,\t"),
    ],
    ids=[
        "plain",
        "tight",
        "spaces",
        "crlf",
        "trailing",
        "no-newline",
        "blank-lines",
        "bom",
        "tabs",
    ],
)
def test_spelling_does_not_matter(tmp_path, change):
    graphs, y = gg.load_tu(write(tmp_path, {part: change(text) for part, text in PLAIN.items()}))
    assert graphs == expected()
    assert y.tolist() == [1, -1]


def test_edges_may_be_listed_once(tmp_path):
    once = {
        part: "".join(PLAIN[part].splitlines(True)[::2])
        for part in ("A", "edge_labels", "edge_attributes")
    }
    assert gg.load_tu(write(tmp_path, PLAIN | once))[0] == expected()


def test_vertices_need_not_be_sorted_by_graph(tmp_path):
    parts = {
        "A": "1,3\n2,5\n5,4\n",
        "graph_indicator": "2\n1\n2\n1\n1\n",
        "graph_labels": "7\n8\n",
        "node_labels": "10\n20\n30\n40\n50\n",
    }
    graphs, y = gg.load_tu(write(tmp_path, parts))
    assert graphs == gg.GraphBatch.from_edges(
        [3, 2], [(0, 2), (1, 2), (3, 4)], [20, 40, 50, 10, 30]
    )
    assert y.tolist() == [7, 8]


def test_only_two_files_are_needed(tmp_path):
    graphs, y = gg.load_tu(write(tmp_path, {key: PLAIN[key] for key in ("A", "graph_indicator")}))
    assert y is None
    assert not graphs.labelled
    assert graphs.vertex_counts.tolist() == [3, 2]


def test_a_set_without_edges(tmp_path):
    graphs, _ = gg.load_tu(write(tmp_path, {"A": "", "graph_indicator": "1\n2\n2\n"}))
    assert graphs.edge_counts.tolist() == [0, 0]
    assert graphs.vertex_counts.tolist() == [1, 2]


def test_regression_values_and_the_choice_between_them_and_classes(tmp_path):
    values = PLAIN | {"graph_attributes": "0.5, -1\n2, 1e3\n"}
    folder = write(tmp_path, values)
    assert gg.load_tu(folder)[1].tolist() == [1, -1]
    assert gg.load_tu(folder, target="values")[1].tolist() == [[0.5, -1.0], [2.0, 1000.0]]
    (folder / "DS_graph_labels.txt").unlink()
    assert gg.load_tu(folder)[1].shape == (2, 2)
    with pytest.raises(InvalidFileError, match="no classes"):
        gg.load_tu(folder, target="classes")
    with pytest.raises(InvalidParameterError, match="'class'"):
        gg.load_tu(folder, target="class")


def test_regression_values_in_the_file_of_the_classes(tmp_path):
    assert gg.load_tu(write(tmp_path, PLAIN | {"graph_labels": "0.25\n1\n"}))[1].tolist() == [
        0.25,
        1,
    ]


def test_several_labels_per_vertex_and_edge(tmp_path):
    folder = write(
        tmp_path,
        PLAIN
        | {
            "node_labels": "3, 1\n3, 2\n3, 1\n0, 0\n10, -1\n",
            "edge_labels": "1,1\n1,1\n1,2\n1,2\n0,0\n0,0\n",
        },
    )
    graphs, _ = gg.load_tu(folder)
    assert graphs.labels.tolist() == ["3,1", "3,2", "3,1", "0,0", "10,-1"]
    assert graphs.edge_labels.tolist() == ["1,1", "1,2", "0,0"]
    graphs, _ = gg.load_tu(folder, label_column=0, edge_label_column=1)
    assert graphs.labels.tolist() == [3, 3, 3, 0, 10]
    assert graphs.edge_labels.tolist() == [1, 2, 0]
    with pytest.raises(InvalidParameterError, match="0 to 1"):
        gg.load_tu(folder, label_column=2)


def test_stray_files_and_double_slashes_in_a_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "DS.zip", "w") as archive:
        archive.writestr("DS//", "")
        archive.writestr("DS//README.txt~", b"\xff\xfe")
        archive.writestr("__MACOSX/DS/._DS_A.txt", b"\0\1")
        archive.writestr("DS//DS_label_readme.txt", "0 C")
        for part, text in PLAIN.items():
            archive.writestr(f"DS//DS_{part}.txt", text)
    assert gg.load_tu(tmp_path / "DS.zip")[0] == expected()


def test_the_data_set_that_bears_the_name_is_taken(tmp_path):
    folder = tmp_path / "DS"
    folder.mkdir()
    write(folder, PLAIN)
    write(folder, {"A": "1,2\n", "graph_indicator": "1\n1\n"}, name="OTHER")
    assert gg.load_tu(folder)[0] == expected()
    folder.rename(tmp_path / "BOTH")
    with pytest.raises(InvalidFileError, match="DS, OTHER"):
        gg.load_tu(tmp_path / "BOTH")


# ---------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("part", "content", "message"),
    [
        ("A", "1, 2\n2, x\n", r"DS_A.txt, line 2: an integer is expected; found 'x'"),
        ("A", "1, 2\n\n2\n", r"DS_A.txt, line 3: 2 numbers are expected.*'2'"),
        ("A", "1, 2, 3\n", r"DS_A.txt, line 1: 2 numbers are expected"),
        ("A", "1,, 2\n", r"DS_A.txt, line 1: a number is missing"),
        ("A", "1, 6\n", r"DS_A.txt, line 1: vertices are numbered from 1 to 5 .*'1, 6'"),
        ("A", "1, 2\n0, 1\n", r"DS_A.txt, line 2: vertices are numbered from 1"),
        ("A", "1, -2\n", r"DS_A.txt, line 1: vertices"),
        ("A", "1, 2\n3, 4\n", r"DS_A.txt, line 2: .*joins graph 1 to graph 2.*'3, 4'"),
        ("A", "1, 99999999999999999999\n", r"DS_A.txt, line 1: .*64 bits.*'99999999999999999999'"),
        ("A", "1, " + "9" * 10_000, r"DS_A.txt, line 1: .*64 bits.*9\.\.\."),
        ("A", "1, 2.5\n", r"DS_A.txt, line 1: an integer is expected; found '2.5'"),
        ("A", b"1, 2\n\xff\xfe1\n", r"DS_A.txt, line 2: only plain \(ASCII\) text"),
        ("A", "1, 2\n".encode("utf-16"), r"DS_A.txt, line 1: only plain"),
        ("A", b"1, 2\n1, \x00\n", r"DS_A.txt, line 2: an integer is expected"),
        ("A", "1, 1_0\n", "an integer is expected; found '1_0'"),
        ("A", None, r"no file that ends in '_A.txt'"),
        ("graph_indicator", None, r"DS_graph_indicator.txt is missing"),
        ("graph_indicator", "1\n1\n1\n2\n3\n", r"indicator.txt, line 5: graphs .* 1 to 2 .*'3'"),
        (
            "graph_indicator",
            "0\n1\n1\n2\n2\n",
            r"indicator.txt, line 1: graphs are numbered from 1",
        ),
        ("graph_indicator", "1\n1\n1\n1\n1\n", r"vertices for 1 graphs.*2 classes"),
        ("graph_indicator", "1\n1\n1\n2\n999999999999\n", r"line 5: .*'999999999999'"),
        ("graph_indicator", "1\n1\n1\n2\n", r"DS_A.txt, line 5: vertices are numbered from 1 to 4"),
        ("graph_labels", "1\n", r"line 4: graphs are numbered from 1 to 1 .*'2'"),
        ("graph_labels", "1\n2\n1\n", r"vertices for 2 graphs.*3 classes.*cut short"),
        ("graph_labels", "a\nb\n", r"DS_graph_labels.txt, line 1: a number is expected; found 'a'"),
        ("node_labels", "0\n0\n1\n0\n", r"node_labels.txt must have a line for each of the 5 vert"),
        ("node_labels", "0\n0\nC\n0\n1\n", r"node_labels.txt, line 3: .*'C'"),
        (
            "edge_labels",
            "0\n",
            r"edge_labels.txt must have a line for each of the 6 edges; it has 1",
        ),
        ("node_attributes", "1\n2\n3\n4\nnan\n", r"node_attributes.txt, line 5: .*finite.*'nan'"),
        ("node_attributes", "1\n2\n1e999\n4\n5\n", r"node_attributes.txt, line 3: .*finite"),
        ("node_attributes", "1\n2\n3\n4\n", r"node_attributes.txt must have a line for each"),
        ("node_attributes", "1\n2\n3, 4\n4\n5\n", r"line 3: a number is expected; found '3,'"),
        ("edge_attributes", "1\n1\n2\n2\n3\ninfinity\n", r"edge_attributes.txt, line 6"),
    ],
)
def test_mistakes_are_named_with_file_line_and_value(tmp_path, part, content, message):
    write(tmp_path, PLAIN)
    (tmp_path / f"DS_{part}.txt").unlink()
    if content is not None:
        write(tmp_path, {part: content})
    with pytest.raises(InvalidFileError, match=message):
        gg.load_tu(tmp_path)


def test_braces_in_the_name_of_a_folder(tmp_path):
    """Names are no part of the pattern of a message: this was a KeyError."""
    (tmp_path / "{a}").mkdir()
    with pytest.raises(InvalidFileError, match=r"line 1: vertices.*\{a\}.*'1, 9'"):
        gg.load_tu(write(tmp_path / "{a}", PLAIN | {"A": "1, 9\n"}))


@pytest.mark.parametrize(
    ("sidecar", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "JSON object"),
        ('{"vertex_labels": "abc"}', "'vertex_labels' must be a list of strings"),
        ('{"vertex_labels": ["C", "O"]}', r"node_labels.txt, line 5: .*codes 0 to 1.*'2'"),
        ('{"classes": ["a", "b"]}', r"graph_labels.txt, line 2: .*codes 0 to 1.*'-1'"),
        ('{"empty_graphs": [1.5]}', "list of integers"),
        ('{"empty_graphs": [3]}', "vertices for 2 graphs"),
        ('{"empty_graphs": [' + "9" * 1000 + "]}", "vertices for 2 graphs"),
    ],
)
def test_mistakes_in_the_sidecar(tmp_path, sidecar, message):
    write(tmp_path, PLAIN)
    (tmp_path / "DS_graphgrain.json").write_text(sidecar)
    with pytest.raises(InvalidFileError, match=message):
        gg.load_tu(tmp_path)


@pytest.mark.parametrize("path", [None, 3, "no/such/place", "a\0b", "x" * 5000])
def test_paths_that_are_none(path):
    with pytest.raises(GraphgrainError):
        gg.load_tu(path)


def test_a_forgotten_ending_is_guessed(tmp_path):
    gg.save_tu(tmp_path / "DS.zip", expected())
    with pytest.raises(InvalidFileError, match=r"There is DS.zip beside it"):
        gg.load_tu(tmp_path / "DS")


def test_a_chosen_column_keeps_its_names(tmp_path):
    graphs = gg.as_graphs([([(0, 1)], ["C", "O"], ["single"])])
    gg.save_tu(tmp_path / "DS", graphs)
    found, _ = gg.load_tu(tmp_path / "DS", label_column=0, edge_label_column=0)
    assert found == graphs
