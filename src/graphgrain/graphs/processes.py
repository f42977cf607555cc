"""Map a function over many items in several processes, and show progress.

Results are returned in order. Items that were running when a worker died are run again.

Workers exit with the process that started them, even if it is killed: each holds the reading end
of a pipe whose writing end only the parent has, and exits when the pipe closes. Otherwise the
workers of a killed process would wait for work for minutes and keep its standard output open.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, ClassVar, Self, TypeVar

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
    from loky.process_executor import BrokenProcessPool

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


#: Executors by process id and number of workers. Loky's own reusable executor would be shared with
#: other users of loky, whose number of workers may differ.
_executors: dict[tuple[int, int], Any] = {}
#: Reading and writing end, by process id, of the pipe that closes when the process ends.
_lifelines: dict[int, tuple[Any, Any]] = {}


def end_workers() -> None:
    """Kill all workers of this process immediately."""
    for key in [key for key in _executors if key[0] == os.getpid()]:
        _executors.pop(key).shutdown(wait=False, kill_workers=True)


def _executor(count: int) -> Any:
    """Return the executor with ``count`` workers; idle workers exit after a minute."""
    # Loky does not import the caller's main module again in its workers, so scripts need no
    # ``if __name__ == "__main__"`` guard.
    from multiprocessing import Pipe

    from loky import ProcessPoolExecutor

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


class ProgressBar:
    """A bar in the display of this process, from ``delay`` seconds after its creation on.

    All bars, nested or of several threads, share one display of rich on standard error, which
    ends with the last of them. The methods are those that pooch calls.
    """

    _lock = threading.Lock()
    _display: ClassVar[Any] = None  # rich's Progress
    _shown: ClassVar[int] = 0

    def __init__(self, total: int | None, label: str, delay: float, completed: int) -> None:
        self.total, self.completed, self._label = total, completed, label
        self._begin = time.monotonic() + delay
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def update(self, count: int) -> None:
        """Count more finished items."""
        self.completed += count
        if time.monotonic() < self._begin:
            return
        with self._lock:
            if self._task is None:
                self._show()
            self._display.update(self._task, completed=self.completed, total=self.total)

    def reset(self) -> None:
        """Count from 0 again."""
        self.completed = 0

    def close(self) -> None:
        """Stop the clock of the bar; with the last bar the display ends."""
        with self._lock:
            if self._task is None:
                return
            self._display.stop_task(self._task)
            self._task = None
            ProgressBar._shown -= 1
            if not self._shown:
                self._display.stop()
                ProgressBar._display = None

    def _show(self) -> None:
        from rich import progress
        from rich.console import Console

        if self._display is None:
            display = progress.Progress(
                progress.TextColumn("{task.description}", markup=False),
                progress.BarColumn(),
                progress.TaskProgressColumn(),
                progress.MofNCompleteColumn(),
                progress.TimeElapsedColumn(),
                progress.TimeRemainingColumn(),
                console=Console(stderr=True),
                redirect_stdout=False,
                redirect_stderr=False,
            )
            display.start()
            ProgressBar._display = display
        self._task = self._display.add_task(self._label, total=self.total)
        ProgressBar._shown += 1


def progress_bar(
    verbose: int,
    total: int | None,
    unit: str = "molecules",
    description: str | None = None,
    delay: float = 0.0,
    initial: int = 0,
) -> ProgressBar:
    """Return a bar that appears after ``delay`` seconds, or never if ``verbose`` is 0.

    ``initial`` items were finished by an earlier run.
    """
    label = f"{description}, {unit}" if description else unit
    return ProgressBar(total, label, delay if verbose else math.inf, initial)
