"""Conversion of PyTorch Geometric graphs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import InvalidGraphError
from ..batch import GraphBatch
from .parts import Part, as_columns, checked_items, joined


def is_pyg(x: Any) -> bool:
    """Return whether ``x`` looks like a PyTorch Geometric ``Data`` object."""
    return hasattr(x, "edge_index") and hasattr(x, "num_nodes")


def from_pyg(
    data: Iterable[Any],
    vertex_label: str | None = "x",
    edge_label: str | None = "edge_attr",
    *,
    direction: str = "ignore",
) -> GraphBatch:
    """Convert PyTorch Geometric ``Data`` objects, or a data set of them, to a GraphBatch.

    Parameters
    ----------
    data : iterable of Data
    vertex_label, edge_label : str or None, default="x" and "edge_attr"
        Attribute that describes the vertices or the edges. One column of integers or a one-hot
        table (as in ``TUDataset``) is read as labels; any other table of numbers becomes
        ``vertex_attributes`` or ``edge_attributes``. For molecules of ``QM9`` use
        ``vertex_label="z"``, the atomic numbers. Missing attributes are ignored.
    direction : {"ignore", "vertices"}, default="ignore"
        As in :func:`from_networkx`, with each column of ``edge_index`` as an arc. By default two
        vertices are adjacent if an edge is listed in at least one direction.

    Returns
    -------
    graphs : GraphBatch

    Examples
    --------
    The targets are ``y = [int(item.y) for item in data]``.

    >>> from types import SimpleNamespace as Data  # in place of torch_geometric.data.Data
    >>> import graphgrain as gg, numpy as np
    >>> path = Data(num_nodes=3, edge_index=np.array([[0, 1, 1, 2], [1, 0, 2, 1]]),
    ...             x=np.array([[1, 0], [1, 0], [0, 1]]))
    >>> gg.from_pyg([path]).labels
    array([0, 0, 1])
    """
    items = checked_items(data, is_pyg, "a PyTorch Geometric Data object")
    n_edges = [0 if item.edge_index is None else item.edge_index.shape[1] for item in items]
    sizes = [int(item.num_nodes or 0) for item in items]
    labels, attributes = _pyg_columns(items, vertex_label, sizes)
    edge_labels, edge_attributes = _pyg_columns(items, edge_label, n_edges)
    return joined(
        [
            Part(
                sizes[number],
                _array(item.edge_index).T if n_edges[number] else [],
                labels[number],
                edge_labels[number],
                attributes[number],
                edge_attributes[number],
                True,
                None if edge_label == "edge_weight" else _weights(item),
            )
            for number, item in enumerate(items)
        ],
        direction,
        "edge_label='edge_weight' reads weights",
    )


def _weights(item: Any) -> np.ndarray | None:
    weights = getattr(item, "edge_weight", None)
    return None if weights is None else _array(weights).reshape(-1)


def _pyg_columns(
    items: list[Any], name: str | None, rows: list[int]
) -> tuple[list[np.ndarray | None], list[np.ndarray | None]]:
    """Read an attribute as labels or as attributes, in the same way for all graphs."""
    nothing: list[np.ndarray | None] = [None] * len(items)
    raw = [None if name is None else getattr(item, name, None) for item in items]
    tables: list[np.ndarray | None] = []
    for number, values in enumerate(raw):
        if values is None:
            tables.append(None)
            continue
        table = _array(values)
        if len(table) != rows[number]:
            raise InvalidGraphError(
                f"{name!r} of graph {number} must have {rows[number]} rows; it has {len(table)}."
            )
        tables.append(table.reshape(len(table), int(np.prod(table.shape[1:]))))
    filled = [table for table in tables if table is not None and len(table)]
    if not filled:
        return nothing, nothing
    if all(table.shape[1] == 1 and table.dtype.kind in "iu" for table in filled):
        return [None if table is None else table[:, 0] for table in tables], nothing
    if all(_one_hot(table) for table in filled):
        return [
            None if table is None or not len(table) else table.argmax(axis=1) for table in tables
        ], nothing
    return nothing, [
        None if table is None or not len(table) else as_columns(table, len(table), repr(name))
        for table in tables
    ]


def _one_hot(table: np.ndarray) -> bool:
    return table.shape[1] > 1 and bool(
        ((table == 0) | (table == 1)).all() and (table.sum(axis=1) == 1).all()
    )


def _array(tensor: Any) -> np.ndarray:
    """Convert a tensor on any device to a NumPy array."""
    for step in ("detach", "cpu", "numpy"):
        if hasattr(tensor, step):
            tensor = getattr(tensor, step)()
    return np.asarray(tensor)
