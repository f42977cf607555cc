"""The lines of a text file, one at a time: packed or not, damaged or not."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from ...errors import InvalidFileError
from .archive import MIB, default_limit, existing, too_large

#: No line of a file is longer than this; a longer one is no text.
MAX_LINE = 16 * MIB


def text_file(path: str | os.PathLike[str]) -> Path:
    """The path of a file that is there."""
    place = existing(path)
    if place.is_dir():
        raise InvalidFileError(f"A file is expected; {str(place)!r} is a folder.")
    return place


def check_size(place: Path, max_bytes: int | None) -> None:
    """Refuse a file that holds more than a limit: for those who read all of it into memory."""
    if place.suffix.lower() != ".gz":
        limit = max_bytes or 1024 * MIB
        if place.stat().st_size > limit:
            raise too_large(place, limit)
        return
    left = limit = max_bytes or default_limit(place.stat().st_size)
    try:
        with _opened(place) as stream:
            while left >= 0 and (block := stream.read(MIB)):
                left -= len(block)
    except (OSError, EOFError, zlib.error):
        return  # damaged: the reader tells where
    if left < 0:
        raise too_large(place, limit)


def text_lines(place: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, unpacked if its name ends in ``.gz``.

    Every line ends in ``"\\n"``, whatever the file has (Windows and old Mac included), and the
    n-th is line n of the file. Nothing but the line at hand is kept in memory.
    """
    number = 0
    try:
        with _opened(place) as stream:
            while raw := stream.readline(MAX_LINE):
                if len(raw) == MAX_LINE and not raw.endswith(b"\n"):
                    raise InvalidFileError(
                        f"{place.name}, line {number + 1}: a line must not be longer than "
                        f"{MAX_LINE:,} bytes. Is this a text file?"
                    )
                if number == 0:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                for line in _decoded(place.name, raw, number + 1):
                    number += 1
                    yield line
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidFileError(
            f"{place.name} cannot be read past line {number}: {error}. The file is damaged or cut "
            "short; fetch it again."
        ) from None


def _opened(place: Path) -> IO[bytes]:
    if place.suffix.lower() == ".gz":
        return cast(IO[bytes], gzip.open(place))
    return open(place, "rb")


def _decoded(name: str, raw: bytes, number: int) -> list[str]:
    """One line as text; several where carriage returns end lines."""
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
