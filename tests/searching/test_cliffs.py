"""Cliffs: pairs that are similar and differ, against all comparisons; the page that shows them."""

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


def test_they_are_those_of_all_comparisons(measured):
    graphs, y = measured
    kernel = gg.TreePlusPlus(3, 1, edge_labels=True, counts="binary", similarity="minmax")
    found = gg.cliffs(graphs, y, 0.5, 1.0, kernel=kernel)
    matrix = similarity_matrix(kernel, graphs, graphs, "minmax")
    expected = {
        (a, b): abs(y[b] - y[a]) / (1 - matrix[a, b])
        for a in range(120)
        for b in range(a + 1, 120)
        if matrix[a, b] >= 0.5 and abs(y[b] - y[a]) >= 1.0 - 1e-12 and matrix[a, b] < 1
    }
    assert {cliff[:2]: cliff.steepness for cliff in found.cliffs} == pytest.approx(expected)
    assert len(found) > 20
    assert all(a.steepness >= b.steepness for a, b in zip(found, found.cliffs[1:], strict=False))
    for cliff in found.cliffs:
        assert cliff.difference == y[cliff.second] - y[cliff.first]
    members = np.array(list(expected)).ravel()
    assert found.counts.tolist() == np.bincount(members, minlength=120).tolist()


def test_what_changed(measured):
    """One vertex of a chain: what one graph has and the other lacks sits there."""
    chain = [([(i, i + 1) for i in range(7)], list("CCCCCCC" + end)) for end in "ON"]
    found = gg.cliffs(chain, [0, 3], 0.3, 1, kernel=gg.TreePlusPlus(4, 0, counts="binary"))
    assert [part.tolist() for part in found.changed(0)] == [[7], [7]]
    pair = found.compare(0)
    for which in (0, 1):
        own = pair.only(which)
        assert own
        assert all(7 in places for pattern in own for places in pattern.occurrences[which])
    assert found.graphs(0) == gg.as_graphs(chain)


def test_of_an_index(measured, tmp_path):
    graphs, y = measured
    index = gg.GraphIndex.build(tmp_path / "d.ggi", graphs, columns={"y": y})
    expected = gg.cliffs(graphs, y, 0.5)
    for given in (y, "y"):
        found = gg.cliffs(index, given, 0.5)
        assert found.cliffs == expected.cliffs
        assert found.graphs(0) == expected.graphs(0)
    with pytest.raises(InvalidParameterError, match="no column 'z'; it has y"):
        gg.cliffs(index, "z")
    with pytest.raises(InvalidParameterError, match="An index has its own kernel"):
        gg.cliffs(index, y, kernel=gg.WeisfeilerLehman())


def test_cliffs_of_an_index_that_changes(measured, tmp_path):
    """Numbers are those of the index at that time."""
    graphs, y = measured
    index = gg.GraphIndex.build(tmp_path / "some.ggi", graphs)
    found = gg.cliffs(index, y, 0.5)
    index.remove(range(50))
    index.compact()
    first, second = found[0][:2]
    assert found.graphs(0) == graphs[[first, second]]
    assert gg.cliffs(index, y[50:], 0.5)._graphs.ids([0]) == [50]


def test_measured_twice(measured):
    graphs, y = measured
    twice = gg.GraphBatch.concatenate([graphs, graphs[[3, 4]]])
    values = np.concatenate([y, [y[3] + 5, y[4]]])
    with pytest.warns(GraphgrainWarning, match="2 graphs are equal to others .* measured twice"):
        found = gg.cliffs(twice, values, 0.5)
    assert found.duplicates == [[3, 120]]
    assert (3, 120) not in [cliff[:2] for cliff in found.cliffs]


def test_missing_values(measured):
    graphs, y = measured
    some = y.copy()
    some[::3] = np.nan
    listed = [None if np.isnan(value) else value for value in some.tolist()]
    for given in (some, listed):
        with pytest.warns(GraphgrainWarning, match="y is missing for 40 of 120 graphs"):
            found = gg.cliffs(graphs, given, 0.5)
        assert found.missing.tolist() == list(range(0, 120, 3))
        expected = gg.cliffs(graphs[np.flatnonzero(~np.isnan(some))], some[~np.isnan(some)], 0.5)
        left = np.flatnonzero(~np.isnan(some))
        assert [(left[c.first], left[c.second]) for c in expected.cliffs] == [
            cliff[:2] for cliff in found.cliffs
        ]


def test_no_pair(measured):
    graphs, y = measured
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = gg.cliffs(graphs, y, 0.99, 100)
    assert len(found) == 0
    assert not found.counts.any()


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (np.zeros(119), {}, "119 for 120 graphs"),
        (["a"] * 120, {}, "Differences of classes have no size"),
        (np.full(120, np.inf), {}, "must be finite"),
        (np.zeros(120), {"min_difference": 0}, "min_difference must be above 0"),
        (np.zeros(120), {"min_difference": float("nan")}, "min_difference must be above 0"),
        (np.zeros(120), {"min_similarity": 0}, "min_similarity must be a number above 0"),
        (np.zeros(120), {"min_similarity": 2}, "min_similarity must be a number above 0"),
    ],
)
def test_bad_input(measured, y, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        gg.cliffs(measured[0], y, **options)


# -------------------------------------------------------------------- the command


@pytest.fixture
def assays(tmp_path):
    pytest.importorskip("rdkit")
    rows = [
        ("Cc1ccc(CCN)cc1", "5.0", "tolyl"),
        ("Oc1ccc(CCN)cc1", "7.5", "<script>alert(1)</script>"),
        ("Clc1ccc(CCN)cc1", "5.2", "chloro"),
        ("Clc1ccc(CCN)cc1", "9.0", "chloro again"),
        ("CCCCCCCC", "1.0", "octane"),
    ]
    text = "smiles,y,name\n" + "".join(",".join(row) + "\n" for row in rows)
    (tmp_path / "assays.csv").write_text(text)
    return tmp_path / "assays.csv"


def test_the_page_and_the_table(assays, tmp_path):
    page = tmp_path / "cliffs.html"
    words = ("cliffs", assays, "--target", "y", "--min-similarity", 0.3, "-j", 1)
    told = run(*words, "-o", page)
    assert "measured twice" in " ".join(told.stderr.split())
    assert "Measured 2 times: chloro: 5.2, 9" in told.stderr
    text = page.read_text()
    assert "<script>alert" not in text
    assert "&lt;script&gt;" in text
    assert "Conflicting duplicates" in text
    assert "chloro, chloro again" in text
    found = json.loads(run(*words, "--json").stdout)
    assert found["duplicates"] == [["chloro", "chloro again"]]
    assert text.count('<article class="cliff"') == len(found["cliffs"]) > 1
    assert text.count("<svg") >= 2 * len(found["cliffs"])
    run(*words, "-o", tmp_path / "cliffs.csv")
    rows = list(csv.DictReader((tmp_path / "cliffs.csv").open()))
    assert [[int(row["first"]), int(row["second"])] for row in rows] == [
        cliff["rows"] for cliff in found["cliffs"]
    ]
    assert "cliffs; " in run(*words).stdout


def test_rows_are_those_of_the_file_when_some_have_no_value(assays):
    lines = assays.read_text().splitlines()
    assays.write_text("\n".join([lines[0], "CCO,,unmeasured", *lines[1:]]) + "\n")
    words = ("--target", "y", "--min-similarity", 0.3, "--missing", "skip", "-j", 1)
    result = run("cliffs", assays, *words, "--json")
    found = json.loads(result.stdout)
    assert (found["graphs"], found["missing"]) == (6, 1)
    names = [line.split(",")[2] for line in assays.read_text().splitlines()[1:]]
    for cliff in found["cliffs"]:
        assert [names[row - 1] for row in cliff["rows"]] == [cliff["first"], cliff["second"]]
    assert found["cliffs"]
    assert "y is missing for 1 of 6 graphs" in " ".join(result.stderr.split())


def test_a_page_without_pairs(assays, tmp_path):
    words = ("cliffs", assays, "--target", "y", "--min-difference", 50, "-j", 1)
    run(*words, "-o", tmp_path / "none.html")
    text = (tmp_path / "none.html").read_text()
    assert "No pair of graphs is similar enough and differs by this much." in text
    assert "0 cliffs" in run(*words).stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--target", "name"), "classes, whose differences have no size"),
        ((), "--target"),
        (("--target", "y", "--min-difference", 0), "--min-difference is above 0"),
        (("--target", "y", "--min-similarity", 0), "--min-similarity is above 0"),
        (("--target", "y", "-o", "x.pdf"), "written as .html or .csv"),
    ],
)
def test_mistakes_are_told(assays, words, message):
    result = run("cliffs", assays, *words, code=BAD_INPUT)
    assert message in " ".join(result.stderr.split())


def test_pairs_of_other_graphs(drugs):
    graphs = drugs[0]
    found = gg.pairs(graphs, 0.5)
    with pytest.raises(InvalidParameterError, match="pairs of these 5 graphs"):
        gg.cliffs(graphs[:5], np.arange(5.0), similar=found)
    with pytest.raises(InvalidParameterError, match="it has number -1"):
        gg.cliffs(graphs[:5], np.arange(5.0), similar=([0], [-1], [0.5]))
    assert not len(gg.cliffs(graphs[:5], np.arange(5.0), similar=([], [], [])))
    lists = tuple(map(list, found))
    y = np.arange(len(graphs))
    assert gg.cliffs(graphs, y, similar=lists).cliffs == gg.cliffs(graphs, y, 0.5).cliffs


def test_nullable_columns_of_pandas(drugs):
    pd = pytest.importorskip("pandas")
    graphs = drugs[0][:40]
    y = np.arange(40.0)
    y[::7] = np.nan
    with pytest.warns(GraphgrainWarning, match="missing for 6 of 40"):
        expected = gg.cliffs(graphs, y)
    with pytest.warns(GraphgrainWarning, match="missing for 6 of 40"):
        found = gg.cliffs(graphs, pd.Series(y, dtype="Float64"))
    assert len(found) == len(expected) > 0


def test_missing_values_of_a_file_in_an_index(tmp_path):
    """They are those that load_molecules finds."""
    pytest.importorskip("rdkit")
    table = tmp_path / "assay.csv"
    rows = ["CCCCCCCO,1.5", "CCCCCCCN,NA", "CCCCCCCC, 3 ", "CCCCCCCF,", "CCCCCCCCl,9"]
    table.write_text("\n".join(["smiles,y", *rows]))
    index = gg.GraphIndex.build(tmp_path / "assay.ggi", table)
    graphs, columns = gg.load_molecules(table)
    for find in (gg.cliffs, gg.changes):
        options = {"min_similarity": 0.1} if find is gg.cliffs else {"min_pairs": 1}
        with pytest.warns(GraphgrainWarning, match="missing for 2 of 5"):
            found = find(index, "y", **options)
        with pytest.warns(GraphgrainWarning, match="missing for 2 of 5"):
            expected = find(graphs, columns["y"], **options)
        assert len(found) == len(expected) > 0
        assert repr(getattr(found, "cliffs", found)) == repr(getattr(expected, "cliffs", expected))
