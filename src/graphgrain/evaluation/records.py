"""Records of an evaluation, one per kernel and per fold, in a JSON Lines file.

Each line begins with ``"graphgrain": 2`` (the format version) and its ``"kind"``, and ends with a
checksum of everything before it, so that a changed byte is detected even if the line is still
valid JSON:

``"kernel"`` (:class:`KernelRecord`)
    Computed kernel matrices: data set, parameters, time and memory.
``"fold"`` (:class:`FoldRecord`)
    A finished test fold of one repetition: the predictions of each level of the kernel with the C
    selected by validation, and the validation accuracies for all values of C.
``"limit"`` (:class:`LimitRecord`)
    A kernel was stopped on a data set because it exceeded a limit on time or memory.

A kernel with a grid of parameters (such as pyramid match) has records for each of its settings.
Settings and levels are selected when records are read (:mod:`graphgrain.evaluation.summary`),
using the validation accuracies stored with each fold. A grid can therefore grow without
recomputing anything, and selection in hindsight is another way to read the same records. Records
hold predictions, not only accuracies, so that any score can be computed from them. The labels of
kernels and data sets in tables and figures are defined here too (:func:`kernel_label`,
:func:`dataset_labels`, :func:`limit_label`).

:class:`ResultsFile` stores records on disk. Appending locks the file, reads the records that other
processes have appended since, writes the line and waits until it is on disk. A crash can leave
only an incomplete last line, which is removed with a warning before anything else is written.
"""

from __future__ import annotations

import json
import os
import re
import threading
import warnings
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from ..errors import GraphgrainWarning, InvalidFileError, UnwritableFileError
from ..kernels.registry import KERNELS
from ..locking import locked
from ..writing import to_disk

#: Format version written at the start of every line. Version 1 had no checksums.
FORMAT = 2
_READ = (1, FORMAT)
#: End of a line: the checksum of all characters before the comma.
_CHECKSUM = re.compile(r', "checksum": "([0-9a-f]{8})"\}$')
#: The kernel that the others are tested against.
REFERENCE = "tree++"
#: Used instead of a kernel's name if the kernels are selected on the training graphs.
AUTO = "auto"
#: Beginning of the variant of estimators that choose all settings on the training graphs.
SELF_TUNED = "self-tuned"
TITLES = {name: grid.title for name, grid in KERNELS.items()} | {AUTO: "All kernels"}


@cache
def versions() -> dict[str, str]:
    """Return the versions of the software that results depend on."""
    import platform
    from importlib.metadata import version

    from .. import __version__

    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}
    return {"graphgrain": __version__, "python": platform.python_version(), **packages}


def now() -> str:
    """Return the current time in UTC as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class ProtocolKey(NamedTuple):
    """Parameters of the protocol; only results with equal keys can be compared."""

    mode: str
    folds: int
    inner_folds: int
    C: tuple[float, ...]
    seed: int
    split: str = "folds"


@dataclass(frozen=True, kw_only=True)
class Level:
    """Results of one level of a kernel in one fold."""

    #: Validation accuracy for each C, in the order of ``FoldRecord.C``; empty for estimators with
    #: internal validation.
    validation: list[float]
    C: float | None  # C with the best validation accuracy (the largest in case of ties)
    predictions: list[Any]  # per test graph: an index into ``FoldRecord.classes``, or a number
    #: Decision values, rounded to six significant digits: one per test graph for two classes
    #: (positive for the second), otherwise one per test graph and class. Empty for regression.
    scores: list[Any]


#: Fields that make up the identity of a record.
_OF_KERNEL = ("dataset", "fingerprint", "deduplicated", "kernel", "variant")
_OF_SETTING = (*_OF_KERNEL, "settings", "level_names")
_RULES = ProtocolKey._fields


@dataclass(frozen=True, kw_only=True)
class _OfKernel:
    """Kernel and data set of a record."""

    dataset: str  # name in tables
    fingerprint: str  # of graphs and classes; prevents mixing results of changed data
    deduplicated: bool  # True if isomorphic duplicates were removed
    kernel: str  # name in the registry
    #: Empty for the usual grid of the kernel; otherwise the difference from it, such as
    #: ``"counts=sqrt"`` or ``"figure-d"``. Records of different variants are never mixed.
    variant: str
    #: Of graphs and classes only, to find them again if the results also depend on columns of the
    #: file. Empty in records of earlier versions.
    graphs_fingerprint: str = ""

    @property
    def place(self) -> tuple[str, str]:
        """Name and fingerprint of the data set."""
        return self.dataset, self.fingerprint


@dataclass(frozen=True, kw_only=True)
class _OfEvaluation(_OfKernel):
    """Kernel, data set and protocol of a record."""

    mode: str  # "paper" or "nested"
    folds: int
    inner_folds: int  # for validation; 1 in mode "paper"
    C: list[float]  # candidate values
    seed: int
    #: ``"folds"``, or the split with a single test set per repetition: ``"random"``,
    #: ``"scaffold"``, ``"random-scaffold"`` or a column of the file.
    split: str = "folds"

    @property
    def protocol(self) -> ProtocolKey:
        """Key of the evaluation protocol."""
        C = tuple(self.C)
        return ProtocolKey(self.mode, self.folds, self.inner_folds, C, self.seed, self.split)


@dataclass(frozen=True, kw_only=True)
class FoldRecord(_OfEvaluation):
    """One test fold of one repetition."""

    kind: ClassVar[str] = "fold"
    #: Fields that identify the work; records that agree in them are duplicates.
    identity: ClassVar[tuple[str, ...]] = (*_OF_SETTING, *_RULES, "repetition", "fold")

    classes: list[str]  # in sorted order; empty for regression
    settings: dict[str, Any]  # parameters of the kernel (without its levels)
    grid_size: int  # number of settings in the grid, to detect unfinished runs
    level_names: list[dict[str, Any]]  # parameters of each level, such as {"tree_depth": 0}
    repetition: int
    fold: int
    test: list[int]  # positions of the test graphs in the (deduplicated) data set
    truth: list[Any]  # their classes or values
    levels: list[Level]
    fits: int  # number of support vector machines trained
    seconds: float
    #: Descriptions of the combined settings, for estimators that tune themselves.
    members: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=versions)
    time: str = field(default_factory=now)

    def problem(self) -> str:
        """Describe an inconsistency; an empty string if there is none."""
        if not _are_levels(self.level_names):
            return "level_names must be a list of parameters"
        if not 0 <= self.fold < self.folds or self.repetition < 0 or self.grid_size < 1:
            return "there is no such fold"
        if not numbers([self.C]):
            return "C must be a list of numbers"
        classes = range(len(self.classes))
        if not self.test or len(self.truth) != len(self.test):
            return "test and truth must name a target for each test graph"
        if not (all(code in classes for code in self.truth) if classes else numbers([self.truth])):
            return "test and truth must name a class or a number for each test graph"
        if not all(isinstance(graph, int) and graph >= 0 for graph in self.test):
            return "test must hold positions of graphs"
        if len(self.levels) != len(self.level_names):
            return f"{len(self.levels)} levels for {len(self.level_names)} names"
        return next(filter(None, map(self._problem_of_level, self.levels)), "")

    def _problem_of_level(self, level: Level) -> str:
        graphs, classes = len(self.test), range(len(self.classes))
        tried = level.validation
        if tried and (len(tried) != len(self.C) or not numbers([tried])):
            return "validation must hold a number for each C"
        if len(level.predictions) != graphs:
            return "predictions must hold a class or a number for each test graph"
        if not classes:
            sound = numbers([level.predictions]) and not level.scores
            return "" if sound else "predictions must hold a number for each test graph"
        if not all(code in classes for code in level.predictions):
            return "predictions must hold a class for each test graph"
        rows = level.scores if len(classes) > 2 else [[score] for score in level.scores]
        if len(rows) != graphs or not numbers(rows) or len({*map(len, rows)}) != 1:
            return "scores must hold numbers for each test graph"
        if len(classes) > 2 and len(rows[0]) != len(classes):
            return "scores must hold a number for each class"
        return ""


@dataclass(frozen=True, kw_only=True)
class KernelRecord(_OfKernel):
    """Kernel matrices of a data set, for all levels of one setting."""

    kind: ClassVar[str] = "kernel"
    identity: ClassVar[tuple[str, ...]] = (*_OF_SETTING, "n_jobs")

    settings: dict[str, Any]
    level_names: list[dict[str, Any]]
    graphs: int
    n_jobs: int  # number of threads
    seconds: float  # from graphs to the normalised matrices of all levels, without compilation
    memory: int | None  # peak growth of the process in bytes; None if it cannot be measured
    #: CPU time of all threads. Unlike ``seconds`` it does not depend on the load of the machine.
    #: None in records of earlier versions.
    processor_seconds: float | None = None
    versions: dict[str, str] = field(default_factory=versions)
    time: str = field(default_factory=now)

    def problem(self) -> str:
        """Describe an inconsistency; an empty string if there is none."""
        return "" if _are_levels(self.level_names) else "level_names must be a list of parameters"


@dataclass(frozen=True, kw_only=True)
class LimitRecord(_OfEvaluation):
    """A kernel was stopped on a data set because it exceeded a limit on time or memory."""

    kind: ClassVar[str] = "limit"
    identity: ClassVar[tuple[str, ...]] = (*_OF_KERNEL, *_RULES, "reason", "limit", "repetitions")

    reason: str  # "time" or "memory"
    limit: float  # CPU seconds per repetition, or bytes
    repetitions: int  # number of unfinished repetitions; earlier ones are complete
    versions: dict[str, str] = field(default_factory=versions)
    time: str = field(default_factory=now)

    def problem(self) -> str:
        """Describe an inconsistency; an empty string if there is none."""
        if self.reason not in ("time", "memory"):
            return f"reason is {self.reason[:40]!r}"
        if not (isfinite(self.limit) and self.limit > 0 and self.repetitions > 0):
            return "limit and repetitions must be numbers above 0"
        return "" if numbers([self.C]) else "C must be a list of numbers"


#: Any record of an evaluation.
Record = FoldRecord | KernelRecord | LimitRecord
#: Record classes that a results file can hold, by kind; extended by :func:`results_kind`.
KINDS: dict[str, type[Any]] = {kind.kind: kind for kind in (FoldRecord, KernelRecord, LimitRecord)}


def results_kind(kind: type[Any]) -> type[Any]:
    """Class decorator that allows records of a class in results files.

    The class must be a dataclass with class attributes ``kind`` and ``identity`` and fields
    ``versions`` and ``time``. An optional method ``problem`` describes an inconsistency, or returns
    an empty string.
    """
    KINDS[kind.kind] = kind
    return kind


def key_of(record: Any) -> str:
    """Return the identity of a record as a string."""
    return identity_key(record.kind, {name: getattr(record, name) for name in record.identity})


def identity_key(kind: str, values: dict[str, Any]) -> str:
    """Return the identity of a record that does not exist yet from its values."""
    return json.dumps([kind, [values[name] for name in KINDS[kind].identity]], sort_keys=True)


#: Python types of JSON values, by the beginning of a field's annotation.
_JSON_TYPES: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "float": (int, float),
    "str": str,
    "list": list,
    "dict": dict,
}


def contradiction(record: Any) -> str:
    """Describe an inconsistency of a record; an empty string if there is none.

    Lists of inconsistent lengths and values of the wrong type would cause errors later.
    """
    for part in (record, *getattr(record, "levels", ())):
        for item in fields(part):
            value, name = getattr(part, item.name), str(item.type).partition("[")[0]
            if value is None and name.endswith(" | None"):
                continue
            expected = _JSON_TYPES[name.removesuffix(" | None")]
            if not isinstance(value, expected) or (name != "bool" and isinstance(value, bool)):
                return f"{item.name} is {str(value)[:40]!r}"
    return record.problem() if hasattr(record, "problem") else ""


def _are_levels(names: list[Any]) -> bool:
    return bool(names) and all(isinstance(name, dict) for name in names)


def numbers(rows: list[Any]) -> bool:
    """Check that all rows are non-empty lists of finite numbers."""
    return all(
        isinstance(row, list)
        and row
        and all(isinstance(value, int | float) and isfinite(value) for value in row)
        for row in rows
    )


def to_line(record: Any) -> str:
    """Return a record as one line of JSON, including the newline.

    Examples
    --------
    >>> from graphgrain.evaluation.records import KernelRecord, from_line, to_line
    >>> record = KernelRecord(dataset="MUTAG", fingerprint="f00d", deduplicated=False,
    ...     kernel="tree++", variant="", settings={"path_depth": 6},
    ...     level_names=[{"tree_depth": 0}], graphs=188, n_jobs=1, seconds=0.25, memory=None)
    >>> to_line(record)[:50]
    '{"graphgrain": 2, "kind": "kernel", "dataset": "MU'
    >>> from_line(to_line(record)) == record
    True
    """
    values = {"graphgrain": FORMAT, "kind": record.kind, **asdict(record)}
    text = json.dumps(values, allow_nan=False)[:-1]
    return f'{text}, "checksum": "{_checksum(text)}"}}\n'


def _checksum(text: str) -> str:
    """Return the CRC-32 as eight hexadecimal digits; it detects any single changed byte."""
    return f"{zlib.crc32(text.encode()):08x}"


def from_line(line: str) -> Any:
    """Parse a line into a record; raise :class:`InvalidFileError` if it is not valid."""
    try:
        values = json.loads(line)
    except ValueError:
        raise InvalidFileError("it is not JSON") from None
    if not isinstance(values, dict) or "graphgrain" not in values:
        raise InvalidFileError("it is not a record of graphgrain")
    if values["graphgrain"] not in _READ:
        raise InvalidFileError(
            f"it has format {values['graphgrain']!r}, this version of graphgrain reads {FORMAT}"
        )
    sealed = _CHECKSUM.search(line.rstrip("\n"))
    if sealed is None and (values["graphgrain"] != 1 or "checksum" in values):
        raise InvalidFileError("it has no checksum")
    if sealed is not None and sealed[1] != _checksum(line[: sealed.start()]):
        raise InvalidFileError("it was changed after it was written: its checksum does not match")
    kind = KINDS.get(str(values.get("kind")))
    if kind is None:
        raise InvalidFileError(f"its kind must be one of {sorted(KINDS)}, not {values.get('kind')}")
    try:
        content = _known(kind, values)
        if kind is FoldRecord:
            content["levels"] = [Level(**_known(Level, level)) for level in content["levels"]]
        record = kind(**content)
    except (TypeError, AttributeError, KeyError) as error:
        raise InvalidFileError(f"it lacks something: {error}") from None
    if problem := contradiction(record):
        raise InvalidFileError(f"it contradicts itself: {problem}")
    return record


def _known(kind: type[Any], values: dict[str, Any]) -> dict[str, Any]:
    """Select the fields known to this version; later versions may add others."""
    return {item.name: values[item.name] for item in fields(kind) if item.name in values}


def under_protocol(records: Iterable[Record], key: ProtocolKey) -> list[Record]:
    """Return the folds and limits of a protocol, and all kernel records."""
    return [r for r in records if isinstance(r, KernelRecord) or r.protocol == key]


def fold_records(records: Iterable[Record]) -> list[FoldRecord]:
    """Return only the fold records."""
    return [record for record in records if isinstance(record, FoldRecord)]


def kernel_records(records: Iterable[Record]) -> list[KernelRecord]:
    """Return only the kernel records."""
    return [record for record in records if isinstance(record, KernelRecord)]


def limit_records(records: Iterable[Record]) -> list[LimitRecord]:
    """Return only the limit records."""
    return [record for record in records if isinstance(record, LimitRecord)]


def kernel_label(kernel: str, variant: str = "") -> str:
    """Return the title of a kernel, with the variant in parentheses.

    >>> kernel_label("wl"), kernel_label("tree++", "counts=sqrt"), kernel_label("of-old")
    ('WL', 'Tree++ (counts=sqrt)', 'of-old')
    """
    title = TITLES.get(kernel, kernel)
    return f"{title} ({variant})" if variant else title


def dataset_labels(records: Iterable[Any]) -> dict[tuple[str, str], str]:
    """Return a label for each data set of records or summaries, by name and fingerprint.

    It is the name, with the fingerprint if several data sets have that name.
    """
    places = list(dict.fromkeys(record.place for record in records))
    names = [dataset for dataset, _ in places]
    return {
        (dataset, mark): f"{dataset} [{mark[:6]}]" if names.count(dataset) > 1 else dataset
        for dataset, mark in places
    }


def limit_label(stopped: LimitRecord) -> str:
    """Return the exceeded limit for a table cell, such as ``> 4 GiB``."""
    if stopped.reason == "time":
        return f"> {stopped.limit:g} s"
    return f"> {stopped.limit / 2**30:.3g} GiB"


#: Beginning of every line in all format versions.
PREFIX = '{"graphgrain": '
#: O_BINARY prevents newline translation on Windows.
_MODE = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


class ResultsFile:
    """A results file, open for reading and appending.

    Parameters
    ----------
    path : path
        File to use. It is created, with its parent folders, if it does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from graphgrain.evaluation.records import KernelRecord
    >>> from graphgrain.evaluation.records import ResultsFile, read_results
    >>> record = KernelRecord(dataset="MUTAG", fingerprint="f00d", deduplicated=False,
    ...     kernel="tree++", variant="", settings={}, level_names=[{}], graphs=188, n_jobs=1,
    ...     seconds=0.25, memory=None)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ResultsFile(f"{folder}/results.jsonl") as results:
    ...         results.append(record), results.append(record)  # the second is a duplicate
    ...     len(read_results(f"{folder}/results.jsonl"))
    (True, False)
    1
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._records: dict[str, Any] = {}
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
                self._take_in()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> ResultsFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Appended records are already on disk."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @property
    def records(self) -> list[Any]:
        """All records in file order."""
        with self._mutex:
            return list(self._records.values())

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def append(self, record: Any) -> bool:
        """Append a record and wait until it is on disk; return False if it was a duplicate."""
        line = to_line(record).encode()
        with self._mutex, locked(self._file):
            self._take_in()
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

    def _take_in(self) -> None:
        """Read new lines and truncate a damaged end."""
        with open(self._file, "rb", closefd=False) as file:
            file.seek(self._read_up_to)
            new = file.read()
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
        if good < len(new):
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
    """Read the evaluation records of a results file without changing it.

    An incomplete last line is skipped silently, because another process may be writing it; other
    damaged lines are skipped with a warning.
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
        if isinstance(record, FoldRecord | KernelRecord | LimitRecord):
            unique.setdefault(key_of(record), record)
    return list(unique.values())


def _is_ours(content: bytes) -> bool:
    """Check that the content starts with the prefix of results files, or is a part of it."""
    start = PREFIX.encode()
    return content[: len(start)] == start[: len(content)]


def _parse(content: bytes, path: Path, lines_before: int) -> tuple[int, list[Any]]:
    """Return the number of bytes before a damaged end, and the records in them."""
    found: list[Any] = []
    problems: list[str] = []
    undecided: list[str] = []  # damaged lines: a damaged end, unless a valid line follows
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
    """Check that a line is complete JSON, even if this version cannot read it."""
    try:
        return isinstance(json.loads(raw), dict)
    except ValueError:
        return False
