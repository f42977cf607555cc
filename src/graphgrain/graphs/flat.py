"""Taking parts of flat arrays and joining them: the index arithmetic behind GraphBatch."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.structures import Graphs
from ..errors import InvalidGraphError
from .labels import merge_tables


def graph_numbers(key: Any, count: int) -> np.ndarray:
    """The graph numbers that an index, slice, mask or index array asks for."""
    if isinstance(key, slice):
        return np.arange(count)[key]
    array = np.asarray(key)
    if array.dtype == bool and array.shape != (count,):
        raise IndexError(f"A mask must have one entry per graph ({count}); got {array.shape}.")
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind not in "iub" or array.ndim > 1:
        raise IndexError(
            "A GraphBatch is indexed by an integer, a slice, a mask or a list of integers; "
            f"got {key!r}."
        )
    numbers = (
        np.flatnonzero(array) if array.dtype == bool else np.atleast_1d(array).astype(np.int64)
    )
    outside = (numbers < -count) | (numbers >= count)
    if outside.any():
        raise IndexError(f"Graph {numbers[outside][0]} is out of range: there are {count} graphs.")
    return np.where(numbers < 0, numbers + count, numbers)


def gathered_ranges(pointers: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All positions ``pointers[i]:pointers[i + 1]`` of the items, and where each begins now."""
    lengths = pointers[items + 1] - pointers[items]
    begins = np.zeros(len(items) + 1, dtype=np.int64)
    np.cumsum(lengths, out=begins[1:])
    positions = np.arange(begins[-1]) + np.repeat(pointers[items] - begins[:-1], lengths)
    return positions, begins


def joined_offsets(parts: list[np.ndarray], base: np.ndarray) -> np.ndarray:
    moved = [part[1:] + start for part, start in zip(parts, base, strict=False)]
    return np.concatenate([np.zeros(1, dtype=np.int64), *moved])


def joined_attributes(parts: list[np.ndarray | None], what: str) -> np.ndarray | None:
    if not all_or_none([part is not None for part in parts], what):
        return None
    widths = {part.shape[1] for part in parts if part is not None}
    if len(widths) > 1:
        raise InvalidGraphError(
            f"All graphs must have the same number of {what}; got {sorted(widths)}."
        )
    return np.concatenate([part for part in parts if part is not None])


def joined_edge_labels(batches: list[Any]) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Codes and table of the edge labels of several batches, None if they have none."""
    telling = [batch for batch in batches if batch.n_edges] or batches[:1]
    if not all_or_none([batch.edge_label_table is not None for batch in telling], "edge labels"):
        return None, None
    table, maps = merge_tables([b.edge_label_table for b in telling], "edge")
    codes = [new[batch.edge_label_codes] for batch, new in zip(telling, maps, strict=True)]
    return np.concatenate(codes), table


def all_or_none(present: list[bool], what: str) -> bool:
    if any(present) and not all(present):
        raise InvalidGraphError(
            f"Either all graphs have {what} or none has; part {present.index(True)} has them, part "
            f"{present.index(False)} does not. Add them, or remove them from the others."
        )
    return all(present)


def same_arrays(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    """Whether both are missing, or equal."""
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b)


def graphs_with_hashes(
    offsets: np.ndarray,
    indptr: np.ndarray,
    indices: np.ndarray,
    labels: tuple[np.ndarray, np.ndarray],
    edge_labels: tuple[np.ndarray | None, np.ndarray | None],
) -> Graphs:
    """The structure that compiled functions read; labels are given as codes and their table."""
    from ..core.hashing import hash_labels

    codes, table = edge_labels
    if codes is None or table is None or not len(codes):
        codes, table = np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.int64)
    graphs = Graphs(
        offsets,
        indptr,
        indices,
        labels[0],
        hash_labels(labels[1]),
        codes,
        hash_labels(table, 1),
    )
    for array in graphs:  # all read-only: to a compiled function that is part of the type
        array.flags.writeable = False
    return graphs
