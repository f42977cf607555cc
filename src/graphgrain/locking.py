"""Locks between processes (filelock), released when the process that holds one ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Hold the lock of a file during a ``with`` block; without one if locking is not possible."""
    from filelock import FileLock

    lock = FileLock(path, mode=0o666)
    with suppress(OSError, NotImplementedError):  # no such folder, or a file system without locks
        lock.acquire()
    try:
        yield
    finally:
        lock.release()
