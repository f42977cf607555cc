"""The tables of a page as plain data; templates/table.html writes them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..evaluation import published
from ..evaluation.diagnostics import Diagnosis
from ..evaluation.display_names import limit_label
from ..evaluation.kernel_comparison import Cell, Comparison, Cost, Runtimes
from ..evaluation.records import LimitRecord
from .content import Errors
from .words import compared_p, p_value, seconds, size

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
        The accuracy of always saying the largest class.
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
    heads += [Head(column.name) for column in comparison.columns]
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
        rows.append(TableRow(row.name, entries, note, best, f"{row.majority:.2f}"))
    words = [f"{name}: {text}." for name, text in notes.items()]
    kind = _kind("accuracy", len(comparison.columns))
    return PageTable(label, heads, rows, kind, anchor, words)


def _notes(comparison: Comparison) -> dict[str, str]:
    """What a reader has to know of the paper's numbers, by data set."""
    return {
        row.dataset: published.NOTES[row.dataset]
        for row in comparison.rows
        if row.dataset in published.NOTES and any(cell and cell.published for cell in row.cells)
    }


def stopped_entry(limit: LimitRecord) -> Entry:
    """In place of a result: the kernel was stopped."""
    label = limit_label(limit)
    return Entry(label, explanation=f"stopped: {label} {LIMITED[limit.reason]}")


def _accuracy(cell: Cell | None, paper: bool) -> Entry:
    if cell is None:
        return Entry()
    explanation = ""
    if cell.verdict:
        p = compared_p(cell.p if cell.p is not None else 1.0)
        explanation = f"significantly {cell.verdict} than Tree++, p {p}"
    printed = cell.published if paper else None
    return Entry(
        words=f"{cell.mean:.2f}",
        value=cell.mean,
        spread=f"± {cell.spread:.2f}" if cell.summary.repetitions > 1 else "",
        paper=f"{printed[0]:.2f} ± {printed[1]:.2f}" if printed else "",
        best=cell.best,
        verdict=cell.verdict,
        explanation=explanation,
    )


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
        Head("Accuracy"),
        Head("Std", ascending=True),
        *([Head("Paper"), Head("Difference")] if paper else []),
        Head("Balanced"),
        Head("ROC AUC"),
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
        Entry(f"{cell.mean:.2f}", cell.mean),
        _number(cell.spread if summary.repetitions > 1 else None, f"{cell.spread:.2f}"),
    ]
    if paper:
        mean = cell.published[0] if cell.published else None
        gap = None if mean is None else cell.mean - mean
        entries += [_number(mean, f"{mean:.2f}" if mean is not None else "")]
        entries += [_number(gap, f"{gap:+.2f}" if gap is not None else "")]
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
