"""The page in a real browser on every screen: phone and desktop, dark and light, on paper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphgrain.evaluation.labelled_graphs import prepare
from graphgrain.report.results_page import write_report

import graphgrain as gg
from graphgrain.evaluation import paper as published

from . import oracle
from .browsing import redrawn
from .made_up import FOLDS, made_up_fold, made_up_kernel, save

TIMES = "\u00d7"
KERNELS = {"tree++": "Tree++", "sp": "SP", "wl": "WL"}


def test_a_kernel_has_one_colour_on_the_whole_page(shown: Any) -> None:
    legends = {
        section: shown.locator(f"#{section} .legend li").evaluate_all(
            "els => els.map(e => [e.innerText, e.querySelector('path').getAttribute('style')])"
        )[:3]
        for section in ("accuracy", "runtime")
    }
    assert dict(legends["accuracy"]) == dict(legends["runtime"])


def test_on_a_phone_the_best_kernel_is_in_sight(
    opened: Any, shown: Any, records: list[Any]
) -> None:
    page = opened(360, 740)
    best = page.locator("#accuracy tbody tr", has_text="KKI").locator(".best-of-row")
    means = {kernel: np.mean(oracle.accuracies(records, "KKI", kernel)) for kernel in KERNELS}
    top = max(means, key=lambda kernel: means[kernel])
    assert best.inner_text() == f"best: {KERNELS[top]} {means[top]:.2f}"
    box = best.bounding_box()
    assert 0 <= box["x"] < box["x"] + box["width"] <= 360
    assert shown.locator("#accuracy .best-of-row").first.is_hidden()


def test_many_classes_have_different_colours(browser: Any, tmp_path: Path) -> None:
    rings = [([(v, (v + 1) % n) for v in range(n)], [n % 3] * n) for n in range(3, 43)]
    data = prepare("many", gg.as_graphs(rings), np.arange(40) // 2)
    folds = [made_up_fold(data, "vertex-histogram", [0.5], 0, fold) for fold in range(FOLDS)]
    results = save(folds, tmp_path / "results")
    given = {"many": (data.graphs, data.codes)}
    page = browser.new_page()
    page.goto(write_report(results, tmp_path / "report.html", data=given).as_uri())
    page.wait_for_selector("#graphs .map path.dot")
    colours = (
        page.locator("#graphs .strip:not(.names) >> nth=0")
        .locator("i")
        .evaluate_all("els => els.map(e => getComputedStyle(e).backgroundColor)")
    )
    assert len(colours) == len(set(colours)) == 20
    page.close()


@pytest.mark.parametrize("width", [320, 360, 768, 1280, 1920])
def test_nothing_overflows_sideways(opened: Any, width: int) -> None:
    page = opened(width, 740)
    sizes = page.evaluate("[document.documentElement.scrollWidth, document.body.scrollWidth]")
    assert max(sizes) <= width
    # Narrower while it is open, as when a phone is turned.
    page.set_viewport_size({"width": 300, "height": 740})
    redrawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 300


def test_touching_a_mark_tells_it(opened: Any) -> None:
    page = opened(360, 740)
    mark = page.locator("#graphs .map path.dot").nth(0)
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert "vertices" in page.locator("#tip").inner_text()


BACKGROUND = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(18, 22, 28)"


def test_dark_and_light(opened: Any, shown: Any) -> None:
    assert shown.evaluate(BACKGROUND) == LIGHT
    page = opened(scheme="dark")
    assert page.evaluate(BACKGROUND) == DARK
    button = page.locator("#theme")
    assert button.inner_text() == "Theme: system"
    button.click()
    assert button.inner_text() == "Theme: light"
    assert page.evaluate(BACKGROUND) == LIGHT
    for _ in range(20):  # the browser stores the choice when it finds the time
        page.reload()
        if page.evaluate(BACKGROUND) == LIGHT:
            break
        page.wait_for_timeout(100)
    assert button.inner_text() == "Theme: light"
    assert page.evaluate(BACKGROUND) == LIGHT
    button.click()
    assert button.inner_text() == "Theme: dark"
    assert page.evaluate(BACKGROUND) == DARK
    page.emulate_media(media="print")
    assert page.evaluate(BACKGROUND) == LIGHT
    page.emulate_media(media="screen", color_scheme="light")
    button.click()
    assert page.evaluate(BACKGROUND) == LIGHT


CONTRASTS = """() => {
  const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const channel = (v) => linear(v / 255);
  const light = (c) => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const back = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
  };
  const low = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || e.closest("script, .hidden, .skip, [hidden], svg title, svg desc")) continue;
    const style = getComputedStyle(e);
    const ink = rgb(e.namespaceURI.endsWith("svg") ? style.fill : style.color);
    const [a, b] = [light(ink), light(back(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) low.push(`${e.tagName}.${e.getAttribute("class")} ${ratio.toFixed(2)}`);
  }
  return low;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_enough_contrast(opened: Any, shown: Any, scheme: str) -> None:
    page = shown if scheme == "light" else opened(scheme=scheme)
    assert page.evaluate(CONTRASTS) == []


def test_it_reads_without_a_script(browser: Any, report: Path, records: list[Any]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    expected = np.mean(oracle.accuracies(records, "KKI", "wl"))
    row = page.locator("#accuracy tbody tr", has_text="KKI")
    assert f"{expected:.2f}" in row.inner_text()
    context.close()


@pytest.fixture(scope="module")
def wide(sets: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All nine kernels of the paper, and cells that hold every figure they can."""
    data = replace(sets["KKI"], name="Mutagenicity")
    folds = [
        made_up_fold(data, kernel, [0.9 - 0.07 * number], repetition, fold)
        for number, kernel in enumerate(published.KERNELS)
        for repetition in range(2)
        for fold in range(FOLDS)
    ]
    costs = [made_up_kernel(data, kernel, 87.09) for kernel in published.KERNELS]
    folder = tmp_path_factory.mktemp("wide")
    return write_report(save([*folds, *costs], folder / "results"), folder / "report.html")


def test_it_prints(browser: Any, wide: Path, tmp_path: Path) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(wide.as_uri())
    page.pdf(path=str(tmp_path / "report.pdf"), format="A4")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF-")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 687, "height": 1000})  # 182 mm, A4 within its margins
    redrawn(page)
    assert page.locator("nav").is_hidden()
    edges = page.locator("table, svg").evaluate_all(
        "els => els.map(e => e.getBoundingClientRect().right)"
    )
    assert max(edges) <= 687
    page.close()


def test_nine_kernels_fit_a_desktop(browser: Any, wide: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(wide.as_uri())
    redrawn(page)
    box = page.locator("#accuracy .scroll")
    assert box.evaluate("e => e.scrollWidth <= e.clientWidth")
    page.close()


@pytest.mark.parametrize("width", [390, 800, 1400])
def test_wide_tables_say_so_and_words_stay_whole(opened: Any, width: int) -> None:
    page = opened(width)
    redrawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    told = page.evaluate(
        """() => [...document.querySelectorAll(".scroll")].filter((box) =>
          box.hasAttribute("data-more") !== (box.scrollWidth > box.clientWidth + 2)).length"""
    )
    assert told == 0
    broken = page.evaluate(
        """() => [...document.querySelectorAll(".confusion tbody th")].filter((head) => {
          const range = document.createRange();
          range.selectNodeContents(head);
          return range.getClientRects().length > 1;
        }).map((head) => head.textContent)"""
    )
    assert broken == []


def test_misclassified_graphs_are_drawn(shown: Any) -> None:
    page = shown
    page.select_option("#errors-set", "drugs")
    drawn = page.locator("#errors .mistaken svg")
    assert drawn.count() == min(12, page.locator("#errors .listing tbody tr").count())
    assert drawn.first.locator("path.ink").get_attribute("d")
