"""Portable locks on open files, released when the process ends for any reason.

On POSIX a whole file is locked (``flock``). On Windows a range of bytes is locked, which other
processes then cannot read, so a single byte far beyond the end of the file is used.
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

#: Offset of the locked byte on Windows: the largest that all versions of its C library support.
FAR = 2**31 - 2
#: Seconds between attempts to acquire a lock on Windows.
_PAUSE = 0.05


@contextmanager
def locked(descriptor: int, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of an open file during a ``with`` block.

    Parameters
    ----------
    descriptor : int
        Descriptor of a file open for writing. Its position may change.
    wait : bool
        Whether to wait until the lock is free; if False, continue without it.

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
            time.sleep(_PAUSE)  # LK_LOCK waits too, but only ten seconds
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
