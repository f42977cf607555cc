"""A piece of work in a process of its own, which is stopped if it needs too much.

1. The child sets its limits by the means of the system (``setrlimit``): processor time, which
   ends it by a signal wherever it is, and address space, past which memory is refused to it.
2. What the work sends goes through a pipe to the caller, as it comes.
3. How the child ended tells why: by itself, by the signal for processor time, by a refusal of
   memory, or by something else, which is an error.

Processor time does not depend on what else the machine does, so that the same work is stopped
on a busy and on an idle machine.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

from ..core.memory import available_memory
from ..errors import GraphgrainError, InvalidParameterError

#: Imported once, in the process that children are forked from.
_PRELOADED = ["graphgrain.kernels.registry", "graphgrain.evaluation.self_tuned", "sklearn.svm"]
#: So many seconds after the signal that asks to end, the system ends the child itself.
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
    >>> from graphgrain.evaluation.limits import Limits
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
