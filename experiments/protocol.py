"""Evaluation protocols: repeated cross-validation of a C-SVM on kernel matrices.

``paper``
    As published: in each repetition the graphs are split at random, without stratification, into
    ten folds. For each test fold, C is chosen by the accuracy on the next fold of machines
    trained on the other eight. The tested machine is trained on all nine.
``nested``
    Recommended: folds are stratified, and C is chosen by stratified cross-validation within the
    nine training folds, which uses all training graphs and has a far smaller variance.

Each graph is tested once per repetition. All randomness is determined by the seed and the
repetition: all kernels use the same folds, and results depend neither on the number of threads nor
on the order of computation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphgrain.evaluation.splits import Split
from graphgrain.learning.folds import random_folds, stratified_folds, train_and_test

from .svm import fit_svms, part, split_answers

MODES = ("paper", "nested")
#: Folds within the training graphs, in mode ``nested``.
INNER_FOLDS = 5


@dataclass(frozen=True)
class Fold:
    """Positions of training and test graphs; validation splits are positions in ``train``."""

    train: np.ndarray
    test: np.ndarray
    validation: list[Split]


@dataclass(frozen=True)
class Protocol:
    """Parameters of an evaluation; results can be compared only if all are equal.

    Parameters
    ----------
    mode : {"paper", "nested"}, default="nested"
        How folds are drawn and C is validated; see the module description.
    folds : int, default=10
        Number of test folds.
    C : tuple of float, default=(1, 10, 100, 1000)
        Candidate values in ascending order; the largest is chosen in case of ties.
    seed : int, default=0
        Seed of all random splits.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.protocol import Protocol
    >>> codes = np.arange(20) % 2
    >>> fold = Protocol("paper").fold(codes, repetition=0, fold=3)
    >>> len(fold.train), len(fold.test), [len(part) for part in fold.validation[0]]
    (18, 2, [16, 2])
    """

    mode: str = "nested"
    folds: int = 10
    C: tuple[float, ...] = (1, 10, 100, 1000)
    seed: int = 0

    def __post_init__(self) -> None:
        least = 3 if self.mode == "paper" else 2
        if self.mode not in MODES or self.folds < least or self.seed < 0:
            raise SystemExit(
                f"mode is one of {', '.join(MODES)}, folds {least} or more, seed 0 or more; got "
                f"{self.mode!r}, {self.folds} and {self.seed}."
            )

    def fold(self, codes: np.ndarray, repetition: int, fold: int) -> Fold:
        """Return the training, validation and test graphs of a fold."""
        rng = np.random.default_rng([self.seed, repetition])
        if self.mode == "paper":
            folds = random_folds(len(codes), self.folds, rng)
            train, test = train_and_test(folds, fold)
            validating = np.isin(train, folds[(fold + 1) % self.folds])
            return Fold(train, test, [(np.flatnonzero(~validating), np.flatnonzero(validating))])
        train, test = train_and_test(stratified_folds(codes, self.folds, rng), fold)
        # fold + 1, because a seed sequence with a trailing 0 equals the one without it.
        inner_rng = np.random.default_rng([self.seed, repetition, fold + 1])
        inner = stratified_folds(codes[train], min(INNER_FOLDS, len(train)), inner_rng)
        return Fold(train, test, [train_and_test(inner, number) for number in range(len(inner))])

    def evaluate(
        self, gram: np.ndarray, codes: np.ndarray, n_classes: int, fold: Fold
    ) -> dict[str, Any]:
        """Evaluate a kernel matrix on a test fold: validation accuracy by C, and predictions."""
        splits = [(fold.train[train], fold.train[test]) for train, test in fold.validation]
        scores = np.mean(
            [
                [
                    np.mean(classes_of(values) == codes[split[1]])
                    for values in split_answers(gram, codes, split, self.C, n_classes)[0]
                ]
                for split in splits
            ],
            axis=0,
        ).round(12)
        C = self.C[len(scores) - 1 - int(np.argmax(scores[::-1]))]
        training = part(gram, fold.train, fold.train, np.float32)
        [model] = fit_svms(training, codes[fold.train], [C], n_classes)
        values = model.scores(part(gram, fold.test, fold.train))
        return {
            "validation": scores.tolist(),
            "C": C,
            "predictions": classes_of(values).tolist(),
            "scores": rounded(values),
        }


def classes_of(values: np.ndarray) -> np.ndarray:
    """Return the class with the largest decision value."""
    return (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)


def rounded(scores: np.ndarray) -> list[Any]:
    """Round to six significant digits, enough to rank graphs, for compact records."""
    if scores.ndim == 1:
        return [float(f"{score:.6g}") for score in scores.tolist()]
    return [rounded(row) for row in scores]
