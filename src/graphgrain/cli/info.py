"""The command info: what a data set is like."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ..graphs.description import describe, text_histogram
from .app import answer, command, err, out
from .arguments import Data, Json, Reading
from .loading import load


@command(
    [
        "graphgrain info drugs",
        "graphgrain info MUTAG --plot mutag.png",
        "graphgrain info my_molecules.csv --target active --json",
    ]
)
def info(
    data: Data,
    reading: Reading,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the distributions into this .png, .pdf or .svg.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what a data set is like: sizes, labels, classes, duplicates."""
    loaded = load(data, reading)
    found = describe(loaded.graphs, loaded.y)
    if plot is not None:
        from ..report.distributions import plot_distributions

        plot_distributions(loaded.graphs, plot, name=loaded.name)
    if as_json:
        answer({"name": loaded.name, **asdict(found)})
        return
    table = Table(title=escape(loaded.name), box=None, show_header=False, title_justify="left")
    table.add_column(style="dim")
    for key, value in asdict(found).items():
        shown = "none" if value is None else f"{value:,.2f}" if isinstance(value, float) else value
        table.add_row(key.replace("_", " "), f"{shown:,}" if isinstance(shown, int) else shown)
    out().print(table)
    out().print(f"\nvertices per graph\n{text_histogram(loaded.graphs.vertex_counts)}")
    if plot is not None:
        err().print(f"Figure written to {escape(str(plot))}.")
