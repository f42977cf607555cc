"""Distributions of the sizes and degrees of a data set, drawn by matplotlib."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidParameterError, needed
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..graphs.description import distributions
from ..writing import atomic_write

TITLES = {
    "vertices": "vertices per graph",
    "edges": "edges per graph",
    "degree": "degree of a vertex",
}
COLOUR = "#35608d"


def plot_distributions(
    graphs: Any, path: str | os.PathLike[str] | None = None, *, name: str | None = None
) -> Any:
    """Plot the distributions of vertices, edges and degrees, one column per data set.

    Parameters
    ----------
    graphs : GraphBatch, list of graphs, or dictionary from name to either
        A dictionary gives one column per data set, as in the Tree++ paper.
    path : path, optional
        File to write; its suffix determines the format (``.png``, ``.pdf``, ``.svg``).
    name : str, optional
        Title of the column of a single data set.

    Returns
    -------
    figure : matplotlib Figure

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.pages.distributions import plot_distributions
    >>> ring = ([(0, 1), (1, 2), (0, 2)], ["C", "C", "O"])
    >>> figure = plot_distributions([ring, ring], name="rings")
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['vertices per graph', 'edges per graph', 'degree of a vertex']
    """
    columns = dict(graphs) if isinstance(graphs, Mapping) else {name or "": graphs}
    sets: dict[str, GraphBatch] = {key: as_graphs(value) for key, value in columns.items()}
    if not sets or any(batch.n_vertices == 0 for batch in sets.values()):
        raise InvalidParameterError("There must be at least one vertex to plot; there is none.")
    figure = new_figure(3.2 * len(sets) + 0.6, 6.6)
    grid = figure.subplots(len(TITLES), len(sets), squeeze=False)
    for column, (title, batch) in enumerate(sets.items()):
        for row, (kind, values) in enumerate(distributions(batch).items()):
            axes = grid[row][column]
            _histogram(axes, values)
            axes.set_xlabel(TITLES[kind])
            if column == 0:
                axes.set_ylabel("vertices" if kind == "degree" else "graphs")
        if title:
            grid[0][column].set_title(title)
    if path is not None:
        save(figure, Path(path))
    return figure


def new_figure(width: float, height: float) -> Any:
    """Create a Figure without pyplot, which would keep global state and could open windows."""
    with needed("Plots are made with matplotlib", "'graphgrain[plot]'"):
        from matplotlib.figure import Figure
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Any, path: Path) -> None:
    """Write a figure atomically in the format of its suffix."""
    format = path.suffix.removeprefix(".").lower()
    known = figure.canvas.get_supported_filetypes()
    if format not in known:
        raise InvalidParameterError(
            f"The figure cannot be written to {str(path)!r}: its name must end in one of "
            f"{', '.join(f'.{ending}' for ending in sorted(known))}."
        )
    with atomic_write(path, "The figure") as file:
        figure.savefig(file, dpi=200, format=format)


def _histogram(axes: Any, values: np.ndarray) -> None:
    """Draw a histogram with bins of integer width, so that all cover equally many integers."""
    low, high = int(values.min()), int(values.max())
    step = max(1, -(-(high - low + 1) // 40))
    edges = np.arange(low, high + step + 1, step) - 0.5
    axes.hist(values, bins=edges, color=COLOUR, edgecolor="white", linewidth=0.4)
    axes.spines[["top", "right"]].set_visible(False)
    axes.yaxis.grid(True, color="#dddddd", linewidth=0.6)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_axisbelow(True)
