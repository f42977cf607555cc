"""Ctrl-C during compiled work: KeyboardInterrupt soon, from one thread or many, never a crash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

import graphgrain as gg
from graphgrain.core.threads import as_finished, call, run, stop_flag

#: Seconds of the processor, whatever else the machine does; without interrupts it would be minutes.
SOON = 15.0

#: Does the work that each line of its input names, until it is interrupted.
SERVER = """
import signal, sys, time, numpy as np, graphgrain as gg
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

signal.alarm(600)  # an end, whatever becomes of the tests

def star(n):
    return gg.GraphBatch.from_edges([n], np.column_stack((np.zeros(n - 1, int), np.arange(1, n))))

def complete(n):
    return gg.GraphBatch.from_edges([n], np.argwhere(np.triu(np.ones((n, n)), 1)))

def eigenvectors(graph, n_jobs):
    while True:
        gg.PyramidMatch(n_jobs=n_jobs).fit(graph)

def cross_validation(graph, n_jobs):
    model = make_pipeline(gg.TreePlusPlus(n_jobs=n_jobs), SVC(kernel="precomputed"))
    print(cross_val_score(model, gg.GraphBatch.concatenate([graph] * 6), [0, 1] * 3, cv=3))

def tree(graph, n_jobs):
    gg.TreePlusPlus(n_jobs=n_jobs).fit_transform(graph)

WORK = {
    "star": (star, 25_000, tree),
    "complete": (complete, 1_500, tree),
    "shortest paths": (star, 30_000, lambda g, n_jobs: gg.ShortestPath(n_jobs=n_jobs).fit(g)),
    "neighbourhoods": (star, 12_000, lambda g, n_jobs: gg.NeighbourhoodPairs(n_jobs=n_jobs).fit(g)),
    "places": (star, 40_000, lambda g, n_jobs: gg.GraphHopper().fit(g)),
    "eigenvectors": (complete, 1_500, eigenvectors),
    "cross-validation": (complete, 1_300, cross_validation),
}
for kernel in (gg.TreePlusPlus, gg.ShortestPath, gg.NeighbourhoodPairs, gg.PyramidMatch):
    kernel(n_jobs=2).fit(star(5))  # what is compiled is loaded
gg.GraphHopper().fit(star(5))
for line in sys.stdin:
    name, n_jobs, caught = line.strip().split(",")
    make, size, work = WORK[name]
    given = make(size)
    print("ready", flush=True)
    start = time.process_time()
    try:
        work(given, None if n_jobs == "None" else int(n_jobs))
        print("done", flush=True)
    except KeyboardInterrupt:
        print("KeyboardInterrupt", time.process_time() - start, flush=True)
        if caught == "False":
            raise
"""

ON_THREADS = ("star", "complete", "shortest paths", "eigenvectors", "cross-validation")


class Server:
    """A process that works until it is interrupted, and waits for more."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def interrupt(self, work: str, n_jobs: int | None, caught: bool = True) -> None:
        """Begin some work, and send SIGINT in the middle of it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{work},{n_jobs},{caught}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        assert self.process.poll() is None, self.process.communicate()
        self.process.send_signal(signal.SIGINT)

    def end(self, timeout: float = 120.0) -> tuple[str, str]:
        """What is left of its output and its errors."""
        try:
            return self.process.communicate(timeout=timeout)
        finally:
            self.process.kill()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    running = Server()
    yield running
    output, errors = running.end()
    others = [line for line in errors.splitlines() if "compiling for this machine" not in line]
    assert (running.process.returncode, output, others) == (0, "", [])


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
@pytest.mark.parametrize(
    ("work", "n_jobs"),
    [
        *((work, None) for work in (*ON_THREADS, "places")),
        *((work, 2) for work in (*ON_THREADS, "neighbourhoods")),
    ],
)
def test_keyboard_interrupt_during_compiled_work(server, work, n_jobs):
    server.interrupt(work, n_jobs)
    what, taken = server.process.stdout.readline().split()
    assert what == "KeyboardInterrupt"  # no scores made of nan
    assert float(taken) < SOON


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_an_interrupted_process_ends():
    server = Server()
    server.interrupt("star", 2, caught=False)
    output, errors = server.end()
    assert errors.strip().splitlines()[-1] == "KeyboardInterrupt", errors
    # 1 was seen where a worker was compiling meanwhile; a crash would be another signal
    assert server.process.returncode in (-signal.SIGINT, 130, 1)
    assert output.startswith("KeyboardInterrupt")


def test_brief_work_in_the_main_thread_survives_signals():
    graphs, _ = gg.load_drugs()
    kernels = [gg.VertexHistogram(), gg.EdgeHistogram(vertex_labels=False)]
    expected = [kernel.fit_transform(graphs) for kernel in kernels]
    rng = np.random.default_rng(0)
    interrupted = 0

    def send(delay: float) -> None:
        until = time.perf_counter() + delay
        while time.perf_counter() < until:
            pass
        signal.raise_signal(signal.SIGINT)  # handled by the main thread, whoever raises it

    for delay in rng.uniform(0, 6e-4, 300):
        try:
            sender = threading.Thread(target=send, args=(delay,))
            sender.start()
            while True:
                for kernel in kernels:
                    kernel.fit_transform(graphs)
        except KeyboardInterrupt:  # and nothing else
            interrupted += 1
        sender.join()
    assert interrupted == 300
    for kernel, K in zip(kernels, expected, strict=True):
        assert (kernel.fit_transform(graphs) == K).all()


def interrupt_after(begun: list[int], number: int) -> None:
    """Send SIGINT once this number of workers has begun."""

    def wait() -> None:
        deadline = time.monotonic() + 30
        while len(begun) < number and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)  # and none begins anew
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait).start()


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
        interrupt_after(begun, n_jobs)
        with pytest.raises(KeyboardInterrupt):
            run(work, [(i, i + 1) for i in range(10)], n_jobs)
        assert len(begun) == n_jobs
        assert sorted(ended) == sorted(begun)


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_runs_within_runs_stop_too():
    begun, seen = [], []

    def inner(begin: int, end: int) -> None:
        begun.append(begin)
        flag = stop_flag()
        while not flag[0]:
            time.sleep(0.01)
        seen.append(begin)

    interrupt_after(begun, 4)
    with pytest.raises(KeyboardInterrupt):
        run(lambda a, b: run(inner, [(10 * a, 0), (10 * a + 1, 0)], 2), [(0, 1), (1, 2)], 2)
    deadline = time.monotonic() + 30
    while len(seen) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
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
