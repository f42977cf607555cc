"""League table: all kernels on all data sets, on the same folds and with the same limits.

    python -m benchmarks.league -d MUTAG,PTC_MM --time-limit 60
    python -m benchmarks.league --repeats 0 --page docs/league.md

1. The table has all kernels of the registry with their grids, those that support attributes a
   second time with them, and the self-tuned classifiers.
2. The first repetition of all kernels on all data sets is run first, small data sets before large
   ones, so that an interrupted run leaves a complete table.
3. Only kernels with a result on every data set are ranked: ranking a kernel that was stopped would
   mix speed with accuracy.

Finished folds are stored in the results file, and the same command resumes an interrupted run. A
kernel that exceeds a limit is stopped and marked in the table; it is run again only if the limit is
raised. ``--repeats 0`` shows the stored results, ``--page`` writes them into a page.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from graphgrain.cli.console import err, out
from graphgrain.cli.evaluate import evaluated_row, running
from graphgrain.cli.tables import megabytes, print_table, seconds
from graphgrain.evaluation import paper
from graphgrain.evaluation.experiment import AUTO_ROW, TREE_ROW, TunedRow
from graphgrain.evaluation.kernel_comparison import (
    Cell,
    Comparison,
    Row,
    Standing,
    comparisons,
    standings,
)
from graphgrain.evaluation.labelled_graphs import LabelledGraphs, prepare
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.records import (
    FoldRecord,
    KernelRecord,
    LimitRecord,
    Record,
    limit_label,
    under_protocol,
)
from graphgrain.evaluation.summary import experiments
from graphgrain.graphs.description import describe
from graphgrain.kernels.grid import KernelGrid
from graphgrain.kernels.registry import KERNELS
from graphgrain.report.content import compared_p
from graphgrain.report.rank_diagram import write_rank_diagram

from .data import load_with_classes
from .limits import Entrant, LimitedRuns, Limits
from .tables import markdown, records_file, write_between

#: The data sets of the paper, MUTAG, and others with attributes or without labels.
DATASETS = (*paper.DATASETS, "MUTAG", "ENZYMES", "IMDB-BINARY", "Letter-high")
#: Data sets with at most this many graphs get all repetitions, others one.
FEW_GRAPHS = 1200
REPETITIONS = 5
#: Limits of each kernel on each data set: CPU seconds per repetition, and bytes.
SECONDS, MEMORY = 600.0, 4 * 2**30


def entrants(rows: Iterable[KernelGrid | TunedRow] | None = None) -> list[Entrant]:
    """Return the entrants: the given kernels, or all kernels and the self-tuned classifiers.

    Examples
    --------
    >>> from benchmarks.league import entrants
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
    """Return whether a kernel applies to a data set; some require attributes."""
    if entrant.grid is None or data.graphs.vertex_attributes is not None:
        return True
    return all("attributes" not in entrant.grid.estimator(s).sees for s in entrant.grid.settings)


def schedule(
    sets: Iterable[LabelledGraphs], who: Iterable[Entrant], repeats: int | None = None
) -> list[tuple[LabelledGraphs, Entrant, int]]:
    """Return the runs in order: data set, kernel, number of repetitions.

    Parameters
    ----------
    repeats : int, optional
        Repetitions on all data sets; 0 for none. By default five for data sets with up to 1,200
        graphs, one for others.
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
    """Compare the kernels on the records; None if no result is complete."""
    fingerprints = {data.fingerprint for data in sets}
    columns = {(entrant.kernel, entrant.variant) for entrant in who}
    own = [
        record
        for record in under_protocol(records, protocol.key)
        if record.fingerprint in fingerprints and (record.kernel, record.variant) in columns
    ]
    # Kernels with an incomplete grid have no result.
    begun = {_place(e.first) for e in experiments(own) if not e.complete}
    whole = [r for r in own if not isinstance(r, FoldRecord) or _place(r) not in begun]
    return next((c for c in comparisons(whole) if c.select == "validated"), None)


def _place(record: Record) -> tuple[str, str, str]:
    return (record.fingerprint, record.kernel, record.variant)


#: Error messages of kernels that failed for reasons other than a limit, by kernel and data set.
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
    """Run missing experiments under limits, then print the table."""
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
        err().print("No result is complete yet, so there is no table.")
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
    shown.add_column("uses")
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
        "Nested cross-validation on the same folds: C and the kernel's parameters are chosen "
        "within the training folds. Kernels are fitted to all graphs, without classes; this "
        "affects DGK, propagation with attributes, NetLSD and RetGK. "
    )
    ranks = comparison.ranks
    if ranks is None:
        words += "There are too few data sets or kernels for meaningful ranks. "
    else:
        words += (
            f"Rank: mean over all {ranks.datasets} data sets, for kernels with a result on each. "
            "Accuracy, balanced accuracy, CPU seconds for the kernel matrices of the whole grid "
            "and peak memory are over the same data sets. Average ranks that differ "
            f"by less than {ranks.critical_difference:.2f} do not differ significantly (Nemenyi "
            f"test, 5 %; Friedman test: p {compared_p(ranks.p)}). "
        )
    given = []
    if limits.seconds is not None:
        given.append(f"{limits.seconds:g} CPU seconds per repetition")
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


#: Titles of the tables with one column per data set, and the format of a cell.
_FIGURES: dict[str, Callable[[Cell], str]] = {
    "Accuracy in per cent": _accuracy,
    "Balanced accuracy in per cent": _balanced,
    "CPU seconds for the kernel matrices of the whole grid": lambda cell: seconds(
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
    """Return a table with one row per kernel, in the order of the league."""
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
    """Format the number of repetitions of a data set."""
    counts = {cell.summary.repetitions for cell in row.cells if cell}
    return f"{min(counts)}-{max(counts)}" if len(counts) > 1 else "".join(map(str, counts))


def _given(data: LabelledGraphs) -> str:
    """Describe the labels and attributes of a data set."""
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
            "datasets": [row.name for row in comparison.rows],
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
    """Return the results of a kernel on each data set, or the limit that stopped it."""
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


# ---------------------------------------------------------------- for a page


def tables(league: dict[str, Any]) -> str:
    """Return all tables in Markdown with headings."""
    kernels, sets = league["kernels"], list(league["majority"])
    parts = ["\n### Ranks and costs\n\n", standings_markdown(league)]
    first = [
        ["*repetitions*", *(_repetitions_words(kernels, name) for name in sets)],
        ["*majority*", *(f"{league['majority'][name]:.1f}" for name in sets)],
    ]
    best = {
        name: max(
            (k["sets"][name]["accuracy"] for k in kernels if "accuracy" in k["sets"].get(name, {})),
            default=None,
        )
        for name in sets
    }

    def accuracy(cell: dict[str, Any], name: str) -> str:
        words = f"{100 * cell['accuracy']:.1f}"
        return f"**{words}**" if cell["accuracy"] == best[name] else words

    for title, words, rows in (
        ("Accuracy in per cent", accuracy, first),
        ("Balanced accuracy in per cent", lambda c, _: f"{100 * c['balanced accuracy']:.1f}", []),
        (
            "CPU seconds for the kernel matrices of the whole grid",
            lambda c, _: _seconds(c["processor seconds"]),
            [],
        ),
        ("Memory for the kernel matrices in MB", lambda c, _: _megabytes(c["memory"]), []),
    ):
        parts += [f"\n### {title}\n\n", by_set(kernels, sets, words, rows, league["failed"])]
    given = [f"- {name}: {words}.\n" for name, words in league["datasets"].items()]
    parts += ["\n### Data sets\n\n", *given]
    if league["failed"]:
        parts += ["\n### Failures\n\n", *_refused(league["failed"])]
    return "".join(parts) + "\n"


def standings_markdown(league: dict[str, Any]) -> str:
    """Return a Markdown table with one row per kernel."""
    total = len(league["majority"])
    rows = [
        [
            item["name"],
            "" if item["rank"] is None else f"{item['rank']:.2f}",
            f"{sum('accuracy' in cell for cell in item['sets'].values())} of {total}",
            "" if item["accuracy"] is None else f"{item['accuracy']:.1f}",
            "" if item["balanced accuracy"] is None else f"{item['balanced accuracy']:.1f}",
            _seconds(item["processor seconds"]),
            _megabytes(item["memory"]),
            "" if item["sees"] is None else ", ".join(item["sees"]) or "structure only",
        ]
        for item in league["kernels"]
    ]
    heads = ["kernel", "rank", "sets", "accuracy", "balanced", "CPU s", "MB", "uses"]
    return markdown(heads, rows)


def by_set(
    kernels: list[dict[str, Any]],
    sets: list[str],
    words: Callable[[dict[str, Any], str], str],
    first: list[list[str]],
    failed: dict[str, dict[str, str]],
) -> str:
    """Return a Markdown table with one row per kernel and one column per data set."""
    rows = list(first)
    for item in kernels:
        cells = []
        for name in sets:
            cell = item["sets"].get(name)
            if cell is None:
                refused = name in failed.get(item["name"], {})
                cells.append("failed" if refused else "")
            elif "stopped" in cell:
                time = cell["stopped"] == "time"
                limit = f"{cell['limit']:g} s" if time else f"{cell['limit'] / 2**30:.3g} GiB"
                cells.append(f"> {limit}")
            else:
                cells.append(words(cell, name))
        rows.append([item["name"], *cells])
    return markdown(["kernel", *sets], rows)


def _repetitions_words(kernels: list[dict[str, Any]], name: str) -> str:
    """Format the number of repetitions of a data set."""
    cells = [item["sets"].get(name, {}) for item in kernels]
    counts = sorted({cell["repetitions"] for cell in cells if "repetitions" in cell})
    return " to ".join(str(number) for number in dict.fromkeys((counts[0], counts[-1])))


def _refused(failed: dict[str, dict[str, str]]) -> list[str]:
    """List the errors, each with its kernel and data sets."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for kernel, reasons in failed.items():
        for name, reason in reasons.items():
            by_reason.setdefault((kernel, reason.partition("; got")[0]), []).append(name)
    return [
        f"- {kernel} on {', '.join(names)}: {reason.rstrip('.')}.\n"
        for (kernel, reason), names in by_reason.items()
    ]


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def _megabytes(value: int | None) -> str:
    return "" if value is None else f"{value / 1e6:,.0f}"


# ---------------------------------------------------------------- the command


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Run missing experiments, then print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.league",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "-d", "--datasets", default=",".join(DATASETS), help="comma-separated names"
    )
    parser.add_argument(
        "-k", "--kernel", default="", help="kernels, auto, self-tuned (default: all)"
    )
    parser.add_argument("--repeats", type=int, help="default: 5 for up to 1,200 graphs, else 1")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--time-limit", type=float, default=SECONDS, help="CPU seconds per repetition"
    )
    parser.add_argument("--memory-limit", type=float, default=MEMORY / 2**30, help="GiB")
    parser.add_argument("-r", "--results", type=Path, default=records_file("league"))
    parser.add_argument("-j", "--n-jobs", type=int, default=1)
    parser.add_argument("--plot", type=Path, help="write the critical difference diagram (.svg)")
    parser.add_argument("--page", type=Path, help="Markdown page in which to replace the tables")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    names = [name for name in given.kernel.split(",") if name]
    sets = []
    for name in given.datasets.split(","):
        graphs, y = load_with_classes(name)
        sets.append(prepare(Path(name).stem, graphs, y, folds=given.folds))
    found = league_table(
        sets,
        [evaluated_row(name) for name in names] or None,
        Protocol("nested", given.folds, seed=given.seed),
        given.repeats,
        Limits(given.time_limit, int(given.memory_limit * 2**30)),
        given.results,
        given.plot,
        given.n_jobs,
        given.json,
    )
    if given.page is not None:
        write_between(given.page, "league", tables(found))
    if given.json:
        print(json.dumps(found, indent=2))
    return found


if __name__ == "__main__":
    main()
