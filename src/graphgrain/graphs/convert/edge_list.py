"""Conversion of tables of edges: data frames, dictionaries of columns, lists of pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import InvalidGraphError, InvalidParameterError
from ..batch import GraphBatch
from ..tables import items_of, read_table
from .parts import (
    as_columns,
    check_direction,
    is_sequence,
    requested,
    shown,
    shown_directions,
    warn_about_ignored,
    with_arcs,
)


def from_edge_list(
    edges: Any,
    vertices: Any = None,
    *,
    graph: str | None = None,
    source: str = "source",
    target: str = "target",
    edge_label: str | None = None,
    edge_attributes: Sequence[str] | None = None,
    vertex: str = "vertex",
    label: str | None = "label",
    vertex_attributes: Sequence[str] | None = None,
    direction: str = "ignore",
) -> GraphBatch:
    """Convert a table with the edges of one or more graphs to a :class:`GraphBatch`.

    Parameters
    ----------
    edges : table (a data frame, a dictionary of columns), or list of pairs
        One row per edge, with the names of its two vertices in the columns ``source`` and
        ``target``. Names are integers or strings.
    vertices : table, or dictionary from vertex to label, optional
        One row per vertex, with its name in the column ``vertex``. Needed for labels, attributes
        and isolated vertices.
    graph : str, optional
        Column of both tables that identifies the graph of a row. By default all rows belong to
        one graph. The same vertex name may be used in several graphs.
    source, target, edge_label, edge_attributes : str (list of str for edge_attributes)
        Names of columns of ``edges``. Edges have no labels and attributes by default.
    vertex, label, vertex_attributes : str (list of str for vertex_attributes)
        Names of columns of ``vertices``. Graphs are unlabelled if ``label`` is None, or if it is
        ``"label"`` (the default) and there is no such column.
    direction : {"ignore", "vertices"}, default="ignore"
        With ``"vertices"`` a row is an arc from ``source`` to ``target``; see
        :func:`from_networkx`.

    Returns
    -------
    graphs : GraphBatch
        Graphs in ascending order of the column ``graph``, as in pandas' ``groupby``; its values
        are their column ``"id"``. The vertices
        of a graph are in the order of ``vertices`` or, without that table, in ascending order of
        their names.

    Examples
    --------
    >>> import graphgrain as gg, pandas as pd
    >>> edges = pd.DataFrame({"molecule": [1, 1, 2], "source": ["a", "b", "a"],
    ...                       "target": ["b", "c", "b"], "bond": [2, 1, 1]})
    >>> gg.from_edge_list(edges, graph="molecule", edge_label="bond")
    GraphBatch(2 graphs, 5 vertices, 3 edges, no labels, 2 edge labels)
    >>> gg.from_edge_list([("a", "b"), ("b", "c")], {"a": "C", "b": "C", "c": "O"})
    GraphBatch(1 graph, 3 vertices, 2 edges, 2 vertex labels)
    """
    check_direction(direction)
    edges = _edge_table(edges, source, target)
    vertices = _vertex_table(vertices, vertex, label)
    ends = [_column(edges, name, "edges") for name in (source, target)]
    owner = [0] * len(ends[0]) if graph is None else _column(edges, graph, "edges")
    sources, targets = (list(zip(owner, names, strict=True)) for names in ends)
    if vertices is None:
        _check_kind([*ends[0], *ends[1]], "names of vertices")
        _check_kind(owner, f"values of the column {graph!r}")
        keys = sorted({*sources, *targets})
        order = list(range(len(keys)))
    else:
        names = _column(vertices, vertex, "vertices")
        owners = [0] * len(names) if graph is None else _column(vertices, graph, "vertices")
        _check_kind([*names, *ends[0], *ends[1]], "names of vertices")
        _check_kind([*owners, *owner], f"values of the column {graph!r}")
        order = sorted(range(len(names)), key=owners.__getitem__)
        keys = [(owners[row], names[row]) for row in order]

    pairs = _numbered(keys, list(zip(sources, targets, strict=True)))
    count = Counter(key[0] for key in keys)
    ids = sorted({*count, *owner})
    sizes = [count[key] for key in ids] or [0] * (graph is None)

    labels = None
    if vertices is not None and label is not None and (label != "label" or label in vertices):
        column = _column(vertices, label, "vertices")
        labels = [column[row] for row in order]
    attributes = _numbers(vertices, vertex_attributes, "vertices")
    attributes = None if attributes is None else attributes[order]
    edge_labels = None if edge_label is None else _column(edges, edge_label, "edges")
    numbers = _numbers(edges, edge_attributes, "edges")
    arcs = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    counts, free = np.array(sizes, dtype=np.int64), np.ones(len(arcs), dtype=bool)
    if direction == "ignore":
        warn_about_ignored(shown_directions(counts, arcs, free))
    is_arc = free if direction == "vertices" else None
    batch = with_arcs(is_arc, counts, arcs, labels, edge_labels, attributes, numbers)
    if graph is not None:
        batch = batch.with_columns({"id": ids})
    return requested(batch, attributes is not None or numbers is not None)


def _numbered(
    vertices: Sequence[tuple[Any, Any]], edges: Sequence[tuple[Any, Any]]
) -> list[tuple[int, int]]:
    """Return the edges as pairs of vertex numbers; a vertex is a pair (graph, name)."""
    position = {key: number for number, key in enumerate(vertices)}
    if len(position) != len(vertices):
        twice = next(key for key, count in Counter(vertices).items() if count > 1)
        raise InvalidGraphError(
            f"A vertex must be listed once in its graph; {twice[1]!r} is listed more than once."
        )
    for row, ends in enumerate(edges):
        for key in ends:
            if key not in position:
                raise InvalidGraphError(
                    f"Every end of an edge must be a vertex of its graph; {key[1]!r} in row {row} "
                    "of the edges is not in the table of vertices."
                )
    return [(position[u], position[v]) for u, v in edges]


def _edge_table(edges: Any, source: str, target: str) -> dict[str, Any]:
    table = read_table(edges)
    if table is not None:
        return table
    if isinstance(edges, str | bytes | Mapping) or not isinstance(edges, Iterable):
        raise InvalidGraphError(
            "Edges are expected as a table (a data frame, a dictionary of columns) or a list of "
            f"pairs; got {shown(edges)}."
        )
    rows = list(edges)
    for number, row in enumerate(rows):
        if not is_sequence(row) or len(row) != 2:
            raise InvalidGraphError(
                f"Plain edges are pairs of vertices; row {number} is {shown(row)}. For labels and "
                "several graphs give a dictionary of columns."
            )
    return {source: [row[0] for row in rows], target: [row[1] for row in rows]}


def _vertex_table(vertices: Any, vertex: str, label: str | None) -> dict[str, Any] | None:
    table = None if vertices is None else read_table(vertices)
    if vertices is None or table is not None:
        return table
    if not isinstance(vertices, Mapping):
        raise InvalidGraphError(
            "Vertices are expected as a table (a data frame, a dictionary of columns) or a "
            f"dictionary from vertex to label; got {shown(vertices)}."
        )
    return {vertex: list(vertices), label or "label": list(vertices.values())}


def _column(table: dict[str, Any], name: str, what: str) -> list[Any]:
    if name not in table:
        raise InvalidParameterError(
            f"The table of {what} has no column {name!r}; it has {list(table)}. Name the right one."
        )
    values = items_of(table[name])
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def _check_kind(values: list[Any], what: str) -> None:
    kinds = {type(value) for value in values}
    if kinds <= {int} or kinds <= {str}:
        return
    wrong = next((value for value in values if type(value) not in (int, str)), values[0])
    raise InvalidGraphError(
        f"The {what} must be all integers or all strings; got {shown(wrong)} among them."
    )


def _numbers(table: Any, names: Sequence[str] | None, what: str) -> np.ndarray | None:
    if not names:
        return None
    if table is None:
        raise InvalidParameterError(f"Attributes {list(names)} need a table of {what}.")
    names = [names] if isinstance(names, str) else list(names)
    columns = [as_columns(_column(table, name, what), len(table[name]), name) for name in names]
    return np.concatenate(columns, axis=1)
