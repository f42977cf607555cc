"""What tests of pages in a browser share."""

from __future__ import annotations

from typing import Any

TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


#: Pairs of texts and pictures, of elements that are not inside each other, that cover each other.
OVERLAPPING = """([lines, pictures]) => {
  const seen = (selector) => selector
    ? [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility()) : [];
  const texts = seen(lines).flatMap((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return [...range.getClientRects()].map((box) => [element, box]);
  }).filter(([, box]) => box.width && box.height);
  const boxes = [...texts, ...seen(pictures).map((one) => [one, one.getBoundingClientRect()])];
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([two, b]) =>
    one !== two && !one.contains(two) && !two.contains(one)
    && a.left < b.right - 1 && b.left < a.right - 1
    && a.top < b.bottom - 1 && b.top < a.bottom - 1
  ).map(([two]) => [one.textContent, two.textContent]));
}"""


def overlapping(page: Any, texts: str, pictures: str = "") -> list[list[str]]:
    """Pairs that cover each other, among what two selectors find."""
    found: list[list[str]] = page.evaluate(OVERLAPPING, [texts, pictures])
    return found


def redrawn(page: Any) -> None:
    """Wait until what follows a change of the page, such as drawing to a new width, is done."""
    page.evaluate(TWO_FRAMES)


def column(page: Any, number: int, table: str = "#accuracy table") -> list[str]:
    """The texts of a column, first lines only."""
    cells = page.locator(f"{table} tbody tr > :nth-child({number})")
    return [text.split("\n")[0] for text in cells.all_inner_texts()]
