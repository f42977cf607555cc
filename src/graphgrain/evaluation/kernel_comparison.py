"""Compare kernels on the same data sets, with the published values and by average ranks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..kernels.registry import KERNELS
from . import paper
from .records import (
    AUTO,
    REFERENCE,
    SELF_TUNED,
    FoldRecord,
    KernelRecord,
    LimitRecord,
    ProtocolKey,
    Record,
    dataset_labels,
    kernel_label,
    kernel_records,
    limit_label,
    limit_records,
)
from .splits import FOLDS, SHARES
from .statistics import Ranks, Scores, blind_score, corrected_t_test, rank
from .summary import Experiment, KernelCost, Summary, experiments, kernel_cost, summarise

#: Significance level.
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Column:
    """A kernel or a variant of one as a column of a table."""

    kernel: str
    variant: str = ""

    @property
    def name(self) -> str:
        """Name in tables."""
        return kernel_label(self.kernel, self.variant)


@dataclass(frozen=True)
class Cell:
    """Results of one kernel on one data set."""

    summary: Summary
    published: tuple[float, float] | None  # accuracy and standard deviation in the paper, in %
    best: bool = False  # True if no other kernel has a better mean
    p: float | None = None  # corrected resampled t-test against Tree++; None for Tree++ itself
    difference: float | None = None  # mean accuracy minus that of Tree++ on the same folds

    @property
    def _measured(self) -> tuple[Scores, int]:
        summary = self.summary
        return (summary.rmse, 1) if summary.numeric else (summary.accuracy, 100)

    @property
    def mean(self) -> float:
        """Mean accuracy in percent, or mean RMSE."""
        scores, unit = self._measured
        return unit * (scores.mean or 0.0)

    @property
    def spread(self) -> float:
        """Standard deviation over the repetitions, in the unit of ``mean``."""
        scores, unit = self._measured
        return unit * (scores.std or 0.0)

    @property
    def merit(self) -> float:
        """Accuracy or negative error; larger is better."""
        return -self.mean if self.summary.numeric else self.mean

    @property
    def verdict(self) -> str:
        """``"better"`` or ``"worse"`` if significantly different from Tree++, else empty."""
        if self.p is None or self.difference is None or not self.p < SIGNIFICANT:
            return ""
        return "better" if (self.difference > 0) != self.summary.numeric else "worse"


@dataclass(frozen=True)
class Row:
    """A data set and its cells, one per column; None for missing results."""

    name: str  # label in tables
    dataset: str
    cells: list[Cell | None]
    majority: float  # accuracy in percent of the largest class; for regression, RMSE of the mean
    stopped: list[LimitRecord | None]  # limit exceeded by the kernel of each column


@dataclass(frozen=True)
class Comparison:
    """All kernels on all data sets under one protocol."""

    first: FoldRecord  # one of the records, for the protocol
    select: str  # "validated" or "reported-best"
    columns: list[Column]
    rows: list[Row]

    @cached_property
    def cells(self) -> list[Cell]:
        """All cells with results."""
        return [cell for row in self.rows for cell in row.cells if cell is not None]

    @property
    def tested(self) -> bool:
        """True if at least one kernel was tested against Tree++."""
        return any(cell.p is not None for cell in self.cells)

    @property
    def numeric(self) -> bool:
        """True for regression."""
        return not self.first.classes

    @cached_property
    def ranked(self) -> list[int]:
        """Positions of the ranked columns: those with a result on every data set.

        Kernels with missing results are shown but not ranked. Dropping the data set instead would
        discard the results of the other kernels on the large data sets where slow kernels are
        stopped, which are the most informative.
        """
        return [
            number
            for number in range(len(self.columns))
            if all(row.cells[number] is not None for row in self.rows)
        ]

    @cached_property
    def ranks(self) -> Ranks | None:
        """Ranks of the :attr:`ranked` kernels over all data sets.

        None if there are so few data sets that even a kernel that is always the best would not
        differ significantly from one that is always the worst.
        """
        if len(self.rows) < 2 or len(self.ranked) < 2:
            return None
        cells = [[row.cells[number] for number in self.ranked] for row in self.rows]
        ranks = rank([[cell.merit for cell in row if cell] for row in cells])
        return ranks if ranks.critical_difference < len(self.ranked) - 1 else None

    @property
    def any_stopped(self) -> bool:
        """True if a kernel exceeded a limit."""
        return any(limit for row in self.rows for limit in row.stopped)

    @property
    def repetitions(self) -> list[int]:
        """Distinct numbers of repetitions of the cells, ascending."""
        return sorted({cell.summary.repetitions for cell in self.cells})


def is_figure(variant: str) -> bool:
    """Check if records belong to a curve and not to a table."""
    return variant.startswith("figure-")


def comparisons(records: Iterable[Record]) -> list[Comparison]:
    """Return one comparison per protocol, type of target and selection of parameters.

    Selection in hindsight is included only for mode ``paper``, to compare with published values.
    """
    records = list(records)
    costs = kernel_records(records)
    found = [e for e in experiments(records) if e.repetitions and not is_figure(e.first.variant)]
    groups: dict[tuple[ProtocolKey, bool, bool], list[Experiment]] = {}
    for experiment in found:
        first = experiment.first
        rules = (first.protocol, first.deduplicated, not first.classes)
        groups.setdefault(rules, []).append(experiment)
    result = []
    for rules, group in groups.items():
        limits = [r for r in limit_records(records) if (r.protocol, r.deduplicated) == rules[:2]]
        result.append(_comparison(group, "validated", costs, limits))
        if group[0].first.mode == "paper" and any(len(e.candidates) > 1 for e in group):
            result.append(_comparison(group, "reported-best", costs, limits))
    return result


def _comparison(
    group: list[Experiment], select: str, costs: list[KernelRecord], limits: list[LimitRecord]
) -> Comparison:
    firsts: list[Record] = [e.first for e in group]
    columns = _columns((first.kernel, first.variant) for first in [*firsts, *limits])
    stopped = {(r.place, Column(r.kernel, r.variant)): r for r in limits}
    cells: dict[tuple[Any, ...], Cell] = {}
    folds: dict[tuple[Any, ...], dict[tuple[int, int], float]] = {}
    majority: dict[tuple[str, str], float] = {}
    for experiment in group:
        first = experiment.first
        blind = [blind_score(experiment.tested(number, 0)) for number in experiment.repetitions]
        unit = 100 if first.classes else 1
        majority.setdefault(first.place, unit * float(np.mean(blind)))
        key = (first.place, Column(first.kernel, first.variant))
        if key in stopped and not experiment.complete:
            continue  # results on a part of the grid do not represent the kernel
        [summary] = summarise([*experiment.records, *costs], select)
        printed = paper.TABLE2.get(first.dataset, {}) if not first.variant else {}
        cells[key] = Cell(summary, printed.get(first.kernel))
        folds[key] = experiment.fold_accuracies(select)
    rows = []
    for place, name in dataset_labels(firsts).items():
        row = [cells.get((place, column)) for column in columns]
        merits = [cell.merit for cell in row if cell]
        # Relative, as errors are in the unit of the target.
        top = max(merits, default=0.0)
        least = top - 1e-9 * abs(top)
        reference = folds.get((place, Column(REFERENCE)))
        for number, (cell, column) in enumerate(zip(row, columns, strict=True)):
            if cell is None:
                continue
            p = difference = None
            if reference is not None and column != Column(REFERENCE):
                p, difference = _against(folds[place, column], reference, cell.summary)
            best = len(merits) > 1 and cell.merit >= least
            row[number] = replace(cell, best=best, p=p, difference=difference)
        limited = [
            None if cell else stopped.get((place, column))
            for cell, column in zip(row, columns, strict=True)
        ]
        rows.append(Row(name, place[0], row, majority[place], limited))
    return Comparison(group[0].first, select, columns, rows)


def _columns(kernels: Iterable[tuple[str, str]]) -> list[Column]:
    """Return the columns in the order of the paper's tables, then of the results."""
    order = {kernel: number for number, kernel in enumerate(paper.KERNELS)}
    unique = list(dict.fromkeys(kernels))
    unique.sort(key=lambda item: (order.get(item[0], len(order)), bool(item[1])))
    return [Column(*item) for item in unique]


def _against(
    own: dict[tuple[int, int], float], reference: dict[tuple[int, int], float], summary: Summary
) -> tuple[float | None, float | None]:
    """Return the p-value and the mean difference over the common folds."""
    common = [place for place in own if place in reference]
    if len(common) < 2:
        return None, None
    differences = [own[place] - reference[place] for place in common]
    # Each fold tests one of `folds` parts and trains on the rest.
    share = 1 / (summary.folds - 1) if summary.split == FOLDS else SHARES[2] / SHARES[0]
    return corrected_t_test(differences, share), float(np.mean(differences))


@dataclass(frozen=True)
class Cost(KernelCost):
    """Time and memory of one kernel on one data set."""

    published: float | None = None  # seconds in the paper


@dataclass(frozen=True)
class Runtimes:
    """Cost of all kernels on all data sets."""

    columns: list[Column]
    rows: list[tuple[str, list[Cost | None]]]


def runtimes(records: Iterable[Record]) -> Runtimes | None:
    """Return the cost of the kernels; None without kernel records."""
    found = [r for r in kernel_records(records) if not is_figure(r.variant)]
    if not found:
        return None
    columns = _columns((r.kernel, r.variant) for r in found)
    rows = []
    for place, name in dataset_labels(found).items():
        costs: list[Cost | None] = []
        for column in columns:
            cost = kernel_cost(found, place, column.kernel, column.variant)
            printed = None if column.variant else paper.TABLE3.get(place[0], {}).get(column.kernel)
            costs.append(Cost(**vars(cost), published=printed) if cost else None)
        rows.append((name, costs))
    return Runtimes(columns, rows)


@dataclass(frozen=True)
class Standing:
    """A kernel in the league table."""

    column: Column
    sees: tuple[str, ...] | None  # inputs besides the graph structure; None if unknown
    rank: float | None  # average rank; None if not ranked
    results: int  # number of data sets with a result
    accuracy: float | None  # mean over all data sets in percent; None if results are missing
    balanced_accuracy: float | None
    seconds: float | None  # CPU time for the matrices of all settings on all data sets
    memory: int | None  # peak memory on any of these data sets, in bytes
    stopped: dict[str, LimitRecord]  # exceeded limit, by data set

    @property
    def stops(self) -> list[str]:
        """Exceeded limits, each with its data sets, as text."""
        by_limit: dict[str, list[str]] = {}
        for name, limit in self.stopped.items():
            by_limit.setdefault(limit_label(limit), []).append(name)
        return [f"{label}: {', '.join(names)}" for label, names in by_limit.items()]


def standings(comparison: Comparison) -> list[Standing]:
    """Return the league table: ranked kernels by average rank, then the others by results."""
    ranks: dict[int, float] = {}
    if comparison.ranks is not None:
        average = comparison.ranks.average.tolist()
        ranks = dict(zip(comparison.ranked, average, strict=True))
    found = []
    for number, column in enumerate(comparison.columns):
        cells = [row.cells[number] for row in comparison.rows]
        whole = [cell for cell in cells if cell] if all(cells) else []
        spent = [cell.summary.kernel_processor_seconds for cell in whole]
        memories = [cell.summary.kernel_memory for cell in whole]
        classified = [] if comparison.numeric else whole
        balanced = [100 * (cell.summary.balanced_accuracy.mean or 0.0) for cell in classified]
        found.append(
            Standing(
                column=column,
                sees=next((seen_by(cell) for cell in cells if cell), None),
                rank=ranks.get(number),
                results=sum(cell is not None for cell in cells),
                accuracy=_mean([cell.mean for cell in classified]),
                balanced_accuracy=_mean(balanced),
                seconds=sum(s or 0.0 for s in spent) if spent and None not in spent else None,
                memory=max((m for m in memories if m is not None), default=None),
                stopped={
                    row.name: stop for row in comparison.rows if (stop := row.stopped[number])
                },
            )
        )
    return sorted(found, key=lambda s: (s.rank is None, s.rank or 0.0, -s.results))


def seen_by(cell: Cell) -> tuple[str, ...] | None:
    """Return the inputs used by the kernel of a cell; None if the kernel is unknown."""
    summary = cell.summary
    if summary.variant.startswith(SELF_TUNED):
        everything = summary.kernel == AUTO
        return ("vertex labels", "edge labels", *(["attributes"] if everything else []))
    if summary.kernel not in KERNELS:
        return None
    kernel = KERNELS[summary.kernel].kernel
    known = kernel().get_params()
    parameters: dict[str, Any] = {k: v for k, v in summary.parameters.items() if k in known}
    return kernel(**parameters).sees


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None
