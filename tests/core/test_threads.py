"""Workers stay for the next call; how many threads BLAS may use, also one that comes later."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import weakref
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.linalg
from threadpoolctl import threadpool_info, threadpool_limits

import graphgrain as gg
from graphgrain.core import threads
from graphgrain.core.threads import blas_threads, call, run, stop_flag, thread_count


def test_no_number_of_jobs_is_what_joblib_says():
    assert thread_count(None) == 1
    with joblib.parallel_config(n_jobs=2):
        assert thread_count(None) == 2
        assert thread_count(1) == 1
    with joblib.parallel_config(n_jobs=-1):
        assert thread_count(None) == joblib.cpu_count()
    with joblib.parallel_config("threading", n_jobs=2):
        nested = joblib.Parallel()(joblib.delayed(thread_count)(None) for _ in range(4))
    assert nested == [1] * 4  # what is side by side already has one thread each
    assert thread_count(None) == 1


def test_workers_stay_for_the_next_call():
    seen = {call(threading.get_ident) for _ in range(50)}
    known = {thread.ident for thread in threading.enumerate()}
    assert seen <= known - {threading.get_ident()}
    assert len(seen) <= 3  # another is started where the last has not quite finished


def test_a_worker_without_work_ends(monkeypatch):
    monkeypatch.setattr(threads, "_PATIENCE", 0.05)
    monkeypatch.setattr(threads, "_idle", [])
    ident = call(threading.get_ident)
    [worker] = [thread for thread in threading.enumerate() if thread.ident == ident]
    worker.join(30)
    assert not worker.is_alive()
    assert threads._idle == []
    monkeypatch.setattr(threads, "_PATIENCE", 0.0005)
    for _ in range(200):  # work that comes just as a worker gives up is done all the same
        assert call(lambda: 7) == 7
        time.sleep(0.0005)


def test_a_worker_does_not_keep_what_it_was_given():
    class Large:
        pass

    held = Large()
    reference = weakref.ref(held)
    call(lambda one: None, held)
    del held
    for _ in range(1000):  # it may not have come to forgetting yet
        if reference() is None:
            break
        call(threading.get_ident)
    assert reference() is None


def test_workers_of_workers_and_errors_leave_no_flag_behind():
    def outer(begin: int, end: int) -> list[int]:
        return run(lambda a, b: a * 10 + begin, [(i, 0) for i in range(3)], 2)

    for _ in range(20):
        assert run(outer, [(i, 0) for i in range(4)], 2) == [
            [10 * i + begin for i in range(3)] for begin in range(4)
        ]
        with pytest.raises(ZeroDivisionError):
            run(lambda a, b: 1 // a, [(i, 0) for i in range(4)], 2)
        assert call(stop_flag)[0] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes that begin as copies")
def test_a_forked_process_has_workers_of_its_own():
    script = """
import os
from graphgrain.core.threads import call
assert call(os.getpid) == os.getpid()
child = os.fork()
if child == 0:
    os._exit(0 if call(os.getpid) == os.getpid() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert ran.stdout == "0\n"


@pytest.fixture
def seen():
    """A function that tells how many threads BLAS may use; eight before, whatever cores there are.

    It wants one number for all libraries of linear algebra.
    """

    def number() -> int:
        [found] = {p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"}
        return found

    with threadpool_limits(8):
        yield number


def test_the_smallest_limit_holds_and_the_last_block_brings_back_what_was(seen):
    numbers = [seen()]
    with blas_threads(2):
        numbers.append(seen())
        with blas_threads(1):
            numbers.append(seen())
            with blas_threads(4):
                numbers.append(seen())
        numbers.append(seen())
    with blas_threads(64):
        numbers.append(seen())
    numbers.append(seen())
    assert numbers == [8, 2, 1, 1, 2, 8, 8]


def elsewhere(work) -> None:
    """Do something in another thread."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_blocks_of_several_threads_may_close_in_any_order(seen):
    first, second = blas_threads(2), blas_threads(3)
    first.__enter__()
    elsewhere(second.__enter__)
    first.__exit__(None, None, None)
    assert seen() == 3
    second.__exit__(None, None, None)
    assert seen() == 8


def test_a_blas_that_is_loaded_later_is_limited_too():
    script = """
import numpy
from threadpoolctl import threadpool_info
from graphgrain.core.threads import blas_threads
with blas_threads(1):
    import scipy.linalg
    print({p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"})
"""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "{1}\n"


def test_workers_have_one_blas_thread_each(seen):
    def twice(begin: int, end: int) -> tuple[int, int]:
        return seen(), run(lambda a, b: seen(), [(0, 1)], 1)[0]

    for n_jobs in (None, 1, 2):
        assert run(twice, [(0, 1), (1, 2)], n_jobs) == [(1, 1)] * 2
        assert seen() == 8
    called: list[tuple[int, int]] = []
    elsewhere(lambda: called.extend(run(twice, [(0, 1)], None)))
    assert called == [(1, 1)]
    assert seen() == 8


def test_linear_algebra_of_kernels_is_done_under_the_limit(seen, monkeypatch):
    watched, wrong = set(), set()

    def watch(module: Any, name: str) -> None:
        inner = getattr(module, name)

        def watching(*arguments: Any, **options: Any) -> Any:
            watched.add(name)
            if seen() != 1:
                wrong.add((kernel, name))
            return inner(*arguments, **options)

        monkeypatch.setattr(module, name, watching)

    for name in ("eigh", "eigvalsh", "inv", "solve", "slogdet", "svd", "cholesky", "lstsq"):
        watch(np.linalg, name)
    watch(scipy.linalg, "eigh")
    watch(scipy.sparse.linalg, "eigsh")
    three = [([(0, 1), (1, 2), (0, 2)], [1, 2, 1]), ([(0, 1)], [1, 2]), ([], [1])]
    graphs = gg.as_graphs(three * 3)
    for kernel, cls in gg.list_kernels().items():  # noqa: B007
        cls().fit(graphs).transform(graphs)
    gg.SpectralDistance().distances(graphs[:1])
    gg.RandomWalk(labels=False).fit(graphs)
    assert watched
    assert wrong == set()
