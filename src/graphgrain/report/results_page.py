"""The report of an evaluation: one page of HTML that needs nothing else, neither files nor network.

1. :mod:`graphgrain.report.content` computes everything that is shown.
2. Tables, figures and sentences are put together here as plain data.
3. ``templates/page.html`` writes them, and escapes every name in them.
"""

from __future__ import annotations

import base64
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import InvalidParameterError
from ..evaluation import paper as tree_paper
from ..evaluation.comparison import (
    Cell,
    Comparison,
    Cost,
    Runtimes,
    Standing,
    is_figure,
    standings,
)
from ..evaluation.exploration import DrawnGraphs, KernelMap, drawing_of
from ..evaluation.records import (
    FoldRecord,
    LimitRecord,
    fold_records,
    kernel_label,
    kernel_records,
    limit_label,
)
from ..evaluation.splits import FOLDS
from ..evaluation.summary import Curve, Diagnosis, Summary, describe, summarise
from ..graphs.batch import GraphBatch
from ..templating import render
from ..writing import atomic_write
from .content import (
    Content,
    Data,
    Errors,
    Progress,
    compared_p,
    content,
    count,
    kernel_order,
    listed,
    p_value,
    seconds,
    size,
)
from .rank_diagram import RankDiagram, diagram_of

#: Splits in words.
SPLIT_WORDS = {
    "random": "at random",
    "scaffold": "by scaffold",
    "random-scaffold": "by scaffolds in random order",
}
#: What a limit is on.
LIMITED = {"time": "of processor time for a repetition", "memory": "of memory"}


@dataclass(frozen=True)
class Head:
    """The head of a column.

    Attributes
    ----------
    name : str
    text : bool
        Whether the column holds words, which are sorted by the alphabet.
    ascending : bool
        Whether small numbers are the good ones and come first when sorted.
    """

    name: str
    text: bool = False
    ascending: bool = False


@dataclass(frozen=True)
class Entry:
    """One cell of a table.

    Attributes
    ----------
    words : str
        What is shown; empty where there is no result.
    value : float, str or None
        What the column is sorted by; None where there is no result, and words may say why.
    spread, paper : str
        Shown smaller: the standard deviation, the paper's number.
    best : bool
    verdict : {"", "better", "worse"}
    explanation : str
        Of the verdict, or of why there is no result.
    """

    words: str = ""
    value: float | str | None = None
    spread: str = ""
    paper: str = ""
    best: bool = False
    verdict: str = ""
    explanation: str = ""

    @property
    def text(self) -> bool:
        """Whether it holds words rather than a number."""
        return isinstance(self.value, str)


@dataclass(frozen=True)
class TableRow:
    """A row of a table.

    Attributes
    ----------
    name : str
        The data set.
    entries : list of Entry
    note : int
        The number of its note, or 0.
    best : str
        The best entry and its column, for screens on which columns are out of sight.
    majority : str
        The accuracy of always saying the largest class; the error of always saying the mean.
    """

    name: str
    entries: list[Entry]
    note: int = 0
    best: str = ""
    majority: str = ""


@dataclass(frozen=True)
class PageTable:
    """A table in a box that scrolls by itself.

    Attributes
    ----------
    label : str
        Says what the table is, to those who do not see it.
    heads : list of Head
    rows : list of TableRow
    kind : str
        Class of the table.
    anchor : str
        Begins the names of its notes.
    notes : list of str
    """

    label: str
    heads: list[Head]
    rows: list[TableRow]
    kind: str
    anchor: str = ""
    notes: list[str] = field(default_factory=list)


def _number(value: float | None, words: str) -> Entry:
    return Entry() if value is None else Entry(words, value)


def _kind(kind: str, columns: int) -> str:
    """The class of a table; one with many columns is set more tightly."""
    return f"{kind} tight" if columns > 6 else kind


def accuracy_table(comparison: Comparison, label: str, paper: bool, anchor: str) -> PageTable:
    """Data sets down, kernels across; the paper's number under ours."""
    notes = _notes(comparison) if paper else {}
    heads = [Head("Data set", text=True)]
    heads += [Head(column.name, ascending=comparison.numeric) for column in comparison.columns]
    rows = []
    for row in comparison.rows:
        entries = [
            stopped_entry(limit) if limit else _accuracy(cell, paper)
            for cell, limit in zip(row.cells, row.stopped, strict=True)
        ]
        best = next(
            (
                f"{column.name} {entry.words}"
                for column, entry in zip(comparison.columns, entries, strict=True)
                if entry.best
            ),
            "",
        )
        note = list(notes).index(row.dataset) + 1 if row.dataset in notes else 0
        blind = f"{'mean' if comparison.numeric else 'majority'} {_digits(row.majority)}"
        rows.append(TableRow(row.name, entries, note, best, blind))
    words = [f"{name}: {text}." for name, text in notes.items()]
    kind = _kind("accuracy", len(comparison.columns))
    return PageTable(label, heads, rows, kind, anchor, words)


def _notes(comparison: Comparison) -> dict[str, str]:
    """What a reader has to know of the paper's numbers, by data set."""
    return {
        row.dataset: tree_paper.NOTES[row.dataset]
        for row in comparison.rows
        if row.dataset in tree_paper.NOTES and any(cell and cell.published for cell in row.cells)
    }


def stopped_entry(limit: LimitRecord) -> Entry:
    """In place of a result: the kernel was stopped."""
    label = limit_label(limit)
    return Entry(label, explanation=f"stopped: {label} {LIMITED[limit.reason]}")


def _digits(value: float) -> str:
    """Two decimals, or three digits of what is small."""
    return f"{value:.2f}" if abs(value) >= 10 else f"{value:.3g}"


def _accuracy(cell: Cell | None, paper: bool) -> Entry:
    if cell is None:
        return Entry()
    explanation = ""
    if cell.verdict:
        p = compared_p(cell.p if cell.p is not None else 1.0)
        explanation = f"significantly {cell.verdict} than Tree++, p {p}"
    printed = cell.published if paper else None
    return Entry(
        words=_shown(cell, cell.mean),
        value=cell.mean,
        spread=f"± {_shown(cell, cell.spread)}" if cell.summary.repetitions > 1 else "",
        paper=f"{printed[0]:.2f} ± {printed[1]:.2f}" if printed else "",
        best=cell.best,
        verdict=cell.verdict,
        explanation=explanation,
    )


def _shown(cell: Cell, value: float) -> str:
    """A figure of a cell: per cents with two decimals, errors with four digits."""
    return f"{value:.4g}" if cell.summary.numeric else f"{value:.2f}"


def runtime_table(runtimes: Runtimes, paper: bool) -> PageTable:
    """Data sets down, kernels across."""
    heads = [Head("Data set", text=True)]
    heads += [Head(column.name, ascending=True) for column in runtimes.columns]
    rows = []
    for name, costs in runtimes.rows:
        fastest = min((cost.seconds for cost in costs if cost), default=0.0)
        several = sum(cost is not None for cost in costs) > 1
        rows.append(TableRow(name, [_runtime(c, paper, several, fastest) for c in costs]))
    kind = _kind("runtime", len(runtimes.columns))
    return PageTable("Time for the kernel matrices", heads, rows, kind)


def _runtime(cost: Cost | None, paper: bool, several: bool, fastest: float) -> Entry:
    if cost is None:
        return Entry()
    return Entry(
        words=seconds(cost.seconds),
        value=cost.seconds,
        paper=seconds(cost.published) if paper and cost.published is not None else "",
        best=several and cost.seconds == fastest,
    )


def class_table(errors: list[Errors]) -> PageTable:
    """A row for each class of each data set; for each kernel the share of it that is right."""
    kernels = list(dict.fromkeys(item.kernel for item in errors))
    found: dict[str, dict[str, Diagnosis]] = {}
    for item in errors:
        found.setdefault(item.dataset, {})[item.kernel] = item.diagnosis
    heads = [Head("Data set", text=True), Head("Class", text=True), Head("Graphs")]
    heads += [Head(kernel) for kernel in kernels]
    rows = []
    for dataset, by_kernel in found.items():
        first = next(iter(by_kernel.values()))
        for code, name in enumerate(first.classes):
            shares = [
                100 * float(by_kernel[kernel].recall[code]) if kernel in by_kernel else None
                for kernel in kernels
            ]
            known = [round(share, 9) for share in shares if share is not None]
            entries = [Entry(name, name), Entry(str(first.sizes[code]), int(first.sizes[code]))]
            entries += [
                Entry()
                if share is None
                else Entry(
                    f"{share:.1f}",
                    share,
                    best=len(known) > 1 and round(share, 9) == max(known),
                )
                for share in shares
            ]
            rows.append(TableRow(dataset, entries))
    return PageTable("Accuracy per class in per cent", heads, rows, _kind("classes", len(kernels)))


def details_table(comparison: Comparison, label: str, paper: bool) -> PageTable:
    """A row for every kernel on every data set, with all that was measured."""
    paper = paper and any(cell.published for cell in comparison.cells)
    heads = [
        Head("Data set", text=True),
        Head("Kernel", text=True),
        Head(measure_of(comparison), ascending=comparison.numeric),
        Head("Std", ascending=True),
        *([Head("Paper"), Head("Difference")] if paper else []),
        *(
            [Head("MAE", ascending=True), Head("R2")]
            if comparison.numeric
            else [Head("Balanced"), Head("ROC AUC")]
        ),
        *([Head("p vs. Tree++", ascending=True)] if comparison.tested else []),
        Head("Repetitions"),
        Head("Graphs"),
        Head("Kernel time", ascending=True),
        Head("Memory", ascending=True),
        Head("Chosen most often", text=True),
    ]
    rows = []
    for row in comparison.rows:
        for column, cell in zip(comparison.columns, row.cells, strict=True):
            if cell is not None:
                own = _details(cell, paper, comparison.tested)
                rows.append(TableRow(row.name, [Entry(column.name, column.name), *own]))
    return PageTable(label, heads, rows, "details")


def _details(cell: Cell, paper: bool, tested: bool) -> list[Entry]:
    summary = cell.summary
    entries = [
        Entry(_shown(cell, cell.mean), cell.mean),
        _number(cell.spread if summary.repetitions > 1 else None, _shown(cell, cell.spread)),
    ]
    if paper:
        mean = cell.published[0] if cell.published else None
        gap = None if mean is None else cell.mean - mean
        entries += [_number(mean, f"{mean:.2f}" if mean is not None else "")]
        entries += [_number(gap, f"{gap:+.2f}" if gap is not None else "")]
    if summary.numeric:
        entries += [_number(s.mean, f"{s.mean or 0:.4g}") for s in (summary.mae, summary.r2)]
    else:
        for score in (summary.balanced_accuracy.mean, summary.roc_auc.mean):
            entries.append(Entry() if score is None else Entry(f"{100 * score:.2f}", score))
    if tested:
        p = cell.p if cell.p is not None and cell.p == cell.p else None
        entries.append(Entry() if p is None else Entry(p_value(p), p))
    entries += [
        Entry(str(summary.repetitions), summary.repetitions),
        Entry(str(summary.graphs), summary.graphs),
    ]
    time, memory = summary.kernel_seconds, summary.kernel_memory
    entries.append(Entry() if time is None else Entry(seconds(time), time))
    entries.append(Entry() if memory is None else Entry(size(memory), memory))
    chosen = next(iter(summary.chosen))
    return [*entries, Entry(chosen, chosen)]


def league_table(comparison: Comparison, standings: list[Standing]) -> PageTable:
    """A row for each kernel, the best first."""
    heads = [
        Head("Kernel", text=True),
        Head("Rank", ascending=True),
        Head("Data sets"),
        Head("Accuracy"),
        Head("Balanced"),
        Head("Processor time", ascending=True),
        Head("Memory", ascending=True),
        Head("Sees", text=True),
        Head("Stopped", text=True),
    ]
    rows = [TableRow(item.column.name, _entries(item, len(comparison.rows))) for item in standings]
    return PageTable("All kernels by their average rank", heads, rows, "league")


def _entries(item: Standing, sets: int) -> list[Entry]:
    stopped = "; ".join(item.stops)
    sees = None if item.sees is None else ", ".join(item.sees) or "structure alone"
    return [
        Entry() if item.rank is None else Entry(f"{item.rank:.2f}", item.rank),
        Entry(f"{item.results} of {sets}", item.results),
        Entry() if item.accuracy is None else Entry(f"{item.accuracy:.2f}", item.accuracy),
        Entry()
        if item.balanced_accuracy is None
        else Entry(f"{item.balanced_accuracy:.2f}", item.balanced_accuracy),
        Entry() if item.seconds is None else Entry(seconds(item.seconds), item.seconds),
        Entry() if item.memory is None else Entry(size(item.memory), item.memory),
        Entry(sees or "", sees),
        Entry(stopped, stopped),
    ]


#: So many of the graphs that are wrong most often are drawn.
MOST_DRAWN = 12
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
            words = _shown(cell, cell.mean)
            words += f" ± {_shown(cell, cell.spread)}" if several else ""
            words += "" if comparison.numeric else " %"
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
        "title": f"{measure_of(comparison)} of each kernel on each data set",
        "description": "The table above holds the numbers.",
        "axis": measure_of(comparison)
        if comparison.numeric
        else f"{measure_of(comparison).lower()} in per cent",
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


def _mistaken(graphs: GraphBatch | None, number: int) -> dict[str, Any] | None:
    """What there is to draw of a graph, if it is at hand and small enough."""
    if graphs is None or number >= len(graphs):
        return None
    return drawing_of(graphs[number])


def error_plots(errors: list[Errors], graphs: dict[str, GraphBatch]) -> list[dict[str, Any]]:
    """Confusion matrices, and the graphs that are wrong most often, some of them drawn."""
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
            "drawn": [
                _mistaken(graphs.get(item.dataset), wrong.graph)
                for wrong in item.diagnosis.wrong[:MOST_DRAWN]
            ],
        }
        for item in errors
    ]


@dataclass(frozen=True)
class Place:
    """Where the script draws a figure: ``kind`` and number in the data of the page."""

    kind: str
    number: int
    style: str = "plot"


@dataclass(frozen=True)
class Part:
    """A piece of a section; what is empty is left out.

    Attributes
    ----------
    heading, words : str
    empty : bool
        Whether the words say that there is nothing to show.
    table : PageTable or None
    legend : dict
        What marks in the table mean; see templates/page.html.
    notes : list of str
    figure : Place or None
    diagram : RankDiagram or None
    facts : list of (name, words)
    """

    heading: str = ""
    words: str = ""
    empty: bool = False
    table: PageTable | None = None
    legend: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    figure: Place | None = None
    diagram: RankDiagram | None = None
    facts: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Section:
    """A part of the page, with its name in the navigation."""

    anchor: str
    title: str
    parts: list[Part]


class Sections:
    """Builds the sections and collects the numbers of their figures.

    Attributes
    ----------
    figures : dict
        For the script: lists of plots by kind.
    """

    def __init__(self, content: Content, paper: bool) -> None:
        self.content = content
        self.paper = paper
        self.kernels = kernel_order(content.comparisons, content.runtimes)
        self.figures: dict[str, list[Any]] = {
            kind: [] for kind in ("dots", "curves", "maps", "errors")
        }

    def all(self) -> list[Section]:
        """The sections that have something to show."""
        return [
            *self._accuracies(),
            *self._league(),
            *self._errors(),
            *self._runtimes(),
            *self._curves(),
            *self._maps(),
            *self._details(),
            self._about(),
        ]

    def _place(self, kind: str, plot: Any, style: str = "plot") -> Place:
        self.figures[kind].append(plot)
        return Place(kind, len(self.figures[kind]) - 1, style)

    def _accuracies(self) -> list[Section]:
        found, unfinished = self.content.comparisons, self.content.unfinished
        if not found:
            words = (
                "No repetition of a cross-validation is complete yet, so there is no accuracy to "
                "show. The same command that began it goes on where it was."
            )
            return [
                Section("accuracy", "Accuracy", [Part(words=words, empty=True, notes=unfinished)])
            ]
        sections = []
        for number, comparison in enumerate(found):
            title = measure_of(comparison) if number == 0 else heading(comparison, found[0])
            anchor = "accuracy" if number == 0 else f"accuracy-{number + 1}"
            unit = "" if comparison.numeric else " in per cent"
            table = accuracy_table(comparison, f"{title}{unit}", self.paper, anchor)
            part = Part(
                words=explanation(comparison),
                table=table,
                legend=self._legend(comparison) if number == 0 else {},
                notes=unfinished if number == 0 else [],
                figure=self._dots(
                    accuracy_plot(comparison, self.paper, self.kernels), comparison.rows
                ),
            )
            sections.append(Section(anchor, title, [part]))
        return sections

    def _dots(self, plot: dict[str, Any], rows: Sequence[Any]) -> Place | None:
        """A chart of several data sets; of a single one the table says as much in less room."""
        return self._place("dots", plot) if len(rows) > 1 else None

    def _legend(self, comparison: Comparison) -> dict[str, Any]:
        printed = self.paper and any(cell.published for cell in comparison.cells)
        other = comparison.first.mode != "paper" or comparison.first.deduplicated
        return {
            "best": any(cell.best for cell in comparison.cells),
            "spread": max(comparison.repetitions) > 1,
            "paper": printed,
            "paper_differs": other,
            "tested": comparison.tested,
            "verdicts": any(cell.verdict for cell in comparison.cells),
        }

    def _league(self) -> list[Section]:
        parts = []
        validated = [c for c in self.content.comparisons if c.select == "validated"]
        for comparison in validated:
            stopped = any(limit for row in comparison.rows for limit in row.stopped)
            if comparison.ranks is None and not stopped:
                continue
            name = protocol(comparison.first) if len(validated) > 1 else ""
            parts.append(
                Part(
                    heading=name,
                    words=standing_words(comparison),
                    table=league_table(comparison, standings(comparison)),
                    diagram=None if comparison.ranks is None else diagram_of(comparison),
                )
            )
        return [Section("ranks", "League table", parts)] if parts else []

    def _errors(self) -> list[Section]:
        errors = self.content.errors
        if not errors:
            return []
        self.figures["errors"] = error_plots(errors, self.content.graphs)
        words = "The share of each class that is classified rightly, in per cent"
        several = len({protocol(c.first) for c in self.content.comparisons}) > 1
        words += ", under the first protocol above that has the data set." if several else "."
        parts = [
            Part(words=words, table=class_table(errors)),
            Part(heading="Which classes are confused, and which graphs", figure=Place("errors", 0)),
        ]
        return [Section("errors", "Classes and errors", parts)]

    def _runtimes(self) -> list[Section]:
        runtimes = self.content.runtimes
        if runtimes is None:
            return []
        costs = [cost for _, row in runtimes.rows for cost in row if cost]
        threads = listed([str(number) for number in sorted({cost.n_jobs for cost in costs})])
        words = (
            "From graphs to the normalised kernel matrices of all levels, for one setting of "
            f"the kernel's grid, with {threads} {'thread' if threads == '1' else 'threads'}."
        )
        part = Part(
            words=words,
            table=runtime_table(runtimes, self.paper),
            figure=self._dots(runtime_plot(runtimes, self.paper, self.kernels), runtimes.rows),
        )
        return [Section("runtime", "Time", [part])]

    def _curves(self) -> Iterator[Section]:
        for symbol, other, what, curves in (
            ("k", "d", "the depth of the trees along a path", self.content.against_k),
            ("d", "k", "the length of the paths", self.content.against_d),
        ):
            if not curves:
                continue
            fixed = listed([str(number) for number in sorted({curve.fixed for curve in curves})])
            words = f"Tree++ with {symbol}, {what}, fixed for all folds ({other} = {fixed}). "
            if any(curve.repetitions > 1 for curve in curves):
                words += "The band is one standard deviation over the repetitions. "
            words += "The larger dot is the best."
            figure = self._place("curves", curve_plot(curves, symbol), "panels")
            title = f"Accuracy against {symbol}"
            yield Section(f"against-{symbol}", title, [Part(words=words, figure=figure)])

    def _maps(self) -> list[Section]:
        parts = []
        if self.content.maps:
            self.figures["maps"] = [map_plots(self.content.maps)]
            parts.append(Part(figure=Place("maps", 0)))
        if self.content.unseen:
            words = "Not shown (graphgrain report --data names the files of data sets):"
            reasons = [f"{name}: {reason}." for name, reason in self.content.unseen.items()]
            parts.append(Part(words=words, notes=reasons))
        return [Section("graphs", "The graphs", parts)] if parts else []

    def _details(self) -> list[Section]:
        parts = []
        for comparison in self.content.comparisons:
            name = heading(comparison)
            table = details_table(comparison, name, self.paper)
            parts.append(Part(heading=name, table=table))
        return [Section("details", "All numbers", parts)] if parts else []

    def _about(self) -> Section:
        records = self.content.records
        versions = {tuple(sorted(record.versions.items())) for record in records}
        folds = fold_records(records)
        facts = [("Results file", self.content.file)]
        facts += [("Protocol", words) for words in dict.fromkeys(map(protocol, folds))]
        seeds = sorted({record.seed for record in folds})
        facts += [("Seed", listed([str(seed) for seed in seeds]))] if folds else []
        kernels = count(len(kernel_records(records)), "kernel")
        facts += [
            ("Records", f"{count(len(folds), 'fold')}, {kernels}"),
            ("Written", _span([record.time for record in records])),
        ]
        facts += [
            ("Versions", ", ".join(f"{name} {version}" for name, version in group))
            for group in sorted(versions)
        ]
        sets = dict.fromkeys((record.dataset, record.fingerprint) for record in records)
        facts.append(("Data", ", ".join(f"{name} ({mark})" for name, mark in sets)))
        return Section("about", "How this was made", [Part(facts=facts)])


def measure_of(comparison: Comparison) -> str:
    """What the figures of a comparison are."""
    return "RMSE" if comparison.numeric else "Accuracy"


def rules(record: FoldRecord) -> list[str]:
    """The rules of an evaluation, each in a few words."""
    if record.split == FOLDS:
        words = [f"{record.mode} mode", f"{record.folds} folds"]
    else:
        words = [f"split {record.split}"]
    words += [f"{record.inner_folds} inner folds"] if record.mode == "nested" else []
    words += [f"C from {listed([f'{C:g}' for C in record.C])}"]
    return words + (["without isomorphic duplicates"] if record.deduplicated else [])


def protocol(record: FoldRecord) -> str:
    """The rules of an evaluation in one line."""
    return ", ".join(rules(record))


def heading(comparison: Comparison, first: Comparison | None = None) -> str:
    """A title with the rules, or with what sets a comparison apart from the first one."""
    own = rules(comparison.first)
    if first is not None:
        others = [*rules(first.first), f"seed {first.first.seed}"]
        own = [words for words in [*own, f"seed {comparison.first.seed}"] if words not in others]
    apart = ", ".join(own)
    hindsight = comparison.select == "reported-best"
    title = "Best parameters in hindsight" if hindsight else measure_of(comparison)
    return f"{title} ({apart})" if apart else title


def explanation(comparison: Comparison) -> str:
    """How the accuracies of a comparison came about."""
    record = comparison.first
    times = listed([str(number) for number in comparison.repetitions])
    words = f"{times} {'repetition' if times == '1' else 'repetitions'} of "
    if record.split == FOLDS:
        words += f"{record.folds}-fold cross-validation"
    else:
        words += f"one split, {SPLIT_WORDS.get(record.split, f'by the column {record.split}')},"
    words += (
        " of a regressor that tunes itself"
        if comparison.numeric
        else (" of a support vector machine on the normalised kernel")
    )
    words += ", without isomorphic duplicates. " if record.deduplicated else ". "
    if comparison.numeric:
        return words + (
            "RMSE is the root mean squared error over all test graphs of a repetition, in the "
            "unit of the target; everything is chosen on training graphs."
        )
    if comparison.select == "reported-best":
        return words + (
            "Here each kernel shows the one setting of its parameters that did best on the test "
            "graphs, as published figures often do, those of the paper among them. It is "
            "optimistic, since the test graphs took part in the choice."
        )
    if record.mode == "paper":
        return words + (
            "As in the paper, folds are not stratified, and for each test fold one of the others "
            "chooses C and the kernel's own parameters."
        )
    if record.split != FOLDS:
        return words + (
            f"A cross-validation with {record.inner_folds} folds of the training graphs chooses C "
            "and the kernel's own parameters."
        )
    return words + (
        f"Folds are stratified, and for each test fold a cross-validation with "
        f"{record.inner_folds} folds of the training graphs chooses C and the kernel's own "
        "parameters."
    )


def standing_words(comparison: Comparison) -> str:
    """How the league table of a comparison is to be read."""
    ranks = comparison.ranks
    if ranks is None:
        words = "There are too few data sets or kernels for ranks that could mean anything."
    else:
        friedman = "" if ranks.p != ranks.p else f" (Friedman test: p {compared_p(ranks.p)})"
        ranked = len(comparison.ranked)
        measure = "error" if comparison.numeric else "accuracy"
        words = (
            f"Kernels ranked by {measure} on each of {count(ranks.datasets, 'data set')}, then "
            f"averaged; 1 would be the best everywhere{friedman}. A thick line joins kernels that "
            "do not differ significantly: their ranks lie within the critical difference of the "
            f"Nemenyi test at 5 %, {ranks.critical_difference:.2f}. The other columns are over "
            "the same data sets."
        )
        if ranked < len(comparison.columns):
            words += (
                f" {count(ranked, 'kernel')} of {len(comparison.columns)} are ranked: those with a "
                "result on every data set."
            )
    if any(limit for row in comparison.rows for limit in row.stopped):
        words += (
            " A kernel that ran over its limit on a data set, in processor seconds for a "
            "repetition or in memory, was stopped there and has no result."
        )
    return words


def _span(times: list[str]) -> str:
    """From the first to the last time, to the minute."""
    first, last = (time[:16].replace("T", " ") for time in (min(times), max(times)))
    return f"{first} UTC" if first == last else f"{first} to {last} UTC"


def write_report(
    results_path: str | os.PathLike[str],
    output_path: str | os.PathLike[str],
    *,
    paper: bool = True,
    data: Data | None = None,
    title: str | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    links: Sequence[tuple[str, str]] = (),
) -> Path:
    """Write a report of a results file as one HTML page.

    Parameters
    ----------
    results_path : path
        As written by ``graphgrain evaluate`` or ``graphgrain reproduce``.
    output_path : path
        Replaced if it exists; untouched if anything fails.
    paper : bool
        Whether the figures of the Tree++ paper stand next to ours.
    data : mapping from name to (graphs, y) or (graphs, y, names), optional
        Data sets whose kernel matrix and map are to be shown. The bundled drugs, those in the
        folder ``GRAPHGRAIN_DATA`` and those downloaded before are found without it.
    title : str, optional
        The heading of the page; by default what was found.
    n_jobs : int, optional
        Number of threads for the kernels.
    progress : callable(str), optional
        Called with a few words whenever something begins that takes time.
    links : sequence of (words, address)
        Other pages.

    Returns
    -------
    path : Path
        The page.
    """
    output = Path(output_path)
    try:
        if output.exists() and output.samefile(results_path):
            raise InvalidParameterError(
                f"The report must not replace its results; both are {str(output)!r}. Choose "
                "another name, such as report.html."
            )
    except OSError:
        pass  # results that cannot be read are reported by the reader, in its own words
    shown = content(results_path, data, n_jobs, progress)
    text = page(shown, paper=paper, title=title, links=links)
    with atomic_write(output, "The report") as file:
        file.write(text.encode())
    return output


def page(
    shown: Content,
    *,
    paper: bool = True,
    title: str | None = None,
    links: Sequence[tuple[str, str]] = (),
) -> str:
    """The whole page as text."""
    sections = Sections(shown, paper)
    parts = sections.all()
    return render(
        "graphgrain.report",
        "page.html",
        title=title or _finding(shown),
        links=links,
        version=__version__,
        lead=_lead(shown),
        sections=parts,
        data=sections.figures,
    )


def _finding(shown: Content) -> str:
    """The result in one sentence: which kernel is right most often."""
    best: dict[str, Summary] = {}
    for row in summarise(shown.records):
        accuracy = row.accuracy.mean
        known = best.get(row.dataset)
        if accuracy is not None and (known is None or accuracy > (known.accuracy.mean or 0.0)):
            best[row.dataset] = row
    if not best:
        return "Graph kernels compared"
    if len(best) == 1:
        [(name, row)] = best.items()
        assert row.accuracy.mean is not None
        return (
            f"{kernel_label(row.kernel)} is right for {100 * row.accuracy.mean:.1f} % of "
            f"{row.graphs:,} graphs of {name}"
        )
    wins = Counter(kernel_label(row.kernel) for row in best.values())
    [(kernel, number)] = wins.most_common(1)
    return f"{kernel} is right most often on {number} of {len(best)} data sets"


def _lead(shown: Content) -> str:
    kernels = {(r.kernel, "" if is_figure(r.variant) else r.variant) for r in shown.records}
    sets = {(record.dataset, record.fingerprint) for record in shown.records}
    words = f"{count(len(kernels), 'kernel')} on {count(len(sets), 'data set')}"
    fits = sum(record.fits for record in fold_records(shown.records))
    return words + (f", {fits:,} support vector machines trained." if fits else ".")
