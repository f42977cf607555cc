"""Compilation of the hot loops with Numba.

Processes that start at the same time (workers, tests, cluster jobs) compile a function once: one
process compiles while the others wait and then load the result. With Numba alone all of them would
compile and write to the cache, index and code in two steps, so that code of another signature could
be loaded and crash (numba issues 4807 and 10128).

With the environment variable ``NUMBA_DISABLE_JIT=1`` the same code runs as plain Python. This
requires NumPy 2: in earlier versions an unsigned number and a Python integer give a float.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np
from numba import config, njit
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

from ..locking import locked

#: Seconds after which the user is notified of a compilation.
_PATIENCE = 2.0
#: Whether functions run uncompiled, for example under a debugger.
PLAIN_PYTHON: bool = vars(config)["DISABLE_JIT"]


def compiled(function: Callable[..., Any]) -> Any:
    """Compile on the first call, cache the result on disk, and release the GIL.

    If nothing can be written to disk, every process compiles again. The user is notified if
    compiling takes a while. Unsigned integers overflow silently.
    """
    if PLAIN_PYTHON:
        return _silent_overflow(function)
    return _compile(function)


def subroutine(function: Callable[..., Any]) -> Any:
    """Compile a function that is only called by compiled functions, which is faster to compile."""
    return (
        _silent_overflow(function) if PLAIN_PYTHON else _compile(function, no_cpython_wrapper=True)
    )


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a short function that is inlined into its callers."""
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


#: Locks held by this process; compiling a function also compiles the functions it calls.
_holding: set[str] = set()


@contextmanager
def _held(path: str) -> Iterator[None]:
    """Hold the lock of a module, unless this process already does.

    There are no deadlocks, because locks are acquired in the order of imports. Threads of this
    process are serialised by Numba's own lock.
    """
    if path in _holding:
        yield
        return
    with locked(path):
        _holding.add(path)
        try:
            yield
        finally:
            _holding.remove(path)


def _silent_overflow(function: Callable[..., Any]) -> Callable[..., Any]:
    """Suppress the overflow warnings of NumPy scalars; hashes are computed modulo 2^64."""

    @wraps(function)
    def silent(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*arguments)

    return silent


def _is_ours(event: Any) -> bool:
    """Return whether a function of this package is compiled; generated ones have no module."""
    return (event.data["dispatcher"].py_func.__module__ or "").startswith("graphgrain.")


class _Notice(event.Listener):
    """Notifies the user once if a compilation of this package takes a while.

    Loading from the cache causes no event. Compiling a function also compiles those it calls, so
    events are nested; the time is measured from the outermost.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.announced = False
        self.timer: threading.Timer | None = None

    def on_start(self, event: Any) -> None:
        if not _is_ours(event):
            return
        self.depth += 1
        if self.depth == 1 and not self.announced:
            self.timer = threading.Timer(_PATIENCE, self.announce)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: Any) -> None:
        if not _is_ours(event):
            return
        self.depth -= 1
        if self.depth == 0 and self.timer is not None:
            self.timer.cancel()

    def announce(self) -> None:
        self.announced = True
        message = "graphgrain: compiling for this machine (once; later runs start at once)"
        print(message, file=sys.stderr, flush=True)


event.register("numba:compile", _Notice())
