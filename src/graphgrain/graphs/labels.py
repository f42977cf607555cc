"""Encode labels as integer codes into a sorted table of distinct values.

Labels are all integers or all strings. Codes follow the order of the values (integers
numerically, strings by code points), so comparing codes compares labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from ..errors import InvalidGraphError

#: What labels and attributes belong to, for error messages.
PLURALS = {"vertex": "vertices", "edge": "edges"}


def label_kind(table: np.ndarray) -> str:
    """Return ``"integer"`` or ``"string"``, the type of the labels in a table."""
    return "string" if table.dtype == object else "integer"


def encode_labels(values: Any, what: str = "vertex") -> tuple[np.ndarray, np.ndarray]:
    """Turn label values into ``(codes, table)`` with ``table[codes] == values``."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        if values.dtype == np.uint64 and values.size and values.max() > np.iinfo(np.int64).max:
            raise InvalidGraphError(
                f"Each {what} label must fit in 64 signed bits; got {values.max()}. Use a string."
            )
        table, codes = np.unique(values, return_inverse=True)
        return codes.reshape(-1).astype(np.int32), table.astype(np.int64)
    if isinstance(values, Mapping | Set):
        raise InvalidGraphError(
            f"The {what} labels must be a sequence, in the order of the {PLURALS[what]}; got a "
            f"{type(values).__name__}."
        )
    values = values.tolist() if isinstance(values, np.ndarray) else list(values)
    # Check types first: True, 1 and 1.0 are equal as dictionary keys but not as labels.
    kinds = {type(value) for value in values}
    if all(issubclass(kind, str) for kind in kinds):
        distinct = sorted({str.__str__(value) for value in values})  # str() of an enum is its name
        table = np.array(distinct, dtype=object if distinct else np.int64)
    elif all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        distinct_integers = sorted({int(value) for value in values})
        for value in distinct_integers[:1] + distinct_integers[-1:]:
            if not -(2**63) <= value < 2**63:
                raise InvalidGraphError(
                    f"Each {what} label must fit in 64 signed bits; got {value}. Use a string."
                )
        table = np.array(distinct_integers, dtype=np.int64)
    else:
        raise InvalidGraphError(_type_error(values, what))
    code_of = {value: code for code, value in enumerate(table.tolist())}
    codes = np.fromiter((code_of[value] for value in values), dtype=np.int32, count=len(values))
    return codes, table


def _type_error(values: list[Any], what: str) -> str:
    for position, value in enumerate(values):
        if value is None or (isinstance(value, float) and np.isnan(value)):
            return (
                f"Every {what} needs a label, or none has one; the label at position {position} "
                f"is missing ({value!r}). Give it a label of its own, such as 'unknown'."
            )
        if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer | str):
            return (
                f"Each {what} label must be an integer or a string; position {position} holds "
                f"{value!r} of type {type(value).__name__}. Convert it with int() or str(); "
                "numbers with a fraction belong in the attributes."
            )
    integer = next(value for value in values if not isinstance(value, str))
    string = next(value for value in values if isinstance(value, str))
    return (
        f"The {what} labels must be all integers or all strings; got both {integer!r} and "
        f"{string!r}. Convert them all with str()."
    )


def merge_tables(tables: list[np.ndarray], what: str) -> tuple[np.ndarray, list[np.ndarray]]:
    """Merge label tables; return the new table and, for each old one, the map of its codes."""
    filled = [table for table in tables if len(table)]
    if len({label_kind(table) for table in filled}) > 1:
        examples = {label_kind(table): table[0] for table in filled}
        raise InvalidGraphError(
            f"The {what} labels must be all integers or all strings; some graphs have "
            f"{examples['integer']!r}, others {examples['string']!r}. Convert them all with str()."
        )
    merged = np.unique(np.concatenate(filled)) if filled else np.empty(0, dtype=np.int64)
    return merged, [np.searchsorted(merged, table).astype(np.int32) for table in tables]
