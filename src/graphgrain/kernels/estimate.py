"""What counting features will cost, asked before it is begun."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import process_time
from typing import NamedTuple

import numpy as np

from ..graphs.batch import GraphBatch
from .counts import Counts

#: Vertices of the graphs that are counted to learn the speed.
_SAMPLE_VERTICES = 4096
#: Bytes of a feature of a graph: as it is counted, and again as an entry of the matrix.
_FEATURE_BYTES = 40


class Estimate(NamedTuple):
    """What a kernel needs for some graphs, about.

    Attributes
    ----------
    seconds : float
        Processor time of counting the features, of all threads together.
    bytes : float
        Memory beyond that of the graphs.

    Examples
    --------
    >>> import graphgrain as gg
    >>> print(gg.Estimate(seconds=90.0, bytes=3 * 2**30))
    about 90.0 s of processor time and 3.00 GiB
    """

    seconds: float
    bytes: float

    def __str__(self) -> str:
        return f"about {self.seconds:,.1f} s of processor time and {self.bytes / 2**30:,.2f} GiB"


def estimate_by_sample(
    count: Callable[[GraphBatch], Sequence[Counts]], batch: GraphBatch
) -> Estimate:
    """The cost of counting the features of many graphs, from some of them drawn at random."""
    if not batch.n_vertices:
        return Estimate(0.0, 0.0)
    order = np.random.default_rng(0).permutation(len(batch))
    few = int(np.searchsorted(np.cumsum(batch.vertex_counts[order]), _SAMPLE_VERTICES)) + 1
    sample = batch[order[:few]]
    count(sample[:1])  # compiles
    start = process_time()
    levels = count(sample)
    seconds = process_time() - start
    found = sum(len(level.hashes) for level in levels)
    scale = batch.n_vertices / max(sample.n_vertices, 1)
    return Estimate(scale * seconds, scale * found * _FEATURE_BYTES)
