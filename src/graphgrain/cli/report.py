"""The command report: one page from a results file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from .app import answer, command, out
from .data import Jobs, Json


@command(
    "report",
    [
        "graphgrain report graphgrain-results.jsonl -o report.html",
        "graphgrain evaluate drugs --repeats 3 && graphgrain report graphgrain-results.jsonl",
    ],
)
def report(
    results: Annotated[Path, typer.Argument(help="A results file.", metavar="RESULTS")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")] = Path(
        "report.html"
    ),
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Make one self-contained HTML page of results: tables, tests, figures, pictures."""
    from ..report.page import write_report

    write_report(results, output, n_jobs=n_jobs)
    if as_json:
        answer({"output": str(output)})
        return
    out().print(f"Report written to {escape(str(output))}.")
