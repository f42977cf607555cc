"""The command explore: a page to look around in a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from ..evaluation.exploration import MOST_GRAPHS
from ..evaluation.exploration import explore as compute
from ..report.graph_pages import explore_page
from ..writing import atomic_write
from .app import answer, command, err, out
from .arguments import Data, Jobs, Json, Reading
from .loading import load


@command(
    [
        "graphgrain explore drugs",
        "graphgrain explore molecules.csv --target active -o molecules.html",
        "graphgrain explore MUTAG --most 100",
    ]
)
def explore(
    data: Data,
    reading: Reading,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page.")] = Path(
        "explore.html"
    ),
    most: Annotated[
        int, typer.Option(help="Of more graphs than this, a sample is shown.", min=4)
    ] = MOST_GRAPHS,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Write a page to look around in: a map, each graph drawn, its prediction and why.

    One HTML file that needs nothing else. A click on the map shows a graph, what is predicted of it
    by a model that has not seen it, the fragments and vertices behind that, and its nearest
    neighbours with what is different in them. Without a target: the map and the neighbours.
    """
    loaded = load(data, reading).with_classes()
    with err().status(f"Looking at {escape(loaded.name)}"):
        found = compute(
            loaded.name, loaded.graphs, loaded.y, loaded.names, most=most, n_jobs=n_jobs
        )
        with atomic_write(output, "The page") as file:
            file.write(explore_page(found).encode())
    if as_json:
        answer({"page": str(output), "graphs": len(found.graphs), "score": found.score})
        return
    if found.score is None:
        right = "no target to predict"
    elif found.classes:
        right = f"{100 * found.score:.1f} % of the predictions right"
    else:
        right = f"predictions with R2 {found.score:.3f}"
    out().print(
        f"{len(found.graphs):,} graphs, {right}. Open "
        f"[bold]{escape(str(output))}[/bold] in a browser."
    )
