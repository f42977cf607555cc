"""Commands that look at data: datasets, info, kernel."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from ..errors import InvalidParameterError, UnwritableFileError
from ..report.files import write_whole
from .app import answer, command, err, out
from .choices import BUNDLED, load, variant

Json = Annotated[bool, typer.Option("--json", help="Answer in JSON, for machines.")]
Data = Annotated[
    str,
    typer.Argument(help="A file, a folder, a name of the TU collection, or drugs.", metavar="DATA"),
]
Target = Annotated[
    str | None,
    typer.Option(help="For tables of molecules: the column with the classes.", metavar="COLUMN"),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="Parameters of the kernel.", metavar="NAME=VALUE..."),
]
Jobs = Annotated[int, typer.Option("--n-jobs", "-j", help="Number of threads; -1 takes all cores.")]


@command(
    "datasets", ["graphgrain datasets", "graphgrain datasets mutagen", "graphgrain datasets --json"]
)
def datasets(
    search: Annotated[str, typer.Argument(help="Only those whose name or domain has this.")] = "",
    as_json: Json = False,
) -> None:
    """List the data sets that have a name: the bundled drugs and the TU collection."""
    import graphgrain as gg

    found = [
        item
        for item in gg.tu_datasets()
        if search.lower() in item.name.lower() or search.lower() in item.domain.lower()
    ]
    if as_json:
        answer([asdict(item) for item in found])
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
    out().print(table)
    if not search:
        out().print(
            f"\nand {BUNDLED}, which comes with graphgrain. Others are downloaded on demand."
        )


@command(
    "info",
    [
        "graphgrain info drugs",
        "graphgrain info MUTAG --plot mutag.png",
        "graphgrain info my_molecules.csv --target active --json",
    ],
)
def info(
    data: Data,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the distributions into this .png, .pdf or .svg.")
    ] = None,
    target: Target = None,
    as_json: Json = False,
) -> None:
    """Show what a data set is like: sizes, labels, classes, duplicates."""
    import graphgrain as gg

    from ..graphs.description import text_histogram

    name, graphs, y, _ = load(data, target)
    figures = gg.describe(graphs, y)
    if plot is not None:
        from ..report.distributions import plot_distributions

        plot_distributions(graphs, plot, name=name)
    if as_json:
        answer({"name": name, **asdict(figures)})
        return
    table = Table(title=escape(name), box=None, show_header=False, title_justify="left")
    table.add_column(style="dim")
    for key, value in asdict(figures).items():
        shown = "none" if value is None else f"{value:,.2f}" if isinstance(value, float) else value
        table.add_row(key.replace("_", " "), f"{shown:,}" if isinstance(shown, int) else shown)
    out().print(table)
    out().print(f"\nvertices per graph\n{text_histogram(graphs.vertex_counts)}")
    if plot is not None:
        err().print(f"Figure written to {escape(str(plot))}.")


@command(
    "kernel",
    [
        "graphgrain kernel drugs -o drugs.npz",
        "graphgrain kernel MUTAG -o mutag.npz --kernel wl --set n_iter=4",
        "graphgrain kernel my_graphs.zip -o K.csv --set path_depth=4 counts=sqrt",
    ],
)
def kernel(
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", help="A .npz, .npy or .csv file.")],
    kernel: Annotated[str, typer.Option(help="Name of the kernel.")] = "tree++",
    parameters: Set = None,
    target: Target = None,
    n_jobs: Jobs = -1,
    as_json: Json = False,
) -> None:
    """Compute the kernel matrix of a data set and write it to a file.

    A .npz holds K (the normalised matrix), y (the classes, if any), names (if any) and about (the
    parameters and versions, as JSON). The others hold K alone. Parameters that are not set have
    the kernel's defaults.
    """
    from ..core.threads import thread_count
    from ..evaluation.memory import measured
    from ..evaluation.records import versions
    from ..kernels.registry import KERNELS

    if output.suffix not in (".npz", ".npy", ".csv"):
        raise InvalidParameterError(
            f"The kernel matrix is written as .npz, .npy or .csv; got {str(output)!r}."
        )
    if not output.parent.is_dir():
        raise UnwritableFileError(f"There is no folder {str(output.parent)!r} to write to.")
    chosen = variant(kernel, parameters or [])
    settings = _only_given(chosen.grid[0], parameters or [])
    name, graphs, y, names = load(data, target)
    estimator = KERNELS[kernel].kernel(**settings, n_jobs=n_jobs)
    with err().status(f"{kernel} on {escape(name)}"), measured() as cost:
        K = estimator.fit_transform(graphs)
    about = {
        "dataset": name,
        "kernel": kernel,
        "parameters": {
            key: value for key, value in estimator.get_params().items() if key != "n_jobs"
        },
        "graphs": len(graphs),
        "seconds": round(cost.seconds, 4),
        "memory": cost.memory,
        "n_jobs": thread_count(n_jobs),
        "versions": versions(),
    }
    write_matrix(output, K, y, names, about)
    if as_json:
        answer({**about, "output": str(output)})
        return
    out().print(
        f"{kernel} of {len(graphs):,} graphs in {cost.seconds:.2f} s, written to "
        f"{escape(str(output))}."
    )


def _only_given(setting: dict[str, Any], parameters: list[str]) -> dict[str, Any]:
    """The parameters that were set: a grid's own are for validation, not for one matrix."""
    given = {text.partition("=")[0] for text in parameters}
    return {name: value for name, value in setting.items() if name in given}


def write_matrix(
    path: Path,
    K: np.ndarray,
    y: np.ndarray | None,
    names: np.ndarray | None,
    about: dict[str, Any],
) -> None:
    """Write a matrix in full or not at all."""
    content = io.BytesIO()
    if path.suffix == ".npz":
        arrays: dict[str, Any] = {"K": K, "about": json.dumps(about)}
        arrays |= {} if y is None else {"y": y}
        arrays |= {} if names is None else {"names": names}
        np.savez_compressed(content, **arrays)
    elif path.suffix == ".npy":
        np.save(content, K)
    else:
        np.savetxt(content, K, delimiter=",", fmt="%.17g")
    write_whole(path, content.getvalue(), "The kernel matrix")
