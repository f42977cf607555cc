"""Files that are either whole or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from .errors import UnwritableFileError


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
            os.fsync(file.fileno())
        os.replace(temporary, place)
    except OSError as error:
        raise UnwritableFileError(
            f"{what} cannot be written to {str(place)!r}: {error.strerror or error}. "
            "Choose another place."
        ) from None
    finally:
        with suppress(OSError):  # in a folder that cannot be written nothing was left behind
            temporary.unlink(missing_ok=True)
