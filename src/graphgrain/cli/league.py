"""The part of the command reproduce that makes the league table of all kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from ..evaluation.display_names import limit_label
from ..evaluation.kernel_comparison import RANKED_SHARE, Cell, Comparison, Row
from ..evaluation.labelled_graphs import LabelledGraphs
from ..evaluation.league import (
    Standing,
    entrants,
    league_comparison,
    schedule,
    standings,
)
from ..evaluation.limited_run import LimitedRuns
from ..evaluation.limits import Limits
from ..evaluation.protocol import Protocol
from ..evaluation.records import FoldRecord, KernelRecord, LimitRecord
from ..evaluation.self_tuned import TunedRow
from ..graphs.description import describe
from ..kernels.grid import KernelGrid
from ..report.rank_diagram import write_rank_diagram
from ..report.words import compared_p
from .app import err, out
from .result_tables import megabytes, seconds
from .running import running
from .wide_tables import print_table

#: Why a kernel has no result on a data set, other than a limit: by kernel and data set.
Failures = dict[str, dict[str, str]]


def league_table(
    sets: list[LabelledGraphs],
    rows: list[KernelGrid | TunedRow] | None,
    protocol: Protocol,
    repeats: int | None,
    limits: Limits,
    results: Path,
    plot: Path | None,
    n_jobs: int,
    quiet: bool,
) -> dict[str, Any]:
    """Run what the results lack, kernel by kernel under limits, then show who stands where."""
    who = entrants(rows)
    work = schedule(sets, who, repeats)
    total = sum(times * protocol.folds * entrant.settings for _, entrant, times in work)
    failed: Failures = {}
    with running(results, total, n_jobs, quiet=quiet) as runner:
        runs = LimitedRuns(runner.results, limits, n_jobs)
        for data, entrant, times in work:
            refused = failed.setdefault(entrant.label, {})
            if data.name not in refused:
                outcome = runs(data, entrant, protocol, times, runner.progress)
                if outcome.error:
                    refused[data.name] = outcome.error
        records = [
            record
            for record in runner.results.records
            if isinstance(record, FoldRecord | KernelRecord | LimitRecord)
        ]
    comparison = league_comparison(records, sets, who, protocol)
    failed = {label: reasons for label, reasons in failed.items() if reasons}
    for label, reasons in failed.items():
        for reason in dict.fromkeys(reasons.values()):
            where = ", ".join(name for name, other in reasons.items() if other == reason)
            err().print(f"[yellow]Failed:[/yellow] {escape(f'{label} on {where}: {reason}')}")
    if comparison is None:
        err().print("Nothing is complete yet, so there is no table.")
        return {"failed": failed}
    if plot is not None:
        _draw(comparison, plot)
    table = standings(comparison)
    if not quiet:
        _show(comparison, table, sets, limits, failed)
    return _for_machines(comparison, table, sets, limits) | {"failed": failed}


def _draw(comparison: Comparison, plot: Path) -> None:
    if comparison.ranks is None:
        err().print("There are too few data sets or kernels to rank, so no diagram is drawn.")
        return
    write_rank_diagram(comparison, plot)
    err().print(f"The critical difference diagram is in {escape(str(plot))}.")


# ---------------------------------------------------------------- for people


def _show(
    comparison: Comparison,
    table: list[Standing],
    sets: list[LabelledGraphs],
    limits: Limits,
    failed: Failures,
) -> None:
    print_table(out(), _standings_table(comparison, table))
    out().print(f"[dim]{escape(_explained(comparison, limits))}[/dim]\n")
    for title, words in _FIGURES.items():
        print_table(out(), _figures_table(comparison, table, title, words, failed))
        out().print()
    for data in sets:
        out().print(f"[dim]{escape(f'{data.name}: {_given(data)}.')}[/dim]")


def _standings_table(comparison: Comparison, table: list[Standing]) -> Table:
    shown = _table("League: all kernels, ranked by accuracy")
    shown.add_column("kernel")
    for name in ("rank", "sets", "accuracy", "balanced", "kernel s", "MB"):
        shown.add_column(name, justify="right")
    shown.add_column("sees")
    shown.add_column("stopped")
    for item in table:
        shown.add_row(
            escape(item.column.name),
            _one(item.rank, 2),
            f"{item.results} of {len(comparison.rows)}",
            _one(item.accuracy),
            _one(item.balanced_accuracy),
            seconds(item.seconds),
            megabytes(item.memory),
            "-" if item.sees is None else ", ".join(item.sees) or "structure",
            escape("\n".join(item.stops)),
        )
    return shown


def _explained(comparison: Comparison, limits: Limits) -> str:
    words = (
        "Nested cross-validation, the same folds for all; everything is chosen inside the training "
        "folds. "
    )
    ranks = comparison.ranks
    if ranks is None:
        words += "Too few data sets or kernels for ranks that could mean anything. "
    else:
        words += (
            f"Rank: mean over the {ranks.datasets} data sets on which every ranked kernel has a "
            f"result; ranked are kernels with results on {100 * RANKED_SHARE:.0f} % of the sets. "
            "Accuracy, balanced accuracy, processor seconds for the kernel matrices of the whole "
            "grid and the most memory on one set are over the same sets. Average ranks that differ "
            f"by less than {ranks.critical_difference:.2f} do not differ significantly (Nemenyi "
            f"test, 5 %; Friedman test: p {compared_p(ranks.p)}). "
        )
    given = []
    if limits.seconds is not None:
        given.append(f"{limits.seconds:g} processor seconds for a repetition")
    if limits.memory is not None:
        given.append(f"{limits.memory / 2**30:.3g} GiB")
    if given:
        words += f"Limits for each kernel on each data set: {' and '.join(given)}."
    return words.rstrip()


def _accuracy(cell: Cell) -> str:
    return _one(cell.mean)


def _balanced(cell: Cell) -> str:
    mean = cell.summary.balanced_accuracy.mean
    return _one(None if mean is None else 100 * mean)


#: The tables with a column for each data set, and what stands in a cell.
_FIGURES: dict[str, Callable[[Cell], str]] = {
    "Accuracy in per cent": _accuracy,
    "Balanced accuracy in per cent": _balanced,
    "Processor seconds for the kernel matrices of the whole grid": lambda cell: seconds(
        cell.summary.kernel_processor_seconds
    ),
    "Memory for the kernel matrices in MB": lambda cell: megabytes(cell.summary.kernel_memory),
}


def _figures_table(
    comparison: Comparison,
    table: list[Standing],
    title: str,
    words: Callable[[Cell], str],
    failed: Failures,
) -> Table:
    """Kernels down in the order of the league, data sets across."""
    shown = _table(title)
    shown.add_column("kernel")
    for row in comparison.rows:
        shown.add_column(escape(row.name), justify="right")
    accuracy = words is _accuracy
    if accuracy:
        shown.add_row("repetitions", *map(_repetitions, comparison.rows))
        shown.add_row("majority", *(_one(row.majority) for row in comparison.rows))
    for item in table:
        number = comparison.columns.index(item.column)
        cells = []
        for row in comparison.rows:
            cell, limit = row.cells[number], row.stopped[number]
            missing = "failed" if row.dataset in failed.get(item.column.name, {}) else "-"
            text = words(cell) if cell else limit_label(limit) if limit else missing
            cells.append(f"[bold]{text}[/bold]" if accuracy and cell and cell.best else text)
        shown.add_row(escape(item.column.name), *cells)
    return shown


def _repetitions(row: Row) -> str:
    """How many repetitions the results of a data set stand for."""
    counts = {cell.summary.repetitions for cell in row.cells if cell}
    return f"{min(counts)}-{max(counts)}" if len(counts) > 1 else "".join(map(str, counts))


def _given(data: LabelledGraphs) -> str:
    """What a data set gives kernels to look at."""
    graphs = data.graphs
    found = describe(graphs, data.codes)
    words = [f"{len(graphs):,} graphs, {len(data.classes)} classes"]
    labels = found.vertex_labels or 1
    words.append(f"{labels} vertex labels" if labels > 1 else "no vertex labels")
    for kind, values in (("vertex", graphs.vertex_attributes), ("edge", graphs.edge_attributes)):
        if values is not None:
            words.append(f"{values.shape[1]} {kind} attributes")
    if graphs.edge_labels is not None:
        words.append("edge labels")
    return ", ".join(words)


def _table(title: str) -> Table:
    return Table(title=title, box=None, title_justify="left", pad_edge=False)


def _one(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


# ---------------------------------------------------------------- for machines


def _for_machines(
    comparison: Comparison, table: list[Standing], sets: list[LabelledGraphs], limits: Limits
) -> dict[str, Any]:
    ranks = comparison.ranks
    return {
        "limits": {"seconds": limits.seconds, "memory": limits.memory},
        "datasets": {data.name: _given(data) for data in sets},
        "majority": {row.name: row.majority for row in comparison.rows},
        "ranks": None
        if ranks is None
        else {
            "datasets": [row.name for row in comparison.ranked_rows],
            "critical difference": ranks.critical_difference,
            "Friedman p": None if ranks.p != ranks.p else ranks.p,
        },
        "kernels": [
            {
                "kernel": item.column.kernel,
                "variant": item.column.variant,
                "name": item.column.name,
                "sees": item.sees,
                "rank": item.rank,
                "accuracy": item.accuracy,
                "balanced accuracy": item.balanced_accuracy,
                "processor seconds": item.seconds,
                "memory": item.memory,
                "sets": _by_set(comparison, comparison.columns.index(item.column)),
            }
            for item in table
        ],
    }


def _by_set(comparison: Comparison, number: int) -> dict[str, Any]:
    """What a kernel achieved on each data set, or why it did not."""
    found: dict[str, Any] = {}
    for row in comparison.rows:
        cell, limit = row.cells[number], row.stopped[number]
        if cell:
            summary = cell.summary
            found[row.name] = {
                "accuracy": summary.accuracy.mean,
                "std": summary.accuracy.std,
                "balanced accuracy": summary.balanced_accuracy.mean,
                "repetitions": summary.repetitions,
                "processor seconds": summary.kernel_processor_seconds,
                "memory": summary.kernel_memory,
                "chosen": summary.chosen,
            }
        elif limit:
            found[row.name] = {"stopped": limit.reason, "limit": limit.limit}
    return found
