"""Scores from records: the candidate of each fold by one of two rules, and its predictions.

``validated``
    Each fold uses the setting, level and C with the best validation accuracy. The test graphs are
    not used for the choice.
``reported-best``
    Each setting and level is evaluated separately (only C is validated), and the one with the best
    mean test accuracy is reported. Many published results are of this kind, including those of the
    Tree++ paper. They are optimistic, because the test graphs are used for the choice.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from .protocol import Protocol
from .records import Record

RULES = ("validated", "reported-best")


@dataclass(frozen=True)
class Result:
    """A kernel on a data set, by one rule.

    Attributes
    ----------
    dataset, kernel : str
    classes : list of str
    folds : DataFrame
        A row for each test fold: ``repetition``, ``fold``, ``candidate``, ``accuracy``, ``truth``,
        ``predictions``, ``scores`` and ``test`` (positions of graphs).
    complete : bool
        Whether all settings of the kernel's grid have been evaluated.
    """

    dataset: str
    kernel: str
    classes: list[str]
    folds: pd.DataFrame
    complete: bool

    @property
    def accuracies(self) -> pd.Series:
        """Accuracy of each repetition, in percent, over all its graphs."""
        return self._by_repetition(lambda truth, said: 100 * float(np.mean(truth == said)))

    @property
    def balanced_accuracies(self) -> pd.Series:
        """Mean recall over the classes of each repetition, in percent."""
        return self._by_repetition(
            lambda truth, said: 100 * float(balanced_accuracy_score(truth, said))
        )

    @property
    def majority(self) -> float:
        """Accuracy of predicting the largest class, in percent."""
        first = self.folds[self.folds.repetition == self.folds.repetition.iloc[0]]
        truth = np.concatenate(first.truth.tolist())
        return 100 * float(np.bincount(truth).max() / len(truth))

    @property
    def roc_auc(self) -> float:
        """Mean over folds, then over classes against the rest; NaN if no fold has both."""
        areas: dict[int, list[float]] = defaultdict(list)
        two = len(self.classes) == 2
        for truth, scores in zip(self.folds.truth, self.folds.scores, strict=True):
            values = np.array(scores)[:, np.newaxis] if two else np.array(scores)
            for column, code in enumerate([1] if two else range(len(self.classes))):
                positive = np.array(truth) == code
                if positive.any() and not positive.all():
                    areas[code].append(float(roc_auc_score(positive, values[:, column])))
        return float(np.mean([np.mean(area) for area in areas.values()])) if areas else np.nan

    @property
    def confusion(self) -> pd.DataFrame:
        """Mean number of graphs of each class (row) predicted as each class."""
        count = np.zeros((len(self.classes), len(self.classes)))
        for truth, said in zip(self.folds.truth, self.folds.predictions, strict=True):
            np.add.at(count, (truth, said), 1)
        return pd.DataFrame(count / self.folds.repetition.nunique(), self.classes, self.classes)

    @property
    def often_wrong(self) -> pd.Series:
        """Number of repetitions in which each graph was misclassified, most frequent first."""
        wrong: Counter[int] = Counter()
        for row in self.folds.itertuples():
            misses = np.array(row.truth) != np.array(row.predictions)
            wrong.update(np.array(row.test)[misses].tolist())
        return pd.Series(dict(wrong.most_common()), dtype=int)

    @property
    def chosen(self) -> dict[str, int]:
        """Number of folds that use each candidate, most frequent first."""
        return dict(Counter(self.folds.candidate).most_common())

    def _by_repetition(self, measure: Any) -> pd.Series:
        groups = self.folds.groupby("repetition")
        return pd.Series(
            {
                repetition: measure(
                    np.concatenate(rows.truth.tolist()), np.concatenate(rows.predictions.tolist())
                )
                for repetition, rows in groups
            }
        )


def fold_records(records: Iterable[Record], protocol: Protocol) -> list[Record]:
    """Return the folds of a protocol."""
    wanted = (protocol.mode, protocol.folds, list(protocol.C), protocol.seed)
    return [
        record
        for record in records
        if record["kind"] == "fold"
        and (record["mode"], record["folds"], record["C"], record["seed"]) == wanted
    ]


def results(
    records: Iterable[Record], protocol: Protocol, rule: str = "validated"
) -> dict[tuple[str, str], Result]:
    """Return the result of each data set and kernel with a complete repetition."""
    groups: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
    for record in fold_records(records, protocol):
        groups[record["dataset"], record["fingerprint"], record["kernel"]].append(record)
    return {
        (dataset, kernel): result
        for (dataset, _, kernel), group in groups.items()
        if (result := _result(dataset, kernel, group, protocol.folds, rule)) is not None
    }


def candidates_of(group: list[Record], folds: int) -> pd.DataFrame:
    """Return one row for each candidate of each fold of the complete repetitions."""
    rows = [
        {
            "repetition": record["repetition"],
            "fold": record["fold"],
            "candidate": words(name),
            "validation": max(level["validation"], default=0.0),
            "C": level["C"] or 0.0,
            "truth": record["truth"],
            "predictions": level["predictions"],
            "scores": level["scores"],
            "test": record["test"],
            "accuracy": float(np.mean(np.array(record["truth"]) == level["predictions"])),
        }
        for record in group
        for name, level in zip(record["level_names"], record["levels"], strict=True)
    ]
    frame = pd.DataFrame(rows)
    whole = frame.groupby("repetition").size() == folds * frame.candidate.nunique()
    return frame[frame.repetition.map(whole)]


def _result(dataset: str, kernel: str, group: list[Record], folds: int, rule: str) -> Result | None:
    frame = candidates_of(group, folds)
    if frame.empty:
        return None
    if rule == "validated":
        # A stable sort: of equal validation accuracies the largest C, then the first candidate.
        order = frame.sort_values(["validation", "C"], ascending=False, kind="stable")
        frame = order.groupby(["repetition", "fold"], sort=True).head(1)
    else:
        means = accuracy_by_candidate(frame).mean(axis=0).round(10)
        frame = frame[frame.candidate == means.idxmax()]
    settings = {json.dumps(record["settings"], sort_keys=True) for record in group}
    complete = len(settings) >= max(record["grid_size"] for record in group)
    frame = frame.sort_values(["repetition", "fold"]).reset_index(drop=True)
    return Result(dataset, kernel, group[0]["classes"], frame, complete)


def accuracy_by_candidate(frame: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies in percent: one row for each repetition, one column for each candidate."""
    right = frame.assign(graphs=frame.truth.map(len), right=frame.accuracy * frame.truth.map(len))
    sums = right.groupby(["repetition", "candidate"], sort=False)[["right", "graphs"]].sum()
    return (100 * sums.right / sums.graphs).unstack()[frame.candidate.unique()]


def words(parameters: dict[str, Any]) -> str:
    """Return parameters as short text.

    >>> words({"n_iter": 3, "counts": "sqrt"})
    'n_iter=3, counts=sqrt'
    """
    return ", ".join(f"{name}={value}" for name, value in parameters.items()) or "default"


def costs(records: Iterable[Record]) -> pd.DataFrame:
    """Return the cost of each data set and kernel: mean seconds over settings, and totals.

    If a kernel was measured with different numbers of threads, the smallest number counts.
    """
    rows = [record for record in records if record["kind"] == "kernel"]
    columns = ["dataset", "kernel", "n_jobs", "seconds", "processor_seconds", "memory"]
    frame = pd.DataFrame(rows, columns=columns)
    frame = frame[frame.n_jobs == frame.groupby(["dataset", "kernel"]).n_jobs.transform("min")]
    return frame.groupby(["dataset", "kernel"], sort=False).agg(
        seconds=("seconds", "mean"),
        processor_seconds=("processor_seconds", "sum"),
        memory=("memory", "max"),
    )
