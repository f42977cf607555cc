"""Accuracy, balanced accuracy and ROC AUC of repeated cross-validation.

Each is one number per repetition, in which every graph was tested once:

- accuracy: the share of graphs that got their class;
- balanced accuracy: the mean over the classes of that share;
- ROC AUC: for each class against the rest, the mean over the folds in which both occur (decision
  values of different folds come from different models and cannot be compared), then the mean
  over the classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..learning.scoring import area_under_roc
from .records import FoldRecord, Level


@dataclass(frozen=True)
class Scores:
    """A score for each repetition; None where it is not defined.

    ``mean`` and ``std`` (the standard deviation over the repetitions, dividing by their number,
    as the paper's authors do) leave undefined ones out.
    """

    mean: float | None
    std: float | None
    each: list[float | None]

    @classmethod
    def of(cls, values: list[float | None]) -> Scores:
        """From the score of each repetition."""
        known = [value for value in values if value is not None]
        if not known:
            return cls(None, None, values)
        return cls(float(np.mean(known)), float(np.std(known)), values)


def all_scores(
    repetitions: Iterable[list[tuple[FoldRecord, Level]]],
) -> tuple[Scores, Scores, Scores]:
    """Accuracy, balanced accuracy and ROC AUC of some repetitions, each a list of its folds."""
    values = [
        (_accuracy(folds), _balanced_accuracy(folds), _roc_auc(folds)) for folds in repetitions
    ]
    accuracy, balanced, auc = zip(*values, strict=True)
    return Scores.of(list(accuracy)), Scores.of(list(balanced)), Scores.of(list(auc))


def accuracies(repetitions: Iterable[list[tuple[FoldRecord, Level]]]) -> Scores:
    """The accuracy alone, which takes far less time than all three."""
    return Scores.of([_accuracy(folds) for folds in repetitions])


def fold_accuracy(record: FoldRecord, level: Level) -> float:
    """The share of the test graphs of one fold that got their class."""
    return float(np.mean(np.array(record.truth) == np.array(level.predictions)))


def majority_share(folds: list[tuple[FoldRecord, Level]]) -> float:
    """The accuracy of always saying the largest class, in a repetition given by its folds."""
    truth, _ = _pooled(folds)
    return float(np.bincount(truth).max() / len(truth))


def _pooled(folds: list[tuple[FoldRecord, Level]]) -> tuple[np.ndarray, np.ndarray]:
    truth = np.concatenate([np.array(record.truth, dtype=int) for record, _ in folds])
    predicted = np.concatenate([np.array(level.predictions, dtype=int) for _, level in folds])
    return truth, predicted


def _accuracy(folds: list[tuple[FoldRecord, Level]]) -> float | None:
    truth, predicted = _pooled(folds)
    return float(np.mean(truth == predicted))


def _balanced_accuracy(folds: list[tuple[FoldRecord, Level]]) -> float | None:
    truth, predicted = _pooled(folds)
    return float(np.mean([np.mean(predicted[truth == c] == c) for c in np.unique(truth)]))


def _roc_auc(folds: list[tuple[FoldRecord, Level]]) -> float | None:
    classes = len(folds[0][0].classes)
    by_class = []
    for wanted in range(1, classes) if classes == 2 else range(classes):
        by_fold = []
        for record, level in folds:
            scores = np.array(level.scores, dtype=float)
            column = scores if classes == 2 else scores.reshape(-1, classes)[:, wanted]
            area = roc_auc(np.array(record.truth) == wanted, column)
            if area is not None:
                by_fold.append(area)
        if by_fold:
            by_class.append(float(np.mean(by_fold)))
    return float(np.mean(by_class)) if by_class else None


def roc_auc(positive: np.ndarray, scores: np.ndarray) -> float | None:
    """The chance that a positive scores higher than a negative; None without both.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.evaluation.scores import roc_auc
    >>> roc_auc(np.array([True, False, True, False]), np.array([0.9, 0.1, 0.4, 0.4]))
    0.875
    """
    if positive.all() or not positive.any():
        return None
    return area_under_roc(positive, scores)
