"""The command info: statistics of a data set, or the list of named data sets."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from . import options as opt
from .app import command
from .console import answer, out, written
from .tables import text_table

if TYPE_CHECKING:
    import numpy as np

    from ..graphs.description import Statistics

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
        "graphgrain info",
        "graphgrain info drugs",
        "graphgrain info MUTAG --plot mutag.png",
        "graphgrain info my_molecules.csv --target active --json",
    ],
    reads_data=True,
)
def info(
    ctx: opt.Context,
    data: opt.OptionalData = None,
    plot: opt.Plot = None,
    as_json: opt.Json = False,
) -> None:
    """Show statistics of a data set: sizes, labels, classes, duplicates.

    Without DATA, the named data sets are listed: the bundled drugs and the TU collection, which is
    downloaded on demand.
    """
    if data is None:
        _list_data_sets(as_json)
        return
    from ..graphs.description import describe, text_histogram
    from .loading import load

    loaded = load(data, ctx.obj)
    y = _numbers_or_classes(loaded.y)
    statistics = describe(loaded.graphs, y)
    if plot is not None:
        from ..pages.distributions import plot_distributions

        plot_distributions(loaded.graphs, plot, name=loaded.name)
        written("Figure", plot)
    if as_json:
        answer({"name": loaded.name, **asdict(statistics)})
        return
    out().print(_table(loaded.name, statistics))
    if statistics.class_sizes is not None:
        out().print(f"\ngraphs per class\n{_balance(statistics)}", markup=False)
    if statistics.target is not None and y is not None:
        values = statistics.target.items()
        texts = (f"{name.replace('_', ' ')} {value:.4g}" for name, value in values)
        out().print(f"\ntarget\n{', '.join(texts)}", markup=False)
        out().print(text_histogram(y), markup=False)
    histogram = text_histogram(loaded.graphs.vertex_counts)
    out().print(f"\nvertices per graph\n{histogram}", markup=False)


def _list_data_sets(as_json: bool) -> None:
    """Print the named data sets."""
    from ..graphs.datasets.fetch import bundled_data_set, tu_datasets

    data_sets = [*tu_datasets(), bundled_data_set()]
    if as_json:
        answer([asdict(item) for item in data_sets])
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
        for item in data_sets
    ]
    out().print(text_table(["name", "domain", *heads, "labels"], rows, heads))
    out().print("\ndrugs comes with graphgrain; the others are downloaded on demand.")


def _numbers_or_classes(y: np.ndarray | None) -> np.ndarray | None:
    """Return classes as integers and other numbers as floats, as they are evaluated."""
    from ..learning.inputs import are_classes

    if y is None or y.ndim != 1 or y.dtype.kind not in "fiu":
        return y
    return y.astype("int64" if are_classes(y) else "float64")


def _table(name: str, statistics: Statistics) -> Table:
    table = Table(title=escape(name), box=None, show_header=False, title_justify="left")
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="dim")
    for key, meaning in MEANINGS.items():
        value = getattr(statistics, key)
        form = ",.2f" if isinstance(value, float) else ","
        table.add_row(
            key.replace("_", " "), "none" if value is None else f"{value:{form}}", meaning
        )
    return table


def _balance(statistics: Statistics) -> str:
    """Return a bar chart of the class sizes, the largest first."""
    ordered = sorted((statistics.class_sizes or {}).items(), key=lambda item: -item[1])
    from ..graphs.batch import counted
    from ..graphs.description import text_bars

    bars = text_bars(dict(ordered[:MOST_CLASSES]), total=statistics.graphs)
    if rest := [size for _, size in ordered[MOST_CLASSES:]]:
        more = counted(len(rest), "more class", "more classes")
        sizes = counted(rest[0], "graph")
        sizes = sizes if rest[-1] == rest[0] else f"{rest[-1]:,} to {sizes}"
        bars += f"\nand {more} with {sizes} each"
    return bars
