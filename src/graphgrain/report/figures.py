"""Matplotlib figures for publications: of a report and of a data set."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from ..errors import InvalidParameterError, UnwritableFileError, needed
from ..evaluation.exploration import KernelMap
from ..evaluation.kernel_comparison import Column, Comparison, Runtimes
from ..evaluation.records import kernel_label
from ..evaluation.summary import Curve
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..graphs.description import distributions
from ..writing import atomic_write
from .content import Content, Data, Errors, Progress, content

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
    >>> from graphgrain.report.figures import plot_distributions
    >>> ring = ([(0, 1), (1, 2), (0, 2)], ["C", "C", "O"])
    >>> figure = plot_distributions([ring, ring], name="rings")
    >>> [axes.get_xlabel() for axes in figure.axes]
    ['vertices per graph', 'edges per graph', 'degree of a vertex']
    """
    columns = dict(graphs) if isinstance(graphs, Mapping) else {name or "": graphs}
    sets: dict[str, GraphBatch] = {key: as_graphs(value) for key, value in columns.items()}
    if not sets or any(batch.n_vertices == 0 for batch in sets.values()):
        raise InvalidParameterError("There must be at least one vertex to plot; there is none.")
    figure = _figure(3.2 * len(sets) + 0.6, 6.6)
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
        _save(figure, Path(path))
    return figure


def _save(figure: Any, path: Path) -> None:
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


FORMATS = ("pdf", "svg", "png")
#: Colours and marks of the light theme of the HTML page, in the same order.
COLOURS = (
    *("#0b5cb8", "#c2410c", "#15803d", "#a21caf", "#a16207", "#0e7490"),
    *("#be123c", "#5b21b6", "#4d7c0f", "#475569", "#7c3a12", "#0f766e"),
)
MARKS = "os^Dv"
STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "legend.frameon": False,
    "pdf.fonttype": 42,  # keep text as text
    "svg.fonttype": "none",
    "text.parse_math": False,  # names of data sets can contain $
    "svg.hashsalt": "graphgrain",
}
#: Without dates, so that equal results give equal files.
METADATA = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}


def write_figures(
    results_path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    format: str = "pdf",
    *,
    paper: bool = True,
    data: Data | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Write every figure of a report to a separate file.

    Parameters
    ----------
    results_path : path
        File written by ``graphgrain evaluate`` or ``graphgrain reproduce``.
    folder : path
        Created if it does not exist. Existing figures of the same name are replaced.
    format : {"pdf", "svg", "png"}, default="pdf"
    paper, data, n_jobs, progress
        See :func:`graphgrain.report.results_page.write_report`.

    Returns
    -------
    paths : list of Path
        ``accuracy``, ``accuracy-hindsight``, ``ranks``, ``runtime``, ``accuracy-against-k``,
        ``accuracy-against-d``, for each data set and kernel ``confusion-SET-KERNEL`` and, if the
        graphs are found, ``map-SET-KERNEL``, ``matrix-SET-KERNEL`` and ``distributions-SET``.
    """
    if format not in FORMATS:
        raise InvalidParameterError(f"format must be one of {', '.join(FORMATS)}; got {format!r}.")
    matplotlib = _matplotlib()
    place = Path(folder)
    shown = content(results_path, data, n_jobs, progress)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableFileError(
            f"Figures must go into a folder; {str(place)!r} cannot be made: "
            f"{error.strerror or error}. Choose another one."
        ) from None
    paths: list[Path] = []
    with matplotlib.rc_context(STYLE):
        for name, figure in _figures(shown, paper):
            stem, number = stem_of(name), 1
            path = place / f"{stem}.{format}"
            while path in paths:
                number += 1
                path = place / f"{stem}-{number}.{format}"
            buffer = io.BytesIO()
            figure.savefig(buffer, format=format, dpi=200, metadata=METADATA[format])
            with atomic_write(path, "The figure") as file:
                file.write(buffer.getvalue())
            paths.append(path)
    return paths


def stem_of(name: str) -> str:
    """Return a file name without unsafe characters.

    >>> stem_of("map-PTC_MM"), stem_of("map-../my set (2)-WL")
    ('map-PTC_MM', 'map-.._my_set_2-WL')
    """
    return re.sub(r"_(?=-|$)", "", re.sub(r"[^\w.+-]+", "_", name))


def _figures(shown: Content, paper: bool) -> Iterator[tuple[str, Any]]:
    """Yield names and figures of all non-empty parts of a report."""
    for comparison in shown.comparisons:
        kind = "accuracy" if comparison.select == "validated" else "accuracy-hindsight"
        yield kind, accuracy_figure(comparison, paper)
        if comparison.ranks is not None and comparison.select == "validated":
            yield "ranks", rank_figure(comparison)
    if shown.runtimes is not None:
        yield "runtime", runtime_figure(shown.runtimes, paper)
    for symbol, curves in (("k", shown.against_k), ("d", shown.against_d)):
        if curves:
            yield f"accuracy-against-{symbol}", curve_figure(curves, symbol)
    for item in shown.maps:
        if not item.all_alike:
            name = f"{item.drawn.name}-{kernel_label(item.kernel, item.variant)}"
            yield f"map-{name}", map_figure(item)
            yield f"matrix-{name}", matrix_figure(item)
    for errors in shown.errors:
        yield f"confusion-{errors.dataset}-{errors.kernel}", confusion_figure(errors)
    for name, graphs in shown.graphs.items():
        if graphs.n_vertices:
            yield f"distributions-{name}", plot_distributions(graphs, name=name)


def _matplotlib() -> Any:
    with needed("Plots are made with matplotlib", "'graphgrain[plot]'"):
        import matplotlib.colors
        import matplotlib.figure
        import matplotlib.ticker
    return matplotlib


def _figure(width: float, height: float) -> Any:
    """Create a Figure without pyplot, which would keep global state and could open windows."""
    return _matplotlib().figure.Figure(figsize=(width, height), layout="constrained")


def _title(axes: Any, words: str) -> None:
    """Set a title wrapped to the width of the figure."""
    inches = axes.figure.get_figwidth()
    axes.set_title(fill(words, int(11 * inches)))


def _style(number: int) -> dict[str, Any]:
    colour = COLOURS[number % len(COLOURS)]
    return {"color": colour, "marker": MARKS[number % len(MARKS)], "linestyle": "none"}


def accuracy_figure(comparison: Comparison, paper: bool = True) -> Any:
    """Draw accuracies or errors with error bars; hollow dots are published values."""
    cells = [
        [
            (cell.mean, cell.spread, cell.published and cell.published[0]) if cell else None
            for cell in row.cells
        ]
        for row in comparison.rows
    ]
    names = [row.name for row in comparison.rows]
    axis = "root mean squared error" if comparison.numeric else "accuracy in percent"
    return _dots(names, comparison.columns, cells, axis, paper)


def runtime_figure(runtimes: Runtimes, paper: bool = True) -> Any:
    """Draw times on a logarithmic axis."""
    cells = [
        [(max(cost.seconds, 1e-4), 0.0, cost.published) if cost else None for cost in costs]
        for _, costs in runtimes.rows
    ]
    names = [name for name, _ in runtimes.rows]
    figure = _dots(names, runtimes.columns, cells, "seconds for the kernel matrices", paper)
    axes = figure.axes[0]
    axes.set_xscale("log")
    # The usual formatters write formulas, which STYLE turns off.
    axes.xaxis.set_major_formatter(_matplotlib().ticker.LogFormatter())
    axes.xaxis.set_minor_formatter(_matplotlib().ticker.LogFormatter())
    return figure


def _dots(
    names: list[str],
    columns: list[Column],
    cells: list[list[tuple[float, float, float | None] | None]],
    axis: str,
    paper: bool,
) -> Any:
    step = 0.8 / max(len(columns), 1)
    height = len(names) * (0.12 * len(columns) + 0.14)
    figure = _figure(5.5, max(1.2, height) + 0.8)
    axes = figure.subplots()
    printed = False
    for number, column in enumerate(columns):
        style, label = _style(number), column.name
        for row, line in enumerate(cells):
            cell = line[number]
            if cell is None:
                continue
            mean, spread, published = cell
            y = row + step * (number - (len(columns) - 1) / 2)
            axes.errorbar(
                mean, y, xerr=spread or None, markersize=4, elinewidth=0.8, label=label, **style
            )
            label = ""  # only one legend entry
            if paper and published is not None:
                axes.plot(published, y, markersize=4, markerfacecolor="white", **style)
                printed = True
    for row in range(0, len(names), 2):
        axes.axhspan(row - 0.5, row + 0.5, color="#f3f5f8", zorder=-2, linewidth=0)
    if printed:
        grey = {"color": "#475569", "marker": "o", "markerfacecolor": "white"}
        axes.errorbar([], [], linestyle="none", markersize=4, label="published", **grey)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#dde3ea", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(axis)
    figure.legend(loc="outside upper center", ncols=min(len(columns) + 1, 6))
    return figure


def rank_figure(comparison: Comparison) -> Any:
    """Draw average ranks; thick lines join kernels that do not differ significantly."""
    ranks = comparison.ranks
    assert ranks is not None
    order = np.argsort(ranks.average, kind="stable")
    count, half = len(order), -(-len(order) // 2)
    groups = ranks.groups()
    first = 1.0 + 0.45 * len(groups)
    figure = _figure(5.5, 0.7 + 0.19 * (half + first))
    axes = figure.subplots()
    axes.set_xlim(0.1 - 0.2 * count, count + 0.9 + 0.2 * count)
    axes.set_ylim(first + half, -1.6)
    axes.axis("off")
    axes.plot([1, count], [0, 0], color="black", linewidth=0.8)
    for tick in range(1, count + 1):
        axes.plot([tick, tick], [-0.2, 0], color="black", linewidth=0.8)
        axes.text(tick, -0.35, str(tick), ha="center", va="bottom")
    for number, (best, worst) in enumerate(groups):
        y = 0.5 + 0.45 * number
        ends = [ranks.average[order[best]] - 0.03, ranks.average[order[worst]] + 0.03]
        axes.plot(ends, [y, y], color="black", linewidth=2.5, solid_capstyle="round")
    for place, number in enumerate(order.tolist()):
        left = place < half
        y = first + (place if left else count - 1 - place)
        at, end = float(ranks.average[number]), 0.8 if left else count + 0.2
        column = comparison.ranked[number]
        style = _style(column) | {"linestyle": "-"}
        axes.plot([at, at, end], [0, y, y], linewidth=0.8, markevery=[0], markersize=4, **style)
        words = f"{comparison.columns[column].name} {at:.2f}"
        axes.text(
            end,
            y,
            f"{words} " if left else f" {words}",
            ha="right" if left else "left",
            va="center",
        )
    if ranks.critical_difference <= count - 1:
        axes.plot([1, 1 + ranks.critical_difference], [-1.2, -1.2], color="black", linewidth=1.2)
        words = f"critical difference {ranks.critical_difference:.2f}"
        axes.text(1, -1.3, words, va="bottom", ha="left")
    return figure


def curve_figure(curves: list[Curve], symbol: str) -> Any:
    """Draw accuracy against a parameter, one panel per data set."""
    across = min(len(curves), 3)
    down = -(-len(curves) // across)
    figure = _figure(1.9 * across + 0.3, 1.5 * down + 0.2)
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for axes, curve in zip(panels, curves, strict=False):
        mean, spread = np.array(curve.mean), np.array(curve.spread)
        axes.fill_between(
            curve.x, mean - spread, mean + spread, color=COLOURS[0], alpha=0.16, linewidth=0
        )
        axes.plot(curve.x, mean, color=COLOURS[0], marker="o", markersize=3, linewidth=1.2)
        axes.set_title(curve.name)
        axes.set_xticks(curve.x)
        axes.grid(axis="y", color="#dde3ea", linewidth=0.6)
    for axes in panels[len(curves) :]:
        axes.set_axis_off()
    figure.supxlabel(symbol, fontsize=9, style="italic")
    figure.supylabel("accuracy in percent", fontsize=8)
    return figure


def map_figure(item: KernelMap) -> Any:
    """Draw the kernel PCA of the graphs."""
    classes = item.drawn.classes
    columns = -(-len(classes) // 16)  # of the legend
    figure = _figure(4.2 + 0.8 * (columns - 1), 3.2)
    axes = figure.subplots()
    for number, name in enumerate(classes):
        members = item.points[item.drawn.codes == number]
        style = _style(number)
        if len(classes) > len(COLOURS):
            style["color"] = _matplotlib().colors.hsv_to_rgb((number / len(classes), 0.75, 0.75))
        axes.plot(*members.T, markersize=3, markeredgewidth=0, label=name, **style)
    first, second = (100 * item.explained).tolist()
    axes.set_xlabel(f"first axis ({first:.0f} % of the variance)")
    axes.set_ylabel(f"second axis ({second:.0f} %)")
    _title(axes, f"{item.drawn.name}, {kernel_label(item.kernel, item.variant)}")
    if len(classes) > 1:
        figure.legend(loc="outside right upper", markerscale=1.6, fontsize=7, ncols=columns)
    return figure


def matrix_figure(item: KernelMap) -> Any:
    """Draw the kernel matrix with lines between the classes."""
    figure = _figure(3.9, 3.4)
    axes = figure.subplots()
    low, high = item.scale
    image = axes.imshow(item.matrix, vmin=low, vmax=high, cmap="viridis", interpolation="nearest")
    ends = np.cumsum(item.blocks)
    for end in ends[:-1]:
        axes.axhline(end - 0.5, color="white", linewidth=0.5)
        axes.axvline(end - 0.5, color="white", linewidth=0.5)
    middles = ends - np.array(item.blocks) / 2 - 0.5
    size = 7 if len(item.blocks) <= 16 else 4
    axes.set_yticks(middles, item.drawn.classes, fontsize=size)
    axes.set_xticks(middles, item.drawn.classes, fontsize=size, rotation=90)
    axes.tick_params(length=0)
    _title(axes, f"{item.drawn.name}, {kernel_label(item.kernel, item.variant)}")
    figure.colorbar(image, ax=axes, shrink=0.8, extend="both", label="similarity")
    return figure


def confusion_figure(errors: Errors) -> Any:
    """Draw the confusion matrix in percent of the true class (row)."""
    confusion, classes = errors.diagnosis.confusion, errors.diagnosis.classes
    shares = confusion / np.maximum(confusion.sum(axis=1, keepdims=True), 1e-12)
    side = max(2.4, 0.3 * len(classes) + 1.2)
    figure = _figure(side + 0.6, side)
    axes = figure.subplots()
    axes.imshow(shares, vmin=0, vmax=1, cmap="Blues")
    for (row, column), share in np.ndenumerate(shares):
        colour = "white" if share > 0.55 else "black"
        axes.text(
            column, row, f"{100 * share:.0f}", ha="center", va="center", fontsize=6, color=colour
        )
    axes.set_xticks(range(len(classes)), classes, rotation=90, fontsize=7)
    axes.set_yticks(range(len(classes)), classes, fontsize=7)
    axes.set_xlabel("predicted class (percent of true class)")
    axes.set_ylabel("true class")
    _title(axes, f"{errors.dataset}, {errors.kernel}")
    return figure
