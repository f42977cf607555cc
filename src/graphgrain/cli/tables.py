"""Tables for the terminal, which fold in columns that are too wide and lose no word."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from rich.markup import escape
from rich.table import Table
from rich.text import Text


def text_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    right: Collection[str] = (),
    title: str | None = None,
) -> Table:
    """Return a table of escaped texts; columns with heads in ``right`` are right-aligned."""
    table = Table(title=title, box=None, title_justify="left", pad_edge=title is None)
    for head in heads:
        side: Literal["left", "right"] = "right" if head in right else "left"
        table.add_column(escape(head), justify=side, overflow="fold")
    for row in rows:
        table.add_row(*(cell if isinstance(cell, Text) else escape(str(cell)) for cell in row))
    return table
