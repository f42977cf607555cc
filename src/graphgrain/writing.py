"""Output files: either whole or not there, and never in place of something that is not a file.

Regular files are replaced in one step, through symbolic links. Pipes, terminals and other character
devices get the whole content as a stream once it is complete; so does standard output, which is
``-``. Read-only files, folders, block devices and sockets are refused.
"""

from __future__ import annotations

import csv
import errno
import io
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from .errors import UnwritableFileError

#: Windows neither replaces nor deletes a file that somebody reads or has mapped into memory.
_READERS_BLOCK = sys.platform == "win32"
#: What the system says of a full disk.
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
#: How long to wait for readers to finish before each further attempt, in seconds.
_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
#: Names of standard output; a file behind it that was opened by a shell must not be replaced.
_STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
#: Content for a pipe is in memory up to this size, and in a temporary file beyond it.
_IN_MEMORY = 16 << 20


@contextmanager
def atomic_write(path: str | os.PathLike[str], what: str = "The file") -> Iterator[IO[bytes]]:
    """Write a file so that nobody ever sees half of it.

    Parameters
    ----------
    path : path
        A regular file is replaced (its permissions stay), a symbolic link is followed, a file
        with several hard links is overwritten. ``-`` is standard output. Untouched if anything
        fails before everything is written. Its folder must exist.
    what : str
        What is written, for the message if it cannot be: "The report", "The figure".

    Yields
    ------
    file : binary file
        Seekable. Takes the place of ``path``, or goes into the pipe, when the block ends without
        an error.
    """
    try:
        if is_standard_output(path):
            with _streamed(_open_standard_output) as file:
                yield file
            return
        there = _checked(path)
        if there is not None and not stat.S_ISREG(there.st_mode):
            with _streamed(lambda: open(path, "wb")) as file:
                yield file
        else:
            with _replaced(Path(os.path.realpath(path)), there) as file:
                yield file
    except BrokenPipeError:
        raise  # the reader of a pipe has seen enough: no error of the file
    except OSError as error:
        if isinstance(error, UnwritableFileError):
            raise
        instead = "Make room there, or choose" if error.errno in _FULL else "Choose"
        raise UnwritableFileError(
            f"{what} cannot be written to {str(path)!r}: {error.strerror or error}. "
            f"{instead} another place."
        ) from None


def is_standard_output(path: str | os.PathLike[str]) -> bool:
    """Whether a path means standard output."""
    return os.fspath(path) in _STANDARD_OUTPUT


def suffix_of(path: str | os.PathLike[str], of_streams: str) -> str:
    """The suffix that chooses a format; standard output, pipes and devices have a given one."""
    place = Path(path)
    stream = is_standard_output(path) or (place.exists() and not place.is_file())
    return of_streams if stream and not place.is_dir() else place.suffix


def check_output(path: str | os.PathLike[str], what: str = "The file") -> None:
    """Raise now, before the work, if :func:`atomic_write` would refuse a path."""
    if is_standard_output(path):
        return
    try:
        _checked(path)
        folder = Path(os.path.realpath(path)).parent
        if not folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {str(folder)!r}")
    except OSError as error:
        raise UnwritableFileError(
            f"{what} cannot be written to {str(path)!r}: {error.strerror or error}. Choose "
            "another place."
        ) from None


def _checked(path: str | os.PathLike[str]) -> os.stat_result | None:
    """What is at a path (None if nothing is), unless it is something that must not be written."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return None
    mode = there.st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
        raise PermissionError(errno.EPERM, "it is neither a file nor a pipe")
    # Without any write permission even for root, who would not be stopped by the system.
    if not (mode & 0o222 and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "it is read-only")
    return there


@contextmanager
def _replaced(place: Path, there: os.stat_result | None) -> Iterator[IO[bytes]]:
    """A file beside the regular file, which it replaces in the end."""
    # A name of its own for every writer: two at a time end with the file of one of them, whole.
    temporary = place.with_name(f".{place.name}-{uuid4().hex[:12]}.part")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            to_disk(file.fileno())
        take_over(temporary, place, there)
    finally:
        with suppress(OSError):  # in a folder that cannot be written nothing was left behind
            temporary.unlink(missing_ok=True)


@contextmanager
def _streamed(open_stream: Any) -> Iterator[IO[bytes]]:
    """A file whose content goes into a stream in the end."""
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as file:
        yield file  # type: ignore[misc]  # has all methods of a binary file
        file.seek(0)
        with open_stream() as stream:
            shutil.copyfileobj(file, stream)


@contextmanager
def _open_standard_output() -> Iterator[IO[bytes]]:
    sys.stdout.flush()
    yield sys.stdout.buffer
    sys.stdout.buffer.flush()


def write_csv(path: str | os.PathLike[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a table of comma-separated values; its first row are the names of the columns."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    with atomic_write(path, "The table") as file:
        file.write(text.getvalue().encode())


def take_over(temporary: Path, place: Path, there: os.stat_result | None) -> None:
    """Let a finished file take the place of another, if there is one, under all its names."""
    if there is not None and there.st_nlink > 1:
        # A new file would be known under one of its names alone.
        with open(temporary, "rb") as source, open(place, "r+b") as target:
            shutil.copyfileobj(source, target)
            target.truncate()
            target.flush()
            to_disk(target.fileno())
        return
    if there is not None:
        os.chmod(temporary, stat.S_IMODE(there.st_mode))
    put_in_place(temporary, place)


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
