"""The commands index, search, cluster and overlap."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

import graphgrain as gg
from graphgrain.cli.app import BAD_INPUT, app

pytest.importorskip("rdkit")

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"


def run(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("commands") / "drugs.ggi"
    told = json.loads(run("index", "drugs", "-o", path, "-j", 1, "--json").stdout)
    assert told["graphs"] == 292
    assert told["similarity"] == "minmax"
    assert "family" in told["columns"]
    return path


def test_search_gives_what_the_index_gives(library):
    found = json.loads(run("search", library, ASPIRIN, "-k", 3, "--json").stdout)
    index = gg.GraphIndex.open(library)
    ids, values = index.search(gg.from_smiles([ASPIRIN]), k=3)
    assert [hit["id"] for hit in found[0]["hits"]] == ids[0].tolist()
    assert [hit["similarity"] for hit in found[0]["hits"]] == values[0].tolist()
    assert found[0]["hits"][0]["family"] == "nsaids"
    told = run("search", library, ASPIRIN, "-k", 3).stdout
    assert ids[0][0] in told


def test_queries_from_files_and_thresholds(library, tmp_path):
    queries = tmp_path / "queries.smi"
    queries.write_text(f"{ASPIRIN} aspirin\nCCO ethanol\n")
    found = json.loads(run("search", library, queries, "--min-similarity", 0.26, "--json").stdout)
    assert [each["query"].split()[-1] for each in found] == ["aspirin", "ethanol"]
    assert [len(each["hits"]) for each in found] == [1, 0]
    assert (
        "Nothing is that similar" in run("search", library, "CCO", "--min-similarity", 0.9).stdout
    )


def test_a_page_with_drawings(library, tmp_path):
    page = tmp_path / "found.html"
    run("search", library, ASPIRIN, "-k", 2, "--html", page)
    text = page.read_text()
    assert text.count("<svg") == 3
    assert "fenoprofen" in text
    assert "<script" not in text


def test_approximate_says_its_recall(library):
    told = run("search", library, ASPIRIN, "-k", 2, "--approximate").stderr
    recall = gg.GraphIndex.open(library).recall(2)
    assert f"finds {100 * recall:.1f} % of the 2 best" in told


def test_names_cannot_break_the_page(tmp_path):
    source = tmp_path / "odd.smi"
    source.write_text("CCO <script>alert(1)</script>\n")
    run("index", source, "-o", tmp_path / "odd.ggi", "--ids", "name", "-j", 1)
    page = tmp_path / "odd.html"
    run("search", tmp_path / "odd.ggi", "CCO", "--html", page)
    assert "<script" not in page.read_text()


def test_cluster(library, tmp_path):
    table = tmp_path / "clusters.csv"
    told = json.loads(run("cluster", library, "--threshold", 0.5, "-o", table, "--json").stdout)
    index = gg.GraphIndex.open(library)
    expected = gg.sphere_exclusion(index, 0.5)
    assert told["labels"] == expected.labels.tolist()
    assert told["clusters"][0]["size"] == expected.sizes[0]
    rows = list(csv.DictReader(table.open()))
    assert [int(row["cluster"]) for row in rows] == told["labels"]
    assert "clusters" in run("cluster", library, "--threshold", 0.5).stdout


def test_picks(library):
    told = json.loads(run("cluster", library, "--pick", 3, "--json").stdout)
    index = gg.GraphIndex.open(library)
    assert told["picks"] == index.ids[gg.pick_diverse(index, 3)].tolist()


def test_overlap(library, tmp_path):
    new = tmp_path / "new.smi"
    new.write_text(f"{ASPIRIN} aspirin\nCC(C(=O)O)c1cccc(Oc2ccccc2)c1 fenoprofen-again\n")
    pairs = tmp_path / "pairs.csv"
    told = json.loads(run("overlap", library, new, "-o", pairs, "--json").stdout)
    assert told["near_duplicates"] == told["similarity_1"] == 1
    assert told["pairs"] == [{"second": "fenoprofen-again", "first": "fenoprofen", "similarity": 1}]
    assert [row["first"] for row in csv.DictReader(pairs.open())] == ["fenoprofen"]
    assert "1 of 2 graphs (50.0 %)" in run("overlap", library, new).stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("search", "nowhere.ggi", "CCO"), "no graphgrain index"),
        (("search", "LIBRARY", "C1CC"), "must be readable"),
        (("search", "LIBRARY", "CCO", "-k", 0), "k must be"),
        (("search", "LIBRARY", "CCO", "--similarity", "dice"), "--similarity is one of"),
        (("index", "drugs", "-o", "LIBRARY"), "There is an index"),
        (("index", "drugs", "-o", "x.ggi", "--ids", "nobody"), "no column 'nobody'"),
        (("index", "drugs", "-o", "x.ggi", "--kernel", "retgk"), "explicit features"),
        (("cluster", "LIBRARY", "--threshold", 0), "threshold must be"),
        (("overlap", "LIBRARY", "nothing.smi"), "no file or folder"),
    ],
)
def test_mistakes_are_told(library, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    result = run(*(library if word == "LIBRARY" else word for word in words), code=BAD_INPUT)
    assert message in " ".join(result.stderr.split())
