"""Commands that show data and kernel matrices, and the tables they print."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from rich.console import Console

import graphgrain as gg
from graphgrain.cli.tables import text_table

from .running import call, fails, words


def test_info(toy, here):
    graphs, _ = gg.load_tu(toy)
    shown = json.loads(call("info", toy, "--json").stdout)
    assert shown["graphs"] == len(graphs)
    assert shown["classes"] == 2
    assert f"graphs {len(graphs)}" in words(call("info", toy).stdout)
    call("info", "drugs", "--plot", "drugs.svg")
    assert (here / "drugs.svg").read_text().startswith("<?xml")


def test_info_shows_the_balance_of_classes_and_what_rows_mean(toy):
    _, y = gg.load_tu(toy)
    found = json.loads(call("info", toy, "--json").stdout)["class_sizes"]
    assert found == {str(name): int((y == name).sum()) for name in np.unique(y)}
    shown = words(call("info", toy).stdout)
    for count in found.values():
        assert f"{count} ({100 * count / len(y):.1f} %)" in shown
    assert "graphs identical to one of another class" in shown


def test_kernel_writes_the_matrix(toy, here):
    graphs, y = gg.load_tu(toy)
    shown = json.loads(call("kernel", toy, "-o", "K.npz", "--json").stdout)
    saved = np.load(here / "K.npz")
    np.testing.assert_array_equal(saved["K"], gg.TreePlusPlus().fit_transform(graphs))
    assert saved["y"].tolist() == y.tolist()
    assert json.loads(str(saved["about"]))["parameters"]["tree_depth"] == 3
    assert shown["graphs"] == len(graphs)
    call("kernel", toy, "-o", "K.csv", "--kernel", "wl", "--set", "n_iter=2")
    expected = gg.WeisfeilerLehman(n_iter=2).fit_transform(graphs)
    np.testing.assert_array_equal(np.loadtxt(here / "K.csv", delimiter=","), expected)
    call("kernel", "drugs", "-o", "K.npy", "--set", "tree_depth=0,counts=sqrt")
    expected = gg.TreePlusPlus(tree_depth=0, counts="sqrt").fit_transform(gg.load_drugs()[0])
    np.testing.assert_array_equal(np.load(here / "K.npy"), expected)
    assert sorted(path.name for path in here.iterdir()) == ["K.csv", "K.npy", "K.npz"]


@pytest.mark.parametrize("width", [40, 80, 120])
def test_tables_are_as_wide_as_the_terminal_and_lose_no_letter(width):
    heads = ["data set", "accuracy", "repetitions", "parameters"]
    row = ["Mutagenicity", "0.25 ± 0.55", "[red]11", "tree_depth=3 (40% of folds)"]
    stream = io.StringIO()
    Console(file=stream, width=width).print(text_table(heads, [row], heads[1:3], "A title"))
    assert max(map(len, stream.getvalue().splitlines())) <= width
    letters = sorted("".join([*heads, *row, "A title"]).replace(" ", ""))
    assert sorted("".join(stream.getvalue().split())) == letters


def test_columns_called_id_and_similarity_do_not_replace_ours(here):
    pytest.importorskip("rdkit")
    drugs = ["CCO", "CCN", "CCOC", "c1ccccc1O"]
    rows = [f"{smiles},mine-{place},0.123,7\n" for place, smiles in enumerate(drugs)]
    (here / "m.csv").write_text("smiles,id,similarity,input_similarity\n" + "".join(rows))
    call("index", "m.csv", "-o", "m.ggi")
    index = gg.GraphIndex.open("m.ggi")
    index.verify()
    assert index.ids.tolist() == [1, 2, 3, 4]
    assert index.columns()["id"].tolist() == [f"mine-{place}" for place in range(4)]
    [found] = json.loads(
        call("search", "m.ggi", "CCO", "-n", 1, "--html", "p.html", "--json").stdout
    )
    [hit] = found["hits"]
    assert (hit["id"], hit["similarity"], hit["smiles"]) == (1, 1.0, "CCO")
    assert (hit["input_id"], hit["input_similarity"]) == ("mine-0", "7")
    assert hit["input_input_similarity"] == "0.123"
    assert "1.0000" in call("search", "m.ggi", "CCO").stdout
    call("index", "m.csv", "-o", "own.ggi", "--id", "id")
    own = gg.GraphIndex.open("own.ggi")
    assert own.ids.tolist() == [f"mine-{place}" for place in range(4)]
    [found] = json.loads(call("search", "own.ggi", "CCO", "-n", 1, "--json").stdout)
    assert "input_id" not in found["hits"][0]


def test_an_index_ignores_no_option_of_reading(here):
    pytest.importorskip("rdkit")
    (here / "m.csv").write_text("smiles,y\nCCO,1\nCCN,\nCCC,2\n")
    call("index", "m.csv", "-o", "m.ggi")
    for command in ("cluster", "pairs"):
        assert "Leave out --labels" in fails(command, "m.ggi", "--labels", "charge")
    message = fails("cluster", "m.csv", "--target", "y", "--missing", "skip")
    assert "Leave out --target y" in message
    call("pairs", "m.ggi", "m.csv", "--errors", "skip")  # for the second


def test_a_view_leaves_the_columns_of_a_file_alone(here):
    pytest.importorskip("rdkit")
    (here / "m.csv").write_text("smiles,code\nC=CO,a\nC=CN,b\nCCC,c\n")
    call("index", "m.csv", "-o", "plain.ggi", "--id", "code")
    call("index", "m.csv", "-o", "seen.ggi", "--id", "code", "--view", "edge-filter:drop=double")
    plain, seen = (gg.GraphIndex.open(f"{name}.ggi") for name in ("plain", "seen"))
    assert seen.ids.tolist() == plain.ids.tolist() == ["a", "b", "c"]
    assert seen.column_names == plain.column_names
    assert all((plain.columns()[n] == seen.columns()[n]).all() for n in plain.column_names)
    assert (plain.graphs().n_edges, seen.graphs().n_edges) == (6, 4)


def test_info_tells_classes_as_they_are_evaluated(here):
    """Whole numbers with few distinct values are classes, however they are written."""
    pytest.importorskip("rdkit")
    rows = [f"{'C' * (n // 2 + 1)},{n % 2}.0,{n % 40},{n}\n" for n in range(80)]
    (here / "m.csv").write_text("smiles,two,forty,many\n" + "".join(rows))
    for target, classes, contradictions in (("two", 2, 80), ("forty", 40, 80), ("many", None, 0)):
        shown = json.loads(call("info", "m.csv", "--target", target, "--json").stdout)
        assert (shown["classes"], shown["contradictions"]) == (classes, contradictions)
        assert (shown["target"] is None) == (classes is not None)
