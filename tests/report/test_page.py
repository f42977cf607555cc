"""The page as a file: safe whatever names occur, whole or not there, needing nothing else."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from graphgrain.report.results_page import write_report

from graphgrain.errors import InvalidFileError, InvalidParameterError, UnwritableFileError

from .made_up import FOLDS, HOSTILE, made_up_fold, made_up_kernel, save

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


class Elements(HTMLParser):
    """All start tags, and the text of script elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.stack: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")
        if tag not in ("meta", "link", "img", "br"):
            self.stack.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.stack and self.stack[-1] == "script":
            self.scripts[-1] += data


def test_hostile_names_stay_text(report: Path) -> None:
    elements = Elements(report.read_text(encoding="utf-8"))
    assert elements.stack == []
    tags = [tag for tag, _ in elements.found]
    assert tags.count("script") == 2
    assert "img" not in tags
    assert not any(name.startswith("on") for _, attributes in elements.found for name in attributes)
    data = json.loads(elements.scripts[0])
    assert HOSTILE in [row["name"] for row in data["dots"][0]["rows"]]
    shown = data["maps"][0]["sets"][-1]
    assert shown["name"] == shown["names"][0] == HOSTILE
    assert data["errors"][-1]["set"] == data["errors"][-1]["wrong"][0][0] == HOSTILE


def test_nothing_is_loaded_from_elsewhere(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    for tag, attributes in Elements(text).found:
        for name in ("src", "href", "action", "poster", "data", "srcset"):
            address = attributes.get(name)
            inside = address is None or address.startswith(("#", "data:"))
            assert inside, f"<{tag} {name}={address!r}>"
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|import\(", text)
    assert "default-src 'none'" in text
    assert len(text) < 1_000_000


def test_identifiers_are_unique_and_links_lead_somewhere(report: Path) -> None:
    found = Elements(report.read_text(encoding="utf-8")).found
    identifiers = [attributes["id"] for _, attributes in found if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    targets = [
        str(attributes["href"])[1:]
        for tag, attributes in found
        if tag == "a" and str(attributes["href"]).startswith("#")
    ]
    assert targets
    assert set(targets) <= set(identifiers)
    labels = [
        attributes["aria-labelledby"] for _, attributes in found if "aria-labelledby" in attributes
    ]
    assert set(labels) <= set(identifiers)


def test_the_note_on_cox2_md_stands_with_its_figure(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    accuracy = text[text.index('<section id="accuracy"') : text.index('<section id="ranks"')]
    assert "70.2" in accuracy
    assert "63.0 after renumbering" in accuracy
    assert re.search(r'COX2_MD<sup><a href="#accuracy-note-1"', accuracy)
    assert '<li id="accuracy-note-1">COX2_MD: the published value' in accuracy


def test_with_and_without_the_paper(brief: Path, tmp_path: Path) -> None:
    for paper in (True, False):
        page = write_report(brief, tmp_path / "r.html", paper=paper)
        text = page.read_text(encoding="utf-8")
        for words in ('class="paper"', "accuracy-note", "69.20"):
            assert (words in text) == paper, words


def test_the_same_results_give_the_same_page(
    results: Path, report: Path, given: dict[str, Any], tmp_path: Path
) -> None:
    again = write_report(results, tmp_path / "again.html", data=given)
    assert again.read_bytes() == report.read_bytes()


def test_a_title_of_ones_own(brief: Path, tmp_path: Path) -> None:
    page = write_report(brief, tmp_path / "r.html", title="A & B <c>")
    assert "<h1>A &amp; B &lt;c&gt;</h1>" in page.read_text(encoding="utf-8")


def test_every_mark_is_explained_where_it_first_occurs(
    sets: dict[str, Any], tmp_path: Path
) -> None:
    classes = [made_up_fold(sets["BZR"], "wl", [0.5], 0, fold) for fold in range(FOLDS)]
    values = [
        replace(
            record,
            classes=[],
            truth=[0.5 * value for value in record.truth],
            levels=[replace(record.levels[0], scores=[])],
        )
        for record in (made_up_fold(sets["KKI"], "wl", [0.5], 0, fold) for fold in range(FOLDS))
    ]
    again = [replace(record, seed=1) for record in classes]
    page = write_report(save([*values, *classes, *again], tmp_path / "r"), tmp_path / "r.html")
    text = page.read_text(encoding="utf-8")
    mean, majority = "Mean: error of always", "Majority: accuracy of always"
    assert text.count(mean) == text.count(majority) == 1
    assert text.index(mean) < text.index('<section id="accuracy-2"') < text.index(majority)
    assert text.index(majority) < text.index('<section id="accuracy-3"')


def test_partial_results_make_a_page(sets: dict[str, Any], tmp_path: Path) -> None:
    begun = save([made_up_fold(sets["KKI"], "wl", [0.5], 0, 0)], tmp_path / "begun")
    text = write_report(begun, tmp_path / "begun.html").read_text(encoding="utf-8")
    assert "No repetition of the cross-validation is complete yet" in text
    assert "KKI, WL: 1 of the 5 folds" in text
    Elements(text)
    timed = save([made_up_kernel(sets["KKI"], "wl", 0.5)], tmp_path / "timed")
    text = write_report(timed, tmp_path / "timed.html").read_text(encoding="utf-8")
    assert "500 ms" in text
    assert "No repetition" not in text  # only the time was measured
    curve = [
        made_up_fold(sets["KKI"], "tree++", [0.6, 0.7], 0, fold, variant="figure-k")
        for fold in range(FOLDS)
    ]
    text = write_report(save(curve, tmp_path / "curve"), tmp_path / "curve.html").read_text("utf-8")
    assert "Accuracy against k" in text
    assert "No repetition" not in text
    one = [made_up_fold(sets["KKI"], "wl", [0.5], 0, fold) for fold in range(FOLDS)]
    text = write_report(save(one, tmp_path / "one"), tmp_path / "one.html").read_text("utf-8")
    assert "t-test" not in text  # there is nothing to test against
    two = [*one, *(made_up_fold(sets["KKI"], "tree++", [0.5], 0, fold) for fold in range(FOLDS))]
    text = write_report(save(two, tmp_path / "two"), tmp_path / "two.html").read_text("utf-8")
    assert "No kernel differs from Tree++ with p &lt; 0.05" in " ".join(text.split())
    assert "unknown" not in text


def test_a_kernel_of_another_version(sets: dict[str, Any], tmp_path: Path) -> None:
    folds = [made_up_fold(sets["KKI"], "future", [0.5], 0, fold) for fold in range(FOLDS)]
    data = {"KKI": (sets["KKI"].graphs, sets["KKI"].codes)}
    page = write_report(save(folds, tmp_path / "r"), tmp_path / "r.html", data=data)
    assert "no kernel &#39;future&#39;" in page.read_text(encoding="utf-8")


def test_nothing_is_written_when_something_fails(brief: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text("old")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(InvalidFileError):
        write_report(tmp_path / "empty.jsonl", page)
    assert page.read_text() == "old"
    before = sorted(tmp_path.iterdir())
    with pytest.raises(UnwritableFileError, match="cannot be written"):
        write_report(brief, tmp_path / "absent" / "report.html")
    with pytest.raises(UnwritableFileError, match="folder"):
        write_report(brief, tmp_path)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.skipif(AS_ROOT, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(brief: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(UnwritableFileError, match="Permission denied"):
            write_report(brief, tmp_path / "report.html")
    finally:
        tmp_path.chmod(0o755)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_old_page(
    brief: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "report.html"
    page.write_text("old")

    def full(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(UnwritableFileError, match="No space left"):
        write_report(brief, page)
    assert [item.name for item in tmp_path.iterdir()] == ["report.html"]
    assert page.read_text() == "old"


def test_the_results_are_not_replaced_by_their_report(brief: Path, tmp_path: Path) -> None:
    copy = tmp_path / "results.jsonl"
    copy.write_bytes(brief.read_bytes())
    with pytest.raises(InvalidParameterError, match="must not replace"):
        write_report(copy, copy)
    assert copy.read_bytes() == brief.read_bytes()
