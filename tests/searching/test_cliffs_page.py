"""The page of cliffs in a real browser: what it shows, and sort, filter and download."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.graphs.drawing.layout import place, shared_part
from graphgrain.graphs.drawing.shapes import Palette
from graphgrain.pages.graph_pages import cliffs_csv, cliffs_page

from ..pages.browsing import overlapping

HOSTILE = "</script><b onclick=alert(1)>'\"&"
DRAWN = 12


@pytest.fixture(scope="module")
def found(drugs: Any) -> Any:
    """Some drugs with values made up, one of them twice, and names of which one is hostile."""
    graphs, _, names = drugs
    y = np.random.default_rng(0).normal(size=60).round(2)
    twice = gg.GraphBatch.concatenate([graphs[:60], graphs[[3]]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cliffs = gg.cliffs(twice, [*y, y[3] + 4], 0.5, 0.75)
    told = [*map(str, names[:60]), "measured again"]
    told[cliffs[0].first] = HOSTILE
    return cliffs, told


@pytest.fixture(scope="module")
def page_file(found: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cliffs") / "cliffs.html"
    text = cliffs_page(*found, "drugs <1>", "pIC50", 0.75, DRAWN)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def opened(open_file: Callable[..., Any], page_file: Path) -> Callable[..., Any]:
    def open_page(width: int = 1280, height: int = 900, scheme: str = "light") -> Any:
        return open_file(page_file, ".cliff svg", width=width, height=height, scheme=scheme)

    return open_page


def shown(page: Any, number: str) -> list[float]:
    """A number of all cards that are visible, from above."""
    cards = page.locator(".cliff:not([hidden])")
    return [
        float(card)
        for card in cards.evaluate_all("(all, name) => all.map((a) => a.dataset[name])", number)
    ]


def test_it_shows_the_steepest_pairs_and_what_was_measured_twice(opened, found):
    cliffs, names = found
    assert len(cliffs) > DRAWN
    page = opened()
    assert page.inner_text("h1") == f"{len(cliffs)} cliffs of pIC50 in drugs <1>"
    assert f"The steepest {DRAWN} are drawn" in page.inner_text(".lead")
    assert shown(page, "steepness") == [cliff.steepness for cliff in cliffs.cliffs[:DRAWN]]
    for number, card in enumerate(page.locator(".cliff").all()[:3]):
        captions = card.locator("figcaption").all_inner_texts()
        for caption, graph in zip(captions, cliffs[number][:2], strict=True):
            assert names[graph] in caption
            assert f"pIC50 {cliffs.y[graph]:.4g}" in caption
        assert card.locator("svg").count() == 2
    twice = page.inner_text("#duplicates")
    assert f"{names[3]}, measured again" in twice


def test_sort(opened, found):
    page = opened()
    for number in ("similarity", "difference", "steepness"):
        page.select_option("#order", number)
        values = shown(page, number)
        assert len(values) == DRAWN
        assert values == sorted(values, reverse=True)


def test_filter(opened, found):
    cliffs, names = found
    page = opened()
    drawn = cliffs.cliffs[:DRAWN]
    middle = sorted(abs(cliff.difference) for cliff in drawn)[DRAWN // 2]
    page.fill("#least", str(middle))
    left = [cliff for cliff in drawn if abs(cliff.difference) >= middle]
    assert 0 < len(left) < DRAWN
    assert shown(page, "steepness") == [cliff.steepness for cliff in left]
    assert page.inner_text("#shown") == f"{len(left)} of {DRAWN} pairs"
    page.fill("#least", repr(middle * (1 + 1e-12)))  # nobody sees such a difference
    assert page.inner_text("#shown") == f"{len(left)} of {DRAWN} pairs"
    page.fill("#least", "0")
    name = names[cliffs[1].second]
    page.fill("#text", name.upper())
    left = [cliff for cliff in drawn if name in (names[cliff.first], names[cliff.second])]
    assert shown(page, "steepness") == [cliff.steepness for cliff in left]
    page.fill("#text", "no such drug")
    assert page.inner_text("#shown") == f"0 of {DRAWN} pairs"


def test_download(opened, found, tmp_path):
    """All pairs, not only those that are drawn."""
    page = opened()
    with page.expect_download() as download:
        page.click("#download")
    assert download.value.suggested_filename == "cliffs.csv"
    path = tmp_path / "cliffs.csv"
    download.value.save_as(path)
    assert path.read_text(encoding="utf-8") == cliffs_csv(*found)
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    assert len(rows) == len(found[0])
    assert rows[0]["first_name"] == HOSTILE
    assert float(rows[0]["steepness"]) == found[0][0].steepness


def test_names_are_only_text(opened):
    page = opened()
    page.fill("#text", "onclick")
    assert HOSTILE in page.locator(".cliff:not([hidden]) figcaption").first.inner_text()
    assert page.locator("b[onclick]").count() == 0


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_labels_do_not_overlap(opened, width):
    page = opened(width)
    page.locator(".cliff summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    texts = "h1, .lead, .tools label, #download, #shown, .numbers span, figcaption, summary, h2, "
    texts += ".patterns li, .patterns p, #duplicates p, #duplicates td"
    assert overlapping(page, texts, ".cliff svg") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_phones(opened, scheme):
    page = opened(390, 844, scheme)
    for control in ("#order", "#least", "#text", "#download"):
        assert page.locator(control).bounding_box()["height"] >= 32
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 28)"}[scheme]


# -------------------------------------------------------------------- what is drawn


def test_the_common_part_is_grey_and_the_rest_coloured():
    """Phenethylamines that differ in one atom: that is coloured, all other atoms are grey."""
    pytest.importorskip("rdkit")
    graphs = gg.as_graphs(["Clc1ccc(CCN)cc1", "Oc1ccc(CCN)cc1"])
    found = gg.cliffs(graphs, [5.0, 7.5], 0.3)
    assert [part.tolist() for part in found.changed(0)] == [[0], [0]]
    text = cliffs_page(found, ["chloro", "hydroxy"], "set", "y", 1.0)
    pictures = re.findall(r"<svg[^>]*aria-label.*?</svg>|<svg[^>]*role=.*?</svg>", text, re.DOTALL)
    grey, ink = Palette("page").grey, Palette("page").ink
    for picture, strength, symbol in zip(pictures, (-0.75, 0.75), ("Cl", "O"), strict=True):
        assert picture.count(Palette("page").of(strength)) == 1
        texts = {told: tag for tag, told in re.findall(r"<text([^>]*)>([^<]*)</text>", picture)}
        assert ink in texts[symbol]
        assert grey in texts["N"]
        lines = re.findall(r"<line[^>]*>|<path[^>]*>", picture)
        assert sum(ink in line for line in lines) == 1  # the bond to what changed
        assert sum(grey in line for line in lines) > 3


def test_both_lie_the_same_way(drugs, found):
    """What two graphs share has nearly the same coordinates, up to a shift."""
    pytest.importorskip("rdkit")
    cliffs, _ = found
    off = []
    for number in range(DRAWN):
        first, second = (cliffs.graphs(number)[[side]] for side in (0, 1))
        common = shared_part(first, second)
        one, two = place(first).points[common[:, 0]], place(second, first).points[common[:, 1]]
        apart = (one - one.mean(axis=0)) - (two - two.mean(axis=0))
        off.append(float(np.sqrt((apart**2).sum(axis=1).mean())))
    assert np.median(off) < 0.1
    assert max(off) < 1.0
