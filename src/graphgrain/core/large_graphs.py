"""The features of one large graph, its roots divided among threads.

A kernel that counts features root by root says, in a subclass of :class:`RootedFeatures`, what the
roots share and how the features of some roots are added to tables. Then

1. What the roots share (the trees of Tree++) is prepared; all threads read the same.
2. Every thread counts the features of a few roots at a time in tables of its own, so that memory
   grows with the distinct features, not with the pairs of vertices.
3. The tables of all threads are joined.

Before 2 the number of distinct features is estimated: those of a sample of roots, and of a sample
twice as large, grow like a power of the number of roots, and so do those of all. Before 1 the whole
cost is estimated in the same way, with a rough stand-in for what the roots share.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from time import process_time
from typing import Any, ClassVar, TypeVar

import numpy as np

from .memory import require_memory
from .tables import Tables, make_tables, merge_into, read_out
from .threads import call, entry_point, run, thread_count

State = TypeVar("State")

#: Most (root, vertex) pairs of a graph that are kept at once; a graph with more is large.
STORED_PAIRS = 1 << 20
#: Roots of the smaller sample.
_SAMPLE = 32
#: Part of the roots that are counted to see whether the features of all will fit.
_SHARE = 1 / 64
#: A sample that takes less processor time than this says little; it is made larger.
SHORT = 0.1
#: Bytes of one distinct feature: in a hash table that grows, and in what is handed back.
TABLE_BYTES, _OUTPUT_BYTES = 120, 16


def is_large(size: int) -> bool:
    """Whether the searches from all roots of a graph of this size are too many to be kept."""
    return size * size > STORED_PAIRS


@entry_point
def _read_level(tables, level):
    """The features of one level: hashes and counts. The table is emptied."""
    hashes = np.empty(tables.distinct[level], dtype=np.uint64)
    counts = np.empty(tables.distinct[level], dtype=np.int64)
    read_out(tables, level, hashes, counts, 0)
    return hashes, counts


class RootedFeatures(ABC):
    """The features of one graph, counted root by root.

    Attributes
    ----------
    size : int
        Number of vertices; each is a root.
    levels : int
        Number of tables.
    instead : str
        What to do where the features do not fit into memory.
    """

    instead: ClassVar[str]

    def __init__(self, size: int, levels: int) -> None:
        self.size, self.levels = size, levels

    def prepare(self, roots: np.ndarray, scratch: Any) -> None:  # noqa: B027
        """Fill in what all roots share for some of them; threads call this side by side."""

    def prepare_roughly(self, order: np.ndarray) -> float:
        """Stand-ins for what the roots share; processor seconds that the real ones would take.

        ``order`` has all roots; the first are a sample.
        """
        return 0.0

    @abstractmethod
    def scratch(self) -> Any:
        """Arrays for one thread."""

    @abstractmethod
    def add(self, roots: np.ndarray, scratch: Any, tables: Tables) -> Tables:
        """Count the features of some roots; returns the tables, larger ones if need be."""

    def read(self, tables: Tables, level: int) -> tuple[np.ndarray, np.ndarray]:
        """Hashes and counts of one level; the table is emptied."""
        hashes, counts = _read_level(tables, level)
        return hashes, counts


def _over_roots(
    work: Callable[[np.ndarray, State], State],
    begin: Callable[[], State],
    roots: np.ndarray,
    size: int,
    n_jobs: int | None,
) -> list[State]:
    """Work on a few roots at a time, for some milliseconds each.

    ``work(roots, state)`` returns the state in which the next few roots find it; there are as many
    states as threads, and ``begin()`` makes one. Returns them all.
    """
    free: list[State] = []

    def part(first: int, last: int) -> None:
        try:
            state = free.pop()
        except IndexError:  # all are in use
            state = begin()
        free.append(work(roots[first:last], state))

    step = max(1, STORED_PAIRS // size)
    run(part, [(first, first + step) for first in range(0, len(roots), step)], n_jobs)
    return free


def _prepare(features: RootedFeatures, n_jobs: int | None) -> None:
    def prepare(roots: np.ndarray, scratch: Any) -> Any:
        features.prepare(roots, scratch)
        return scratch

    _over_roots(prepare, features.scratch, np.arange(features.size), features.size, n_jobs)


def _counted(features: RootedFeatures, roots: np.ndarray, n_jobs: int | None) -> Tables:
    """Tables of the features of some roots."""

    def begin() -> tuple[Any, Tables]:
        return features.scratch(), call(make_tables, features.levels, 1024)

    def add(roots: np.ndarray, state: tuple[Any, Tables]) -> tuple[Any, Tables]:
        scratch, tables = state
        return scratch, features.add(roots, scratch, tables)

    found = [tables for _, tables in _over_roots(add, begin, roots, features.size, n_jobs)]
    tables = found.pop()
    while found:
        tables = call(merge_into, tables, found.pop())
    return tables


def timed_sample(work: Callable[[np.ndarray], object], order: np.ndarray) -> tuple[float, int]:
    """Processor seconds that work on all roots will take, and how many the sample had.

    The first roots of ``order`` are worked on, as many as it takes for a time that says something.
    """
    work(order[:1])  # compiles
    roots = min(2 * _SAMPLE, len(order))
    while True:
        start = process_time()
        work(order[:roots])
        spent = process_time() - start
        if spent >= SHORT or roots == len(order):
            return spent / roots * len(order), roots
        roots = min(4 * roots, len(order))


def _shuffled(size: int) -> np.ndarray:
    return np.random.default_rng(0).permutation(size)


def _estimated_distinct(features: RootedFeatures, sample: np.ndarray) -> np.ndarray:
    """About how many different features there are at each level, by two samples of roots."""
    few = _counted(features, sample[: (len(sample) + 1) // 2], 1).distinct
    twice = _counted(features, sample, 1).distinct
    growth = np.log2(np.maximum(twice / np.maximum(few, 1), 1.0))
    return twice * (features.size / len(sample)) ** np.minimum(growth, 1.0)


def _needed(distinct: np.ndarray, threads: int) -> float:
    """Bytes for so many different features at each level."""
    tables = threads * len(distinct) * distinct.max()  # those of all levels grow together
    return float(tables * TABLE_BYTES + distinct.sum() * _OUTPUT_BYTES)


def estimate_large_graph(features: RootedFeatures, n_jobs: int | None) -> tuple[float, float]:
    """Processor seconds and bytes that :func:`count_large_graph` will need, about."""
    order = _shuffled(features.size)
    seconds = features.prepare_roughly(order)
    more, roots = timed_sample(lambda part: _counted(features, part, 1), order)
    distinct = _estimated_distinct(features, order[:roots])
    return seconds + more, _needed(distinct, thread_count(n_jobs))


def count_large_graph(
    features: RootedFeatures, n_jobs: int | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Hashes and counts of the features of a graph, one pair per level.

    Features that will not fit into memory are refused.
    """
    _prepare(features, n_jobs)
    if features.size > 4 * _SAMPLE:
        roots = max(2 * _SAMPLE, int(features.size * _SHARE))
        distinct = _estimated_distinct(features, _shuffled(features.size)[:roots])
        require_memory(
            _needed(distinct, thread_count(n_jobs)),
            f"About {distinct.sum():.1e} different features of a graph with {features.size:,} "
            "vertices",
            features.instead,
        )
    tables = _counted(features, np.arange(features.size), n_jobs)
    return [features.read(tables, level) for level in range(features.levels)]
