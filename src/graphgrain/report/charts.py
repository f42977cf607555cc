"""The figures of a page as plain numbers and words, for the script that draws them."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from ..evaluation.accuracy_curves import Curve
from ..evaluation.display_names import kernel_label
from ..evaluation.kernel_comparison import Comparison, Runtimes
from ..evaluation.kernel_map import DrawnGraphs, KernelMap
from ..evaluation.summary import describe
from .content import Errors
from .words import seconds

#: So many of the graphs that are wrong most often are listed.
MOST_WRONG = 30


def accuracy_plot(comparison: Comparison, paper: bool, kernels: list[str]) -> dict[str, Any]:
    """Accuracies as dots with their spread; hollow ones are the paper's.

    ``kernels`` are all of the page, so that each has the same mark and colour everywhere.
    """
    rows = []
    for row in comparison.rows:
        cells: list[dict[str, Any] | None] = []
        for cell in row.cells:
            if cell is None:
                cells.append(None)
                continue
            printed = cell.published if paper else None
            several = cell.summary.repetitions > 1
            words = f"{cell.mean:.2f}{f' ± {cell.spread:.2f}' if several else ''} %"
            spread = [cell.mean - cell.spread, cell.mean + cell.spread]
            if printed:
                words += f"\npaper: {printed[0]:.2f} ± {printed[1]:.2f} %"
            cells.append(
                {
                    "value": cell.mean,
                    "spread": cell.spread,
                    "published": printed[0] if printed else None,
                    "range": spread + ([printed[0]] if printed else []),
                    "words": words,
                }
            )
        rows.append({"name": row.name, "cells": cells})
    return {
        "title": "Accuracy of each kernel on each data set",
        "description": "The table above holds the numbers.",
        "axis": "accuracy in per cent",
        "log": False,
        "series": [column.name for column in comparison.columns],
        "numbers": [kernels.index(column.name) for column in comparison.columns],
        "hollow": "the paper's figure"
        if paper and any(c.published for c in comparison.cells)
        else "",
        "rows": rows,
    }


def runtime_plot(runtimes: Runtimes, paper: bool, kernels: list[str]) -> dict[str, Any]:
    """Seconds on a logarithmic axis."""
    rows = []
    any_published = False
    for name, costs in runtimes.rows:
        cells: list[dict[str, Any] | None] = []
        for cost in costs:
            if cost is None:
                cells.append(None)
                continue
            value = max(cost.seconds, 1e-4)  # the clock's resolution in records
            printed = cost.published if paper else None
            any_published |= printed is not None
            cells.append(
                {
                    "value": value,
                    "spread": 0,
                    "published": printed,
                    "range": [value] + ([printed] if printed else []),
                    "words": seconds(cost.seconds)
                    + (f"\npaper: {seconds(printed)}" if printed else ""),
                }
            )
        rows.append({"name": name, "cells": cells})
    return {
        "title": "Time for the kernel matrices",
        "description": "The table above holds the numbers.",
        "axis": "time, logarithmic",
        "log": True,
        "series": [column.name for column in runtimes.columns],
        "numbers": [kernels.index(column.name) for column in runtimes.columns],
        "hollow": "the paper's figure, on its authors' machine" if any_published else "",
        "rows": rows,
    }


def curve_plot(curves: list[Curve], symbol: str) -> dict[str, Any]:
    """Accuracy against a depth, a panel for each data set."""
    return {
        "title": f"accuracy of Tree++ against {symbol}",
        "axis": f"{symbol}",
        "parameter": symbol,
        "panels": [
            {
                "name": curve.name,
                "x": curve.x,
                "mean": curve.mean,
                "sd": curve.spread,
                "several": curve.repetitions > 1,
            }
            for curve in curves
        ],
    }


def map_plots(maps: list[KernelMap]) -> dict[str, Any]:
    """Data sets with their graphs, and for each kernel the points and the matrix as bytes."""
    sets: dict[str, DrawnGraphs] = {item.drawn.name: item.drawn for item in maps}
    return {
        "sets": [_drawn(drawn) for drawn in sets.values()],
        "items": [_map(item, list(sets).index(item.drawn.name)) for item in maps],
    }


def _drawn(drawn: DrawnGraphs) -> dict[str, Any]:
    return {
        "name": drawn.name,
        "classes": drawn.classes,
        "counts": drawn.counts.tolist(),
        "names": drawn.names,
        "codes": drawn.codes.tolist(),
        "vertices": drawn.vertices.tolist(),
        "edges": drawn.edges.tolist(),
    }


def _map(item: KernelMap, number: int) -> dict[str, Any]:
    low, high = item.scale
    levels = np.clip((item.matrix - low) / (high - low), 0, 1)
    drawn = item.drawn
    kernel = f"{kernel_label(item.kernel)} ({describe(item.parameters)})"
    if len(drawn) < drawn.total:
        kernel += f"; {len(drawn)} of the {drawn.total} graphs, drawn at random"
    averaged = (
        f" Each of the {len(item.matrix)} rows averages neighbouring graphs of a class."
        if item.averaged
        else ""
    )
    first, second = (100 * item.explained).tolist()
    return {
        "set": number,
        "kernel": kernel_label(item.kernel, item.variant),
        "alike": item.all_alike,
        "points": item.points.round(5).tolist(),
        "axes": [
            f"first axis, {first:.0f} % of the variance",
            f"second axis, {second:.0f} %",
        ],
        "mapNote": f"{kernel}. Graphs that the kernel finds similar lie close together.",
        "matrixNote": f"{kernel}.{averaged} A kernel that tells the classes apart shows bright "
        "squares along the diagonal.",
        "blocks": item.blocks,
        "averaged": item.averaged,
        "matrix": base64.b64encode((255 * levels).round().astype(np.uint8).tobytes()).decode(),
        "low": low,
        "high": high,
    }


def error_plots(errors: list[Errors]) -> list[dict[str, Any]]:
    """Confusion matrices, and the graphs that are wrong most often."""
    return [
        {
            "set": item.dataset,
            "kernel": item.kernel,
            "classes": item.diagnosis.classes,
            "confusion": item.diagnosis.confusion.round(2).tolist(),
            "repetitions": item.diagnosis.repetitions,
            "count": len(item.diagnosis.wrong),
            "wrong": [
                [name, wrong.truth, wrong.predicted, wrong.times]
                for name, wrong in zip(item.names, item.diagnosis.wrong, strict=True)
            ][:MOST_WRONG],
        }
        for item in errors
    ]
