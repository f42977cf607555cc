"""The checks that graphs pass once, at the door of GraphBatch."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import GraphgrainWarning, InvalidGraphError


def checked_offsets(sizes: Iterable[int]) -> np.ndarray:
    sizes = np.asarray(list(sizes) if not isinstance(sizes, np.ndarray) else sizes)
    if sizes.size and (sizes.dtype.kind not in "iu" or sizes.min() < 0):
        wrong = next(s for s in sizes.tolist() if not isinstance(s, int) or s < 0)
        raise InvalidGraphError(
            f"The size of a graph must be an integer of 0 or more; got {wrong!r}."
        )
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    if offsets[-1] > np.iinfo(np.int32).max:
        raise InvalidGraphError(
            f"A batch holds at most 2**31 - 1 vertices; got {offsets[-1]}. Split it into several."
        )
    return offsets


def checked_pairs(edges: Any, offsets: np.ndarray) -> np.ndarray:
    """Edges as an int64 array of shape (m, 2), each within one graph."""
    array = np.asarray(list(edges) if not isinstance(edges, np.ndarray) else edges)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise InvalidGraphError(
            "Edges must be pairs of vertex numbers (integers, an array of shape (m, 2)); got an "
            f"array of shape {array.shape} and type {array.dtype}."
        )
    pairs = array.astype(np.int64)
    outside = np.flatnonzero((pairs < 0).any(1) | (pairs >= offsets[-1]).any(1))
    if outside.size:
        edge = tuple(array[outside[0]].tolist())
        raise InvalidGraphError(
            f"An edge must join vertices of its graph; edge {edge} (number {outside[0]}) points "
            f"outside the vertices 0 to {offsets[-1] - 1}. Vertices are counted from 0."
        )
    graph = np.searchsorted(offsets, pairs, side="right") - 1
    across = np.flatnonzero(graph[:, 0] != graph[:, 1])
    if across.size:
        edge, ends = tuple(pairs[across[0]].tolist()), graph[across[0]]
        raise InvalidGraphError(
            f"An edge must stay within one graph; edge {edge} (number {across[0]}) joins graph "
            f"{ends[0]} to graph {ends[1]}. Check the sizes of the graphs."
        )
    return pairs


def check_length(got: int, wanted: int, what: str, of: str) -> None:
    if got != wanted:
        raise InvalidGraphError(
            f"There must be as many {what} as {of}; got {got} {what} for {wanted} {of}."
        )


def checked_attributes(values: Any, rows: int, what: str) -> np.ndarray | None:
    if values is None:
        return None
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidGraphError(
            f"The {what} attributes must be numbers, the same number in each row; {error}."
        ) from None
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    check_length(
        len(array), rows, f"rows of {what} attributes", "vertices" if what == "vertex" else "edges"
    )
    if array.ndim != 2:
        raise InvalidGraphError(
            f"The {what} attributes must have one row per {what}; got {array.ndim} dimensions."
        )
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        row, column = bad[0]
        raise InvalidGraphError(
            f"Attributes must be finite; {what} {row} has {array[row, column]} in column {column}. "
            "Replace it with a value, or remove the column."
        )
    return array


def both_directions(
    pairs: np.ndarray, codes: np.ndarray | None, attributes: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Source, target and origin (row of ``pairs``) of each entry: no loops, nothing twice."""
    origin = np.flatnonzero(pairs[:, 0] != pairs[:, 1])
    loops = len(pairs) - len(origin)
    pairs = pairs[origin]
    source = np.concatenate((pairs[:, 0], pairs[:, 1]))
    target = np.concatenate((pairs[:, 1], pairs[:, 0]))
    origin = np.concatenate((origin, origin))
    keys: list[np.ndarray] = []
    if attributes is not None:
        keys += [attributes[origin, column] for column in range(attributes.shape[1])][::-1]
    if codes is not None:
        keys.append(codes[origin])
    order = np.lexsort((*keys, target, source))
    source, target, origin = source[order], target[order], origin[order]
    first = np.ones(len(source), dtype=bool)
    first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    _mention_what_is_dropped(loops, np.flatnonzero(first), order < len(pairs), origin, codes)
    return source[first], target[first], origin[first]


def _mention_what_is_dropped(
    loops: int,
    begins: np.ndarray,
    forward: np.ndarray,
    origin: np.ndarray,
    codes: np.ndarray | None,
) -> None:
    """Warn of what a simple graph cannot hold.

    ``begins`` are the first entries of each pair of ends, ``forward`` marks the entries that have
    the direction of their row. An edge may have one row in each direction.
    """
    repeated = conflicts = 0
    if len(begins) != len(forward):  # some pair of ends has several entries
        rows = np.add.reduceat(forward.astype(np.int64), begins)
        repeated = int(np.maximum(rows - 1, 0).sum())
        if codes is not None:
            lasts = np.append(begins[1:], len(origin)) - 1
            conflicts = int((codes[origin[begins]] != codes[origin[lasts]]).sum()) // 2
    found = {"self-loop": loops, "repeated edge": repeated, "edge with several labels": conflicts}
    words = [
        f"{count:,} {what.replace('edge', 'edges') if 'several' in what else what + 's'}"
        if count > 1
        else f"1 {what}"
        for what, count in found.items()
        if count
    ]
    if words:
        warnings.warn(
            f"The edges hold {' and '.join(words)}. Here a graph has at most one edge between two "
            "vertices, with one label (the smallest), and none from a vertex to itself: the rest "
            "is left out.",
            GraphgrainWarning,
            stacklevel=4,
        )
