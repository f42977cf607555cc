"""Files that are either whole or not there."""

from __future__ import annotations

import csv
import errno
import io
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from .errors import UnwritableFileError

#: Windows neither replaces nor deletes a file that somebody reads or has mapped into memory.
_READERS_BLOCK = sys.platform == "win32"
#: What the system says of a full disk.
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
#: How long to wait for readers to finish before each further attempt, in seconds.
_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@contextmanager
def atomic_write(path: str | os.PathLike[str], what: str = "The file") -> Iterator[IO[bytes]]:
    """Write beside the file, then put it in place: nobody ever sees half of it.

    Parameters
    ----------
    path : path
        Replaced if it exists; untouched if anything fails. Its folder must exist.
    what : str
        What is written, for the message if it cannot be: "The report", "The figure".

    Yields
    ------
    file : binary file
        Takes the place of ``path`` when the block ends without an error.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from graphgrain.writing import atomic_write
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(f"{folder}/a.txt") as file:
    ...         _ = file.write(b"whole")
    ...     pathlib.Path(folder, "a.txt").read_text()
    'whole'
    """
    place = Path(path)
    # A name of its own for every writer: two at a time end with the file of one of them, whole.
    temporary = place.with_name(f".{place.name}-{uuid4().hex[:12]}.part")
    try:
        if place.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            to_disk(file.fileno())
        put_in_place(temporary, place)
    except OSError as error:
        instead = "Make room there, or choose" if error.errno in _FULL else "Choose"
        raise UnwritableFileError(
            f"{what} cannot be written to {str(place)!r}: {error.strerror or error}. "
            f"{instead} another place."
        ) from None
    finally:
        with suppress(OSError):  # in a folder that cannot be written nothing was left behind
            temporary.unlink(missing_ok=True)


def write_csv(path: str | os.PathLike[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table of comma-separated values; its first row are the names of the columns."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    with atomic_write(path, "The table") as file:
        file.write(text.getvalue().encode())


def put_in_place(temporary: str | os.PathLike[str], place: str | os.PathLike[str]) -> None:
    """Rename a file to one that may exist, in one step; where readers block that, wait for them."""
    for pause in _PAUSES if _READERS_BLOCK else ():
        try:
            os.replace(temporary, place)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    os.replace(temporary, place)


def delete_if_free(path: Path) -> bool:
    """Delete a file that nobody needs any more, unless a reader blocks that: later, then."""
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        if not _READERS_BLOCK:
            raise
        return False
    return True


def to_disk(descriptor: int) -> None:
    """Wait until the disk has what was written to a file."""
    if sys.platform == "darwin":
        # There fsync hands over to the drive, which may keep it in its own memory for a while.
        import fcntl

        with suppress(OSError):  # not every file system can do it
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)
