"""The command explain: explain predictions by patterns, atoms and bonds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from ..errors import InvalidParameterError
from ..writing import atomic_write, check_form
from . import options as opt
from .app import command
from .console import answer, err, out
from .tables import text_table

if TYPE_CHECKING:
    from ..evaluation.exploration import Seen
    from ..explaining.explanation import Explanation
    from .loading import Loaded


@command(
    [
        "graphgrain explain drugs --row 222",
        "graphgrain explain molecules.csv --target active --row 17,20-22 -o why.html",
        "graphgrain explain new.smi --model model.ggm --row 1",
        "graphgrain explain MUTAG --row 1 -o why.svg",
    ],
    reads_data=True,
)
def explain(
    ctx: opt.Context,
    data: opt.Data,
    row: opt.Row,
    model: opt.ModelOption = None,
    output: opt.OptionalOutput = None,
    jobs: opt.Jobs = -1,
    as_json: opt.Json = False,
) -> None:
    """Explain predictions by patterns, atoms and bonds.

    An estimator is fitted to all other graphs that have a target, and predicts these.
    The contributions of their patterns are exact, and the uncertainty of each prediction is shown.
    With --model nothing is fitted, and no target is needed.
    """
    form = output and check_form(output, "An explanation", (".html", ".svg", ".png"))
    if model is not None and ctx.obj.view:
        raise InvalidParameterError(
            "A model has its own view; got --view as well. Leave it out, and give it to fit."
        )
    from ..evaluation.exploration import explain_rows
    from ..learning.model_file import load_model
    from .loading import load, row_names, with_labels
    from .models import labels_of, model_input, molecules_of

    reading: opt.Reading = ctx.obj
    fitted = None if model is None else load_model(model)
    if fitted is not None:  # read molecules with the label options of training
        reading = with_labels(reading, labels_of(fitted), "The model was trained")
    loaded = load(data, reading, all_rows=True).with_one_target()
    if fitted is None and loaded.with_classes().y is None:
        raise InvalidParameterError(
            f"explain needs classes or numbers as targets; {data} has none. Give it a model with "
            "--model."
        )
    positions = _positions(row, loaded)
    if form in (".svg", ".png") and len(positions) > 1:
        raise InvalidParameterError(
            f"A picture shows one graph, not {len(positions)}; write a page, such as -o why.html."
        )
    X = None
    if fitted is not None:
        molecules = molecules_of(loaded, fitted.descriptors, reading)
        numbers = [loaded.row(position) for position in range(len(loaded.graphs))]
        X = _at(model_input(fitted, molecules, loaded.table, numbers), positions)
    doing = "Learning from" if fitted is None else "Explaining"
    names = row_names(loaded)
    with err().status(f"{doing} {escape(loaded.name)}"):
        graphs, explanations = explain_rows(
            loaded.graphs, loaded.y, positions, names, model=fitted, X=X, n_jobs=jobs
        )
    if output is not None:
        learned = _learned(loaded, positions, fitted)
        _write(output, loaded.name, graphs, explanations, learned)
    if as_json:
        results = [_as_json(*pair, output) for pair in zip(graphs, explanations, strict=False)]
        answer(results[0] if len(results) == 1 else results)
        return
    for graph in graphs[: len(positions)]:
        _print(graph)
    if output is not None:
        err().print(f"Open [bold]{escape(str(output))}[/bold] in a browser.")


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


def _learned(loaded: Loaded, positions: list[int], fitted: Any) -> str:
    """Say what a model was fitted to."""
    import numpy as np

    from ..graphs.batch import counted
    from ..graphs.files.molecules import missing_values

    if fitted is not None:
        return counted(fitted.n_graphs_, "graph")
    assert loaded.y is not None
    labelled = np.flatnonzero(~missing_values(loaded.y))
    graphs = counted(len(np.setdiff1d(labelled, positions)), "other graph")
    return f"{graphs} of {loaded.name}"


def _write(
    output: Path, name: str, graphs: list[Seen], explanations: list[Explanation], learned: str
) -> None:
    """Write a picture or a page."""
    from ..pages.graph_pages import explanation_page

    if output.suffix == ".png":
        content = explanations[0].to_png()
    elif output.suffix == ".svg":
        content = explanations[0].to_svg(theme="auto").encode()
    else:
        content = explanation_page(name, graphs, len(explanations), learned).encode()
    with atomic_write(output, "The explanation") as file:
        file.write(content)


def _at(table: Any, rows: list[int]) -> Any:
    """Select rows of the input of a model."""
    if isinstance(table, dict):
        return {name: _at(values, rows) for name, values in table.items()}
    return [table[row] for row in rows] if isinstance(table, list) else table[rows]


def _as_json(seen: Seen, why: Explanation, output: Path | None) -> dict[str, Any]:
    sign = why.direction  # positive values favour the prediction, as in the table
    return {
        "name": seen.name,
        "prediction": seen.prediction,
        "truth": seen.truth,
        "probability": seen.probability,
        "interval": seen.interval,
        "in_training": why.in_training,
        "decision": sign * why.decision,
        "bias": sign * why.bias,
        "vertices": (sign * why.vertices).tolist(),
        "edges": (sign * why.edges).tolist(),
        "fragments": [
            {"name": f.name, "contribution": sign * f.contribution, "vertices": list(f.vertices)}
            for f in why.fragments()
        ],
        "patterns": [
            {"name": p.name, "contribution": sign * p.contribution, "count": p.count}
            for p in why.top(20)
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
    if seen.in_training:
        out().print("The model was trained on this graph: its decision is fitted, not predicted.")
    fragments = [(name, f"{adds:+.3g}") for name, adds, _ in seen.fragments]
    out().print(text_table(("fragment", "contribution"), fragments, ("contribution",)))
    patterns = [(name, f"{adds:+.3g}", times) for name, adds, times, _ in seen.patterns]
    numbers = ("contribution", "count")
    out().print(text_table(("pattern", *numbers), patterns, numbers))
