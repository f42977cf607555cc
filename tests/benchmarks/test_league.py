"""The league: who takes part in what order, limits that are told, ranks with gaps."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks.league import (
    entrants,
    league_comparison,
    schedule,
    standings,
    takes,
)
from benchmarks.limits import Entrant, Limits
from graphgrain.evaluation.experiment import AUTO_ROW
from graphgrain.evaluation.kernel_comparison import Column, comparisons
from graphgrain.evaluation.labelled_graphs import prepare
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.records import (
    LimitRecord,
    fold_records,
    from_line,
    to_line,
)
from rich.console import Console
from scipy import stats

import graphgrain as gg
from benchmarks import league
from graphgrain.errors import InvalidFileError
from graphgrain.evaluation.statistics import rank
from graphgrain.kernels.grid import Setting
from graphgrain.kernels.registry import KERNELS, list_kernels

from ..report.made_up import FOLDS, made_up_fold, made_up_kernel, small_set

WL = KERNELS["wl"].with_settings([Setting({"n_iter": 1})])


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
    # A kernel that lacks a set is left out of the ranks, not the set.
    assert list(by_name)[-3:] == ["sp", "pm", "wwl"]
    assert {name for name, item in by_name.items() if item.rank is None} == {"sp", "pm", "wwl"}
    # From the records themselves, by SciPy.
    names = ["tree++", "wl", "vertex-histogram"]
    scores = []
    for data in league_sets:
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
    assert by_name["wl"].seconds == pytest.approx(8 * 0.5)
    assert by_name["wl"].memory == 7 * 10**6
    assert by_name["pm"].accuracy is None
    assert [item.rank for item in table[:3]] == sorted(expected)


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
    monkeypatch.setattr("benchmarks.league.out", lambda: console)
    comparison = comparisons(league_records)[0]
    limits, failed = Limits(120, 4 * 2**30), {"PM": {"set 5": "It refuses."}}
    league._show(comparison, standings(comparison), league_sets, limits, failed)
    shown = text.getvalue()
    assert max(map(len, shown.splitlines())) <= 80
    words = " ".join(shown.split())
    assert "> 120 s: set 5, set 6, set 7" in words
    assert "mean over all 8 data sets, for kernels with a result on each" in words
    assert "120 CPU seconds per repetition and 4 GiB" in words
    assert "set 0: 40 graphs, 2 classes, 3 vertex labels." in words
    [majority] = [line.split() for line in shown.splitlines() if line.startswith("majority")][:1]
    assert set(majority[1:]) == {"50.0"}
    for kernel in ("Vertex histogram", "Tree++", "WWL"):
        assert sum(line.startswith(kernel) for line in shown.splitlines()) >= 5
    accuracy = shown[shown.index("Accuracy in") : shown.index("Balanced accuracy in")]
    assert accuracy.count("> 4 GiB") == 8
    assert accuracy.count("> 120 s") == 4
