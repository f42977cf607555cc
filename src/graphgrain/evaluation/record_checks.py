"""Is a record sound? Single characters of a damaged file can change and still be JSON."""

from __future__ import annotations

from dataclasses import fields
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .records import FoldRecord, LimitRecord

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
    if record.kind == "prediction":
        columns: list[list[Any]] = [record.test, record.truth, record.predictions]
        if not _numbers(columns) or len({len(column) for column in columns}) != 1:
            return "test, truth and predictions must hold a number for each test graph"
        return ""
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
    return "" if _numbers([r.C]) else "C must be a list of numbers"


def _in_fold(r: FoldRecord) -> str:
    if not 0 <= r.fold < r.folds or r.repetition < 0 or r.grid_size < 1:
        return "there is no such fold"
    if not _numbers([r.C]):
        return "C must be a list of numbers"
    classes = range(len(r.classes))
    if not r.test or len(r.truth) != len(r.test) or not all(code in classes for code in r.truth):
        return "test and truth must name a class for each test graph"
    if not all(isinstance(graph, int) and graph >= 0 for graph in r.test):
        return "test must hold positions of graphs"
    if len(r.levels) != len(r.level_names):
        return f"{len(r.levels)} levels for {len(r.level_names)} names"
    for level in r.levels:
        if len(level.validation) != len(r.C) or not _numbers([level.validation]):
            return "validation must hold a number for each C"
        if len(level.predictions) != len(r.test) or not all(
            code in classes for code in level.predictions
        ):
            return "predictions must hold a class for each test graph"
        rows = level.scores if len(classes) > 2 else [[score] for score in level.scores]
        if len(rows) != len(r.test) or not _numbers(rows) or len({*map(len, rows)}) != 1:
            return "scores must hold numbers for each test graph"
        if len(classes) > 2 and len(rows[0]) != len(classes):
            return "scores must hold a number for each class"
    return ""


def _numbers(rows: list[Any]) -> bool:
    """Whether these are lists of finite numbers, none of them empty."""
    return all(
        isinstance(row, list)
        and row
        and all(isinstance(value, int | float) and isfinite(value) for value in row)
        for row in rows
    )
