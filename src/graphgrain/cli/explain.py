"""The commands explain and explore: why a model says what it says, of one graph or of all."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ..errors import InvalidParameterError
from ..evaluation.exploration import MOST_GRAPHS, explain_row
from ..evaluation.exploration import explore as compute
from ..report.graph_pages import explanation_page, explore_page
from ..writing import atomic_write, suffix_of
from .app import answer, command, err, out
from .arguments import Data, Jobs, Json, Reading
from .loading import load


@command(
    [
        "graphgrain explain drugs --row 222",
        "graphgrain explain molecules.csv --target active --row 17 -o why.html",
        "graphgrain explain MUTAG --row 1 -o why.svg",
    ]
)
def explain(
    data: Data,
    reading: Reading,
    row: Annotated[int, typer.Option(help="Which graph, counted from 1.", metavar="NUMBER")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A page (.html) or a picture (.svg).")
    ] = None,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Explain what is predicted of one graph: the patterns, atoms and bonds behind it.

    A linear model learns from all other graphs that have a target, predicts this one and tells
    which of its patterns decide, exactly.
    """
    form = None if output is None else suffix_of(output, ".html")
    if form not in (None, ".html", ".svg"):
        raise InvalidParameterError(
            f"An explanation is written as .html or .svg; got {str(output)!r}."
        )
    loaded = load(data, reading, all_rows=True).with_classes()
    if loaded.y is None:
        raise InvalidParameterError(f"explain needs classes or numbers to learn; {data} has none.")
    if not 1 <= row <= len(loaded.graphs):
        raise InvalidParameterError(
            f"--row is a number from 1 to {len(loaded.graphs):,}, the graphs of {loaded.name}; got "
            f"{row}."
        )
    with err().status(f"Learning from {escape(loaded.name)}"):
        all_seen, why = explain_row(loaded.graphs, loaded.y, row - 1, loaded.names, n_jobs=n_jobs)
    seen = all_seen[0]
    if output is not None:
        text = (
            why.to_svg(theme="auto")
            if form == ".svg"
            else explanation_page(loaded.name, all_seen, len(loaded.graphs) - 1)
        )
        with atomic_write(output, "The explanation") as file:
            file.write(text.encode())
    if as_json:
        answer(
            {
                "name": seen.name,
                "prediction": seen.prediction,
                "truth": seen.truth,
                "decision": why.decision,
                "bias": why.bias,
                "vertices": why.vertices.tolist(),
                "edges": why.edges.tolist(),
                "fragments": [
                    {"name": f.name, "contribution": f.contribution, "vertices": list(f.vertices)}
                    for f in why.fragments()
                ],
                "patterns": [
                    {"name": p.name, "contribution": p.contribution, "count": p.count}
                    for p in why.top(20)
                ],
                "output": None if output is None else str(output),
            }
        )
        return
    known = "" if seen.truth is None else f" (is {escape(str(seen.truth))})"
    out().print(
        f"[bold]{escape(seen.name)}[/bold]: predicted [bold]{escape(str(seen.prediction))}[/bold]"
        f"{known}, decision {seen.decision:+.3g} of which {seen.bias:+.3g} is bias."
    )
    table = Table("fragment", box=None)
    table.add_column("adds", justify="right")
    for name, adds, _ in seen.fragments:
        table.add_row(escape(name), f"{adds:+.3g}")
    out().print(table)
    table = Table("pattern", box=None)
    table.add_column("adds", justify="right")
    table.add_column("times", justify="right")
    for name, adds, times, _ in seen.patterns:
        table.add_row(escape(name), f"{adds:+.3g}", str(times))
    out().print(table)
    if output is not None:
        out().print(f"Open [bold]{escape(str(output))}[/bold] in a browser.")


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
