"""Cliffs: pairs that are similar and differ, against all comparisons."""

from __future__ import annotations

import csv
import json
import warnings

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.cli.app import BAD_INPUT
from graphgrain.errors import GraphgrainWarning, InvalidParameterError

from .oracle import similarity_matrix
from .test_commands import run


@pytest.fixture(scope="module")
def measured(drugs):
    rng = np.random.default_rng(0)
    return drugs[0][:120], rng.normal(size=120).round(2)


def rows_of(cliffs):
    return list(zip(*(column.tolist() for column in cliffs[:5]), strict=True))


@pytest.mark.parametrize("similarity", ["minmax", "cosine"])
def test_they_are_those_of_all_comparisons(measured, similarity):
    graphs, y = measured
    kernel = gg.TreePlusPlus(3, 1, edge_labels=True, counts="binary", similarity=similarity)
    found = gg.pairs(graphs, 0.5, y=y, min_difference=1.0, kernel=kernel)
    matrix = similarity_matrix(kernel, graphs, graphs, similarity)
    expected = {
        (a, b): (matrix[a, b], y[b] - y[a], abs(y[b] - y[a]) / (1 - matrix[a, b]))
        for a in range(120)
        for b in range(a + 1, 120)
        if matrix[a, b] >= 0.5 and abs(y[b] - y[a]) >= 1.0 - 1e-12 and matrix[a, b] < 1
    }
    assert {row[:2]: row[2:] for row in rows_of(found)} == {
        pair: pytest.approx(values) for pair, values in expected.items()
    }
    assert len(found) > 20
    assert (np.diff(found.steepness) <= 0).all()
    few = gg.pairs(graphs, 0.5, y=y, kernel=kernel, max_per_graph=1)
    members = np.concatenate(few[:2])
    assert len(members) == len(set(members.tolist()))
    assert rows_of(few)[0] == rows_of(found)[0]
    assert set(rows_of(few)) < set(rows_of(found))


def test_graphs_with_the_same_patterns_have_no_steepness():
    """Edgeless graphs of one label: presence cannot tell them apart."""
    chains = [([], ["C"] * n) for n in (2, 3, 2)] + [([], ["O", "C"])]
    kernel = gg.VertexHistogram(counts="binary")
    y = [0.0, 5.0, 9.0, 2.0]
    with pytest.warns(GraphgrainWarning, match="2 graphs are equal to others"):
        found = gg.pairs(chains, 0.5, y=y, kernel=kernel)
    assert found.duplicates == [[0, 2]]
    assert [pair.tolist() for pair in found.same_patterns[:2]] == [[0, 1], [1, 2]]
    assert sorted(zip(found.first.tolist(), found.second.tolist(), strict=True)) == [
        (0, 3), (1, 3), (2, 3),
    ]  # fmt: skip
    assert np.isfinite(found.steepness).all()
    features = kernel.count(chains).mapped("binary")
    found = gg.pairs(features, 0.5, y=y)
    assert found.duplicates == []
    assert len(found.same_patterns) == 3


def test_of_an_index(measured, tmp_path):
    graphs, y = measured
    index = gg.GraphIndex.build(tmp_path / "d.ggi", graphs, columns={"y": y})
    expected = rows_of(gg.pairs(graphs, 0.5, y=y))
    assert rows_of(gg.pairs(index, 0.5, y=y)) == rows_of(gg.pairs(index, 0.5, y="y")) == expected
    index.remove(range(50))
    left = gg.pairs(graphs[50:], 0.5, y=y[50:])
    assert rows_of(gg.pairs(index, 0.5, y="y")) == rows_of(left)
    with pytest.raises(InvalidParameterError, match="no column 'z'; it has "):
        gg.pairs(index, y="z")


def test_missing_values(measured):
    pd = pytest.importorskip("pandas")
    graphs, y = measured
    some = y.copy()
    some[::3] = np.nan
    left = np.flatnonzero(~np.isnan(some))
    expected = gg.pairs(graphs[left], 0.5, y=some[left])
    pairs = [(left[a], left[b], *row) for a, b, *row in rows_of(expected)]
    listed = [None if np.isnan(value) else value for value in some.tolist()]
    for y in (some, listed, pd.Series(listed, dtype="Float64")):
        with pytest.warns(GraphgrainWarning, match="y is missing for 40 of 120 graphs"):
            found = gg.pairs(graphs, 0.5, y=y)
        assert found.missing.tolist() == list(range(0, 120, 3))
        assert rows_of(found) == pairs


def test_no_pair(measured):
    graphs, y = measured
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = gg.pairs(graphs, 0.99, y=y, min_difference=100)
    assert len(found) == len(found.same_patterns) == 0


def test_missing_values_of_a_file_in_an_index(tmp_path):
    """They are those that load_molecules finds."""
    pytest.importorskip("rdkit")
    table = tmp_path / "assay.csv"
    rows = ["CCCCCCCO,1.5", "CCCCCCCN,NA", "CCCCCCCC, 3 ", "CCCCCCCF,", "CCCCCCCCl,9"]
    table.write_text("\n".join(["smiles,y", *rows]))
    index = gg.GraphIndex.build(tmp_path / "assay.ggi", table)
    graphs, columns = gg.load_molecules(table)
    with pytest.warns(GraphgrainWarning, match="missing for 2 of 5"):
        cliffs = rows_of(gg.pairs(index, 0.1, y="y"))
    with pytest.warns(GraphgrainWarning, match="missing for 2 of 5"):
        expected = rows_of(gg.pairs(graphs, 0.1, y=columns["y"]))
    assert cliffs == expected
    assert cliffs


# -------------------------------------------------------------------- the command


@pytest.fixture
def assays(tmp_path):
    pytest.importorskip("rdkit")
    rows = [
        ("CCCCO", "5.0", "butanol"),
        ("Oc1ccc(CCN)cc1", "7.5", "tyramine"),
        ("Clc1ccc(CCN)cc1", "5.2", "chloro"),
        ("Clc1ccc(CCN)cc1", "9.0", "chloro again"),
        ("CCCCCCCCCCO", "1.0", "decanol"),
        ("CCCCCCCCCCCCCCO", "3.0", "tetradecanol"),
        ("CCCCCCCCCCCCCCCO", "", "unmeasured"),
    ]
    text = "smiles,y,name\n" + "".join(",".join(row) + "\n" for row in rows)
    (tmp_path / "assays.csv").write_text(text)
    return tmp_path / "assays.csv"


def test_the_command(assays, tmp_path):
    words = ("pairs", assays, "--target", "y", "--min-similarity", 0.3, "-j", 1)
    words = (*words, "--missing", "skip")
    told = run(*words, "--json")
    assert "measured twice" in " ".join(told.stderr.split())
    found = json.loads(told.stdout)
    assert (found["graphs"], found["missing"]) == (7, 1)
    assert found["duplicates"] == [["chloro", "chloro again"]]
    [alike] = found["same_patterns"]
    assert (alike["first_name"], alike["second_name"]) == ("decanol", "tetradecanol")
    assert alike["similarity"] == 1.0
    assert "steepness" not in alike
    y = {row["name"]: row["y"] for row in csv.DictReader(assays.open())}
    for cliff in found["cliffs"]:
        names = cliff["first_name"], cliff["second_name"]
        assert [list(y)[cliff[side] - 1] for side in ("first", "second")] == list(names)
        step = float(y[names[1]]) - float(y[names[0]])
        assert cliff["difference"] == pytest.approx(step)
        steep = abs(step) / (1 - cliff["similarity"])
        assert cliff["steepness"] == pytest.approx(steep)
    run(*words, "-o", tmp_path / "cliffs.csv")
    rows = list(csv.DictReader((tmp_path / "cliffs.csv").open()))
    assert [float(row["steepness"]) for row in rows] == [
        cliff["steepness"] for cliff in found["cliffs"]
    ]
    told = run(*words).stdout
    assert f"{len(rows)} cliffs; " in told
    assert "The kernel cannot tell these apart" in told
    run("index", assays, "-o", tmp_path / "a.ggi", "-j", 1)
    of_index = run("pairs", tmp_path / "a.ggi", *words[2:], "--json").stdout
    assert json.loads(of_index) == found


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target", "name", "--missing", "skip"), "Differences of classes have no size"),
        (("--target", "z"), "no column 'z'"),
        (("--target", "y"), "1 of 7 graphs have none"),
        (("--target", "y", "--missing", "skip", "--min-difference", 0), "must be above 0"),
        (("--target", "y", "--min-similarity", 0), "--min-similarity is above 0"),
        (("--target", "y", "-o", "x.html"), "written as .csv, .jsonl or .parquet"),
    ],
)
def test_mistakes_are_told(assays, words, message):
    result = run("pairs", assays, *words, code=BAD_INPUT)
    assert message in " ".join(result.stderr.split())
