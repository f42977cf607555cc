"""A plain thread pool over chunks of graphs; the Numba functions release the lock."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")

#: Vertices per chunk: large enough to forget the overhead, small enough to balance threads.
CHUNK_VERTICES = 4096


def thread_count(n_jobs: int | None) -> int:
    """The number of threads that ``n_jobs`` asks for (scikit-learn's convention)."""
    if n_jobs is None:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return n_jobs if n_jobs > 0 else max(1, (cores or 1) + 1 + n_jobs)


def chunks(sizes: np.ndarray, target: int = CHUNK_VERTICES) -> list[tuple[int, int]]:
    """Consecutive ranges of items whose sizes add up to about ``target`` each."""
    if not len(sizes):
        return []
    part = np.cumsum(sizes + 1) // target
    bounds = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(sizes)]
    return list(pairwise(bounds))


def run(
    function: Callable[[int, int], Result], ranges: list[tuple[int, int]], n_jobs: int | None
) -> list[Result]:
    """``function(begin, end)`` for every range, in order, on ``n_jobs`` threads."""
    threads = min(thread_count(n_jobs), len(ranges))
    if threads <= 1:
        return [function(begin, end) for begin, end in ranges]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(lambda bounds: function(*bounds), ranges))
