"""The report of an evaluation: one page of HTML that needs nothing else, neither files nor network.

1. :mod:`graphgrain.report.content` computes everything that is shown.
2. Tables, figures and sentences are put together here as plain data.
3. ``templates/page.html`` writes them, and escapes every name in them.
"""

from __future__ import annotations

import base64
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import __version__
from ..errors import InvalidParameterError
from ..evaluation import paper as tree_paper
from ..evaluation.comparison import (
    Cell,
    Column,
    Comparison,
    Cost,
    Runtimes,
    Standing,
    is_figure,
    standings,
)
from ..evaluation.exploration import KernelMap, drawing_of
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


class Head(NamedTuple):
    """The head of a column."""

    name: str
    text: bool = False  # whether it holds words, which are sorted by the alphabet
    ascending: bool = False  # whether small numbers are the good ones, first when sorted


#: Heads of words, and of numbers of which small ones are good.
_words = partial(Head, text=True)
_small = partial(Head, ascending=True)


class Entry(NamedTuple):
    """One cell of a table."""

    words: str = ""  # empty where there is no result
    value: float | str | None = None  # sorted by this; None: no result, and words may say why
    spread: str = ""
    paper: str = ""
    best: bool = False
    verdict: str = ""  # "better" or "worse"
    explanation: str = ""  # of the verdict, or of why there is no result

    @property
    def text(self) -> bool:
        """Whether it holds words rather than a number."""
        return isinstance(self.value, str)


class TableRow(NamedTuple):
    """A row of a table."""

    name: str
    entries: list[Entry]
    note: int = 0  # the number of its note
    best: str = ""  # the best entry and its column, where columns are out of sight
    majority: str = ""  # the score of always saying the largest class, or the mean


class PageTable(NamedTuple):
    """A table in a box that scrolls by itself."""

    label: str  # says what it is, to those who do not see it
    heads: list[Head]
    rows: list[TableRow]
    kind: str  # its class
    anchor: str = ""  # begins the names of its notes
    notes: Sequence[str] = ()


class Place(NamedTuple):
    """Where the script draws a figure: ``kind`` and number in the data of the page."""

    kind: str
    number: int
    style: str = "plot"


class Part(NamedTuple):
    """A piece of a section; what is empty is left out."""

    heading: str = ""
    words: str = ""
    empty: bool = False  # whether the words say that there is nothing to show
    table: PageTable | None = None
    legend: dict[str, Any] | None = None  # what marks in the table mean: templates/page.html
    notes: Sequence[str] = ()
    figure: Place | None = None
    diagram: RankDiagram | None = None
    facts: Sequence[tuple[str, str]] = ()


class Section(NamedTuple):
    """A part of the page, with its name in the navigation."""

    anchor: str
    title: str
    parts: list[Part]


def _entry(value: float | None, form: str | Callable[[Any], str] = "", **more: Any) -> Entry:
    """A number in a format, or in the words of a function; empty without one."""
    if value is None:
        return Entry()
    return Entry(format(value, form) if isinstance(form, str) else form(value), value, **more)


def _text(words: str) -> Entry:
    return Entry(words, words)


def _across(
    label: str, kind: str, columns: Sequence[str], rows: list[TableRow], ascending: bool
) -> PageTable:
    """Data sets down, kernels across; many columns are set more tightly."""
    heads = [_words("Data set"), *(Head(name, ascending=ascending) for name in columns)]
    return PageTable(label, heads, rows, f"{kind} tight" if len(columns) > 6 else kind)


def accuracy_table(comparison: Comparison, label: str, paper: bool, anchor: str) -> PageTable:
    """Data sets down, kernels across; the paper's number under ours."""
    printed = [row.dataset for row in comparison.rows if any(c and c.published for c in row.cells)]
    notes = [name for name in dict.fromkeys(printed) if paper and name in tree_paper.NOTES]
    names = [column.name for column in comparison.columns]
    rows = []
    for row in comparison.rows:
        entries = [
            _stopped(limit) if limit else _accuracy(cell, paper)
            for cell, limit in zip(row.cells, row.stopped, strict=True)
        ]
        told = zip(names, entries, strict=True)
        best = next((f"{name} {entry.words}" for name, entry in told if entry.best), "")
        note = notes.index(row.dataset) + 1 if row.dataset in notes else 0
        digits = ".2f" if abs(row.majority) >= 10 else ".3g"
        blind = f"{'mean' if comparison.numeric else 'majority'} {row.majority:{digits}}"
        rows.append(TableRow(row.name, entries, note, best, blind))
    words = [f"{name}: {tree_paper.NOTES[name]}." for name in notes]
    table = _across(label, "accuracy", names, rows, comparison.numeric)
    return table._replace(anchor=anchor, notes=words)


def _stopped(limit: LimitRecord) -> Entry:
    """In place of a result: the kernel was stopped."""
    label = limit_label(limit)
    return Entry(label, explanation=f"stopped: {label} {LIMITED[limit.reason]}")


def _accuracy(cell: Cell | None, paper: bool) -> Entry:
    if cell is None:
        return Entry()
    explanation = ""
    if cell.verdict and cell.p is not None:
        explanation = f"significantly {cell.verdict} than Tree++, p {compared_p(cell.p)}"
    return Entry(
        words=_shown(cell, cell.mean),
        value=cell.mean,
        spread=f"± {_shown(cell, cell.spread)}" if cell.summary.repetitions > 1 else "",
        paper="{:.2f} ± {:.2f}".format(*cell.published) if paper and cell.published else "",
        best=cell.best,
        verdict=cell.verdict,
        explanation=explanation,
    )


def _shown(cell: Cell, value: float) -> str:
    """A figure of a cell: per cents with two decimals, errors with four digits."""
    return f"{value:.4g}" if cell.summary.numeric else f"{value:.2f}"


def runtime_table(runtimes: Runtimes, paper: bool) -> PageTable:
    """Data sets down, kernels across."""
    rows = []
    for name, costs in runtimes.rows:
        known = [cost.seconds for cost in costs if cost]
        entries = [
            Entry(
                words=seconds(cost.seconds),
                value=cost.seconds,
                paper=seconds(cost.published) if paper and cost.published is not None else "",
                best=len(known) > 1 and cost.seconds == min(known),
            )
            if cost
            else Entry()
            for cost in costs
        ]
        rows.append(TableRow(name, entries))
    names = [column.name for column in runtimes.columns]
    return _across("Time for the kernel matrices", "runtime", names, rows, ascending=True)


def class_table(errors: list[Errors]) -> PageTable:
    """A row for each class of each data set; for each kernel the share of it that is right."""
    kernels = list(dict.fromkeys(item.kernel for item in errors))
    found: dict[str, dict[str, Diagnosis]] = {}
    for item in errors:
        found.setdefault(item.dataset, {})[item.kernel] = item.diagnosis
    rows = []
    for dataset, by_kernel in found.items():
        first = next(iter(by_kernel.values()))
        for code, name in enumerate(first.classes):
            shares = {k: 100 * float(by_kernel[k].recall[code]) for k in kernels if k in by_kernel}
            known = [round(share, 9) for share in shares.values()]
            entries = [_text(name), _entry(int(first.sizes[code]))]
            for kernel in kernels:
                share = shares.get(kernel)
                best = share is not None and len(known) > 1 and round(share, 9) == max(known)
                entries.append(_entry(share, ".1f", best=best))
            rows.append(TableRow(dataset, entries))
    table = _across("Accuracy per class in per cent", "classes", kernels, rows, ascending=False)
    heads = [table.heads[0], _words("Class"), Head("Graphs"), *table.heads[1:]]
    return table._replace(heads=heads)


def details_table(comparison: Comparison, label: str, paper: bool) -> PageTable:
    """A row for every kernel on every data set, with all that was measured."""
    columns: list[tuple[Head, Callable[[Cell], Entry]]] = [
        (
            Head(measure_of(comparison), ascending=comparison.numeric),
            lambda cell: Entry(_shown(cell, cell.mean), cell.mean),
        ),
        (
            _small("Std"),
            lambda cell: _entry(
                cell.spread if cell.summary.repetitions > 1 else None, partial(_shown, cell)
            ),
        ),
    ]
    if paper and any(cell.published for cell in comparison.cells):
        columns += [
            (Head("Paper"), lambda c: _entry(c.published[0] if c.published else None, ".2f")),
            (
                Head("Difference"),
                lambda c: _entry(c.mean - c.published[0] if c.published else None, "+.2f"),
            ),
        ]
    if comparison.numeric:
        columns += [
            (_small("MAE"), lambda cell: _entry(cell.summary.mae.mean, ".4g")),
            (Head("R2"), lambda cell: _entry(cell.summary.r2.mean, ".4g")),
        ]
    else:
        columns += [
            (Head("Balanced"), lambda cell: _entry(cell.summary.balanced_accuracy.mean, _percent)),
            (Head("ROC AUC"), lambda cell: _entry(cell.summary.roc_auc.mean, _percent)),
        ]
    if comparison.tested:
        columns.append(
            (
                _small("p vs. Tree++"),
                lambda cell: _entry(None if cell.p != cell.p else cell.p, p_value),
            )
        )
    columns += [
        (Head("Repetitions"), lambda cell: _entry(cell.summary.repetitions)),
        (Head("Graphs"), lambda cell: _entry(cell.summary.graphs)),
        (_small("Kernel time"), lambda cell: _entry(cell.summary.kernel_seconds, seconds)),
        (_small("Memory"), lambda cell: _entry(cell.summary.kernel_memory, size)),
        (_words("Chosen most often"), lambda cell: _text(next(iter(cell.summary.chosen)))),
    ]
    rows = [
        TableRow(row.name, [_text(column.name), *(make(cell) for _, make in columns)])
        for row in comparison.rows
        for column, cell in zip(comparison.columns, row.cells, strict=True)
        if cell is not None
    ]
    heads = [_words("Data set"), _words("Kernel"), *(head for head, _ in columns)]
    return PageTable(label, heads, rows, "details")


def _percent(share: float) -> str:
    return f"{100 * share:.2f}"


def league_table(comparison: Comparison) -> PageTable:
    """A row for each kernel, the best first."""

    def sees(item: Standing) -> Entry:
        words = None if item.sees is None else ", ".join(item.sees) or "structure alone"
        return Entry(words or "", words)

    sets = len(comparison.rows)
    columns: list[tuple[Head, Callable[[Standing], Entry]]] = [
        (_small("Rank"), lambda item: _entry(item.rank, ".2f")),
        (Head("Data sets"), lambda item: Entry(f"{item.results} of {sets}", item.results)),
        (Head("Accuracy"), lambda item: _entry(item.accuracy, ".2f")),
        (Head("Balanced"), lambda item: _entry(item.balanced_accuracy, ".2f")),
        (_small("Processor time"), lambda item: _entry(item.seconds, seconds)),
        (_small("Memory"), lambda item: _entry(item.memory, size)),
        (_words("Sees"), sees),
        (_words("Stopped"), lambda item: _text("; ".join(item.stops))),
    ]
    rows = [
        TableRow(item.column.name, [make(item) for _, make in columns])
        for item in standings(comparison)
    ]
    heads = [_words("Kernel"), *(head for head, _ in columns)]
    return PageTable("All kernels by their average rank", heads, rows, "league")


#: So many of the graphs that are wrong most often are drawn.
MOST_DRAWN = 12
#: So many of the graphs that are wrong most often are listed.
MOST_WRONG = 30


def _dots(
    title: str,
    axis: str,
    log: bool,
    columns: list[Column],
    rows: Sequence[tuple[str, list[dict[str, Any] | None]]],
    hollow: str,
    kernels: list[str],
) -> dict[str, Any]:
    """Dots with their spread; hollow ones are the paper's.

    ``kernels`` are all of the page, so that each has the same mark and colour everywhere.
    """
    shown = [cell for _, cells in rows for cell in cells if cell]
    return {
        "title": title,
        "description": "The table above holds the numbers.",
        "axis": axis,
        "log": log,
        "series": [column.name for column in columns],
        "numbers": [kernels.index(column.name) for column in columns],
        "hollow": hollow if any(cell["published"] is not None for cell in shown) else "",
        "rows": [{"name": name, "cells": cells} for name, cells in rows],
    }


def accuracy_plot(comparison: Comparison, paper: bool, kernels: list[str]) -> dict[str, Any]:
    """Accuracies, or errors."""

    def dot(cell: Cell | None) -> dict[str, Any] | None:
        if cell is None:
            return None
        words = _shown(cell, cell.mean)
        words += f" ± {_shown(cell, cell.spread)}" if cell.summary.repetitions > 1 else ""
        words += "" if comparison.numeric else " %"
        printed = cell.published if paper else None
        return {
            "value": cell.mean,
            "spread": cell.spread,
            "published": printed[0] if printed else None,
            "range": [cell.mean - cell.spread, cell.mean + cell.spread, *(printed or ())[:1]],
            "words": words + ("\npaper: {:.2f} ± {:.2f} %".format(*printed) if printed else ""),
        }

    measure = measure_of(comparison)
    return _dots(
        f"{measure} of each kernel on each data set",
        measure if comparison.numeric else f"{measure.lower()} in per cent",
        False,
        comparison.columns,
        [(row.name, [dot(cell) for cell in row.cells]) for row in comparison.rows],
        "the paper's figure",
        kernels,
    )


def runtime_plot(runtimes: Runtimes, paper: bool, kernels: list[str]) -> dict[str, Any]:
    """Seconds on a logarithmic axis."""

    def dot(cost: Cost | None) -> dict[str, Any] | None:
        if cost is None:
            return None
        value = max(cost.seconds, 1e-4)  # the clock's resolution in records
        printed = cost.published if paper else None
        return {
            "value": value,
            "spread": 0,
            "published": printed,
            "range": [value, *([printed] if printed else [])],
            "words": seconds(cost.seconds) + (f"\npaper: {seconds(printed)}" if printed else ""),
        }

    return _dots(
        "Time for the kernel matrices",
        "time, logarithmic",
        True,
        runtimes.columns,
        [(name, [dot(cost) for cost in costs]) for name, costs in runtimes.rows],
        "the paper's figure, on its authors' machine",
        kernels,
    )


def curve_plot(curves: list[Curve], symbol: str) -> dict[str, Any]:
    """Accuracy against a depth, a panel for each data set."""
    return {
        "title": f"accuracy of Tree++ against {symbol}",
        "axis": symbol,
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
    sets = {item.drawn.name: item.drawn for item in maps}
    return {
        "sets": [
            {
                "name": drawn.name,
                "classes": drawn.classes,
                "counts": drawn.counts.tolist(),
                "names": drawn.names,
                "codes": drawn.codes.tolist(),
                "vertices": drawn.graphs.vertex_counts.tolist(),
                "edges": drawn.graphs.edge_counts.tolist(),
            }
            for drawn in sets.values()
        ],
        "items": [_map(item, list(sets).index(item.drawn.name)) for item in maps],
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


def error_plots(errors: list[Errors], graphs: dict[str, GraphBatch]) -> list[dict[str, Any]]:
    """Confusion matrices, and the graphs that are wrong most often, some of them drawn."""

    def drawn(dataset: str, number: int) -> dict[str, Any] | None:
        known = graphs.get(dataset)
        return None if known is None or number >= len(known) else drawing_of(known[number])

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
            "drawn": [drawn(item.dataset, w.graph) for w in item.diagnosis.wrong[:MOST_DRAWN]],
        }
        for item in errors
    ]


class Sections:
    """Builds the sections and collects the numbers of their figures."""

    def __init__(self, content: Content, paper: bool) -> None:
        self.content = content
        self.paper = paper
        self.kernels = kernel_order(content.comparisons, content.runtimes)
        # For the script: lists of plots by kind.
        self.figures: dict[str, list[Any]] = {"dots": [], "curves": [], "maps": [], "errors": []}

    def all(self) -> list[Section]:
        """The sections that have something to show."""
        found = [
            *self._accuracies(),
            Section("ranks", "League table", list(self._league())),
            Section("errors", "Classes and errors", list(self._errors())),
            Section("runtime", "Time", list(self._runtimes())),
            *self._curves(),
            Section("graphs", "The graphs", list(self._maps())),
            Section("details", "All numbers", list(self._details())),
            Section("about", "How this was made", [Part(facts=list(self._facts()))]),
        ]
        return [section for section in found if section.parts]

    def _place(self, kind: str, plot: Any, style: str = "plot") -> Place:
        self.figures[kind].append(plot)
        return Place(kind, len(self.figures[kind]) - 1, style)

    def _dots(self, plot: dict[str, Any]) -> Place | None:
        """A chart of several data sets; of a single one the table says as much in less room."""
        return self._place("dots", plot) if len(plot["rows"]) > 1 else None

    def _accuracies(self) -> Iterator[Section]:
        found, unfinished = self.content.comparisons, self.content.unfinished
        if not found:
            words = (
                "No repetition of a cross-validation is complete yet, so there is no accuracy to "
                "show. The same command that began it goes on where it was."
            )
            part = Part(words=words, empty=True, notes=unfinished)
            yield Section("accuracy", "Accuracy", [part])
        for number, comparison in enumerate(found):
            title, anchor = measure_of(comparison), "accuracy"
            if number:
                title, anchor = heading(comparison, found[0]), f"accuracy-{number + 1}"
            label = title if comparison.numeric else f"{title} in per cent"
            part = Part(
                words=explanation(comparison),
                table=accuracy_table(comparison, label, self.paper, anchor),
                legend=None if number else self._legend(comparison),
                notes=() if number else unfinished,
                figure=self._dots(accuracy_plot(comparison, self.paper, self.kernels)),
            )
            yield Section(anchor, title, [part])

    def _legend(self, comparison: Comparison) -> dict[str, Any]:
        cells = comparison.cells
        return {
            "best": any(cell.best for cell in cells),
            "spread": max(comparison.repetitions) > 1,
            "paper": self.paper and any(cell.published for cell in cells),
            "paper_differs": comparison.first.mode != "paper" or comparison.first.deduplicated,
            "tested": comparison.tested,
            "verdicts": any(cell.verdict for cell in cells),
        }

    def _league(self) -> Iterator[Part]:
        validated = [c for c in self.content.comparisons if c.select == "validated"]
        for comparison in validated:
            if comparison.ranks is not None or comparison.any_stopped:
                yield Part(
                    heading=protocol(comparison.first) if len(validated) > 1 else "",
                    words=standing_words(comparison),
                    table=league_table(comparison),
                    diagram=None if comparison.ranks is None else diagram_of(comparison),
                )

    def _errors(self) -> Iterator[Part]:
        errors = self.content.errors
        if not errors:
            return
        self.figures["errors"] = error_plots(errors, self.content.graphs)
        words = "The share of each class that is classified rightly, in per cent"
        several = len({protocol(c.first) for c in self.content.comparisons}) > 1
        words += ", under the first protocol above that has the data set." if several else "."
        yield Part(words=words, table=class_table(errors))
        words = "Which classes are confused, and which graphs"
        yield Part(heading=words, figure=Place("errors", 0))

    def _runtimes(self) -> Iterator[Part]:
        runtimes = self.content.runtimes
        if runtimes is None:
            return
        numbers = {cost.n_jobs for _, row in runtimes.rows for cost in row if cost}
        threads = listed([str(number) for number in sorted(numbers)])
        yield Part(
            words="From graphs to the normalised kernel matrices of all levels, for one setting of "
            f"the kernel's grid, with {threads} {'thread' if threads == '1' else 'threads'}.",
            table=runtime_table(runtimes, self.paper),
            figure=self._dots(runtime_plot(runtimes, self.paper, self.kernels)),
        )

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

    def _maps(self) -> Iterator[Part]:
        if self.content.maps:
            yield Part(figure=self._place("maps", map_plots(self.content.maps)))
        if self.content.unseen:
            words = "Not shown (graphgrain report --data names the files of data sets):"
            reasons = [f"{name}: {reason}." for name, reason in self.content.unseen.items()]
            yield Part(words=words, notes=reasons)

    def _details(self) -> Iterator[Part]:
        for comparison in self.content.comparisons:
            name = heading(comparison)
            yield Part(heading=name, table=details_table(comparison, name, self.paper))

    def _facts(self) -> Iterator[tuple[str, str]]:
        records = self.content.records
        folds = fold_records(records)
        yield "Results file", self.content.file
        for words in dict.fromkeys(map(protocol, folds)):
            yield "Protocol", words
        if folds:
            yield "Seed", listed([str(seed) for seed in sorted({r.seed for r in folds})])
        kernels = count(len(kernel_records(records)), "kernel")
        yield "Records", f"{count(len(folds), 'fold')}, {kernels}"
        times = [record.time[:16].replace("T", " ") for record in records]
        first, last = min(times), max(times)
        yield "Written", f"{first} UTC" if first == last else f"{first} to {last} UTC"
        for group in sorted({tuple(sorted(record.versions.items())) for record in records}):
            yield "Versions", ", ".join(f"{name} {version}" for name, version in group)
        sets = dict.fromkeys((record.dataset, record.fingerprint) for record in records)
        yield "Data", ", ".join(f"{name} ({mark})" for name, mark in sets)


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
    machine = "support vector machine on the normalised kernel"
    words += f" of a {'regressor that tunes itself' if comparison.numeric else machine}"
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
    if comparison.any_stopped:
        words += (
            " A kernel that ran over its limit on a data set, in processor seconds for a "
            "repetition or in memory, was stopped there and has no result."
        )
    return words


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
    sections = Sections(shown, paper)
    text = render(
        "graphgrain.report",
        "page.html",
        title=title or _finding(shown),
        links=links,
        version=__version__,
        lead=_lead(shown),
        sections=sections.all(),
        data=sections.figures,
    )
    with atomic_write(output, "The report") as file:
        file.write(text.encode())
    return output


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
