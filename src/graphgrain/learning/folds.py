"""Folds and samples for cross-validation.

They depend only on the random generator, not on the version of scikit-learn, so that results stay
reproducible.
"""

from __future__ import annotations

import numpy as np

#: Positions of training and test graphs.
Split = tuple[np.ndarray, np.ndarray]


def random_folds(graphs: int, folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Shuffle the numbers 0 to graphs - 1 and split them into parts of (nearly) equal size."""
    return np.array_split(rng.permutation(graphs), folds)


def stratified_folds(codes: np.ndarray, folds: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Return folds in which each class has (nearly) the same share.

    The graphs are shuffled, sorted by class and assigned to folds in turn, so that both fold sizes
    and class sizes within folds differ by at most one.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.folds import stratified_folds
    >>> codes = np.array([0] * 6 + [1] * 3)
    >>> [codes[fold].tolist() for fold in stratified_folds(codes, 3, np.random.default_rng(0))]
    [[0, 0, 1], [0, 0, 1], [0, 0, 1]]
    """
    order = rng.permutation(len(codes))
    dealt = order[np.argsort(codes[order], kind="stable")]
    return [dealt[fold::folds] for fold in range(folds)]


def stratified_sample(codes: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return sorted positions of ``size`` graphs with (nearly) the same class shares.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.learning.folds import stratified_sample
    >>> codes = np.array([0] * 60 + [1] * 30)
    >>> codes[stratified_sample(codes, 9, np.random.default_rng(0))].tolist()
    [0, 0, 0, 0, 0, 0, 1, 1, 1]
    """
    order = rng.permutation(len(codes))
    by_class = order[np.argsort(codes[order], kind="stable")]
    steps = np.floor((np.arange(size) + 0.5) * len(codes) / size).astype(np.int64)
    return np.sort(by_class[steps])


def train_and_test(folds: list[np.ndarray], test: int) -> Split:
    """Return the sorted positions of all folds but one, and that fold."""
    rest = [fold for number, fold in enumerate(folds) if number != test]
    return np.sort(np.concatenate(rest)), folds[test]
