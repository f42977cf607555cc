"""Folds: every graph once, classes spread evenly, always the same for the same seed."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

import graphgrain as gg
from graphgrain.errors import InvalidParameterError
from graphgrain.learning.folds import (
    even_sample,
    fold_numbers,
    random_folds,
    scaffold_codes,
    stratified_folds,
    train_and_test,
)

codes = st.lists(st.integers(0, 3), min_size=2, max_size=60).map(np.array)


@given(codes, st.integers(2, 10), st.integers(0, 5))
def test_stratified_folds_share_each_class_evenly(codes, folds, seed):
    parts = stratified_folds(codes, folds, np.random.default_rng(seed))
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(codes)))
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    for wanted in set(codes.tolist()):
        members = [int((codes[part] == wanted).sum()) for part in parts]
        assert max(members) - min(members) <= 1


@given(st.integers(2, 60), st.integers(2, 10), st.integers(0, 5))
def test_random_folds_hold_every_graph_once(graphs, folds, seed):
    parts = random_folds(graphs, folds, np.random.default_rng(seed))
    assert sorted(np.concatenate(parts).tolist()) == list(range(graphs))
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    train, test = train_and_test(parts, 1)
    assert set(train) | set(test) == set(range(graphs))
    assert not set(train) & set(test)


@given(codes, st.integers(4, 60), st.integers(0, 5))
def test_even_samples_take_rare_classes_whole(codes, size, seed):
    size = min(size, len(codes))
    positions, stand_for = even_sample(codes, size, np.random.default_rng(seed))
    assert len(positions) == size
    assert (np.diff(positions) > 0).all()
    counts = {code: int((codes == code).sum()) for code in set(codes.tolist())}
    taken = {code: int((codes[positions] == code).sum()) for code in counts}
    most = max(taken.values())
    for code in counts:  # a class is whole, or has as many as any other
        assert taken[code] == counts[code] or taken[code] >= most - 1
    if all(taken.values()):  # the sample weighs as all graphs do
        sums = {code: stand_for[codes[positions] == code].sum() for code in counts}
        total = sum(sums.values())
        for code, count in counts.items():
            np.testing.assert_allclose(sums[code] / total, count / len(codes))
    assert stand_for.min() == 1.0


def test_folds_are_the_same_on_every_machine_and_in_every_version():
    # Changing these would make old results impossible to continue.
    parts = random_folds(10, 3, np.random.default_rng([0, 0]))
    assert [part.tolist() for part in parts] == GOLDEN_RANDOM
    dealt = stratified_folds(np.arange(10) % 2, 3, np.random.default_rng([0, 0]))
    assert [part.tolist() for part in dealt] == GOLDEN_STRATIFIED


GOLDEN_RANDOM = [[4, 6, 2, 7], [3, 5, 9], [0, 8, 1]]
GOLDEN_STRATIFIED = [[4, 0, 3, 1], [6, 8, 5], [2, 7, 9]]


# ---------------------------------------------------------------- what cv of an estimator says


@given(
    st.lists(st.integers(0, 9), min_size=20, max_size=80).filter(lambda g: len(set(g)) >= 3),
    st.integers(2, 3),
    st.integers(0, 5),
)
def test_groups_are_never_cut(groups, folds, seed):
    batch = gg.as_graphs([([], ["C"])] * len(groups))
    groups = np.array(groups)
    codes = np.arange(len(groups)) % 2
    numbers = fold_numbers(folds, batch, codes, groups, np.random.default_rng(seed))
    assert set(numbers) == set(range(folds))
    for group in set(groups.tolist()):
        assert len(set(numbers[groups == group])) == 1
    # the largest first to the emptiest: no fold is larger than another by more than a group
    sizes = np.bincount(numbers)
    assert sizes.max() - sizes.min() <= np.bincount(groups).max()


def test_groups_of_any_kind():
    batch = gg.as_graphs([([], ["C"])] * 6)
    numbers = fold_numbers(3, batch, None, ["x", "y", "x", "z", "z", "z"], _rng())
    assert numbers[0] == numbers[2]
    assert numbers[3] == numbers[4] == numbers[5]
    with pytest.raises(InvalidParameterError, match="2 groups for 3 folds"):
        fold_numbers(3, batch, None, [0, 0, 0, 1, 1, 1], _rng())
    with pytest.raises(InvalidParameterError, match="cannot split these 6 graphs"):
        fold_numbers(GroupKFold(3), batch, None, None, _rng())
    with pytest.raises(InvalidParameterError, match="cannot split these 6 graphs"):
        fold_numbers(KFold(30), batch, None, None, _rng())


def test_groups_are_checked(drugs):
    graphs, _ = drugs
    y = graphs.vertex_counts
    model = gg.GraphRegressor(max_level=1, max_terms=1)
    weights = np.ones(len(y))
    weights[:5] = 0
    for number in (5, len(y) + 1):
        with pytest.raises(InvalidParameterError, match=f"each of the {len(y)} graphs"):
            model.fit(graphs, y, weights, groups=[0] * number)
    mixed = np.array(["a", 1] * (len(y) // 2), dtype=object)
    with pytest.raises(InvalidParameterError, match="types int, str"):
        model.fit(graphs[: len(mixed)], y[: len(mixed)], groups=mixed)
    with pytest.raises(InvalidParameterError, match="makes its own groups"):
        model.set_params(cv="scaffold").fit(graphs, y, groups=y)


def _rng():
    return np.random.default_rng(0)


def test_without_groups_classes_are_spread():
    batch = gg.as_graphs([([], ["C"])] * 30)
    codes = np.array([0] * 20 + [1] * 10)
    numbers = fold_numbers(5, batch, codes, None, _rng())
    assert np.bincount(numbers).tolist() == [6] * 5
    assert np.bincount(numbers[codes == 1]).tolist() == [2] * 5


@pytest.mark.parametrize(
    "cv",
    [
        KFold(4, shuffle=True, random_state=0),
        StratifiedKFold(4),
        GroupKFold(4),
        StratifiedGroupKFold(4),
        LeaveOneGroupOut(),
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_splitters_say_who_is_held_out_with_whom(cv):
    batch = gg.as_graphs([([], ["C"])] * 40)
    codes, groups = np.arange(40) % 2, np.arange(40) // 4
    groups = groups if "Group" in type(cv).__name__ else None
    numbers = fold_numbers(cv, batch, codes, groups, _rng())
    for fold, (_, test) in enumerate(cv.split(np.zeros(40), codes, groups)):
        assert np.flatnonzero(numbers == fold).tolist() == sorted(test.tolist())


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (ShuffleSplit(3, test_size=0.2, random_state=0), "must hold out every graph once"),
        (RepeatedKFold(n_splits=2, n_repeats=2), r"holds out graph \d+ twice"),
        (TimeSeriesSplit(3), r"leaves out graph 0\. Use KFold"),
        (PredefinedSplit(np.zeros(20)), "at least two folds"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_splitters_that_do_not_hold_out_everything_once(cv, message, chains):
    graphs, count = chains(20)
    with pytest.raises(InvalidParameterError, match=message):
        gg.GraphRegressor("wl", 0, cv=cv).fit(graphs, count)


def test_groups_reach_the_folds_of_an_estimator(chains):
    graphs, count = chains(30)
    seen = []

    class Watched(gg.GraphRegressor):
        def _fit(self, data, rng):
            seen.append(data.folds)
            super()._fit(data, rng)

    weights = np.ones(30)
    weights[:3] = 0
    groups = np.arange(30) // 3
    Watched("wl", 0, cv=3).fit(graphs, count, sample_weight=weights, groups=groups)
    [folds] = seen
    assert len(folds) == 27
    for group in range(1, 10):
        assert len(set(folds[groups[3:] == group])) == 1
    with pytest.raises(InvalidParameterError, match="groups must hold one entry"):
        gg.GraphClassifier().fit(graphs, count > 3, groups=[1, 2])


# ---------------------------------------------------------------- scaffolds

RINGS = [
    "c1ccccc1", "Cc1ccccc1", "OC(=O)c1ccccc1", "CCN(C)Cc1ccccc1", "c1ccncc1", "Cc1ccncc1",
    "C1CCCCC1", "OC1CCCCC1", "c1ccc2ccccc2c1", "Cc1ccc2ccccc2c1", "c1ccccc1Cc1ccccc1",
    "Cc1ccccc1Cc1ccccc1O", "c1ccccc1CCc1ccccc1", "c1ccccc1-c1ccccc1", "CCO", "C", "CC(C)C", "CCCCN",
    "c1ccoc1", "Cc1ccoc1", "C1CCNCC1", "CN1CCNCC1", "C1CCCC1", "c1ccccc1OCc1ccncc1",
    "Clc1ccc(cc1)OCc1ccnc(C)c1",
]  # fmt: skip


def test_scaffolds_are_those_of_murcko():
    scaffolds = pytest.importorskip("rdkit.Chem.Scaffolds.MurckoScaffold")
    ours = scaffold_codes(gg.from_smiles(RINGS))
    theirs = [scaffolds.MurckoScaffoldSmiles(smiles) for smiles in RINGS]
    assert len(set(ours.tolist())) == len(set(theirs)) == 13
    for first, second in combinations(range(len(RINGS)), 2):
        assert (ours[first] == ours[second]) == (theirs[first] == theirs[second])


def test_scaffolds_are_not_cut():
    scaffolds = pytest.importorskip("rdkit.Chem.Scaffolds.MurckoScaffold")
    smiles = RINGS * 2
    batch = gg.from_smiles(smiles)
    numbers = fold_numbers("scaffold", batch, None, None, _rng())
    assert set(numbers) == set(range(5))
    for name in {scaffolds.MurckoScaffoldSmiles(s) for s in RINGS}:
        own = [scaffolds.MurckoScaffoldSmiles(s) == name for s in smiles]
        assert len(set(numbers[own])) == 1
    y = batch.vertex_counts
    assert gg.GraphRegressor("wl", 1, cv="scaffold").fit(batch, y).score(batch, y) > 0.5


def test_few_scaffolds_make_few_folds():
    batch = gg.from_smiles(["Cc1ccccc1", "CCO", "Oc1ccccc1", "CCN", "C1CCCC1", "CC1CCCC1"])
    numbers = fold_numbers("scaffold", batch, None, None, _rng())
    assert set(numbers) == {0, 1, 2}
    with pytest.raises(InvalidParameterError, match="all molecules have the same scaffold"):
        fold_numbers("scaffold", batch[[1, 3]], None, None, _rng())
