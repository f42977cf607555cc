"""Folds for cross-validation, from a random generator and nothing else.

They do not depend on the version of scikit-learn, so that results can be continued years later.
"""

from __future__ import annotations

import numpy as np


def random_folds(graphs: int, folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """The numbers 0 to graphs - 1 in random order, cut into parts of (nearly) equal size.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.splits import random_folds
    >>> [len(fold) for fold in random_folds(11, 3, np.random.default_rng(0))]
    [4, 4, 3]
    """
    return np.array_split(rng.permutation(graphs), folds)


def stratified_folds(codes: np.ndarray, folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Folds in which each class has (nearly) the same share.

    The graphs are shuffled, sorted by class and dealt out like cards, so that both the folds and
    the members of a class in them differ in number by at most one.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.splits import stratified_folds
    >>> codes = np.array([0] * 6 + [1] * 3)
    >>> [codes[fold].tolist() for fold in stratified_folds(codes, 3, np.random.default_rng(0))]
    [[0, 0, 1], [0, 0, 1], [0, 0, 1]]
    """
    order = rng.permutation(len(codes))
    dealt = order[np.argsort(codes[order], kind="stable")]
    return [dealt[fold::folds] for fold in range(folds)]


def stratified_sample(codes: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Positions of ``size`` graphs, in ascending order, each class with (nearly) its share.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.splits import stratified_sample
    >>> codes = np.array([0] * 60 + [1] * 30)
    >>> codes[stratified_sample(codes, 9, np.random.default_rng(0))].tolist()
    [0, 0, 0, 0, 0, 0, 1, 1, 1]
    """
    order = rng.permutation(len(codes))
    by_class = order[np.argsort(codes[order], kind="stable")]
    steps = np.floor((np.arange(size) + 0.5) * len(codes) / size).astype(np.int64)
    return np.sort(by_class[steps])


def even_sample(
    codes: np.ndarray, size: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Positions of ``size`` graphs, in ascending order, with as many of each class as it has.

    A class with less than its even part of the sample is taken whole, and the others share what
    it leaves.

    Returns
    -------
    positions : array
    stand_for : array
        How many graphs of its class each of them stands for, against the class of which the
        largest part was taken.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.splits import even_sample
    >>> codes = np.array([0] * 60 + [1] * 3)
    >>> positions, stand_for = even_sample(codes, 9, np.random.default_rng(0))
    >>> codes[positions].tolist(), stand_for.tolist()
    ([0, 0, 0, 0, 0, 0, 1, 1, 1], [10.0, 10.0, 10.0, 10.0, 10.0, 10.0, 1.0, 1.0, 1.0])
    """
    order = rng.permutation(len(codes))
    counts = np.bincount(codes)
    parts, taken = [], np.zeros(len(counts))
    room, left = size, np.count_nonzero(counts)
    for code in np.argsort(counts, kind="stable")[len(counts) - left :]:
        own = order[codes[order] == code][: room // left]
        parts.append(own)
        taken[code] = len(own)
        room, left = room - len(own), left - 1
    positions = np.sort(np.concatenate(parts))
    ratios = counts / np.maximum(taken, 1)
    return positions, ratios[codes[positions]] / ratios[taken > 0].min()


def train_and_test(folds: list[np.ndarray], test: int) -> tuple[np.ndarray, np.ndarray]:
    """All folds but one, in ascending order, and that one."""
    rest = [fold for number, fold in enumerate(folds) if number != test]
    return np.sort(np.concatenate(rest)), folds[test]
