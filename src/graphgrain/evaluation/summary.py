"""Summarise records: scores, selected parameters, cost and misclassified graphs.

Parameters can be selected from the same records in two ways:

``validated``
    Each fold uses the kernel setting, level and C with the best validation accuracy. The test
    graphs are not used for the selection.
``reported-best``
    Each setting and level is evaluated separately (only C is validated), and the one with the
    best mean test accuracy is reported. Many published results are of this kind, including those
    of the Tree++ paper. They are optimistic, because the test graphs are used for the selection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..errors import InvalidParameterError
from .records import (
    REFERENCE,
    FoldRecord,
    Record,
    dataset_labels,
    fold_records,
    kernel_records,
)
from .statistics import Folds, Scores, accuracies, all_scores, fold_accuracy


@dataclass(frozen=True)
class KernelCost:
    """Time and memory of one kernel on one data set, per setting of its grid."""

    seconds: float  # mean over the settings, each with all its levels
    processor_seconds: float | None  # sum over all settings; None if missing in a record
    memory: int | None  # maximum over all settings in bytes; None if not measured
    n_jobs: int
    graphs: int


def kernel_cost(
    records: Iterable[Record], place: tuple[str, str], kernel: str, variant: str = ""
) -> KernelCost | None:
    """Return the cost of a kernel on a data set (name, fingerprint); None without kernel records.

    If it was measured with different numbers of threads, only the smallest number is used,
    because times with different numbers cannot be averaged.
    """
    wanted = (place, kernel, variant)
    found = [r for r in kernel_records(records) if (r.place, r.kernel, r.variant) == wanted]
    if not found:
        return None
    threads = min(r.n_jobs for r in found)
    found = [r for r in found if r.n_jobs == threads]
    spent = [r.processor_seconds for r in found if r.processor_seconds is not None]
    return KernelCost(
        seconds=float(np.mean([r.seconds for r in found])),
        processor_seconds=sum(spent) if len(spent) == len(found) else None,
        memory=max((r.memory for r in found if r.memory is not None), default=None),
        n_jobs=threads,
        graphs=found[0].graphs,
    )


SELECTIONS = ("validated", "reported-best")
#: Fields copied from records to summaries.
_COPIED = (
    *("dataset", "fingerprint", "deduplicated", "kernel", "variant"),
    *("mode", "folds", "seed", "split"),
)

#: Value of regression scores for classification and vice versa.
_UNDEFINED = Scores(None, None, [])


@dataclass(frozen=True)
class Summary:
    """Results of one kernel on one data set; see :class:`FoldRecord` for fields not described."""

    dataset: str
    fingerprint: str
    deduplicated: bool
    kernel: str
    variant: str
    mode: str
    folds: int
    seed: int
    split: str
    select: str  # "validated" or "reported-best"
    graphs: int  # number of graphs tested in each repetition
    repetitions: int  # number of complete repetitions
    complete: bool  # True if all settings of the kernel's grid were evaluated
    parameters: dict[str, Any]  # of the kernel; if validated, those selected most often
    chosen: dict[str, int]  # number of selections, by description of the parameters
    kernel_seconds: float | None  # see :class:`KernelCost`
    kernel_processor_seconds: float | None
    kernel_memory: int | None
    fits: int  # number of support vector machines trained
    fit_seconds: float  # total thread time of all folds
    accuracy: Scores = _UNDEFINED
    balanced_accuracy: Scores = _UNDEFINED
    roc_auc: Scores = _UNDEFINED
    average_precision: Scores = _UNDEFINED
    rmse: Scores = _UNDEFINED  # for regression, as the next two
    mae: Scores = _UNDEFINED
    r2: Scores = _UNDEFINED

    @property
    def place(self) -> tuple[str, str]:
        """Name and fingerprint of the data set."""
        return self.dataset, self.fingerprint

    @property
    def numeric(self) -> bool:
        """True for regression."""
        return bool(self.rmse.each)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


class Experiment:
    """All folds of one kernel on one data set under one protocol.

    Attributes
    ----------
    first : FoldRecord
        One of its records, for the fields they have in common.
    candidates : list of dict
        Evaluated parameters of the kernel: each level of each setting.
    repetitions : list of int
        Complete repetitions, with all folds of all settings.
    """

    def __init__(self, records: list[FoldRecord]) -> None:
        self.records = records
        self.first = records[0]
        self._by_place = {(r.repetition, r.fold, _setting_key(r)): r for r in records}
        firsts: dict[str, FoldRecord] = {}
        for record in records:
            firsts.setdefault(_setting_key(record), record)
        self.settings = list(firsts)
        places = [(fold, key) for fold in range(self.first.folds) for key in self.settings]
        self.repetitions = [
            repetition
            for repetition in sorted({record.repetition for record in records})
            if all((repetition, *place) in self._by_place for place in places)
        ]
        self.candidates: list[dict[str, Any]] = []
        self._place_of: list[tuple[str, int]] = []
        for setting, record in firsts.items():
            for level, name in enumerate(record.level_names):
                self.candidates.append({**record.settings, **name})
                self._place_of.append((setting, level))

    @property
    def complete(self) -> bool:
        """True if all settings of the grid have been started."""
        return len(self.settings) >= max(record.grid_size for record in self.records)

    def tested(self, repetition: int, candidate: int) -> Folds:
        """Return the results of a candidate in each fold of a repetition."""
        setting, level = self._place_of[candidate]
        records = [self._by_place[repetition, f, setting] for f in range(self.first.folds)]
        return [(record, record.levels[level]) for record in records]

    def validated(self, repetition: int) -> tuple[Folds, list[int]]:
        """Return the results of the validated candidate in each fold, and its index.

        It has the best validation accuracy; ties are broken by the larger C, then by order.
        """
        tested = [self.tested(repetition, number) for number in range(len(self.candidates))]
        chosen = []
        for fold in range(self.first.folds):
            levels = [folds[fold][1] for folds in tested]
            keys = [(max(level.validation, default=0.0), level.C or 0.0) for level in levels]
            chosen.append(keys.index(max(keys)))
        return [tested[number][fold] for fold, number in enumerate(chosen)], chosen

    def accuracies(self) -> list[Scores]:
        """Return the accuracy (or RMSE) of each candidate with C validated."""
        return [
            accuracies(self.tested(repetition, number) for repetition in self.repetitions)
            for number in range(len(self.candidates))
        ]

    def selected(self, select: str) -> tuple[list[Folds], list[list[int]]]:
        """Return the selected results and candidates of each complete repetition."""
        if select == "validated":
            runs = [self.validated(repetition) for repetition in self.repetitions]
            return [folds for folds, _ in runs], [numbers for _, numbers in runs]
        sign = -1.0 if not self.first.classes else 1.0
        means = [sign * (item.mean or 0.0) for item in self.accuracies()]
        best = int(np.argmax(np.round(means, 12)))
        tested = [self.tested(repetition, best) for repetition in self.repetitions]
        return tested, [[best] * self.first.folds for _ in tested]

    def fold_accuracies(self, select: str = "validated") -> dict[tuple[int, int], float]:
        """Return the accuracy (or RMSE) on each test fold, by repetition and fold."""
        tested, _ = self.selected(select)
        return {
            (record.repetition, record.fold): fold_accuracy(record, level)
            for folds in tested
            for record, level in folds
        }


def _setting_key(record: FoldRecord) -> str:
    return repr((sorted(record.settings.items()), record.level_names))


def experiments(records: Iterable[Record]) -> list[Experiment]:
    """Group records by data set, kernel and protocol, in file order."""
    groups: dict[tuple[Any, ...], list[FoldRecord]] = {}
    for r in fold_records(records):
        key = (r.place, r.deduplicated, r.kernel, r.variant, r.protocol)
        groups.setdefault(key, []).append(r)
    return [Experiment(group) for group in groups.values()]


def summarise(records: Iterable[Record], select: str = "validated") -> list[Summary]:
    """Summarise every experiment with at least one complete repetition."""
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
    cost = kernel_cost(records, first.place, first.kernel, first.variant)
    copied: dict[str, Any] = {name: getattr(first, name) for name in _COPIED}
    return Summary(
        **copied | all_scores(tested),
        select=select,
        graphs=sum(len(record.test) for record, _ in tested[0]),
        repetitions=len(tested),
        complete=experiment.complete,
        parameters=experiment.candidates[names.index(chosen.most_common(1)[0][0])],
        chosen=dict(chosen.most_common()),
        kernel_seconds=cost.seconds if cost else None,
        kernel_processor_seconds=cost.processor_seconds if cost else None,
        kernel_memory=cost.memory if cost else None,
        fits=sum(record.fits for record in experiment.records),
        fit_seconds=round(sum(record.seconds for record in experiment.records), 3),
    )


def describe(parameters: dict[str, Any]) -> str:
    """Return parameters as short text."""
    return ", ".join(f"{name}={value}" for name, value in parameters.items()) or "default"


@dataclass(frozen=True)
class OftenWrong:
    """A misclassified graph."""

    graph: int  # position in the (deduplicated) data set
    truth: int
    predicted: int  # most frequent wrong class
    times: int  # number of repetitions in which it was misclassified


@dataclass(frozen=True)
class Diagnosis:
    """Errors of one kernel on one data set."""

    classes: list[str]
    sizes: np.ndarray  # number of graphs per class
    #: Confusion matrix (rows: true classes), averaged over repetitions.
    confusion: np.ndarray
    repetitions: int
    wrong: list[OftenWrong]  # misclassified at least once, most frequent first

    @property
    def recall(self) -> np.ndarray:
        """Recall of each class; NaN for classes without graphs."""
        with np.errstate(invalid="ignore"):
            return np.diag(self.confusion) / self.confusion.sum(axis=1)


def diagnose(experiment: Experiment, select: str = "validated") -> Diagnosis:
    """Compute the errors of an experiment with at least one complete repetition."""
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


@dataclass(frozen=True)
class Curve:
    """Accuracy (with only C validated) for each value of a parameter."""

    name: str  # of the data set
    x: list[int]
    accuracy: list[Scores]
    fixed: int  # value of the other parameter
    repetitions: int

    @property
    def mean(self) -> list[float]:
        """Mean over the repetitions, in percent."""
        return [100 * (item.mean or 0.0) for item in self.accuracy]

    @property
    def spread(self) -> list[float]:
        """Standard deviation over the repetitions, in percent."""
        return [100 * (item.std or 0.0) for item in self.accuracy]


def accuracy_against(parameter: str, records: Sequence[Record]) -> list[Curve]:
    """Return a curve for each data set with results for several values of a parameter.

    ``tree_depth`` is k of the paper, with d fixed; ``path_depth`` is d, with k fixed (to 1 if
    available).
    """
    figure, other = {
        "tree_depth": ("figure-k", "path_depth"),
        "path_depth": ("figure-d", "tree_depth"),
    }[parameter]
    found = [e for e in experiments(records) if e.repetitions and e.first.kernel == REFERENCE]
    # Prefer results computed for the figure to others that contain the same values.
    found.sort(key=lambda e: (e.first.variant != figure, e.first.variant != ""))
    names = dataset_labels(e.first for e in found)
    curves: dict[str, Curve] = {}
    for experiment in found:
        name = names[experiment.first.place]
        if name not in curves and (curve := _curve(name, experiment, parameter, other)):
            curves[name] = curve
    order = [names.get(record.place) for record in records]
    return sorted(curves.values(), key=lambda curve: order.index(curve.name))


def _curve(name: str, experiment: Experiment, parameter: str, other: str) -> Curve | None:
    """Return the curve of one experiment, if the parameter varies with the other one fixed."""
    candidates = experiment.candidates
    fixed = {c[other] for c in candidates if parameter in c and other in c}
    if not fixed:
        return None
    at = 1 if other == "tree_depth" and 1 in fixed else max(fixed)
    wanted = {
        candidate[parameter]: number
        for number, candidate in enumerate(candidates)
        if candidate.get(other) == at and parameter in candidate
    }
    if len(wanted) < 2:
        return None
    accuracies = experiment.accuracies()
    scores = [accuracies[wanted[value]] for value in sorted(wanted)]
    return Curve(name, sorted(wanted), scores, at, len(experiment.repetitions))
