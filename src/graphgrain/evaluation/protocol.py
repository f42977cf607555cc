"""Evaluation protocols: repeated cross-validation of a C-SVM on kernel matrices.

``paper``
    As published: in each repetition the graphs are split at random, without stratification, into
    ten folds. For each test fold, C is chosen by the accuracy on the next fold of machines
    trained on the other eight. The tested machine is trained on all nine.
``nested``
    Recommended: folds are stratified, and C is chosen by stratified cross-validation within the
    nine training folds, which uses all training graphs and has a far smaller variance.

Each graph is tested once per repetition. Other splits (random, by scaffold, by a column; see
:mod:`graphgrain.evaluation.splits`) have a single test set per repetition instead of folds. For
regression the folds are random, without stratification. All randomness is determined by the seed
and the repetition: all kernels use the same folds, and results depend neither on the number of
threads nor on the order of computation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidParameterError
from ..learning.folds import Split, random_folds, stratified_folds, train_and_test
from ..learning.selection import accuracy, best_value, classes_of
from .records import Level, ProtocolKey
from .splits import FOLDS
from .svm import fit_svms, part, split_answers

MODES = ("paper", "nested")


@dataclass(frozen=True)
class TestFold:
    """Positions of training and test graphs; validation splits are positions in ``train``."""

    __test__ = False  # keep pytest from collecting it

    train: np.ndarray
    test: np.ndarray
    validation: list[Split]


@dataclass(frozen=True)
class Protocol:
    """Parameters of an evaluation.

    Parameters
    ----------
    mode : {"paper", "nested"}, default="nested"
        How folds are drawn and C is validated; see the module description.
    folds : int, default=10
        Number of test folds.
    inner_folds : int, default=5
        Number of validation folds in mode ``nested``.
    C : sequence of float, default=(1, 10, 100, 1000)
        Candidate values; the largest is chosen in case of ties.
    seed : int, default=0
        Seed of all random splits.
    split : str, default="folds"
        ``"folds"`` for cross-validation, or a split with a single test set per repetition; see
        :mod:`graphgrain.evaluation.splits`.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.evaluation.protocol import Protocol
    >>> codes = np.arange(20) % 2
    >>> fold = Protocol("paper").test_fold(codes, repetition=0, fold=3)
    >>> len(fold.train), len(fold.test), [len(part) for part in fold.validation[0]]
    (18, 2, [16, 2])
    """

    mode: str = "nested"
    folds: int = 10
    inner_folds: int = 5
    C: Sequence[float] = (1, 10, 100, 1000)
    seed: int = 0
    split: str = FOLDS

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InvalidParameterError(f"mode must be one of {MODES}; got {self.mode!r}.")
        if self.split != FOLDS and self.mode != "nested":
            raise InvalidParameterError(
                f"A split other than folds has mode 'nested'; got {self.mode!r}."
            )
        if self.split != FOLDS and self.folds != 1:
            raise InvalidParameterError(
                f"A split other than folds has one test part, folds=1; got {self.folds}."
            )
        least = 3 if self.mode == "paper" else 2 if self.split == FOLDS else 1
        if self.folds < least:
            raise InvalidParameterError(
                f"folds must be {least} or more in mode {self.mode!r}; got {self.folds}."
            )
        if self.inner_folds < 2:
            raise InvalidParameterError(f"inner_folds must be 2 or more; got {self.inner_folds}.")
        if not self.C or any(not 0 < C < np.inf for C in self.C):
            raise InvalidParameterError(
                f"C must be a list of finite numbers above 0; got {list(self.C)}."
            )
        if self.seed < 0:
            raise InvalidParameterError(f"seed must be 0 or more; got {self.seed}.")
        object.__setattr__(self, "C", tuple(sorted(self.C)))

    @property
    def key(self) -> ProtocolKey:
        """The parameters as stored in records."""
        inner_folds = self.inner_folds if self.mode == "nested" else 1
        C = tuple(self.C)
        return ProtocolKey(self.mode, self.folds, inner_folds, C, self.seed, self.split)

    def test_fold(
        self, codes: np.ndarray, repetition: int, fold: int, parts: Split | None = None
    ) -> TestFold:
        """Return the training, validation and test graphs of a fold.

        ``codes`` are integer classes or regression targets; ``parts`` are the training and test
        graphs if ``split`` is not ``"folds"``.
        """
        rng = np.random.default_rng([self.seed, repetition])
        numeric = codes.dtype.kind == "f"
        if parts is not None:
            train, test = parts
        else:
            stratified = self.mode == "nested" and not numeric
            folds = (
                stratified_folds(codes, self.folds, rng)
                if stratified
                else random_folds(len(codes), self.folds, rng)
            )
            train, test = train_and_test(folds, fold)
        if self.mode == "paper":
            validating = np.isin(train, folds[(fold + 1) % self.folds])
            split = (np.flatnonzero(~validating), np.flatnonzero(validating))
            return TestFold(train, test, [split])
        if numeric:  # regressors validate internally
            return TestFold(train, test, [])
        # fold + 1, because a seed sequence with a trailing 0 equals the one without it.
        inner_rng = np.random.default_rng([self.seed, repetition, fold + 1])
        inner = stratified_folds(codes[train], min(self.inner_folds, len(train)), inner_rng)
        return TestFold(train, test, [train_and_test(inner, part) for part in range(len(inner))])

    def evaluate(
        self, grams: np.ndarray, codes: np.ndarray, n_classes: int, fold: TestFold
    ) -> tuple[list[Level], int]:
        """Evaluate each kernel matrix on a test fold; also return the number of machines fitted.

        ``grams`` has the shape (levels, graphs, graphs); ``codes`` range from 0 to
        ``n_classes - 1``.
        """
        splits = [(fold.train[train], fold.train[test]) for train, test in fold.validation]
        levels, fits = [], 0
        for gram in grams:
            tried = [split_answers(gram, codes, split, self.C, n_classes) for split in splits]
            scores = np.mean(
                [
                    [accuracy(codes[test], answer) for answer in answers]
                    for (_, test), (answers, _) in zip(splits, tried, strict=True)
                ],
                axis=0,
            ).round(12)
            C = self.C[best_value(scores)]
            training = part(gram, fold.train, fold.train, np.float32)
            [model] = fit_svms(training, codes[fold.train], [C], n_classes)
            fits += 1 + sum(trained for _, trained in tried)
            values = model.scores(part(gram, fold.test, fold.train))
            predicted = classes_of(values).tolist()
            levels.append(
                Level(
                    validation=scores.tolist(), C=C, predictions=predicted, scores=rounded(values)
                )
            )
        return levels, fits


def rounded(scores: np.ndarray) -> list[Any]:
    """Round to six significant digits, enough to rank graphs, for compact records."""
    if scores.ndim == 1:
        return [float(f"{score:.6g}") for score in scores.tolist()]
    return [rounded(row) for row in scores]
