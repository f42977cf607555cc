"""The league table and the critical difference diagram, on a page and as a file."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from graphgrain.evaluation.kernel_comparison import comparisons
from graphgrain.evaluation.records import LimitRecord
from graphgrain.report.rank_diagram import rank_diagram, write_rank_diagram
from graphgrain.report.results_page import write_report

from graphgrain.errors import InvalidParameterError
from graphgrain.evaluation.statistics import rank

from .made_up import FOLDS, HOSTILE, made_up_fold, made_up_kernel, save, small_set

SKILLS = {"tree++": 0.95, "wl": 0.8, "sp": 0.65, "pm": 0.5, "wwl": 0.9}


@pytest.fixture(scope="module")
def records() -> list[Any]:
    """Five kernels on eight data sets; WWL was stopped on six of them."""
    found: list[Any] = []
    names = [HOSTILE, *(f"set {number}" for number in range(1, 8))]
    for number, data in enumerate(map(small_set, names)):
        for kernel, skill in SKILLS.items():
            if kernel != "wwl" or number < 2:
                found += [made_up_fold(data, kernel, [skill], 0, fold) for fold in range(FOLDS)]
                found.append(made_up_kernel(data, kernel, 1.0, processor_seconds=0.5))
                continue
            rules = {"mode": "paper", "folds": FOLDS, "inner_folds": 1, "C": [1.0, 100.0]}
            found.append(
                LimitRecord(
                    **rules,
                    dataset=data.name,
                    fingerprint=data.fingerprint,
                    deduplicated=False,
                    kernel=kernel,
                    variant="",
                    seed=0,
                    reason="time",
                    limit=300.0,
                    repetitions=1,
                )
            )
    return found


class _Tables(HTMLParser):
    """The cells of all tables of a section, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] += data


def section(text: str, anchor: str) -> str:
    [found] = re.findall(rf'<section id="{anchor}".*?</section>', text, re.DOTALL)
    return str(found)


def test_the_page_has_the_league_and_who_was_stopped(records: list[Any], tmp_path: Path) -> None:
    results = save(records, tmp_path / "league.jsonl")
    text = write_report(results, tmp_path / "page.html").read_text()
    tables = _Tables()
    tables.feed(section(text, "ranks"))
    rows = {row[0]: row for row in tables.rows}
    assert list(rows) == ["Kernel", "Tree++", "WL", "SP", "PM", "WWL"]
    comparison = comparisons(records)[0]
    assert comparison.ranks is not None
    for number, value in zip(comparison.ranked, comparison.ranks.average, strict=True):
        row = rows[comparison.columns[number].name]
        assert row[1] == f"{value:.2f}"
        assert row[5] == "4.00 s"  # eight sets, half a second each
    assert rows["WWL"][1].endswith("no result")
    assert rows["WWL"][2] == "2 of 8"
    assert rows["WWL"][-1] == "> 300 s: " + ", ".join(f"set {number}" for number in range(2, 8))
    assert section(text, "accuracy").count("&gt; 300 s</td>") == 6
    assert section(text, "ranks").count('class="leader"') == 4
    assert "<img src=x" not in text


def test_the_file_stands_alone_and_shows_every_rank(records: list[Any], tmp_path: Path) -> None:
    comparison = comparisons(records)[0]
    assert comparison.ranks is not None
    path = write_rank_diagram(comparison, tmp_path / "ranks.svg")
    tree = ElementTree.fromstring(path.read_text())
    words = {"".join(item.itertext()) for item in tree.iter("{http://www.w3.org/2000/svg}text")}
    for number, value in zip(comparison.ranked, comparison.ranks.average, strict=True):
        assert f"{comparison.columns[number].name} {value:.2f}" in words
    assert f"critical difference {comparison.ranks.critical_difference:.2f}" in words
    assert "prefers-color-scheme: dark" in path.read_text()
    with pytest.raises(InvalidParameterError, match=r"must end in \.svg"):
        write_rank_diagram(comparison, tmp_path / "ranks.png")


@pytest.mark.parametrize("kernels", [2, 3, 9, 30])
def test_places_on_the_axis_are_the_ranks(kernels: int) -> None:
    rng = np.random.default_rng(kernels)
    ranks = rank(rng.random((40, kernels)) + np.linspace(0, 1, kernels))
    drawn = rank_diagram(ranks, [f"kernel {number}" for number in range(kernels)])
    step = (drawn["end"] - drawn["begin"]) / (kernels - 1)
    order = np.sort(ranks.average)
    places = np.array([leader["x"] for leader in drawn["leaders"]])
    np.testing.assert_allclose((places - drawn["begin"]) / step + 1, order, atol=0.01)
    assert (drawn["critical"] - drawn["begin"]) / step == pytest.approx(
        ranks.critical_difference, abs=0.01
    )
    for (left, right, _), (best, worst) in zip(drawn["groups"], ranks.groups(), strict=True):
        assert left < places[best] < left + 4
        assert right - 4 < places[worst] < right
    # Nothing leaves the picture, and no two names stand on one another.
    for leader in drawn["leaders"]:
        letters = 7.3 * len(leader["words"])
        assert (
            leader["end"] - letters if leader["left"] else drawn["width"] - leader["end"] - letters
        ) > 0
        assert leader["y"] < drawn["height"]
    assert len({(leader["left"], leader["y"]) for leader in drawn["leaders"]}) == kernels
