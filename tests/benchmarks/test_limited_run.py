"""Kernels in processes of their own: stopped at a limit, resumed, and none the worse for it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.limits import Entrant, LimitedRuns, Limits, Outcome
from graphgrain.evaluation.experiment import run
from graphgrain.evaluation.labelled_graphs import prepare
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.records import (
    LimitRecord,
    ResultsFile,
    fold_records,
    kernel_records,
    limit_records,
    read_results,
)

import graphgrain as gg
from benchmarks import league
from graphgrain.kernels.grid import KernelGrid, Setting
from graphgrain.kernels.registry import KERNELS

SOURCE = str(Path(gg.__file__).parents[1])
ROOT = Path(__file__).parents[2]
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
    monkeypatch.setattr("benchmarks.limits.run_in_process", None)
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
        monkeypatch.setattr("benchmarks.limits.run_in_process", stopped_at_once)
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
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    options: dict[str, Any] = {"env": environment, "text": True, "cwd": ROOT}
    command = [
        *(sys.executable, "-m", "benchmarks.league", "-d", "drugs", "-j", "1"),
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
    table = json.loads(again.stdout)
    assert {item["kernel"] for item in table["kernels"]} == set(kernels)
    assert table["failed"] == {}
    # The last option counts: nothing is computed, the records are shown.
    shown = league.main([*command[3:], "--repeats", "0"])
    assert json.loads(json.dumps(shown["kernels"])) == table["kernels"]
