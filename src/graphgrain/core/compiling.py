"""How the hot loops are compiled: one decorator for all of them.

Several processes that start together (workers, tests, jobs of a cluster) compile a function once:
one does, the others wait and load it. Numba itself would let all of them compile and write, its
index and the code behind it in two steps, so that code of another signature could be loaded and
crash (numba issues 4807 and 10128).

With the environment variable ``NUMBA_DISABLE_JIT=1`` the same code runs as plain Python. It needs
NumPy 2 then: before, an unsigned number and one of Python's made a float.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any

import numpy as np
from numba import config, njit
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from ..locking import locked

#: A compilation that takes longer than this is worth a word, in seconds.
_PATIENCE = 2.0
#: Whether functions run uncompiled, under a debugger say.
PLAIN_PYTHON: bool = vars(config)["DISABLE_JIT"]


def compiled(function: Callable[..., Any]) -> Any:
    """Compile on the first call, keep the result on disk, run without the interpreter lock.

    Where nothing can be kept on disk, every process compiles anew.

    The user is told when compiling takes a while. Numbers without a sign overflow silently.
    """
    if PLAIN_PYTHON:
        return _silent_overflow(function)
    return _compile(function)


def subroutine(function: Callable[..., Any]) -> Any:
    """The same for a function that only compiled functions call: less to compile."""
    return (
        _silent_overflow(function) if PLAIN_PYTHON else _compile(function, no_cpython_wrapper=True)
    )


def inlined(function: Callable[..., Any]) -> Any:
    """The same for a few lines that belong into their caller."""
    return function if PLAIN_PYTHON else _compile(function, inline="always")


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    options |= {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    try:
        dispatcher = njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package nor the home folder can be written
        return njit(**options)(function)
    compile_one, module = dispatcher.compile, function.__module__.rpartition(".")[2]
    lock = os.path.join(dispatcher.stats.cache_path, f"{module}.lock")

    def compile_alone(signature: Any) -> Any:
        with global_compiler_lock, _held(lock):
            return compile_one(signature)

    dispatcher.compile = compile_alone
    return dispatcher


#: The locks that this process holds: functions compile those that they call.
_holding: set[str] = set()


@contextmanager
def _held(path: str) -> Iterator[None]:
    """Hold the lock of a module, unless this process does already or there can be none.

    Nobody waits for ever: modules import each other in one direction, and so do their locks.
    Threads of this process are held back by Numba's own lock.
    """
    with ExitStack() as stack:
        if path not in _holding:
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
                stack.callback(os.close, descriptor)
                stack.enter_context(locked(descriptor))
            except OSError:  # as Numba does without
                pass
            else:
                _holding.add(path)
                stack.callback(_holding.remove, path)
        yield


def _silent_overflow(function: Callable[..., Any]) -> Callable[..., Any]:
    """Hashes are computed modulo 2^64: NumPy's scalars warn of it, compiled code does not."""

    @wraps(function)
    def silent(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*arguments)

    return silent


def _is_ours(event: Any) -> bool:
    """Whether it is a function of this package that is compiled; generated ones have no module."""
    return (event.data["dispatcher"].py_func.__module__ or "").startswith("graphgrain.")


class _Notice(event.Listener):
    """Tells the user once when a compilation of ours takes a while.

    What is loaded from the cache makes no event. Functions compile what they call, so events are
    nested: the clock starts with the outermost.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.told = False
        self.timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        if not _is_ours(event):
            return
        self.depth += 1
        if self.depth == 1 and not self.told:
            self.timer = threading.Timer(_PATIENCE, self.tell)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: Any) -> None:
        if not _is_ours(event):
            return
        self.depth -= 1
        if self.depth == 0 and self.timer is not None:
            self.timer.cancel()

    def tell(self) -> None:
        self.told = True
        message = "graphgrain: compiling for this machine (once; later runs start at once)"
        print(message, file=sys.stderr, flush=True)


event.register("numba:compile", _Notice())
