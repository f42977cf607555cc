"""Handle Ctrl-C and SIGTERM: both stop a command in the same way and keep finished work.

Before a command has started there is nothing to save, so the program exits immediately. A command
that has not ended within seconds is ended without cleaning up: an import or a destructor may have
swallowed the interrupt, and what is finished is safe on disk.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Signals that stop a command; Windows defines SIGTERM but never sends it.
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_last = signal.SIGINT
#: Seconds after which a command that was interrupted is ended.
_PATIENCE = 20.0


def interrupted() -> int:
    """Return the exit code after a signal: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + _last


@contextmanager
def leave_at_once() -> Iterator[None]:
    """Exit immediately on both signals until :func:`raise_from_now_on` is called.

    During imports a ``KeyboardInterrupt`` can be raised anywhere: in an import hook that swallows
    it, or in the initialisation of a C extension, which turns it into an ImportError.
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
    """Raise ``KeyboardInterrupt`` on both signals, so that commands can clean up."""
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
    end = threading.Timer(_PATIENCE, _leave, (number, frame))
    end.daemon = True
    end.start()
    raise KeyboardInterrupt
