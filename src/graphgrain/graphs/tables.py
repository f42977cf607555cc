"""Tables of any kind (pandas, polars, Arrow, DuckDB, dictionaries), read through narwhals."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from ..errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError, needed
from .batch import GraphBatch

#: Usual names of the column that identifies molecules, in lower case.
ID_NAMES = ("id", "compound_id", "molecule_id", "mol_id", "chembl_id", "molecule_chembl_id", "name")


def read_table(x: Any) -> dict[str, Any] | None:
    """Return the columns of a table by name, or None if ``x`` is no table.

    Tables are data frames of every library that narwhals knows, lazy ones included, objects with
    Arrow's PyCapsule interface, and dictionaries of sequences.
    """
    if isinstance(x, list | tuple | np.ndarray | str | bytes):
        return None
    if isinstance(x, Mapping):
        columns = {str(name): values for name, values in x.items()}
        if not columns or not all(map(_is_column, columns.values())):
            return None
        lengths = {name: len(values) for name, values in columns.items()}
        if len(columns) < len(x) or len(set(lengths.values())) > 1:
            raise InvalidParameterError(
                "The columns of a table must have different names and be of one length; their "
                f"lengths are {lengths}."
            )
        return columns
    if not any(hasattr(x, name) for name in ("columns", "__arrow_c_stream__", "__dataframe__")):
        return None
    import narwhals as nw
    from narwhals.exceptions import NarwhalsError

    try:
        frame: Any = nw.from_native(x, pass_through=True, allow_series=True)
        if frame is x and hasattr(x, "__arrow_c_stream__"):
            with needed("Tables in Arrow's format are read with pyarrow", "pyarrow"):
                frame = nw.from_arrow(x, backend="pyarrow")
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
    except (NarwhalsError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise InvalidParameterError(
            f"A table has columns of different names and one length; this one is refused: {reason}"
        ) from None
    if not isinstance(frame, nw.DataFrame):
        return None
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidParameterError(
            f"The columns of a table must have different names; {twice!r} comes twice."
        )
    series = (frame.get_column(name) for name in frame.columns)
    return {name: nw.to_native(column) for name, column in zip(names, series, strict=True)}


def _is_column(x: Any) -> bool:
    return not isinstance(x, str | bytes) and hasattr(x, "__len__") and hasattr(x, "__getitem__")


def items_of(column: Any) -> list[Any]:
    """Return the values of a column, a Series or any other iterable."""
    listed = getattr(column, "to_pylist", None) or getattr(column, "to_list", None)
    if listed is None and not (hasattr(column, "__iter__") or hasattr(column, "__getitem__")):
        raise InvalidGraphError(
            f"A list of graphs is expected; got {column!r} ({type(column).__name__}). Put a single "
            "graph in a list."
        )
    # list() would first ask for the number of items, and RDKit's SmilesMolSupplier ends then
    return listed() if listed is not None else [item for item in column]  # noqa: C416


def is_missing(item: Any) -> bool:
    """Return whether an item is None, NaN, or pandas' NA or NaT."""
    return (
        item is None
        or type(item).__name__ in ("NAType", "NaTType")
        or (isinstance(item, float | np.floating | Decimal) and item != item)
    )


def names_beside(ours: Collection[str], names: Iterable[str]) -> dict[str, str]:
    """Return a name for each column of a file beside ours: input_NAME for one called like ours."""
    names = list(names)
    beside = {}
    for name in names:
        shown = name
        while shown in ours or (shown != name and shown in names):
            shown = f"input_{shown}"
        beside[name] = shown
    return beside


def with_table(
    graphs: GraphBatch, table: Mapping[str, Any], column: str, id: str | None
) -> GraphBatch:
    """Return the graphs of a column of a table with the other columns, and their ids.

    Columns that have the name of one of ours (id, smiles) are called input_NAME.
    """
    ids = {} if id is None else {"id": items_of(table[id])}
    rest = [name for name in table if name not in (column, id)]
    shown = names_beside({*graphs.columns, *ids}, rest)
    more = {shown[name]: items_of(table[name]) for name in rest}
    return with_ids(graphs.with_columns(ids | more))


def with_ids(graphs: GraphBatch) -> GraphBatch:
    """Say once if ids are missing or repeated."""
    ids = graphs.columns.get("id", np.empty(0)).tolist()
    missing = sum(is_missing(item) or item == "" for item in ids)
    again = len(ids) - missing - len({str(item) for item in ids if not is_missing(item)} - {""})
    problems = [f"{missing:,} graphs have no id"] * bool(missing)
    problems += [f"{again:,} ids occur more than once"] * bool(again)
    if problems:
        warnings.warn(
            f"{' and '.join(problems)}; such graphs cannot be told apart by their ids.",
            GraphgrainWarning,
            stacklevel=3,
        )
    return graphs


def the_column(table: Mapping[str, Any], name: str | None, what: str) -> str:
    """Return the name of a column of a table; by default the only one."""
    if name is None and len(table) == 1:
        return next(iter(table))
    if name is None:
        raise InvalidGraphError(
            f"A table of graphs has one column; this one has {len(table)} "
            f"({', '.join(list(table)[:8])}{', ...' if len(table) > 8 else ''}). Name the one with "
            "the graphs, as_graphs(table, graphs='smiles'), or choose it: table['smiles']."
        )
    if name not in table:
        raise InvalidParameterError(
            f"The table has no column {name!r} for the {what}; its columns are {', '.join(table)}."
        )
    return name
