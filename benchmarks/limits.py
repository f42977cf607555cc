"""Evaluate each kernel on each data set in a separate process with limits on time and memory.

1. The child sets its limits with ``setrlimit``: CPU time, after which a signal ends it, and address
   space, beyond which allocations fail. CPU time does not depend on the load of the machine, so the
   same work is stopped on a busy and on an idle machine.
2. The child computes missing results and sends each finished fold through a pipe; the parent writes
   it to the results immediately.
3. The child ends normally, by the signal for CPU time, by a memory error (both leave a
   :class:`LimitRecord`), or by anything else, which is an error.
4. A kernel that was stopped on a data set is run again only if its limit is raised.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

from graphgrain.core.memory import available_memory
from graphgrain.core.threads import thread_count
from graphgrain.errors import GraphgrainError, InvalidParameterError
from graphgrain.evaluation.experiment import (
    Progress,
    TunedRow,
    identity_of,
    rules_of,
    run,
    setting_grams,
)
from graphgrain.evaluation.labelled_graphs import LabelledGraphs
from graphgrain.evaluation.protocol import Protocol
from graphgrain.evaluation.records import (
    FoldRecord,
    KernelRecord,
    LimitRecord,
    Record,
    ResultsFile,
    fold_records,
    kernel_label,
    key_of,
    limit_records,
)
from graphgrain.kernels.grid import KernelGrid
from graphgrain.views.edge_filter import EdgeFilter

#: Imported once, in the fork server.
_PRELOADED = ["graphgrain.kernels.registry", "graphgrain.evaluation.experiment", "sklearn.svm"]
#: Seconds between the soft limit of CPU time (SIGXCPU) and the hard limit (SIGKILL).
_GRACE = 5


@dataclass(frozen=True)
class Limits:
    """Limits of a computation; None means no limit.

    Attributes
    ----------
    seconds : float or None
        CPU time of all threads together; the system counts whole seconds.
    memory : int or None
        Bytes of address space in addition to that of the process at the start.

    Examples
    --------
    >>> from benchmarks.limits import Limits
    >>> Limits(seconds=300, memory=4 * 2**30).seconds
    300
    """

    seconds: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("seconds", self.seconds), ("memory", self.memory)):
            if value is not None and not 0 < value < float("inf"):
                raise InvalidParameterError(
                    f"The limit {name} must be a number above 0, or None; got {value!r}."
                )
        if sys.platform == "win32" and (self.seconds or self.memory):  # pragma: no cover
            raise InvalidParameterError(
                "Windows does not enforce limits on processor time and memory; leave them out."
            )


@dataclass(frozen=True)
class Outcome:
    """Outcome of a computation.

    Attributes
    ----------
    stopped : {"", "time", "memory"}
        Limit that was exceeded.
    error : str
        Message of any other error.
    """

    stopped: str = ""
    error: str = ""


def run_in_process(
    work: Callable[[Callable[[Any], None]], None],
    limits: Limits,
    receive: Callable[[Any], None],
    *,
    before: Callable[[], object] | None = None,
) -> Outcome:
    """Run a computation in a separate process.

    Parameters
    ----------
    work : callable(send)
        Must be picklable, as must the messages it passes to ``send``.
    limits : Limits
    receive : callable(message)
        Called in this process with every message, also if the work is stopped later.
    before : callable, optional
        Called in the other process before the limits apply, for compilation and loading.
    """
    fork = "forkserver" in multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if fork else "spawn")
    if fork:
        context.set_forkserver_preload(_PRELOADED)
    # If the machine has less memory than the limit, a memory error is not due to the limit.
    available = available_memory()
    scarce = available is not None and available < (limits.memory or 0)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(work, limits, sender, before), daemon=True)
    ending: tuple[str, Any] = ("", None)
    try:
        process.start()
        sender.close()
        while True:
            try:
                kind, content = receiver.recv()
            except (EOFError, OSError):  # the child has ended, perhaps within a message
                break
            if kind == "message":
                receive(content)
            else:
                ending = (kind, content)
        process.join()
    except BaseException:
        if process.pid is not None:
            process.kill()
            process.join()
        raise
    finally:
        receiver.close()
    kind, content = ending
    if kind == "done":
        return Outcome()
    if kind == "memory" and limits.memory is not None and not scarce:
        return Outcome(stopped="memory")
    if kind:
        return Outcome(error=str(content))
    if limits.seconds is not None and process.exitcode == -signal.SIGXCPU:
        return Outcome(stopped="time")
    return Outcome(error=f"its process was ended ({_named(process.exitcode)})")


def _named(exitcode: int | None) -> str:
    if exitcode is not None and exitcode < 0:
        return f"signal {signal.Signals(-exitcode).name}"
    return f"exit code {exitcode}"


def _child(
    work: Callable[[Callable[[Any], None]], None],
    limits: Limits,
    pipe: Any,
    before: Callable[[], object] | None,
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends this process
    threading.Thread(target=_follow_the_caller, daemon=True).start()
    ending: tuple[str, Any]
    try:
        if before is not None:
            before()
        _set_limits(limits)
        work(lambda message: pipe.send(("message", message)))
        ending = ("done", None)
    except MemoryError as error:
        _lift_memory_limit()  # sending the message needs memory
        ending = ("memory", str(error) or "there was not enough memory")
    except BrokenPipeError:
        return  # the parent has ended
    except GraphgrainError as error:
        ending = ("error", str(error))
    except Exception as error:
        ending = ("error", f"{type(error).__name__}: {error}")
    pipe.send(ending)


def _follow_the_caller() -> None:
    """Exit when the parent ends, even if it was killed."""
    caller = multiprocessing.parent_process()
    if caller is not None:
        caller.join()
        os._exit(1)


if sys.platform == "win32":  # pragma: no cover

    def _set_limits(limits: Limits) -> None:
        pass

    def _lift_memory_limit() -> None:
        pass

else:

    def _set_limits(limits: Limits) -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core dump when stopped
        if limits.seconds is not None:
            usage = resource.getrusage(resource.RUSAGE_SELF)
            end = max(1, ceil(usage.ru_utime + usage.ru_stime + limits.seconds))
            resource.setrlimit(resource.RLIMIT_CPU, (end, end + _GRACE))
        if limits.memory is not None:
            _, hard = resource.getrlimit(resource.RLIMIT_AS)
            wanted = _address_space() + limits.memory
            resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))

    def _lift_memory_limit() -> None:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))

    def _address_space() -> int:
        """Return the current size of the address space in bytes."""
        import resource

        try:
            with open("/proc/self/statm") as file:
                return int(file.read().split()[0]) * resource.getpagesize()
        except OSError:
            return 0


#: Data sets of complete graphs in which edge label 1 means "no bond".
COMPLETE = ("BZR_MD", "COX2_MD", "DHFR_MD")
#: Name and fingerprint of a data set, name and variant of a kernel.
Place = tuple[str, str, str, str]


@dataclass(frozen=True)
class Entrant:
    """A competitor of the league: a kernel with its grid, or a self-tuned classifier.

    Examples
    --------
    >>> from benchmarks.limits import Entrant
    >>> from graphgrain.evaluation.experiment import TREE_ROW
    >>> from graphgrain.kernels.registry import KERNELS
    >>> Entrant(KERNELS["wl"]).label, Entrant(TREE_ROW).label
    ('WL', 'Tree++ (self-tuned)')
    """

    row: KernelGrid | TunedRow

    @property
    def grid(self) -> KernelGrid | None:
        """Parameter grid of a kernel; None for classifiers."""
        return self.row if isinstance(self.row, KernelGrid) else None

    def on(self, data: LabelledGraphs) -> KernelGrid | TunedRow:
        """Return the row for a data set; classifiers get the bonds-only view on complete graphs."""
        if isinstance(self.row, TunedRow) and data.name in COMPLETE:
            views = [None, EdgeFilter(drop=[1])]
            return replace(self.row, fixed={**self.row.fixed, "views": views})
        return self.row

    @property
    def kernel(self) -> str:
        """Kernel name in records."""
        return self.row.name

    @property
    def variant(self) -> str:
        """Variant of the kernel's usual grid."""
        return self.row.variant

    @property
    def label(self) -> str:
        """Name in tables."""
        return kernel_label(self.kernel, self.variant)

    @property
    def settings(self) -> int:
        """Number of settings that validation selects from."""
        return 1 if self.grid is None else len(self.grid.settings)

    def holds(self, record: FoldRecord) -> bool:
        """Return whether a fold of this kernel belongs to its current settings."""
        if self.grid is None:
            return True
        return any(
            (record.settings, record.level_names) == (setting.as_dict(), self.grid.levels(setting))
            for setting in self.grid.settings
        )


class LimitedRuns:
    """Evaluate kernels on data sets, each in a separate process.

    Parameters
    ----------
    results : ResultsFile
    limits : Limits
        ``seconds`` apply to each repetition, including the kernel matrices of all settings.
    n_jobs : int, optional
        Number of threads; the CPU time of all of them counts.
    """

    def __init__(self, results: ResultsFile, limits: Limits, n_jobs: int | None = None) -> None:
        self.results, self.limits, self.n_jobs = results, limits, n_jobs
        self._known: dict[Place, list[Record]] = defaultdict(list)
        for record in results.records:
            if isinstance(record, FoldRecord | KernelRecord | LimitRecord):
                self._known[_place(record)].append(record)

    def __call__(
        self,
        data: LabelledGraphs,
        entrant: Entrant,
        protocol: Protocol,
        repeats: int,
        progress: Progress | None = None,
    ) -> Outcome:
        """Compute the missing results of a kernel on a data set."""
        progress = progress or Progress()
        known = self._known[(data.name, data.fingerprint, entrant.kernel, entrant.variant)]
        missing = self._unfinished(known, entrant, protocol, repeats)
        if not missing:
            progress.advance(repeats * protocol.folds * entrant.settings)
            return Outcome()
        if reason := self._stopped_before(known, protocol):
            return Outcome(stopped=reason)
        work = _Evaluation(
            data, entrant, protocol, repeats, frozenset(map(key_of, known)), self.n_jobs
        )

        def receive(message: Any) -> None:
            if isinstance(message, FoldRecord | KernelRecord):
                self._keep(message)
            else:
                name, *values = message
                getattr(progress, name)(*values)

        seconds = self.limits.seconds
        outcome = run_in_process(
            work,
            Limits(None if seconds is None else seconds * len(missing), self.limits.memory),
            receive,
            before=work.warm_up,
        )
        if outcome.stopped:
            time = outcome.stopped == "time"
            limit = self.limits.seconds if time else self.limits.memory
            assert limit is not None
            self._keep(
                LimitRecord(
                    **identity_of(data),
                    **rules_of(protocol),
                    kernel=entrant.kernel,
                    variant=entrant.variant,
                    reason=outcome.stopped,
                    limit=float(limit),
                    repetitions=len(self._unfinished(known, entrant, protocol, repeats)),
                )
            )
        return outcome

    def _keep(self, record: FoldRecord | KernelRecord | LimitRecord) -> None:
        if self.results.append(record):
            self._known[_place(record)].append(record)

    @staticmethod
    def _unfinished(
        known: list[Record], entrant: Entrant, protocol: Protocol, repeats: int
    ) -> list[int]:
        """Return the repetitions with missing folds."""
        done: dict[int, int] = defaultdict(int)
        for record in fold_records(known):
            if record.protocol == protocol.key and entrant.holds(record):
                done[record.repetition] += 1
        return [r for r in range(repeats) if done[r] < protocol.folds * entrant.settings]

    def _stopped_before(self, known: list[Record], protocol: Protocol) -> str:
        """Return the limit that stopped the kernel before, unless it has been raised since."""
        now = {"time": self.limits.seconds, "memory": self.limits.memory}
        for record in limit_records(known):
            limit = now[record.reason]
            if record.protocol == protocol.key and limit is not None and limit <= record.limit:
                return record.reason
        return ""


def _place(record: Record) -> Place:
    return (record.dataset, record.fingerprint, record.kernel, record.variant)


@dataclass(frozen=True)
class _Evaluation:
    """Work of the child process."""

    data: LabelledGraphs
    entrant: Entrant
    protocol: Protocol
    repeats: int
    known: frozenset[str]
    n_jobs: int | None

    def warm_up(self) -> None:
        """Compile and import, which is not part of the kernel's cost."""
        from threadpoolctl import threadpool_limits  # comes with scikit-learn

        threadpool_limits(thread_count(self.n_jobs))
        grid = self.entrant.grid
        if grid is not None:
            few = self.data.graphs[: min(len(self.data), 4)]
            setting_grams(grid, grid.settings[0], few, self.n_jobs)

    def __call__(self, send: Callable[[Any], None]) -> None:
        progress = Progress(
            lambda description, total: send(("begin", description, total)),
            lambda folds: send(("advance", folds)),
        )
        sent = _Sent(send, set(self.known))
        run(
            self.data,
            self.entrant.on(self.data),
            self.protocol,
            self.repeats,
            sent,
            n_jobs=self.n_jobs,
            progress=progress,
        )


@dataclass(frozen=True)
class _Sent:
    """Results file of the child, which sends records to the parent."""

    send: Callable[[Any], None]
    known: set[str] = field(default_factory=set)

    def __contains__(self, key: str) -> bool:
        return key in self.known

    def append(self, record: FoldRecord | KernelRecord) -> bool:
        self.known.add(key_of(record))
        self.send(record)
        return True
