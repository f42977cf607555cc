"""How accuracy is measured: repeated cross-validation of a C-SVM on kernel matrices.

``paper``
    As published: in each repetition the graphs are cut at random into ten folds, not stratified.
    For each test fold the next fold validates: machines trained on the other eight are scored on
    it. The machine that is tested is trained on all nine.
``nested``
    Recommended: the folds are stratified, and validation is a stratified cross-validation of the
    nine training folds, which wastes no training graphs and is far less a matter of luck.

Each graph is tested once per repetition. Another split (at random, by scaffold, by a column; see
:mod:`graphgrain.evaluation.splits`) has one test part for each repetition in the place of folds.
Numbers in the place of classes have no strata: their folds are random. What is random comes from
the seed and the number of the repetition alone: all kernels see the same folds, and nothing
depends on the number of threads or on what was computed before.
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
from .svm import KernelSvm, part, split_answers

MODES = ("paper", "nested")


@dataclass(frozen=True)
class TestFold:
    """One test fold: positions of graphs; validation splits are positions in ``train``."""

    __test__ = False  # not a test case, whatever pytest thinks of the name

    train: np.ndarray
    test: np.ndarray
    validation: list[Split]


@dataclass(frozen=True)
class Protocol:
    """The rules of an evaluation.

    Parameters
    ----------
    mode : {"paper", "nested"}
    folds : int
        Number of test folds.
    inner_folds : int
        Number of validation folds in mode ``nested``.
    C : sequence of float
        Values that validation chooses from; of equally good ones the largest is taken.
    seed : int
    split : str
        ``"folds"``, or how the one test part of each repetition is made: see
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
        """These rules as records keep them."""
        inner_folds = self.inner_folds if self.mode == "nested" else 1
        C = tuple(self.C)
        return ProtocolKey(self.mode, self.folds, inner_folds, C, self.seed, self.split)

    def test_fold(
        self, codes: np.ndarray, repetition: int, fold: int, parts: Split | None = None
    ) -> TestFold:
        """Which graphs train, validate and test.

        ``codes`` are classes as whole numbers, or values to predict; ``parts`` is what a split
        gives that is not by folds.
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
        if numeric:  # whoever predicts numbers validates inside
            return TestFold(train, test, [])
        # Not fold itself: a seed that ends in 0 is the seed without it.
        inner_rng = np.random.default_rng([self.seed, repetition, fold + 1])
        inner = stratified_folds(codes[train], min(self.inner_folds, len(train)), inner_rng)
        return TestFold(train, test, [train_and_test(inner, part) for part in range(len(inner))])

    def evaluate(
        self, grams: np.ndarray, codes: np.ndarray, n_classes: int, fold: TestFold
    ) -> tuple[list[Level], int]:
        """What each kernel matrix achieves on a test fold, and how many machines it took.

        ``grams`` has the shape (levels, graphs, graphs); ``codes`` go from 0 to ``n_classes - 1``.
        """
        learner = KernelSvm(self.C, n_classes)
        splits = [(fold.train[train], fold.train[test]) for train, test in fold.validation]
        levels, fits = [], 0
        for gram in grams:
            tried = [split_answers(learner, gram, codes, split) for split in splits]
            scores = np.mean(
                [
                    [accuracy(codes[test], answer) for answer in answers]
                    for (_, test), (answers, _) in zip(splits, tried, strict=True)
                ],
                axis=0,
            ).round(12)
            C = self.C[best_value(scores)]
            training = part(gram, fold.train, fold.train, np.float32)
            [model] = KernelSvm([C], n_classes).fit(training, codes[fold.train], warn=False)
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
    """Six significant digits: enough to rank graphs, short enough to keep."""
    if scores.ndim == 1:
        return [float(f"{score:.6g}") for score in scores.tolist()]
    return [rounded(row) for row in scores]
