"""Locks on open files, on every system: they end with the process, however that ends.

POSIX locks a whole file (``flock``). Windows locks bytes, and nobody else can read a locked byte:
it is one far behind everything that is ever written.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from .errors import UnwritableFileError

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

#: The byte that is locked on Windows: the last that its C library can name on every version.
FAR = 2**31 - 2
#: How long to wait before trying again where waiting for a lock ends by itself, in seconds.
_PAUSE = 0.05


@contextmanager
def locked(descriptor: int, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of an open file during a block.

    Parameters
    ----------
    descriptor : int
        Of a file that is open for writing. Its position may change.
    wait : bool
        Wait until nobody else has the lock; otherwise go on without it.

    Yields
    ------
    held : bool
        Whether the lock is held; always True after waiting.
    """
    held = _lock(descriptor, wait) if fcntl is not None else _lock_byte(descriptor, wait)
    try:
        yield held
    finally:
        if held:
            _unlock(descriptor)


def _lock(descriptor: int, wait: bool) -> bool:
    assert fcntl is not None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise _unlockable(error) from None
    return True


def _lock_byte(descriptor: int, wait: bool) -> bool:
    import msvcrt

    while True:
        os.lseek(descriptor, FAR, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EDEADLK):
                raise _unlockable(error) from None
            if not wait:
                return False
            time.sleep(_PAUSE)  # LK_LOCK would wait too, but give up after ten seconds
        else:
            return True


def _unlock(descriptor: int) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        return
    import msvcrt

    os.lseek(descriptor, FAR, os.SEEK_SET)
    msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined]


def _unlockable(error: OSError) -> UnwritableFileError:
    return UnwritableFileError(
        f"A file that is written to must be locked, and cannot be: {error.strerror or error}. "
        "Choose a place whose file system has locks, such as a local disk."
    )
