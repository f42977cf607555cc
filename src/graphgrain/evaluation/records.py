"""What an evaluation leaves behind: one record per kernel and per fold, in JSON lines.

A results file holds one JSON object per line, each with ``"graphgrain": 1`` (the version of the
format) first and its ``"kind"`` second:

``"kernel"`` (:class:`KernelRecord`)
    Kernel matrices were computed: data set, parameters, time and memory.
``"prediction"`` (:class:`PredictionRecord`)
    A method predicted the test part of a given split, as benchmarks of molecules have it.
``"limit"`` (:class:`LimitRecord`)
    A kernel was stopped on a data set, because it ran over a limit on time or memory.
``"fold"`` (:class:`FoldRecord`)
    One test fold of one repetition is done: what was predicted for its graphs by each level of
    the kernel with the C that validation chose, and the validation accuracies of all values of C.

A kernel whose own parameters are to be chosen (pyramid match has a grid of them) gives records
for each of its settings. Choosing between settings and levels happens when records are read
(:mod:`graphgrain.evaluation.summary`), from the validation accuracies that each fold carries: a
grid can grow without anything being computed twice, and "the best k in hindsight" is another way
to read the same records. Records hold predictions, not only accuracies, so that any score can
be computed from them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from functools import cache
from typing import Any, ClassVar, NamedTuple

from ..errors import InvalidFileError
from .record_checks import contradiction

#: Version of the format; the first thing in every line.
FORMAT = 1


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


@dataclass(frozen=True, kw_only=True)
class Level:
    """What one level of a kernel achieved in one fold.

    Attributes
    ----------
    validation : list of float
        Accuracy on the validation part for each C, in the order of ``FoldRecord.C``.
    C : float
        The C with the best validation accuracy (of equal ones the largest), used for the rest.
    predictions : list of int
        The predicted class of each test graph, as its position in ``FoldRecord.classes``.
    scores : list of float, or list of lists of float
        Decision values, rounded to six significant digits: with two classes a number per test
        graph, positive for the second class; otherwise one number per class.
    """

    validation: list[float]
    C: float
    predictions: list[int]
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

    @property
    def protocol(self) -> ProtocolKey:
        """The rules of the evaluation."""
        return ProtocolKey(self.mode, self.folds, self.inner_folds, tuple(self.C), self.seed)


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
        The classes in sorted order.
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
    test, truth : list of int
        Positions of the test graphs in the (deduplicated) data set; their true classes.
    levels : list of Level
    fits : int
        Number of support vector machines trained.
    seconds : float
    members : list of str
        For the self-tuned Tree++, which settings decide together, in words.
    versions : dict
    time : str
    """

    kind: ClassVar[str] = "fold"
    #: What makes two records one and the same piece of work.
    identity: ClassVar[tuple[str, ...]] = (
        *("dataset", "fingerprint", "deduplicated", "kernel", "variant", "settings"),
        *("level_names", "mode", "folds", "inner_folds", "C", "seed", "repetition", "fold"),
    )

    classes: list[str]
    settings: dict[str, Any]
    grid_size: int
    level_names: list[dict[str, Any]]
    repetition: int
    fold: int
    test: list[int]
    truth: list[int]
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
        *("mode", "folds", "inner_folds", "C", "seed", "reason", "limit", "repetitions"),
    )

    reason: str
    limit: float
    repetitions: int
    versions: dict[str, str] = field(default_factory=versions)
    time: str = field(default_factory=now)


@dataclass(frozen=True, kw_only=True)
class PredictionRecord:
    """What a method predicted for the test part of a given split.

    Attributes
    ----------
    dataset, fingerprint : str
        As in :class:`FoldRecord`.
    split : str
        How the test part was made: ``"given"``, ``"scaffold"``, ``"random"`` or a column.
    kernel : str
        The method, such as ``"tree++"`` or ``"ecfp4 + svm"``.
    variant : str
        Its parameters in words, as far as they are not the usual ones.
    seed : int
        Of everything that is random.
    test : list of int
        Positions of the test graphs.
    truth, predictions : list of float
        For classes: 0 or 1, and decision values of class 1.
    chosen : list of str
        What the method chose on the training graphs, in words.
    seconds : float
        For training and predicting.
    versions : dict
    time : str
    """

    kind: ClassVar[str] = "prediction"
    identity: ClassVar[tuple[str, ...]] = (
        *("dataset", "fingerprint", "split", "kernel", "variant", "seed"),
    )

    dataset: str
    fingerprint: str
    split: str
    kernel: str
    variant: str
    seed: int
    test: list[int]
    truth: list[float]
    predictions: list[float]
    chosen: list[str]
    seconds: float
    versions: dict[str, str] = field(default_factory=versions)
    time: str = field(default_factory=now)


#: What cross-validation leaves behind, and everything that a results file may hold.
Record = FoldRecord | KernelRecord | LimitRecord
AnyRecord = Record | PredictionRecord
KINDS: dict[str, type[Any]] = {
    kind.kind: kind for kind in (FoldRecord, KernelRecord, LimitRecord, PredictionRecord)
}


def key_of(record: AnyRecord) -> str:
    """The identity of a record as one comparable text."""
    return identity_key(record.kind, {name: getattr(record, name) for name in record.identity})


def identity_key(kind: str, values: dict[str, Any]) -> str:
    """The same for a record that does not exist yet, from the values of its identity."""
    return json.dumps([kind, [values[name] for name in KINDS[kind].identity]], sort_keys=True)


def to_line(record: AnyRecord) -> str:
    """A record as one line of JSON, line end included.

    Examples
    --------
    >>> from graphgrain.evaluation.records import KernelRecord, from_line, to_line
    >>> record = KernelRecord(dataset="MUTAG", fingerprint="f00d", deduplicated=False,
    ...     kernel="tree++", variant="", settings={"path_depth": 6},
    ...     level_names=[{"tree_depth": 0}], graphs=188, n_jobs=1, seconds=0.25, memory=None)
    >>> to_line(record)[:50]
    '{"graphgrain": 1, "kind": "kernel", "dataset": "MU'
    >>> from_line(to_line(record)) == record
    True
    """
    values = {"graphgrain": FORMAT, "kind": record.kind, **asdict(record)}
    return json.dumps(values, allow_nan=False) + "\n"


def from_line(line: str) -> AnyRecord:
    """The record that a line holds; :class:`InvalidFileError` if it holds none."""
    try:
        values = json.loads(line)
    except ValueError:
        raise InvalidFileError("it is not JSON") from None
    if not isinstance(values, dict) or "graphgrain" not in values:
        raise InvalidFileError("it is not a record of graphgrain")
    if values["graphgrain"] != FORMAT:
        raise InvalidFileError(
            f"it has format {values['graphgrain']!r}, this version of graphgrain reads {FORMAT}"
        )
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
