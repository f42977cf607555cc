"""Report of an evaluation as a self-contained HTML page.

1. :mod:`graphgrain.report.content` computes the content.
2. Tables, figures and sentences are built here as plain data.
3. ``templates/page.html`` renders them with autoescaping.
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
from ..evaluation.exploration import KernelMap, drawing_of
from ..evaluation.kernel_comparison import (
    Cell,
    Column,
    Comparison,
    Cost,
    Runtimes,
    Standing,
    is_figure,
    standings,
)
from ..evaluation.records import (
    SELF_TUNED,
    FoldRecord,
    LimitRecord,
    fold_records,
    kernel_label,
    kernel_records,
    limit_label,
)
from ..evaluation.splits import FOLDS
from ..evaluation.summary import Curve, Diagnosis, describe
from ..graphs.batch import GraphBatch, counted
from ..templating import render
from ..writing import atomic_write
from .content import (
    Content,
    Data,
    Errors,
    Progress,
    compared_p,
    content,
    kernel_order,
    listed,
    p_value,
    seconds,
    size,
)
from .rank_diagram import diagram_of

#: Descriptions of splits.
SPLIT_WORDS = {
    "random": "at random",
    "scaffold": "by scaffold",
    "random-scaffold": "by scaffolds in random order",
}
#: Limited resource, by reason.
LIMITED = {"time": "of CPU time per repetition", "memory": "of memory"}


class Head(NamedTuple):
    """Header of a table column."""

    name: str
    text: bool = False  # True for text, which is sorted alphabetically
    ascending: bool = False  # True if small numbers are better and sorted first


#: Headers of text columns, and of number columns in which smaller is better.
_words = partial(Head, text=True)
_small = partial(Head, ascending=True)


class Entry(NamedTuple):
    """One cell of a table."""

    words: str = ""  # displayed text; empty without a result
    value: float | str | None = None  # sort key; None without a result
    spread: str = ""
    paper: str = ""
    best: bool = False
    verdict: str = ""  # "better" or "worse"
    explanation: str = ""  # of the verdict, or of the missing result

    @property
    def text(self) -> bool:
        """True for text, False for a number."""
        return isinstance(self.value, str)


class TableRow(NamedTuple):
    """A row of a table."""

    name: str
    entries: list[Entry]
    note: int = 0  # number of its note
    best: str = ""  # best entry with its column, shown on narrow screens
    majority: str = ""  # score of predicting the largest class or the mean


class PageTable(NamedTuple):
    """A horizontally scrollable table."""

    label: str  # for screen readers
    heads: list[Head]
    rows: list[TableRow]
    kind: str  # CSS class
    anchor: str = ""  # prefix of the anchors of its notes
    notes: Sequence[str] = ()


class Place(NamedTuple):
    """Placeholder of a figure: ``kind`` and index of its data in the page."""

    kind: str
    number: int
    style: str = "plot"


class Part(NamedTuple):
    """A part of a section; empty fields are omitted."""

    heading: str = ""
    words: str = ""
    empty: bool = False  # True if the words explain why there is nothing to show
    table: PageTable | None = None
    legend: dict[str, bool] | None = None  # marks of the table, see templates/page.html
    notes: Sequence[str] = ()
    figure: Place | None = None
    diagram: dict[str, Any] | None = None
    facts: Sequence[tuple[str, str]] = ()


class Section(NamedTuple):
    """A section of the page, listed in the navigation."""

    anchor: str
    title: str
    parts: list[Part]


def _entry(value: float | None, form: str | Callable[[Any], str] = "", **more: Any) -> Entry:
    """Return an entry with a number, formatted by a format string or a function."""
    if value is None:
        return Entry()
    return Entry(format(value, form) if isinstance(form, str) else form(value), value, **more)


def _text(words: str) -> Entry:
    return Entry(words, words)


def _across(
    label: str, kind: str, columns: Sequence[str], rows: list[TableRow], ascending: bool
) -> PageTable:
    """Return a table of data sets (rows) and kernels (columns), compact if it is wide."""
    heads = [_words("Data set"), *(Head(name, ascending=ascending) for name in columns)]
    return PageTable(label, heads, rows, f"{kind} tight" if len(columns) > 6 else kind)


def accuracy_table(comparison: Comparison, label: str, paper: bool, anchor: str) -> PageTable:
    """Return the table of data sets and kernels, with the published values below ours."""
    printed = [row.dataset for row in comparison.rows if any(c and c.published for c in row.cells)]
    notes = [name for name in dict.fromkeys(printed) if paper and name in tree_paper.NOTES]
    names = [column.name for column in comparison.columns]
    rows = []
    for row in comparison.rows:
        entries = [
            _stopped(limit) if limit else _accuracy(cell, paper)
            for cell, limit in zip(row.cells, row.stopped, strict=True)
        ]
        named = zip(names, entries, strict=True)
        best = next((f"{name} {entry.words}" for name, entry in named if entry.best), "")
        note = notes.index(row.dataset) + 1 if row.dataset in notes else 0
        digits = ".2f" if abs(row.majority) >= 10 else ".3g"
        baseline = f"{'mean' if comparison.numeric else 'majority'} {row.majority:{digits}}"
        rows.append(TableRow(row.name, entries, note, best, baseline))
    words = [f"{name}: {tree_paper.NOTES[name]}." for name in notes]
    table = _across(label, "accuracy", names, rows, comparison.numeric)
    return table._replace(anchor=anchor, notes=words)


def _stopped(limit: LimitRecord) -> Entry:
    """Return the entry of a kernel that was stopped."""
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
    """Format a value: percentages with two decimals, errors with four significant digits."""
    return f"{value:.4g}" if cell.summary.numeric else f"{value:.2f}"


def runtime_table(runtimes: Runtimes, paper: bool) -> PageTable:
    """Return the table of times for data sets and kernels."""
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
    """Return the table of recalls, with a row for each class of each data set."""
    kernels = list(dict.fromkeys(item.kernel for item in errors))
    found: dict[str, dict[str, Diagnosis]] = {}
    for item in errors:
        found.setdefault(item.dataset, {})[item.kernel] = item.diagnosis
    rows = []
    for dataset, by_kernel in found.items():
        first = next(iter(by_kernel.values()))
        for code, name in enumerate(first.classes):
            shares = {
                kernel: 100 * float(diagnosis.recall[code])
                for kernel, diagnosis in by_kernel.items()
                if diagnosis.sizes[code]  # a split may test no graph of a class
            }
            known = [round(share, 9) for share in shares.values()]
            entries = [_text(name), _entry(int(first.sizes[code]))]
            for kernel in kernels:
                share = shares.get(kernel)
                best = share is not None and len(known) > 1 and round(share, 9) == max(known)
                entries.append(_entry(share, ".1f", best=best))
            rows.append(TableRow(dataset, entries))
    table = _across("Recall per class in percent", "classes", kernels, rows, ascending=False)
    heads = [table.heads[0], _words("Class"), Head("Graphs"), *table.heads[1:]]
    return table._replace(heads=heads)


def details_table(comparison: Comparison, label: str, paper: bool) -> PageTable:
    """Return the table of all measurements, with a row for each kernel on each data set."""
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
    """Return the league table, the best kernel first."""

    def sees(item: Standing) -> Entry:
        words = None if item.sees is None else ", ".join(item.sees) or "structure only"
        return Entry(words or "", words)

    sets = len(comparison.rows)
    columns: list[tuple[Head, Callable[[Standing], Entry]]] = [
        (_small("Rank"), lambda item: _entry(item.rank, ".2f")),
        (Head("Data sets"), lambda item: Entry(f"{item.results} of {sets}", item.results)),
        (Head("Accuracy"), lambda item: _entry(item.accuracy, ".2f")),
        (Head("Balanced"), lambda item: _entry(item.balanced_accuracy, ".2f")),
        (_small("CPU time"), lambda item: _entry(item.seconds, seconds)),
        (_small("Memory"), lambda item: _entry(item.memory, size)),
        (_words("Uses"), sees),
        (_words("Stopped"), lambda item: _text("; ".join(item.stops))),
    ]
    rows = [
        TableRow(item.column.name, [make(item) for _, make in columns])
        for item in standings(comparison)
    ]
    heads = [_words("Kernel"), *(head for head, _ in columns)]
    return PageTable("Kernels by average rank", heads, rows, "league")


#: Number of the most often misclassified graphs that are drawn.
MOST_DRAWN = 12
#: Number of the most often misclassified graphs that are listed.
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
    """Return a dot plot with error bars; hollow dots are published values.

    ``kernels`` lists all kernels of the page, so that each has the same mark and colour in all
    plots.
    """
    shown = [cell for _, cells in rows for cell in cells if cell]
    return {
        "title": title,
        "axis": axis,
        "log": log,
        "series": [column.name for column in columns],
        "numbers": [kernels.index(column.name) for column in columns],
        "hollow": hollow if any(cell["published"] is not None for cell in shown) else "",
        "rows": [{"name": name, "cells": cells} for name, cells in rows],
    }


def accuracy_plot(comparison: Comparison, paper: bool, kernels: list[str]) -> dict[str, Any]:
    """Return the dot plot of accuracies or errors."""

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
            "words": words + ("\npaper: {:.2f} ± {:.2f} %".format(*printed) if printed else ""),
        }

    measure = measure_of(comparison)
    return _dots(
        f"{measure} of each kernel on each data set",
        measure if comparison.numeric else f"{measure.lower()} in percent",
        False,
        comparison.columns,
        [(row.name, [dot(cell) for cell in row.cells]) for row in comparison.rows],
        "published",
        kernels,
    )


def runtime_plot(runtimes: Runtimes, paper: bool, kernels: list[str]) -> dict[str, Any]:
    """Return the dot plot of times on a logarithmic axis."""

    def dot(cost: Cost | None) -> dict[str, Any] | None:
        if cost is None:
            return None
        printed = cost.published if paper else None
        return {
            "value": max(cost.seconds, 1e-4),  # records are rounded to 0.1 ms
            "spread": 0,
            "published": printed,
            "words": seconds(cost.seconds) + (f"\npaper: {seconds(printed)}" if printed else ""),
        }

    return _dots(
        "Time for the kernel matrices",
        "time (logarithmic)",
        True,
        runtimes.columns,
        [(name, [dot(cost) for cost in costs]) for name, costs in runtimes.rows],
        "published, on the authors' machine",
        kernels,
    )


def curve_plot(curves: list[Curve], symbol: str) -> dict[str, Any]:
    """Return accuracy curves, one panel per data set."""
    return {
        "title": f"accuracy of Tree++ against {symbol}",
        "axis": symbol,
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
    """Return data sets with their graphs, and the points and matrix bytes of each kernel."""
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
        kernel += f"; random sample of {len(drawn)} of the {drawn.total} graphs"
    averaged = (
        f" Each of the {len(item.matrix)} rows is an average over neighbouring graphs of a class."
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
        "mapNote": f"{kernel}. Similar graphs are close together.",
        "matrixNote": f"{kernel}.{averaged} A kernel that separates the classes shows bright "
        "squares along the diagonal.",
        "blocks": item.blocks,
        "averaged": item.averaged,
        "matrix": base64.b64encode((255 * levels).round().astype(np.uint8).tobytes()).decode(),
        "low": low,
        "high": high,
    }


def error_plots(errors: list[Errors], graphs: dict[str, GraphBatch]) -> list[dict[str, Any]]:
    """Return confusion matrices and the most often misclassified graphs."""

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
    """Build the sections and collect the data of their figures."""

    def __init__(self, content: Content, paper: bool) -> None:
        self.content = content
        self.paper = paper
        self.kernels = kernel_order(content.comparisons, content.runtimes)
        # Data for the scripts of the page: plots by kind.
        self.figures: dict[str, list[Any]] = {"dots": [], "curves": [], "maps": [], "errors": []}

    def all(self) -> list[Section]:
        """Return all non-empty sections."""
        found = [
            *self._accuracies(),
            Section("ranks", "League table", list(self._league())),
            Section("errors", "Classes and errors", list(self._errors())),
            Section("runtime", "Time", list(self._runtimes())),
            *self._curves(),
            Section("graphs", "Graphs", list(self._maps())),
            Section("details", "All measurements", list(self._details())),
            Section("about", "About this report", [Part(facts=list(self._facts()))]),
        ]
        return [section for section in found if section.parts]

    def _place(self, kind: str, plot: Any, style: str = "plot") -> Place:
        self.figures[kind].append(plot)
        return Place(kind, len(self.figures[kind]) - 1, style)

    def _dots(self, plot: dict[str, Any]) -> Place | None:
        """Return a chart; None for a single data set, for which the table is sufficient."""
        return self._place("dots", plot) if len(plot["rows"]) > 1 else None

    def _accuracies(self) -> Iterator[Section]:
        found, unfinished = self.content.comparisons, self.content.unfinished
        if unfinished and not found:
            words = (
                "No repetition of the cross-validation is complete yet, so there is no accuracy to "
                "show. Run the same command again to continue where it stopped."
            )
            part = Part(words=words, empty=True, notes=unfinished)
            yield Section("accuracy", "Accuracy", [part])
        told: set[tuple[str, bool]] = set()  # marks that a legend above has explained
        for number, comparison in enumerate(found):
            legend = self._legend(comparison)
            marks = {(name, on) for name, on in legend.items() if on or name == "numeric"}
            title, anchor = measure_of(comparison), "accuracy"
            if number:
                title, anchor = heading(comparison, found[0]), f"accuracy-{number + 1}"
            label = title if comparison.numeric else f"{title} in percent"
            part = Part(
                words=explanation(comparison),
                table=accuracy_table(comparison, label, self.paper, anchor),
                legend=None if marks <= told else legend,
                notes=() if number else unfinished,
                figure=self._dots(accuracy_plot(comparison, self.paper, self.kernels)),
            )
            told |= marks
            yield Section(anchor, title, [part])

    def _legend(self, comparison: Comparison) -> dict[str, bool]:
        cells = comparison.cells
        return {
            "best": any(cell.best for cell in cells),
            "spread": max(comparison.repetitions) > 1,
            "numeric": comparison.numeric,
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
        words = "Correctly classified graphs of each class in percent"
        several = len({protocol(c.first) for c in self.content.comparisons}) > 1
        words += ", under the first protocol above that includes the data set." if several else "."
        yield Part(words=words, table=class_table(errors))
        words = "Confusion matrices and misclassified graphs"
        yield Part(heading=words, figure=Place("errors", 0))

    def _runtimes(self) -> Iterator[Part]:
        runtimes = self.content.runtimes
        if runtimes is None:
            return
        numbers = {cost.n_jobs for _, row in runtimes.rows for cost in row if cost}
        threads = listed([str(number) for number in sorted(numbers)])
        yield Part(
            words="Time to compute the normalised kernel matrices of all levels, for one setting "
            f"of the kernel's grid, with {threads} {'thread' if threads == '1' else 'threads'}.",
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
            words += "The larger dot marks the best value."
            figure = self._place("curves", curve_plot(curves, symbol), "panels")
            title = f"Accuracy against {symbol}"
            yield Section(f"against-{symbol}", title, [Part(words=words, figure=figure)])

    def _maps(self) -> Iterator[Part]:
        if self.content.maps:
            yield Part(figure=self._place("maps", map_plots(self.content.maps)))
        if self.content.unseen:
            words = "Not shown (pass files of data sets with graphgrain report --data):"
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
        kernels = counted(len(kernel_records(records)), "kernel")
        yield "Records", f"{counted(len(folds), 'fold')}, {kernels}"
        times = [record.time[:16].replace("T", " ") for record in records]
        first, last = min(times), max(times)
        yield "Written", f"{first} UTC" if first == last else f"{first} to {last} UTC"
        for group in sorted({tuple(sorted(record.versions.items())) for record in records}):
            yield "Versions", ", ".join(f"{name} {version}" for name, version in group)
        sets = dict.fromkeys(record.place for record in records)
        yield "Data", ", ".join(f"{name} ({mark})" for name, mark in sets)


def measure_of(comparison: Comparison) -> str:
    """Return the name of the score in a comparison."""
    return "RMSE" if comparison.numeric else "Accuracy"


def rules(record: FoldRecord) -> list[str]:
    """Describe the protocol of a record as a list of phrases."""
    if record.split == FOLDS:
        words = [f"{record.mode} mode", f"{record.folds} folds"]
    else:
        words = [f"split {record.split}"]
    words += [f"{record.inner_folds} inner folds"] if record.mode == "nested" else []
    words += [f"C from {listed([f'{C:g}' for C in record.C])}"]
    return words + (["without isomorphic duplicates"] if record.deduplicated else [])


def protocol(record: FoldRecord) -> str:
    """Describe the protocol of a record in one line."""
    return ", ".join(rules(record))


def heading(comparison: Comparison, first: Comparison | None = None) -> str:
    """Return a title with the protocol, or with its differences from that of ``first``."""
    own = rules(comparison.first)
    if first is not None:
        others = [*rules(first.first), f"seed {first.first.seed}"]
        own = [words for words in [*own, f"seed {comparison.first.seed}"] if words not in others]
    apart = ", ".join(own)
    hindsight = comparison.select == "reported-best"
    title = "Best parameters in hindsight" if hindsight else measure_of(comparison)
    return f"{title} ({apart})" if apart else title


def explanation(comparison: Comparison) -> str:
    """Explain how the scores of a comparison were measured."""
    record = comparison.first
    times = listed([str(number) for number in comparison.repetitions])
    words = f"{times} {'repetition' if times == '1' else 'repetitions'} of "
    if record.split == FOLDS:
        words += f"{record.folds}-fold cross-validation"
    else:
        words += f"one split, {SPLIT_WORDS.get(record.split, f'by the column {record.split}')},"
    tuned = [column.variant.startswith(SELF_TUNED) for column in comparison.columns]
    machine = "support vector machine on the normalised kernel"
    if all(tuned):
        machine = f"self-tuned {'regressor' if comparison.numeric else 'classifier'}"
    elif any(tuned):
        machine += ", or, in the columns named self-tuned, of a classifier that tunes itself"
    words += f" of a {machine}"
    words += ", without isomorphic duplicates. " if record.deduplicated else ". "
    if comparison.numeric:
        return words + (
            "RMSE is the root mean squared error over all test graphs of a repetition, in the "
            "unit of the target; all parameters are selected on the training graphs."
        )
    if all(tuned):
        return words + "All parameters are selected on the training graphs."
    if comparison.select == "reported-best":
        return words + (
            "Each kernel is shown with the parameters that gave the best accuracy on the test "
            "graphs, as in many publications, including the Tree++ paper. These values are "
            "optimistic, because the test graphs were used for the selection."
        )
    if record.mode == "paper":
        return words + (
            "As in the paper, folds are not stratified, and for each test fold C and the "
            "parameters of the kernel are selected on one of the other folds."
        )
    if record.split != FOLDS:
        return words + (
            f"C and the parameters of the kernel are selected by {record.inner_folds}-fold "
            "cross-validation of the training graphs."
        )
    return words + (
        "Folds are stratified, and for each test fold C and the parameters of the kernel are "
        f"selected by {record.inner_folds}-fold cross-validation of the training graphs."
    )


def standing_words(comparison: Comparison) -> str:
    """Explain the league table of a comparison."""
    ranks = comparison.ranks
    if ranks is None:
        words = "There are too few data sets or kernels for meaningful ranks."
    else:
        friedman = "" if ranks.p != ranks.p else f" (Friedman test: p {compared_p(ranks.p)})"
        ranked = len(comparison.ranked)
        measure = "error" if comparison.numeric else "accuracy"
        words = (
            f"Ranks of the kernels by {measure}, averaged over "
            f"{counted(ranks.datasets, 'data set')}; 1 means the best on all data sets{friedman}. "
            "Thick lines join kernels that do not differ significantly: their ranks lie within "
            "the critical difference of the Nemenyi test at the 5 % level, "
            f"{ranks.critical_difference:.2f}. The other columns refer to the same data sets."
        )
        if ranked < len(comparison.columns):
            words += (
                f" {ranked} of {len(comparison.columns)} kernels are ranked: those with a "
                "result on every data set."
            )
    if comparison.any_stopped:
        words += (
            " A kernel that exceeded the limit on CPU time per repetition or on memory was stopped "
            "on that data set and has no result there."
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
        File written by ``graphgrain evaluate`` or ``graphgrain reproduce``.
    output_path : path
        File to write. An existing file is replaced, and kept if an error occurs.
    paper : bool, default=True
        Show the published values of the Tree++ paper.
    data : mapping from name to (graphs, y) or (graphs, y, names), optional
        Data sets whose kernel matrices and maps are shown. The bundled drugs, data sets in the
        folder ``GRAPHGRAIN_DATA`` and data sets downloaded before are always found.
    title : str, optional
        Heading of the page; by default a sentence with the main result.
    n_jobs : int, optional
        Number of threads for the kernels.
    progress : callable(str), optional
        Called with a short description at the beginning of each longer step.
    links : sequence of (text, address)
        Links to other pages.

    Returns
    -------
    path : Path
        Path of the page.
    """
    output = Path(output_path)
    try:
        if output.exists() and output.samefile(results_path):
            raise InvalidParameterError(
                f"The report must not replace its results; both are {str(output)!r}. Choose "
                "another name, such as report.html."
            )
    except OSError:
        pass  # unreadable results are reported by the reader below
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
    """Return the main result in one sentence: the most accurate kernel."""
    best: dict[str, list[Cell]] = {}  # of each data set under its first protocol
    for comparison in shown.comparisons:
        if comparison.numeric or comparison.select != "validated":
            continue
        for row in comparison.rows:
            cells = [cell for cell in row.cells if cell]
            if cells:
                best.setdefault(row.name, [c for c in cells if c.best or len(cells) == 1])
    if not best:
        return "Graph kernels compared"
    if len(best) == 1:
        [(name, [cell, *_])] = best.items()
        return (
            f"{kernel_label(cell.summary.kernel)} classifies {cell.mean:.1f} % of "
            f"{cell.summary.graphs:,} graphs of {name} correctly"
        )
    wins: Counter[str] = Counter()
    for cells in best.values():
        wins.update(list(dict.fromkeys(cell.summary.kernel for cell in cells)))
    [(kernel, number)] = wins.most_common(1)
    return (
        f"{kernel_label(kernel)} is the most accurate kernel on {number} of {len(best)} data sets"
    )


def _lead(shown: Content) -> str:
    kernels = {(r.kernel, "" if is_figure(r.variant) else r.variant) for r in shown.records}
    # The fingerprint of a split by a column includes the column.
    sets = {(r.dataset, r.graphs_fingerprint or r.fingerprint) for r in shown.records}
    words = f"{counted(len(kernels), 'kernel')} on {counted(len(sets), 'data set')}"
    # Estimators that tune themselves have no C.
    machines = [r for r in fold_records(shown.records) if r.levels[0].C is not None]
    fits = sum(record.fits for record in machines)
    return words + (f", {fits:,} support vector machines trained." if fits else ".")
