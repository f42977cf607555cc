"""Ctrl-C during compiled work: KeyboardInterrupt soon, from one thread or many, never a crash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from graphgrain.core.threads import as_finished, call, run, stop_flag

#: Generous: a machine with much else to do; without interrupts the work takes minutes.
SOON = 15.0

BEGIN = """
import sys, numpy as np, graphgrain as gg
from graphgrain.core import counting, support_vectors
from graphgrain.kernels import registry  # all kernels: what is slow to import comes first
def star(n):
    return gg.GraphBatch.from_edges([n], np.column_stack((np.zeros(n - 1, int), np.arange(1, n))))
def complete(n):
    return gg.GraphBatch.from_edges([n], np.argwhere(np.triu(np.ones((n, n)), 1)))
def ready():
    print("ready", flush=True)
"""
WORK = {
    "star": "g = star(25_000); ready(); gg.TreePlusPlus(n_jobs={n_jobs}).fit_transform(g)",
    "complete": "g = complete(1_500); ready(); gg.TreePlusPlus(n_jobs={n_jobs}).fit_transform(g)",
    "shortest paths": "g = star(30_000); ready(); gg.ShortestPath(n_jobs={n_jobs}).fit(g)",
    "neighbourhoods": "g = star(12_000); ready(); gg.NeighbourhoodPairs(n_jobs=2).fit(g)",
    "places": "g = star(40_000); ready(); gg.GraphHopper().fit(g)",
    "an estimate": "g = complete(2_000); ready()\nwhile True: gg.ShortestPath().estimate(g)",
    "eigenvectors": "g = complete(3_000); ready(); gg.PyramidMatch(n_jobs={n_jobs}).fit(g)",
    "training": """
rng = np.random.default_rng(0)
X = rng.standard_normal((3_000, 2_000)).astype(np.float32)
y = np.where(rng.random(3_000) < 0.5, 1.0, -1.0)
K = X @ X.T
ready()
while True:
    support_vectors.train(K, y, np.ones(3_000), np.array([1e-2, 1e6]), 1e-12, 10**9)
""",
    "cross-validation": """
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
g = gg.GraphBatch.concatenate([complete(1_300)] * 6)
ready()
model = make_pipeline(gg.TreePlusPlus(n_jobs={n_jobs}), SVC(kernel="precomputed"))
print(cross_val_score(model, g, [0, 1] * 3, cv=3))
""",
}


def interrupted(script: str, wait: float) -> tuple[float, int, str, str]:
    """Send SIGINT to a process at work: seconds until it ends, exit code, output, errors."""
    process = subprocess.Popen(
        [sys.executable, "-c", BEGIN + script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(wait)
    assert process.poll() is None, process.communicate()
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        output, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    return time.monotonic() - start, process.returncode, output, errors


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
@pytest.mark.parametrize(
    ("work", "n_jobs"),
    [
        (work, n_jobs)
        for work in WORK
        for n_jobs in (None, 2)
        if "n_jobs" in WORK[work] or not n_jobs
    ],
)
def test_keyboard_interrupt_during_compiled_work(work, n_jobs):
    seconds, code, output, errors = interrupted(WORK[work].format(n_jobs=n_jobs), 1.0)
    assert errors.strip().splitlines()[-1] == "KeyboardInterrupt", errors
    # 1 was seen where a worker was compiling meanwhile; a crash would be another signal
    assert code in (-signal.SIGINT, 130, 1)
    assert output == ""  # no scores made of nan
    assert seconds < SOON


def interrupt_soon() -> None:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_workers_see_the_flag_and_begin_nothing_new():
    begun, ended = [], []

    def work(begin: int, end: int) -> None:
        begun.append(begin)
        flag = stop_flag()
        while not flag[0]:
            time.sleep(0.01)
        ended.append(begin)

    for n_jobs in (1, 3):
        begun.clear(), ended.clear()
        interrupt_soon()
        with pytest.raises(KeyboardInterrupt):
            run(work, [(i, i + 1) for i in range(10)], n_jobs)
        assert len(begun) == n_jobs
        assert sorted(ended) == sorted(begun)


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_runs_within_runs_stop_too():
    seen = []

    def inner(begin: int, end: int) -> None:
        flag = stop_flag()
        while not flag[0]:
            time.sleep(0.01)
        seen.append(begin)

    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        run(lambda a, b: run(inner, [(10 * a, 0), (10 * a + 1, 0)], 2), [(0, 1), (1, 2)], 2)
    time.sleep(0.5)
    assert sorted(seen) == [0, 1, 10, 11]


def test_an_error_comes_through_and_leaves_the_outer_run_alone():
    def fails(begin: int, end: int) -> int:
        if begin == 3:
            raise ValueError("three")
        return begin

    def outer(begin: int, end: int) -> str:
        try:
            run(fails, [(i, 0) for i in range(5)], 2)
        except ValueError as error:
            return str(error)
        return ""

    with pytest.raises(ValueError, match="three"):
        run(fails, [(i, 0) for i in range(5)], 2)
    assert run(outer, [(0, 1), (1, 2), (2, 3)], 2) == ["three"] * 3


def test_everything_is_done_once_on_any_number_of_threads():
    for n_jobs in (None, 1, 2, 5):
        assert dict(as_finished(lambda i: i * i, 20, n_jobs)) == {i: i * i for i in range(20)}
        assert list(as_finished(lambda i: i, 0, n_jobs)) == []
    assert call(lambda a, b: a + b, 1, 2) == 3
    assert call(threading.current_thread) is not threading.main_thread()
    np.testing.assert_array_equal(stop_flag(), [0])
