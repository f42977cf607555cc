"""Safe reading of untrusted folders, zips and text files.

Folders and zips are read into memory and never unpacked to disk. A zip is rejected if the path of
a member points outside it, if a member is a link, or if it expands to more than a limit, which the
caller can raise. Text is read line by line, compressed or not.
"""

from __future__ import annotations

import gzip
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from ...errors import InvalidFileError, InvalidParameterError

MAX_MEMBERS = 10_000
MIB = 2**20
#: Exceptions for damaged, encrypted or unsupported files (the last two are RuntimeErrors).
_UNREADABLE = (OSError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError)


class Folder:
    """The text files of one folder or zip, read on demand."""

    def __init__(self, path: str | os.PathLike[str], max_bytes: int | None = None) -> None:
        self.path = existing(path)
        if max_bytes is not None and (not isinstance(max_bytes, int) or max_bytes <= 0):
            raise InvalidParameterError(
                f"max_bytes must be a positive integer or None; got {max_bytes!r}."
            )
        if self.path.is_dir():
            self.max_bytes = max_bytes or 1024 * MIB
            files = sorted(entry for entry in self.path.iterdir() if entry.is_file())
            self.names = [PurePosixPath(entry.name) for entry in files]
            total = sum(
                entry.stat().st_size for entry in files if entry.suffix in (".txt", ".json")
            )
        else:
            self.max_bytes = max_bytes or default_limit(self.path.stat().st_size)
            self._members = _safe_members(self.path)
            self.names = list(self._members)
            total = sum(member.file_size for member in self._members.values())
        if total > self.max_bytes:
            raise too_large(self.path, self.max_bytes)

    def shown(self, name: PurePosixPath) -> str:
        """Return the name of a file for messages, with its folder or zip."""
        return f"{self.path.name}/{name}"

    @contextmanager
    def _opened(self, name: PurePosixPath) -> Iterator[IO[bytes]]:
        if self.path.is_dir():
            with open(self.path / name, "rb") as stream:
                yield stream
        else:
            with zipfile.ZipFile(self.path) as archive, archive.open(self._members[name]) as member:
                yield member

    def read(self, name: PurePosixPath) -> bytes:
        """Return the bytes of one file; raise an error if they exceed the limit."""
        return read_limited(self._opened(name), self.path, self.max_bytes)


def existing(path: str | os.PathLike[str]) -> Path:
    """Return a path as a Path; raise an error if it does not exist."""
    try:
        location = Path(path)
        exists = location.exists()
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(f"A path is expected; got {path!r} ({error}).") from None
    except OSError as error:
        raise InvalidFileError(f"The path cannot be used: {error}.") from None
    if not exists:
        zipped = Path(f"{location}.zip")
        hint = f"There is {zipped.name} beside it." if zipped.exists() else "Check the path."
        raise InvalidFileError(f"There is no file or folder {str(location)!r}. {hint}")
    return location


#: Advice for files of unsupported formats.
_INSTEAD = {
    ".txt": "A list of SMILES must have a name that ends in .smi, a table one in .csv or .tsv.",
    ".json": "Save it as a table (.csv) with a column of SMILES, or convert it in Python.",
    ".xlsx": "Save the sheet as .csv.",
    ".xls": "Save the sheet as .csv.",
    ".ods": "Save the sheet as .csv.",
    ".parquet": "Save it as .csv, or read it with pandas or polars and pass the column.",
    ".pkl": "Convert what it holds in Python with graphgrain.as_graphs.",
    ".graphml": "Read it with networkx and convert it with graphgrain.from_networkx.",
    ".gml": "Read it with networkx and convert it with graphgrain.from_networkx.",
}


def unknown_format(path: Path) -> InvalidFileError:
    """Return the error for a file of an unsupported format."""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    kind = f"{suffix} files are not read" if suffix else "its name has no known suffix"
    instead = _INSTEAD.get(suffix, "")
    return InvalidFileError(
        f"{path.name}: {kind}. Formats are .smi, .csv, .tsv, .sdf and .mol (molecules), .mat "
        f"(Matlab), and a folder or .zip in TU format. {instead}".rstrip()
    )


def _limit(file: Path) -> int:
    """Return the default maximum number of bytes to read from a file."""
    return default_limit(file.stat().st_size) if file.suffix.lower() == ".gz" else 1024 * MIB


def default_limit(size: int) -> int:
    """Return how far a compressed file may expand: a hundredfold, within 64 MiB to 1 GiB."""
    return min(max(100 * size, 64 * MIB), 1024 * MIB)


def too_large(path: Path, limit: int) -> InvalidFileError:
    """Return the error for a file that exceeds the limit."""
    return InvalidFileError(
        f"{path.name} must not hold more than {limit:,} bytes once unpacked; it holds more. "
        "If you trust it, unpack it, or raise the limit (max_bytes in Python)."
    )


def read_limited(opened: AbstractContextManager[IO[bytes]], path: Path, limit: int) -> bytes:
    """Read a file that may be damaged or declare a wrong size."""
    try:
        with opened as stream:
            content = stream.read(limit + 1)
    except (*_UNREADABLE, ValueError, KeyError, IndexError) as error:
        # Damaged zips can also raise the last three.
        raise InvalidFileError(f"{path.name} cannot be read: {error}.") from None
    if len(content) > limit:
        raise too_large(path, limit)
    return content


def read_file(path: str | os.PathLike[str], max_bytes: int | None) -> tuple[Path, bytes]:
    """Return path and content of a file, decompressed if its name ends in ``.gz``."""
    file = text_file(path)
    return file, read_limited(_opened(file), file, max_bytes or _limit(file))


def _safe_members(path: Path) -> dict[PurePosixPath, zipfile.ZipInfo]:
    """Return the files of a zip by normalised path; raise an error if any is suspicious."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (*_UNREADABLE, ValueError, IndexError) as error:
        if path.suffix.lower() != ".zip":
            raise unknown_format(path) from None
        raise InvalidFileError(
            f"{path.name} is not a readable zip: {error}. Download it again, or unpack it and give "
            "the folder."
        ) from None
    if len(members) > MAX_MEMBERS:
        raise InvalidFileError(
            f"{path.name} must not hold more than {MAX_MEMBERS:,} files; it holds {len(members):,}."
        )
    safe: dict[PurePosixPath, zipfile.ZipInfo] = {}
    for member in members:
        name = member.filename.replace("\\", "/")
        clean = PurePosixPath(name.replace("//", "/"))
        if (
            name.startswith("/")
            or ".." in clean.parts
            or ":" in name
            or "\0" in member.orig_filename
        ):
            raise InvalidFileError(
                f"A member of a zip must stay inside it; {path.name} holds {member.filename!r}. "
                "The file is damaged or hostile."
            )
        if stat.S_ISLNK(member.external_attr >> 16):
            raise InvalidFileError(
                f"A zip must not hold links; {path.name} holds {member.filename!r} as one."
            )
        if member.is_dir():
            continue
        if clean in safe:
            raise InvalidFileError(f"{path.name} holds {str(clean)!r} twice.")
        safe[clean] = member
    return safe


# -------------------------------------------------------------------- text, line by line

#: Maximum length of a line; files with longer lines are not text.
MAX_LINE = 16 * MIB


def text_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of an existing file; raise an error for folders."""
    file = existing(path)
    if file.is_dir():
        raise InvalidFileError(f"A file is expected; {str(file)!r} is a folder.")
    return file


def check_size(file: Path, max_bytes: int | None) -> None:
    """Raise an error if a file that will be read into memory exceeds the limit."""
    left = limit = max_bytes or _limit(file)
    if file.suffix.lower() != ".gz":
        left -= file.stat().st_size
    else:
        try:
            with _opened(file) as stream:
                while left >= 0 and (block := stream.read(MIB)):
                    left -= len(block)
        except (OSError, EOFError, zlib.error):
            return  # damaged; the reader reports the line
    if left < 0:
        raise too_large(file, limit)


def text_lines(file: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file, decompressed if its name ends in ``.gz``.

    Line ends, including those of Windows and old Mac files, are converted to ``"\\n"``. Only the
    current line is kept in memory.
    """
    number = 0
    try:
        with _opened(file) as stream:
            while raw := stream.readline(MAX_LINE):
                if len(raw) == MAX_LINE and not raw.endswith(b"\n"):
                    raise InvalidFileError(
                        f"{file.name}, line {number + 1}: a line must not be longer than "
                        f"{MAX_LINE:,} bytes. Is this a text file?"
                    )
                if number == 0:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                for line in _decoded(file.name, raw, number + 1):
                    number += 1
                    yield line
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidFileError(
            f"{file.name} cannot be read past line {number}: {error}. The file is damaged or cut "
            "short; fetch it again."
        ) from None


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    packed = file.suffix.lower() == ".gz"
    with cast(IO[bytes], gzip.open(file)) if packed else open(file, "rb") as stream:
        yield stream


def _decoded(name: str, raw: bytes, number: int) -> list[str]:
    """Decode a line, and split it at carriage returns."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        number += raw[: error.start].count(b"\r")
        raise InvalidFileError(
            f"{name}, line {number}: UTF-8 text is expected; found the byte "
            f"{raw[error.start : error.start + 1]!r}. Save the file as UTF-8."
        ) from None
    if "\r" not in text:
        return [text if text.endswith("\n") else text + "\n"]
    text = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    return [line + "\n" for line in text.split("\n")]
