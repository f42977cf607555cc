"""How commands read DATA: missing targets, formats that are not read, names, hostile texts."""

from __future__ import annotations

import csv
import json
import zipfile
from importlib import resources

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import InvalidParameterError

from .running import call, fails, words

pd = pytest.importorskip("pandas")
pytest.importorskip("rdkit", reason="RDKit is not installed")

#: Targets of molecules; those that pandas takes for missing are.
WORDS = ["yes", "", "no", "NA", "yes", "NaN", "no", "null", "None", "n/a", "yes", "no", "nothing"]


@pytest.fixture
def table(here):
    """Drugs with blank and missing targets: text, whole numbers and fractions."""
    graphs = 60
    source = resources.files("graphgrain.graphs.datasets")
    with (source / "data" / "drugs.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:graphs]
    with open(here / "x.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "smiles", "text", "whole", "fraction"])
        for n, row in enumerate(rows):
            blank = n % 3 == 1
            writer.writerow(
                [
                    row["name"],
                    row["smiles"],
                    ("NA" if n % 2 else "") if blank else ("yes", "no")[n % 2],
                    "" if blank else n % 2,
                    "nan" if blank else n / 4,
                ]
            )
    return here / "x.csv"


@pytest.mark.parametrize("target", ["text", "whole", "fraction"])
@pytest.mark.parametrize(
    "command", [("info",), ("evaluate", "--repeats", "1"), ("explain", "--row", "1"), ("explore",)]
)
def test_missing_targets_are_an_error_with_count_and_line(table, command, target):
    name, *options = command
    message = fails(name, table, "--target", target, *options)
    assert "20 of 60 graphs" in message
    assert "row 2)" in message  # the header is no row
    assert "--missing skip" in message


def test_missing_targets_are_skipped_with_a_note(table):
    result = call("info", table, "--target", "text", "--missing", "skip", "--json")
    assert "20 of 60 graphs have no target and are skipped" in words(result.stderr)
    assert json.loads(result.stdout)["class_sizes"] == {"no": 20, "yes": 20}
    result = call("info", table, "--target", "whole", "--missing", "skip", "--json")
    assert json.loads(result.stdout)["class_sizes"] == {"0": 20, "1": 20}
    result = call("info", table, "--target", "fraction", "--missing", "skip", "--json")
    values = [n / 4 for n in range(60) if n % 3 != 1]
    found = json.loads(result.stdout)
    assert found["classes"] is None
    assert found["target"]["median"] == np.median(values)
    assert found["target"]["standard_deviation"] == pytest.approx(np.std(values))


def test_rows_keep_their_numbers_when_missing_targets_are_skipped(table, monkeypatch):
    """``explain --row 2`` is the second molecule of the file, whose target is missing."""
    seen = []

    def explain_rows(graphs, y, rows, names, **more):
        seen.append((len(graphs), y.tolist(), names[rows[0]]))
        raise InvalidParameterError("seen")

    monkeypatch.setattr("graphgrain.evaluation.exploration.explain_rows", explain_rows)
    fails("explain", table, "--target", "text", "--missing", "skip", "--row", 2)
    [(count, y, name)] = seen
    assert (count, name) == (60, pd.read_csv(table)["name"][1])
    assert y[:3] == ["yes", "", "yes"]


def test_a_page_counts_the_graphs_that_were_learned_from(table, here):
    """Of 60 graphs 40 have a target; one of them, and one of the others, is explained."""
    call("explain", table, "--target", "text", "--missing", "skip", "--row", "1,2", "-o", "w.html")
    assert "fitted to 39 other graphs of x: text" in (here / "w.html").read_text()


def test_a_file_without_a_readable_molecule(here):
    (here / "x.csv").write_text("name,smiles\nethanol,CCO\nethane,CC\n")
    for command in (("info",), ("explore",), ("explain", "--row", 1)):
        name, *options = command
        message = fails(name, "x.csv", "--smiles", "name", "--errors", "skip", *options)
        assert "No molecule of x.csv can be read." in message


def test_what_is_missing_is_what_pandas_takes_for_it(tmp_path):
    file = tmp_path / "x.csv"
    rows = "\n".join(f"{'C' * (n + 1)},{word}" for n, word in enumerate(WORDS))
    file.write_text(f"smiles,y\n{rows}\n")
    _, columns = gg.load_molecules(file)
    assert ["" if v != v else v for v in pd.read_csv(file)["y"]] == columns["y"].tolist()
    numbers = "\n".join(f"C,{word}" for word in ["1", "NA", "2", "", "null"])
    file.write_text(f"smiles,y\n{numbers}\n")
    np.testing.assert_array_equal(gg.load_molecules(file)[1]["y"], pd.read_csv(file)["y"])


def test_a_choice_that_is_none_and_a_column_without_any_target(table, here):
    assert "'ignore' is not one of 'raise', 'skip'" in fails("info", table, "--missing", "ignore")
    (here / "y.csv").write_text("smiles,y\nCCO,\nCCN,NA\n")
    message = fails("info", "y.csv", "--target", "y", "--missing", "skip")
    assert "2 of 2 graphs" in message
    assert "right column" in message


# ---------------------------------------------------------------- files of other kinds


@pytest.mark.parametrize(
    ("name", "way_out"),
    [("x.txt", "ends in .smi"), ("x.json", "table (.csv)"), ("x.xlsx", "sheet as .csv"), ("x", "")],
)
def test_formats_that_are_not_read(here, name, way_out):
    (here / name).write_text("CCO\n")
    if name == "x.xlsx":
        with zipfile.ZipFile(here / name, "w") as archive:
            archive.writestr("xl/workbook.xml", "<x/>")
    message = fails("info", here / name)
    assert "Formats are .smi, .csv" in message
    assert way_out in message
    assert "ownload" not in message


def test_empty_tables(here):
    (here / "x.csv").write_text("")
    assert "x.csv is empty" in fails("info", "x.csv")
    (here / "x.csv").write_text("a,b\n1,2\n")
    assert "--smiles on the command line" in fails("info", "x.csv")


# ---------------------------------------------------------------- names of data sets


def test_names_in_any_case(real):
    shown = call("info", "kki", "--json").stdout
    assert json.loads(shown) == json.loads(call("info", "KKI", "--json").stdout)
    assert json.loads(call("info", "Drugs", "--json").stdout)["name"] == "drugs"


def test_the_list_of_data_sets():
    assert "MUTAG" in call("info").stdout
    data_sets = {item["name"]: item for item in json.loads(call("info", "--json").stdout)}
    assert {"PROTEINS", "drugs"} <= set(data_sets)
    drugs = data_sets["drugs"]
    graphs, y = gg.load_drugs()
    assert drugs["graphs"] == len(graphs)
    assert drugs["classes"] == len(set(y.tolist()))
    assert drugs["edges"] == round(graphs.edge_counts.mean(), 2)


def test_a_numeric_target_is_drawn(here):
    values = np.random.default_rng(0).normal(size=40)
    rows = "\n".join(f"{'C' * (n + 1)},{value}" for n, value in enumerate(values))
    (here / "x.csv").write_text(f"smiles,y\n{rows}\n")
    shown = call("info", "x.csv", "--target", "y").stdout
    drawn = shown.split("target\n")[1].split("vertices per graph")[0].splitlines()
    bars = [line for line in drawn if " to " in line]
    assert sum(int(line.split()[-1]) for line in bars) == 40
    for line in bars:
        low, _, high, *_, count = line.split()
        assert int(count) == ((values >= float(low)) & (values < float(high))).sum()


# ---------------------------------------------------------------- what a terminal must not be told


def test_escape_codes_never_reach_the_terminal(here):
    evil = "\x1b]0;title\x07\x1b[2J\x9b31m\u202e"
    (here / "x.csv").write_text(
        f"smiles,name,y\nCCO,{evil}a,{evil}1\nCCN,b,{evil}2\nCCC,c,{evil}1\n", encoding="utf-8"
    )
    results = [
        call("info", "x.csv", "--target", "y"),
        call("info", "x.csv", "--target", evil, code=2),
        call("info", f"{evil}.csv", code=2),
    ]
    for shown in (result.output for result in results):
        assert len(shown) > 50
        for letter in "\x1b\x07\x9b\u202e":
            assert letter not in shown


def test_blanks_are_no_class_in_python_either(tmp_path):
    (tmp_path / "x.csv").write_text("smiles,y\n" + "CCO,yes\nCCN,no\nCCC,\nCCCC,NA\n" * 3)
    graphs, columns = gg.load_molecules(tmp_path / "x.csv")
    with pytest.raises(InvalidParameterError, match=r"graph 2 has '' \(6 in all\)"):
        gg.GraphClassifier().fit(graphs, columns["y"])


def test_a_column_called_line_is_not_replaced_by_line_numbers(here):
    """Such as cell lines."""
    rows = [f"{'C' * (n % 9 + 1)}{'ON'[n % 2]},{'HeLa' if n % 2 else 'K562'}\n" for n in range(24)]
    (here / "m.csv").write_text("smiles,line\n" + "".join(rows))
    _, columns = gg.load_molecules("m.csv")
    assert columns["input_line"].tolist() == ["K562", "HeLa"] * 12
    assert columns["line"].tolist() == list(range(2, 26))
    message = fails("info", "m.csv", "--target", "line")
    assert "no column 'line'" in message
    assert "input_line" in message
    call("fit", "m.csv", "--target", "input_line", "-o", "m.ggm")
    call("predict", "m.ggm", "m.csv", "-o", "p.csv")
    with open("p.csv", newline="") as file:
        assert [row["input_line"] for row in csv.DictReader(file)] == ["K562", "HeLa"] * 12
