"""Map a function over many items in several processes, and show progress.

Results are returned in order. Items that were running when a worker died are run again.

Workers exit with the process that started them, even if it is killed: each holds the reading end
of a pipe whose writing end only the parent has, and exits when the pipe closes. Otherwise the
workers of a killed process would wait for work for minutes and keep its standard output open.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

from ..errors import WorkerError

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Number of times in a row that the same item may kill its worker.
ATTEMPTS = 3


def map_processes(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None
) -> Iterator[Result]:
    """Yield the results of a function, in the order of the items.

    At most two items per process are submitted in advance, so that neither items nor results
    accumulate. If a worker dies (killed, out of memory), unfinished items are run again by new
    workers.

    Parameters
    ----------
    function : callable
        The function and the items must be picklable.
    items : iterable
    n_jobs : int, optional
        Number of processes. None or 1 runs in the current process, -1 uses all cores.
    """
    from ..core.threads import thread_count  # imported here so that workers start without Numba

    count = thread_count(n_jobs)
    if count <= 1:
        return map(function, items)
    return _mapped(function, iter(items), count)


def _mapped(
    function: Callable[[Item], Result], items: Iterator[Item], count: int
) -> Iterator[Result]:
    from joblib.externals.loky.process_executor import BrokenProcessPool

    ahead: deque[Item] = deque()  # items without a result so far
    futures: deque[Any] = deque()
    attempts = 0
    try:
        while True:
            ahead.extend(islice(items, 2 * count - len(ahead)))
            if not ahead:
                return
            executor = _executor(count)
            try:
                for item in islice(ahead, len(futures), None):
                    futures.append(executor.submit(function, item))
                result = futures[0].result()
            except BrokenProcessPool as error:
                futures.clear()
                if _executors.get(key := (os.getpid(), count)) is executor:
                    del _executors[key]
                attempts += 1
                if attempts == ATTEMPTS:
                    raise WorkerError(
                        f"A worker process was killed {ATTEMPTS} times in a row at the same piece "
                        f"of work ({type(error).__name__}). If memory ran out, use fewer "
                        "processes (n_jobs) or smaller chunks."
                    ) from None
                continue
            attempts = 0
            ahead.popleft()
            futures.popleft()
            yield result
    finally:
        for future in futures:
            future.cancel()


#: Executors by process id and number of workers. Loky's own reusable executor cannot be used:
#: joblib takes its workers from it and fails if it finds one that it has not created.
_executors: dict[tuple[int, int], Any] = {}
#: Reading and writing end, by process id, of the pipe that closes when the process ends.
_lifelines: dict[int, tuple[Any, Any]] = {}


def end_workers() -> None:
    """Kill all workers of this process immediately."""
    for key in [key for key in _executors if key[0] == os.getpid()]:
        _executors.pop(key).shutdown(wait=False, kill_workers=True)


def _executor(count: int) -> Any:
    """Return the executor with ``count`` workers; idle workers exit after a minute."""
    # Loky, which comes with joblib, does not import the caller's main module again in its
    # workers, so scripts need no ``if __name__ == "__main__"`` guard.
    from multiprocessing import Pipe

    from joblib.externals.loky import ProcessPoolExecutor

    process = os.getpid()
    if process not in _lifelines:
        _lifelines[process] = Pipe(duplex=False)
    if (process, count) not in _executors:
        _executors[process, count] = ProcessPoolExecutor(
            max_workers=count,
            timeout=60,
            initializer=_end_with_parent,
            initargs=(_lifelines[process][0],),
        )
    return _executors[process, count]


def _end_with_parent(lifeline: Any) -> None:
    """Exit this process when the other end of a pipe is closed."""

    def wait() -> None:
        try:
            lifeline.recv_bytes()  # nothing is ever sent
        except (EOFError, OSError):
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def progress_bar(
    verbose: int,
    total: int | None,
    unit: str = "molecules",
    description: str | None = None,
    delay: float = 0.0,
    initial: int = 0,
) -> Any:
    """Return a tqdm bar that appears after ``delay`` seconds, or never if ``verbose`` is 0.

    ``initial`` items were finished by an earlier run.
    """
    from tqdm import tqdm

    return tqdm(
        desc=description,
        total=total,
        initial=initial,
        unit=f" {unit}",
        unit_scale=True,
        delay=delay,
        disable=not verbose,
    )
