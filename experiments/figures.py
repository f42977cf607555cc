"""Figures of the experiments, by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.colors import hsv_to_rgb
from matplotlib.ticker import LogFormatter

import graphgrain as gg
from graphgrain.evaluation.exploration import kernel_pca, sample
from graphgrain.pages.distributions import new_figure, plot_distributions, save

from . import paper
from .data import LabelledGraphs
from .scores import Result
from .statistics import Ranks

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
#: Larger data sets are shown in maps as a stratified sample of this size.
MOST_GRAPHS = 1000


def write(figures: Mapping[str, Any], folder: Path, kind: str = "svg") -> list[Path]:
    """Write figures, made by calling each, to files of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    with matplotlib.rc_context(STYLE):
        for name, make in figures.items():
            stem = "".join(c if c.isalnum() or c in ".+-_" else "-" for c in name)
            paths.append(folder / f"{stem}.{kind}")
            save(make(), paths[-1])
    return paths


def style(number: int) -> dict[str, Any]:
    """Return colour and mark of a series."""
    colour = COLOURS[number % len(COLOURS)]
    return {"color": colour, "marker": MARKS[number % len(MARKS)], "linestyle": "none"}


def accuracy_figure(found: Mapping[tuple[str, str], Result], names: Sequence[str]) -> Any:
    """Draw accuracies with deviations; hollow marks are published values."""
    cells = {
        key: (result.accuracies.mean(), result.accuracies.std(ddof=0))
        for key, result in found.items()
    }
    published = {
        (dataset, kernel): value[0]
        for dataset, row in paper.TABLE2.items()
        for kernel, value in row.items()
    }
    return _dots(cells, published, names, "accuracy in percent")


def runtime_figure(costs: pd.DataFrame, names: Sequence[str]) -> Any:
    """Draw times on a logarithmic axis."""
    cells = {key: (max(float(value), 1e-4), 0.0) for key, value in costs.seconds.items()}
    published = {(d, k): value for d, row in paper.TABLE3.items() for k, value in row.items()}
    figure = _dots(cells, published, names, "seconds for the kernel matrices")
    axis = figure.axes[0].xaxis
    figure.axes[0].set_xscale("log")
    # The usual formatters write formulas, which STYLE turns off.
    axis.set_major_formatter(LogFormatter())
    axis.set_minor_formatter(LogFormatter())
    return figure


def _dots(
    cells: Mapping[Any, tuple[float, float]],
    published: Mapping[Any, float],
    names: Sequence[str],
    label: str,
) -> Any:
    sets = list(dict.fromkeys(dataset for dataset, _ in cells))
    step = 0.8 / max(len(names), 1)
    figure = new_figure(5.5, max(1.2, len(sets) * (0.12 * len(names) + 0.14)) + 0.8)
    axes = figure.subplots()
    for number, kernel in enumerate(names):
        shown = style(number)
        axes.plot([], [], markersize=4, label=kernel, **shown)
        for row, dataset in enumerate(sets):
            if (dataset, kernel) not in cells:
                continue
            mean, spread = cells[dataset, kernel]
            y = row + step * (number - (len(names) - 1) / 2)
            axes.errorbar(mean, y, xerr=spread or None, markersize=4, elinewidth=0.8, **shown)
            if (dataset, kernel) in published:
                value = published[dataset, kernel]
                axes.plot(value, y, markersize=4, markerfacecolor="white", **shown)
    for row in range(0, len(sets), 2):
        axes.axhspan(row - 0.5, row + 0.5, color="#f3f5f8", zorder=-2, linewidth=0)
    axes.set_yticks(range(len(sets)), sets)
    axes.set_ylim(len(sets) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#dde3ea", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"{label} (hollow: published)")
    figure.legend(loc="outside upper center", ncols=min(len(names), 6))
    return figure


def rank_figure(ranks: Ranks) -> Any:
    """Draw average ranks; thick lines join kernels that do not differ significantly."""
    values, names = ranks.average.tolist(), list(ranks.average.index)
    count, half = len(values), -(-len(values) // 2)
    groups = ranks.groups()
    first = 1.0 + 0.45 * len(groups)
    figure = new_figure(5.5, 0.7 + 0.19 * (half + first))
    axes = figure.subplots()
    axes.set_xlim(0.1 - 0.2 * count, count + 0.9 + 0.2 * count)
    axes.set_ylim(first + half, -1.6)
    axes.axis("off")
    black: dict[str, Any] = {"color": "black", "linewidth": 0.8}
    axes.plot([1, count], [0, 0], **black)
    for tick in range(1, count + 1):
        axes.plot([tick, tick], [-0.2, 0], **black)
        axes.text(tick, -0.35, str(tick), ha="center", va="bottom")
    for number, (best, worst) in enumerate(groups):
        ends = [values[best] - 0.03, values[worst] + 0.03]
        y = 0.5 + 0.45 * number
        axes.plot(ends, [y, y], color="black", linewidth=2.5, solid_capstyle="round")
    for place, (value, name) in enumerate(zip(values, names, strict=True)):
        left = place < half
        y = first + (place if left else count - 1 - place)
        end = 0.8 if left else count + 0.2
        axes.plot([value, value, end], [0, y, y], **black)
        text = f"{name} {value:.2f} " if left else f" {name} {value:.2f}"
        axes.text(end, y, text, ha="right" if left else "left", va="center")
    if ranks.critical_difference <= count - 1:
        axes.plot([1, 1 + ranks.critical_difference], [-1.2, -1.2], **black)
        text = f"critical difference {ranks.critical_difference:.2f}"
        axes.text(1, -1.3, text, va="bottom", ha="left")
    return figure


def curve_figure(curves: Mapping[str, pd.DataFrame], symbol: str) -> Any:
    """Draw accuracy against a depth, one panel for each data set."""
    across = min(len(curves), 3)
    down = -(-len(curves) // across)
    figure = new_figure(1.9 * across + 0.3, 1.5 * down + 0.2)
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for axes, (name, table) in zip(panels, curves.items(), strict=False):
        x, mean, spread = list(table.columns), table.mean(), table.std(ddof=0)
        axes.fill_between(
            x, mean - spread, mean + spread, color=COLOURS[0], alpha=0.16, linewidth=0
        )
        axes.plot(x, mean, color=COLOURS[0], marker="o", markersize=3, linewidth=1.2)
        axes.set_title(name)
        axes.set_xticks(x)
        axes.grid(axis="y", color="#dde3ea", linewidth=0.6)
    for axes in panels[len(curves) :]:
        axes.set_axis_off()
    figure.supxlabel(symbol, fontsize=9, style="italic")
    figure.supylabel("accuracy in percent", fontsize=8)
    return figure


def distribution_figure(sets: Sequence[LabelledGraphs]) -> Any:
    """Draw sizes and degrees, one column for each data set, as the paper does."""
    return plot_distributions({data.name: data.graphs for data in sets})


def map_figure(data: LabelledGraphs, kernel: gg.GraphKernel, title: str) -> Any:
    """Draw the kernel PCA of the graphs, and the kernel matrix sorted by class."""
    chosen = sample(data.codes, MOST_GRAPHS)
    codes = data.codes[chosen]
    K = kernel.fit(data.graphs[chosen]).gram()
    points, explained = kernel_pca(K)
    figure = new_figure(7.5, 3.4)
    left, right = figure.subplots(1, 2)
    for number, name in enumerate(data.classes):
        shown = style(number)
        if len(data.classes) > len(COLOURS):
            shown["color"] = hsv_to_rgb((number / len(data.classes), 0.75, 0.75))
        members = points[codes == number].T
        left.plot(*members, markersize=3, markeredgewidth=0, label=name, **shown)
    left.set_xlabel(f"first axis ({100 * explained[0]:.0f} % of the variance)")
    left.set_ylabel(f"second axis ({100 * explained[1]:.0f} %)")
    left.set_title(title)
    order = np.lexsort((points[:, 0], codes))
    matrix = K[np.ix_(order, order)]
    low, high = np.quantile(matrix[~np.eye(len(matrix), dtype=bool)], [0.01, 0.99])
    image = right.imshow(matrix, vmin=low, vmax=high, cmap="viridis")
    sizes = np.bincount(codes, minlength=len(data.classes))
    ends = np.cumsum(sizes)
    for end in ends[:-1]:
        right.axhline(end - 0.5, color="white", linewidth=0.5)
        right.axvline(end - 0.5, color="white", linewidth=0.5)
    right.set_yticks(ends - sizes / 2 - 0.5, data.classes, fontsize=6)
    right.set_xticks([])
    figure.colorbar(image, ax=right, shrink=0.8, extend="both", label="similarity")
    return figure


def confusion_figure(result: Result) -> Any:
    """Draw the confusion matrix in percent of the true class (row)."""
    counts = result.confusion.to_numpy()
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)
    side = max(2.4, 0.3 * len(counts) + 1.2)
    figure = new_figure(side + 0.6, side)
    axes = figure.subplots()
    axes.imshow(shares, vmin=0, vmax=1, cmap="Blues")
    for (row, column), share in np.ndenumerate(shares):
        colour = "white" if share > 0.55 else "black"
        about: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6, "color": colour}
        axes.text(column, row, f"{100 * share:.0f}", **about)
    axes.set_xticks(range(len(counts)), result.classes, rotation=90, fontsize=7)
    axes.set_yticks(range(len(counts)), result.classes, fontsize=7)
    axes.set_xlabel("predicted class (percent of true class)")
    axes.set_ylabel("true class")
    axes.set_title(f"{result.dataset}, {result.kernel}")
    return figure
