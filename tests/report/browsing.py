"""What tests of pages in a browser share."""

from __future__ import annotations

from typing import Any

TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def redrawn(page: Any) -> None:
    """Wait until what follows a change of the page, such as drawing to a new width, is done."""
    page.evaluate(TWO_FRAMES)


def column(page: Any, number: int, table: str = "#accuracy table") -> list[str]:
    """The texts of a column, first lines only."""
    cells = page.locator(f"{table} tbody tr > :nth-child({number})")
    return [text.split("\n")[0] for text in cells.all_inner_texts()]
