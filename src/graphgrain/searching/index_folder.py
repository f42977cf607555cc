"""The folder of an index: one SQLite file, and the arrays of each segment in a ``.npy`` file.

SQLite holds all that changes: settings, segments with the table of their arrays, their ids and
columns, and tombstones of removed graphs. The arrays of a segment are written once, under a
unique name, and mapped into memory.

1. A writer begins a transaction, which keeps other writers out (:func:`writing`). It writes arrays
   and flushes them to disk; then the transaction makes everything visible at once. A process that
   is killed at any moment leaves the state before or after.
2. A reader loads the state within a short transaction, maps the arrays, and keeps no transaction
   open, as that would block writers (:func:`load`). Files that are deleted later remain mapped.
3. Files without an entry in the table, of writers that were killed or still mapped by a reader on
   Windows, are deleted by the next writer or at the next opening.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..errors import InvalidFileError, InvalidParameterError, UnwritableFileError
from ..graphs.batch import GraphBatch
from ..graphs.convert.rdkit import LabelOptions
from ..kernels.features import Features
from ..writing import delete_if_free, to_disk, unwritable
from .segment import (
    CHUNK,
    KINDS,
    Column,
    Segment,
    Stored,
    as_array,
    damaged,
    id_keys,
    is_id,
    plain_value,
)

DATABASE = "index.sqlite"
#: Version of the tables, ``PRAGMA user_version``.
_VERSION = 2
#: Seconds to wait for the transactions of others.
PATIENCE = 5.0
_TABLES = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE segments (number INTEGER PRIMARY KEY, file TEXT NOT NULL, about TEXT NOT NULL);
CREATE TABLE columns (segment INTEGER, name TEXT, starts BLOB, pages BLOB,
                      PRIMARY KEY (segment, name));
CREATE TABLE tombstones (segment INTEGER, row INTEGER, PRIMARY KEY (segment, row)) WITHOUT ROWID;
"""
#: Errors of SQLite that are those of the disk or of permissions, by their primary codes.
_OF_DISK = (
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
)


@dataclass(frozen=True)
class Settings:
    """How the graphs of an index are read and compared.

    ``kernel`` is ``{"class": name, "parameters": {...}}`` (None without a kernel), ``similarity``
    the default of ``search``, ``label_kind`` the type of the vertex labels, ``molecules`` the
    options of ``from_smiles`` (None if the graphs are not molecules), and ``next_id`` the id of
    the next graph that has none.
    """

    kernel: dict[str, Any] | None
    similarity: str
    label_kind: str = ""
    molecules: dict[str, bool] | None = None
    next_id: int = 0

    def __post_init__(self) -> None:
        right = self.similarity in KINDS and type(self.next_id) is int
        right &= self.label_kind in ("integer", "string", "none", "")
        right &= self.kernel is None or isinstance(self.kernel["parameters"], dict)
        molecules = self.molecules or {}
        right &= set(molecules) <= set(LabelOptions._fields)
        right &= all(type(value) is bool for value in molecules.values())
        if not right:
            raise ValueError("its settings are not those of an index")


# -------------------------------------------------------------------- all segments


class Snapshot:
    """The segments of an index at one moment; not affected by later changes."""

    def __init__(self, settings: Settings, segments: Sequence[Segment]) -> None:
        self.settings, self.segments = settings, list(segments)
        self.bases = np.cumsum([0] + [len(segment) for segment in self.segments])

    def __len__(self) -> int:
        return len(self.live)

    @cached_property
    def live(self) -> np.ndarray:
        """Positions of all graphs that are not removed, in order."""
        parts = [segment.live + base for segment, base in self._based]
        return np.concatenate([np.empty(0, dtype=np.int64), *parts])

    @property
    def _based(self) -> Iterator[tuple[Segment, int]]:
        """Pairs of a segment and the position of its first graph."""
        return zip(self.segments, self.bases[:-1].tolist(), strict=True)

    def _owners(self, positions: np.ndarray) -> Iterator[tuple[Segment, np.ndarray, np.ndarray]]:
        """Yield each segment with some of the positions, which of them, and their rows."""
        owner = np.searchsorted(self.bases, positions, side="right") - 1
        for number in np.unique(owner).tolist():
            inside = np.flatnonzero(owner == number)
            yield self.segments[number], inside, positions[inside] - self.bases[number]

    def _gathered(
        self,
        positions: Sequence[int] | np.ndarray,
        read: Callable[[Segment, list[int]], list[Any]],
    ) -> list[Any]:
        """Read values from the segments and return them in the order of the positions."""
        positions = np.asarray(positions, dtype=np.int64)
        result: list[Any] = [None] * len(positions)
        for segment, inside, rows in self._owners(positions):
            order = np.argsort(rows, kind="stable")  # so that every page is read once
            values = read(segment, rows[order].tolist())
            for position, value in zip(inside[order].tolist(), values, strict=True):
                result[position] = value
        return result

    def graphs(self, positions: np.ndarray) -> GraphBatch:
        """Return the graphs at some positions, in the given order."""
        parts, order = [], []
        for segment, inside, rows in self._owners(positions):
            parts.append(segment.graphs(rows))
            order.append(inside)
        if not parts:
            return GraphBatch.from_edges([], [])
        whole = GraphBatch.concatenate(parts)
        back = np.argsort(np.concatenate(order), kind="stable")
        return whole if np.array_equal(back, np.arange(len(back))) else whole[back]

    def select(self, positions: np.ndarray) -> GraphBatch | Features:
        """Return the graphs at some positions, or their features if these were given."""
        if len(self.segments) == 1 and (features := self.segments[0].features) is not None:
            return features[positions]
        return self.graphs(positions)

    def ids(self, positions: Sequence[int] | np.ndarray) -> list[Any]:
        """Return the ids of the graphs at some positions."""
        return self._gathered(positions, lambda segment, rows: segment.ids(rows))

    @property
    def column_names(self) -> list[str]:
        """Names of all columns other than the id."""
        return list(dict.fromkeys(name for part in self.segments for name in part.column_names))

    def column(self, name: str, positions: Sequence[int] | np.ndarray) -> np.ndarray:
        """Return a column of some graphs, with None for missing values."""
        return as_array(self._gathered(positions, lambda segment, rows: segment.column(name, rows)))

    def columns(self, positions: Sequence[int] | np.ndarray) -> dict[str, np.ndarray]:
        """Return all columns of some graphs."""
        return {name: self.column(name, positions) for name in self.column_names}

    def positions(self, ids: Iterable[Any]) -> np.ndarray:
        """Return the positions of the graphs with some ids; raise an error for unknown ids."""
        ids = checked_ids(ids)
        wanted = id_keys(ids)
        position: dict[Any, int] = {}  # by id, as different ids can have the same key, if rarely
        for segment, base in self._based:
            rows = segment.live[np.isin(segment.keys[segment.live], wanted)]
            position.update(zip(segment.ids(rows.tolist()), (base + rows).tolist(), strict=True))
        for value in ids:
            if value not in position:
                raise InvalidParameterError(f"The index has no graph with the id {value!r}.")
        return np.array([position[value] for value in ids], dtype=np.int64)

    def keys(self) -> np.ndarray:
        """Return the keys of the ids of all graphs that are not removed."""
        parts = [part.keys[part.live] for part in self.segments]
        return np.concatenate([np.empty(0, dtype=np.uint64), *parts])

    def pieces(self, first_segment: int = 0) -> Iterator[tuple[GraphBatch, list[Any]]]:
        """Yield all graphs with their columns and ids, in chunks."""
        for segment in self.segments[first_segment:]:
            for begin in range(0, len(segment.live), CHUNK):
                yield segment.chunk(segment.live[begin : begin + CHUNK])

    def rows(self, positions: np.ndarray) -> Iterator[tuple[str, list[int]]]:
        """Yield the name of each segment with some of the positions, and their rows."""
        for segment, _, rows in self._owners(positions):
            yield segment.name, rows.tolist()


def checked_ids(ids: Iterable[Any]) -> list[Any]:
    """Check that ids can be stored: integers, strings, or tuples of them."""
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise InvalidParameterError(f"ids must be a list of ids; got {ids!r}. Write [{ids!r}].")
    values = [plain_value(value) for value in ids]
    for value in values:
        if not is_id(value):
            raise InvalidParameterError(
                f"An id is an integer, a string, or a tuple of them; got {value!r} "
                f"({type(value).__name__}). Convert it with str()."
            )
    return values


# -------------------------------------------------------------------- reading


@contextmanager
def _connected(
    folder: Path, mode: str, patience: float | None = None
) -> Iterator[sqlite3.Connection]:
    """Open the SQLite file of an index; transactions are begun and ended explicitly."""
    address = f"{(folder / DATABASE).absolute().as_uri()}?mode={mode}"
    timeout = PATIENCE if patience is None else patience
    connection = sqlite3.connect(address, uri=True, timeout=timeout, isolation_level=None)
    with closing(connection):
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA synchronous=EXTRA")
        # A writer must not lock out readers before it has finished.
        connection.execute("PRAGMA cache_spill=OFF")
        yield connection


def load(folder: Path) -> Snapshot:
    """Return the current state of an index; damage of any kind is one error."""
    if not (folder / DATABASE).is_file():
        reason = "Build one with GraphIndex.build or `graphgrain index`."
        if (folder / "manifest.json").is_file():
            reason = (
                "It was written by graphgrain 0.3: scripts/export_index.py takes its ids, SMILES "
                "and columns out, of which this version builds a new one."
            )
        raise InvalidFileError(f"{str(folder)!r} is not a graphgrain index. {reason}")
    try:
        with _connected(folder, "rw") as connection:
            connection.execute("BEGIN")
            _check_version(folder, connection)
            rows = connection.execute("SELECT name, value FROM settings")
            settings = Settings(**{name: json.loads(value) for name, value in rows})
            segments = connection.execute("SELECT * FROM segments ORDER BY number").fetchall()
            return Snapshot(settings, [_segment(folder, connection, *row) for row in segments])
    except sqlite3.Error as error:
        raise _of_sqlite(folder, error) from None
    except (OSError, EOFError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise damaged(str(folder), error) from None


def _check_version(folder: Path, connection: sqlite3.Connection) -> None:
    [version] = connection.execute("PRAGMA user_version").fetchone()
    if version == 0:
        raise InvalidFileError(
            f"{str(folder)!r} is not a graphgrain index: its building was interrupted, or is not "
            "finished. Build it again."
        )
    if version != _VERSION:
        raise InvalidFileError(
            f"The index {str(folder)!r} has version {version} of its tables; this version of "
            f"graphgrain reads version {_VERSION}. Build the index again, or use the graphgrain "
            "that wrote it."
        )
    [pages], [size] = (
        connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size")
    )
    if (folder / DATABASE).stat().st_size < pages * size:  # SQLite would read zeros
        raise ValueError(f"{DATABASE} ends early")


def _segment(
    folder: Path, connection: sqlite3.Connection, number: int, file: str, about: str
) -> Segment:
    if Path(file).name != file:
        raise ValueError(f"{file[:60]!r} is not a file of an index")
    data = np.load(folder / file, mmap_mode="r", allow_pickle=False)
    if data.dtype != np.uint8 or data.ndim != 1:
        raise ValueError(f"{file} holds no bytes")
    query = "SELECT name, starts, pages FROM columns WHERE segment = ?"
    columns = {
        name: Column(np.frombuffer(starts, dtype="<u4"), pages)
        for name, starts, pages in connection.execute(query, (number,))
    }
    query = "SELECT row FROM tombstones WHERE segment = ? ORDER BY row"
    removed = [row for (row,) in connection.execute(query, (number,))]
    stored = Stored(json.loads(about), data, columns)
    return Segment(stored, np.array(removed, dtype=np.int64), str(folder / file))


# -------------------------------------------------------------------- writing


class Transaction:
    """Changes of an index that become visible together."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self._folder, self._connection = folder, connection
        self.is_new = False
        self.written: list[str] = []
        self.replaced: list[str] = []

    def begin(self) -> Self:
        """Keep other writers out, and delete files that do not belong to the index."""
        self._connection.execute("BEGIN IMMEDIATE")
        if self._connection.execute("PRAGMA user_version").fetchone() == (0,):
            self.is_new = True
            for statement in _TABLES.split(";"):
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA user_version={_VERSION}")
        files = {file for (file,) in self._connection.execute("SELECT file FROM segments")}
        for name in stray_files(self._folder, files):
            delete_if_free(self._folder / name)
        return self

    def set(self, settings: Settings) -> None:
        """Replace the settings."""
        rows = [(name, json.dumps(value)) for name, value in asdict(settings).items()]
        self._connection.executemany("REPLACE INTO settings VALUES (?, ?)", rows)

    def add(self, stored: Stored) -> None:
        """Write a segment, and flush its arrays to disk."""
        name = f"{secrets.token_hex(8)}.npy"
        self.written.append(name)
        with open(self._folder / name, "xb") as file:
            np.save(file, stored.data, allow_pickle=False)
            file.flush()
            to_disk(file.fileno())
        _flush_folder(self._folder)
        row = self._connection.execute(
            "INSERT INTO segments (file, about) VALUES (?, ?)", (name, json.dumps(stored.about))
        )
        self._connection.executemany(
            "INSERT INTO columns VALUES (?, ?, ?, ?)",
            [
                (row.lastrowid, column, starts.astype("<u4").tobytes(), pages)
                for column, (starts, pages) in stored.columns.items()
            ],
        )

    def drop(self, segments: Iterable[Segment] | None = None) -> None:
        """Delete segments, by default all that there are."""
        rows = self._connection.execute("SELECT number, file FROM segments").fetchall()
        if segments is not None:
            files = {Path(segment.name).name for segment in segments}
            rows = [row for row in rows if row[1] in files]
        for number, file in rows:
            for table, key in (("segments", "number"), ("columns", "segment"),
                               ("tombstones", "segment")):  # fmt: skip
                self._connection.execute(f"DELETE FROM {table} WHERE {key} = ?", (number,))
            self.replaced.append(file)

    def bury(self, segment: str, rows: Iterable[int]) -> None:
        """Add tombstones for rows of a segment."""
        self._connection.executemany(
            "INSERT INTO tombstones SELECT number, ? FROM segments WHERE file = ?",
            [(row, Path(segment).name) for row in rows],
        )


@contextmanager
def writing(
    folder: Path, create: bool = False, patience: float | None = None
) -> Iterator[Transaction]:
    """Change an index in one transaction, which only one process at a time can have."""
    fresh = create and not (folder / DATABASE).exists()
    try:
        with _connected(folder, "rwc" if create else "rw", patience) as connection:
            transaction = Transaction(folder, connection)
            obsolete = transaction.written
            try:
                yield transaction.begin()
                connection.execute("COMMIT")
                obsolete = transaction.replaced
            finally:
                fresh &= connection.in_transaction
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                for name in obsolete:
                    delete_if_free(folder / name)
    except sqlite3.Error as error:
        raise _of_sqlite(folder, error) from None
    except OSError as error:
        raise unwritable("The index", folder, error) from None
    finally:
        if fresh:
            (folder / DATABASE).unlink(missing_ok=True)
            with suppress(OSError):
                folder.rmdir()


def _of_sqlite(folder: Path, error: sqlite3.Error) -> InvalidFileError | UnwritableFileError:
    """Return the error for one of SQLite: another writer, a full disk, or damage."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return UnwritableFileError(
            f"Another process is writing to the index {str(folder)!r}. Wait until it has finished."
        )
    if code in _OF_DISK:
        return unwritable("The index", folder, OSError(0, str(error)))
    return damaged(str(folder), error)


def stray_files(folder: Path, files: set[str]) -> list[str]:
    """Return the names of arrays that do not belong to the index."""
    return [path.name for path in folder.glob("*.npy") if path.name not in files]


def delete_strays(folder: Path, snapshot: Snapshot) -> None:
    """Delete arrays that belong to no segment, unless a process is writing."""
    if stray_files(folder, {Path(segment.name).name for segment in snapshot.segments}):
        with suppress(UnwritableFileError), writing(folder, patience=0.0):
            pass


def _flush_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
