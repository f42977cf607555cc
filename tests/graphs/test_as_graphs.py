"""as_graphs: columns of tables of every kind, and which columns hold graphs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import graphgrain as gg
from graphgrain.errors import InvalidGraphError
from graphgrain.graphs.convert.dispatch import holds_graphs

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
nx = pytest.importorskip("networkx")
Chem = pytest.importorskip("rdkit.Chem")

SMILES = ["CCO", "CCN", "c1ccccc1", "CCCO", "CC(=O)O"]
MOLECULES = [Chem.MolFromSmiles(text) for text in SMILES]
#: What RDKit itself says about the molecules.
ATOMS = [molecule.GetNumAtoms() for molecule in MOLECULES]
BONDS = [molecule.GetNumBonds() for molecule in MOLECULES]
INDEX = [7, 5, 3, 1, 9]  # rows of a table that was sorted
FRAME = pd.DataFrame({"smiles": SMILES, "size": [1.0, 2, 3, 4, 5]}, index=INDEX)


@pytest.mark.parametrize(
    "x",
    [
        SMILES,
        tuple(SMILES),
        np.array(SMILES),
        np.array(SMILES, dtype=object).reshape(-1, 1),
        iter(SMILES),
        FRAME["smiles"],
        FRAME[["smiles"]],
        FRAME["smiles"].astype(object),
        FRAME["smiles"].astype("category"),
        pl.Series(SMILES),
        pl.DataFrame({"smiles": SMILES}),
        MOLECULES,
        pd.Series(MOLECULES, index=INDEX),
        pl.Series(MOLECULES, dtype=pl.Object),
    ],
    ids=lambda x: type(x).__name__,
)
def test_molecules_in_every_kind_of_column(x):
    found = gg.as_graphs(x)
    assert found.vertex_counts.tolist() == ATOMS
    assert found.edge_counts.tolist() == BONDS
    assert found.labels[:3].tolist() == ["C", "C", "O"]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ("CCO", r"single string, 'CCO' \(str\).*in a list"),
        (FRAME, r"has one column; this one has 2 \(smiles, size\).*table\['smiles'\]"),
        (pl.from_pandas(FRAME), "has one column; this one has 2"),
        (["CCO", None], r"item 1 is missing \(None\)"),
        (pd.Series(["CCO", np.nan], dtype=object), "item 1 is missing"),
        (pd.Series(["CCO", None], dtype="string"), "item 1 is missing"),
        (pl.Series(["CCO", None]), "item 1 is missing"),
        (["CCO", MOLECULES[0]], r"RDKit molecule \(item 1\), SMILES string \(item 0\)"),
        (["CCO", "C("], r"number 1, 'C\('"),
        (MOLECULES[0], "single RDKit molecule"),
    ],
)
def test_what_is_refused(x, message):
    with pytest.raises(InvalidGraphError, match=message):
        gg.as_graphs(x)


def test_from_smiles_takes_a_column_and_refuses_a_table():
    assert gg.from_smiles(FRAME[["smiles"]]) == gg.from_smiles(SMILES)
    with pytest.raises(InvalidGraphError, match="one column; this one has 2"):
        gg.from_smiles(FRAME)


def test_functions_and_views_take_the_same(tmp_path):
    graphs = gg.from_smiles(SMILES)
    series = pd.Series([*SMILES, "OCC"], index=[*INDEX, 0])
    assert gg.duplicates(series) == [[0, 5]]
    assert gg.describe(SMILES) == gg.describe(graphs)
    assert [len(chunk) for chunk in gg.as_chunks(SMILES, chunk_size=2)] == [2, 2, 1]
    gg.save_tu(tmp_path / "x.zip", pl.Series(SMILES))
    assert gg.load_tu(tmp_path / "x.zip")[0] == graphs
    assert gg.EdgeFilter(keep=["single"]).fit_transform(SMILES).edge_counts.tolist() == [
        sum(bond.GetBondType().name == "SINGLE" for bond in molecule.GetBonds())
        for molecule in MOLECULES
    ]


@pytest.mark.parametrize("columns", ["smiles", ["smiles"]])
@pytest.mark.parametrize("frame", [FRAME, pl.from_pandas(FRAME)], ids=["pandas", "polars"])
def test_a_column_of_a_table_beside_others(frame, columns):
    kernel = gg.TreePlusPlus(2, 1, output="features")
    both = ColumnTransformer([("molecule", kernel, columns), ("size", StandardScaler(), ["size"])])
    both.set_params(sparse_threshold=0)
    found = both.fit_transform(frame)
    alone = kernel.fit_transform(SMILES).toarray()
    assert found.shape == (5, alone.shape[1] + 1)
    assert (found[:, :-1] == alone).all()
    assert (both.transform(frame) == found).all()
    names = both.get_feature_names_out()
    assert list(names[:-1]) == [f"molecule__{name}" for name in kernel.get_feature_names_out()]
    model = make_pipeline(both, LogisticRegression()).fit(frame, [0, 1, 0, 1, 0])
    assert len(model.predict(frame)) == 5


def test_an_array_of_graphs_has_one_dimension():
    graphs = gg.load_drugs()[0]
    array = np.asarray(graphs)
    assert array.shape == (len(graphs),)
    assert array.dtype == object
    assert array[3] == graphs[3]
    assert gg.as_graphs(array) == graphs
    assert np.asarray(graphs[[]]).shape == (0,)
    with pytest.raises(TypeError, match="array of objects"):
        np.asarray(graphs, dtype=float)


def test_bagging_over_graphs():
    """The members' votes are those of models that are fitted to the same samples by hand."""
    graphs, y = gg.load_drugs()
    graphs, y = graphs[::4], y[::4]
    column = graphs.reshape(-1, 1)
    base = make_pipeline(gg.VertexHistogram(output="features"), LogisticRegression())
    bagging = BaggingClassifier(base, n_estimators=3, random_state=0).fit(column, y)
    votes = np.zeros((len(graphs), len(bagging.classes_)))
    for sample in bagging.estimators_samples_:
        model = base.fit(graphs[sample], y[sample])
        places = np.searchsorted(bagging.classes_, model.classes_)
        votes[:, places] += model.predict_proba(graphs) / 3
    np.testing.assert_allclose(bagging.predict_proba(column), votes, atol=1e-6)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (FRAME["smiles"], True),
        (FRAME["size"], False),
        (pl.Series(SMILES), True),
        (pl.Series([1, 2]), False),
        (pl.Series([True, None]), False),
        (pd.Series([None, "CCO", None, "c1ccncc1"]), True),
        (pd.Series([None, None]), False),
        (pd.Series([], dtype=object), False),
        (pd.Series(MOLECULES, index=INDEX), True),
        (pd.Series([nx.path_graph(3), nx.path_graph(2)]), True),
        (np.array(SMILES), True),
        (np.arange(5), False),
        (np.array(["C", "N", "O", "C"]), False),  # categories
        (["yes", "no", "no"], False),
        (["I", "II", "III"], False),
        (["aspirin", "caffeine", "CNN", "Bosnia"], False),
        (["CCO", "CC(", "CCN", "CCCC"], True),  # one that cannot be read is an error later
        (np.asarray(gg.load_drugs()[0][:3]), True),
        (gg.load_drugs()[0], True),
    ],
    ids=itertools.count(),
)
def test_which_columns_hold_graphs(column, expected):
    assert holds_graphs(column) is expected


def test_a_long_column_is_sampled(monkeypatch):
    class Column(list):
        seen = 0

        def __getitem__(self, row):
            Column.seen += 1
            return super().__getitem__(row)

    assert holds_graphs(Column(["CCO"] * 100_000))
    assert not holds_graphs(Column([None] * 100_000))
    assert Column.seen < 500
