"""Pages of drawn graphs: the neighbours of a graph, and what a search has found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphgrain as gg
from graphgrain.pages.graph_pages import write_neighbours, write_search_page

from .browsing import overlapping

#: All that is text on these pages.
TEXTS = "h1, h2, h3, .lead, .key, .words, .similarity span, .asked p, li > p, dt, dd"
LONG = "a-name-without-any-break-" * 6


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    graphs, y, names = gg.load_drugs(names=True)
    folder = tmp_path_factory.mktemp("cards")
    kernel = gg.TreePlusPlus(edge_labels=True).fit(graphs)
    names[12] = LONG
    write_neighbours(folder / "neighbours.html", kernel, graphs, names, y, 221, [222, 12, 40, 50])
    found = [
        {
            "query": "morphine",
            "hits": [
                {"id": "codeine", "similarity": 0.9, "SMILES": "C" * 120},
                {"id": LONG, "similarity": 0.31, "target <b>": "<script>alert(1)</script>"},
            ],
        },
        {"query": LONG, "hits": []},
    ]
    queries = graphs[[221, 12]]
    write_search_page(folder / "found.html", "Tree++", queries, found, [graphs[[222, 12]], queries])
    return {name: folder / f"{name}.html" for name in ("neighbours", "found")}


@pytest.mark.parametrize("width", [390, 800, 1400])
@pytest.mark.parametrize("name", ["neighbours", "found"])
def test_labels_do_not_overlap(pages, open_file: Any, name, width):
    page = open_file(pages[name], "main svg", width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(TEXTS).count() > 8
    assert overlapping(page, TEXTS, "main svg") == []


def test_what_was_found_is_only_text(pages, open_file: Any):
    page = open_file(pages["found"], "main svg")
    assert "<script>alert(1)</script>" in page.inner_text("main")
    assert "No graph is similar enough." in page.inner_text("main")
    assert page.locator("main script").count() == 0
