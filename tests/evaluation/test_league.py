"""The league: the same folds for all, limits that are kept and told, ranks with gaps."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from scipy import stats
from typer.testing import CliRunner

import graphgrain as gg
from graphgrain.cli import league
from graphgrain.cli.app import app
from graphgrain.errors import InvalidFileError
from graphgrain.evaluation.experiment import run
from graphgrain.evaluation.kernel_comparison import Column, comparisons
from graphgrain.evaluation.labelled_graphs import prepare
from graphgrain.evaluation.league import (
    entrants,
    league_comparison,
    schedule,
    standings,
    takes,
)
from graphgrain.evaluation.limited_run import Entrant, LimitedRuns
from graphgrain.evaluation.limits import Limits, Outcome
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.records import (
    LimitRecord,
    fold_records,
    from_line,
    kernel_records,
    limit_records,
    to_line,
)
from graphgrain.evaluation.results_file import ResultsFile, read_results
from graphgrain.evaluation.self_tuned import AUTO_ROW
from graphgrain.evaluation.significance import rank
from graphgrain.kernels.grid import KernelGrid, Setting
from graphgrain.kernels.registry import KERNELS, list_kernels

from ..report.made_up import FOLDS, made_up_fold, made_up_kernel, small_set

SOURCE = str(Path(gg.__file__).parents[1])
PROTOCOL = Protocol("nested", folds=3, inner_folds=2)
WL = KERNELS["wl"].with_settings([Setting({"n_iter": 1})])
limited = pytest.mark.skipif(os.name == "nt", reason="the system does not enforce limits")


class Endless(gg.VertexHistogram):
    """Compares four graphs, to be compiled, and never comes to an end with more."""

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        while len(X) > 4:
            pass
        return super().fit(X, y, **fit_params)


class Greedy(gg.VertexHistogram):
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        if len(X) > 4:
            np.ones((len(X), 10_000_000))
        return super().fit(X, y, **fit_params)


def said(results: list[Any]) -> list[Any]:
    """All that must not change: everything but times."""
    return sorted(
        (r.dataset, r.kernel, repr(r.settings), r.repetition, r.fold, r.test, repr(r.levels))
        for r in fold_records(results)
    )


# ---------------------------------------------------------------- running


@limited
def test_a_process_of_its_own_changes_nothing_and_is_started_once(
    families: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ResultsFile(tmp_path / "here.jsonl") as here:
        run(families, WL, PROTOCOL, 2, here)
        expected = said(here.records)
    with ResultsFile(tmp_path / "there.jsonl") as there:
        runs = LimitedRuns(there, Limits(60))
        assert runs(families, Entrant(WL), PROTOCOL, 1) == Outcome()
        assert len(said(there.records)) == 3
        assert runs(families, Entrant(WL), PROTOCOL, 2) == Outcome()
        assert said(there.records) == expected
        assert len(kernel_records(there.records)) == 1
    before = (tmp_path / "there.jsonl").read_bytes()
    monkeypatch.setattr("graphgrain.evaluation.limited_run.run_in_process", None)
    with ResultsFile(tmp_path / "there.jsonl") as there:
        assert LimitedRuns(there, Limits(60))(families, Entrant(WL), PROTOCOL, 2) == Outcome()
    assert (tmp_path / "there.jsonl").read_bytes() == before


@limited
@pytest.mark.parametrize(
    ("kernel", "limits", "raised", "reason"),
    [
        (Endless, Limits(seconds=1), Limits(seconds=2), "time"),
        (Greedy, Limits(60, 300 * 2**20), Limits(60, 400 * 2**20), "memory"),
    ],
)
def test_who_runs_over_a_limit_is_stopped_once(
    kernel: Any, limits: Limits, raised: Limits, reason: str, families: Any, tmp_path: Path
) -> None:
    entrant = Entrant(KernelGrid("over", kernel, "Over"))
    path = tmp_path / "r.jsonl"
    with ResultsFile(path) as results:
        assert LimitedRuns(results, limits)(families, entrant, PROTOCOL, 1).stopped == reason
    [record] = read_results(path)
    assert isinstance(record, LimitRecord)
    assert (record.reason, record.limit) == (
        reason,
        limits.seconds if reason == "time" else limits.memory,
    )
    assert (record.dataset, record.kernel, record.repetitions) == ("families", "over", 1)
    size = path.stat().st_size
    with ResultsFile(path) as results:
        # Neither with the same limit nor with a lower one, whatever the number of repetitions.
        lower = Limits((limits.seconds or 2) / 2, (limits.memory or 2**30) // 2)
        for again in (limits, lower):
            begun = time.process_time()
            assert LimitedRuns(results, again)(families, entrant, PROTOCOL, 2).stopped == reason
            assert time.process_time() - begun < 60
        assert path.stat().st_size == size
        assert LimitedRuns(results, raised)(families, entrant, PROTOCOL, 1).stopped == reason
    found = limit_records(read_results(path))
    assert [r.limit for r in found] == [
        getattr(given, "seconds" if reason == "time" else "memory") for given in (limits, raised)
    ]


def test_the_time_limit_is_for_each_repetition_that_is_missing(
    families: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Limits] = []

    def stopped_at_once(work: Any, limits: Limits, *rest: Any, **more: Any) -> Outcome:
        given.append(limits)
        return Outcome(error="not run")

    with ResultsFile(tmp_path / "r.jsonl") as results:
        run(families, WL, PROTOCOL, 1, results)
        monkeypatch.setattr("graphgrain.evaluation.limited_run.run_in_process", stopped_at_once)
        for limits in (Limits(60, 2**30), Limits()):
            LimitedRuns(results, limits)(families, Entrant(WL), PROTOCOL, 5)
    assert given == [Limits(4 * 60, 2**30), Limits()]


@limited
def test_a_kernel_that_fails_is_no_limit(families: Any, tmp_path: Path) -> None:
    attributes = Entrant(KERNELS["propa"].with_parameters(attributes=True))
    with ResultsFile(tmp_path / "r.jsonl") as results:
        outcome = LimitedRuns(results, Limits(60))(families, attributes, PROTOCOL, 1)
        assert outcome.stopped == ""
        assert "attributes" in outcome.error
        assert results.records == []


@limited
def test_kill_9_loses_at_most_the_fold_in_progress(tmp_path: Path) -> None:
    graphs, y = gg.load_drugs()
    kernels = ("sp", "vertex-histogram")
    with ResultsFile(tmp_path / "whole.jsonl") as whole:
        for name in kernels:
            run(prepare("drugs", graphs, y), KERNELS[name], Protocol(folds=3), 2, whole)
        expected = said(whole.records)

    path = tmp_path / "broken.jsonl"
    options: dict[str, Any] = {"env": {**os.environ, "PYTHONPATH": SOURCE}, "text": True}
    command = [
        *(sys.executable, "-m", "graphgrain", "reproduce", "league", "-d", "drugs", "-j", "1"),
        *("-k", ",".join(kernels), "--folds", "3", "--repeats", "2", "-r", str(path), "--json"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, **options) as process:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if path.exists() and path.read_bytes().count(b'"kind": "fold"') >= 1:
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
    assert 1 <= len(fold_records(read_results(path))) < len(expected)

    again = subprocess.run(command, check=True, capture_output=True, **options)
    assert said(read_results(path)) == expected
    assert len(path.read_text().splitlines()) == len(expected) + len(kernels)
    table = json.loads(again.stdout)["league"]
    assert {item["kernel"] for item in table["kernels"]} == set(kernels)
    assert table["failed"] == {}
    only_show = [*command[3:], "--repeats", "0"]  # the last one counts
    shown = CliRunner().invoke(app, only_show)
    assert json.loads(shown.stdout)["league"]["kernels"] == table["kernels"]


def test_everybody_takes_part() -> None:
    found = {(entrant.kernel, entrant.variant) for entrant in entrants()}
    assert {kernel for kernel, variant in found if not variant} == set(list_kernels())
    assert {("auto", "self-tuned"), ("tree++", "self-tuned"), ("propa", "attributes=True")} <= found


def test_one_repetition_everywhere_comes_first_and_small_sets_before_large() -> None:
    few, many = small_set("few", 20), small_set("many", 40)
    order = [(data.name, times) for data, _, times in schedule([many, few], [Entrant(WL)], 3)]
    assert order == [("few", 1), ("many", 1), ("few", 3), ("many", 3)]
    large = replace(many, graphs=many.graphs[np.zeros(1201, dtype=int)])
    usual = [(data.name, times) for data, _, times in schedule([large, few], [Entrant(WL)])]
    assert usual == [("few", 1), ("many", 1), ("few", 5)]
    assert schedule([many, few], [Entrant(WL)], 0) == []


def test_kernels_for_attributes_need_graphs_that_have_some() -> None:
    graph = ([(0, 1)], ["C", "O"])
    without = prepare("without", [graph] * 4, [0, 1, 0, 1])
    values = gg.as_graphs([graph] * 4)._replace(vertex_attributes=np.ones((8, 2)))
    having = prepare("having", values, [0, 1, 0, 1])
    attributed = Entrant(KERNELS["propa"].with_parameters(attributes=True))
    assert not takes(attributed, without)
    assert takes(attributed, having)
    for entrant in (Entrant(AUTO_ROW), Entrant(WL)):
        assert takes(entrant, without)


# ---------------------------------------------------------------- the table


def stopped(data: Any, kernel: str, reason: str, limit: float, **changes: Any) -> LimitRecord:
    values: dict[str, Any] = {
        "dataset": data.name,
        "fingerprint": data.fingerprint,
        "deduplicated": False,
        "kernel": kernel,
        "variant": "",
        "mode": "paper",
        "folds": FOLDS,
        "inner_folds": 1,
        "C": [1.0, 100.0],
        "seed": 0,
        "reason": reason,
        "limit": limit,
        "repetitions": 1,
    }
    return LimitRecord(**{**values, **changes})


SKILLS = {"tree++": 0.95, "wl": 0.8, "sp": 0.65, "pm": 0.5, "vertex-histogram": 0.35}


@pytest.fixture(scope="module")
def league_sets() -> list[Any]:
    return [small_set(f"set {number}") for number in range(8)]


@pytest.fixture(scope="module")
def league_records(league_sets: list[Any]) -> list[Any]:
    """Of eight sets SP was stopped on one, PM on three and WWL on all."""
    records: list[Any] = []
    for number, data in enumerate(league_sets):
        for kernel, skill in SKILLS.items():
            if (kernel, number) == ("sp", 2) or (kernel == "pm" and number > 4):
                continue
            records += [made_up_fold(data, kernel, [skill], 0, fold) for fold in range(FOLDS)]
            records.append(
                made_up_kernel(data, kernel, 1.0, processor_seconds=0.5, memory=number * 10**6)
            )
        records.append(stopped(data, "wwl", "memory", 4 * 2.0**30))
    records += [stopped(data, "pm", "time", 120.0) for data in league_sets[5:]]
    records.append(stopped(league_sets[2], "sp", "time", 120.0))
    # A part of the grid was done when it was stopped: that is no result of the kernel.
    records += [
        made_up_fold(league_sets[2], "sp", [1.0], 0, fold, grid_size=3) for fold in range(FOLDS)
    ]
    return records


def test_ranks_where_all_ranked_kernels_have_results(
    league_sets: list[Any], league_records: list[Any]
) -> None:
    [comparison] = [c for c in comparisons(league_records) if c.select == "validated"]
    table = standings(comparison)
    by_name = {item.column.kernel: item for item in table}
    assert list(by_name)[-2:] == ["pm", "wwl"]  # 5 of 8 sets are too few, and so are none
    assert {name for name, item in by_name.items() if item.rank is None} == {"pm", "wwl"}
    assert [row.name for row in comparison.ranked_rows] == [
        data.name for number, data in enumerate(league_sets) if number != 2
    ]
    # From the records themselves, by SciPy.
    names = ["tree++", "wl", "sp", "vertex-histogram"]
    scores = []
    for number, data in enumerate(league_sets):
        if number == 2:
            continue
        own = [r for r in fold_records(league_records) if r.dataset == data.name]
        scores.append(
            [
                np.mean(
                    np.concatenate(
                        [
                            np.array(r.truth) == np.array(r.levels[0].predictions)
                            for r in own
                            if r.kernel == name
                        ]
                    )
                )
                for name in names
            ]
        )
    expected = np.mean([stats.rankdata(-np.array(row)) for row in scores], axis=0)
    assert [by_name[name].rank for name in names] == pytest.approx(expected)
    means = 100 * np.mean(scores, axis=0)
    assert [by_name[name].accuracy for name in names] == pytest.approx(means)
    assert comparison.ranks is not None
    assert comparison.ranks.p == pytest.approx(
        stats.friedmanchisquare(*np.array(scores).T).pvalue, rel=1e-9
    )
    assert by_name["sp"].seconds == pytest.approx(7 * 0.5)
    assert by_name["sp"].memory == 7 * 10**6
    assert by_name["pm"].accuracy is None
    assert [item.rank for item in table[:4]] == sorted(expected)


def test_who_was_stopped_stands_in_the_table(league_records: list[Any]) -> None:
    comparison = comparisons(league_records)[0]
    by_name = {item.column: item for item in standings(comparison)}
    assert {
        name: (limit.reason, limit.limit) for name, limit in by_name[Column("pm")].stopped.items()
    } == {f"set {number}": ("time", 120.0) for number in (5, 6, 7)}
    assert list(by_name[Column("sp")].stopped) == ["set 2"]
    assert len(by_name[Column("wwl")].stopped) == 8
    assert by_name[Column("wwl")].results == 0
    assert by_name[Column("sp")].results == 7
    assert by_name[Column("tree++")].stopped == {}


def test_a_part_of_the_grid_is_no_result(league_sets: list[Any]) -> None:
    data = league_sets[0]
    rules = Protocol("paper", folds=FOLDS, C=(1, 100))
    records: list[Any] = []
    for kernel, settings in (("wl", 1), ("pm", 12)):
        records += [
            made_up_fold(data, kernel, [0.8], 0, fold, grid_size=settings) for fold in range(FOLDS)
        ]
    who = [Entrant(KERNELS["wl"]), Entrant(KERNELS["pm"])]
    comparison = league_comparison(records, [data], who, rules)
    assert comparison is not None
    assert comparison.columns == [Column("wl")]


def test_later_repetitions_that_were_stopped_leave_the_earlier_ones(league_sets: list[Any]) -> None:
    data = league_sets[0]
    records: list[Any] = [made_up_fold(data, "wl", [0.8], 0, fold) for fold in range(FOLDS)]
    records.append(stopped(data, "wl", "time", 5.0, repetitions=4))
    [row] = comparisons(records)[0].rows
    assert row.stopped == [None]
    assert row.cells[0] is not None
    assert row.cells[0].summary.repetitions == 1


def test_a_limit_record_survives_its_line(league_sets: list[Any]) -> None:
    record = stopped(league_sets[0], "wl", "time", 5.0)
    assert from_line(to_line(record)) == record
    for damage in ({"reason": "boredom"}, {"limit": -1.0}, {"repetitions": 0}, {"C": []}):
        with pytest.raises(InvalidFileError, match="contradicts itself"):
            from_line(to_line(replace(record, **damage)))


def test_the_worked_example_of_demsar() -> None:
    """Demsar 2006, table 6: C4.5 with m or cf tuned, or both, on 14 data sets."""
    ranks = np.array(
        [
            *([4, 3, 2, 1], [1, 2, 3, 4], [4, 1, 2, 3], [4, 1, 3, 2], [4, 2, 3, 1]),
            *([1, 2.5, 4, 2.5], [3, 2, 4, 1], [2.5, 2.5, 4, 1], [4, 3, 2, 1]),
            *([2.5, 2.5, 2.5, 2.5], [4, 2.5, 1, 2.5], [3, 2, 4, 1], [4, 1, 2, 3], [3, 1, 4, 2]),
        ]
    )
    found = rank(-ranks)
    assert found.average.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    assert round(found.critical_difference, 2) == 1.25
    # "Even the difference between the best and the worst is smaller than that."
    assert found.groups() == [(0, 3)]


def test_the_tables_fit_a_terminal_of_80_columns(
    league_sets: list[Any], league_records: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = io.StringIO()
    console = Console(file=text, width=80, highlight=False)
    monkeypatch.setattr("graphgrain.cli.league.out", lambda: console)
    comparison = comparisons(league_records)[0]
    limits, failed = Limits(120, 4 * 2**30), {"PM": {"set 5": "It refuses."}}
    league._show(comparison, standings(comparison), league_sets, limits, failed)
    shown = text.getvalue()
    assert max(map(len, shown.splitlines())) <= 80
    words = " ".join(shown.split())
    assert "> 120 s: set 5, set 6, set 7" in words
    assert "over the 7 data sets on which every ranked kernel has a result" in words
    assert "120 processor seconds for a repetition and 4 GiB" in words
    assert "set 0: 40 graphs, 2 classes, 3 vertex labels." in words
    [majority] = [line.split() for line in shown.splitlines() if line.startswith("majority")][:1]
    assert set(majority[1:]) == {"50.0"}
    for kernel in ("Vertex histogram", "Tree++", "WWL"):
        assert sum(line.startswith(kernel) for line in shown.splitlines()) >= 5
    accuracy = shown[shown.index("Accuracy in") : shown.index("Balanced accuracy in")]
    assert accuracy.count("> 4 GiB") == 8
    assert accuracy.count("> 120 s") == 4
