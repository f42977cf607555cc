"""Kernels side by side on the same data sets, next to the figures of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..evaluation import published
from ..evaluation.records import FoldRecord, KernelRecord, Record, kernel_records
from ..evaluation.summary import Experiment, Summary, experiments, summarise
from ..kernels.registry import KERNELS
from .statistics import Ranks, corrected_t_test, rank

#: The kernel that the others are tested against.
REFERENCE = "tree++"
#: Below this p-value a difference is marked.
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Column:
    """A kernel, or a variant of one, as a column of a table."""

    kernel: str
    variant: str = ""

    @property
    def name(self) -> str:
        """How tables call it."""
        entry = KERNELS.get(self.kernel)
        name = entry.title if entry else self.kernel
        return f"{name} ({self.variant})" if self.variant else name


@dataclass(frozen=True)
class Cell:
    """What one kernel achieved on one data set.

    Attributes
    ----------
    summary : Summary
    published : tuple of float, or None
        Accuracy in per cent and standard deviation in the paper.
    best : bool
        Whether no other kernel has a higher mean.
    p : float or None
        Corrected resampled t-test against Tree++; None for Tree++ itself or without it.
    difference : float or None
        Mean accuracy minus that of Tree++ on the same folds.
    """

    summary: Summary
    published: tuple[float, float] | None
    best: bool = False
    p: float | None = None
    difference: float | None = None

    @property
    def mean(self) -> float:
        """Accuracy in per cent."""
        return 100 * (self.summary.accuracy.mean or 0.0)

    @property
    def spread(self) -> float:
        """Its standard deviation over the repetitions, in per cent."""
        return 100 * (self.summary.accuracy.std or 0.0)

    @property
    def verdict(self) -> str:
        """``"better"`` or ``"worse"`` than Tree++ if significantly so, otherwise empty."""
        if self.p is None or self.difference is None or not self.p < SIGNIFICANT:
            return ""
        return "better" if self.difference > 0 else "worse"


@dataclass(frozen=True)
class Row:
    """A data set and its cells, one for each column; None where there is no result."""

    name: str
    dataset: str
    cells: list[Cell | None]


@dataclass(frozen=True)
class Comparison:
    """All kernels on all data sets under one protocol.

    Attributes
    ----------
    first : FoldRecord
        Any of the records, for the protocol.
    select : {"validated", "reported-best"}
    columns : list of Column
    rows : list of Row
    """

    first: FoldRecord
    select: str
    columns: list[Column]
    rows: list[Row]

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells that exist."""
        return [cell for row in self.rows for cell in row.cells if cell is not None]

    @property
    def tested(self) -> bool:
        """Whether any kernel could be tested against Tree++."""
        return any(cell.p is not None for cell in self.cells)

    @cached_property
    def ranks(self) -> Ranks | None:
        """Ranks over the data sets on which every kernel has a result, if there are two."""
        whole = [row.cells for row in self.rows if None not in row.cells]
        if len(whole) < 2 or len(self.columns) < 2:
            return None
        return rank([[cell.mean for cell in cells if cell] for cells in whole])

    @property
    def repetitions(self) -> list[int]:
        """The different numbers of repetitions that cells stand for, in ascending order."""
        return sorted({cell.summary.repetitions for cell in self.cells})


def protocol_of(record: FoldRecord) -> tuple[Any, ...]:
    """What must agree for accuracies to be compared."""
    rules = (record.mode, record.folds, record.inner_folds, tuple(record.C), record.seed)
    return (*rules, record.deduplicated)


def is_figure(variant: str) -> bool:
    """Whether records belong to a curve rather than into a table."""
    return variant.startswith("figure-")


def comparisons(records: Iterable[Record]) -> list[Comparison]:
    """One comparison per protocol and, where a kernel chose between parameters, per reading."""
    records = list(records)
    costs = kernel_records(records)
    found = [e for e in experiments(records) if e.repetitions and not is_figure(e.first.variant)]
    groups: dict[tuple[Any, ...], list[Experiment]] = {}
    for experiment in found:
        groups.setdefault(protocol_of(experiment.first), []).append(experiment)
    result = []
    for group in groups.values():
        result.append(_comparison(group, "validated", costs))
        if group[0].first.mode == "paper" and any(len(e.candidates) > 1 for e in group):
            result.append(_comparison(group, "reported-best", costs))
    return result


def _comparison(group: list[Experiment], select: str, costs: list[KernelRecord]) -> Comparison:
    columns = _columns((e.first.kernel, e.first.variant) for e in group)
    names = row_names(e.first for e in group)
    cells: dict[tuple[Any, ...], Cell] = {}
    folds: dict[tuple[Any, ...], dict[tuple[int, int], float]] = {}
    for experiment in group:
        first = experiment.first
        [summary] = summarise([*experiment.records, *costs], select)
        column = Column(first.kernel, first.variant)
        key = (first.dataset, first.fingerprint, column)
        printed = published.TABLE2.get(first.dataset, {}) if not first.variant else {}
        cells[key] = Cell(summary, printed.get(first.kernel))
        folds[key] = _fold_accuracies(experiment, summary)
    rows = []
    for place, name in names.items():
        row = [cells.get((*place, column)) for column in columns]
        top = max(round(cell.mean, 9) for cell in row if cell)
        several = sum(cell is not None for cell in row) > 1
        reference = folds.get((*place, Column(REFERENCE)))
        for number, cell in enumerate(row):
            if cell is None:
                continue
            best = several and round(cell.mean, 9) == top
            row[number] = replace(cell, best=best)
            if reference is not None and columns[number] != Column(REFERENCE):
                own = folds[(*place, columns[number])]
                p, difference = _against(own, reference, cell.summary)
                row[number] = replace(cell, best=best, p=p, difference=difference)
        rows.append(Row(name, place[0], row))
    return Comparison(group[0].first, select, columns, rows)


def _columns(kernels: Iterable[tuple[str, str]]) -> list[Column]:
    """In the order of the paper's tables, then in that of the results."""
    order = {kernel: number for number, kernel in enumerate(published.KERNELS)}
    unique = list(dict.fromkeys(kernels))
    unique.sort(key=lambda item: (order.get(item[0], len(order)), bool(item[1])))
    return [Column(*item) for item in unique]


def row_names(records: Iterable[FoldRecord | KernelRecord]) -> dict[tuple[str, str], str]:
    """A name for each data set and fingerprint; with the fingerprint if one has several."""
    places = list(dict.fromkeys((r.dataset, r.fingerprint) for r in records))
    several = {dataset for dataset, _ in places if len([p for p in places if p[0] == dataset]) > 1}
    return {
        (dataset, mark): f"{dataset} [{mark[:6]}]" if dataset in several else dataset
        for dataset, mark in places
    }


def _fold_accuracies(experiment: Experiment, summary: Summary) -> dict[tuple[int, int], float]:
    """The accuracy on each test fold of each repetition."""
    accuracies = {}
    for repetition in experiment.repetitions:
        if summary.select == "validated":
            tested = experiment.validated(repetition)[0]
        else:
            best = experiment.candidates.index(summary.parameters)
            tested = experiment.tested(repetition, best)
        for record, level in tested:
            right = np.array(record.truth) == np.array(level.predictions)
            accuracies[repetition, record.fold] = float(right.mean())
    return accuracies


def _against(
    own: dict[tuple[int, int], float], reference: dict[tuple[int, int], float], summary: Summary
) -> tuple[float | None, float | None]:
    """p-value and mean difference over the folds that both have."""
    common = [place for place in own if place in reference]
    if len(common) < 2:
        return None, None
    differences = [own[place] - reference[place] for place in common]
    # Each fold tests one of `folds` parts and trains on the rest.
    return corrected_t_test(differences, 1 / (summary.folds - 1)), float(np.mean(differences))


@dataclass(frozen=True)
class Cost:
    """Time and memory of one kernel on one data set, per setting of the kernel.

    Attributes
    ----------
    seconds : float
        Mean over the settings.
    memory : int or None
        The largest, in bytes.
    n_jobs : int
        Number of threads.
    graphs : int
    published : float or None
        Seconds in the paper.
    """

    seconds: float
    memory: int | None
    n_jobs: int
    graphs: int
    published: float | None


@dataclass(frozen=True)
class Runtimes:
    """The cost of all kernels on all data sets."""

    columns: list[Column]
    rows: list[tuple[str, list[Cost | None]]]


def runtimes(records: Iterable[Record]) -> Runtimes | None:
    """What computing the kernels took; None without a record of it.

    Where a kernel was measured with different numbers of threads, the smallest counts.
    """
    found = [r for r in kernel_records(records) if not is_figure(r.variant)]
    if not found:
        return None
    columns = _columns((r.kernel, r.variant) for r in found)
    rows = []
    for place, name in row_names(found).items():
        of_set = [r for r in found if (r.dataset, r.fingerprint) == place]
        costs = [
            _cost([r for r in of_set if (r.kernel, r.variant) == (column.kernel, column.variant)])
            for column in columns
        ]
        rows.append((name, costs))
    return Runtimes(columns, rows)


def _cost(records: Sequence[KernelRecord]) -> Cost | None:
    if not records:
        return None
    threads = min(record.n_jobs for record in records)
    records = [record for record in records if record.n_jobs == threads]
    memories = [record.memory for record in records if record.memory is not None]
    first = records[0]
    printed = published.TABLE3.get(first.dataset, {}) if not first.variant else {}
    return Cost(
        seconds=float(np.mean([record.seconds for record in records])),
        memory=max(memories) if memories else None,
        n_jobs=threads,
        graphs=first.graphs,
        published=printed.get(first.kernel),
    )
