"""The fast reader of molecules: the graphs of the obvious one, alone and in processes."""

from __future__ import annotations

import gzip
import os
import warnings

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import GraphgrainWarning, InvalidGraphError, WorkerError
from graphgrain.graphs.processes import map_processes

from ..real_data import molecule_file
from .dying import die_always, die_once
from .slow_molecules import slow_batch, slow_molecule

Chem = pytest.importorskip("rdkit.Chem", reason="RDKit is not installed")

#: One of each that the fast path might get wrong: rings, brackets, charges that RDKit moves,
#: rare bonds, metals, hydrogens as atoms, dummies, several parts, names of elements that begin
#: like others, text around the SMILES, radicals in rings.
ODD = [
    "C", "[H][H]", "[H]C", "[2H]C", "C[H+]", "[H]O[H]", "O=[N+]([O-])c1ccccc1", "CN(=O)=O",
    "c1cc[nH]c1", "c1cc[se]c1", "C[Si](C)(C)C", "[Na+].[Cl-]", "Cl[Pt](Cl)(N)N", "[Fe]",
    "B1C2CCCC1CCC2", "[Cu+2]<-N", "O->[Fe+2]", "C$C", "C~C", "[*]C", "*c1ccccc1", "C%12CC%12",
    "Sc1ccccc1", "Cn1cccc1", "CS(=O)(=O)C", "[13CH4]", "[#6]C", "C/C=C/C", "C[C@H](N)O",
    "OC(=O)C1CC1", "Brc1ccc(I)cc1", "  CCO ", "[CH3]", "[O][O]", "C1=CC=CC=C1", "c1ccc2ccccc2c1",
    "CC#N", "[C-]#[O+]", "F[P-](F)(F)(F)(F)F", "C1CC2CCC1C2", "[As](C)(C)C", "[te]1cccc1",
    "CCO |$a;b;c$|", "[H]C([H])=O", "[U]", "C" * 300, "[c]1ccccc1", "[13c]1[13c]cccc1",
    "[c]1cc[nH]c1", "[C]1=CC=CC=C1", "Oc1[c]c2ccccc2[nH]1",
]  # fmt: skip


@pytest.mark.parametrize("smiles", ODD)
def test_odd_molecules(smiles):
    molecule = slow_molecule(smiles)
    assert gg.from_smiles([smiles]) == slow_batch([molecule])
    assert gg.from_rdkit([molecule]) == slow_batch([molecule])
    options = {"charge": True, "aromatic": True}
    assert gg.from_smiles([smiles], **options) == slow_batch([molecule], **options)


def hiv_sample() -> list[str]:
    with gzip.open(molecule_file("hiv.csv.gz"), "rt") as lines:
        return [line.split(",")[0] for number, line in enumerate(lines) if number % 40 == 5]


def test_a_sample_of_real_molecules():
    """All of HIV: python -m benchmarks.reader --all."""
    smiles = hiv_sample()
    assert len(smiles) > 1000
    molecules = [slow_molecule(text) for text in smiles]
    expected = [number for number, molecule in enumerate(molecules) if molecule is not None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphgrainWarning)
        graphs, index = gg.from_smiles(smiles, errors="skip", return_index=True)
    assert index.tolist() == expected
    assert graphs == slow_batch([molecules[number] for number in expected])


def test_a_molecule_that_was_changed_is_read_as_it_is():
    """RDKit keeps matrices; the reader must not take an old one."""
    molecule = Chem.RWMol(Chem.MolFromSmiles("CCO"))
    assert gg.from_rdkit([molecule]) == slow_batch([molecule])
    molecule.GetBondWithIdx(0).SetBondType(Chem.BondType.DOUBLE)
    assert gg.from_rdkit([molecule]) == slow_batch([molecule])


# ---------------------------------------------------------------- stereochemistry and more


def labels(smiles, **options):
    return gg.from_smiles([smiles], **options).labels.tolist()


def test_stereocentres_do_not_depend_on_the_spelling():
    """Every way to write an enantiomer has the same labels; the mirror image has others."""
    alanine = {"C[C@H](N)C(=O)O", "N[C@@H](C)C(=O)O", "OC(=O)[C@H](C)N", "[C@@H](N)(C(=O)O)C"}
    mirror = {"C[C@@H](N)C(=O)O", "N[C@H](C)C(=O)O"}
    for smiles in alanine:
        assert sorted(labels(smiles, stereo=True)) == ["C", "C", "C@S", "N", "O", "O"]
    for smiles in mirror:
        assert sorted(labels(smiles, stereo=True)) == ["C", "C", "C@R", "N", "O", "O"]
    everything = [*alanine, *mirror]
    assert len(gg.duplicates(gg.from_smiles(everything))) == 1
    assert [len(group) for group in gg.duplicates(gg.from_smiles(everything, stereo=True))] == [
        len(alanine),
        len(mirror),
    ]


@pytest.mark.parametrize(
    ("smiles", "label"),
    [
        ("F/C=C/F", "double@E"),
        ("F\\C=C\\F", "double@E"),
        ("F/C=C\\F", "double@Z"),
        ("C(\\F)=C/F", "double@E"),
        ("FC=CF", "double"),
    ],
)
def test_geometry_of_double_bonds(smiles, label):
    assert label in gg.from_smiles([smiles], stereo=True).edge_labels.tolist()
    assert "double" in gg.from_smiles([smiles]).edge_labels.tolist()


def test_random_spellings_of_a_real_drug():
    """Quinine, with four stereocentres and a bridgehead: RDKit writes it in fifty ways."""
    quinine = Chem.MolFromSmiles("COc1ccc2nccc([C@@H](O)[C@@H]3C[C@@H]4CC[N@]3C[C@@H]4C=C)c2c1")
    spellings = [Chem.MolToSmiles(quinine, doRandom=True) for _ in range(50)]
    assert len(set(spellings)) > 20
    graphs = gg.from_smiles(spellings, stereo=True)
    assert [len(group) for group in gg.duplicates(graphs)] == [50]
    assert sum("@" in label for label in graphs[0].labels) >= 4


def test_molecules_that_are_not_sanitised():
    raw = Chem.MolFromSmiles("C[C@H](N)O", sanitize=False)
    assert gg.from_rdkit([Chem.Mol(), raw]).labels.tolist() == list("CCNO")
    with pytest.raises(InvalidGraphError, match=r"Item 1 .*ImplicitHs.*SanitizeMol"):
        gg.from_rdkit([Chem.Mol(), raw], hydrogens=True)


def test_rdkit_molecules_stay_as_they_are():
    molecule = Chem.MolFromSmiles("C[C@H](N)O")
    before = [sorted(atom.GetPropNames(True, True)) for atom in molecule.GetAtoms()]
    gg.from_rdkit([molecule], stereo=True, hydrogens=True)
    assert [sorted(atom.GetPropNames(True, True)) for atom in molecule.GetAtoms()] == before
    assert molecule.GetNumAtoms() == 4


# ---------------------------------------------------------------- processes


def test_processes_give_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("graphgrain.graphs.convert.rdkit._AT_A_TIME", 3)
    smiles = ["CCO", "C1CC", "CN", "c1ccccc1", "", "C[N+](C)(C)C", "CC", "C#N"]
    with pytest.warns(GraphgrainWarning) as alone:
        one = gg.from_smiles(smiles, errors="skip", return_index=True)
    with pytest.warns(GraphgrainWarning) as together:
        two = gg.from_smiles(smiles, errors="skip", return_index=True, n_jobs=2)
    assert one[0] == two[0]
    assert one[1].tolist() == two[1].tolist() == [0, 2, 3, 5, 6, 7]
    assert str(alone[0].message) == str(together[0].message)
    file = tmp_path / "x.smi"
    file.write_text("".join(f"{text} m{number}\n" for number, text in enumerate(smiles)))
    with pytest.warns(GraphgrainWarning, match="2 of 8"):
        graphs, columns = gg.load_molecules(file, errors="skip", n_jobs=2)
    assert len(graphs) == 6
    assert columns["name"][0] == "m0"


def test_the_death_of_a_worker(tmp_path):
    marker = str(tmp_path / "died")
    items = [(marker, number) for number in range(8)]
    assert list(map_processes(die_once, items, 2)) == [number**2 for number in range(8)]
    assert os.path.exists(marker)
    with pytest.raises(WorkerError, match="killed 3 times in a row"):
        list(map_processes(die_always, range(4), 2))


def test_only_a_few_items_are_taken_ahead():
    taken = []

    def items():
        for number in range(1000):
            taken.append(number)
            yield -number

    results = map_processes(abs, items(), 2)
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    assert len(taken) <= 5 + 4
    results.close()
    assert np.all(np.diff(taken) == 1)


def test_joblib_has_workers_of_its_own():
    """Searches with n_jobs after reading with n_jobs, and the other way round."""
    from joblib import Parallel, delayed

    for _ in range(2):
        assert list(map_processes(abs, [-1, 2], 2)) == [1, 2]
        assert Parallel(n_jobs=2)(delayed(abs)(number) for number in (-3, 4)) == [3, 4]
