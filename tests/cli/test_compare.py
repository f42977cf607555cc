"""The command compare: two graphs, two sets, and the values of a column."""

from __future__ import annotations

import csv
import json

import pytest

import graphgrain as gg

from .running import call, fails, words

pytest.importorskip("rdkit")
ASPIRIN, PARACETAMOL = "CC(=O)Oc1ccccc1C(=O)O", "CC(=O)Nc1ccc(O)cc1"


@pytest.fixture
def families(here):
    """Two families of drugs: in one table with their family, and in a file each."""
    graphs, y = gg.load_drugs()
    smiles = graphs.columns["smiles"]
    rows = [(text, family) for text, family in zip(smiles, y, strict=True) if family in FAMILIES]
    for name, chosen in [("both", FAMILIES), *((family, (family,)) for family in FAMILIES)]:
        with open(here / f"{name}.csv", "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(("smiles", "family"))
            table.writerows(row for row in rows if row[1] in chosen)
    return here


FAMILIES = ("opioids", "nsaids")


def test_two_molecules_are_compared_as_graphs(here):
    told = json.loads(call("compare", ASPIRIN, PARACETAMOL, "--json").stdout)
    graphs = gg.from_smiles([ASPIRIN, PARACETAMOL])
    K = gg.TreePlusPlus(edge_labels=True).fit_transform(graphs)
    assert told["similarity"] == pytest.approx(K[0, 1], abs=1e-12)
    assert sum(part["share"] for part in told["shared"]) == pytest.approx(1.0)
    (here / "one.smi").write_text(f"{ASPIRIN} aspirin\n")
    shown = words(call("compare", "one.smi", PARACETAMOL, "-k", "wl", "--set", "n_iter=1").stdout)
    K = gg.WeisfeilerLehman(n_iter=1).fit_transform(graphs)
    assert f"aspirin and {PARACETAMOL} have the similarity {K[0, 1]:.4f}" in shown


def test_bonds_tell_two_molecules_apart():
    """Benzene and cyclohexane are the same graph without their bonds."""
    assert json.loads(call("compare", "c1ccccc1", "C1CCCCC1", "--json").stdout)["similarity"] < 0.1


def test_two_files_are_compared_as_sets(families):
    told = json.loads(call("compare", "opioids.csv", "nsaids.csv", "--json").stdout)
    assert told["sets"] == list(FAMILIES)
    assert told["p_value"] < 0.01
    strongest = told["more_frequent"][0]
    graphs = [gg.load_molecules(f"{family}.csv")[0] for family in FAMILIES]
    test = gg.compare_sets(*graphs)
    assert told["mmd"] == test.mmd
    assert (strongest["name"], tuple(strongest["shares"])) == (
        test.fragments(1)[0].name,
        test.fragments(1)[0].shares,
    )
    shown = words(call("compare", "opioids.csv", "nsaids.csv").stdout)
    assert shown.startswith("opioids and nsaids differ (p = 0.001).")
    high, low = sorted((100 * share for share in strongest["shares"]), reverse=True)
    line = f"{strongest['name']} is more frequent in {strongest['in']}:"
    assert f"{line} {high:.0f} % against {low:.0f} %" in shown
    assert strongest["in"] == FAMILIES[strongest["shares"][1] > strongest["shares"][0]]


def test_a_column_divides_a_file(families, toy):
    """Two values are the two sets, more are compared with the rest."""
    told = json.loads(call("compare", "both.csv", "--by", "family", "--json").stdout)
    assert told["sets"] == ["family=nsaids", "family=opioids"]
    apart = json.loads(call("compare", "nsaids.csv", "opioids.csv", "--json").stdout)
    assert told["mmd"] == pytest.approx(apart["mmd"], abs=1e-12)
    shown = words(call("compare", toy).stdout)
    assert shown.startswith("class antihistamines and class tricyclics differ")
    graphs, y = gg.load_drugs()
    three = [family in (*FAMILIES, "tricyclics") for family in y]
    gg.save_tu(families / "THREE.zip", graphs[three], y[three])
    told = json.loads(call("compare", "THREE.zip", "--json").stdout)
    assert [one["sets"] for one in told] == [
        [name, "the rest"] for name in ("nsaids", "opioids", "tricyclics")
    ]
    assert words(call("compare", "THREE.zip").stdout).startswith("3 of 3 sets differ from the rest")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CCO"], "or one that is divided by a column, --by COLUMN"),
        (["CCO", "CCC", "--by", "x"], "--by divides one file into sets"),
        (["drugs", "--by", "x"], "drugs is divided by its classes"),
        (["both.csv"], "The columns of both are smiles, family"),
        (["both.csv", "--by", "famly"], "Did you mean family?"),
        (["CCO", "nowhere"], "'nowhere' was taken as SMILES"),
        (["CCO", "drugs"], "Each set needs at least two graphs"),
        (["CCO", "CCC", "-k", "wwl"], "compare needs a kernel with explicit features"),
        (["", "CCC"], "DATA is a file, a folder or the name of a data set"),
    ],
)
def test_what_cannot_be_compared(arguments, message, families):
    assert message in fails("compare", *arguments)


def test_sets_without_a_common_label_were_not_read_in_the_same_way(families):
    gg.save_tu(families / "PATHS.zip", gg.as_graphs([([(0, 1)], None)] * 3))
    message = "are strings, those of PATHS missing: no pattern in common. Were they read in"
    assert message in fails("compare", "both.csv", "PATHS.zip")
