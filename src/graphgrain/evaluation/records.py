"""What an evaluation leaves behind: one record per kernel and per fold, in a file of JSON lines.

Each line begins with ``"graphgrain": 2`` (the version of the format) and its ``"kind"``, and ends
with a checksum of everything before it, so that a changed byte is found even where the line is
still JSON:

``"kernel"`` (:class:`KernelRecord`)
    Kernel matrices were computed: data set, parameters, time and memory.
``"fold"`` (:class:`FoldRecord`)
    One test fold of one repetition is done: what was predicted for its graphs by each level of
    the kernel with the C that validation chose, and the validation accuracies of all values of C.
``"limit"`` (:class:`LimitRecord`)
    A kernel was stopped on a data set, because it ran over a limit on time or memory.

A kernel whose own parameters are to be chosen (pyramid match has a grid of them) gives records
for each of its settings. Choosing between settings and levels happens when records are read
(:mod:`graphgrain.evaluation.summary`), from the validation accuracies that each fold carries: a
grid can grow without anything being computed twice, and "the best k in hindsight" is another way
to read the same records. Records hold predictions, not only accuracies, so that any score can
be computed from them. What tables and figures call their kernels and data sets is here too
(:func:`kernel_label`, :func:`dataset_labels`, :func:`limit_label`).

:class:`ResultsFile` keeps them on disk. A record is appended in one piece: lock the file, take in
what other processes have appended since, write the line, wait until the disk has it. What can go
wrong then is an incomplete last line; it is cut off, with a message, before anything new is
written.
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

#: Version of the format; the first thing in every line. Version 1 had no checksums.
FORMAT = 2
_READ = (1, FORMAT)
#: How a line ends: the checksum of all characters before the comma.
_CHECKSUM = re.compile(r', "checksum": "([0-9a-f]{8})"\}$')
#: The kernel that the others are tested against.
REFERENCE = "tree++"
#: In the place of a kernel's name: several kernels, of which the training graphs choose.
AUTO = "auto"
TITLES = {name: grid.title for name, grid in KERNELS.items()} | {AUTO: "All kernels"}


@cache
def versions() -> dict[str, str]:
    """The versions that a result depends on."""
    import platform
    from importlib.metadata import version

    from .. import __version__

    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}
    return {"graphgrain": __version__, "python": platform.python_version(), **packages}


def now() -> str:
    """The time of writing, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class ProtocolKey(NamedTuple):
    """What must agree for accuracies to be compared: the rules by which they were measured."""

    mode: str
    folds: int
    inner_folds: int
    C: tuple[float, ...]
    seed: int
    split: str = "folds"


@dataclass(frozen=True, kw_only=True)
class Level:
    """What one level of a kernel achieved in one fold."""

    #: Accuracy on the validation part for each C, in the order of ``FoldRecord.C``; empty for an
    #: estimator that validates by itself.
    validation: list[float]
    C: float | None  # with the best validation accuracy (of equal ones the largest)
    predictions: list[Any]  # for each test graph a position in ``FoldRecord.classes``, or a number
    #: Decision values, rounded to six significant digits: with two classes a number per test
    #: graph, positive for the second class; otherwise one number per class. Empty for numbers.
    scores: list[Any]


#: Names of fields, of which the identity of a record is made.
_OF_KERNEL = ("dataset", "fingerprint", "deduplicated", "kernel", "variant")
_OF_SETTING = (*_OF_KERNEL, "settings", "level_names")
_RULES = ProtocolKey._fields


@dataclass(frozen=True, kw_only=True)
class _OfKernel:
    """Which kernel on which data set."""

    dataset: str  # its name for tables
    fingerprint: str  # of graphs and classes, so that changed data never mixes with old results
    deduplicated: bool  # whether isomorphic duplicates had been removed
    kernel: str  # its name in the registry
    #: Empty for the kernel with its usual grid of settings; otherwise what is special, such as
    #: ``"counts=sqrt"`` or ``"figure-d"``. Records of different variants are never mixed.
    variant: str


@dataclass(frozen=True, kw_only=True)
class _OfEvaluation(_OfKernel):
    """By which rules it was evaluated."""

    mode: str  # "paper" or "nested"
    folds: int
    inner_folds: int  # for validation; 1 in mode "paper"
    C: list[float]  # the values that were tried
    seed: int
    #: ``"folds"``, or how the one test part of each repetition was made: ``"random"``,
    #: ``"scaffold"``, ``"random-scaffold"`` or a column of the file.
    split: str = "folds"

    @property
    def protocol(self) -> ProtocolKey:
        """The rules of the evaluation."""
        C = tuple(self.C)
        return ProtocolKey(self.mode, self.folds, self.inner_folds, C, self.seed, self.split)


@dataclass(frozen=True, kw_only=True)
class FoldRecord(_OfEvaluation):
    """One test fold of one repetition."""

    kind: ClassVar[str] = "fold"
    #: What makes two records one and the same piece of work.
    identity: ClassVar[tuple[str, ...]] = (*_OF_SETTING, *_RULES, "repetition", "fold")

    classes: list[str]  # in sorted order; empty where numbers are predicted
    settings: dict[str, Any]  # the kernel's parameters (without its levels)
    grid_size: int  # among how many settings validation is to choose; so an unfinished run shows
    level_names: list[dict[str, Any]]  # what each level stands for, such as {"tree_depth": 0}
    repetition: int
    fold: int
    test: list[int]  # positions of the test graphs in the (deduplicated) data set
    truth: list[Any]  # their classes or numbers
    levels: list[Level]
    fits: int  # support vector machines trained
    seconds: float
    #: For an estimator that tunes itself, which settings decide together, in words.
    members: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=versions)
    time: str = field(default_factory=now)

    def problem(self) -> str:
        """In what it contradicts itself; empty if it is sound."""
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
    n_jobs: int  # threads
    seconds: float  # from graphs to the normalised matrices of all levels, without compiling
    memory: int | None  # bytes by which the process grew at most; None if the system does not tell
    #: The same in processor time, that of all threads together: unlike ``seconds`` it does not
    #: depend on what else the machine does. None in records of earlier versions.
    processor_seconds: float | None = None
    versions: dict[str, str] = field(default_factory=versions)
    time: str = field(default_factory=now)

    def problem(self) -> str:
        """In what it contradicts itself; empty if it is sound."""
        return "" if _are_levels(self.level_names) else "level_names must be a list of parameters"


@dataclass(frozen=True, kw_only=True)
class LimitRecord(_OfEvaluation):
    """A kernel was stopped on a data set: it needs more time or memory than it was given."""

    kind: ClassVar[str] = "limit"
    identity: ClassVar[tuple[str, ...]] = (*_OF_KERNEL, *_RULES, "reason", "limit", "repetitions")

    reason: str  # "time" or "memory"
    limit: float  # processor seconds for each repetition, or bytes
    repetitions: int  # how many it was stopped in; those before are complete
    versions: dict[str, str] = field(default_factory=versions)
    time: str = field(default_factory=now)

    def problem(self) -> str:
        """In what it contradicts itself; empty if it is sound."""
        if self.reason not in ("time", "memory"):
            return f"reason is {self.reason[:40]!r}"
        if not (isfinite(self.limit) and self.limit > 0 and self.repetitions > 0):
            return "limit and repetitions must be numbers above 0"
        return "" if numbers([self.C]) else "C must be a list of numbers"


#: What an evaluation leaves behind.
Record = FoldRecord | KernelRecord | LimitRecord
#: Everything that a results file may hold, by kind; :func:`results_kind` adds to it.
KINDS: dict[str, type[Any]] = {kind.kind: kind for kind in (FoldRecord, KernelRecord, LimitRecord)}


def results_kind(kind: type[Any]) -> type[Any]:
    """A class decorator: records of this class can be kept in a results file too.

    The class is a dataclass with the names ``kind`` and ``identity`` and the fields ``versions``
    and ``time``; a method ``problem``, if it has one, says in what it contradicts itself.
    """
    KINDS[kind.kind] = kind
    return kind


def key_of(record: Any) -> str:
    """The identity of a record as one comparable text."""
    return identity_key(record.kind, {name: getattr(record, name) for name in record.identity})


def identity_key(kind: str, values: dict[str, Any]) -> str:
    """The same for a record that does not exist yet, from the values of its identity."""
    return json.dumps([kind, [values[name] for name in KINDS[kind].identity]], sort_keys=True)


#: The beginning of a field's type, and what a value of it is in JSON.
_JSON_TYPES: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "float": (int, float),
    "str": str,
    "list": list,
    "dict": dict,
}


def contradiction(record: Any) -> str:
    """In what a record contradicts itself; empty if it is sound.

    Lists that do not fit together and values of the wrong kind would break what is computed later.
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
    """Whether these are lists of finite numbers, none of them empty."""
    return all(
        isinstance(row, list)
        and row
        and all(isinstance(value, int | float) and isfinite(value) for value in row)
        for row in rows
    )


def to_line(record: Any) -> str:
    """A record as one line of JSON, line end included.

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
    """Eight hexadecimal digits (CRC-32), which any single changed byte changes."""
    return f"{zlib.crc32(text.encode()):08x}"


def from_line(line: str) -> Any:
    """The record that a line holds; :class:`InvalidFileError` if it holds none."""
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
        raise InvalidFileError("it was changed after it was written: its checksum does not fit")
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
    """The fields that this version knows; later ones may add some."""
    return {item.name: values[item.name] for item in fields(kind) if item.name in values}


def under_protocol(records: Iterable[Record], key: ProtocolKey) -> list[Record]:
    """The folds and limits that follow these rules, and all records of what kernels cost."""
    return [r for r in records if isinstance(r, KernelRecord) or r.protocol == key]


def fold_records(records: Iterable[Record]) -> list[FoldRecord]:
    """The fold records among records."""
    return [record for record in records if isinstance(record, FoldRecord)]


def kernel_records(records: Iterable[Record]) -> list[KernelRecord]:
    """The kernel records among records."""
    return [record for record in records if isinstance(record, KernelRecord)]


def limit_records(records: Iterable[Record]) -> list[LimitRecord]:
    """The limit records among records."""
    return [record for record in records if isinstance(record, LimitRecord)]


def kernel_label(kernel: str, variant: str = "") -> str:
    """A kernel by its title, with what tells its variant apart.

    >>> kernel_label("wl"), kernel_label("tree++", "counts=sqrt"), kernel_label("of-old")
    ('WL', 'Tree++ (counts=sqrt)', 'of-old')
    """
    title = TITLES.get(kernel, kernel)
    return f"{title} ({variant})" if variant else title


def dataset_labels(records: Iterable[Record]) -> dict[tuple[str, str], str]:
    """A name for each data set and fingerprint; with the fingerprint if one name has several."""
    places = list(dict.fromkeys((r.dataset, r.fingerprint) for r in records))
    names = [dataset for dataset, _ in places]
    return {
        (dataset, mark): f"{dataset} [{mark[:6]}]" if names.count(dataset) > 1 else dataset
        for dataset, mark in places
    }


def limit_label(stopped: LimitRecord) -> str:
    """Where a kernel was stopped, for the cell of a table, such as ``> 4 GiB``."""
    if stopped.reason == "time":
        return f"> {stopped.limit:g} s"
    return f"> {stopped.limit / 2**30:.3g} GiB"


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
    >>> from graphgrain.evaluation.records import ResultsFile, read_results
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
        """Close the file; nothing is pending, as every record is on disk once it is appended."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    @property
    def records(self) -> list[Any]:
        """All records, in the order of the file."""
        with self._mutex:
            return list(self._records.values())

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def append(self, record: Any) -> bool:
        """Append a record unless it is there already; True once it is safely on disk."""
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
        """Read the lines that are new; cut off a damaged end."""
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
        if isinstance(record, FoldRecord | KernelRecord | LimitRecord):
            unique.setdefault(key_of(record), record)
    return list(unique.values())


def _is_ours(content: bytes) -> bool:
    """Whether a file begins as results do, or is a part of such a beginning."""
    start = PREFIX.encode()
    return content[: len(start)] == start[: len(content)]


def _parse(content: bytes, path: Path, lines_before: int) -> tuple[int, list[Any]]:
    """How many bytes are sound (all but a damaged end), and the records in them."""
    found: list[Any] = []
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
