"""Tables with a column of graphs: found, encoded as scikit-learn does, added up exactly."""

from __future__ import annotations

import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import OneHotEncoder, QuantileTransformer

import graphgrain as gg
from graphgrain.errors import InvalidGraphError, InvalidParameterError
from graphgrain.learning import columns as module
from graphgrain.learning.columns import (
    ColumnEncoder,
    ColumnTerm,
    column_terms,
    molecule_descriptors,
)
from graphgrain.learning.inputs import split_table

SMILES = [
    "CCO", "CCN", "CCCO", "CCCN", "CC(C)O", "CC(C)N", "CCCCO", "CCCCN", "OCCO", "NCCN", "c1ccccc1O",
    "c1ccccc1N", "Cc1ccccc1", "CC=O", "CCC=O", "CC#N", "CCC#N", "CCOC", "CCNC", "CCSC", "CCS",
    "CCCl", "CCCCl", "CCBr", "OC(=O)C", "OC(=O)CC", "NC(=O)C", "c1ccncc1", "c1ccoc1", "c1ccsc1",
]  # fmt: skip
ONE = {"kernels": gg.WeisfeilerLehman(1, similarity="minmax")}


def assays(rows=90, seed=0, kind=pd.DataFrame):
    """A number that is one part of the molecule, one of the dose and one of the assay."""
    rng = np.random.default_rng(seed)
    which = np.arange(rows) % len(SMILES)
    dose = rng.normal(size=rows)
    assay = rng.choice(["wet", "dry"], rows)
    y = np.array([s.count("O") - s.count("N") for s in SMILES])[which] + 2.0 * dose
    y = y + 3.0 * (assay == "wet")
    content = {"dose": dose, "molecule": [SMILES[i] for i in which], "assay": assay}
    return kind({name: list(values) for name, values in content.items()}), y


# ---------------------------------------------------------------- the column of graphs


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_column_is_found_by_its_content(library):
    frame = pytest.importorskip(library).DataFrame
    table, _ = assays(kind=frame)
    graphs, name, rest = split_table(table, None)
    assert name == "molecule"
    assert list(rest) == ["dose", "assay"]
    np.testing.assert_array_equal(rest["dose"], assays()[0]["dose"])
    assert list(graphs) == list(assays()[0]["molecule"])


def test_graphs_of_any_kind_are_found():
    nx = pytest.importorskip("networkx")
    Chem = pytest.importorskip("rdkit.Chem")
    molecules = [Chem.MolFromSmiles(smiles) for smiles in SMILES[:5]]
    rings = [nx.cycle_graph(n) for n in range(3, 8)]
    batch = list(gg.from_smiles(SMILES[:5]))
    for graphs in (molecules, rings, batch, SMILES[:5]):
        table = pd.DataFrame({"a": [1.0, 2, 3, 4, 5], "g": pd.Series(graphs, dtype=object)})
        assert split_table(table, None)[1] == "g"


def test_words_are_no_graphs():
    table = pd.DataFrame({"solvent": ["water", "ethanol"], "molecule": ["CCO", "CCN"]})
    assert split_table(table, None)[1] == "molecule"


@pytest.mark.parametrize(
    ("table", "graphs", "message"),
    [
        (
            {"a": [1.0, 2.0], "b": [3, 4]},
            None,
            r"must hold graphs; none of a, b does.*graphs='...'",
        ),
        ({"a": ["CCO"], "b": ["CCN"]}, None, r"must hold graphs; these do: a, b\. Name it"),
        ({"a": ["CCO"]}, "b", r"no column 'b'; its columns are a"),
    ],
)
def test_columns_that_cannot_be_found(table, graphs, message):
    with pytest.raises(InvalidParameterError, match=message):
        split_table(pd.DataFrame(table), graphs)


def test_an_ambiguous_column_can_be_named():
    table, y = assays()
    table["product"] = list(table["molecule"])[::-1]
    with pytest.raises(InvalidParameterError, match="these do: molecule, product"):
        gg.GraphRegressor(**ONE).fit(table, y)
    model = gg.GraphRegressor(**ONE, graphs="molecule", alpha=0.1).fit(table, y)
    alone = gg.GraphRegressor(**ONE, graphs="product", alpha=0.1).fit(table, y)
    assert np.abs(model.predict(table) - alone.predict(table)).max() > 0.1


def test_columns_are_named_once_and_belong_to_tables():
    twice = pd.DataFrame([["CCO", 1.0, 2.0]], columns=["s", "a", "a"])
    with pytest.raises(InvalidParameterError, match=r"different names.*'a' 2 times"):
        split_table(twice, None)
    with pytest.raises(InvalidParameterError, match="names a column of a table; got a list"):
        split_table(["CCO"], "smiles")


# ---------------------------------------------------------------- encoding


def test_the_encoding_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    number = rng.exponential(size=60)
    number[::7] = np.nan
    whole = rng.integers(0, 5, 60)
    word = rng.choice(["a", "b", "c"], 60).astype(object)
    columns = {"n": number, "w": word, "k": whole}
    encoder = ColumnEncoder.fit(columns)
    table = np.column_stack([number, whole]).astype(float)
    imputer = SimpleImputer(strategy="median", add_indicator=True).fit(table)
    moved = QuantileTransformer(n_quantiles=60, output_distribution="normal")
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(word[:, np.newaxis])
    moved.fit(imputer.transform(table)[:, :2])

    def expected(table, word):
        filled = imputer.transform(table)
        numbers = np.clip(moved.transform(filled[:, :2]), -3, 3)
        return np.hstack([numbers, filled[:, 2:], one_hot.transform(word[:, np.newaxis])])

    np.testing.assert_allclose(encoder.transform(columns), expected(table, word), atol=1e-9)
    new = np.array([[np.nan, 2.0], [99.0, -5.0], [0.5, 2.0]])
    words = np.array(["a", "unseen", "c"], dtype=object)
    found = encoder.transform({"w": words, "k": new[:, 1], "n": new[:, 0], "more": words})
    np.testing.assert_allclose(found, expected(new, words), atol=1e-9)
    assert found[1, -3:].tolist() == [0, 0, 0]  # a category of its own is none of the known


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([1.0, np.inf, 2.0]), "must be finite; 'n' has an infinite one in row 1"),
        (np.full(3, np.nan), "must have a value in some row; 'n' has none"),
        (np.array([None, None, None], dtype=object), "must have a value in some row"),
        (np.array([1.0, "high", 2.0], dtype=object), "numbers or categories; 'n' has .*'high'"),
    ],
)
def test_wrong_columns(values, message):
    with pytest.raises(InvalidParameterError, match=message):
        ColumnEncoder.fit({"n": values})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([1.0, -np.inf]), "must be finite; 'n' has an infinite one in row 1"),
        (np.array([1.0, "high"], dtype=object), "'n' held numbers in training; got 'high'"),
        (np.array([1.0, [2.0]], dtype=object), "'n' held numbers in training; got"),
    ],
)
def test_wrong_columns_later(values, message):
    encoder = ColumnEncoder.fit({"n": np.arange(5.0)})
    with pytest.raises(InvalidParameterError, match=message):
        encoder.transform({"n": values})


def test_missing_columns_are_named():
    encoder = ColumnEncoder.fit({"n": np.arange(5.0), "k": np.array(list("ababa"), dtype=object)})
    with pytest.raises(InvalidParameterError, match=r"'n' is missing \(2 in all\)"):
        encoder.transform({"x": np.arange(3.0)})


def test_gaps_of_pandas_and_polars_are_gaps():
    whole = pd.Series([1, None, 3], dtype="Int64")
    words = pd.Series(["a", None, "b"], dtype="string")
    table = pd.DataFrame({"g": ["CCO", "CCN", "CCC"], "i": whole, "w": words})
    rest = split_table(table, None)[2]
    encoder = ColumnEncoder.fit(rest)
    assert encoder.numbers == ["i"]
    assert encoder.medians.tolist() == [2.0]
    assert encoder.marked.tolist() == [0]
    assert encoder.values == [["", "a", "b"]]
    polars = pytest.importorskip("polars")
    same = polars.DataFrame({"g": ["CCO", "CCN", "CCC"], "i": [1, None, 3], "w": ["a", None, "b"]})
    other = split_table(same, None)[2]
    np.testing.assert_array_equal(encoder.transform(other), encoder.transform(rest))


# ---------------------------------------------------------------- what columns add


def test_the_kernel_is_gaussian_with_the_median_distance():
    rng = np.random.default_rng(0)
    table = {name: rng.normal(size=40) for name in ("a", "b", "c")}
    (columns, rows), (descriptors, others) = column_terms(table, ["c"], rng)
    assert (columns.source.name, descriptors.source.name) == ("columns", "descriptors")
    assert (rows.shape, others.shape) == ((40, 2), (40, 1))
    distances = ((rows[:, None] - rows) ** 2).sum(axis=2)
    median = np.median(distances[np.triu_indices(40, 1)])
    np.testing.assert_allclose(columns.gamma, 1 / median)
    found = ColumnTerm(columns, rows, 0.5).compare(rows[:5], None)
    np.testing.assert_allclose(found, 0.5 * rbf_kernel(rows[:5], rows, 1 / median))


@pytest.mark.parametrize("kind", [gg.GraphRegressor, gg.GraphClassifier])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_are_learned_with_the_graphs(kind, library):
    frame = pytest.importorskip(library).DataFrame
    table, y = assays(150, kind=frame)
    if kind is gg.GraphClassifier:
        y = np.where(y > 1.5, "high", "low")
    model = kind(**ONE).fit(table[:100], y[:100])
    alone = kind(**ONE).fit(list(table["molecule"])[:100], y[:100])
    new, truth = table[100:], y[100:]
    assert model.score(new, truth) > alone.score(list(new["molecule"]), truth) + 0.1
    assert model.score(new, truth) > 0.75
    # by name: in another order, and with one more, it is the same
    other = new[["assay", "molecule", "dose"]]
    np.testing.assert_array_equal(model.predict(other), model.predict(new))
    with pytest.raises(InvalidParameterError, match="'dose' is missing"):
        model.predict(new[["assay", "molecule"]])


@pytest.mark.parametrize("kind", [gg.GraphRegressor, gg.GraphClassifier])
def test_a_decision_is_a_part_of_the_graph_and_a_part_of_the_columns(kind):
    table, y = assays(120)
    y = y if kind is gg.GraphRegressor else np.digitize(y, [0, 3])
    model = kind(**ONE).fit(table[:100], y[:100])
    new = table[100:]
    values = model.predict(new) if kind is gg.GraphRegressor else model.decision_function(new)
    whys = gg.explain(model, new)
    assert max(abs(why.columns) for why in whys) > 0.1
    for number, why in enumerate(whys):
        output = 0 if kind is gg.GraphRegressor else model.classes_.tolist().index(why.target)
        total = why.bias + why.columns + why.vertices.sum()
        assert why.decision == pytest.approx(total, abs=1e-9)
        value = values[number] if kind is gg.GraphRegressor else values[number, output]
        assert why.decision == pytest.approx(value, abs=1e-9)


def test_deviations_and_intervals_with_columns():
    table, y = assays(240)
    model = gg.GraphRegressor(**ONE).fit(table[:160], y[:160])
    mean, deviation = model.predict(table[160:], return_std=True)
    assert deviation.shape == mean.shape
    low, high = model.predict_interval(table[160:], 0.8)
    assert 0.65 < np.mean((low <= y[160:]) & (y[160:] <= high)) < 0.95
    found = model.domain(table[160:])
    assert (found["similarity"] > 0.5).all()  # the molecules are those of the training rows
    assert ((found["leverage"] > 0) & (found["leverage"] <= 1)).all()
    why = gg.explain(model, table[160:163], of="uncertainty")
    for number, one in enumerate(why):
        total = one.bias + one.columns + one.vertices.sum()
        assert one.decision == pytest.approx(total, abs=1e-9)
        assert one.decision == pytest.approx(np.log(deviation[number]), rel=1e-6)


@pytest.mark.parametrize("kind", [gg.GraphRegressor, gg.GraphClassifier])
def test_life_with_tables(kind, tmp_path):
    table, y = assays(90)
    y = y if kind is gg.GraphRegressor else np.where(y > 1.5, "high", "low")
    model = kind(**ONE)
    assert np.isfinite(cross_val_score(model, table, y, cv=2, error_score="raise")).all()
    model.fit(table, y)
    model.save(tmp_path / "model.ggm")
    for again in (pickle.loads(pickle.dumps(model)), gg.load_model(tmp_path / "model.ggm")):
        np.testing.assert_array_equal(again.predict(table), model.predict(table))
    two = clone(model).set_params(n_jobs=2).fit(table, y)
    np.testing.assert_array_equal(two.predict(table), model.predict(table))


# ---------------------------------------------------------------- descriptors


def test_descriptors_are_those_of_rdkit_each_molecule_once(monkeypatch):
    Chem = pytest.importorskip("rdkit.Chem")
    from rdkit.Chem import Descriptors

    found = molecule_descriptors([*SMILES[:4], Chem.MolFromSmiles("CCO")])
    assert list(found) == [name for name, _ in Descriptors.descList]
    for name, function in Descriptors.descList:
        expected = [function(Chem.MolFromSmiles(smiles)) for smiles in [*SMILES[:4], "CCO"]]
        np.testing.assert_allclose(found[name], expected, equal_nan=True)
    before = module._descriptors.cache_info().misses
    molecule_descriptors(SMILES[:4] * 3)
    assert module._descriptors.cache_info().misses == before


def test_descriptors_join_the_columns():
    pytest.importorskip("rdkit")
    from rdkit.Chem import Crippen, MolFromSmiles

    y = np.array([Crippen.MolLogP(MolFromSmiles(s)) for s in SMILES])
    train, test = SMILES[::2] + SMILES[1::4], SMILES[3::4]
    own = dict(zip(SMILES, y, strict=True))
    model = gg.GraphRegressor(**ONE, descriptors="rdkit").fit(train, [own[s] for s in train])
    assert "MolLogP" in model.terms_[-1]["columns"]
    assert model.columns_ == {}
    assert model.score(test, [own[s] for s in test]) > 0.5
    table = pd.DataFrame({"s": train, "dose": np.arange(len(train)) % 3})
    both = gg.GraphRegressor(**ONE, descriptors="rdkit").fit(table, [own[s] for s in train])
    assert both.columns_ == {"dose": "number"}
    assert np.isfinite(both.predict(table)).all()
    for single, kind in (("CCO", "string"), (MolFromSmiles("CCO"), "RDKit molecule")):
        with pytest.raises(InvalidGraphError, match=f"single {kind}"):
            model.predict(single)


def test_descriptors_need_molecules():
    graphs = gg.from_smiles(SMILES)
    y = graphs.vertex_counts
    by_batch = gg.GraphRegressor(**ONE, descriptors="rdkit").fit(graphs, y)
    by_smiles = gg.GraphRegressor(**ONE, descriptors="rdkit").fit(SMILES, y)
    np.testing.assert_array_equal(by_batch.predict(graphs), by_smiles.predict(SMILES))
    bare = gg.as_graphs([([(0, 1)], ["C", "C"])] * 3)
    for molecules, words in ((bare, "got a GraphBatch without"), (list(graphs), "item 0 is a")):
        with pytest.raises(InvalidParameterError, match=rf"needs molecules.*{words}"):
            gg.GraphRegressor(descriptors="rdkit").fit(molecules, range(len(molecules)))


def test_molecules_are_standardised_on_request():
    salts = [f"{smiles}.Cl" for smiles in SMILES]
    y = gg.from_smiles(SMILES).vertex_counts
    model = gg.GraphRegressor(**ONE, standardize="largest", descriptors="rdkit").fit(salts, y)
    plain = gg.GraphRegressor(**ONE, descriptors="rdkit").fit(SMILES, y)
    np.testing.assert_allclose(model.predict(salts), plain.predict(SMILES), rtol=1e-9)
    with pytest.raises(InvalidParameterError, match="standardize='largest' needs molecules"):
        model.predict(gg.from_smiles(SMILES))


# ---------------------------------------------------------------- what a table may do to a model

SMALL = ONE


@pytest.fixture(scope="module")
def dosed():
    """A table in which the target depends on the dose only."""
    dose = np.random.default_rng(3).normal(size=80)
    smiles = [SMILES[number % len(SMILES)] for number in range(80)]
    return pd.DataFrame({"smiles": smiles, "dose": dose}), 10 * dose


def test_descriptors_do_not_replace_columns_of_the_same_name(dosed):
    table, y = dosed
    own = table.rename(columns={"dose": "MolLogP"})
    with pytest.raises(InvalidParameterError, match="adds a column 'MolLogP'"):
        gg.GraphRegressor(descriptors="rdkit").fit(own, y)


def test_the_column_of_graphs_is_that_of_training(dosed):
    table, y = dosed
    model = gg.GraphRegressor(**SMALL).fit(table, y)
    small = pd.DataFrame({"smiles": ["C", "O"], "dose": [0.5, -0.5]})
    both = small.assign(product=["CCOCC(=O)C", "c1ccccc1CC"])
    expected = gg.GraphRegressor(**SMALL, graphs="smiles").fit(table, y).predict(small)
    np.testing.assert_array_equal(model.predict(small), expected)
    np.testing.assert_array_equal(model.predict(both), expected)
    assert model.predict(small[:0]).shape == (0,)
    renamed = table.rename(columns={"smiles": "molecule"})  # found by its content
    np.testing.assert_array_equal(model.predict(renamed), model.predict(table))
    alone = gg.GraphRegressor(**SMALL).fit(table[["smiles"]], y)
    assert alone.predict(pd.DataFrame({"smiles": ["C"]})).shape == (1,)
    numbered = table.rename(columns={"smiles": 0, "dose": 1})
    again = gg.GraphRegressor(**SMALL, graphs=0).fit(numbered, y)
    np.testing.assert_array_equal(again.predict(numbered), model.predict(table))


@pytest.mark.parametrize(
    ("trained", "new"),
    [
        ([True, False], [1, 0]),
        (["1", "2"], [1.0, 2.0]),
        (["1", "2"], [1, 2]),
        ([1.0, None], [1, None]),
        (pd.Categorical([100, 200]), [100, 200]),
    ],
)
def test_categories_in_another_type_are_the_same(trained, new):
    def column(values):
        return np.asarray(values, dtype=object) if None in list(values) else np.asarray(values)

    if isinstance(trained, pd.Categorical):
        _, _, rows = split_table(pd.DataFrame({"smiles": ["CCCO", "CCCN"], "a": trained}), "smiles")
    else:
        rows = {"a": column(trained)}
    encoder = ColumnEncoder.fit(rows)
    expected = encoder.transform(rows)
    np.testing.assert_array_equal(encoder.transform({"a": column(new)}), expected)
    if encoder.categories:
        assert expected.any(axis=1).all()


def test_numbers_in_a_column_of_categories():
    encoder = ColumnEncoder.fit({"a": np.array(["x", "y"])})
    with pytest.raises(InvalidParameterError, match=r"held categories in training, such as 'y'"):
        encoder.transform({"a": np.array([1.0, 2.0])})
    assert not encoder.transform({"a": np.array(["z"])}).any()  # an unknown category
    assert not encoder.transform({"a": np.array([np.nan])}).any()  # a missing one
    numbered = ColumnEncoder.fit({"a": np.array(["1", "2"])})
    assert not numbered.transform({"a": np.array([3])}).any()


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_dates_are_refused(dosed, unit):
    table, y = dosed
    days = pd.date_range("2026-01-01", periods=len(table)).as_unit(unit)
    with pytest.raises(InvalidParameterError, match="'day' holds dates or times"):
        gg.GraphRegressor(**SMALL).fit(table.assign(day=days), y)


def test_numbers_of_any_type_are_numbers():
    values = [np.float32(1.5), 2, Decimal("2.5"), np.int64(3), None]
    encoder = ColumnEncoder.fit({"a": np.array(values, dtype=object)})
    assert encoder.numbers == ["a"]
    with pytest.raises(InvalidParameterError, match="must be finite"):
        encoder.transform({"a": np.array([10**400], dtype=object)})


def test_names_in_a_column_are_noted(dosed):
    table, y = dosed
    names = [f"molecule {number}" for number in range(len(table))]
    with pytest.warns(gg.GraphgrainWarning, match="80 different categories in 80 rows"):
        gg.GraphRegressor(**SMALL).fit(table.assign(name=names), y)


def test_molecules_that_cannot_be_read_are_named_with_descriptors_too(dosed):
    table, y = dosed
    bad = table["smiles"].tolist()
    bad[7] = "xx("
    with pytest.raises(gg.GraphgrainError) as plain:
        gg.GraphRegressor().fit(bad, y)
    with pytest.raises(gg.GraphgrainError) as described:
        gg.GraphRegressor(descriptors="rdkit").fit(bad, y)
    assert str(described.value) == str(plain.value)


def test_what_a_classifier_has_not_seen_includes_columns(dosed):
    table, y = dosed
    model = gg.GraphClassifier(**SMALL).fit(table, y > 0)
    near = model.domain(table[:1])["leverage"]
    far = model.domain(table[:1].assign(dose=1e6))["leverage"]
    assert far > near


@pytest.mark.parametrize("Model", [gg.GraphClassifier, gg.GraphRegressor])
def test_private_state_is_no_parameter(dosed, Model):
    table, y = dosed
    weights = np.ones(len(y))
    weights[:7] = 0
    model = Model(**SMALL).fit(table, y > 0, weights)
    assert not [name for name in model.get_params() if name.startswith("_")]
    assert "_kept" not in repr(model)
    with pytest.raises(TypeError):
        Model(_kept=None)


def test_a_fit_that_fails_leaves_the_model_as_it_was(dosed):
    table, y = dosed
    model = gg.GraphRegressor(**SMALL).fit(table, y)
    expected = model.predict(table, return_std=True)
    near = model.domain(table)["nearest"]
    weights = np.ones(len(y))
    weights[:7] = 0
    other = pd.DataFrame({"alt": table["smiles"], "dose": 1.0})
    for bad in ((table.assign(q=np.nan), y, weights), (other, y[:5]), (other, ["x"] * len(y))):
        with pytest.raises(InvalidParameterError):
            model.fit(*bad)
    both = table.assign(alt=table["smiles"][::-1].to_numpy())
    for found, wanted in zip(model.predict(both, return_std=True), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(model.domain(table)["nearest"], near)
    fresh = gg.GraphRegressor(**SMALL)
    with pytest.raises(InvalidParameterError):
        fresh.fit(other, y[:5])
    with pytest.raises(NotFittedError):
        fresh.predict(table)
