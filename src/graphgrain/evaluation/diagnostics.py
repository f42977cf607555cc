"""Where a kernel errs: accuracy per class, confusions, single graphs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from .summary import Experiment


@dataclass(frozen=True)
class OftenWrong:
    """A graph that is classified wrongly.

    Attributes
    ----------
    graph : int
        Its position in the (deduplicated) data set.
    truth, predicted : int
        Its class, and the wrong one that it got most often.
    times : int
        In how many repetitions it was wrong.
    """

    graph: int
    truth: int
    predicted: int
    times: int


@dataclass(frozen=True)
class Diagnosis:
    """Where one kernel errs on one data set.

    Attributes
    ----------
    classes : list of str
    sizes : array
        Number of graphs of each class.
    confusion : array of shape (classes, classes)
        For each true class (row) how many of its graphs got each class, averaged over the
        repetitions.
    repetitions : int
    wrong : list of OftenWrong
        Those that were wrong at least once, the most often wrong first.
    """

    classes: list[str]
    sizes: np.ndarray
    confusion: np.ndarray
    repetitions: int
    wrong: list[OftenWrong]

    @property
    def recall(self) -> np.ndarray:
        """For each class the share of its graphs that got it; NaN for a class without graphs."""
        with np.errstate(invalid="ignore"):
            return np.diag(self.confusion) / self.confusion.sum(axis=1)


def diagnose(experiment: Experiment, select: str = "validated") -> Diagnosis:
    """Look at all predictions of an experiment.

    Parameters
    ----------
    experiment : Experiment
        With at least one complete repetition.
    select : {"validated", "reported-best"}
        Which parameters of the kernel; see :mod:`graphgrain.evaluation.summary`.
    """
    tested, _ = experiment.selected(select)
    classes = experiment.first.classes
    confusion = np.zeros((len(classes), len(classes)))
    truth_of: dict[int, int] = {}
    wrong: dict[int, Counter[int]] = {}
    for folds in tested:
        for record, level in folds:
            for graph, truth, predicted in zip(
                record.test, record.truth, level.predictions, strict=True
            ):
                confusion[truth, predicted] += 1
                truth_of[graph] = truth
                if truth != predicted:
                    wrong.setdefault(graph, Counter())[predicted] += 1
    often = [
        OftenWrong(graph, truth_of[graph], found.most_common(1)[0][0], found.total())
        for graph, found in wrong.items()
    ]
    often.sort(key=lambda item: (-item.times, item.graph))
    return Diagnosis(
        classes=list(classes),
        sizes=np.bincount(list(truth_of.values()), minlength=len(classes)),
        confusion=confusion / len(tested),
        repetitions=len(tested),
        wrong=often,
    )
