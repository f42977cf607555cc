"""How the hot loops are compiled: one decorator for all of them.

With the environment variable ``NUMBA_DISABLE_JIT=1`` the same code runs as plain Python.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Any:
    """Compile on the first call, keep the result on disk, run without the interpreter lock."""
    return njit(nogil=True, cache=True, error_model="numpy")(function)


def inlined(function: Callable[..., Any]) -> Any:
    """The same for a few lines that belong into their caller."""
    return njit(nogil=True, cache=True, error_model="numpy", inline="always")(function)


_told: list[bool] = []  # not empty once the user knows


@contextmanager
def compilation_notice(*functions: Any) -> Iterator[None]:
    """Tell the user when a first call has to compile, which takes some seconds."""
    waiting = [function for function in functions if not getattr(function, "signatures", True)]

    def tell() -> None:
        if not _told and not all(function.signatures for function in waiting):
            _told.append(True)
            message = "graphgrain: compiling for this machine (once; later runs start at once)"
            print(message, file=sys.stderr, flush=True)

    timer = threading.Timer(2.0, tell)  # what is only loaded is there before
    timer.daemon = True
    if waiting and not _told:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
