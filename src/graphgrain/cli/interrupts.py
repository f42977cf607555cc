"""Ctrl-C and SIGTERM: both end a command in the same way, with what is finished kept.

Before a command has begun there is nothing to save, so the program just ends.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: The signals that end a command; Windows has SIGTERM by name alone.
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_last = signal.SIGINT


def interrupted() -> int:
    """The exit code of a program that a signal has ended: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + _last


@contextmanager
def leave_at_once() -> Iterator[None]:
    """Until :func:`raise_from_now_on` is called, both signals end the process.

    While modules are imported, a ``KeyboardInterrupt`` can be raised anywhere: inside an import
    hook that swallows it, or in the initialisation of a C extension, which makes an ImportError
    of it.
    """
    if _is_main_thread():
        for number in _SIGNALS:
            if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
                signal.signal(number, _leave)
    try:
        yield
    finally:
        raise_from_now_on()


def raise_from_now_on() -> None:
    """Both signals raise ``KeyboardInterrupt``: work has begun that wants to end well."""
    for number in _SIGNALS:
        if _is_main_thread() and signal.getsignal(number) is _leave:
            signal.signal(number, _raise)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _leave(number: int, frame: Any) -> None:
    os.write(2, b"\nInterrupted.\n")
    os._exit(128 + number)


def _raise(number: int, frame: Any) -> None:
    global _last
    _last = signal.Signals(number)
    raise KeyboardInterrupt
