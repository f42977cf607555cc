"""The command datasets: the data sets that have a name."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ..graphs.datasets import fetch
from .app import answer, command, err, out
from .arguments import Json, nearest
from .tables import print_table


@command(["graphgrain datasets", "graphgrain datasets mutagen", "graphgrain datasets --json"])
def datasets(
    search: Annotated[str, typer.Argument(help="Only those whose name or domain has this.")] = "",
    as_json: Json = False,
) -> None:
    """List the data sets that have a name: the bundled drugs and the TU collection."""
    found = [
        item
        for item in [*fetch.tu_datasets(), fetch.bundled_data_set()]
        if search.lower() in item.name.lower() or search.lower() in item.domain.lower()
    ]
    if as_json:
        answer([asdict(item) for item in found])
        return
    if not found:
        close = nearest(search, [item.name for item in fetch.tu_datasets()])
        err().print(
            f"No data set has {escape(repr(search))} in its name or domain. {close}"
            "`graphgrain datasets` lists all."
        )
        return
    table = Table("name", "domain", box=None)
    for column in ("graphs", "classes", "vertices", "edges"):
        table.add_column(column, justify="right")
    table.add_column("labels")
    for item in found:
        marks = ("vertices" if item.vertex_labels else "", "edges" if item.edge_labels else "")
        table.add_row(
            item.name,
            item.domain,
            f"{item.graphs:,}",
            "values" if item.classes is None else str(item.classes),
            "" if item.vertices is None else f"{item.vertices:.2f}",
            "" if item.edges is None else f"{item.edges:.2f}",
            ", ".join(mark for mark in marks if mark),
        )
    print_table(out(), table)
    if not search:
        out().print("\ndrugs comes with graphgrain; the others are downloaded on demand.")
