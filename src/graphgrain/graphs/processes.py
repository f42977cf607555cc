"""Long work: a function over many items in several processes, and a bar that shows how far it is.

Results come in order, and past the death of a worker.

Workers end with the process that started them, however that ends: each holds one end of a pipe
whose other end nobody but the parent has, and ends when it closes. Otherwise the workers of a
killed process would wait for work for minutes, and keep its standard output open.
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

#: How often in a row the same item may kill its worker.
ATTEMPTS = 3


def map_processes(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None
) -> Iterator[Result]:
    """The results of a function, in the order of the items.

    At most two items per process are taken in advance, so that neither items nor results pile
    up, whoever is slower. If a worker dies (killed, out of memory), new ones do again what was
    in work.

    Parameters
    ----------
    function : callable
        It and its items go to other processes by pickle.
    items : iterable
    n_jobs : int, optional
        Number of processes; None or 1 means this one, -1 all cores.
    """
    from ..core.threads import thread_count  # not at the top: workers start without the compiler

    count = thread_count(n_jobs)
    if count <= 1:
        return map(function, items)
    return _mapped(function, iter(items), count)


def _mapped(
    function: Callable[[Item], Result], items: Iterator[Item], count: int
) -> Iterator[Result]:
    from joblib.externals.loky.process_executor import BrokenProcessPool

    ahead: deque[Item] = deque()  # taken, and not yet answered for
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


#: By process and number of workers. Loky's own reusable executor is the one that joblib takes its
#: workers from, and joblib fails if it finds one that it has not made.
_executors: dict[tuple[int, int], Any] = {}
#: By process: the ends of the pipe that tells workers when it is no more, for them and for us.
_lifelines: dict[int, tuple[Any, Any]] = {}


def end_workers() -> None:
    """End all workers of this process at once, whatever they are doing."""
    for key in [key for key in _executors if key[0] == os.getpid()]:
        _executors.pop(key).shutdown(wait=False, kill_workers=True)


def _executor(count: int) -> Any:
    """Workers that stay for a minute after their last work."""
    # Loky comes with scikit-learn's joblib: its workers do not run the caller's main module
    # again, so that scripts need no guard.
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
    """Let this process end when the other end of a pipe is closed."""

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
) -> Any:
    """A bar that counts something, or nothing; it appears after ``delay`` seconds."""
    from tqdm import tqdm

    return tqdm(
        desc=description,
        total=total,
        unit=f" {unit}",
        unit_scale=True,
        delay=delay,
        disable=not verbose,
    )
