"""The command ``graphgrain report``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import graphgrain as gg
from graphgrain.cli.app import app

from .made_up import FOLDS, made_up_fold, save


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sets: dict[str, Any]) -> Path:
    """A folder with results, the graphs that they are of, and nothing else at hand."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GRAPHGRAIN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    data = sets["KKI"]
    folds = [
        made_up_fold(data, kernel, [0.7], repetition, fold)
        for kernel in ("tree++", "wl")
        for repetition in range(2)
        for fold in range(FOLDS)
    ]
    save(folds, tmp_path / "results.jsonl")
    gg.save_tu(tmp_path / "mine" / "KKI", data.graphs, data.codes)
    return tmp_path


def call(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["report", *arguments])


def test_a_page(here: Path) -> None:
    answer = call("results.jsonl")
    assert answer.exit_code == 0, answer.output
    assert "report.html" in answer.output
    text = (here / "report.html").read_text(encoding="utf-8")
    assert "its graphs were not found" in text
    assert "paper 55.63" in text.replace('<span class="word">paper </span>', "paper ")
    answer = call(
        *("results.jsonl", "-o", "p.html", "--data", "mine/KKI", "--no-paper", "--title", "Mine")
    )
    assert answer.exit_code == 0, answer.output
    text = (here / "p.html").read_text(encoding="utf-8")
    assert "<h1>Mine</h1>" in text
    assert "not found" not in text
    assert "55.63" not in text


def test_a_page_on_standard_output(here: Path) -> None:
    answer = call("results.jsonl", "-o", "-")
    assert answer.exit_code == 0, answer.output
    assert answer.stdout.startswith("<!")
    assert answer.stdout.rstrip().endswith("</html>")
    assert "Report written" in answer.stderr
    assert not (here / "-").exists()
    answer = call("results.jsonl", "-o", "-", "--json")
    assert answer.exit_code == 2
    assert "both go to standard output" in " ".join(answer.stderr.split())


@pytest.mark.parametrize("format", ["pdf", "svg", "png"])
def test_figures_for_a_paper(here: Path, format: str) -> None:
    answer = call("results.jsonl", "--format", format, "--json")
    assert answer.exit_code == 0, answer.output
    written = json.loads(answer.stdout)["output"]
    names = ("accuracy", "confusion-KKI-Tree++", "confusion-KKI-WL")
    assert written == [os.path.join("figures", f"{name}.{format}") for name in names]
    assert (here / written[0]).stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["absent.jsonl"], "cannot be read"),
        (["results.jsonl", "--format", "gif"], "--format is one of html, pdf, svg, png"),
        (["results.jsonl", "-o", "absent/report.html"], "There is no folder"),
        (["results.jsonl", "-o", "results.jsonl"], "must not replace"),
        (["results.jsonl", "--data", "absent.zip"], "no file or folder"),
        (["results.jsonl", "--format", "pdf", "-o", "-"], "-o names a folder, not -"),
    ],
)
def test_bad_requests(here: Path, arguments: list[str], words: str) -> None:
    before = sorted(here.rglob("*"))
    answer = call(*arguments)
    assert answer.exit_code == 2
    assert words in " ".join(answer.output.split())
    assert "Traceback" not in answer.output
    assert sorted(here.rglob("*")) == before
