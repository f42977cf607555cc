"""The commands reproduce, report and demo."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from graphgrain.evaluation.records import kernel_records, read_results

import graphgrain as gg
from graphgrain.evaluation import paper as published
from graphgrain.evaluation.exploration import explore

from .. import real_data
from .running import call, fails, words


def test_reproduce_shows_the_papers_figures_next_to_ours(real, here):
    arguments = ("--datasets", "KKI", "--kernel", "tree++,wl", "--repeats", 1)
    shown = words(call("reproduce", "table2", *arguments).stdout)
    assert "55.63 ± 1.69" in shown
    assert "50.38 ± 2.77" in shown
    found = json.loads(call("reproduce", "table2", *arguments, "--json").stdout)["table2"]
    assert {row["select"] for row in found["reported-best"]} == {"reported-best"}
    before = len(read_results(here / "graphgrain-results.jsonl"))
    times = json.loads(call("reproduce", "table3", *arguments, "--json").stdout)["table3"]
    assert len(read_results(here / "graphgrain-results.jsonl")) == before
    assert [row["paper"] for row in times] == [2.00, 0.25]
    assert all(row["seconds"] > 0 for row in times)


def test_reproduce_table1_and_the_distributions(real, here):
    [row] = json.loads(call("reproduce", "table1", "-d", "KKI", "--json").stdout)["table1"]
    assert row["ours"] == pytest.approx(list(published.TABLE1["KKI"]), abs=0.005)
    assert "190" in call("reproduce", "table1", "-d", "KKI").output
    call("reproduce", "figure-distributions", "-d", "KKI", "--plot", "d.svg")
    assert (here / "d.svg").exists()
    assert not (here / "graphgrain-results.jsonl").exists()


def test_reproduce_looks_for_data_sets_where_it_is_told(real, here, monkeypatch):
    monkeypatch.setenv("GRAPHGRAIN_DATA", str(here))
    arguments = ("reproduce", "table1", "-d", "KKI", "--json", "--data", real_data.FOLDER)
    [row] = json.loads(call(*arguments).stdout)["table1"]
    assert row["ours"] == pytest.approx(list(published.TABLE1["KKI"]), abs=0.005)


def test_reproduce_a_figure(real, here):
    arguments = ("reproduce", "figure-d", "-d", "KKI", "--repeats", 1, "--folds", 3)
    [row] = json.loads(call(*arguments, "--json").stdout)["figure-d"]
    assert list(row["accuracy"]) == [str(depth) for depth in range(8)]
    assert "d = 7" in words(call(*arguments).stdout)
    assert len(kernel_records(read_results(here / "graphgrain-results.jsonl"))) == 8


def test_report_on_data_of_ones_own(toy, here):
    call("evaluate", toy, "--repeats", 1, "--folds", 3, "--set", "tree_depth=0", "-r", "r.jsonl")
    arguments = ("report", "r.jsonl", "--data", toy, "--title", "My graphs", "--no-paper")
    assert json.loads(call(*arguments, "--json").stdout) == {"output": ["report.html"]}
    assert "My graphs" in (here / "report.html").read_text()
    drawn = json.loads(call(*arguments, "--format", "svg", "-o", "f", "--json").stdout)["output"]
    assert all(Path(path).read_text().startswith("<?xml") for path in drawn)
    assert any("TOY" in path for path in drawn)  # the map of the graphs
    assert "--format is one of html, pdf, svg, png" in fails(*arguments, "--format", "gif")


def test_demo(here, monkeypatch, quick_model):
    monkeypatch.setattr("graphgrain.cli.demo.explore", partial(explore, most=24))
    shown = json.loads(call("demo", "--json").stdout)
    assert shown["drug"] == "morphine"
    assert [near["family"] for near in shown["neighbours"]][:3] == ["opioids"] * 3
    # The double bond and the ketone set them apart: with edge labels they are not the same.
    assert all(near["similarity"] < 0.95 for near in shown["neighbours"])
    assert shown["accuracy"]["tree++"] > 0.9 > shown["accuracy"]["vertex-histogram"]
    drawn = (here / "graphgrain-demo" / "neighbours.html").read_text()
    assert drawn.count('role="img" aria-label="A graph') == 6  # morphine once, five others
    assert "codeine is most similar to morphine" in drawn
    for name in ("neighbours", "report", "explore"):  # the pages know each other
        page = (here / "graphgrain-demo" / f"{name}.html").read_text()
        assert all(f'href="{other}.html"' in page for other in ("neighbours", "report", "explore"))
    assert (here / "graphgrain-demo" / "report.html").exists()
    # The words for people, about the same results; the pages have just been looked at.
    found = SimpleNamespace(score=0.976, folds=5)
    monkeypatch.setattr("graphgrain.cli.demo.explore", lambda *data, **options: found)
    monkeypatch.setattr("graphgrain.cli.demo.explore_page", lambda *found: "")
    monkeypatch.setattr("graphgrain.cli.demo.write_report", lambda *results, **options: None)
    text = words(call("demo", "--drug", "diazepam").stdout)
    assert "Most similar to diazepam (benzodiazepines)" in text


def test_reproduce_goes_on_without_a_kernel_whose_package_is_absent(real, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    arguments = ("reproduce", "table3", "-d", "KKI", "--kernel", "dgk,vertex-histogram")
    result = call(*arguments, "--json")
    found = json.loads(result.stdout)
    assert [row["seconds"] is None for row in found["table3"]] == [True, False]
    assert "graphgrain[deep]" in found["missing"]["dgk"]
    assert "Left out: DGK." in words(result.stderr)


def test_reproduce_ignores_no_option(real):
    assert "--plot is the file of" in fails("reproduce", "table1", "-d", "KKI", "--plot", "x.png")
    assert "--kernel is for table2" in fails("reproduce", "figure-k", "-d", "KKI", "-k", "wl")


def test_report_on_two_data_sets_of_the_same_name(toy, here):
    """Each file is found, although both are called TOY."""
    graphs, y = gg.load_tu(toy)
    half = np.arange(len(graphs)) % 2 == 0
    (here / "other").mkdir()
    gg.save_tu(here / "other" / "TOY.zip", graphs[half], y[half])
    files = (toy, here / "other" / "TOY.zip")
    arguments = ("-k", "vertex-histogram", "--repeats", 1, "--folds", 3, "-r", "r.jsonl")
    table = words(call("evaluate", *files, *arguments).stdout)
    marks = {record.fingerprint[:6] for record in read_results("r.jsonl")}
    assert len(marks) == 2
    assert all(f"TOY [{mark}]" in table for mark in marks)
    call("report", "r.jsonl", "--data", files[0], "--data", files[1])
    page = (here / "report.html").read_text()
    assert "have changed since" not in page
    assert "Vertex histogram is the most accurate kernel on 2 of 2 data sets" in page
