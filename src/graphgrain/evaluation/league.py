"""The league table: every kernel on every data set, on the same folds, under the same limits.

1. Everybody takes part: all kernels of the registry with their grids, those that can look at
   attributes once more with them, and the classifiers that tune themselves.
2. One repetition of every kernel on every data set comes first, small data sets before large
   ones, then the others: a run that is interrupted leaves a table without holes.
3. A kernel is ranked if it has results on three quarters of the data sets, over those sets on
   which every ranked kernel has one. Others are shown, not ranked: a rank of a kernel that was
   stopped would mix how fast it is with how well it tells classes apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels.grid import KernelGrid
from ..kernels.registry import KERNELS
from . import published
from .display_names import limit_label
from .kernel_comparison import Cell, Column, Comparison, comparisons
from .labelled_graphs import LabelledGraphs
from .limited_run import Entrant
from .protocol import Protocol
from .records import FoldRecord, LimitRecord, Record, under_protocol
from .self_tuned import AUTO_ROW, SELF_TUNED, TREE_ROW, TunedRow
from .summary import experiments

#: The data sets of the paper, MUTAG, and others with attributes or without labels.
DATASETS = (*published.DATASETS, "MUTAG", "ENZYMES", "IMDB-BINARY", "Letter-high")
#: Data sets with at most so many graphs get all repetitions, others one.
FEW_GRAPHS = 1200
REPETITIONS = 5
#: How each kernel is limited on each data set: processor seconds per repetition, and bytes.
SECONDS, MEMORY = 600.0, 4 * 2**30


def entrants(rows: Iterable[KernelGrid | TunedRow] | None = None) -> list[Entrant]:
    """Who takes part: the kernels given, or all and the classifiers that tune themselves.

    Examples
    --------
    >>> from graphgrain.evaluation.league import entrants
    >>> [(entrant.kernel, entrant.variant) for entrant in entrants()][:2]
    [('auto', 'self-tuned'), ('tree++', 'self-tuned')]
    """
    everybody: list[KernelGrid | TunedRow] = [AUTO_ROW, TREE_ROW, *KERNELS.values()]
    found = []
    for row in everybody if rows is None else rows:
        found.append(Entrant(row))
        if (
            isinstance(row, KernelGrid)
            and not row.variant
            and "attributes" in row.kernel().get_params()
        ):
            found.append(Entrant(row.with_parameters(attributes=True)))
    return found


def takes(entrant: Entrant, data: LabelledGraphs) -> bool:
    """Whether a data set has what a kernel looks at: some take only graphs with attributes."""
    if entrant.grid is None or data.graphs.vertex_attributes is not None:
        return True
    return all("attributes" not in entrant.grid.estimator(s).sees for s in entrant.grid.settings)


def schedule(
    sets: Iterable[LabelledGraphs], who: Iterable[Entrant], repeats: int | None = None
) -> list[tuple[LabelledGraphs, Entrant, int]]:
    """What is to be done, in order: data set, kernel, number of repetitions.

    Parameters
    ----------
    repeats : int, optional
        For all data sets; by default five for those with up to 1,200 graphs, one for others.
        With 0 there is nothing to do.
    """
    ordered = sorted(sets, key=len)
    pairs = [(data, entrant) for data in ordered for entrant in who if takes(entrant, data)]

    def wanted(data: LabelledGraphs) -> int:
        if repeats is not None:
            return repeats
        return REPETITIONS if len(data) <= FEW_GRAPHS else 1

    work = [(data, entrant, wanted(data)) for data, entrant in pairs]
    first = [(data, entrant, 1) for data, entrant, times in work if times]
    return first + [item for item in work if item[2] > 1]


def league_comparison(
    records: Iterable[Record],
    sets: Iterable[LabelledGraphs],
    who: Iterable[Entrant],
    protocol: Protocol,
) -> Comparison | None:
    """The kernels side by side, from the records; None before anything is complete."""
    fingerprints = {data.fingerprint for data in sets}
    columns = {(entrant.kernel, entrant.variant) for entrant in who}
    own = [
        record
        for record in under_protocol(records, protocol.key)
        if record.fingerprint in fingerprints and (record.kernel, record.variant) in columns
    ]
    # A part of the grid is not the kernel: what was interrupted has no result yet.
    begun = {_place(e.first) for e in experiments(own) if not e.complete}
    whole = [r for r in own if not isinstance(r, FoldRecord) or _place(r) not in begun]
    return next((c for c in comparisons(whole) if c.select == "validated"), None)


def _place(record: Record) -> tuple[str, str, str]:
    return (record.fingerprint, record.kernel, record.variant)


@dataclass(frozen=True)
class Standing:
    """A kernel in the league table.

    Attributes
    ----------
    column : Column
    sees : tuple of str, or None
        What it looks at beside the structure of graphs; None for a kernel of another version.
    rank : float or None
        Average rank; None if it is not ranked.
    results : int
        On how many data sets it has a result.
    accuracy, balanced_accuracy : float or None
        Means over the data sets that are ranked on, in per cent; None without results on all.
    seconds : float or None
        Processor time for the kernel matrices of all settings on these data sets together.
    memory : int or None
        The most that it needed on one of these data sets, in bytes.
    stopped : dict
        The limit that it ran over, by data set.
    """

    column: Column
    sees: tuple[str, ...] | None
    rank: float | None
    results: int
    accuracy: float | None
    balanced_accuracy: float | None
    seconds: float | None
    memory: int | None
    stopped: dict[str, LimitRecord]

    @property
    def stops(self) -> list[str]:
        """Where it was stopped, in words: each limit with the data sets."""
        by_limit: dict[str, list[str]] = {}
        for name, limit in self.stopped.items():
            by_limit.setdefault(limit_label(limit), []).append(name)
        return [f"{label}: {', '.join(names)}" for label, names in by_limit.items()]


def standings(comparison: Comparison) -> list[Standing]:
    """The league table: ranked kernels by their average rank, then the others by results."""
    ranks: dict[int, float] = {}
    if comparison.ranks is not None:
        average = comparison.ranks.average.tolist()
        ranks = dict(zip(comparison.ranked, average, strict=True))
    found = []
    for number, column in enumerate(comparison.columns):
        cells = [row.cells[number] for row in comparison.rows]
        ranked = [row.cells[number] for row in comparison.ranked_rows]
        whole = [cell for cell in ranked if cell] if ranked and all(ranked) else []
        seconds = [cell.summary.kernel_processor_seconds for cell in whole]
        memories = [cell.summary.kernel_memory for cell in whole]
        found.append(
            Standing(
                column=column,
                sees=next((seen_by(cell) for cell in cells if cell), None),
                rank=ranks.get(number),
                results=sum(cell is not None for cell in cells),
                accuracy=_mean([cell.mean for cell in whole]),
                balanced_accuracy=_mean(
                    [100 * (cell.summary.balanced_accuracy.mean or 0.0) for cell in whole]
                ),
                seconds=sum(s for s in seconds if s is not None)
                if seconds and None not in seconds
                else None,
                memory=max((m for m in memories if m is not None), default=None),
                stopped={
                    row.name: limit for row in comparison.rows if (limit := row.stopped[number])
                },
            )
        )
    return sorted(found, key=lambda s: (s.rank is None, s.rank or 0.0, -s.results))


def seen_by(cell: Cell) -> tuple[str, ...] | None:
    """What the kernel of a cell looked at; None if this version does not know it."""
    summary = cell.summary
    if summary.variant.startswith(SELF_TUNED):
        everything = summary.kernel == AUTO_ROW.name
        return ("vertex labels", "edge labels", *(["attributes"] if everything else []))
    if summary.kernel not in KERNELS:
        return None
    kernel = KERNELS[summary.kernel].kernel
    known = kernel().get_params()
    told: dict[str, Any] = {k: v for k, v in summary.parameters.items() if k in known}
    return kernel(**told).sees


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None
