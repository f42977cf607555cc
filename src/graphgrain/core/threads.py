"""Threads over ranges of graphs; the compiled functions release the interpreter lock.

The thread that calls only waits: Python handles signals in the main thread alone and between
bytecodes alone, so compiled work there would keep Ctrl-C waiting for as long as it takes.

1. Workers take the ranges one after the other, also if there is only one worker.
2. The main thread waits for them, and wakes at once when a signal arrives.
3. An exception there, such as KeyboardInterrupt, raises the flag that compiled loops look at
   (:func:`stop_flag`); no further range is begun, and the exception goes on its way. A worker
   that cannot stop at once (inside LAPACK, or compiling) ends its work by itself, and the result
   is lost.
4. Whatever runs in a worker has one BLAS thread: where work is done side by side, threads of BLAS
   would wait for each other, and sums would depend on their number (:func:`blas_threads`).

Workers stay for the next call: to wake one takes a few microseconds, to start a thread, and to
let it find memory of its own, many times that. One that has had nothing to do for a minute ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, wraps
from inspect import signature
from itertools import count, pairwise
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, TypeVar

import numpy as np

from .compiling import PLAIN_PYTHON, compiled

Result = TypeVar("Result")

#: Vertices per chunk: large enough to forget the overhead, small enough to balance threads.
CHUNK_VERTICES = 4096
#: How long to wait before looking for signals where waiting cannot be interrupted, in seconds.
_GLANCE = 0.1
#: How long an interrupted caller waits for its workers to stop.
_FAREWELL = 0.5
#: How long a worker waits for work before it ends.
_PATIENCE = 60.0

_here = threading.local()
#: Where the workers without work wait for it.
_idle: list[SimpleQueue[Callable[[], None]]] = []
#: The limits of all blocks that are open, of any thread, and what BLAS had before the first.
_limits: list[list[int]] = []
_unlimited: list[int] = []
#: The limit that BLAS knows of.
_applied: int | None = None
_limits_change = threading.RLock()  # collecting garbage may close a block within another's


def _after_fork() -> None:
    """Threads stay behind in the parent, and with them what they hold."""
    global _limits_change, _applied
    _limits_change, _applied = threading.RLock(), None
    _limits.clear()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Stopped(BaseException):
    """Unwinds a worker whose result nobody waits for."""


def thread_count(n_jobs: int | None) -> int:
    """The number of threads that ``n_jobs`` asks for, as scikit-learn understands it.

    None is what ``joblib.parallel_config`` says for this thread, 1 without it; -1 is all cores
    that the process may use, limits of containers included.
    """
    import joblib  # comes with scikit-learn

    if n_jobs is None:
        n_jobs = joblib.parallel.get_active_backend()[1] or 1
    return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)


def chunks(sizes: np.ndarray, target: int | None = None) -> list[tuple[int, int]]:
    """Consecutive ranges of items whose sizes add up to about ``target`` each."""
    if not len(sizes):
        return []
    part = np.cumsum(sizes + 1) // (CHUNK_VERTICES if target is None else target)
    bounds = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(sizes)]
    return list(pairwise(bounds))


def stop_flag() -> np.ndarray:
    """An array of one entry for compiled loops: not 0 once the work is no longer wanted."""
    flag = getattr(_here, "stop", None)
    return np.zeros(1, dtype=np.uint8) if flag is None else flag


def run(
    function: Callable[[int, int], Result], ranges: list[tuple[int, int]], n_jobs: int | None
) -> list[Result]:
    """``function(begin, end)`` for every range, in order, on ``n_jobs`` threads."""
    watch = getattr(_here, "watch", None)
    if watch is None and getattr(_here, "alone", False) and thread_count(n_jobs) == 1:
        return [call(function, *bounds) for bounds in ranges]
    _here.watch = None  # what the function runs by itself is part of a range
    found = {}
    try:
        with watch(len(ranges)) if watch and len(ranges) > 1 else nullcontext() as bar:
            for number, result in as_finished(
                lambda number: function(*ranges[number]), len(ranges), n_jobs
            ):
                found[number] = result
                if bar is not None:
                    bar.update(1)
    finally:
        _here.watch = watch
    return [found[number] for number in range(len(ranges))]


def run_each(
    function: Callable[[int], Result], sizes: np.ndarray, n_jobs: int | None
) -> list[Result]:
    """``function(i)`` for items of these sizes, in order, on ``n_jobs`` threads."""

    def some(begin: int, end: int) -> list[Result]:
        return [function(i) for i in range(begin, end)]

    return [result for part in run(some, chunks(sizes), n_jobs) for result in part]


@contextmanager
def watched(bar: Callable[[int], Any] | None) -> Iterator[None]:
    """Within the block, show how far each :func:`run` of this thread is.

    ``bar(total)`` makes a context manager whose value has ``update``; None shows nothing.
    """
    before = getattr(_here, "watch", None)
    _here.watch = bar
    try:
        yield
    finally:
        _here.watch = before


def as_finished(
    function: Callable[[int], Result], how_many: int, n_jobs: int | None
) -> Iterator[tuple[int, Result]]:
    """``(number, function(number))`` for the numbers below ``how_many``, as they are finished."""
    threads = min(thread_count(n_jobs), how_many)
    with blas_threads(1):
        if threads <= 1 and _may_work_here():
            stop = stop_flag()
            for number in range(how_many):
                if stop[0]:
                    raise _Stopped
                yield number, function(number)
        else:
            yield from _in_workers(function, how_many, threads)


def call(function: Callable[..., Result], *arguments: Any) -> Result:
    """``function(*arguments)`` in a worker, so that the main thread can be interrupted.

    For functions without linear algebra: the threads of BLAS are left as they are.
    """
    if _may_work_here():
        if stop_flag()[0]:
            raise _Stopped
        return function(*arguments)
    [(_, result)] = _in_workers(lambda _: function(*arguments), 1, 1)
    return result


def in_one_worker(function: Callable[[], Result], n_jobs: int | None) -> Result:
    """``function()`` with all that it runs in one worker, if ``n_jobs`` is one thread.

    What takes many short steps crosses to a worker once, not at each step. Progress is shown as
    the calling thread would show it. BLAS must have one thread already (:func:`blas_threads`).
    """
    if thread_count(n_jobs) > 1 or _may_work_here():
        return function()
    watch = getattr(_here, "watch", None)

    def whole() -> Result:
        _here.alone = True
        try:
            with watched(watch):
                return function()
        finally:
            _here.alone = False

    return call(whole)


def _may_work_here() -> bool:
    """Whether the thread may do compiled work itself: signals are for the main thread."""
    return PLAIN_PYTHON or threading.current_thread() is not threading.main_thread()


def entry_point(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that Python calls; other compiled functions cannot.

    From the main thread it is called in a worker: there a signal could arrive while Numba turns
    results into Python objects, which it does not survive. If the last parameter is ``stop``,
    it is not given but filled in: the flag that says when to return early, see :func:`stop_flag`.
    """
    inner = compiled(function)
    stoppable = list(signature(function).parameters)[-1] == "stop"

    @wraps(function)
    def interruptible(*arguments: Any) -> Any:
        if stoppable:
            return call(lambda: inner(*arguments, stop_flag()))
        return call(inner, *arguments)

    return interruptible


def _in_workers(
    function: Callable[[int], Result], how_many: int, threads: int
) -> Iterator[tuple[int, Result]]:
    inherited = hasattr(_here, "stop")
    stop = stop_flag()
    given_up: list[bool] = []
    numbers = count()
    finished: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
    ended: SimpleQueue[None] = SimpleQueue()

    def work() -> None:
        _here.stop = stop
        number = -1
        try:
            while not (stop[0] or given_up) and (number := next(numbers)) < how_many:
                finished.put((number, function(number), None))
        except BaseException as error:
            finished.put((number, None, error))
        finally:
            del _here.stop
            ended.put(None)

    try:
        for _ in range(threads):
            _hand_over(work)
        left = how_many
        while left:
            try:
                number, result, error = finished.get(timeout=_GLANCE)
            except Empty:
                if stop[0]:
                    raise _Stopped from None
                continue
            if error is not None:
                raise error
            left -= 1
            yield number, result
    except BaseException:
        given_up.append(True)
        if not inherited:  # a flag from above also concerns others
            stop[0] = 1
        deadline = monotonic() + _FAREWELL
        with suppress(Empty):
            for _ in range(threads):
                ended.get(timeout=max(0.0, deadline - monotonic()))
        raise


def _hand_over(work: Callable[[], None]) -> None:
    """Let a worker do it, a new one if all others have something to do."""
    try:
        inbox = _idle.pop()
    except IndexError:
        inbox = SimpleQueue()
        threading.Thread(target=_serve, args=(inbox,), daemon=True).start()
    inbox.put(work)


def _serve(inbox: SimpleQueue[Callable[[], None]]) -> None:
    """What a worker does: one piece of work after the other, until none has come for a while."""
    if _counts_by_thread():
        for library in _blas_libraries():
            library.set_num_threads(1)
    while True:
        try:
            work = inbox.get(timeout=_PATIENCE)
        except Empty:
            try:
                _idle.remove(inbox)
            except ValueError:
                continue  # somebody has chosen this worker just now: the work is on its way
            return
        work()
        del work  # and with it what it holds, which may be large
        _idle.append(inbox)


@contextmanager
def blas_threads(n_jobs: int | None) -> Iterator[None]:
    """Let BLAS use at most as many threads within the block as ``n_jobs`` asks for.

    BLAS knows one number for all threads of a process. So the smallest number of all open blocks
    holds, whatever thread opened them, and the last one to close brings back what was there.
    """
    limit = [thread_count(n_jobs)]  # a list: blocks with equal limits are told apart
    try:
        with _limits_change:
            if not _limits:
                _unlimited[:] = [library.num_threads for library in _blas_libraries()]
            _limits.append(limit)
            _apply_limits()
        yield
    finally:
        with _limits_change:
            _limits[:] = [other for other in _limits if other is not limit]
            _apply_limits()


def _apply_limits() -> None:
    global _applied
    lowest = min((limit[0] for limit in _limits), default=None)
    if lowest == _applied and not _counts_by_thread():
        return
    _applied = lowest
    for library, before in zip(_blas_libraries(), _unlimited, strict=True):
        # From version 3.7 on threadpoolctl lets one thread alone change the number, so that several
        # do not undo what others have set. Our blocks do not: they are counted.
        change = getattr(library, "_real_set_num_threads", library.set_num_threads)
        change(before if lowest is None else min(lowest, before))


@cache
def _blas_libraries() -> list[Any]:
    """NumPy's BLAS and SciPy's; to find them takes longer than a small Gram matrix."""
    import scipy.linalg.blas  # noqa: F401  a library is found only if it is loaded
    from threadpoolctl import ThreadpoolController  # comes with scikit-learn

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


@cache
def _counts_by_thread() -> bool:
    """Whether a BLAS has a number for every thread of ours, as with OpenMP."""
    layers = {getattr(library, "threading_layer", None) for library in _blas_libraries()}
    return "openmp" in layers
