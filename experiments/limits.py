"""Evaluate each kernel on each data set in a separate process with limits on time and memory.

1. The child sets its limits with ``setrlimit``: CPU time, after which a signal ends it, and address
   space, beyond which allocations fail. CPU time does not depend on the load of the machine, so the
   same work is stopped on a busy and on an idle machine.
2. The child computes missing results and sends each finished fold through a pipe; the parent writes
   it to the results immediately.
3. The child ends normally, by the signal for CPU time, by a memory error (both leave a
   ``limit`` record), or by anything else, which is an error.
4. A kernel that was stopped on a data set is run again only if its limit is raised.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from graphgrain.core.memory import available_memory
from graphgrain.core.threads import thread_count
from graphgrain.errors import GraphgrainError, InvalidParameterError

from .data import LabelledGraphs
from .protocol import Protocol
from .records import Record, Records, identity
from .run import Entrant, fields, run, warm_up

#: Imported once, in the fork server.
_PRELOADED = ["graphgrain.kernels.registry", "experiments.run"]
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
    >>> from experiments.limits import Limits
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


class LimitedRuns:
    """Evaluate kernels on data sets, each in a separate process.

    Parameters
    ----------
    records : Records
    limits : Limits
        ``seconds`` apply to each repetition, including the kernel matrices of all settings.
    n_jobs : int, optional
        Number of threads; the CPU time of all of them counts.
    """

    def __init__(self, records: Records, limits: Limits, n_jobs: int | None = None) -> None:
        self.records, self.limits, self.n_jobs = records, limits, n_jobs

    def __call__(
        self,
        data: LabelledGraphs,
        entrant: Entrant,
        protocol: Protocol,
        repeats: int,
        advance: Callable[[int], None] = lambda folds: None,
    ) -> Outcome:
        """Compute the missing results of a kernel on a data set."""
        common = fields(data, entrant, protocol)
        missing = self._unfinished(common, entrant, protocol, repeats)
        if not missing:
            advance(repeats * protocol.folds * len(entrant.settings))
            return Outcome()
        if reason := self._stopped_before(common):
            return Outcome(stopped=reason)
        stored = frozenset(map(identity, self.records.records))
        work = _Evaluation(data, entrant, protocol, repeats, stored, self.n_jobs)

        def receive(message: Any) -> None:
            if isinstance(message, dict):
                self.records.append(message)
            else:
                advance(message)

        seconds = self.limits.seconds
        limits = Limits(None if seconds is None else seconds * missing, self.limits.memory)
        outcome = run_in_process(work, limits, receive, before=work.warm_up)
        if outcome.stopped:
            limit = self.limits.seconds if outcome.stopped == "time" else self.limits.memory
            left = self._unfinished(common, entrant, protocol, repeats)
            stop = {"kind": "limit", "reason": outcome.stopped, "limit": limit}
            self.records.append({**common, **stop, "repetitions": left})
        return outcome

    def _unfinished(
        self, common: Record, entrant: Entrant, protocol: Protocol, repeats: int
    ) -> int:
        """Return the number of repetitions with missing folds."""
        return sum(
            any(
                identity({**common, "kind": "fold", "settings": dict(setting), **place})
                not in self.records
                for setting in entrant.settings
                for place in ({"repetition": r, "fold": fold} for fold in range(protocol.folds))
            )
            for r in range(repeats)
        )

    def _stopped_before(self, common: Record) -> str:
        """Return the limit that stopped the kernel before, unless it has been raised since."""
        now = {"time": self.limits.seconds, "memory": self.limits.memory}
        for record in self.records.records:
            if record["kind"] == "limit" and all(record[n] == v for n, v in common.items()):
                limit = now[record["reason"]]
                if limit is not None and limit <= record["limit"]:
                    return record["reason"]
        return ""


@dataclass(frozen=True)
class _Evaluation:
    """Work of the child process."""

    data: LabelledGraphs
    entrant: Entrant
    protocol: Protocol
    repeats: int
    stored: frozenset[str]
    n_jobs: int | None

    def warm_up(self) -> None:
        """Compile and import, which is not part of the kernel's cost."""
        from threadpoolctl import threadpool_limits

        threadpool_limits(thread_count(self.n_jobs))
        if hasattr(self.entrant.model, "grams"):
            warm_up(self.data, self.entrant, self.entrant.settings[0], self.n_jobs)

    def __call__(self, send: Callable[[Any], None]) -> None:
        run(
            self.data,
            self.entrant,
            self.protocol,
            self.repeats,
            _Sent(send, set(self.stored)),
            n_jobs=self.n_jobs,
            advance=send,
        )


@dataclass(frozen=True)
class _Sent:
    """Records of the child, which sends them to the parent."""

    send: Callable[[Any], None]
    stored: set[str] = field(default_factory=set)

    def __contains__(self, key: str) -> bool:
        return key in self.stored

    def append(self, record: Record) -> bool:
        self.stored.add(identity(record))
        self.send(record)
        return True
