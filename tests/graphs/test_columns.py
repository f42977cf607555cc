"""Columns stay with their graphs: in slices, joined batches, views, streams and files."""

import pickle
import warnings

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
nx = pytest.importorskip("networkx")

TABLE = {
    "structure": ["CCO", "CN", "c1ccccc1", "CCO"],
    "compound": ["m1", "m2", "m3", "m4"],
    "dose": [0.5, 1.5, 2.5, 3.5],
}


class Capsule:
    """Any object with Arrow's PyCapsule interface."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


GRAPHS = gg.as_graphs(TABLE, graphs="structure", id="compound")
VIEWS = [
    gg.EdgeFilter(keep=["single"]),
    gg.StructuralLabels(),
    gg.PharmacophoreLabels(),
    gg.EdgeLengths(),
    gg.AttributeBins(),
    gg.AttributeScaler(),
]


def columns(graphs):
    return {name: values.tolist() for name, values in graphs.columns.items()}


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        pd.DataFrame(TABLE, index=[5, 3, 1, 9]),
        pl.DataFrame(TABLE),
        pl.DataFrame(TABLE).lazy(),
        pa.table(TABLE),
        Capsule(pa.table(TABLE)),
    ],
    ids=["dict", "pandas", "polars", "lazy", "pyarrow", "capsule"],
)
def test_tables_of_every_kind(table):
    graphs = gg.as_graphs(table, graphs="structure", id="compound")
    assert graphs == gg.from_smiles(TABLE["structure"])
    wanted = {"smiles": TABLE["structure"], "id": TABLE["compound"], "dose": TABLE["dose"]}
    assert columns(graphs) == wanted


def test_a_relation_of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select 'CCO' as structure, 7 as compound")
    assert columns(gg.as_graphs(relation, graphs="structure", id="compound"))["id"] == [7]


@pytest.mark.parametrize("key", [2, slice(1, 3), [3, 0], np.array([1, 0, 0, 1], bool), []])
def test_slices(key):
    numbers = np.atleast_1d(np.arange(4)[key]).astype(int)
    part = GRAPHS[key]
    assert part.vertex_counts.tolist() == [GRAPHS.vertex_counts[n] for n in numbers]
    assert part.columns["id"].tolist() == [TABLE["compound"][n] for n in numbers]
    assert part.columns["dose"].tolist() == [TABLE["dose"][n] for n in numbers]


def test_single_graphs_pickles_and_arrays():
    assert [graph.columns["id"].item() for graph in GRAPHS] == TABLE["compound"]
    assert columns(pickle.loads(pickle.dumps(GRAPHS))) == columns(GRAPHS)
    assert columns(gg.as_graphs(np.asarray(GRAPHS))) == columns(GRAPHS)
    assert columns(gg.as_graphs(list(GRAPHS))) == columns(GRAPHS)


def test_joined_batches_fill_what_one_lacks():
    bare = gg.as_graphs([([(0, 1)], ["C", "O"], ["single"])])
    both = columns(GRAPHS[:2] + bare + GRAPHS[3:].with_columns({"batch": [7]}))
    assert both["id"] == ["m1", "m2", "", "m4"]
    assert both["dose"] == [0.5, 1.5, None, 3.5]
    assert both["batch"] == [None, None, None, 7]
    assert columns(gg.GraphBatch.concatenate([GRAPHS[:1], GRAPHS[1:]])) == columns(GRAPHS)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: type(view).__name__)
def test_views(view):
    graphs = gg.GraphBatch.from_edges(
        GRAPHS.vertex_counts,
        GRAPHS.edges,
        GRAPHS.labels,
        edge_labels=GRAPHS.edge_labels,
        vertex_attributes=np.arange(GRAPHS.n_vertices),
    ).with_columns(GRAPHS.columns)
    assert columns(view.fit_transform(graphs)) == columns(GRAPHS)


def test_streams_of_graphs():
    chunks = list(gg.as_chunks(GRAPHS, chunk_size=3))
    assert [chunk.columns["id"].tolist() for chunk in chunks] == [["m1", "m2", "m3"], ["m4"]]
    parts = gg.as_chunks(iter([GRAPHS[:1], GRAPHS[1:]]), chunk_size=3)
    assert columns(gg.GraphBatch.concatenate(list(parts))) == columns(GRAPHS)


def test_columns_are_no_copy_of_the_graphs_and_cost_nothing_where_absent():
    more = GRAPHS.with_columns({"x": range(4)})
    assert more.indices is GRAPHS.indices
    assert more == GRAPHS  # batches are compared by their graphs
    assert GRAPHS.columns.keys() == {"smiles", "id", "dose"}  # unchanged
    assert gg.as_graphs([([(0, 1)], None)]).columns == {}
    with pytest.raises(ValueError, match="read-only"):
        more.columns["id"][0] = "other"


# ---------------------------------------------------------------- what readers keep


def test_files_of_molecules(tmp_path):
    file = tmp_path / "x.csv"
    file.write_text("code,SMILES,compound_id,value\na,CCO,m1,1\nb,C1CC,m2,2\nc, CN,m3,\n")
    with pytest.warns(GraphgrainWarning, match="line 3"):
        graphs, table = gg.load_molecules(file, errors="skip")
    assert graphs.columns["id"].tolist() == ["m1", "m3"]
    assert graphs.columns["smiles"].tolist() == ["CCO", "CN"]
    assert graphs.columns["line"].tolist() == [2, 4]
    assert np.array_equal(graphs.columns["value"], [1, np.nan], equal_nan=True)
    assert table["code"].tolist() == graphs.columns["code"].tolist() == ["a", "c"]
    chunks = list(gg.iter_molecules(file, chunk_size=1, id="code", errors="skip"))
    assert [chunk.columns["id"].tolist() for chunk in chunks] == [["a"], ["c"]]
    index = gg.GraphIndex.build(None, file, kernel=gg.VertexHistogram(), errors="skip")
    assert set(index.column_names) == {"line", "code", "SMILES", "compound_id", "value"}
    with pytest.raises(InvalidParameterError, match=r"no column 'key' for the ids; .* code"):
        gg.load_molecules(file, id="key", errors="skip")


def test_molecules_without_smiles_keep_their_binary_form(tmp_path):
    Chem = pytest.importorskip("rdkit.Chem")
    molecules = [Chem.MolFromSmiles(text) for text in ("C[NH3+]", "C[C@H](N)O")]
    with Chem.SDWriter(str(tmp_path / "x.sdf")) as writer:
        for number, molecule in enumerate(molecules):
            molecule.SetProp("_Name", f"m{number}")
            molecule.SetProp("pKa", str(number))
            writer.write(molecule)
    graphs, _ = gg.load_molecules(tmp_path / "x.sdf")
    assert graphs.columns["id"].tolist() == ["m0", "m1"]
    assert graphs.columns["pKa"].tolist() == [0, 1]
    converted = gg.from_rdkit(molecules)
    for batch in (graphs, converted, pickle.loads(pickle.dumps(converted))):
        for graph, molecule in zip(batch, molecules, strict=True):
            again = Chem.Mol(graph.columns["molecule"].item())
            assert Chem.MolToSmiles(again) == Chem.MolToSmiles(molecule)
            assert [atom.GetSymbol() for atom in again.GetAtoms()] == graph.labels.tolist()


def test_an_index_keeps_all_columns_but_rdkits_molecules():
    """A column may have the name of RDKit's molecules without holding any."""
    Chem = pytest.importorskip("rdkit.Chem")
    table = {"smiles": ["CCO", "CN"], "molecule": ["ethanol", "methylamine"]}
    for graphs, names in (
        (gg.as_graphs(table, graphs="smiles"), {"smiles", "molecule"}),
        (gg.from_rdkit(map(Chem.MolFromSmiles, table["smiles"])), set()),
    ):
        index = gg.GraphIndex.build(None, graphs, kernel=gg.VertexHistogram())
        assert set(index.column_names) == names


def test_drugs():
    graphs, _, names = gg.load_drugs(names=True)
    assert graphs.columns["id"].tolist() == names.tolist()
    assert gg.from_smiles(graphs.columns["smiles"]) == graphs


def test_attributes_of_graphs_and_names_of_vertices():
    first, second = nx.Graph([("a", "b")], subject="s1", age=30), nx.Graph([("b", "c")], id=7)
    graphs = gg.from_networkx([first, second])
    assert columns(graphs) == {
        "subject": ["s1", None],
        "age": [30, None],
        "id": [None, 7],
        "vertices": [["a", "b"], ["b", "c"]],
    }
    assert gg.from_networkx([nx.path_graph(3)]).columns == {}
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(edges=[(0, 1)], graph_attrs={"subject": "s1"})
    graph.vs["name"] = ["a", "b"]
    found = columns(gg.from_igraph([graph], vertex_label=None))
    assert found == {"subject": ["s1"], "vertices": [["a", "b"]]}


def test_graphs_of_a_table_of_edges_have_their_ids():
    edges = {"patient": ["p2", "p1", "p2"], "source": [1, 1, 2], "target": [2, 2, 3]}
    graphs = gg.from_edge_list(edges, graph="patient")
    assert columns(graphs) == {"id": ["p1", "p2"]}
    assert graphs[1].n_edges == 2


# ---------------------------------------------------------------- what is refused, and said


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GRAPHS.with_columns({"x": [1, 2]}), "2 entries of the column 'x' for 4 graphs"),
        (lambda: GRAPHS.with_columns({"x": np.eye(4)}), r"one entry per graph; got .* \(4, 4\)"),
        (lambda: gg.as_graphs(TABLE), r"has 3 \(structure, compound, dose\).*graphs='smiles'"),
        (lambda: gg.as_graphs(TABLE, graphs="x"), "no column 'x' for the graphs; its columns are"),
        (lambda: gg.as_graphs(TABLE, graphs="structure", id="x"), "no column 'x' for the ids"),
        (lambda: gg.as_graphs(["CCO"], id="x"), r"name columns of a table; got \['CCO'\]"),
        (lambda: gg.as_graphs({"s": ["C"], "t": []}, graphs="s"), r"one length; .* 't': 0"),
        (
            lambda: gg.as_graphs(pd.DataFrame([["C", 1]], columns=["s", "s"]), graphs="s"),
            "different names|unique",
        ),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises((InvalidGraphError, InvalidParameterError), match=message):
        call()


def test_missing_and_repeated_ids_are_said_once():
    table = {"s": ["C", "CC", "CCC", "CO"], "key": ["a", "a", "", None]}
    with pytest.warns(GraphgrainWarning, match="2 graphs have no id and 1 ids occur") as caught:
        graphs = gg.as_graphs(table, graphs="s", id="key")
    assert len(caught) == 1
    assert graphs.columns["id"].tolist() == ["a", "a", "", None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gg.as_graphs(TABLE, graphs="structure", id="compound")


def test_names_that_are_ours():
    table = {"s": ["CCO"], "smiles": ["other"], "id": ["<b>x</b>"], "key": [1], "input_id": [2]}
    graphs = gg.as_graphs(table, graphs="s", id="key")
    assert columns(graphs) == {
        "smiles": ["CCO"],
        "id": [1],
        "input_smiles": ["other"],
        "input_input_id": ["<b>x</b>"],
        "input_id": [2],
    }
