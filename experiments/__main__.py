"""The experiments of the Tree++ paper, for its data sets or others, its kernels or others.

    python -m experiments table2 --datasets PTC_MM,KKI --kernels tree++,wl --repeats 10
    python -m experiments league --datasets MUTAG,PTC_MM --time-limit 60
    python -m experiments page --datasets PTC_MM,KKI -o results.html

table1: the data sets. table2: accuracies, with the parameters of the best test accuracy as in the
paper (optimistic), and with parameters chosen inside the training folds. table3: seconds for the
kernel matrices. figure-k, figure-d: accuracy against the two depths of Tree++. distributions:
sizes and degrees. centralities: the orders of a tree's vertices. league: all kernels under limits
on time and memory. paper: the tables and figures of the paper. page: everything recorded, as HTML.

Finished folds are kept in the file of records; after an interruption, run the same command again
to continue. All kernels use the same folds, and no result depends on the number of threads.

A kernel is a name (tree++, wl, ...), one with parameters ("wl(counts='sqrt')"), a class
(module:Class or file.py:Class), or self-tuned (GraphClassifier). A data set is a name of the TU
collection, or a file; --data is a folder with NAME.zip or NAME.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from graphgrain.cli.options import listed
from graphgrain.errors import MissingDependencyError

from . import figures, paper, tables
from .data import LabelledGraphs, load
from .kernels import (
    applies,
    centrality_entrants,
    entrant,
    figure_entrant,
    league_entrants,
    paper_kernels,
)
from .limits import LimitedRuns, Limits
from .markdown import records_file, write_between
from .page import all_figures, write_page
from .protocol import MODES, Protocol
from .records import Record, Records
from .run import Entrant, run
from .statistics import ranks

FIGURES = ("figure-k", "figure-d")
PARTS = ("table1", "table2", "table3", *FIGURES, "distributions")
WHAT = (*PARTS, "centralities", "league", "paper", "page")
#: Data sets of the league: those of the paper, and others with attributes or without labels.
LEAGUE = (*paper.DATASETS, "MUTAG", "ENZYMES", "IMDB-BINARY", "Letter-high")
#: In the league, data sets with more graphs get one repetition instead of five.
FEW_GRAPHS, LEAGUE_REPEATS = 1200, 5


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(
        prog="python -m experiments",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("what", choices=WHAT)
    made.add_argument("-d", "--datasets", help="comma-separated (default: those of the paper)")
    made.add_argument("-k", "--kernels", help="comma-separated (default: those of the paper)")
    made.add_argument("--repeats", type=int, help="repetitions (default: 10; league: 5 or 1)")
    made.add_argument("--folds", type=int, default=10)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--mode", choices=MODES, help="default: paper for its tables, else nested")
    made.add_argument("--remove-duplicates", action="store_true", help="isomorphic graphs, first")
    made.add_argument("--data", type=Path, help="folder with data sets as NAME.zip or NAME")
    made.add_argument("-r", "--records", type=Path, default=records_file("experiments"))
    made.add_argument("--figures", type=Path, help="folder for the figures (default: figures)")
    made.add_argument("--format", default="svg", choices=("svg", "pdf", "png"))
    made.add_argument("-o", "--output", type=Path, default=Path("results.html"), help="of page")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the numbers; - prints them")
    made.add_argument("--markdown", type=Path, metavar="PAGE", help="replace the tables of a page")
    made.add_argument("-j", "--n-jobs", type=int, default=-1, help="threads (default: all cores)")
    made.add_argument("--time-limit", type=float, help="league: CPU seconds per repetition")
    made.add_argument("--memory-limit", type=float, help="league: GiB")
    return made


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Run what is missing, then print the tables and write the figures."""
    options = parser().parse_args(arguments)
    nested = options.what in ("centralities", "league")
    protocol = Protocol(options.mode or ("nested" if nested else "paper"), options.folds,
                        seed=options.seed)  # fmt: skip
    names = listed([options.datasets] if options.datasets else None)
    names = names or list(LEAGUE if options.what == "league" else paper.DATASETS)
    sets = [load(name, options.data, options.remove_duplicates) for name in names]
    for data in sets:
        if len(data) < options.folds:
            raise SystemExit(f"{data.name} has {len(data)} graphs for {options.folds} folds.")
    records = Records(options.records)
    failed: dict[str, str] = {}
    kernels = [entrant(text) for text in listed([options.kernels] if options.kernels else None)]
    work = _work(options, kernels)
    with _progress(sum(item[1] * options.folds * len(item[0].settings) * len(sets)
                       for item in work)) as advance:  # fmt: skip
        try:
            for data in sorted(sets, key=len):
                for item, repeats in work:
                    wanted = repeats if options.repeats or options.what != "league" else (
                        LEAGUE_REPEATS if len(data) <= FEW_GRAPHS else 1)  # fmt: skip
                    if applies(item, data.graphs) and item.name not in failed:
                        _run(data, item, protocol, wanted, records, options, advance, failed)
        except KeyboardInterrupt:
            raise SystemExit(
                f"Every finished fold is in {records.path}. Run the same command again to continue."
            ) from None
    prints = {data.fingerprint for data in sets}
    own = [record for record in records.records if record.get("fingerprint") in prints]
    values, text = _shown(options, own, sets, [item for item, _ in work], protocol)
    for name, reason in failed.items():
        text += f"\nLeft out: {name}. {reason}\n"
        values.setdefault("missing", {})[name] = reason
    _answer(options, values, text)
    return values


def _work(options: argparse.Namespace, kernels: list[Entrant]) -> list[tuple[Entrant, int]]:
    """Return the kernels to run with their repetitions; 0 measures the time alone."""
    what, repeats = options.what, options.repeats if options.repeats is not None else 10
    if what == "page":
        return []
    if what == "league":
        return [(item, repeats) for item in kernels or league_entrants()]
    if what == "centralities":
        return [(item, repeats) for item in centrality_entrants()]
    parts = PARTS if what == "paper" else (what,)
    work: list[tuple[Entrant, int]] = []
    if {"table2", "table3"} & set(parts):
        times = repeats if "table2" in parts else 0
        work += [(item, times) for item in kernels or paper_kernels()]
    elif kernels:
        raise SystemExit(f"--kernels is for table2, table3 and league; {what} has its own.")
    return work + [(figure_entrant(part), repeats) for part in parts if part in FIGURES]


def _run(
    data: LabelledGraphs,
    item: Entrant,
    protocol: Protocol,
    repeats: int,
    records: Records,
    options: argparse.Namespace,
    advance: Any,
    failed: dict[str, str],
) -> None:
    """Run a kernel on a data set, in a process of its own if there are limits."""
    memory = None if options.memory_limit is None else int(options.memory_limit * 2**30)
    if options.time_limit is None and memory is None:
        try:
            run(data, item, protocol, repeats, records, n_jobs=options.n_jobs, advance=advance)
        except MissingDependencyError as error:
            failed[item.name] = str(error)
        return
    limits = Limits(options.time_limit, memory)
    outcome = LimitedRuns(records, limits, options.n_jobs)(data, item, protocol, repeats, advance)
    if outcome.error:
        print(f"Failed: {item.name} on {data.name}: {outcome.error}", file=sys.stderr)


def _shown(
    options: argparse.Namespace,
    records: list[Record],
    sets: list[LabelledGraphs],
    who: list[Entrant],
    protocol: Protocol,
) -> tuple[dict[str, Any], str]:
    """Return the numbers and the text of what was asked for, and write its figures."""
    values: dict[str, Any] = {}
    parts: list[str] = []
    folder = options.figures or Path("figures")
    kernels = [item for item in who if "figure-" not in item.name]
    drawn: dict[str, Any] = {}
    for part in PARTS if options.what == "paper" else (options.what,):
        text = ""
        if part == "table1":
            values[part], text = tables.table1(sets)
        elif part == "table2":
            values[part], text = tables.table2(records, kernels, protocol)
        elif part == "table3":
            values[part], text = tables.table3(records, sets, kernels)
        elif part in FIGURES:
            found = tables.curves(records, part, protocol)
            values[part], text = tables.curve_table(found, part)
            if found:
                symbol = part[-1]
                drawn[part] = lambda found=found, symbol=symbol: figures.curve_figure(found, symbol)
        elif part == "distributions":
            drawn[part] = partial(figures.distribution_figure, sets)
        elif part == "centralities":
            values[part], text = tables.table2(records, kernels, protocol)
        elif part == "league":
            values, text = tables.league_table(records, sets, kernels, protocol)
            found = tables.results(records, protocol)
            frame = tables.accuracy_frame(found, [item.name for item in who]).dropna(axis=1)
            if options.figures and frame.shape[0] > 1 and frame.shape[1] > 1:
                drawn["league-ranks"] = partial(figures.rank_figure, ranks(frame))
        else:
            write_page(records, sets, options.output, folder)
            drawn = all_figures(records, sets) if options.format != "svg" else {}
            text = f"The page is {options.output}; its figures are in {folder}.\n"
        parts.append(text)
    if drawn:
        paths = figures.write(drawn, folder, options.format)
        values["figures"] = [str(path) for path in paths]
        parts.append(f"Figures: {', '.join(values['figures'])}\n")
    return values, "\n".join(part for part in parts if part)


def _answer(options: argparse.Namespace, values: dict[str, Any], text: str) -> None:
    content = json.dumps(values, indent=2)
    if options.json is not None and str(options.json) == "-":
        print(content)
        return
    print(text)
    if options.json is not None:
        options.json.write_text(content + "\n", encoding="utf-8")
    if options.markdown is not None:
        write_between(options.markdown, options.what, text)


class _progress:
    """Progress bar over all folds, on standard error."""

    def __init__(self, total: int) -> None:
        columns = (
            TextColumn("folds"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        )  # fmt: skip
        self.bars = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bars.add_task("folds", total=total)

    def __enter__(self) -> Any:
        self.bars.start()
        return lambda folds: self.bars.advance(self.task, folds)

    def __exit__(self, *error: object) -> None:
        self.bars.stop()


if __name__ == "__main__":
    main()
