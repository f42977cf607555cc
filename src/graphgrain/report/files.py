"""Files that are either whole or not there."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ..errors import UnwritableFileError


def write_whole(path: Path, content: bytes, what: str) -> None:
    """Write beside the file, then put it in place: nobody ever sees half of it.

    Parameters
    ----------
    what : str
        What is written, for the message if it cannot be: "The report", "The figure".
    """
    temporary = None
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "it is a folder")
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}-", delete=False
        ) as file:
            temporary = file.name
            file.write(content)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise UnwritableFileError(
            f"{what} cannot be written to {str(path)!r}: {error.strerror or error}. "
            "Choose another place."
        ) from None
