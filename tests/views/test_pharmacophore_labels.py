"""Pharmacophore labels against RDKit's substructure search."""

from __future__ import annotations

import csv
import gzip

import pytest

import graphgrain as gg
from tests.real_data import molecule_file

Chem = pytest.importorskip("rdkit.Chem", reason="molecules need RDKit")

#: What is looked for, and what is counted besides: hydrogens of aromatic nitrogen are not known.
PATTERNS = {
    "donor": ["[N,O,S;!H0;!a]"],
    "acceptor": [
        "[#8;!$([O;H1,-]-[C,S,P]=[O,N,S])]",
        "[n;D2]",
        "[N;!a;!$([N+](=O)[O-])]=,#*",
        "[N;!a;+0;X3;!$(N-*=[O,N,S])]",
        "[S;!a;D1,D2]",
    ],
    "base": ["[N;X3;!a;$([N;D1]-[CX4]),$([N;D2](-[CX4])-[CX4]),$([N;D3](-[CX4])(-[CX4])-[CX4])]"],
    "acid": ["[$([C,S](=[O,N,S])[O;H1])]"],
    "aromatic": ["a"],
    "halogen": ["[F,Cl,Br,I]"],
}


def expected(smiles: str) -> list[set[str]]:
    molecule = Chem.MolFromSmiles(smiles)
    found: list[set[str]] = [set() for _ in range(molecule.GetNumAtoms())]
    for role, patterns in PATTERNS.items():
        for pattern in patterns:
            sought = Chem.MolFromSmarts(pattern)
            for match in molecule.GetSubstructMatches(sought, uniquify=False):
                found[match[0]].add(role)
    return found


def roles(smiles: str) -> list[set[str]]:
    labels = gg.PharmacophoreLabels().fit_transform([smiles]).labels.tolist()
    return [set(label.split()) - {"none"} for label in labels]


@pytest.mark.parametrize(
    "smiles",
    [
        "NCC(=O)O", "CC(=O)Nc1ccc(O)cc1", "C[N+](=O)[O-]", "CS(=O)(=O)Nc1ccccn1", "CC#N",
        "CN1CCC[C@H]1c1cccnc1", "OCCS", "CSC", "FC(Cl)(Br)I", "COC(=O)c1ccccc1OC(C)=O", "CC=NO",
        "O=S(=O)(O)c1ccccc1", "NC(=N)NCCC", "C1CCOC1", "CN(C)c1ccccc1",
    ],
)  # fmt: skip
def test_roles_are_those_that_substructure_search_finds(smiles):
    assert roles(smiles) == expected(smiles)


def test_real_molecules_agree_with_substructure_search():
    with gzip.open(molecule_file("logs.csv.gz"), "rt") as file:
        every = [row["smiles"] for row in csv.DictReader(file)]
    neutral = [text for text in every if not {"+", "-"} & set(text)]
    assert len(neutral) > 1000
    assert [text for text in neutral if roles(text) != expected(text)] == []


def test_a_molecule_and_its_ions_have_the_same_labels():
    assert roles("NCC(=O)O") == roles("[NH3+]CC(=O)[O-]")


@pytest.mark.parametrize("smiles", ["NCC(=O)O", "CC(=O)Nc1ccc(O)cc1", "CNCCS", "NC(=N)NCCC"])
def test_hydrogens_that_are_vertices_change_no_role(smiles):
    explicit = gg.from_smiles([smiles], hydrogens=True)
    found = gg.PharmacophoreLabels().fit_transform(explicit).labels.tolist()
    wanted = expected(smiles)
    assert [set(label.split()) - {"none"} for label in found[: len(wanted)]] == wanted
    assert set(found[len(wanted) :]) == {"none"}


def test_other_graphs_are_refused():
    with pytest.raises(gg.InvalidGraphError, match="needs molecules"):
        gg.PharmacophoreLabels().fit_transform([([(0, 1)], ["C", "O"])])
    with pytest.raises(gg.InvalidGraphError, match="needs molecules"):
        gg.PharmacophoreLabels().fit_transform([([(0, 1)], [1, 2])])


def test_graphs_without_vertices():
    assert gg.PharmacophoreLabels().fit_transform(gg.from_smiles([])).n_vertices == 0
