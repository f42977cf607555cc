"""The command report: an HTML page or figures from a results file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ..errors import InvalidParameterError
from ..graphs.batch import counted
from ..writing import is_standard_output
from .app import command
from .console import answer, err, out
from .loading import load
from .options import (
    Errors,
    Id,
    Jobs,
    Json,
    Labels,
    Missing,
    Reading,
    Smiles,
    Target,
    View,
    check_choice,
)

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
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File for the page, or folder for the figures.",
            show_default="report.html or figures",
        ),
    ] = None,
    format: Annotated[
        str, typer.Option(help="html writes a page; pdf, svg and png one file per figure.")
    ] = "html",
    data: Annotated[
        list[str] | None,
        typer.Option(
            help="Data sets of the results, to show their kernel matrices and maps; can be "
            "repeated.",
            metavar="DATA",
        ),
    ] = None,
    paper: Annotated[
        bool, typer.Option(help="Show the values published in the Tree++ paper.")
    ] = True,
    title: Annotated[
        str | None, typer.Option(help="Heading of the page; by default the main result.")
    ] = None,
    target: Target = None,
    id: Id = None,
    smiles: Smiles = None,
    labels: Labels = "",
    errors: Errors = "raise",
    missing: Missing = "raise",
    view: View = None,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Write a self-contained HTML page of results with tables, tests and figures.

    Kernel matrices and maps are shown for available data sets: the bundled drugs, TU data sets that
    were downloaded before or are in the folder GRAPHGRAIN_DATA, and those given by --data; with
    results of many kernels, for the nine most accurate. With --format pdf, svg or png, figures for
    publications are written instead.
    """
    reading = Reading(target, id, smiles, labels, errors, missing, view)
    check_choice("--format", format, FORMATS)
    if format != "html" and output is not None and is_standard_output(output):
        raise InvalidParameterError(
            f"--format {format} writes one file per figure; -o names a folder, not -."
        )
    given: dict[str, tuple[Any, ...]] = {}
    for place in data or []:
        item = load(place, reading)
        # Files in different folders can have the same name.
        given[place if item.name in given else item.name] = (item.graphs, item.y, item.names)
    options: dict[str, Any] = {"paper": paper, "data": given, "n_jobs": n_jobs}
    console = err()
    console.quiet = as_json
    with console.status("reading results") as status:

        def progress(words: str) -> None:
            status.update(escape(words))

        if format == "html":
            from ..report.results_page import write_report

            page = output or Path("report.html")
            written = [write_report(file, page, title=title, progress=progress, **options)]
        else:
            from ..report.figures import write_figures

            folder = output or Path("figures")
            written = write_figures(file, folder, format, progress=progress, **options)
    if as_json:
        answer({"output": [str(path) for path in written]})
    elif format == "html":
        out().print(f"Report written to {escape(str(written[0]))}.")
    else:
        out().print(
            f"{counted(len(written), 'figure')} written to {escape(str(written[0].parent))}."
        )
