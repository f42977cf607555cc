"""The commands explain and explore: explain predictions for some graphs or a whole data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape

from ..errors import InvalidParameterError
from ..evaluation.exploration import MOST_GRAPHS, Seen, explain_rows
from ..evaluation.exploration import explore as compute
from ..explaining.explanation import Explanation
from ..graphs.batch import counted
from ..graphs.files.molecules import missing_values
from ..learning.model_file import load_model
from ..pages.graph_pages import explanation_page, explore_page
from ..writing import atomic_write, suffix_of
from .app import command
from .console import answer, err, out
from .loading import Loaded, load, row_names, with_labels
from .models import labels_of, model_input, molecules_of
from .options import (
    Data,
    Errors,
    Id,
    Jobs,
    Json,
    Labels,
    Missing,
    ModelOption,
    Most,
    OptionalOutput,
    Output,
    Reading,
    Row,
    Smiles,
    Target,
    View,
)
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
    row: Row,
    model: ModelOption = None,
    output: OptionalOutput = None,
    target: Target = None,
    id: Id = None,
    smiles: Smiles = None,
    labels: Labels = "",
    errors: Errors = "raise",
    missing: Missing = "raise",
    view: View = None,
    jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Explain predictions by patterns, atoms and bonds.

    A self-tuning estimator is fitted to all other graphs that have a target, and predicts these.
    The contributions of their patterns are exact, and the uncertainty of each prediction is shown.
    With --model nothing is fitted, and no target is needed.
    """
    reading = Reading(target, id, smiles, labels, errors, missing, view)
    form = None if output is None else suffix_of(output, ".html")
    if form not in (None, ".html", ".svg", ".png"):
        raise InvalidParameterError(
            f"An explanation is written as .html, .svg or .png; got {str(output)!r}."
        )
    fitted = None if model is None else load_model(model)
    if fitted is not None and reading.view:
        raise InvalidParameterError(
            "A model has its own view; got --view as well. Leave it out, and give it to fit."
        )
    if fitted is not None:  # read molecules with the label options of training
        reading = with_labels(reading, labels_of(fitted), "The model was trained")
    loaded = load(data, reading, all_rows=True).with_one_target()
    loaded = loaded if fitted is not None and loaded.y is None else loaded.with_classes()
    if loaded.y is None and fitted is None:
        raise InvalidParameterError(
            f"explain needs classes or numbers as targets; {data} has none. Give it a model with "
            "--model."
        )
    rows = _positions(row, loaded)
    if form in (".svg", ".png") and len(rows) > 1:
        raise InvalidParameterError(
            f"A picture shows one graph, not {len(rows)}; write a page, such as -o why.html."
        )
    X = None
    if fitted is None:
        assert loaded.y is not None
        known = np.flatnonzero(~missing_values(loaded.y))
        others = len(np.setdiff1d(known, rows))
        learned = f"{counted(others, 'other graph')} of {loaded.name}"
    else:
        molecules = molecules_of(loaded, fitted.descriptors, reading)
        numbers = [loaded.row(position) for position in range(len(loaded.graphs))]
        X = _at(model_input(fitted, molecules, loaded.table, numbers), rows)
        learned = counted(fitted.n_graphs_, "graph")
    doing = "Learning from" if fitted is None else "Explaining"
    with err().status(f"{doing} {escape(loaded.name)}"):
        seen, whys = explain_rows(
            loaded.graphs, loaded.y, rows, row_names(loaded), model=fitted, X=X, n_jobs=jobs
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


def _positions(text: str, loaded: Loaded) -> list[int]:
    """Parse rows and ranges of rows, counted from 1, into positions of graphs."""
    positions = {loaded.row(position): position for position in range(len(loaded.graphs))}
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise InvalidParameterError(
                f"--row is a number, or numbers and ranges, such as 17,20-22; got {text!r}."
            )
        rows = range(int(first), int(last or first) + 1)
        if not rows or rows[0] < 1 or rows[-1] > max(positions):
            raise InvalidParameterError(
                f"--row is a number from 1 to {max(positions):,}, the rows of {loaded.name}; got "
                f"{part.strip()}."
            )
        numbers += rows
    for number in numbers:
        if number not in positions:
            raise InvalidParameterError(
                f"Row {number} of {loaded.name} cannot be read. Leave it out."
            )
    return [positions[number] for number in dict.fromkeys(numbers)]


def _at(table: Any, rows: list[int]) -> Any:
    """Select rows of the input of a model."""
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
    known = "" if seen.truth is None else f" (true: {escape(str(seen.truth))})"
    sure = ""
    if seen.probability is not None:
        sure = f", probability {100 * seen.probability:.0f} %"
    elif seen.interval is not None:
        low, high = seen.interval
        sure = f", 90 % interval {low:.4g} to {high:.4g}"
    out().print(
        f"[bold]{escape(seen.name)}[/bold]: predicted [bold]{escape(str(seen.prediction))}[/bold]"
        f"{sure}{known}; decision {seen.decision:+.3g}, of which {seen.bias:+.3g} is bias."
    )
    fragments = [(name, f"{adds:+.3g}") for name, adds, _ in seen.fragments]
    out().print(text_table(("fragment", "contribution"), fragments, ("contribution",)))
    patterns = [(name, f"{adds:+.3g}", times) for name, adds, times, _ in seen.patterns]
    numbers = ("contribution", "count")
    out().print(text_table(("pattern", *numbers), patterns, numbers))


@command(
    [
        "graphgrain explore drugs",
        "graphgrain explore molecules.csv --target active -o molecules.html",
        "graphgrain explore MUTAG --most 100",
    ]
)
def explore(
    data: Data,
    output: Output = Path("explore.html"),
    most: Most = MOST_GRAPHS,
    target: Target = None,
    id: Id = None,
    smiles: Smiles = None,
    labels: Labels = "",
    errors: Errors = "raise",
    missing: Missing = "raise",
    view: View = None,
    jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Write an interactive page of a data set: a map, drawings, predictions and explanations.

    The page is one self-contained HTML file. Clicking a graph on the map shows its prediction by a
    model fitted without it, the contributions of fragments and vertices, and its nearest neighbours
    with their differences. Without a target there are only the map and the neighbours.
    """
    reading = Reading(target, id, smiles, labels, errors, missing, view)
    loaded = load(data, reading).with_one_target()
    with err().status(f"Exploring {escape(loaded.name)}"):
        found = compute(loaded.name, loaded.graphs, loaded.y, loaded.names, most=most, n_jobs=jobs)
        with atomic_write(output, "The page") as file:
            file.write(explore_page(found).encode())
    if as_json:
        answer({"page": str(output), "graphs": len(found.graphs), "score": found.score})
        return
    if found.score is None:
        right = "no target to predict" + (" (--target names its column)" if loaded.columns else "")
    elif found.classes:
        right = f"{100 * found.score:.1f} % of the predictions are right"
    else:
        right = f"predictions with R2 {found.score:.3f}"
    out().print(
        f"{counted(len(found.graphs), 'graph')}, {right}. Open "
        f"[bold]{escape(str(output))}[/bold] in a browser."
    )
