"""Ctrl-C before a command has begun: there is nothing to save, so the program just ends."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: What a shell reports for a program that Ctrl-C has ended.
INTERRUPTED = 130


@contextmanager
def leave_at_once() -> Iterator[None]:
    """Until :func:`raise_from_now_on` is called, Ctrl-C ends the process with exit code 130.

    While modules are imported, a ``KeyboardInterrupt`` can be raised anywhere: inside an import
    hook that swallows it, or in the initialisation of a C extension, which makes an ImportError
    of it.
    """
    if _is_main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        raise_from_now_on()


def raise_from_now_on() -> None:
    """Ctrl-C raises ``KeyboardInterrupt`` again: work has begun that wants to end well."""
    if _is_main_thread() and signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _leave(number: int, frame: Any) -> None:
    os.write(2, b"\nInterrupted.\n")
    os._exit(INTERRUPTED)
