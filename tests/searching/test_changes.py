"""Adding, removing, compacting: the index is always that of the graphs that it should hold."""

from __future__ import annotations

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import InvalidGraphError, InvalidParameterError

from .oracle import best, similarity_matrix


def same_answers(index, graphs, ids):
    """The index behaves like a new one of these graphs."""
    assert len(index) == len(graphs)
    assert index.ids.tolist() == list(ids)
    assert index.graphs() == graphs
    expected = similarity_matrix(index.kernel, graphs[:6], graphs, "minmax")
    found, values = index.search(graphs[:6], k=5)
    order = best(expected, 5)
    np.testing.assert_allclose(values, np.take_along_axis(expected, order, 1), rtol=1e-12)
    assert found.tolist() == [[ids[place] for place in row] for row in order]


@pytest.fixture
def small(drugs, tmp_path):
    graphs, families, names = drugs
    columns = {"family": families[:60]}
    return gg.GraphIndex.build(tmp_path / "s.ggi", graphs[:60], ids=names[:60], columns=columns)


def test_add_remove_compact(small, drugs):
    graphs, families, names = drugs
    small.add(graphs[60:90], ids=names[60:90], columns={"family": families[60:90]})
    same_answers(small, graphs[:90], names[:90].tolist())
    gone = names[[0, 5, 70, 89]]
    small.remove(gone)
    keep = np.flatnonzero(~np.isin(names[:90], gone))
    same_answers(small, graphs[keep], names[keep].tolist())
    size = small.nbytes()
    small.compact()
    same_answers(small, graphs[keep], names[keep].tolist())
    assert small.nbytes() < size
    assert small.columns()["family"].tolist() == families[keep].tolist()
    same_answers(gg.GraphIndex.open(small.path), graphs[keep], names[keep].tolist())


def test_a_removed_id_can_come_again(small, drugs):
    graphs, families, names = drugs
    small.remove(names[:1])
    small.add(graphs[:1], ids=names[:1], columns={"family": families[:1]})
    order = [*range(1, 60), 0]
    same_answers(small, graphs[order], names[order].tolist())


def test_one_by_one_leaves_few_segments(small, drugs):
    graphs, _, names = drugs
    for number in range(60, 92):
        small.add(graphs[number], ids=names[[number]])
    assert len(small._snapshot.segments) <= 4
    same_answers(small, graphs[:92], names[:92].tolist())


def test_columns_that_come_later_are_missing_before(small, drugs):
    graphs, _, _ = drugs
    small.add(graphs[60:62], ids=[1, 2], columns={"mass": [1.5, 2.5]})
    known = small.columns([1, str(drugs[2][0])])
    assert known["mass"].tolist() == [1.5, None]
    assert known["family"].tolist() == [None, drugs[1][0]]


def test_ids_of_every_kind(tmp_path, drugs):
    ids = [7, "seven", (7, "a"), -(2**63), 2**70, "", "7", ("7",), "é\ud800", np.int32(8)]
    index = gg.GraphIndex.build(tmp_path / "ids.ggi", drugs[0][:10], ids=ids)
    assert index.ids.tolist() == [*ids[:-1], 8]
    assert index.graphs([(7, "a"), "7"]) == drugs[0][[2, 6]]
    index.remove([2**70, "seven"])
    assert len(index) == 8


def test_graphs_without_ids_are_numbered(tmp_path, drugs):
    index = gg.GraphIndex.build(tmp_path / "n.ggi", drugs[0][:5])
    index.remove([4])
    index.add(drugs[0][5:7])
    assert index.ids.tolist() == [0, 1, 2, 3, 5, 6]


PATH = ([(0, 1), (1, 2)], list("CCO"))
ATTRIBUTES = gg.GraphBatch.from_edges([2], [(0, 1)], list("CC"), vertex_attributes=[[1.0], [2.0]])


@pytest.mark.parametrize(
    ("graphs", "more", "message"),
    [
        ([PATH], [(*PATH, ["a", "b"])], "Either all graphs have edge labels"),
        ([(*PATH, [1, 2])], [(*PATH, ["a", "b"])], "all integers or all strings"),
        ([PATH], ATTRIBUTES, "Either all graphs have vertex attributes"),
        (ATTRIBUTES, [PATH], "Either all graphs have vertex attributes"),
    ],
)
def test_labels_and_attributes_that_the_others_do_not_have(tmp_path, graphs, more, message):
    """They are refused at once: graphs of both kinds could not be returned together."""
    kernel = gg.TreePlusPlus(2, 0)
    several = gg.GraphBatch.concatenate([gg.as_graphs(graphs)] * 9 + [gg.as_graphs([([], [])])])
    index = gg.GraphIndex.build(tmp_path / "some.ggi", several, kernel)
    with pytest.raises(InvalidGraphError, match=message):
        index.add(more)
    index.add([([], [])])
    assert len(index) == 11
    assert index.graphs()[:10] == several
    stream = iter([several, gg.as_graphs(more)])
    with pytest.raises(InvalidGraphError, match=message):
        gg.GraphIndex.build(tmp_path / "stream.ggi", stream, kernel)


def test_twins_in_two_segments_are_told_apart(tmp_path, drugs, monkeypatch):
    """An id that comes again in a later segment of the same build is noticed too."""
    monkeypatch.setattr("graphgrain.searching.graph_index.LARGEST", 10)
    monkeypatch.setattr("graphgrain.searching.graph_index.CHUNK", 10)
    ids = [*range(25), 3]
    with pytest.raises(InvalidParameterError, match="3 comes a second time"):
        gg.GraphIndex.build(tmp_path / "t.ggi", drugs[0][:26], ids=ids)


def test_columns_of_every_kind(tmp_path, drugs):
    columns = {
        "integer": np.array([-1, 300, 2]),
        "float": np.array([0.1, np.nan, -np.inf]),
        "flag": np.array([True, False, True]),
        "text": np.array(["a", "", "é\n"]),
        "mixed": np.array(["a", 2, None], dtype=object),
    }
    index = gg.GraphIndex.build(tmp_path / "k.ggi", drugs[0][:3], columns=columns)
    known = gg.GraphIndex.open(index.path).columns()
    for name, values in columns.items():
        np.testing.assert_array_equal(known[name], values, err_msg=name)


def test_some_columns_of_a_file(tmp_path):
    pytest.importorskip("rdkit")
    source = tmp_path / "assays.csv"
    source.write_text("smiles,name,y,z\nCCO,ethanol,1.5,2\nCCN,ethylamine,2.5,3\n")
    index = gg.GraphIndex.build(tmp_path / "f.ggi", source, ids="name", columns=["y"])
    assert index.columns()["y"].tolist() == ["1.5", "2.5"]
    assert "z" not in index.column_names


def test_a_stream_is_indexed(tmp_path, drugs):
    graphs, _, names = drugs
    stream = (graphs[begin : begin + 7] for begin in range(0, 50, 7))
    index = gg.GraphIndex.build(tmp_path / "stream.ggi", stream, ids=iter(names[:56].tolist()))
    same_answers(index, graphs[:56], names[:56].tolist())


def test_an_index_is_not_overwritten_by_accident(small, drugs):
    with pytest.raises(InvalidParameterError, match="overwrite=True"):
        gg.GraphIndex.build(small.path, drugs[0][:3])
    assert len(gg.GraphIndex.open(small.path)) == 60
    index = gg.GraphIndex.build(small.path, drugs[0][:3], overwrite=True)
    same_answers(index, drugs[0][:3], [0, 1, 2])


def test_other_files_are_left_alone(tmp_path, drugs):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(InvalidParameterError, match=r"thesis\.tex"):
        gg.GraphIndex.build(folder, drugs[0][:3])
    with pytest.raises(InvalidParameterError, match="is a file"):
        gg.GraphIndex.build(folder / "thesis.tex", drugs[0][:3])
