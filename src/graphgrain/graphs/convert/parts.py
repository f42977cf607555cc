"""Small graphs on their way into a batch, checked one by one so that errors can name them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import InvalidGraphError
from ..batch import GraphBatch


class Part(NamedTuple):
    """One graph: vertices 0 to ``size - 1``, and one item per vertex or per edge."""

    size: int
    edges: Any
    labels: Any = None
    edge_labels: Any = None
    vertex_attributes: Any = None
    edge_attributes: Any = None


def joined(parts: Sequence[Part]) -> GraphBatch:
    """One batch from many small graphs."""
    edges = []
    base = 0
    for number, part in enumerate(parts):
        edges.append(_pairs(part, number) + base)
        base += part.size
    vertices = [part.size > 0 for part in parts]
    edgeful = [len(pairs) > 0 for pairs in edges]
    return GraphBatch.from_edges(
        np.array([part.size for part in parts], dtype=np.int64),
        np.concatenate(edges) if edges else [],
        _flat([part.labels for part in parts], vertices, "vertex labels"),
        edge_labels=_flat([part.edge_labels for part in parts], edgeful, "edge labels"),
        vertex_attributes=_stacked(
            [part.vertex_attributes for part in parts], vertices, "vertex attributes"
        ),
        edge_attributes=_stacked(
            [part.edge_attributes for part in parts], edgeful, "edge attributes"
        ),
    )


def numbered(
    vertices: Sequence[Any], edges: Sequence[tuple[Any, Any]], where: str
) -> list[tuple[int, int]]:
    """Edges between named vertices as pairs of their positions."""
    place = {vertex: position for position, vertex in enumerate(vertices)}
    if len(place) != len(vertices):
        raise InvalidGraphError(f"The vertices of {where} must be distinct; one occurs twice.")
    try:
        return [(place[u], place[v]) for u, v in edges]
    except KeyError as error:
        raise InvalidGraphError(
            f"Every end of an edge must be a vertex; {where} has an edge at {error.args[0]!r}, "
            "which is not among its vertices and so has no label."
        ) from None


def is_from(x: Any, package: str) -> bool:
    """Whether an object's class comes from a package, without importing the package."""
    return any(kind.__module__.split(".")[0] == package for kind in type(x).__mro__)


def check_items(items: Sequence[Any], right: Callable[[Any], bool], kind: str) -> None:
    """Every item must be of the kind that a converter is for."""
    for number, item in enumerate(items):
        if not right(item):
            raise InvalidGraphError(f"Item {number} is not {kind}: {shown(item)}.")


def shown(x: Any) -> str:
    """A value as messages show it: short, with its type."""
    text = repr(x)
    return f"{text[:60]}{'...' if len(text) > 60 else ''} ({type(x).__name__})"


def column_items(x: Any) -> list[Any]:
    """The graphs of a list, a Series, an array, or a table with one column."""
    shape = getattr(x, "shape", ())
    if hasattr(x, "columns") and len(shape) == 2:
        names = list(x.columns)
        if len(names) != 1:
            raise InvalidGraphError(
                "A table of graphs has one column; this one has "
                f"{len(names)} ({', '.join(map(str, names[:8]))}{', ...' if len(names) > 8 else ''}"
                "). Choose the column with the graphs: table['smiles']."
            )
        return list(x[names[0]])
    if isinstance(x, np.ndarray) and x.ndim == 2 and x.shape[1] == 1 and x.dtype.kind in "OUT":
        return list(x[:, 0])  # a column as scikit-learn hands it on
    return list(x)


def is_missing(item: Any) -> bool:
    """None, NaN, or pandas' NA."""
    return (
        item is None
        or type(item).__name__ in ("NAType", "NaTType")
        or (isinstance(item, float) and item != item)
    )


def as_columns(values: Any, rows: int, where: str) -> np.ndarray:
    """Attributes of one graph as a table with a row for each vertex or edge."""
    try:
        table = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidGraphError(
            f"Attributes must be numbers, equally many each time; those of {where} are not."
        ) from None
    if table.size == 0:
        return table.reshape(rows, -1) if rows else table.reshape(0, table.shape[-1])
    table = table.reshape(len(table), -1)
    if len(table) != rows:
        raise InvalidGraphError(f"{where} needs {rows} rows of attributes; it has {len(table)}.")
    return table


def _pairs(part: Part, number: int) -> np.ndarray:
    pairs = part.edges
    if not len(pairs):
        return np.empty((0, 2), dtype=np.int64)
    try:
        pairs = np.asarray(pairs)
    except ValueError:
        raise InvalidGraphError(
            f"Edges are pairs of vertex numbers; those of graph {number} are not all of one length."
        ) from None
    if pairs.dtype.kind not in "iu" or pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InvalidGraphError(
            f"Edges are pairs of vertex numbers; graph {number} has edges of type {pairs.dtype} "
            f"and shape {pairs.shape}."
        )
    outside = np.flatnonzero(((pairs < 0) | (pairs >= part.size)).any(axis=1))
    if outside.size:
        raise InvalidGraphError(
            f"An edge must join vertices of its graph; edge {tuple(pairs[outside[0]].tolist())} "
            f"of graph {number} points outside its {part.size} vertices, which are counted from 0."
        )
    return pairs.astype(np.int64)


def _flat(values: list[Any], needed: list[bool], what: str) -> Any:
    """All labels in one sequence, or None."""
    given = _all_or_none(values, needed, what)
    if given is None:
        return None
    if {value.dtype.kind if isinstance(value, np.ndarray) else "" for value in given} == {"i"}:
        return np.concatenate(given)
    # Item by item: joining arrays of several types would turn 1 into "1" or 1.0.
    lists = (value.tolist() if isinstance(value, np.ndarray) else value for value in given)
    return [label for labels in lists for label in labels]


def _stacked(values: list[Any], needed: list[bool], what: str) -> np.ndarray | None:
    given = _all_or_none(values, needed, what)
    if not given:
        return None
    tables = [table for table in given if len(table)] or given[:1]
    widths = {table.shape[1] for table in tables}
    if len(widths) > 1:
        raise InvalidGraphError(
            f"All graphs must have the same number of {what}; got {sorted(widths)}."
        )
    return np.concatenate(tables)


def _all_or_none(values: list[Any], needed: list[bool], what: str) -> list[Any] | None:
    """What was given, or None; a graph that needs it must not be the odd one out."""
    having = [n for n, value in enumerate(values) if value is not None and needed[n]]
    lacking = [n for n, value in enumerate(values) if value is None and needed[n]]
    if having and lacking:
        raise InvalidGraphError(
            f"Either all graphs have {what} or none has; graph {having[0]} has them, graph "
            f"{lacking[0]} does not. Add them, or leave them out everywhere."
        )
    given = [value for value in values if value is not None]
    return None if lacking or not given else given
