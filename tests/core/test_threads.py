"""Workers stay for the next call; how many threads BLAS may use, also one that comes later."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import weakref

import joblib
import pytest

import graphgrain as gg
from graphgrain.core import threads
from graphgrain.core.threads import call, run, stop_flag, thread_count


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


def crossings(monkeypatch, work) -> int:
    """How often work is handed over to a worker."""
    number = []
    original = threads._hand_over
    monkeypatch.setattr(threads, "_hand_over", lambda one: (number.append(1), original(one)))
    work()
    return len(number)


@pytest.mark.parametrize("kernel", [gg.VertexHistogram(), gg.TreePlusPlus(), gg.RandomWalk()])
def test_a_small_gram_matrix_crosses_to_a_worker_once(kernel, monkeypatch):
    graphs = gg.as_graphs([([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])])
    assert crossings(monkeypatch, lambda: kernel.fit_transform(graphs)) == 1
    assert crossings(monkeypatch, lambda: kernel.transform(graphs)) == 1


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


def python(script: str, before: str | None = None) -> str:
    """What a script prints that sees eight BLAS threads, whatever cores there are."""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", (SEEN if before is None else before) + script],
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


SEEN = """
import threading
import scipy.linalg
from threadpoolctl import threadpool_info, threadpool_limits
threadpool_limits(8)
from graphgrain.core.threads import blas_threads, run

def seen():
    [number] = {p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"}
    return number
"""


def test_the_smallest_limit_holds_and_the_last_block_brings_back_what_was():
    script = """
print(seen())
with blas_threads(2):
    print(seen())
    with blas_threads(1):
        print(seen())
        with blas_threads(4):
            print(seen())
    print(seen())
with blas_threads(64):
    print(seen())
print(seen())
"""
    assert python(script).split() == ["8", "2", "1", "1", "2", "8", "8"]


def test_blocks_of_several_threads_may_close_in_any_order():
    script = """
first, second = blas_threads(2), blas_threads(3)
first.__enter__()
other = threading.Thread(target=second.__enter__)
other.start(); other.join()
first.__exit__(None, None, None)
print(seen())
second.__exit__(None, None, None)
print(seen())
"""
    assert python(script).split() == ["3", "8"]


def test_a_blas_that_is_loaded_later_is_limited_too():
    script = """
import numpy
from threadpoolctl import threadpool_info
from graphgrain.core.threads import blas_threads
with blas_threads(1):
    import scipy.linalg
    print({p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"})
"""
    assert python(script, "") == "{1}\n"


def test_workers_have_one_blas_thread_each():
    script = """
def twice(begin, end):
    return seen(), run(lambda a, b: seen(), [(0, 1)], 1)[0]
for n_jobs in (None, 1, 2):
    print({*run(twice, [(0, 1), (1, 2)], n_jobs)}, seen())
called = []
thread = threading.Thread(target=lambda: called.extend(run(twice, [(0, 1)], None)))
thread.start(); thread.join()
print(called, seen())
"""
    assert python(script) == "{(1, 1)} 8\n" * 3 + "[(1, 1)] 8\n"


KERNELS = """
import numpy as np, scipy.linalg, scipy.sparse.linalg
import graphgrain as gg
wrong = set()
def watch(module, name):
    inner = getattr(module, name)
    def watched(*arguments, **options):
        if seen() != 1:
            wrong.add((kernel, name))
        return inner(*arguments, **options)
    setattr(module, name, watched)
for name in ("eigh", "eigvalsh", "inv", "solve", "slogdet", "svd", "cholesky", "lstsq"):
    watch(np.linalg, name)
watch(scipy.linalg, "eigh")
watch(scipy.sparse.linalg, "eigsh")
graphs = gg.as_graphs([([(0, 1), (1, 2), (0, 2)], [1, 2, 1]), ([(0, 1)], [1, 2]), ([], [1])] * 3)
for kernel, cls in gg.list_kernels().items():
    fitted = cls().fit(graphs)
    fitted.transform(graphs)
gg.SpectralDistance().distances(graphs[:1])
gg.RandomWalk(labels=False).fit(graphs)
print(wrong)
"""


def test_linear_algebra_of_kernels_is_done_under_the_limit():
    assert python(KERNELS) == "set()\n"
