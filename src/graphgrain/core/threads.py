"""Threads over ranges of graphs; compiled functions release the GIL.

The calling thread only waits: Python handles signals only in the main thread and between
bytecodes, so compiled work there would block Ctrl-C until it ends.

1. Workers process the ranges one after the other, even if there is only one worker.
2. The main thread waits for them, and wakes up when a signal arrives.
3. An exception there, such as KeyboardInterrupt, sets the flag that compiled loops check
   (:func:`stop_flag`); no further range is started, and the exception propagates. A worker that
   cannot stop immediately (inside LAPACK, or compiling) finishes its range, and the result is
   discarded.
4. Code in a worker uses one BLAS thread: with parallel workers, BLAS threads would wait for each
   other, and sums would depend on their number (:func:`blas_threads`).
5. Work of less than about a millisecond, shorter than a user notices, may stay in the calling
   thread (``brief`` in :func:`in_one_worker`): waking a worker and the caller would take as long.

Workers are reused by the next call: waking one takes a few microseconds, starting a thread, with
its own memory arena, many times that. A worker that has been idle for a minute ends.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import cache, partial, wraps
from inspect import signature
from itertools import count, pairwise
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, TypeVar

import numpy as np

from .compiling import PLAIN_PYTHON, compiled

Result = TypeVar("Result")

#: Vertices per chunk: large enough to amortise the overhead, small enough to balance threads.
CHUNK_VERTICES = 4096
#: Seconds between checks for signals while waiting.
_POLL_INTERVAL = 0.1
#: Seconds that an interrupted caller waits for its workers to stop.
_STOP_TIMEOUT = 0.5
#: Seconds after which an idle worker ends.
_PATIENCE = 60.0

_local = threading.local()
#: Queues of the idle workers.
_idle: list[SimpleQueue[Callable[[], None]]] = []
#: Limits of all open blocks of all threads, and the BLAS thread counts before the first block.
_limits: list[list[int]] = []
_unlimited: list[int] = []
#: Limit currently applied to BLAS.
_applied: int | None = None
_limits_change = threading.RLock()  # garbage collection may close a block inside another


def _after_fork() -> None:
    """Reset the state in the child process, where the threads do not exist."""
    global _limits_change, _applied
    _limits_change, _applied = threading.RLock(), None
    _limits.clear()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Stopped(BaseException):
    """Unwinds a worker whose result is no longer needed."""


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``, with scikit-learn's conventions.

    None means the setting of ``joblib.parallel_config`` for this thread, or 1; -1 means all cores
    available to the process, considering container limits.
    """
    import joblib  # a dependency of scikit-learn

    if n_jobs is None:
        n_jobs = joblib.parallel.get_active_backend()[1] or 1
    return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)


def chunks(sizes: np.ndarray, target: int | None = None) -> list[tuple[int, int]]:
    """Split items into consecutive ranges whose sizes add up to about ``target`` each."""
    if not len(sizes):
        return []
    part = np.cumsum(sizes + 1) // (CHUNK_VERTICES if target is None else target)
    bounds = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(sizes)]
    return list(pairwise(bounds))


def stop_flag() -> np.ndarray:
    """Return an array of one entry for compiled loops, nonzero if they should stop."""
    flag = getattr(_local, "stop", None)
    return np.zeros(1, dtype=np.uint8) if flag is None else flag


def run(
    function: Callable[[int, int], Result], ranges: list[tuple[int, int]], n_jobs: int | None
) -> list[Result]:
    """Call ``function(begin, end)`` for every range on ``n_jobs`` threads; results in order."""
    watch = getattr(_local, "watch", None)
    alone = getattr(_local, "alone", ())
    if watch is None and alone and (n_jobs in alone or thread_count(n_jobs) == 1):
        # brief work stays in the main thread
        step = partial(call, function) if _may_compute() else function
        return [step(*bounds) for bounds in ranges]
    _local.watch = None  # nested runs show no progress of their own
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
        _local.watch = watch
    return [found[number] for number in range(len(ranges))]


def run_each(
    function: Callable[[int], Result], sizes: np.ndarray, n_jobs: int | None
) -> list[Result]:
    """Call ``function(i)`` for items of these sizes on ``n_jobs`` threads; results in order."""

    def some(begin: int, end: int) -> list[Result]:
        return [function(i) for i in range(begin, end)]

    return [result for part in run(some, chunks(sizes), n_jobs) for result in part]


@contextmanager
def watched(bar: Callable[[int], Any] | None) -> Iterator[None]:
    """Show the progress of each :func:`run` of this thread within the block.

    ``bar(total)`` returns a context manager whose value has ``update``; None shows nothing.
    """
    before = getattr(_local, "watch", None)
    _local.watch = bar
    try:
        yield
    finally:
        _local.watch = before


def as_finished(
    function: Callable[[int], Result], how_many: int, n_jobs: int | None
) -> Iterator[tuple[int, Result]]:
    """Yield ``(number, function(number))`` for numbers below ``how_many`` in completion order."""
    threads = min(thread_count(n_jobs), how_many)
    with blas_threads(1):
        if threads <= 1 and _may_compute():
            stop = stop_flag()
            for number in range(how_many):
                if stop[0]:
                    raise _Stopped
                yield number, function(number)
        else:
            yield from _in_workers(function, how_many, threads)


def call(function: Callable[..., Result], *arguments: Any) -> Result:
    """Call ``function(*arguments)`` in a worker, so that the main thread can be interrupted.

    For functions without linear algebra: the number of BLAS threads is not changed.
    """
    if _may_compute():
        if stop_flag()[0]:
            raise _Stopped
        return function(*arguments)
    [(_, result)] = _in_workers(lambda _: function(*arguments), 1, 1)
    return result


def with_one_blas_thread(
    function: Callable[[], Result], bar: Callable[[int], Any] | None = None
) -> Result:
    """Call ``function()`` with BLAS limited to one thread, and show its progress."""
    with watched(bar), blas_threads(1):
        return function()


def in_one_worker(
    function: Callable[[], Result],
    n_jobs: int | None,
    bar: Callable[[int], Any] | None = None,
    brief: bool = False,
) -> Result:
    """Call ``function()`` and everything it runs in one worker, if ``n_jobs`` is one thread.

    Work with many short steps then switches to a worker once instead of at each step. If it is
    ``brief``, it does not switch at all, except in an :func:`entry_point` that returns arrays.
    BLAS is limited to one thread, and progress is shown with ``bar``.
    """
    if thread_count(n_jobs) > 1 or _may_compute():
        return with_one_blas_thread(function, bar)

    def whole() -> Result:
        _local.alone = (n_jobs,)
        try:
            with watched(bar):
                return function()
        finally:
            _local.alone = ()

    with blas_threads(1):
        return whole() if brief else call(whole)


def _may_compute() -> bool:
    """Return whether this thread may run compiled code; the main thread handles signals."""
    return PLAIN_PYTHON or threading.current_thread() is not threading.main_thread()


def entry_point(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that is called from Python, not from other compiled functions.

    From the main thread it is called in a worker, because Numba does not survive a signal that
    arrives while it converts results to Python objects. If the last parameter is ``stop``, it is
    not passed by the caller but filled with the flag to return early, see :func:`stop_flag`.
    """
    inner = compiled(function)
    stoppable = list(signature(function).parameters)[-1] == "stop"

    @wraps(function)
    def interruptible(*arguments: Any) -> Any:
        if stoppable:
            return call(lambda: inner(*arguments, stop_flag()))
        return call(inner, *arguments)

    return interruptible


def plain_entry_point(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile an :func:`entry_point` that returns nothing or a number.

    Numba survives signals during such calls. Brief work in the main thread therefore calls the
    function there, except for the first time, when it is compiled.
    """
    inner = compiled(function)

    @wraps(function)
    def interruptible(*arguments: Any) -> Any:
        if getattr(_local, "alone", ()) and (PLAIN_PYTHON or inner.signatures):
            return inner(*arguments)
        return call(inner, *arguments)

    return interruptible


def _in_workers(
    function: Callable[[int], Result], how_many: int, threads: int
) -> Iterator[tuple[int, Result]]:
    inherited = hasattr(_local, "stop")
    stop = stop_flag()
    given_up: list[bool] = []
    numbers = count()
    finished: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
    ended: SimpleQueue[None] = SimpleQueue()

    def work() -> None:
        _local.stop = stop
        number = -1
        try:
            while not (stop[0] or given_up) and (number := next(numbers)) < how_many:
                finished.put((number, function(number), None))
        except BaseException as error:
            finished.put((number, None, error))
        finally:
            del _local.stop
            ended.put(None)

    try:
        for _ in range(threads):
            _hand_over(work)
        left = how_many
        while left:
            try:
                number, result, error = finished.get(timeout=_POLL_INTERVAL)
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
        if not inherited:  # an inherited flag also affects others
            stop[0] = 1
        deadline = monotonic() + _STOP_TIMEOUT
        with suppress(Empty):
            for _ in range(threads):
                ended.get(timeout=max(0.0, deadline - monotonic()))
        raise


def _hand_over(work: Callable[[], None]) -> None:
    """Give work to an idle worker, or to a new one if all are busy."""
    try:
        inbox = _idle.pop()
    except IndexError:
        inbox = SimpleQueue()
        threading.Thread(target=_serve, args=(inbox,), daemon=True).start()
    inbox.put(work)


def _serve(inbox: SimpleQueue[Callable[[], None]]) -> None:
    """Run the loop of a worker: process work until none has arrived for a while."""
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
                continue  # this worker was just chosen, and the work is about to arrive
            return
        work()
        del work  # frees its data, which may be large
        _idle.append(inbox)


@contextmanager
def blas_threads(n_jobs: int | None) -> Iterator[None]:
    """Limit BLAS to the number of threads of ``n_jobs`` within the block.

    BLAS has one setting for the whole process. The smallest limit of all open blocks of all threads
    applies, and closing the last block restores the original setting.
    """
    limit = [thread_count(n_jobs)]  # a list, to distinguish blocks with equal limits
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
        # Since version 3.7 threadpoolctl lets only one thread change the number, so that threads do
        # not undo each other's settings. The open blocks are tracked here instead.
        change = getattr(library, "_real_set_num_threads", library.set_num_threads)
        change(before if lowest is None else min(lowest, before))


@cache
def _blas_libraries() -> list[Any]:
    """Return the BLAS libraries of NumPy and SciPy; cached, since the search is slow."""
    import scipy.linalg.blas  # noqa: F401  only loaded libraries are found
    from threadpoolctl import ThreadpoolController  # a dependency of scikit-learn

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


@cache
def _counts_by_thread() -> bool:
    """Return whether a BLAS has a separate setting for each calling thread, as with OpenMP."""
    layers = {getattr(library, "threading_layer", None) for library in _blas_libraries()}
    return "openmp" in layers
