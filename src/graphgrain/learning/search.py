"""Choose between kernel matrices and a learner's parameter by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np

from ..core.support_vectors import cut
from ..core.threads import thread_count
from .machines import Learner

Split = tuple[np.ndarray, np.ndarray]


def part(
    gram: np.ndarray, rows: np.ndarray, columns: np.ndarray, dtype: type = np.float64
) -> np.ndarray:
    """The part of a kernel matrix with these rows and columns."""
    return cut(gram, rows, columns, np.empty((len(rows), len(columns)), dtype))


def split_scores(
    gram: np.ndarray, targets: np.ndarray, split: Split, learner: Learner
) -> tuple[np.ndarray, int]:
    """The score of every value of the learner's grid on one split of one kernel matrix.

    Returned with the number of different models that were trained for it.
    """
    train, test = split
    models = learner.fit(part(gram, train, train, learner.dtype), targets[train])
    K = part(gram, test, train)
    different = list({id(model): model for model in models}.values())
    scores = {
        id(model): learner.score(targets[test], predicted)
        for model, predicted in zip(different, learner.predictions(different, K), strict=True)
    }
    return np.array([scores[id(model)] for model in models]), len(different)


def search(
    grams: Sequence[np.ndarray],
    targets: np.ndarray,
    splits: Sequence[Split],
    learner: Learner,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Scores of shape (kernel matrices, grid, splits).

    Learners release the interpreter lock, so threads share the matrices and the work.
    """
    work = list(product(grams, splits))
    with ThreadPoolExecutor(max(1, min(thread_count(n_jobs), len(work)))) as pool:
        scores = list(
            pool.map(lambda item: split_scores(item[0], targets, item[1], learner)[0], work)
        )
    return np.array(scores).reshape(len(grams), len(splits), -1).transpose(0, 2, 1)


def best_of_each(scores: np.ndarray, learner: Learner) -> list[tuple[float, int]]:
    """Best mean score of each kernel matrix and its grid position.

    Of equally good ones the learner's preference decides (the larger C).
    """
    # Rounded, so that the order in which equal scores are added does not decide.
    means = scores.mean(axis=2).round(12)
    places = [learner.preferred(of_matrix) for of_matrix in means]
    return [
        (float(row[place]), place) for row, place in zip(scores.mean(axis=2), places, strict=True)
    ]
