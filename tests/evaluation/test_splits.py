"""Folds, and splits at random, by scaffold, by time and by a column."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.evaluation.splits import deal_folds, scaffolds, split_groups
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


def test_folds_are_stratified_or_keep_groups():
    y = np.repeat([0, 1], [30, 15])
    folds = deal_folds(5, y, classes=True, repeats=2)
    assert [(f.repetition, f.fold) for f in folds] == [(r, f) for r in (0, 1) for f in range(5)]
    for fold in folds:
        assert np.bincount(y[fold.test]).tolist() == [6, 3]
        assert sorted([*fold.train, *fold.test]) == list(range(45))
    for repetition in (0, 1):
        own = [f.test for f in folds if f.repetition == repetition]
        assert sorted(np.concatenate(own).tolist()) == list(range(45))
    assert folds[0].test.tolist() != folds[5].test.tolist()
    groups = np.arange(45) % 7
    for fold in deal_folds(3, y, classes=True, groups=groups):
        assert not set(groups[fold.train]) & set(groups[fold.test])


def test_one_test_part_by_name_time_or_column():
    y = np.arange(100.0)
    [random] = deal_folds("random", y, classes=False)
    assert (len(random.train), len(random.test)) == (80, 10)
    times = np.random.default_rng(0).permutation(100)
    [last] = deal_folds("time", y, classes=False, times=times)
    assert set(times[last.test]) == set(range(90, 100))
    assert len(last.train) == 90
    words = np.where(y < 70, "train", np.where(y < 80, "valid", "test"))
    [column] = deal_folds(words, y, classes=False)
    assert column.train.tolist() == list(range(70))
    assert column.test.tolist() == list(range(80, 100))
    numbers = deal_folds(np.arange(100) % 4, y, classes=False)
    assert [set(fold.test % 4) for fold in numbers] == [{0}, {1}, {2}, {3}]


def test_splitters_of_scikit_learn_and_positions():
    from sklearn.model_selection import LeaveOneGroupOut, ShuffleSplit

    y, groups = np.arange(12.0), np.arange(12) % 3
    folds = deal_folds(LeaveOneGroupOut(), y, classes=False, groups=groups)
    assert [set(groups[fold.test]) for fold in folds] == [{0}, {1}, {2}]
    assert len(deal_folds(ShuffleSplit(4, random_state=0), y, classes=False)) == 4
    [given] = deal_folds([(np.arange(6), [7, 6])], y, classes=False)
    assert given.test.tolist() == [6, 7]


@pytest.mark.parametrize(
    ("cv", "more", "message"),
    [
        (1, {}, "from 2 to the number of graphs or groups, 12; got 1"),
        (5, {"groups": [0, 1] * 6}, "groups, 2; got 5"),
        (2, {"groups": [0]}, "one entry for each of the 12"),
        ("scaffolds", {}, "one of random, random-scaffold"),
        ("scaffold", {}, "needs molecules as SMILES"),
        ("time", {}, "needs the time of each graph"),
        (np.zeros(12), {}, "it has 1 values"),
        (np.zeros(5), {}, "one entry for each of the 12 graphs"),
        ([([0, 1], [1, 2])], {}, "1 of them in both"),
    ],
)
def test_rules_of_splits(cv, more, message):
    with pytest.raises(InvalidParameterError, match=message):
        deal_folds(cv, np.arange(12.0), classes=False, **more)


def test_shares_are_those_asked_for():
    """Although 0.7 + 0.2 is less than 0.9 in floating-point numbers."""
    groups = [f"s{n}" for n in range(10)]
    assert [len(part) for part in split_groups(groups, (0.7, 0.2, 0.1))] == [7, 2, 1]
    with pytest.raises(InvalidParameterError, match="sum to 1"):
        gg.scaffold_split(["CCO"], (np.nan, 0.5, 0.5))
