"""Tables of numbers from text files: parsed by NumPy, errors with file, line and value."""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass

import numpy as np

from ...errors import InvalidFileError

_INTEGER = re.compile(r"[+-]?[0-9]+")
_LIMITS = np.iinfo(np.int64)


@dataclass(frozen=True)
class NumberTable:
    """The numbers of a file or of some of its lines, a row per line that is not blank."""

    name: str
    text: str
    values: np.ndarray
    first_line: int = 1

    def __len__(self) -> int:
        return len(self.values)

    def error(self, row: int, message: str) -> InvalidFileError:
        """An error about a row; the message may use ``{value}`` for what the line holds."""
        seen = -1
        for number, line in enumerate(io.StringIO(self.text), start=self.first_line):
            seen += bool(line.strip())
            if seen == row:
                return _complaint(self.name, number, message.format(value=_cut(line.strip())))
        return InvalidFileError(f"{self.name}: {message.format(value='?')}")


def parse_numbers(
    name: str, content: bytes, dtype: type, columns: int | None = None, first_line: int = 1
) -> NumberTable:
    """Parse a text file of integers or floats, separated by commas or by white space.

    Parameters
    ----------
    name : str
        What messages call the file.
    content : bytes
    dtype : int or float
    columns : int, optional
        How many numbers a line must hold; by default as many as the first line.
    first_line : int
        The number of the first line, where the text is not the beginning of the file.
    """
    text = _decoded(name, content, first_line)
    if not text.strip():
        return NumberTable(name, text, np.empty((0, columns or 1), dtype=dtype), first_line)
    first = next(line for line in io.StringIO(text) if line.strip())
    delimiter = "," if "," in first else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values: np.ndarray = np.loadtxt(
                io.StringIO(text), dtype=dtype, delimiter=delimiter, comments=None, ndmin=2
            )
    except (ValueError, OverflowError, Warning) as error:
        raise _first_wrong_line(name, text, dtype, delimiter, columns, error, first_line) from None
    table = NumberTable(name, text, values, first_line)
    if columns is not None and values.shape[1] != columns:
        raise table.error(0, _columns_rule(columns) + " The line is {value!r}.")
    return table


def finite(table: NumberTable) -> NumberTable:
    """The table itself, if it holds neither NaN nor infinity."""
    wrong = np.flatnonzero(~np.isfinite(table.values).all(axis=1))
    if wrong.size:
        raise table.error(
            int(wrong[0]), "attributes must be finite numbers; the line is {value!r}."
        )
    return table


def _decoded(name: str, content: bytes, first_line: int) -> str:
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + first_line
        value = content[error.start : error.start + 8]
        raise _complaint(
            name, line, f"only plain (ASCII) text is expected; found {value!r}. Save it as UTF-8."
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _first_wrong_line(
    name: str,
    text: str,
    dtype: type,
    delimiter: str | None,
    columns: int | None,
    cause: Exception,
    first_line: int,
) -> InvalidFileError:
    """Find the line that NumPy could not parse: slow, but needed for the error message only."""
    for number, line in enumerate(io.StringIO(text), start=first_line):
        if not line.strip():
            continue
        values = line.split(delimiter)
        for value in values:
            problem = _problem(value.strip(), dtype)
            if problem:
                return _complaint(name, number, problem)
        columns = columns or len(values)
        if len(values) != columns:
            return _complaint(
                name, number, f"{_columns_rule(columns)} The line is {_cut(line.strip())!r}."
            )
    return InvalidFileError(f"{name}: the numbers cannot be read ({cause}).")


def _problem(value: str, dtype: type) -> str | None:
    if not value:
        return "a number is missing."
    if dtype is int:
        if not _INTEGER.fullmatch(value):
            return f"an integer is expected; found {_cut(value)!r}."
        # int() refuses strings of thousands of digits, so look at the length first.
        if len(value) > 21 or not _LIMITS.min <= int(value) <= _LIMITS.max:
            return f"an integer of at most 64 bits is expected; found {_cut(value)!r}."
        return None
    try:
        float(value)
    except ValueError:
        return f"a number is expected; found {_cut(value)!r}."
    return None if "_" not in value else f"a number is expected; found {_cut(value)!r}."


def _columns_rule(columns: int) -> str:
    return f"{columns} {'number is' if columns == 1 else 'numbers are'} expected on each line."


def _complaint(name: str, line: int, message: str) -> InvalidFileError:
    return InvalidFileError(f"{name}, line {line}: {message}")


def _cut(value: str) -> str:
    return value if len(value) <= 60 else value[:57] + "..."
