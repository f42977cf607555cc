"""The command reproduce: tables and figures of the Tree++ paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from ..errors import InvalidParameterError, MissingDependencyError
from ..evaluation import paper as paper_figures
from ..evaluation.labelled_graphs import LabelledGraphs, prepare
from ..evaluation.paper import FIGURE_D, FIGURE_K, varying_d, varying_k
from ..evaluation.protocol import MODES, Protocol
from ..evaluation.records import Record, read_results, under_protocol
from ..evaluation.summary import accuracy_against, kernel_cost, summarise
from ..graphs.description import describe
from ..kernels.grid import KernelGrid
from ..kernels.registry import KERNELS
from ..report.figures import plot_distributions
from .app import command
from .console import answer, err, out
from .evaluate import RESULTS, Duplicates, Folds, Results, Seed, running
from .kernel_options import kernel_grid
from .loading import load
from .options import (
    Jobs,
    Json,
    check_choice,
    listed,
)
from .tables import accuracy_table, percent, print_table, seconds, text_table

DISTRIBUTIONS = "figure-distributions"
WHAT = ("table1", "table2", "table3", FIGURE_K, FIGURE_D, DISTRIBUTIONS, "all")


@command(
    [
        "graphgrain reproduce table2 --kernel tree++ --datasets PTC_MM,KKI",
        "graphgrain reproduce table3 --datasets BZR,COX2 --kernel tree++,wl,sp",
        "graphgrain reproduce figure-k --repeats 3",
        "graphgrain reproduce all",
    ]
)
def reproduce(
    what: Annotated[str, typer.Argument(help=f"One of {', '.join(WHAT)}.", metavar="WHAT")],
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            "--datasets",
            "-d",
            help="Data sets, such as -d KKI,BZR.",
            show_default="all twelve of the paper",
        ),
    ] = None,
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            "--kernel",
            "-k",
            help="Kernels, such as -k tree++,wl.",
            show_default="all nine of the paper",
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Number of repetitions.")] = 10,
    mode: Annotated[str, typer.Option(help="paper or nested; see `evaluate`.")] = "paper",
    folds: Folds = 10,
    seed: Seed = 0,
    remove_duplicates: Duplicates = False,
    results: Results = RESULTS,
    plot: Annotated[
        Path | None, typer.Option(help=f"File for {DISTRIBUTIONS} (.png, .pdf or .svg).")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with data sets as NAME.zip or NAME.",
            show_default="environment variable GRAPHGRAIN_DATA",
        ),
    ] = None,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Rerun the experiments of the Tree++ paper and compare the results with the published ones.

    table1: the data sets. table2: accuracies, both with parameters validated in each fold and, as
    in the paper, with the parameters of the best test accuracy (optimistic). table3: time for the
    kernel matrices. figure-k, figure-d: accuracy against the two depths of Tree++.
    figure-distributions: sizes and degrees of the graphs. all: all of these.

    Finished folds are stored in the results file; after an interruption, run the same command again
    to continue.
    """
    check_choice("WHAT", what, WHAT)
    check_choice("--mode", mode, MODES)
    protocol = Protocol(mode, folds, seed=seed)
    names = listed(datasets) or list(paper_figures.DATASETS)
    wanted = WHAT[: WHAT.index("all")] if what == "all" else (what,)
    if plot is not None and DISTRIBUTIONS not in wanted:
        raise InvalidParameterError(
            f"--plot is the file of {DISTRIBUTIONS}; {what} has none. Leave it out; `graphgrain "
            "report --format pdf` draws the results."
        )
    if kernel and not {"table2", "table3"} & set(wanted):
        raise InvalidParameterError(
            f"--kernel is for table2 and table3; {what} has no kernel to choose. Leave it out."
        )
    kernels = [kernel_grid(name) for name in listed(kernel) or paper_figures.KERNELS]
    work = _work(wanted, kernels, repeats)
    loaded = [load(_place(name, data)) for name in names]
    sets = [
        prepare(name, graphs, y, remove_duplicates=remove_duplicates, folds=folds)
        for name, graphs, y, *_ in loaded
    ]
    missing: dict[str, str] = {}  # kernels whose optional package is not installed, and why
    if work:
        total = len(sets) * folds * sum(len(item.settings) * times for item, times in work)
        with running(results, total, n_jobs, quiet=as_json) as runner:
            for prepared in sets:
                for item, times in work:
                    if item.name in missing:
                        continue
                    try:
                        runner(prepared, item, protocol, times)
                    except MissingDependencyError as error:
                        missing[item.name] = str(error)
    places = {prepared.place for prepared in sets}
    records = [
        record
        for record in (read_results(results) if work else ())
        if record.place in places and record.deduplicated == remove_duplicates
    ]
    console = out()
    console.quiet = as_json
    machine: dict[str, object] = {}
    for part in wanted:
        if part == "table1":
            machine[part] = _table1(sets, console)
        elif part == "table2":
            machine[part] = _table2(records, kernels, protocol, console)
        elif part == "table3":
            machine[part] = _table3(records, sets, kernels, console)
        elif part == DISTRIBUTIONS:
            path = plot or Path("graphgrain-distributions.png")
            machine[part] = str(path)
            plot_distributions({data.name: data.graphs for data in sets}, path)
            if not as_json:
                err().print(
                    f"Distributions of vertices, edges and degrees are in {escape(str(path))}."
                )
        else:
            machine[part] = _curves(records, part, protocol, console)
    for name, reason in missing.items():
        err().print(f"[yellow]Left out:[/yellow] {escape(f'{KERNELS[name].title}. {reason}')}")
    if as_json:
        answer({**machine, "missing": missing} if missing else machine)
    elif work:
        err().print(
            f"Results are in {escape(str(results))}; `graphgrain report` writes a page of them."
        )


def _place(name: str, folder: Path | None) -> str:
    """Return the path of a data set in a folder; without a folder, its name."""
    if folder is None:
        return name
    for place in (folder / f"{name}.zip", folder / name):
        if place.exists():
            return str(place)
    raise InvalidParameterError(
        f"--data is a folder with data sets as NAME.zip or NAME; {str(folder)!r} has no {name}."
    )


def _work(
    wanted: Sequence[str], kernels: list[KernelGrid], repeats: int
) -> list[tuple[KernelGrid, int]]:
    """Return kernels to evaluate with the number of repetitions; 0 only measures the time."""
    work: list[tuple[KernelGrid, int]] = []
    if "table2" in wanted or "table3" in wanted:
        work += [(item, repeats if "table2" in wanted else 0) for item in kernels]
    work += [(varying_k(), repeats)] if FIGURE_K in wanted else []
    work += [(varying_d(), repeats)] if FIGURE_D in wanted else []
    return work


def _table1(sets: list[LabelledGraphs], console: Console) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    shown = []
    for data in sets:
        ours = describe(data.graphs, data.codes)
        paper = paper_figures.TABLE1.get(data.name)
        figures = (ours.graphs, ours.classes, ours.vertices, ours.edges, ours.vertex_labels)
        cells, theirs = (
            [f"{v:.2f}" if isinstance(v, float) else str(v or "none") for v in values]
            for values in (figures, paper or figures)
        )
        both = [a if a == b else f"{a} (paper {b})" for a, b in zip(cells, theirs, strict=True)]
        shown.append((data.name, *both, ours.duplicates))
        rows.append({"dataset": data.name, "ours": figures, "paper": paper})
    heads = ("graphs", "classes", "vertices", "edges", "labels", "duplicates")
    title = "Table 1: the data sets"
    print_table(console, text_table(["data set", *heads], shown, heads, title))
    return rows


def _table2(
    records: list[Record], kernels: list[KernelGrid], protocol: Protocol, console: Console
) -> dict[str, object]:
    result: dict[str, object] = {}
    columns = {(item.name, item.variant) for item in kernels}
    for select, what in (
        ("reported-best", "parameters with the best test accuracy, as in the paper"),
        ("validated", "parameters selected in each fold"),
    ):
        found = summarise(under_protocol(records, protocol.key), select)
        rows = [row for row in found if (row.kernel, row.variant) in columns]
        result[select] = [row.as_dict() for row in rows]
        title = f"Table 2: accuracy in percent ({what})"
        print_table(console, accuracy_table(rows, title), keys=2)
        console.print()
    for dataset, note in paper_figures.NOTES.items():
        if dataset in {row.dataset for row in rows}:
            console.print(f"[dim]{escape(f'{dataset}: {note}.')}[/dim]")
    return result


def _table3(
    records: list[Record],
    sets: list[LabelledGraphs],
    kernels: list[KernelGrid],
    console: Console,
) -> list[dict[str, object]]:
    """Mean seconds per setting, all levels included."""
    rows: list[dict[str, object]] = []
    shown = []
    for data in sets:
        cells = []
        for item in kernels:
            cost = kernel_cost(records, data.place, item.name, item.variant)
            ours = cost.seconds if cost else None
            paper = paper_figures.TABLE3.get(data.name, {}).get(item.name)
            rows.append(
                {"dataset": data.name, "kernel": item.name, "seconds": ours, "paper": paper}
            )
            cells.append(seconds(ours) + (f" ({seconds(paper)})" if paper is not None else ""))
        shown.append((data.name, *cells))
    heads = [item.title for item in kernels]
    title = "Table 3: seconds for the kernel matrices (published on the authors' machine)"
    print_table(console, text_table(["data set", *heads], shown, heads, title))
    console.print(
        "[dim]measured (published): mean over the settings of the grid, each with all "
        "levels[/dim]\n"
    )
    return rows


def _curves(
    records: list[Record], figure: str, protocol: Protocol, console: Console
) -> list[dict[str, object]]:
    symbol, fixed = ("k", "d = 7") if figure == FIGURE_K else ("d", "k = 1")
    own = [r for r in under_protocol(records, protocol.key) if r.variant == figure]
    found = accuracy_against("tree_depth" if figure == FIGURE_K else "path_depth", own)
    depths = sorted({depth for curve in found for depth in curve.x})
    scores = [dict(zip(curve.x, curve.accuracy, strict=True)) for curve in found]
    heads = [f"{symbol} = {depth}" for depth in depths]
    title = f"Accuracy of Tree++ in percent against {symbol} ({fixed})"
    rows = [
        (curve.name, *(percent(of[depth]) for depth in depths))
        for curve, of in zip(found, scores, strict=True)
    ]
    print_table(console, text_table(["data set", *heads], rows, heads, title))
    console.print()
    return [
        {
            "dataset": curve.name,
            "repetitions": curve.repetitions,
            "accuracy": {str(x): [score.mean, score.std] for x, score in of.items()},
        }
        for curve, of in zip(found, scores, strict=True)
    ]
