"""Folds: every graph once, classes spread evenly, always the same for the same seed."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphgrain.learning.splits import (
    even_sample,
    random_folds,
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


@settings(deadline=None)  # a busy machine is no failure
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
