"""Counted features: what every kernel with explicit features hands on, and the maps of counts.

A feature is a 64-bit hash that depends on label values alone, so that it means the same in every
batch, process and machine; no dictionary is needed to compare or merge counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..core.hashing import GOLDEN, mix_array
from ..core.large_graphs import RootedFeatures, count_large_graph, is_large
from ..core.structures import Csc
from ..core.tables import count_hashes
from ..core.threads import chunks, run
from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch

#: Most entries that the unary map of "intersection" may have: 8 GiB.
_MOST_ONES = 2**29

COUNT_MAPS = ("raw", "sqrt", "log", "binary", "intersection")


class Counts(NamedTuple):
    """The features of a batch at one level, graph after graph."""

    lengths: np.ndarray  # number of distinct features of each graph
    hashes: np.ndarray  # uint64
    counts: np.ndarray  # how often each occurs


def counted(pointers: np.ndarray, hashes: np.ndarray) -> Counts:
    """Counts from one hash per occurrence; graph i owns ``pointers[i]:pointers[i + 1]``."""
    return Counts(*count_hashes(pointers, hashes))


def count_in_chunks(
    count: Callable[[int, int], Sequence[Counts]],
    batch: GraphBatch,
    n_jobs: int | None,
    roots: Callable[[int], RootedFeatures] | None = None,
) -> list[Counts]:
    """The levels of a batch, with ``count(begin, end)`` doing a range of graphs at a time.

    Large graphs are left to ``roots``, one by one: threads share the work on each.
    """
    sizes = batch.vertex_counts
    large = [g for g, size in enumerate(sizes.tolist()) if roots is not None and is_large(size)]
    ranges = []
    for begin, end in pairwise([-1, *large, len(batch)]):
        ranges += [
            (begin + 1 + first, begin + 1 + last) for first, last in chunks(sizes[begin + 1 : end])
        ]
    parts = dict(zip(ranges, run(count, ranges, n_jobs), strict=True))
    if roots is not None:
        for graph in large:
            levels = count_large_graph(roots(graph), n_jobs)
            parts[graph, graph + 1] = [
                Counts(np.array([len(level[0])]), *level) for level in levels
            ]
    return joined([parts[key] for key in sorted(parts)] or [count(0, 0)])


def joined(parts: Sequence[Sequence[Counts]]) -> list[Counts]:
    """The levels of all graphs from those of parts of them."""
    if len(parts) == 1:
        return list(parts[0])
    return [
        Counts(*(np.concatenate(arrays) for arrays in zip(*level, strict=True)))
        for level in zip(*parts, strict=True)
    ]


def squared_norms(level: Counts) -> np.ndarray:
    """Sum of squared counts of each graph."""
    rows = np.repeat(np.arange(len(level.lengths)), level.lengths)
    return np.bincount(
        rows, weights=level.counts.astype(np.float64) ** 2, minlength=len(level.lengths)
    )


def map_counts(level: Counts, how: str) -> Counts:
    """Counts after the map; an intersection turns a count of c into c ones.

    Beside the maps that users choose from there is "unit": the level of each graph scaled to
    length 1.
    """
    if how == "unit":
        lengths = np.sqrt(squared_norms(level))
        return level._replace(counts=level.counts / np.repeat(lengths, level.lengths))
    if how == "sqrt":
        return level._replace(counts=np.sqrt(level.counts))
    if how == "log":
        return level._replace(counts=np.log1p(level.counts))
    if how == "binary":
        return level._replace(counts=np.ones(len(level.counts)))
    if how == "intersection":
        ends = np.concatenate(([0], np.cumsum(level.counts.astype(np.int64))))
        if not 0 <= ends[-1] <= _MOST_ONES:
            raise InvalidParameterError(
                f"counts='intersection' makes a column of every unit of a count; these add up to "
                f"{float(level.counts.sum()):.3g}, more than {_MOST_ONES:,}. Use counts='sqrt' or "
                "'log'."
            )
        base, times = repeated(level)
        totals = ends[np.concatenate(([0], np.cumsum(level.lengths)))]
        return Counts(np.diff(totals), expanded_hashes(base, times), np.ones(len(base)))
    return level


def repeated(level: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Each hash as often as it occurs, with the running number 1, 2, ... of the occurrence."""
    counts = level.counts.astype(np.int64)
    first = np.concatenate(([0], np.cumsum(counts)))[:-1]
    times = np.arange(counts.sum()) - np.repeat(first, counts) + 1
    return np.repeat(level.hashes, counts), times


def expanded_hashes(hashes: np.ndarray, times: np.ndarray) -> np.ndarray:
    """A hash for "occurs at least this often"; for once it is the hash itself."""
    with np.errstate(over="ignore"):
        again = mix_array(hashes + times.astype(np.uint64) * GOLDEN)
    return np.where(times == 1, hashes, again)


def side_by_side(parts: Sequence[Sequence[np.ndarray]]) -> Csc:
    """One matrix from the levels, all in CSC form."""
    base = np.cumsum([0] + [len(rows) for _, rows, _ in parts])
    ends = [indptr[1:] + start for (indptr, _, _), start in zip(parts, base[:-1], strict=True)]
    return Csc(
        np.concatenate([[0], *ends]),
        np.concatenate([rows for _, rows, _ in parts]),
        np.concatenate([values for _, _, values in parts]),
    )
