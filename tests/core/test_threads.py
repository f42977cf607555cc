"""Workers stay for the next call; how many threads BLAS may use, also one that comes later."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import weakref

import pytest

from graphgrain.core import threads
from graphgrain.core.threads import call, run, stop_flag


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


def test_a_blas_that_is_loaded_later_is_limited_too():
    script = """
import numpy
from threadpoolctl import threadpool_info
from graphgrain.core.threads import blas_threads

def limits():
    with blas_threads(1):
        return [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]

first = limits()
import scipy.linalg
then = limits()
print(set(first + then), len(then) >= len(first) >= 1)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout == "{1} True\n"
