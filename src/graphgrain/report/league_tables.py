"""The league table of a page as plain data."""

from __future__ import annotations

from ..evaluation.kernel_comparison import Comparison
from ..evaluation.league import Standing
from .page_tables import Entry, Head, PageTable, TableRow
from .words import seconds, size


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
