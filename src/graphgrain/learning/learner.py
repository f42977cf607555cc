"""What learners on kernel matrices share: a model for each value of a grid, judged by splits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ..core.support_vectors import cut
from ..core.threads import run

#: Positions of the graphs to train on and of those to test.
Split = tuple[np.ndarray, np.ndarray]


class Model(Protocol):
    """A trained model: linear in the rows of a kernel matrix, and a reading of its outputs."""

    @property
    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients of the training graphs, a row for each output, and intercepts."""
        ...

    def answers(self, outputs: np.ndarray) -> np.ndarray:
        """Decision values of classes, or predicted numbers, from outputs (graphs, outputs)."""
        ...


class Learner(ABC):
    """Trains a model for each value of a grid.

    Attributes
    ----------
    grid : sequence of float, ascending
        The values of the learner's own parameter.
    dtype : type
        The precision of the matrices that it trains on.
    """

    grid: Sequence[float]
    dtype: type[np.floating]

    @abstractmethod
    def only(self, value: float) -> Learner:
        """The same for a single value."""

    @abstractmethod
    def fit(
        self, K: np.ndarray, targets: np.ndarray, weights: np.ndarray | None = None
    ) -> list[Any]:
        """A model per value from the square matrix of the training graphs.

        Models that are the same object are the same solution.
        """

    def held_out(
        self,
        K: np.ndarray,
        targets: np.ndarray,
        splits: Sequence[Split],
        weights: np.ndarray | None = None,
        n_jobs: int | None = None,
    ) -> list[list[np.ndarray]]:
        """For each split the answers of all models on its test graphs."""
        return run(
            lambda number, _: split_answers(self, K, targets, splits[number], weights)[0],
            [(number, number + 1) for number in range(len(splits))],
            n_jobs,
        )


def part(
    gram: np.ndarray, rows: np.ndarray, columns: np.ndarray, dtype: type = np.float64
) -> np.ndarray:
    """The part of a kernel matrix with these rows and columns."""
    return cut(gram, rows, columns, np.empty((len(rows), len(columns)), dtype))


def split_answers(
    learner: Learner,
    gram: np.ndarray,
    targets: np.ndarray,
    split: Split,
    weights: np.ndarray | None = None,
) -> tuple[list[np.ndarray], int]:
    """What the model of each value answers on the test part of one split.

    Returned with the number of different models that were trained for it.
    """
    train, test = split
    models = learner.fit(
        part(gram, train, train, learner.dtype),
        targets[train],
        None if weights is None else weights[train],
    )
    K = part(gram, test, train)
    different = list({id(model): model for model in models}.values())
    # one product for all models: the matrix is read once
    linear = [model.linear for model in different]
    outputs = K @ np.concatenate([coefficients for coefficients, _ in linear]).T
    bounds = np.cumsum([len(coefficients) for coefficients, _ in linear])[:-1]
    answers = {
        id(model): model.answers(values + intercepts)
        for model, (_, intercepts), values in zip(
            different, linear, np.split(outputs, bounds, axis=1), strict=True
        )
    }
    return [answers[id(model)] for model in models], len(different)
