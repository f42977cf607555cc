"""The tables of a page, as HTML that reads well without any script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from ..evaluation import published
from .comparison import Cell, Comparison, Cost, Runtimes
from .words import p_value, seconds, size

PAPER = '<span class="word">paper </span>'
MARKS = {"better": "▲", "worse": "▼"}


def table(
    label: str, heads: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]], kind: str
) -> str:
    """A table in a box that scrolls by itself.

    Parameters
    ----------
    label : str
        Says what the table is, to those who do not see it.
    heads : sequence of (name, attributes)
    rows : iterable of sequences of ready-made cells
    kind : str
        Class of the table.
    """
    head = "".join(f'<th scope="col"{attributes}>{escape(name)}</th>' for name, attributes in heads)
    body = "\n".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(label)}">'
        f'<table class="sortable {kind}"><caption class="hidden">{escape(label)}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def accuracy_table(comparison: Comparison, label: str, paper: bool, anchor: str) -> str:
    """Data sets down, kernels across; the paper's figure under ours.

    ``anchor`` begins the names of the notes that :func:`note_list` writes.
    """
    noted = list(notes(comparison)) if paper else []
    heads = [("Data set", ' class="text"')] + [(column.name, "") for column in comparison.columns]
    rows = []
    for row in comparison.rows:
        note = ""
        if row.dataset in noted:
            number = noted.index(row.dataset) + 1
            place = f'href="#{anchor}-note-{number}" aria-label="note {number}"'
            note = f"<sup><a {place}>{number}</a></sup>"
        first = f'<th scope="row" data-value="{escape(row.name)}">{escape(row.name)}{note}</th>'
        rows.append([first, *(_accuracy(cell, paper) for cell in row.cells)])
    return table(label, heads, rows, _kind("accuracy", comparison.columns))


def _kind(kind: str, columns: Sequence[object]) -> str:
    """The class of a table; one with many columns is set more tightly."""
    return f"{kind} tight" if len(columns) > 6 else kind


def notes(comparison: Comparison) -> dict[str, str]:
    """What a reader has to know of the paper's figures, by data set."""
    return {
        row.dataset: published.NOTES[row.dataset]
        for row in comparison.rows
        if row.dataset in published.NOTES and any(cell and cell.published for cell in row.cells)
    }


def note_list(comparison: Comparison, anchor: str) -> str:
    """The notes under the table."""
    items = "".join(
        f'<li id="{anchor}-note-{number}">{escape(name)}: {escape(words)}.</li>'
        for number, (name, words) in enumerate(notes(comparison).items(), 1)
    )
    return f'<ol class="notes">{items}</ol>' if items else ""


def _accuracy(cell: Cell | None, paper: bool) -> str:
    if cell is None:
        return MISSING
    mark = ""
    if cell.verdict:
        told = f"significantly {cell.verdict} than Tree++, p {_compared(cell.p)}"
        mark = (
            f'<span class="mark {cell.verdict}" title="{told}" aria-hidden="true">'
            f'{MARKS[cell.verdict]}</span><span class="hidden">{told}</span>'
        )
    best = '<span class="hidden">best</span>' if cell.best else ""
    printed = ""
    if paper and cell.published:
        theirs, deviation = cell.published
        printed = f'<span class="paper">{PAPER}{theirs:.2f} ± {deviation:.2f}</span>'
    spread = f' <span class="sd">± {cell.spread:.2f}</span>' if cell.summary.repetitions > 1 else ""
    return (
        f'<td{" class=best" if cell.best else ""} data-value="{cell.mean!r}">'
        f'{mark}<span class="mean">{cell.mean:.2f}</span>{spread}{best}{printed}</td>'
    )


def _compared(p: float | None) -> str:
    words = p_value(p if p is not None else 1.0)
    return words if words.startswith("<") else f"= {words}"


MISSING = (
    '<td class="none"><span aria-hidden="true">&ndash;</span>'
    '<span class="hidden">no result</span></td>'
)


def runtime_table(runtimes: Runtimes, paper: bool) -> str:
    """Data sets down, kernels across."""
    heads = [("Data set", ' class="text"')]
    heads += [(column.name, ' data-first="ascending"') for column in runtimes.columns]
    rows = []
    for name, costs in runtimes.rows:
        first = f'<th scope="row" data-value="{escape(name)}">{escape(name)}</th>'
        fastest = min((cost.seconds for cost in costs if cost), default=0.0)
        several = sum(cost is not None for cost in costs) > 1
        rows.append([first, *(_runtime(cost, paper, several, fastest) for cost in costs)])
    return table("Time for the kernel matrices", heads, rows, _kind("runtime", runtimes.columns))


def _runtime(cost: Cost | None, paper: bool, several: bool, fastest: float) -> str:
    if cost is None:
        return MISSING
    best = several and cost.seconds == fastest
    printed = ""
    if paper and cost.published is not None:
        printed = f'<span class="paper">{PAPER}{seconds(cost.published)}</span>'
    return (
        f'<td{" class=best" if best else ""} data-value="{cost.seconds!r}">'
        f'<span class="mean">{seconds(cost.seconds)}</span>{printed}</td>'
    )


def details_table(comparison: Comparison, label: str, paper: bool) -> str:
    """A row for every kernel on every data set, with all that was measured."""
    paper = paper and any(cell.published for cell in comparison.cells)
    heads = [
        ("Data set", ' class="text"'),
        ("Kernel", ' class="text"'),
        ("Accuracy", ""),
        ("Std", ' data-first="ascending"'),
        *([("Paper", ""), ("Difference", "")] if paper else []),
        ("Balanced", ""),
        ("ROC AUC", ""),
        *([("p vs. Tree++", ' data-first="ascending"')] if comparison.tested else []),
        ("Repetitions", ""),
        ("Graphs", ""),
        ("Kernel time", ' data-first="ascending"'),
        ("Memory", ' data-first="ascending"'),
        ("Chosen most often", ' class="text"'),
    ]
    rows = []
    for row in comparison.rows:
        for column, cell in zip(comparison.columns, row.cells, strict=True):
            if cell is None:
                continue
            summary = cell.summary
            several = summary.repetitions > 1
            told = [
                f'<th scope="row" data-value="{escape(row.name)}">{escape(row.name)}</th>',
                _text(column.name),
                _number(cell.mean, f"{cell.mean:.2f}"),
                _number(cell.spread, f"{cell.spread:.2f}") if several else MISSING,
            ]
            if paper:
                mean = cell.published[0] if cell.published else None
                gap = None if mean is None else cell.mean - mean
                told += [_number(mean, f"{mean:.2f}") if mean is not None else MISSING]
                told += [_number(gap, f"{gap:+.2f}") if gap is not None else MISSING]
            told.append(_share(summary.balanced_accuracy.mean))
            told.append(_share(summary.roc_auc.mean))
            if comparison.tested:
                p = cell.p
                told.append(_number(p, p_value(p)) if p is not None and p == p else MISSING)
            told.append(_number(summary.repetitions, str(summary.repetitions)))
            told.append(_number(summary.graphs, str(summary.graphs)))
            time, memory = summary.kernel_seconds, summary.kernel_memory
            told.append(_number(time, seconds(time)) if time is not None else MISSING)
            told.append(_number(memory, size(memory)) if memory is not None else MISSING)
            told.append(_text(next(iter(summary.chosen))))
            rows.append(told)
    return table(label, heads, rows, "details")


def _number(value: float | None, words: str) -> str:
    return f'<td data-value="{value!r}">{words}</td>'


def _share(value: float | None) -> str:
    return MISSING if value is None else _number(value, f"{100 * value:.2f}")


def _text(words: str) -> str:
    return f'<td class="text" data-value="{escape(words)}">{escape(words)}</td>'
