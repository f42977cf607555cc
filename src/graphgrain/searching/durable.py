"""Files that survive: new ones are on disk when we go on, replaced ones change in one step."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..errors import UnwritableFileError
from ..locking import locked
from ..writing import atomic_write, to_disk


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that did not exist; if that fails, it does not exist afterwards either."""
    try:
        with open(path, "xb") as file:
            yield file
            file.flush()
            to_disk(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise unwritable(path, error) from None
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def replace_file(path: Path, content: bytes) -> None:
    """Put new content in place of a file: readers see the old one or the new one, never less."""
    with atomic_write(path, "The index") as file:
        file.write(content)
    try:
        sync_folder(path.parent)
    except OSError as error:
        raise unwritable(path, error) from None


def sync_folder(folder: Path) -> None:
    """See to it that names of files are on disk too, where the system can do that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def unwritable(path: Path, error: OSError) -> UnwritableFileError:
    """The error for a file of an index that cannot be written."""
    return UnwritableFileError(
        f"The index cannot be written: {path.name} in {str(path.parent)!r}: "
        f"{error.strerror or error}. What was there before is unchanged. Make room, or choose "
        "another place."
    )


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold the lock of an index. It ends with the process, however that ends."""
    path = folder / "lock"
    try:
        file = open(path, "a+b")  # noqa: SIM115 - closed below
    except OSError as error:
        raise unwritable(path, error) from None
    with file, locked(file.fileno(), wait=False) as alone:
        if not alone:
            raise UnwritableFileError(
                f"Another process is writing to the index {str(folder)!r}; one at a time can. "
                "Wait until it has finished."
            )
        yield
