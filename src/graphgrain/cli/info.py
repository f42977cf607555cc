"""The commands info and datasets: statistics of a data set, and the named data sets."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from ..graphs.batch import counted
from ..graphs.datasets import fetch
from ..graphs.description import Statistics, describe, text_bars, text_histogram
from .app import answer, command, err, out
from .arguments import Data, Json, Reading, nearest
from .loading import load
from .tables import print_table, text_table

#: Descriptions of the rows.
MEANINGS = {
    "graphs": "number of graphs",
    "classes": "number of classes",
    "vertices": "mean number of vertices per graph",
    "edges": "mean number of edges per graph",
    "degree": "mean number of neighbours per vertex",
    "vertex_labels": "number of distinct vertex labels",
    "edge_labels": "number of distinct edge labels",
    "vertex_attributes": "number of attributes per vertex",
    "edge_attributes": "number of attributes per edge",
    "isolated_vertices": "vertices without neighbours, in all graphs",
    "duplicates": "graphs isomorphic to an earlier one, with equal labels",
    "identical": "duplicates with equal attributes, too",
    "contradictions": "graphs identical to one of another class",
}
#: Maximum number of classes that are listed.
MOST_CLASSES = 30


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
        Path | None, typer.Option(help="Draw the distributions to this .png, .pdf or .svg file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show statistics of a data set: sizes, labels, classes, duplicates."""
    loaded = load(data, reading)
    found = describe(loaded.graphs, _numbers_or_classes(loaded.y))
    if plot is not None:
        from ..report.figures import plot_distributions

        plot_distributions(loaded.graphs, plot, name=loaded.name)
    if as_json:
        answer({"name": loaded.name, **asdict(found)})
        return
    out().print(_table(loaded.name, found))
    if found.class_sizes is not None:
        out().print(f"\ngraphs per class\n{_balance(found)}", markup=False)
    if found.target is not None and loaded.y is not None:
        texts = (f"{name.replace('_', ' ')} {value:.4g}" for name, value in found.target.items())
        out().print(f"\ntarget\n{', '.join(texts)}", markup=False)
        out().print(text_histogram(np.asarray(loaded.y, dtype=np.float64)), markup=False)
    out().print(
        f"\nvertices per graph\n{text_histogram(loaded.graphs.vertex_counts)}", markup=False
    )
    if plot is not None:
        err().print(f"Figure written to {escape(str(plot))}.")


@command(["graphgrain datasets", "graphgrain datasets mutagen", "graphgrain datasets --json"])
def datasets(
    search: Annotated[str, typer.Argument(help="Text that the name or domain must contain.")] = "",
    as_json: Json = False,
) -> None:
    """List the named data sets: the bundled drugs and the TU collection."""
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
    heads = ("graphs", "classes", "vertices", "edges")
    rows = [
        (
            item.name,
            item.domain,
            f"{item.graphs:,}",
            "values" if item.classes is None else item.classes,
            "" if item.vertices is None else f"{item.vertices:.2f}",
            "" if item.edges is None else f"{item.edges:.2f}",
            ", ".join(["vertices"] * item.vertex_labels + ["edges"] * item.edge_labels),
        )
        for item in found
    ]
    table = text_table(["name", "domain", *heads, "labels"], rows, heads)
    print_table(out(), table)
    if not search:
        out().print("\ndrugs comes with graphgrain; the others are downloaded on demand.")


def _numbers_or_classes(y: np.ndarray | None) -> np.ndarray | None:
    """Return classes as integers and other numbers as floats, as they are evaluated."""
    from ..learning.inputs import are_classes  # slow to import

    if y is None or y.ndim != 1 or y.dtype.kind not in "fiu":
        return y
    return y.astype(np.int64 if are_classes(y) else np.float64)


def _table(name: str, found: Statistics) -> Table:
    table = Table(title=escape(name), box=None, show_header=False, title_justify="left")
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="dim")
    for key, meaning in MEANINGS.items():
        value = getattr(found, key)
        form = ",.2f" if isinstance(value, float) else ","
        table.add_row(
            key.replace("_", " "), "none" if value is None else f"{value:{form}}", meaning
        )
    return table


def _balance(found: Statistics) -> str:
    """Return a bar chart of the class sizes, the largest first."""
    ordered = sorted((found.class_sizes or {}).items(), key=lambda item: -item[1])
    bars = text_bars(dict(ordered[:MOST_CLASSES]), total=found.graphs)
    if rest := [size for _, size in ordered[MOST_CLASSES:]]:
        more = counted(len(rest), "more class", "more classes")
        sizes = counted(rest[0], "graph")
        sizes = sizes if rest[-1] == rest[0] else f"{rest[-1]:,} to {sizes}"
        bars += f"\nand {more} with {sizes} each"
    return bars
