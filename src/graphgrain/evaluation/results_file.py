"""ResultsFile: records on disk that survive a kill at any moment and two writers at a time.

A record is appended in one piece: lock the file, take in what other processes have appended
since, write the line, wait until the disk has it. What can go wrong then is an incomplete last
line; it is cut off, with a message, before anything new is written.
"""

from __future__ import annotations

import json
import os
import threading
import warnings
from pathlib import Path
from types import TracebackType

from ..errors import GraphgrainWarning, InvalidFileError, UnwritableFileError
from ..locking import locked
from ..writing import to_disk
from .records import AnyRecord, PredictionRecord, Record, from_line, key_of, to_line

#: How every line begins, whatever the version of its format.
PREFIX = '{"graphgrain": '
#: Windows would otherwise change the ends of lines.
_MODE = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


class ResultsFile:
    """A results file, open for reading and appending.

    Parameters
    ----------
    path : path
        Created if it does not exist, with the folders above it.

    Examples
    --------
    >>> import tempfile
    >>> from graphgrain.evaluation.records import KernelRecord
    >>> from graphgrain.evaluation.results_file import ResultsFile, read_results
    >>> record = KernelRecord(dataset="MUTAG", fingerprint="f00d", deduplicated=False,
    ...     kernel="tree++", variant="", settings={}, level_names=[{}], graphs=188, n_jobs=1,
    ...     seconds=0.25, memory=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ResultsFile(f"{folder}/results.jsonl") as results:
    ...         results.append(record), results.append(record)  # the second is there already
    ...     len(read_results(f"{folder}/results.jsonl"))
    (True, False)
    1
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._records: dict[str, AnyRecord] = {}
        self._read_up_to = 0
        self._lines = 0
        self._mutex = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, _MODE, 0o666)
        except OSError as error:
            raise UnwritableFileError(
                f"Results must go to a file that can be written; {str(self.path)!r} cannot: "
                f"{error.strerror or error}. Choose another one."
            ) from None
        try:
            with self._mutex, locked(self._file):
                self._take_in(repair=True)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; nothing is pending, as every record is on disk once it is appended."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @property
    def records(self) -> list[AnyRecord]:
        """All records, in the order of the file."""
        with self._mutex:
            return list(self._records.values())

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def append(self, record: AnyRecord) -> bool:
        """Append a record unless it is there already; True once it is safely on disk."""
        line = to_line(record).encode()
        with self._mutex, locked(self._file):
            self._take_in(repair=True)
            if key_of(record) in self._records:
                return False
            self._write(line)
            self._records[key_of(record)] = record
            self._read_up_to += len(line)
            self._lines += 1
        return True

    def _write(self, line: bytes) -> None:
        try:
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
            to_disk(self._file)
        except OSError as error:
            os.ftruncate(self._file, self._read_up_to)
            raise UnwritableFileError(
                f"A result could not be written to {str(self.path)!r}: "
                f"{error.strerror or error}. All earlier ones are safe; make room and run the same "
                "command again to go on."
            ) from None

    def _take_in(self, repair: bool) -> None:
        """Read the lines that are new; cut off a damaged end."""
        os.lseek(self._file, self._read_up_to, os.SEEK_SET)
        new = _read_all(self._file)
        if not new:
            return
        if not self._lines and not _is_ours(new):
            raise InvalidFileError(
                f"{str(self.path)!r} exists and is not a results file of graphgrain; it was left "
                "as it is. Choose another file for the results."
            )
        good, found = _parse(new, self.path, self._lines)
        for record in found:
            self._records.setdefault(key_of(record), record)
        self._lines += new[:good].count(b"\n")
        self._read_up_to += good
        if repair and good < len(new):
            os.ftruncate(self._file, self._read_up_to)
            to_disk(self._file)
            warnings.warn(
                f"{str(self.path)!r} ended in the middle of a record, as after a power cut or a "
                f"kill; the {len(new) - good} bytes of it were removed. Nothing else is lost: "
                "that fold is computed again.",
                GraphgrainWarning,
                stacklevel=4,
            )


def read_results(path: str | os.PathLike[str]) -> list[Record]:
    """What cross-validation has left in a results file, without changing it.

    An incomplete last line is left out (somebody may be writing it); other damaged lines are
    left out with a warning.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidFileError(
            f"The results {str(path)!r} cannot be read: {error.strerror or error}. "
            "`graphgrain evaluate` and `graphgrain reproduce` write such a file."
        ) from None
    if not content:
        return []
    if not _is_ours(content):
        raise InvalidFileError(f"{str(path)!r} is not a results file of graphgrain.")
    unique: dict[str, Record] = {}
    for record in _parse(content, path, 0)[1]:
        if not isinstance(record, PredictionRecord):
            unique.setdefault(key_of(record), record)
    return list(unique.values())


def _is_ours(content: bytes) -> bool:
    """Whether a file begins as results do, or is a part of such a beginning."""
    start = PREFIX.encode()
    return content[: len(start)] == start[: len(content)]


def _parse(content: bytes, path: Path, lines_before: int) -> tuple[int, list[AnyRecord]]:
    """How many bytes are sound (all but a damaged end), and the records in them."""
    found: list[AnyRecord] = []
    problems: list[str] = []
    undecided: list[str] = []  # damaged lines; the end of the file unless a sound one follows
    good = end = 0
    for number, raw in enumerate(content.split(b"\n")[:-1], lines_before + 1):
        end += len(raw) + 1
        try:
            found.append(from_line(raw.decode()))
        except (InvalidFileError, UnicodeDecodeError) as error:
            undecided.append(f"line {number}: {error}")
            if not _is_json(raw):
                continue
        problems += undecided
        undecided, good = [], end
    if problems:
        warnings.warn(
            f"Damaged or unknown lines of {str(path)!r} are left out, {len(problems)} in all: "
            f"{'; '.join(problems[:3])}{'; ...' if len(problems) > 3 else ''}.",
            GraphgrainWarning,
            stacklevel=5,
        )
    return good, found


def _is_json(raw: bytes) -> bool:
    """Whether a line is whole, if not one that this version knows."""
    try:
        return isinstance(json.loads(raw), dict)
    except ValueError:
        return False


def _read_all(file: int) -> bytes:
    parts = []
    while part := os.read(file, 1 << 20):
        parts.append(part)
    return b"".join(parts)
