"""The command report: one page from a results file, or its figures for a paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from .app import answer, command, err, out
from .arguments import Jobs, Json, Reading, check_choice
from .loading import load

FORMATS = ("html", "pdf", "svg", "png")


@command(
    [
        "graphgrain report graphgrain-results.jsonl -o report.html",
        "graphgrain report graphgrain-results.jsonl --format pdf -o figures",
        "graphgrain report graphgrain-results.jsonl --data my-graphs.zip",
        "graphgrain evaluate drugs --repeats 3 && graphgrain report graphgrain-results.jsonl",
    ]
)
def report(
    file: Annotated[Path, typer.Argument(help="A results file.", metavar="RESULTS")],
    reading: Reading,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The page to write, or the folder for figures.",
            show_default="report.html or figures",
        ),
    ] = None,
    format: Annotated[
        str, typer.Option(help="html makes a page; pdf, svg and png one file per figure.")
    ] = "html",
    data: Annotated[
        list[str] | None,
        typer.Option(
            help="Graphs of the results, to show their kernel matrix and map; may be repeated.",
            metavar="DATA",
        ),
    ] = None,
    paper: Annotated[bool, typer.Option(help="Show the figures of the Tree++ paper.")] = True,
    title: Annotated[
        str | None, typer.Option(help="Heading of the page; by default what was found.")
    ] = None,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Make one self-contained HTML page of results: tables, tests, figures, pictures.

    Kernel matrices and maps are shown for graphs that are at hand: the bundled drugs, data sets of
    the TU collection that were downloaded before or lie in the folder GRAPHGRAIN_DATA, and what
    --data names; with results of many kernels, for the nine most accurate. With --format pdf, svg
    or png the figures are drawn for a paper instead.
    """
    check_choice("--format", format, FORMATS)
    loaded = [load(item, reading) for item in data or []]
    given = {item.name: (item.graphs, item.y, item.names) for item in loaded}
    options: dict[str, Any] = {"paper": paper, "data": given, "n_jobs": n_jobs}
    with _telling(as_json) as progress:
        if format == "html":
            from ..report.results_page import write_report

            page = output or Path("report.html")
            written = [write_report(file, page, title=title, progress=progress, **options)]
        else:
            from ..report.figures import write_figures

            place = output or Path("figures")
            written = write_figures(file, place, format, progress=progress, **options)
    if as_json:
        answer({"output": [str(path) for path in written]})
    elif format == "html":
        out().print(f"Report written to {escape(str(written[0]))}.")
    else:
        out().print(f"{len(written)} figures written to {escape(str(written[0].parent))}.")


@contextmanager
def _telling(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show what is computed while it lasts."""
    if quiet:
        yield lambda words: None
        return
    with err().status("reading results") as status:
        yield lambda words: status.update(escape(words))
