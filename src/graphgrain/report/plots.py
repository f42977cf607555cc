"""The figures of a page as plain numbers and words, for the script that draws them."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from ..evaluation.summary import describe
from .comparison import Column, Comparison, Runtimes
from .curves import Curve
from .pictures import Picture
from .words import seconds


def accuracy_plot(comparison: Comparison, paper: bool) -> dict[str, Any]:
    """Accuracies as dots with their spread; hollow ones are the paper's."""
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
        "hollow": "the paper's figure"
        if paper and any(c.published for c in comparison.cells)
        else "",
        "rows": rows,
    }


def runtime_plot(runtimes: Runtimes, paper: bool) -> dict[str, Any]:
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
        "hollow": "the paper's figure, on its authors' machine" if any_published else "",
        "rows": rows,
    }


def rank_plot(comparison: Comparison) -> dict[str, Any]:
    """Average ranks, the best first, and the runs that do not differ significantly."""
    ranks = comparison.ranks
    assert ranks is not None
    order = np.argsort(ranks.average, kind="stable").tolist()
    kernels = [
        {
            "name": comparison.columns[number].name,
            "rank": float(ranks.average[number]),
            "number": number,
        }
        for number in order
    ]
    return {
        "title": "Average ranks",
        "description": ", ".join(f"{item['name']}: {item['rank']:.2f}" for item in kernels),
        "critical": ranks.critical_difference,
        "groups": ranks.groups(),
        "kernels": kernels,
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
            }
            for curve in curves
        ],
    }


def picture_plot(picture: Picture) -> dict[str, Any]:
    """Points with what to tell of them; the matrix as bytes."""
    low, high = picture.scale
    levels = np.clip((picture.matrix - low) / (high - low), 0, 1)
    scale = np.abs(picture.points).max() or 1.0
    kernel = f"{Column(picture.kernel).name} ({describe(picture.parameters)})"
    shown = len(picture.codes)
    which = (
        f"{shown} of the {picture.total} graphs, drawn at random" if shown < picture.total else ""
    )
    averaged = (
        f" Each of the {len(picture.matrix)} rows averages neighbouring graphs of a class."
        if picture.averaged
        else ""
    )
    first, second = (100 * picture.explained).tolist()
    return {
        "name": picture.name,
        "classes": picture.classes,
        "counts": np.bincount(picture.codes, minlength=len(picture.classes)).tolist(),
        "names": picture.names,
        "points": [
            [round(x, 4), round(y, 4), code, vertices, edges]
            for (x, y), code, vertices, edges in zip(
                (picture.points / scale).tolist(),
                picture.codes.tolist(),
                picture.vertices.tolist(),
                picture.edges.tolist(),
                strict=True,
            )
        ],
        "mapNote": f"{kernel}{'; ' + which if which else ''}. Graphs that the kernel finds similar "
        f"lie close together; the axes hold {first:.0f} % and {second:.0f} % of the variance.",
        "matrixNote": f"{kernel}{'; ' + which if which else ''}.{averaged} "
        "A kernel that tells the classes apart shows bright squares along the diagonal.",
        "blocks": picture.blocks,
        "averaged": picture.averaged,
        "matrix": base64.b64encode((255 * levels).round().astype(np.uint8).tobytes()).decode(),
        "low": low,
        "high": high,
    }
