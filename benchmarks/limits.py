"""Evaluate kernels one by one, each on each data set in a process of its own, under limits.

1. The child sets its limits by the means of the system (``setrlimit``): processor time, which
   ends it by a signal wherever it is, and address space, past which memory is refused to it.
   Processor time does not depend on what else the machine does, so that the same work is stopped
   on a busy and on an idle machine.
2. The child computes what the results lack and sends each finished fold through a pipe; here it is
   written to the results at once.
3. How the child ended tells why: by itself, by the signal for processor time, by a refusal of
   memory (both leave a :class:`LimitRecord`), or by something else, which is an error.
4. A kernel that was stopped before on a data set is not tried again, unless its limit is raised.
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

#: Imported once, in the process that children are forked from.
_PRELOADED = ["graphgrain.kernels.registry", "graphgrain.evaluation.experiment", "sklearn.svm"]
#: Seconds after the signal that asks to end, when the system ends the child itself.
_GRACE = 5


@dataclass(frozen=True)
class Limits:
    """How much a piece of work may take; None is no limit.

    Attributes
    ----------
    seconds : float or None
        Processor time, that of all threads together; the system counts whole seconds.
    memory : int or None
        Bytes of address space beyond what the process has when it begins.

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
    """How a piece of work ended.

    Attributes
    ----------
    stopped : {"", "time", "memory"}
        The limit that it ran over.
    error : str
        What else went wrong.
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
    """Do a piece of work in a process of its own.

    Parameters
    ----------
    work : callable(send)
        Goes to the other process by pickle, as does what it gives to ``send``.
    limits : Limits
    receive : callable(message)
        Called here with everything that was sent, also if the work is stopped later.
    before : callable, optional
        Called in the other process before limits begin to count, to compile or load things.
    """
    fork = "forkserver" in multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if fork else "spawn")
    if fork:
        context.set_forkserver_preload(_PRELOADED)
    # What the machine lacks is not what the work was denied.
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
            except (EOFError, OSError):  # the child has ended, perhaps in the middle of a message
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
    """An exit code in words."""
    if exitcode is not None and exitcode < 0:
        return f"signal {signal.Signals(-exitcode).name}"
    return f"exit code {exitcode}"


def _child(
    work: Callable[[Callable[[Any], None]], None],
    limits: Limits,
    pipe: Any,
    before: Callable[[], object] | None,
) -> None:
    """The other process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the caller, who ends this
    threading.Thread(target=_follow_the_caller, daemon=True).start()
    ending: tuple[str, Any]
    try:
        if before is not None:
            before()
        _set_limits(limits)
        work(lambda message: pipe.send(("message", message)))
        ending = ("done", None)
    except MemoryError as error:
        _lift_memory_limit()  # so that there is room to say it
        ending = ("memory", str(error) or "there was not enough memory")
    except BrokenPipeError:
        return  # nobody is interested any more
    except GraphgrainError as error:
        ending = ("error", str(error))
    except Exception as error:
        ending = ("error", f"{type(error).__name__}: {error}")
    pipe.send(ending)


def _follow_the_caller() -> None:
    """End with the caller, also if it was killed: nobody wants the result any more."""
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

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # being stopped is no crash
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
        """Bytes that the process has now."""
        import resource

        try:
            with open("/proc/self/statm") as file:
                return int(file.read().split()[0]) * resource.getpagesize()
        except OSError:
            return 0


#: Data sets whose documentation says that edge label 1 is no bond: their graphs are complete.
COMPLETE = ("BZR_MD", "COX2_MD", "DHFR_MD")
#: A data set and a kernel: name and fingerprint of the one, name and variant of the other.
Place = tuple[str, str, str, str]


@dataclass(frozen=True)
class Entrant:
    """Who takes part: a kernel with its grid, or a classifier that tunes itself.

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
        """The kernel with its grid, if it is one."""
        return self.row if isinstance(self.row, KernelGrid) else None

    def on(self, data: LabelledGraphs) -> KernelGrid | TunedRow:
        """What is evaluated on a data set: estimators are offered the view that it justifies."""
        if isinstance(self.row, TunedRow) and data.name in COMPLETE:
            views = [None, EdgeFilter(drop=[1])]
            return replace(self.row, fixed={**self.row.fixed, "views": views})
        return self.row

    @property
    def kernel(self) -> str:
        """The name in records."""
        return self.row.name

    @property
    def variant(self) -> str:
        """What tells it from the usual grid of the kernel."""
        return self.row.variant

    @property
    def label(self) -> str:
        """How tables call it."""
        return kernel_label(self.kernel, self.variant)

    @property
    def settings(self) -> int:
        """Among how many settings validation chooses."""
        return 1 if self.grid is None else len(self.grid.settings)

    def holds(self, record: FoldRecord) -> bool:
        """Whether a fold of this kernel is one of its present settings."""
        if self.grid is None:
            return True
        return any(
            (record.settings, record.level_names) == (setting.as_dict(), self.grid.levels(setting))
            for setting in self.grid.settings
        )


class LimitedRuns:
    """Evaluates kernels on data sets, each in a process of its own.

    Parameters
    ----------
    results : ResultsFile
    limits : Limits
        ``seconds`` are for each repetition, the kernel matrices of all settings included.
    n_jobs : int, optional
        Number of threads; their processor time adds up.
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
        """Fill in what the results lack of a kernel on a data set."""
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
        """The repetitions that lack a fold."""
        done: dict[int, int] = defaultdict(int)
        for record in fold_records(known):
            if record.protocol == protocol.key and entrant.holds(record):
                done[record.repetition] += 1
        return [r for r in range(repeats) if done[r] < protocol.folds * entrant.settings]

    def _stopped_before(self, known: list[Record], protocol: Protocol) -> str:
        """By which limit the kernel was stopped before, if that was not lower than now."""
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
    """What the child does."""

    data: LabelledGraphs
    entrant: Entrant
    protocol: Protocol
    repeats: int
    known: frozenset[str]
    n_jobs: int | None

    def warm_up(self) -> None:
        """What has to be compiled or loaded is not the kernel's own cost."""
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
    """Results that are passed on to the process that writes them."""

    send: Callable[[Any], None]
    known: set[str] = field(default_factory=set)

    def __contains__(self, key: str) -> bool:
        return key in self.known

    def append(self, record: FoldRecord | KernelRecord) -> bool:
        self.known.add(key_of(record))
        self.send(record)
        return True
