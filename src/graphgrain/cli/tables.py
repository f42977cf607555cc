"""Tables for the terminal.

A table that is wider than the terminal is split into parts, each with the first columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

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
