"""Splits at random, by scaffold and by a column, and evaluations on them."""

from __future__ import annotations

import gzip
from dataclasses import replace

import numpy as np
import pytest
from graphgrain.evaluation.experiment import run
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.records import ResultsFile, fold_records
from graphgrain.evaluation.summary import summarise

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.evaluation.splits import parts_of, scaffolds, split_groups
from graphgrain.kernels.registry import KERNELS
from tests.real_data import molecule_file

rdkit = pytest.importorskip("rdkit")


@pytest.mark.parametrize("random_state", [None, 0, 7])
def test_parts_have_no_scaffold_in_common(random_state):
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 30, 300).astype(str)
    parts = split_groups(groups, random_state=random_state)
    assert sorted(np.concatenate(parts).tolist()) == list(range(300))
    names = [set(groups[part]) for part in parts]
    assert all(not names[a] & names[b] for a, b in ((0, 1), (0, 2), (1, 2)))
    assert len(parts[0]) <= 240
    if random_state is None:  # the largest sets train, the smallest are tested
        sizes = {name: int((groups == name).sum()) for name in set(groups)}
        assert min(sizes[n] for n in names[0]) >= max(sizes[n] for n in names[2]) - 1


def test_another_seed_is_another_split_and_the_same_seed_the_same():
    groups = [f"s{n % 60}" for n in range(300)] + ["large"] * 100
    first, again, other = (split_groups(groups, random_state=seed)[2] for seed in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()
    for seed in range(20):  # a scaffold that would fill the test part always trains
        assert 300 in split_groups(groups, random_state=seed)[0]


def test_scaffolds_do_not_see_chirality():
    one, other = scaffolds(["C[C@H]1CCCCO1", "C[C@@H]1CCCCO1"])
    assert one == other == "C1CCOCC1"


def test_molecules_of_rdkit_and_bad_ones():
    from rdkit.Chem import MolFromSmiles

    texts = ["c1ccccc1C", "C1CCCC1", "CCO", "c1ccccc1"]
    by_text, by_molecule = (
        [part.tolist() for part in gg.scaffold_split(given)]
        for given in (texts, [MolFromSmiles(text) for text in texts])
    )
    assert by_text == by_molecule
    with pytest.raises(InvalidParameterError, match="got 'C1CC' at place 1"):
        gg.scaffold_split(["CCO", "C1CC"])
    with pytest.raises(InvalidParameterError, match="sum to 1; got"):
        gg.scaffold_split(texts, shares=(0.5, 0.1, 0.1))


def test_the_split_of_molhiv():
    with gzip.open(molecule_file("hiv.csv.gz"), "rt") as file:
        rows = [line.rsplit(",", 1) for line in file.read().splitlines()[1:]]
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")
    # a twentieth of the set has the proportions that the whole has
    sample = [text for text, _ in rows[::20] if Chem.MolFromSmiles(text)]
    shares = [len(part) / len(sample) for part in gg.scaffold_split(sample)]
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.01)


@pytest.fixture
def molecules(families):
    parts = np.array(["test" if n % 5 == 0 else "train" for n in range(len(families))])
    rings = [f"{atom}1{'C' * size}1" for atom in "CNO" for size in range(2, 12)]
    smiles = [rings[n % len(rings)] for n in range(len(families))]
    return replace(families, smiles=smiles, columns={"part": parts, "id": parts})


def test_random_and_given_parts(molecules):
    train, test = parts_of(molecules, "random", 3)
    n = len(molecules)
    assert (len(train), len(test)) == (int(0.8 * n), n - int(0.9 * n))
    assert not set(train) & set(test)
    assert parts_of(molecules, "random", 4)[1].tolist() != test.tolist()
    assert parts_of(molecules, "part", 0)[1].tolist() == list(range(0, n, 5))
    wrong = replace(molecules, columns={"part": np.array(["a"] * n)})
    with pytest.raises(InvalidParameterError, match="must say train or test"):
        parts_of(wrong, "part", 0)
    with pytest.raises(InvalidParameterError, match=r"got 'parts'\. The columns of families are"):
        parts_of(molecules, "parts", 0)
    with pytest.raises(InvalidParameterError, match="needs molecules with their SMILES"):
        parts_of(replace(molecules, smiles=None), "scaffold", 0)


@pytest.mark.parametrize("split", ["random", "scaffold", "random-scaffold", "part"])
def test_a_split_is_evaluated_like_folds(split, molecules, tmp_path):
    protocol = Protocol("nested", 1, 2, split=split)
    with ResultsFile(tmp_path / "r.jsonl") as results:
        assert run(molecules, KERNELS["vertex-histogram"], protocol, 2, results) == 2
        assert run(molecules, KERNELS["vertex-histogram"], protocol, 2, results) == 0
        records = fold_records(results.records)
        [summary] = summarise(results.records)
    for record in records:
        train, test = parts_of(molecules, split, record.repetition)
        assert record.test == test.tolist()
        if "scaffold" in split:
            found = scaffolds(molecules.smiles)
            assert not {found[n] for n in train} & {found[n] for n in test}
    drawn = split in ("random", "random-scaffold")
    assert (records[0].test != records[1].test) == drawn
    truth = [np.mean(np.array(r.truth) == r.levels[0].predictions) for r in records]
    assert summary.accuracy.each == pytest.approx(truth)
    assert summary.split == split


def test_rules_that_contradict_each_other():
    with pytest.raises(InvalidParameterError, match="one test part, folds=1"):
        Protocol(split="random")
    with pytest.raises(InvalidParameterError, match="mode 'nested'"):
        Protocol("paper", 1, split="random")


def test_shares_are_those_asked_for():
    """Although 0.7 + 0.2 is less than 0.9 in floating-point numbers."""
    groups = [f"s{n}" for n in range(10)]
    assert [len(part) for part in split_groups(groups, (0.7, 0.2, 0.1))] == [7, 2, 1]
    with pytest.raises(InvalidParameterError, match="sum to 1"):
        gg.scaffold_split(["CCO"], (np.nan, 0.5, 0.5))
