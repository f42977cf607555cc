"""The command evaluate."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.graphs.batch import replaced

from .running import SOURCE, call, fails, words


def means(*arguments: object) -> dict[str, float]:
    """The mean of each model."""
    found = json.loads(call("evaluate", *arguments, "--json").stdout)
    return {row["model"]: row["mean"] for row in found["models"]}


def test_evaluate_shows_what_the_function_returns(toy, here):
    """A table with its verdict, a CSV of every fold, and a page of one table."""
    arguments = (toy, "--kernel", "tree++,vertex-histogram", "--folds", 5, "--repeats", 2)
    found = json.loads(call("evaluate", *arguments, "--csv", "f.csv", "--json").stdout)
    graphs, y = gg.load_tu(toy)
    expected = gg.evaluate(["tree++", "vertex-histogram"], graphs, y, cv=5, repeats=2, name="TOY")
    wanted = json.loads(json.dumps(expected.as_dict()))
    for result in (found, wanted):
        for fold in result["folds"]:
            del fold["seconds"]
    assert found == wanted
    with open("f.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 30  # three models, the majority class among them
    first = [float(row["accuracy"]) for row in rows if row["model"] == "Tree++"]
    assert np.mean(first) == pytest.approx(expected.table()[0].mean)
    shown = words(call("evaluate", *arguments, "-o", "page.html").stdout)
    assert f"{expected.table()[0].mean:.3f} ±" in shown
    assert expected.verdict in shown
    page = Path("page.html").read_text()
    assert page.count("<table>") == 1
    assert expected.verdict in page


def test_kernels_parameters_and_the_model(toy):
    arguments = ("evaluate", toy, "--set", "tree_depth=1,edge_labels=True", "--folds", 3)
    rows = json.loads(call(*arguments, "--json").stdout)["models"]
    assert rows[0]["model"] == "Tree++ (edge_labels=True, tree_depth=1)"
    assert "edge_labels=True" in rows[0]["chosen"]
    assert means(toy, "-k", "model", "--folds", 3)["GraphClassifier"] > 0.8


def test_a_table_of_molecules(here):
    pytest.importorskip("rdkit")
    rows = ["name,smiles,active"]
    rows += [f"alkane{n},{'C' * n},0" for n in range(2, 12)]
    rows += [f"ether{n},{'C' * n}OC,1" for n in range(2, 12)]
    (here / "molecules.csv").write_text("\n".join(rows) + "\n")
    assert means("molecules.csv", "--target", "active", "--folds", 4)["Tree++"] == 1.0
    message = fails("evaluate", "molecules.csv")
    assert "with --target. The columns of molecules are name, smiles, active." in message
    assert "Did you mean active?" in fails("evaluate", "molecules.csv", "--target", "activ")


def test_molecules_that_cannot_be_read_are_skipped_on_request(here):
    pytest.importorskip("rdkit")
    (here / "m.csv").write_text("id,structure\na,CCO\nb,C1CC\nc,C[N+](C)(C)C\n")
    arguments = ("info", "m.csv", "--smiles", "structure", "--json")
    assert "m.csv, line 3 (row 2), 'C1CC'" in fails(*arguments)
    skipped = call(*arguments, "--errors", "skip")
    assert "m.csv, line 3" in words(skipped.stderr)
    plain = json.loads(skipped.stdout)
    assert (plain["graphs"], plain["vertex_labels"]) == (2, 3)
    more = (*arguments, "--errors", "skip", "--labels", "charge,hydrogens")
    assert json.loads(call(*more).stdout)["vertex_labels"] == 4  # C, H, N+, O
    (here / "a.smi").write_text("c1ccccc1C\n")
    assert json.loads(call("info", "a.smi", "--json").stdout)["vertex_labels"] == 1
    aromatic = json.loads(call("info", "a.smi", "--labels", "aromatic", "--json").stdout)
    assert aromatic["vertex_labels"] == 2
    (here / "s.smi").write_text("C[C@H](N)O\nC[C@@H](N)O\n[13CH4]\nC\n[CH3]\n")
    for option, alike in (("stereo", 2), ("isotopes", 2), ("radicals", 2)):
        plain = json.loads(call("info", "s.smi", "--json").stdout)
        labelled = json.loads(call("info", "s.smi", "--labels", option, "--json").stdout)
        assert (plain["duplicates"], labelled["duplicates"]) == (3, alike)


@pytest.fixture
def coordinates(here) -> Path:
    """Two classes of triangles that differ in nothing but where their vertices are."""
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    edges = [(0, 1), (1, 2), (0, 2)]
    graphs = gg.as_graphs([(edges, [1, 1, 1])] * 24)
    places = rng.normal(size=(72, 1)) * 0.1 + np.repeat(y, 3)[:, np.newaxis]
    gg.save_tu(here / "D.zip", replaced(graphs, vertex_attributes=places), y)
    return here / "D.zip"


def test_views_and_attributes_on_the_command_line(coordinates, here):
    arguments = ("D.zip", "--folds", 3, "--set", "tree_depth=0", "--json")
    blind = call("evaluate", *arguments)
    assert "D has 1 vertex attribute, which TreePlusPlus does not use" in words(blind.stderr)
    assert json.loads(blind.stdout)["models"][0]["mean"] <= 0.5
    seeing = call("evaluate", *arguments, "--view", "attribute-bins:n_bins=2")
    assert "does not use" not in words(seeing.stderr)
    found = json.loads(seeing.stdout)
    assert found["name"] == "D > AttributeBins(n_bins=2)"
    assert found["models"][0]["mean"] == 1.0
    call("kernel", "D.zip", "-o", "K.npz", "--view", "attribute-bins:n_bins=2")
    bins = gg.AttributeBins(n_bins=2).fit_transform(gg.load_tu(coordinates)[0])
    expected = gg.TreePlusPlus().fit_transform(bins)
    np.testing.assert_array_equal(np.load(here / "K.npz")["K"], expected)
    lengths = ("--view", "edge-lengths", "--view", "edge-filter:above=0.2", "--json")
    filtered = gg.EdgeFilter(above=0.2).fit_transform(
        gg.EdgeLengths().fit_transform(gg.load_tu(coordinates)[0])
    )
    shown = json.loads(call("info", "D.zip", *lengths).stdout)
    assert shown["edges"] == pytest.approx(filtered.edge_counts.mean())
    assert "Did you mean edge-filter or" in fails("info", "D.zip", "--view", "edge-filtre")
    assert "The parameters of edge-filter" in fails("info", "D.zip", "--view", "edge-filter:x=1")


@pytest.fixture
def molecules(here) -> Path:
    """Chains and rings with a number, a class and a split."""
    pytest.importorskip("rdkit")
    rings = ["c1ccccc1", "c1ccncc1", "C1CCCCC1", "c1ccoc1", "C1CC1", "C1CCC1", "N1CCC1", "C1OCC1"]
    rows = ["smiles,mass,active,part"]
    for number in range(48):
        ring, tail = rings[number % 8], "C" * (number % 7 + 1)
        part = "test" if number % 5 == 0 else "train"
        rows.append(f"{tail}{ring},{12.5 * (number % 7) + number % 4},{int(number % 4 < 2)},{part}")
    path = here / "molecules.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize(
    ("options", "folds", "tested"),
    [
        (("--split", "part"), 1, 10),
        (("--split", "scaffold"), 1, None),
        (("--split", "random", "--repeats", 3), 3, 5),
        (("--time", "mass"), 1, 4),
        (("--folds", 4, "--group", "mass"), 4, None),
    ],
)
def test_splits(options, folds, tested, molecules):
    arguments = (molecules, "--target", "active", "-k", "vertex-histogram", *options)
    found = json.loads(call("evaluate", *arguments, "--json").stdout)
    rows = [fold for fold in found["folds"] if fold["model"] == "Vertex histogram"]
    assert len(rows) == folds
    if tested is not None:
        assert {row["test"] for row in rows} == {tested}


def test_numbers_with_columns_and_descriptors(molecules, here):
    """The target is a dose that only its column tells."""
    lines = molecules.read_text().splitlines()
    doses = np.random.default_rng(0).uniform(0, 10, len(lines) - 1)
    rows = [f"{line},{dose},{2 * dose + 0.25}" for line, dose in zip(lines[1:], doses, strict=True)]
    Path("assays.csv").write_text("\n".join([lines[0] + ",dose,y", *rows]) + "\n")
    arguments = ("assays.csv", "--target", "y", "--split", "part", "-j", 1)
    without = means(*arguments, "-k", "model,vertex-histogram")
    assert set(without) == {"GraphRegressor", "Vertex histogram", "mean of the targets"}
    columns = means(*arguments, "--columns", "dose")
    assert columns["GraphRegressor"] < 0.3 * without["GraphRegressor"]
    assert means(*arguments, "--columns", "dose", "--descriptors", "rdkit")["GraphRegressor"] < 5
    found = call("evaluate", *arguments, "-k", "vertex-histogram", "--scoring", "mae").stdout
    assert "has a mae of" in found or "has an mae of" in found


def test_duplicates_are_removed(here):
    graphs = gg.load_drugs()[0][:20]
    twice = np.repeat(np.arange(20), 2)
    gg.save_tu(here / "D.zip", graphs[twice], twice % 2)
    arguments = ("D.zip", "-k", "vertex-histogram", "--folds", 2, "--remove-duplicates", "--json")
    result = call("evaluate", *arguments)
    assert json.loads(result.stdout)["graphs"] == 20
    assert "D: 20 duplicates removed." in words(result.stderr)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--kernel", "treepp"), "no kernel 'treepp'. Did you mean tree++?"),
        (("--kernel", "models"), "Did you mean model?"),
        (("--set", "tree_depth"), "The value is missing"),
        (("--set", "depth=3"), "Did you mean tree_depth or path_depth?"),
        (("--set", "tree_depth=-1"), "tree_depth must be an integer of 0"),
        (("--folds", 500), "number of graphs or groups, 48; got 500"),
        (("--split", "parts"), "--split is folds, random, random-scaffold, scaffold, time or"),
        (("--split", "smiles"), "A column of folds says train and test"),
        (("--split", "time"), "needs the time of each graph"),
        (("--group", "nosuch"), "has no column 'nosuch'"),
        (("--scoring", "acuracy"), "scoring is one of accuracy"),
        (("--columns", "nosuch"), "no column 'nosuch'"),
        (("--columns", "active"), "must not name the target"),
        (("--csv", "no/f.csv"), "There is no folder 'no'"),
    ],
)
def test_mistakes(options, message, molecules, here):
    assert message in fails("evaluate", molecules, "--target", "active", *options)
    assert not list(here.glob("f.csv"))


def test_molecules_of_one_scaffold_are_not_split_by_it(here):
    pytest.importorskip("rdkit")
    rows = "".join(f"{'C' * (n + 1)}{'ON'[n % 2]},{n % 2}\n" for n in range(20))
    (here / "chains.csv").write_text("smiles,y\n" + rows)
    message = fails("evaluate", "chains.csv", "--target", "y", "--split", "scaffold")
    assert "leave 0 molecules for training and 20 for testing" in message
    graphs, _ = gg.load_drugs()
    gg.save_tu(here / "D.zip", graphs[:30], np.arange(30) % 2)
    assert "needs molecules as SMILES" in fails("evaluate", "D.zip", "--split", "scaffold")


@pytest.mark.skipif(os.name == "nt", reason="needs SIGINT")
def test_ctrl_c_keeps_the_folds_that_are_finished(here):
    command = [sys.executable, "-m", "graphgrain", "evaluate", "drugs", "--repeats", "30"]
    command += ["--kernel", "vertex-histogram", "--csv", "folds.csv", "-j", "1"]
    settings = {"env": {**os.environ, "PYTHONPATH": SOURCE}, "cwd": here, "text": True}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, **settings)
    table, deadline = here / "folds.csv", time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if table.exists() and table.read_bytes().count(b"\n") > 3:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "Finished folds are in 'folds.csv'" in words(errors)
    lines = table.read_text().splitlines()
    assert 3 <= len(lines) < 600
    assert {line.count(",") for line in lines} == {lines[0].count(",")}
