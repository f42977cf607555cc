"""Tables for the terminal.

A table that is wider than the terminal is split into parts, each with the first columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

if TYPE_CHECKING:
    from ..evaluation.statistics import Scores
    from ..evaluation.summary import Summary

#: Space between two columns of a Rich table without lines.
GAP = 2


def text_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    right: Collection[str] = (),
    title: str | None = None,
) -> Table:
    """Return a table of escaped texts; columns with heads in ``right`` are right-aligned."""
    table = Table(title=title, box=None, title_justify="left", pad_edge=title is None)
    for head in heads:
        table.add_column(escape(head), justify="right" if head in right else "left")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else escape(str(cell)) for cell in row))
    return table


def print_table(console: Console, table: Table, keys: int = 1) -> None:
    """Print a table in parts that fit the console.

    Every part begins with the first ``keys`` columns, which identify the rows.
    """
    for number, part in enumerate(parts(table, keys, console.width)):
        if number:
            console.print()
        console.print(part)


def parts(table: Table, keys: int, width: int) -> list[Table]:
    """Split a table into parts that fit a width."""
    widths = [_width(column) for column in table.columns]
    room = width - sum(widths[:keys]) - GAP * keys
    groups: list[list[int]] = [[]]
    for column in range(keys, len(widths)):
        used = sum(widths[other] + GAP for other in groups[-1])
        if groups[-1] and used + widths[column] > room:
            groups.append([])
        groups[-1].append(column)
    if len(groups) == 1:
        return [table]
    return [
        _part(table, [*range(keys), *group], with_title=number == 0)
        for number, group in enumerate(groups)
    ]


def _width(column: Column) -> int:
    texts = [
        Text.from_markup(text).plain if isinstance(text, str) else str(text)
        for text in (column.header, *column.cells)
    ]
    return max((cell_len(line) for text in texts for line in text.split("\n")), default=0)


def _part(table: Table, columns: list[int], with_title: bool) -> Table:
    part = Table(
        title=table.title if with_title else None,
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, GAP, 0, 0),
        show_header=table.show_header,
    )
    for number in columns:
        column = table.columns[number]
        part.add_column(column.header, justify=column.justify, style=column.style)
    cells = [list(table.columns[number].cells) for number in columns]
    for row in zip(*cells, strict=True):
        part.add_row(*row)
    return part


def percent(scores: Scores) -> str:
    """Format a mean in percent, with its standard deviation over several repetitions.

    >>> from graphgrain.evaluation.statistics import Scores
    >>> percent(Scores.of([0.75])), percent(Scores.of([0.5, 1.0]))
    ('75.00', '75.00 ± 25.00')
    """
    if scores.mean is None or scores.std is None:
        return "-"
    spread = f" ± {100 * scores.std:.2f}" if len(scores.each) > 1 else ""
    return f"{100 * scores.mean:.2f}{spread}"


def seconds(value: float | None) -> str:
    """Format a time in seconds."""
    return "-" if value is None else f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def megabytes(value: int | None) -> str:
    """Format a number of bytes in megabytes."""
    return "-" if value is None else f"{value / 1e6:,.0f}"


def accuracy_table(summaries: Sequence[Summary], title: str) -> Table:
    """Return a table with one row per data set and kernel, the best per data set in bold.

    The summaries must be all of classification or all of regression.
    """
    from ..evaluation.records import dataset_labels, kernel_label
    from ..evaluation.summary import describe

    numeric = summaries[0].numeric if summaries else False
    published = any(_paper(summary) for summary in summaries)
    scores = ["RMSE", "MAE", "R2"] if numeric else ["accuracy", "balanced", "ROC AUC"]
    scores[1:1] = ["paper"] if published else []
    scores += ["repetitions", "kernel s", "kernel MB"]
    labels = dataset_labels(summaries)
    names = [
        labels[summary.place] + (" without duplicates" if summary.deduplicated else "")
        for summary in summaries
    ]
    best: dict[str, float] = {}
    for name, summary in zip(names, summaries, strict=True):
        best[name] = max(_merit(summary), best.get(name, -float("inf")))
    rows: list[list[object]] = []
    for name, summary in zip(names, summaries, strict=True):
        if numeric:
            first, *others = map(_error, (summary.rmse, summary.mae, summary.r2))
        else:
            measured = (summary.accuracy, summary.balanced_accuracy, summary.roc_auc)
            first, *others = map(percent, measured)
        share = max(summary.chosen.values()) / max(sum(summary.chosen.values()), 1)
        chosen = describe(summary.parameters)
        if summary.select == "validated" and len(summary.chosen) > 1:
            chosen += f" ({share:.0%} of folds)"
        rows.append(
            [
                name,
                kernel_label(summary.kernel, summary.variant),
                Text(first, style="bold" if _merit(summary) == best[name] else ""),
                *([_paper(summary)] if published else []),
                *others,
                summary.repetitions,
                seconds(summary.kernel_seconds),
                megabytes(summary.kernel_memory),
                chosen,
            ]
        )
    return text_table(["data set", "kernel", *scores, "parameters"], rows, scores, title)


def _merit(summary: Summary) -> float:
    """Return the accuracy or the negative RMSE."""
    return -(summary.rmse.mean or 0.0) if summary.numeric else summary.accuracy.mean or 0.0


def _error(scores: Scores) -> str:
    """Format a mean in the unit of the target, with its standard deviation."""
    if scores.mean is None or scores.std is None:
        return "-"
    spread = f" ± {scores.std:.2g}" if len(scores.each) > 1 else ""
    return f"{scores.mean:.4g}{spread}"


def _paper(summary: Summary) -> str:
    from ..evaluation.paper import TABLE2
    from ..evaluation.splits import FOLDS

    entry = TABLE2.get(summary.dataset, {}).get(summary.kernel)
    if entry is None or summary.variant or summary.deduplicated or summary.split != FOLDS:
        return ""
    return f"{entry[0]:.2f} ± {entry[1]:.2f}"
