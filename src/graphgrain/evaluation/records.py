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
from types import TracebackType
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
    """What one level of a kernel achieved in one fold.

    Attributes
    ----------
    validation : list of float
        Accuracy on the validation part for each C, in the order of ``FoldRecord.C``; empty for an
        estimator that validates by itself.
    C : float or None
        The C with the best validation accuracy (of equal ones the largest), used for the rest.
    predictions : list of int or float
        The predicted class of each test graph, as its position in ``FoldRecord.classes``; or the
        predicted number.
    scores : list of float, or list of lists of float
        Decision values, rounded to six significant digits: with two classes a number per test
        graph, positive for the second class; otherwise one number per class. Empty for numbers.
    """

    validation: list[float]
    C: float | None
    predictions: list[Any]
    scores: list[Any]


@dataclass(frozen=True, kw_only=True)
class _OfKernel:
    """Which kernel on which data set."""

    dataset: str
    fingerprint: str
    deduplicated: bool
    kernel: str
    variant: str


@dataclass(frozen=True, kw_only=True)
class _OfEvaluation(_OfKernel):
    """By which rules it was evaluated."""

    mode: str
    folds: int
    inner_folds: int
    C: list[float]
    seed: int
    split: str = "folds"

    @property
    def protocol(self) -> ProtocolKey:
        """The rules of the evaluation."""
        C = tuple(self.C)
        return ProtocolKey(self.mode, self.folds, self.inner_folds, C, self.seed, self.split)


@dataclass(frozen=True, kw_only=True)
class FoldRecord(_OfEvaluation):
    """One test fold of one repetition.

    Attributes
    ----------
    dataset : str
        Name for tables.
    fingerprint : str
        Hash of the graphs and classes, so that changed data never mixes with old results.
    deduplicated : bool
        Whether isomorphic duplicates had been removed.
    classes : list of str
        The classes in sorted order; empty where numbers are predicted.
    kernel : str
        Name in the registry of kernels, such as ``"tree++"``.
    variant : str
        Empty for the kernel with its usual grid of settings; otherwise what is special, such as
        ``"counts=sqrt"`` or ``"figure-d"``. Records of different variants are never mixed.
    settings : dict
        The kernel's parameters (without its levels).
    grid_size : int
        Among how many settings validation is to choose; so an unfinished run shows.
    level_names : list of dict
        The parameter that each level stands for, such as ``{"tree_depth": 0}``.
    mode : {"paper", "nested"}
    folds, inner_folds : int
        Number of test folds; number of inner validation folds (1 in mode ``paper``).
    C : list of float
        The values of C that were tried.
    seed, repetition, fold : int
    split : str
        ``"folds"``, or how the one test part of each repetition was made: ``"random"``,
        ``"scaffold"``, ``"random-scaffold"`` or a column of the file.
    test, truth : list of int
        Positions of the test graphs in the (deduplicated) data set; their true classes or numbers.
    levels : list of Level
    fits : int
        Number of support vector machines trained.
    seconds : float
    members : list of str
        For an estimator that tunes itself, which settings decide together, in words.
    versions : dict
    time : str
    """

    kind: ClassVar[str] = "fold"
    #: What makes two records one and the same piece of work.
    identity: ClassVar[tuple[str, ...]] = (
        *("dataset", "fingerprint", "deduplicated", "kernel", "variant", "settings"),
        *("level_names", "mode", "folds", "inner_folds", "C", "seed", "split"),
        *("repetition", "fold"),
    )

    classes: list[str]
    settings: dict[str, Any]
    grid_size: int
    level_names: list[dict[str, Any]]
    repetition: int
    fold: int
    test: list[int]
    truth: list[Any]
    levels: list[Level]
    fits: int
    seconds: float
    members: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=versions)
    time: str = field(default_factory=now)


@dataclass(frozen=True, kw_only=True)
class KernelRecord(_OfKernel):
    """Kernel matrices of a data set, for all levels of one setting.

    Attributes
    ----------
    graphs : int
        Number of graphs.
    seconds : float
        From graphs to the normalised kernel matrices of all levels, without compiling.
    processor_seconds : float or None
        The same in processor time, that of all threads together: unlike ``seconds`` it does not
        depend on what else the machine does. None in records of earlier versions.
    memory : int or None
        Bytes by which the process grew at most meanwhile; None where the system does not tell.
    n_jobs : int
        Number of threads.

    The other attributes mean the same as in :class:`FoldRecord`.
    """

    kind: ClassVar[str] = "kernel"
    identity: ClassVar[tuple[str, ...]] = (
        *("dataset", "fingerprint", "deduplicated", "kernel", "variant", "settings"),
        *("level_names", "n_jobs"),
    )

    settings: dict[str, Any]
    level_names: list[dict[str, Any]]
    graphs: int
    n_jobs: int
    seconds: float
    memory: int | None
    processor_seconds: float | None = None
    versions: dict[str, str] = field(default_factory=versions)
    time: str = field(default_factory=now)


@dataclass(frozen=True, kw_only=True)
class LimitRecord(_OfEvaluation):
    """A kernel was stopped on a data set: it needs more time or memory than it was given.

    Attributes
    ----------
    reason : {"time", "memory"}
    limit : float
        Processor seconds for each repetition, or bytes.
    repetitions : int
        How many it was stopped in; those before are complete.

    The other attributes mean the same as in :class:`FoldRecord`.
    """

    kind: ClassVar[str] = "limit"
    identity: ClassVar[tuple[str, ...]] = (
        *("dataset", "fingerprint", "deduplicated", "kernel", "variant"),
        *("mode", "folds", "inner_folds", "C", "seed", "split"),
        *("reason", "limit", "repetitions"),
    )

    reason: str
    limit: float
    repetitions: int
    versions: dict[str, str] = field(default_factory=versions)
    time: str = field(default_factory=now)


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

    Parameters
    ----------
    record : any of the records of :mod:`graphgrain.evaluation.records`
    """
    for part in (record, *getattr(record, "levels", ())):
        for item in fields(part):
            value, name = getattr(part, item.name), str(item.type).partition("[")[0]
            optional = name.endswith(" | None")
            expected = _JSON_TYPES[name.removesuffix(" | None")]
            if value is None and optional:
                continue
            if not isinstance(value, expected) or (name != "bool" and isinstance(value, bool)):
                return f"{item.name} is {str(value)[:40]!r}"
    if hasattr(record, "problem"):
        return record.problem()
    if record.kind == "limit":
        return _in_limit(record)
    names = record.level_names
    if not names or not all(isinstance(name, dict) for name in names):
        return "level_names must be a list of parameters"
    return _in_fold(record) if record.kind == "fold" else ""


def _in_limit(r: LimitRecord) -> str:
    if r.reason not in ("time", "memory"):
        return f"reason is {r.reason[:40]!r}"
    if not (isfinite(r.limit) and r.limit > 0 and r.repetitions > 0):
        return "limit and repetitions must be numbers above 0"
    return "" if numbers([r.C]) else "C must be a list of numbers"


def _in_fold(r: FoldRecord) -> str:
    if not 0 <= r.fold < r.folds or r.repetition < 0 or r.grid_size < 1:
        return "there is no such fold"
    if not numbers([r.C]):
        return "C must be a list of numbers"
    classes = range(len(r.classes))
    numeric = not r.classes
    if not r.test or len(r.truth) != len(r.test):
        return "test and truth must name a target for each test graph"
    if not (numbers([r.truth]) if numeric else all(code in classes for code in r.truth)):
        return "test and truth must name a class or a number for each test graph"
    if not all(isinstance(graph, int) and graph >= 0 for graph in r.test):
        return "test must hold positions of graphs"
    if len(r.levels) != len(r.level_names):
        return f"{len(r.levels)} levels for {len(r.level_names)} names"
    for level in r.levels:
        if level.validation and (
            len(level.validation) != len(r.C) or not numbers([level.validation])
        ):
            return "validation must hold a number for each C"
        if len(level.predictions) != len(r.test):
            return "predictions must hold a class or a number for each test graph"
        if numeric:
            if not numbers([level.predictions]) or level.scores:
                return "predictions must hold a number for each test graph"
            continue
        if not all(code in classes for code in level.predictions):
            return "predictions must hold a class for each test graph"
        rows = level.scores if len(classes) > 2 else [[score] for score in level.scores]
        if len(rows) != len(r.test) or not numbers(rows) or len({*map(len, rows)}) != 1:
            return "scores must hold numbers for each test graph"
        if len(classes) > 2 and len(rows[0]) != len(classes):
            return "scores must hold a number for each class"
    return ""


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

    Examples
    --------
    >>> from graphgrain.evaluation.records import kernel_label
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
    """Where a kernel was stopped, for the cell of a table: more than so much.

    Examples
    --------
    >>> from graphgrain.evaluation.records import LimitRecord, limit_label
    >>> stopped = LimitRecord(dataset="NCI1", fingerprint="f00d", deduplicated=False, kernel="wwl",
    ...     variant="", mode="nested", folds=10, inner_folds=5, C=[1, 10], seed=0, reason="memory",
    ...     limit=4 * 2.0**30, repetitions=1)
    >>> limit_label(stopped)
    '> 4 GiB'
    """
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


def _read_all(file: int) -> bytes:
    parts = []
    while part := os.read(file, 1 << 20):
        parts.append(part)
    return b"".join(parts)
