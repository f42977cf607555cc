"""Tables that are wider than the terminal go on below, with their first columns repeated."""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

#: What Rich leaves between two columns of a table without lines.
GAP = 2


def print_table(console: Console, table: Table, keys: int = 1) -> None:
    """Print a table without cutting off a word.

    Parameters
    ----------
    console : Console
    table : Table
        Without a box.
    keys : int
        The number of columns that tell rows apart, which every part begins with.
    """
    for number, part in enumerate(parts(table, keys, console.width)):
        if number:
            console.print()
        console.print(part)


def parts(table: Table, keys: int, width: int) -> list[Table]:
    """The table in as many parts as a width needs."""
    widths = [_width(table, column) for column in range(len(table.columns))]
    room = width - sum(widths[:keys]) - GAP * keys
    groups: list[list[int]] = [[]]
    used = 0
    for column in range(keys, len(widths)):
        if groups[-1] and used + widths[column] > room:
            groups.append([])
            used = 0
        groups[-1].append(column)
        used += widths[column] + GAP
    if len(groups) == 1:
        return [table]
    return [
        _part(table, [*range(keys), *group], with_title=number == 0)
        for number, group in enumerate(groups)
    ]


def _width(table: Table, column: int) -> int:
    texts = [table.columns[column].header, *table.columns[column].cells]
    return max((cell_len(line) for text in texts for line in _plain(text)), default=0)


def _plain(text: object) -> list[str]:
    return (Text.from_markup(text).plain if isinstance(text, str) else str(text)).split("\n")


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
