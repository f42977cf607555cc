"""The commands explain and explore: why a model says what it says, of one graph or of all."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ..errors import InvalidParameterError
from ..evaluation.exploration import MOST_GRAPHS, Seen, explain_rows
from ..evaluation.exploration import explore as compute
from ..explaining.explanation import Explanation
from ..graphs.convert.rdkit import LabelOptions
from ..learning.model_file import load_model
from ..report.graph_pages import explanation_page, explore_page
from ..writing import atomic_write, suffix_of
from .app import answer, command, err, out
from .arguments import Data, Jobs, Json, Reading, output_file
from .learn import training_table
from .loading import load
from .tables import text_table


@command(
    [
        "graphgrain explain drugs --row 222",
        "graphgrain explain molecules.csv --target active --row 17,20-22 -o why.html",
        "graphgrain explain new.smi --model model.ggm --row 1",
        "graphgrain explain MUTAG --row 1 -o why.svg",
    ]
)
def explain(
    data: Data,
    reading: Reading,
    row: Annotated[
        str,
        typer.Option(help="Which graphs, counted from 1: 17, or 17,20-22.", metavar="NUMBER,..."),
    ],
    model: Annotated[
        Path | None,
        typer.Option(help="Explain this model, which fit has written.", metavar="MODEL"),
    ] = None,
    output: Annotated[
        Path | None, output_file("A page (.html); of one graph also a picture (.svg, .png).")
    ] = None,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Explain what is predicted of graphs: the patterns, atoms and bonds behind it.

    The estimator that chooses its own kernels learns from all other graphs that have a target,
    predicts these and tells which of their patterns decide, exactly, and how sure it is. With
    --model nothing is learned, and no target is needed.
    """
    form = None if output is None else suffix_of(output, ".html")
    if form not in (None, ".html", ".svg", ".png"):
        raise InvalidParameterError(
            f"An explanation is written as .html, .svg or .png; got {str(output)!r}."
        )
    fitted = None if model is None else load_model(model)
    told = getattr(fitted, "reading_", {"labels": [], "columns": []})
    if told["labels"]:  # molecules are read as they were when the model was trained
        labels = dict(zip(LabelOptions._fields, told["labels"], strict=True))
        for name, used in labels.items():
            if getattr(reading, name) and not used:
                raise InvalidParameterError(
                    f"--{name} is not what the model was trained with: it reads molecules as they "
                    f"were read then. Leave --{name} out."
                )
        reading = replace(reading, **labels)
    loaded = load(data, reading, all_rows=True)
    loaded = loaded if fitted is not None and loaded.y is None else loaded.with_classes()
    if loaded.y is None and fitted is None:
        raise InvalidParameterError(
            f"explain needs classes or numbers to learn; {data} has none. Give it a model with "
            "--model."
        )
    rows = _rows(row, len(loaded.graphs), loaded.name)
    if form in (".svg", ".png") and len(rows) > 1:
        raise InvalidParameterError(
            f"A picture shows one graph, not {len(rows)}; write a page, such as -o why.html."
        )
    X, learned = None, f"{len(loaded.graphs) - len(rows):,} other graphs of {loaded.name}"
    if fitted is not None:
        table = training_table(loaded, told["columns"], fitted.descriptors, reading)
        X = _at(table, rows)
        learned = f"{fitted.n_graphs_:,} graphs"
    doing = "Learning from" if fitted is None else "Asking about"
    with err().status(f"{doing} {escape(loaded.name)}"):
        seen, whys = explain_rows(
            loaded.graphs, loaded.y, rows, loaded.names, model=fitted, X=X, n_jobs=n_jobs
        )
    if output is not None:
        if form == ".png":
            content = whys[0].to_png()
        elif form == ".svg":
            content = whys[0].to_svg(theme="auto").encode()
        else:
            content = explanation_page(loaded.name, seen, len(rows), learned).encode()
        with atomic_write(output, "The explanation") as file:
            file.write(content)
    if as_json:
        found = [_as_json(*each, output) for each in zip(seen, whys, strict=False)]
        answer(found[0] if len(found) == 1 else found)
        return
    for one in seen[: len(rows)]:
        _print(one)
    if output is not None:
        out().print(f"Open [bold]{escape(str(output))}[/bold] in a browser.")


def _rows(text: str, graphs: int, name: str) -> list[int]:
    """Numbers and ranges, counted from 1, as positions."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise InvalidParameterError(
                f"--row is a number, or numbers and ranges, such as 17,20-22; got {text!r}."
            )
        begin, end = int(first), int(last or first)
        if not 1 <= begin <= end <= graphs:
            raise InvalidParameterError(
                f"--row is a number from 1 to {graphs:,}, the graphs of {name}; got {part.strip()}."
            )
        found += range(begin, end + 1)
    return [number - 1 for number in dict.fromkeys(found)]


def _at(table: Any, rows: list[int]) -> Any:
    """Some rows of what a model takes."""
    if isinstance(table, dict):
        return {name: _at(values, rows) for name, values in table.items()}
    return [table[row] for row in rows] if isinstance(table, list) else table[rows]


def _as_json(seen: Seen, why: Explanation, output: Path | None) -> dict[str, Any]:
    return {
        "name": seen.name,
        "prediction": seen.prediction,
        "truth": seen.truth,
        "probability": seen.probability,
        "interval": seen.interval,
        "decision": why.decision,
        "bias": why.bias,
        "vertices": why.vertices.tolist(),
        "edges": why.edges.tolist(),
        "fragments": [
            {"name": f.name, "contribution": f.contribution, "vertices": list(f.vertices)}
            for f in why.fragments()
        ],
        "patterns": [
            {"name": p.name, "contribution": p.contribution, "count": p.count} for p in why.top(20)
        ],
        "output": None if output is None else str(output),
    }


def _print(seen: Seen) -> None:
    known = "" if seen.truth is None else f" (is {escape(str(seen.truth))})"
    sure = ""
    if seen.probability is not None:
        sure = f", {100 * seen.probability:.0f} % sure"
    elif seen.interval is not None:
        low, high = seen.interval
        sure = f", {low:.4g} to {high:.4g} with a probability of 90 %"
    out().print(
        f"[bold]{escape(seen.name)}[/bold]: predicted [bold]{escape(str(seen.prediction))}[/bold]"
        f"{sure}{known}, decision {seen.decision:+.3g} of which {seen.bias:+.3g} is bias."
    )
    fragments = [(name, f"{adds:+.3g}") for name, adds, _ in seen.fragments]
    out().print(text_table(("fragment", "adds"), fragments, ("adds",)))
    patterns = [(name, f"{adds:+.3g}", times) for name, adds, times, _ in seen.patterns]
    out().print(text_table(("pattern", "adds", "times"), patterns, ("adds", "times")))


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
    output: Annotated[Path, output_file("The page.")] = Path("explore.html"),
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
