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


def train_and_test(folds: list[np.ndarray], test: int) -> tuple[np.ndarray, np.ndarray]:
    """All folds but one, in ascending order, and that one."""
    rest = [fold for number, fold in enumerate(folds) if number != test]
    return np.sort(np.concatenate(rest)), folds[test]
