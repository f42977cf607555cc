"""The command reproduce: the tables and figures of the Tree++ paper."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ..errors import InvalidParameterError, MissingDependencyError
from ..evaluation import published
from ..evaluation.accuracy_curves import accuracy_against
from ..evaluation.costs import kernel_cost
from ..evaluation.labelled_graphs import LabelledGraphs, prepare
from ..evaluation.league import DATASETS, MEMORY, SECONDS
from ..evaluation.limits import Limits
from ..evaluation.protocol import MODES, Protocol
from ..evaluation.records import Record, under_protocol
from ..evaluation.results_file import read_results
from ..evaluation.studies import FIGURE_D, FIGURE_K, table_kernels, varying_d, varying_k
from ..evaluation.summary import summarise
from ..kernels.grid import KernelGrid
from ..kernels.registry import KERNELS
from .app import answer, command, err, out
from .arguments import Jobs, Json, check_choice, listed
from .evaluate import RESULTS, Duplicates, Folds, Results, Seed
from .evaluated_rows import evaluated_row
from .kernel_options import kernel_grid
from .league import league_table
from .loading import load
from .molecule_benchmarks import moleculeace, molhiv
from .result_tables import accuracy_table, percent, seconds
from .running import running
from .self_tuned_table import self_tuned_table
from .wide_tables import print_table

DISTRIBUTIONS = "figure-distributions"
BEYOND = "beyond"
MOLECULEACE = "moleculeace"
MOLHIV = "molhiv"
LEAGUE = "league"
WHAT = (
    *("table1", "table2", "table3", FIGURE_K, FIGURE_D, DISTRIBUTIONS, "all"),
    *(BEYOND, MOLECULEACE, MOLHIV, LEAGUE),
)


@command(
    [
        "graphgrain reproduce table2 --kernel tree++ --datasets PTC_MM,KKI",
        "graphgrain reproduce table3 --datasets BZR,COX2 --kernel tree++,wl,sp",
        "graphgrain reproduce figure-k --repeats 3",
        "graphgrain reproduce all",
        "graphgrain reproduce beyond --datasets BZR,PTC_FR --repeats 3",
        "graphgrain reproduce moleculeace --data ../shared/data",
        "graphgrain reproduce molhiv --data ../shared/data --repeats 3",
        "graphgrain reproduce league --datasets MUTAG,PTC_MM --time-limit 60",
    ]
)
def reproduce(
    what: Annotated[str, typer.Argument(help=f"One of {', '.join(WHAT)}.", metavar="WHAT")],
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            "--datasets",
            "-d",
            help="Data sets, as -d KKI,BZR.",
            show_default="the paper's twelve; four more for league",
        ),
    ] = None,
    kernel: Annotated[
        list[str] | None,
        typer.Option(
            "--kernel",
            "-k",
            help="Kernels, as -k tree++,wl; for league also auto and self-tuned, see `evaluate`.",
            show_default="the paper's nine; all for league",
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of repetitions; for league, 0 shows what the results hold.",
            show_default="10; for league 5 on sets with up to 1,200 graphs, else 1",
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            help="paper or nested; see `evaluate`.", show_default="paper; nested for beyond, league"
        ),
    ] = None,
    folds: Folds = 10,
    seed: Seed = 0,
    remove_duplicates: Duplicates = False,
    results: Results = RESULTS,
    plot: Annotated[
        Path | None,
        typer.Option(
            help=f"File for {DISTRIBUTIONS} (.png, .pdf or .svg), or for the critical difference "
            "diagram of league (.svg)."
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with data sets as NAME.zip or NAME, and with the folder molecules for "
            "moleculeace and molhiv.",
            show_default="what the environment variable GRAPHGRAIN_DATA names",
        ),
    ] = None,
    time_limit: Annotated[
        float,
        typer.Option(
            min=1,
            help="For league: processor seconds that a kernel may take on a data set for one "
            "repetition, its kernel matrices included.",
        ),
    ] = SECONDS,
    memory_limit: Annotated[
        float,
        typer.Option(
            min=0.01, help="For league: memory that a kernel may take on a data set, in GiB."
        ),
    ] = MEMORY / 2**30,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Rerun the experiments of the Tree++ paper and show its figures next to ours.

    table1: the data sets. table2: accuracies, both with parameters validated inside each fold
    and, as in the paper, with the parameters of the best test accuracy (optimistic). table3: time
    for the kernel matrices. figure-k, figure-d: accuracy against the two depths of Tree++.
    figure-distributions: sizes and degrees of the graphs. all: all of these.

    beyond: not in the paper. Tree++ as published next to Tree++ that chooses count map, edge labels
    and, for the *_MD sets, the view on chemical bonds only, inside the training graphs of each
    fold; both also without isomorphic duplicates. Beside them the kernel with the best published
    figure on the data set, on the same folds.

    moleculeace: errors of TreePlusPlusRegressor() and of ECFP4 with a support vector machine on
    the 30 sets of MoleculeACE, beside the 24 published methods; on all test molecules and on those
    of activity cliffs. molhiv: ROC AUC of TreePlusPlusClassifier and of ECFP4 with logistic
    regression and with a random forest on the HIV set, split by scaffold as ogbg-molhiv is.

    league: every kernel on every data set, nested, on the same folds, and average ranks with their
    critical difference. A kernel that runs over a limit is stopped, the table says so, and it is
    not tried again unless the limit is raised.

    Finished folds are kept in the results file; after an interruption the same command goes on.
    """
    check_choice("WHAT", what, WHAT)
    if data is not None:
        os.environ["GRAPHGRAIN_DATA"] = str(data)  # processes that are begun look there too
    mode = mode or ("nested" if what in (BEYOND, LEAGUE) else "paper")
    check_choice("--mode", mode, ("nested",) if what == LEAGUE else MODES)
    protocol = Protocol(mode, folds, seed=seed)
    if what == MOLECULEACE:
        found = moleculeace(listed(datasets) or None, data, results, n_jobs, as_json)
        if as_json:
            answer({what: found})
        return
    if what == LEAGUE:
        taking_part = [evaluated_row(name) for name in listed(kernel)] or None
        limits = Limits(time_limit, int(memory_limit * 2**30))
        names = listed(datasets) or list(DATASETS)
        sets = [
            prepare(name, graphs, y, remove_duplicates=remove_duplicates, folds=folds)
            for name, graphs, y, *_ in map(load, names)
        ]
        table = league_table(
            sets, taking_part, protocol, repeats, limits, results, plot, n_jobs, as_json
        )
        if as_json:
            answer({what: table})
        return
    if repeats == 0:
        raise InvalidParameterError(f"--repeats 0 is for league; {what} needs 1 or more.")
    repeats = repeats or 10
    if what == MOLHIV:
        areas = molhiv(repeats, data, results, n_jobs, as_json)
        if as_json:
            answer({what: areas})
        return
    names = listed(datasets) or list(published.DATASETS)
    if what == BEYOND:
        rows = self_tuned_table(names, protocol, repeats, results, n_jobs, as_json)
        if as_json:
            answer({BEYOND: rows})
        return
    wanted = WHAT[: WHAT.index("all")] if what == "all" else (what,)
    kernels = [kernel_grid(name) for name in listed(kernel) or table_kernels()]
    work = _work(wanted, kernels, repeats)
    loaded = [load(name) for name in names]
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
    fingerprints = {prepared.fingerprint for prepared in sets}
    records = [r for r in read_results(results) if r.fingerprint in fingerprints] if work else []
    machine: dict[str, object] = {}
    for part in wanted:
        if part == "table1":
            machine[part] = _table1(sets, as_json)
        elif part == "table2":
            machine[part] = _table2(records, kernels, protocol, as_json)
        elif part == "table3":
            machine[part] = _table3(records, sets, kernels, as_json)
        elif part == DISTRIBUTIONS:
            machine[part] = _distributions(sets, plot, as_json)
        else:
            machine[part] = _curves(records, part, protocol, as_json)
    for name, reason in missing.items():
        err().print(f"[yellow]Left out:[/yellow] {escape(f'{KERNELS[name].title}. {reason}')}")
    if as_json:
        answer({**machine, "missing": missing} if missing else machine)
    elif work:
        err().print(
            f"Results are in {escape(str(results))}; `graphgrain report` makes a page of them."
        )


def _work(
    wanted: Sequence[str], kernels: list[KernelGrid], repeats: int
) -> list[tuple[KernelGrid, int]]:
    """Kernels to evaluate, with the number of repetitions; 0 only measures the time."""
    work: list[tuple[KernelGrid, int]] = []
    if "table2" in wanted or "table3" in wanted:
        work += [(item, repeats if "table2" in wanted else 0) for item in kernels]
    work += [(varying_k(), repeats)] if FIGURE_K in wanted else []
    work += [(varying_d(), repeats)] if FIGURE_D in wanted else []
    return work


def _table1(sets: list[LabelledGraphs], quiet: bool) -> list[dict[str, object]]:
    from ..graphs.description import describe

    rows: list[dict[str, object]] = []
    table = Table(title="Table 1: the data sets", box=None, title_justify="left", pad_edge=False)
    table.add_column("data set")
    for name in ("graphs", "classes", "vertices", "edges", "labels", "duplicates"):
        table.add_column(name, justify="right")
    for data in sets:
        ours = describe(data.graphs, data.codes)
        paper = published.TABLE1.get(data.name)
        figures = (ours.graphs, ours.classes, ours.vertices, ours.edges, ours.vertex_labels)
        cells = [f"{v:.2f}" if isinstance(v, float) else str(v) for v in figures]
        if paper is not None:
            theirs = [f"{v:.2f}" if isinstance(v, float) else str(v) for v in paper]
            cells = [
                a if a == b else f"{a} (paper {b})" for a, b in zip(cells, theirs, strict=True)
            ]
        table.add_row(escape(data.name), *cells, str(ours.duplicates))
        rows.append({"dataset": data.name, "ours": figures, "paper": paper})
    if not quiet:
        print_table(out(), table)
    return rows


def _table2(
    records: list[Record], kernels: list[KernelGrid], protocol: Protocol, quiet: bool
) -> dict[str, object]:
    result: dict[str, object] = {}
    for select in ("reported-best", "validated"):
        rows = [
            row
            for row in summarise(under_protocol(records, protocol.key), select)
            if (row.kernel, row.variant) in {(item.name, item.variant) for item in kernels}
        ]
        result[select] = [row.as_dict() for row in rows]
        if not quiet:
            what = {
                "reported-best": "parameters with the best test accuracy, as in the paper",
                "validated": "parameters chosen inside each fold",
            }[select]
            title = f"Table 2: accuracy in per cent ({what})"
            print_table(out(), accuracy_table(rows, title), keys=2)
            out().print()
            shown = {row.dataset for row in rows}
    if not quiet:
        for dataset, note in published.NOTES.items():
            if dataset in shown:
                out().print(f"[dim]{escape(f'{dataset}: {note}.')}[/dim]")
    return result


def _table3(
    records: list[Record], sets: list[LabelledGraphs], kernels: list[KernelGrid], quiet: bool
) -> list[dict[str, object]]:
    """Mean seconds per setting, all levels included."""
    table = Table(
        title="Table 3: seconds for the kernel matrices (paper's on its own machine)",
        box=None,
        title_justify="left",
        pad_edge=False,
    )
    table.add_column("data set")
    for item in kernels:
        table.add_column(item.title, justify="right")
    rows: list[dict[str, object]] = []
    for data in sets:
        cells = []
        for item in kernels:
            cost = kernel_cost(records, data.name, data.fingerprint, item.name, item.variant)
            ours = cost.seconds if cost else None
            paper = published.TABLE3.get(data.name, {}).get(item.name)
            rows.append(
                {"dataset": data.name, "kernel": item.name, "seconds": ours, "paper": paper}
            )
            cells.append(seconds(ours) + (f" ({seconds(paper)})" if paper is not None else ""))
        table.add_row(escape(data.name), *cells)
    if not quiet:
        print_table(out(), table)
        out().print(
            "[dim]ours (paper's): mean over the settings of the grid, all levels of "
            "each included[/dim]\n"
        )
    return rows


def _curves(
    records: list[Record], figure: str, protocol: Protocol, quiet: bool
) -> list[dict[str, object]]:
    symbol, fixed = ("k", "d = 7") if figure == FIGURE_K else ("d", "k = 1")
    table = Table(
        title=f"Accuracy of Tree++ in per cent against {symbol} ({fixed})",
        box=None,
        title_justify="left",
        pad_edge=False,
    )
    table.add_column("data set")
    own = [r for r in under_protocol(records, protocol.key) if r.variant == figure]
    found = accuracy_against("tree_depth" if figure == FIGURE_K else "path_depth", own)
    depths = sorted({depth for curve in found for depth in curve.x})
    for depth in depths:
        table.add_column(f"{symbol} = {depth}", justify="right")
    rows: list[dict[str, object]] = []
    for curve in found:
        scores = dict(zip(curve.x, curve.accuracy, strict=True))
        table.add_row(escape(curve.name), *(percent(scores[depth]) for depth in depths))
        rows.append(
            {
                "dataset": curve.name,
                "repetitions": curve.repetitions,
                "accuracy": {str(x): [score.mean, score.std] for x, score in scores.items()},
            }
        )
    if not quiet:
        print_table(out(), table)
        out().print()
    return rows


def _distributions(sets: list[LabelledGraphs], plot: Path | None, quiet: bool) -> str:
    from ..report.distributions import plot_distributions

    path = plot or Path("graphgrain-distributions.png")
    plot_distributions({data.name: data.graphs for data in sets}, path)
    if not quiet:
        err().print(f"Distributions of vertices, edges and degrees are in {escape(str(path))}.")
    return str(path)
