"""Output files that are either complete or absent, and never replace anything but a file.

Regular files are replaced atomically, through symbolic links. Pipes, terminals and other character
devices receive the whole content as a stream once it is complete; so does standard output, ``-``.
Read-only files, folders, block devices and sockets are rejected.
"""

from __future__ import annotations

import csv
import errno
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any
from uuid import uuid4

from .errors import InvalidParameterError, UnwritableFileError

#: Windows neither replaces nor deletes a file that is open or mapped into memory elsewhere.
_READERS_BLOCK = sys.platform == "win32"
#: Error numbers of a full disk.
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
#: Seconds to wait for readers before each further attempt.
_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
#: Names of standard output; a file that the shell redirects it to must not be replaced.
_STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
#: Content for a pipe is kept in memory up to this size, and in a temporary file beyond it.
_IN_MEMORY = 16 << 20


@contextmanager
def atomic_write(path: str | os.PathLike[str], what: str = "The file") -> Iterator[IO[bytes]]:
    """Write a file such that no reader ever sees an incomplete file.

    Parameters
    ----------
    path : path
        A regular file is replaced with its permissions preserved, a symbolic link is followed, and
        a file with several hard links is overwritten. ``-`` is standard output. The file is left
        untouched if anything fails before all content is written. Its folder must exist.
    what : str
        Description of the content for error messages: "The report", "The figure".

    Yields
    ------
    file : binary file
        Seekable. Its content replaces ``path``, or is copied to the pipe, when the block ends
        without an error.
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
        raise  # the reader closed the pipe, which is not an error
    except OSError as error:
        if isinstance(error, UnwritableFileError):
            raise
        raise unwritable(what, path, error) from None


def unwritable(what: str, path: str | os.PathLike[str], error: OSError) -> UnwritableFileError:
    """Return the error for content that cannot be written to a path."""
    instead = "Make room there, or choose" if error.errno in _FULL else "Choose"
    return UnwritableFileError(
        f"{what} cannot be written to {str(path)!r}: {error.strerror or error}. "
        f"{instead} another place."
    )


def is_standard_output(path: str | os.PathLike[str]) -> bool:
    """Return whether a path means standard output."""
    return os.fspath(path) in _STANDARD_OUTPUT


def suffix_of(path: str | os.PathLike[str], of_streams: str) -> str:
    """Return the suffix of a path, or ``of_streams`` for standard output, pipes and devices."""
    place = Path(path)
    stream = is_standard_output(path) or (place.exists() and not place.is_file())
    return of_streams if stream and not place.is_dir() else place.suffix


def check_form(path: str | os.PathLike[str], what: str, forms: Sequence[str]) -> str:
    """Return the suffix of an output, one of ``forms``; the first is that of streams.

    Raises an error early, too, if :func:`atomic_write` would reject the path.
    """
    form = suffix_of(path, forms[0])
    if form not in forms:
        *most, last = forms
        words = f"{', '.join(most)} or {last}" if most else last
        raise InvalidParameterError(f"{what} is written as {words}; got {str(path)!r}.")
    check_output(path, what)
    return form


def check_output(path: str | os.PathLike[str], what: str = "The file") -> None:
    """Raise an error early if :func:`atomic_write` would reject a path."""
    if is_standard_output(path):
        return
    try:
        _checked(path)
        folder = Path(os.path.realpath(path)).parent
        if not folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {str(folder)!r}")
    except OSError as error:
        raise unwritable(what, path, error) from None


def _checked(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return the status of a path (None if absent); raise an error if it must not be written."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return None
    mode = there.st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
        raise PermissionError(errno.EPERM, "it is neither a file nor a pipe")
    # Root could write a file without any write permission, but should not.
    if not (mode & 0o222 and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, "it is read-only")
    return there


@contextmanager
def _replaced(place: Path, there: os.stat_result | None) -> Iterator[IO[bytes]]:
    """Write to a temporary file that finally replaces the regular file."""
    # With a unique name, concurrent writers end with the complete file of one of them.
    temporary = place.with_name(f".{place.name}-{uuid4().hex[:12]}.part")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            to_disk(file.fileno())
        take_over(temporary, place, there)
    finally:
        with suppress(OSError):  # nothing was created in a folder without write permission
            temporary.unlink(missing_ok=True)


@contextmanager
def _streamed(open_stream: Any) -> Iterator[IO[bytes]]:
    """Write to a temporary file whose content is finally copied to a stream."""
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


def write_page(path: str | os.PathLike[str], html: str) -> None:
    """Write a page of HTML."""
    with atomic_write(path, "The page") as file:
        file.write(html.encode())


def write_csv(path: str | os.PathLike[str], rows: Iterable[Iterable[object]]) -> int:
    """Write comma-separated values as they are made; return the number of rows after the heads."""
    count = 0
    with atomic_write(path, "The table") as file:
        # With its own line end, "\r\n", the writer also quotes values that contain "\r".
        lines = SimpleNamespace(write=lambda line: file.write(f"{line[:-2]}\n".encode()))
        table = csv.writer(lines)
        for count, row in enumerate(rows):  # noqa: B007
            table.writerow(row)
    return count


def take_over(temporary: Path, place: Path, there: os.stat_result | None) -> None:
    """Replace ``place`` by a finished file, preserving permissions and hard links."""
    if there is not None and there.st_nlink > 1:
        # Replacing the file would break its other hard links.
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
    """Rename a file atomically over ``place``; wait for readers if they block it."""
    for pause in _PAUSES if _READERS_BLOCK else ():
        try:
            os.replace(temporary, place)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    os.replace(temporary, place)


def delete_if_free(path: Path) -> bool:
    """Delete a file; return False if a reader prevents it, so that it can be tried later."""
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        if not _READERS_BLOCK:
            raise
        return False
    return True


def to_disk(descriptor: int) -> None:
    """Flush the content of a file to disk."""
    if sys.platform == "darwin":
        # On macOS, fsync does not flush the drive's own cache.
        import fcntl

        with suppress(OSError):  # not supported by every file system
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)
