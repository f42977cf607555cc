"""The commands index, search, cluster and pairs."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import graphgrain as gg
from graphgrain.cli import indexes
from graphgrain.cli.app import BAD_INPUT, app
from graphgrain.cli.loading import Loaded

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
    found = json.loads(run("search", library, ASPIRIN, "-n", 3, "--json").stdout)
    index = gg.GraphIndex.open(library)
    ids, values = index.search(gg.from_smiles([ASPIRIN]), k=3)
    assert [hit["id"] for hit in found[0]["hits"]] == ids[0].tolist()
    assert [hit["similarity"] for hit in found[0]["hits"]] == values[0].tolist()
    assert found[0]["hits"][0]["family"] == "nsaids"
    told = run("search", library, ASPIRIN, "-n", 3).stdout
    assert ids[0][0] in told


def test_queries_from_files_and_thresholds(library, tmp_path):
    queries = tmp_path / "queries.smi"
    queries.write_text(f"{ASPIRIN} aspirin\nCCO ethanol\n")
    found = json.loads(run("search", library, queries, "--min-similarity", 0.26, "--json").stdout)
    assert [each["query"].split()[-1] for each in found] == ["aspirin", "ethanol"]
    assert [len(each["hits"]) for each in found] == [1, 0]
    assert (
        "No graph is similar enough"
        in run("search", library, "CCO", "--min-similarity", 0.9).stdout
    )


def test_a_page_with_drawings(library, tmp_path):
    page = tmp_path / "found.html"
    run("search", library, ASPIRIN, "-n", 2, "--html", page)
    text = page.read_text()
    assert text.count("<svg xmlns=") == 3
    assert "fenoprofen" in text
    assert "2 graphs similar to" in text


@pytest.mark.parametrize("kind", ["dot", "containment"])
def test_a_page_says_only_what_the_similarity_means(library, tmp_path, kind):
    """A dot product has no scale, and a graph that contains the query need not be similar."""
    page = tmp_path / "found.html"
    words = ("search", library, "CCO", "-n", 1, "--similarity", kind, "--html", page, "--json")
    [value] = [hit["similarity"] for hit in json.loads(run(*words).stdout)[0]["hits"]]
    text = page.read_text()
    assert "identical" not in text
    assert (f"contains {100 * value:.0f} % of the query" in text) == (kind == "containment")
    assert f'aria-label="similarity {value:.2f}' in text
    assert (f"{value:.2f} of 1" in text) == (kind != "dot")


def test_names_cannot_break_the_page(tmp_path):
    source = tmp_path / "odd.smi"
    source.write_text("CCO <script>alert(1)</script>\n")
    run("index", source, "-o", tmp_path / "odd.ggi", "--id", "name", "-j", 1)
    page = tmp_path / "odd.html"
    run("search", tmp_path / "odd.ggi", "CCO", "--html", page)
    assert "<script>alert" not in page.read_text()


def test_cluster(library, tmp_path):
    table = tmp_path / "clusters.csv"
    told = json.loads(
        run("cluster", library, "--min-similarity", 0.5, "-o", table, "--json").stdout
    )
    index = gg.GraphIndex.open(library)
    expected = gg.sphere_exclusion(index, 0.5)
    assert told["labels"] == (expected.labels + 1).tolist()
    assert told["clusters"][0]["size"] == expected.sizes[0]
    rows = list(csv.DictReader(table.open()))
    assert [int(row["cluster"]) for row in rows] == told["labels"]
    assert "clusters" in run("cluster", library, "--min-similarity", 0.5).stdout


def test_picks(library):
    told = json.loads(run("cluster", library, "--pick", 3, "--json").stdout)
    index = gg.GraphIndex.open(library)
    assert told["picks"] == index.ids[gg.pick_diverse(index, 3)].tolist()


def test_two_collections(library, tmp_path):
    new = tmp_path / "new.smi"
    new.write_text(f"{ASPIRIN} aspirin\nCC(C(=O)O)c1cccc(Oc2ccccc2)c1 fenoprofen-again\n")
    pairs = tmp_path / "pairs.csv"
    told = json.loads(run("pairs", library, new, "-o", pairs, "--json").stdout)
    assert told["near_duplicates"] == told["similarity_1"] == 1
    assert told["pairs"] == [
        {"second": "fenoprofen-again", "first": "fenoprofen", "first_name": "", "similarity": 1}
    ]
    assert [row["first"] for row in csv.DictReader(pairs.open())] == ["fenoprofen"]
    assert "1 of 2 graphs (50.0 %)" in run("pairs", library, new).stdout


@pytest.fixture(scope="module")
def unnamed(tmp_path_factory):
    """Molecules without names, and their index."""
    folder = tmp_path_factory.mktemp("unnamed")
    smiles = ["CCO", "CCCO", "c1ccccc1", "c1ccccc1C", "CCCCO"]
    (folder / "plain.smi").write_text("".join(f"{text}\n" for text in smiles))
    run("index", folder / "plain.smi", "-o", folder / "plain.ggi", "-j", 1)
    return folder


def test_numbers_count_from_one_with_smiles_beside_them(unnamed):
    index, file = unnamed / "plain.ggi", unnamed / "plain.smi"
    told = run("search", index, "c1ccccc1", "-n", 1).stdout
    assert told.split()[-3:] == ["1.0000", "3", "c1ccccc1"]
    found = json.loads(run("search", index, file, "-n", 1, "--json").stdout)
    assert [each["query"] for each in found] == file.read_text().split()
    assert [each["hits"][0]["id"] for each in found] == [1, 2, 3, 4, 5]
    clusters = run("cluster", index, "--min-similarity", 0.2).stdout
    center = [line.split() for line in clusters.splitlines()[2:]]
    assert all(len(row) == 4 for row in center)
    smiles = file.read_text().split()
    assert all(smiles[int(row[2]) - 1] == row[3] for row in center)
    assert [int(row[0]) for row in center] == list(range(1, len(center) + 1))
    picks = run("cluster", file, "--pick", 2).stdout
    assert all(smiles[int(row.split()[0]) - 1] == row.split()[1] for row in picks.splitlines()[1:])
    told = json.loads(run("pairs", index, file, "--json").stdout)
    first = {"second": "CCO", "first": 1, "first_name": "CCO", "similarity": 1}
    assert told["pairs"][0] == first


def test_queries_are_data_sets_too(tmp_path, monkeypatch):
    graphs, _ = gg.load_drugs()
    monkeypatch.setenv("GRAPHGRAIN_DATA", str(tmp_path))
    numbers = graphs[:6].with_labels([1] * graphs[:6].n_vertices)
    gg.save_tu(tmp_path / "MUTAG", numbers, [1, 2, 1, 2, 1, 2])
    run("index", tmp_path / "MUTAG", "-o", tmp_path / "m.ggi", "-j", 1)
    found = json.loads(
        run("search", tmp_path / "m.ggi", tmp_path / "MUTAG", "-n", 1, "--json").stdout
    )
    assert [each["query"] for each in found] == [f"row {n}" for n in range(1, 7)]
    monkeypatch.setattr(indexes, "load", lambda name, reading: loaded.append(name) or drugs)
    loaded, drugs = [], Loaded("MUTAG", numbers, None)
    run("search", tmp_path / "m.ggi", "MUTAG", "-n", 1)
    assert loaded == ["MUTAG"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("search", "nowhere.ggi", "CCO"), "not a graphgrain index"),
        (("search", "LIBRARY", "C1CC"), "taken as SMILES: there is no file and no data set"),
        (("search", "LIBRARY", "nosuchfile.smi"), "There is no file or folder 'nosuchfile.smi'"),
        (("search", "LIBRARY", ""), "A query is a SMILES, a file or a data set"),
        (("search", "LIBRARY", "CCO", "-n", 0), "Invalid value for '--count' / '-n'"),
        (("search", "LIBRARY", "CCO", "--similarity", "dice"), "'dice' is not one of"),
        (("index", "drugs", "-o", "LIBRARY"), "There is an index"),
        (("index", "drugs", "-o", "x.ggi", "--id", "nobody"), "no column 'nobody'"),
        (("index", "drugs", "-o", "x.ggi", "--kernel", "retgk"), "explicit features"),
        (("cluster", "LIBRARY", "--min-similarity", 0), "--min-similarity is above 0"),
        (("cluster", "LIBRARY", "--pick", 293), "must be an integer from 1 to 292"),
        (("pairs", "LIBRARY", "nothing.smi"), "no file or folder"),
        (("pairs", "LIBRARY", "drugs", "--max-per-graph", 1), "are for the pairs of one"),
        (("pairs", "LIBRARY", "--min-similarity", 1.5), "--min-similarity is above 0"),
        (("pairs", "LIBRARY", "--similarity", "containment"), "is one of minmax, cosine"),
        (("pairs", "LIBRARY", "-o", "pairs.txt"), "written as .csv, .jsonl or .parquet"),
        (("pairs", "LIBRARY", "-o", "no/pairs.csv"), "There is no folder"),
    ],
)
def test_mistakes_are_told(library, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    result = run(*(library if word == "LIBRARY" else word for word in words), code=BAD_INPUT)
    assert message in " ".join(result.stderr.split())


# -------------------------------------------------------------------- pairs


def pairs_of(path):
    index = gg.GraphIndex(path)
    found = gg.pairs(index, 0.6)
    ids = index.ids
    return [
        (ids[a], ids[b], value) for a, b, value in zip(*map(np.ndarray.tolist, found), strict=True)
    ]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_pairs(library, tmp_path, form):
    output = tmp_path / f"pairs.{form}"
    told = run("pairs", library, "--min-similarity", 0.6, "-o", output, "--json").stdout
    expected = pairs_of(library)
    assert json.loads(told)["pairs"] == len(expected)
    if form == "csv":
        rows = list(csv.DictReader(output.open()))
    elif form == "jsonl":
        rows = [json.loads(line) for line in output.read_text().splitlines()]
    else:
        rows = pytest.importorskip("pyarrow.parquet").read_table(output).to_pylist()
    assert [(r["first"], r["second"], float(r["similarity"])) for r in rows] == expected
    assert [path.name for path in tmp_path.iterdir()] == [output.name]


def test_pairs_on_the_screen_and_as_json(library, unnamed):
    told = run("pairs", library, "--min-similarity", 0.6).stdout
    assert f"{len(pairs_of(library)):,} pairs of similarity 0.6 or more among 292 graphs" in told
    assert (
        "1 pair of similarity 0.95 or more"
        in run("pairs", library, "--min-similarity", 0.95).stdout
    )
    found = json.loads(
        run("pairs", unnamed / "plain.smi", "--min-similarity", 0.3, "--json").stdout
    )
    smiles = (unnamed / "plain.smi").read_text().split()
    assert found["pairs"] == len(found["found"]) > 0
    for row in found["found"]:
        assert smiles[row["first"] - 1] == row["first_name"]
        assert smiles[row["second"] - 1] == row["second_name"]
    capped = run("pairs", library, "--min-similarity", 0.3, "--max-per-graph", 1, "--json").stdout
    rows = json.loads(capped)["found"]
    names = [row[side] for row in rows for side in ("first", "second")]
    assert len(names) == len(set(names))


def test_files_of_queries_are_read_as_the_index(tmp_path):
    texts = ["Cc1ccccc1", "Nc1ccccc1", "CCO", "CC(=O)[O-]"]
    table = tmp_path / "some.csv"
    table.write_text("\n".join(["smiles", *texts]) + "\n")
    path = tmp_path / "aromatic.ggi"
    run("index", table, "-o", path, "--labels", "aromatic", "-j", 1)
    found = json.loads(run("search", path, table, "-n", 1, "--json").stdout)
    assert [each["hits"][0]["similarity"] for each in found] == [1.0] * 4
    overlap = json.loads(run("pairs", path, table, "--json", "-j", 1).stdout)
    assert overlap["similarity_1"] == 4
    told = run("search", path, table, "--labels", "charge", code=BAD_INPUT).output
    assert "built without --labels charge" in told


def test_the_similarity_of_two_collections(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("smiles\nCCCCO\nCCCCN\nc1ccccc1\n")
    second.write_text("smiles\nCCCO\nCCCCCN\n")
    path = tmp_path / "a.ggi"
    run("index", first, "-o", path, "-j", 1)
    for similarity in ("cosine", "minmax"):
        options = ("--similarity", similarity, "--min-similarity", 0.1, "--json", "-j", 1)
        values = [
            [
                pair["similarity"]
                for pair in json.loads(run("pairs", a, second, *options).stdout)["pairs"]
            ]
            for a in (path, first)
        ]
        np.testing.assert_allclose(values[0], values[1])
        expected = gg.GraphIndex(path).search(["CCCO"], k=1, similarity=similarity)[1]
        assert np.isclose(values[0], expected[0, 0]).any()
