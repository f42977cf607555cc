"""From records to scores: accuracies, their spread, what was chosen, what it cost.

Two ways to choose parameters from the same records:

``validated``
    Each fold uses the kernel setting, level and C that did best on its validation graphs. This is
    the honest number.
``reported-best``
    Each setting and level is evaluated on its own (only C is validated), and the one with the
    best mean test accuracy is reported. Published figures are often of this kind, those of the
    Tree++ paper among them. It is optimistic: the test graphs took part in the choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..errors import InvalidParameterError
from .costs import kernel_cost
from .records import FoldRecord, Level, Record, fold_records
from .scores import Scores, accuracies, all_scores, fold_accuracy

SELECTIONS = ("validated", "reported-best")

#: For each fold of a repetition its record and the level that is looked at.
Tested = list[tuple[FoldRecord, Level]]


@dataclass(frozen=True)
class Summary:
    """What one kernel achieved on one data set.

    Attributes
    ----------
    dataset, deduplicated, kernel, variant, mode, folds, seed
        See :class:`FoldRecord`.
    select : {"validated", "reported-best"}
    graphs, repetitions : int
        Graphs tested in each repetition; repetitions that are complete.
    complete : bool
        Whether all settings of the kernel's grid were evaluated.
    accuracy, balanced_accuracy, roc_auc : Scores
        Mean and standard deviation over the repetitions, and the value of each.
    parameters : dict
        The kernel's parameters; for ``validated`` those that were chosen most often.
    chosen : dict
        How often each was chosen, by its text.
    kernel_seconds, kernel_processor_seconds, kernel_memory : float, float, int or None
        See :class:`KernelCost`.
    fits, fit_seconds : int, float
        Support vector machines trained, and the thread time that folds took in all.
    """

    dataset: str
    deduplicated: bool
    kernel: str
    variant: str
    mode: str
    folds: int
    seed: int
    select: str
    graphs: int
    repetitions: int
    complete: bool
    accuracy: Scores
    balanced_accuracy: Scores
    roc_auc: Scores
    parameters: dict[str, Any]
    chosen: dict[str, int]
    kernel_seconds: float | None
    kernel_processor_seconds: float | None
    kernel_memory: int | None
    fits: int
    fit_seconds: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class Experiment:
    """All folds of one kernel on one data set under one protocol.

    Attributes
    ----------
    first : FoldRecord
        Any of its records, for what they have in common.
    candidates : list of dict
        The kernel parameters that were evaluated: settings, each with its levels.
    repetitions : list of int
        Those of which every fold of every setting is there.
    """

    def __init__(self, records: list[FoldRecord]) -> None:
        self.records = records
        self.first = records[0]
        self.settings: list[str] = []
        by_place: dict[tuple[int, int, str], FoldRecord] = {}
        for record in records:
            setting = _setting_key(record)
            if setting not in self.settings:
                self.settings.append(setting)
            by_place[record.repetition, record.fold, setting] = record
        self._by_place = by_place
        self.repetitions = [
            repetition
            for repetition in sorted({record.repetition for record in records})
            if all(
                (repetition, fold, setting) in by_place
                for fold in range(self.first.folds)
                for setting in self.settings
            )
        ]
        self.candidates: list[dict[str, Any]] = []
        self._place_of: list[tuple[str, int]] = []
        for setting in self.settings:
            record = next(r for r in records if _setting_key(r) == setting)
            for level, name in enumerate(record.level_names):
                self.candidates.append({**record.settings, **name})
                self._place_of.append((setting, level))

    @property
    def complete(self) -> bool:
        """Whether all settings of the grid have been started."""
        return len(self.settings) >= max(record.grid_size for record in self.records)

    def tested(self, repetition: int, candidate: int) -> Tested:
        """What a candidate predicted in each fold of a repetition."""
        setting, level = self._place_of[candidate]
        records = [self._by_place[repetition, f, setting] for f in range(self.first.folds)]
        return [(record, record.levels[level]) for record in records]

    def validated(self, repetition: int) -> tuple[Tested, list[int]]:
        """The same with the candidate that validation prefers in each fold, and which it is.

        The best validation accuracy wins; of equal ones the larger C, then the first candidate.
        """
        tested = [self.tested(repetition, number) for number in range(len(self.candidates))]
        chosen = []
        for fold in range(self.first.folds):
            levels = [folds[fold][1] for folds in tested]
            keys = [(max(level.validation), level.C) for level in levels]
            chosen.append(keys.index(max(keys)))
        return [tested[number][fold] for fold, number in enumerate(chosen)], chosen

    def accuracies(self) -> list[Scores]:
        """The accuracy of each candidate on its own, with C validated."""
        return [
            accuracies(self.tested(repetition, number) for repetition in self.repetitions)
            for number in range(len(self.candidates))
        ]

    def selected(self, select: str) -> tuple[list[Tested], list[list[int]]]:
        """For each complete repetition the folds as ``select`` chooses, and which candidates."""
        if select == "validated":
            runs = [self.validated(repetition) for repetition in self.repetitions]
            return [folds for folds, _ in runs], [numbers for _, numbers in runs]
        means = [item.mean or 0.0 for item in self.accuracies()]
        best = int(np.argmax(np.round(means, 12)))
        tested = [self.tested(repetition, best) for repetition in self.repetitions]
        return tested, [[best] * self.first.folds for _ in tested]

    def fold_accuracies(self, select: str = "validated") -> dict[tuple[int, int], float]:
        """The accuracy on each test fold, by repetition and fold."""
        tested, _ = self.selected(select)
        return {
            (record.repetition, record.fold): fold_accuracy(record, level)
            for folds in tested
            for record, level in folds
        }


def _setting_key(record: FoldRecord) -> str:
    return repr((sorted(record.settings.items()), record.level_names))


def experiments(records: Iterable[Record]) -> list[Experiment]:
    """Records grouped by data set, kernel and protocol, in the order of the file."""
    groups: dict[tuple[Any, ...], list[FoldRecord]] = {}
    for r in fold_records(records):
        key = (r.dataset, r.fingerprint, r.deduplicated, r.kernel, r.variant, r.protocol)
        groups.setdefault(key, []).append(r)
    return [Experiment(group) for group in groups.values()]


def summarise(records: Iterable[Record], select: str = "validated") -> list[Summary]:
    """A summary of every experiment that has at least one complete repetition.

    Parameters
    ----------
    records : records, as from :func:`graphgrain.evaluation.results_file.read_results`
    select : {"validated", "reported-best"}
    """
    if select not in SELECTIONS:
        raise InvalidParameterError(f"select must be one of {SELECTIONS}; got {select!r}.")
    records = list(records)
    return [
        _summary(experiment, select, records)
        for experiment in experiments(records)
        if experiment.repetitions
    ]


def _summary(experiment: Experiment, select: str, records: list[Record]) -> Summary:
    first = experiment.first
    names = [describe(candidate) for candidate in experiment.candidates]
    tested, numbers = experiment.selected(select)
    chosen = Counter(names[number] for folds in numbers for number in folds)
    accuracy, balanced, auc = all_scores(tested)
    cost = kernel_cost(records, first.dataset, first.fingerprint, first.kernel, first.variant)
    return Summary(
        dataset=first.dataset,
        deduplicated=first.deduplicated,
        kernel=first.kernel,
        variant=first.variant,
        mode=first.mode,
        folds=first.folds,
        seed=first.seed,
        select=select,
        graphs=sum(len(record.test) for record, _ in tested[0]),
        repetitions=len(tested),
        complete=experiment.complete,
        accuracy=accuracy,
        balanced_accuracy=balanced,
        roc_auc=auc,
        parameters=experiment.candidates[names.index(chosen.most_common(1)[0][0])],
        chosen=dict(chosen.most_common()),
        kernel_seconds=cost.seconds if cost else None,
        kernel_processor_seconds=cost.processor_seconds if cost else None,
        kernel_memory=cost.memory if cost else None,
        fits=sum(record.fits for record in experiment.records),
        fit_seconds=round(sum(record.seconds for record in experiment.records), 3),
    )


def describe(parameters: dict[str, Any]) -> str:
    """Parameters in a few words."""
    return ", ".join(f"{name}={value}" for name, value in parameters.items()) or "default"
