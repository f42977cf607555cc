"""Cost estimates for counting features.

1. Small graphs: a random sample is counted, and the cost is scaled by the number of vertices.
2. A large graph whose features are counted root by root: a sample of the roots is counted.
3. Any other large graph: subgraphs of doubling size are counted until the time is long enough to
   be meaningful. The cost is extrapolated as a power of the size, with an exponent of at least 1
   for the time.
"""

from __future__ import annotations

from time import process_time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.components import breadth_first_order
from ..core.counting import SHORT, TABLE_BYTES, estimate_large_graph, is_large, shuffled
from ..graphs.batch import GraphBatch, subgraph

if TYPE_CHECKING:
    from .bases.feature_kernel import FeatureKernel

#: Vertices in the sample of small graphs, and minimum vertices in a subgraph of a large graph.
_SAMPLE_VERTICES, _PIECE_VERTICES = 4096, 2048
#: Bytes per feature of a graph: while it is counted, and again as a matrix entry.
_FEATURE_BYTES = 40


class Estimate(NamedTuple):
    """Approximate cost of a kernel for some graphs.

    Attributes
    ----------
    seconds : float
        Processor time to count the features, summed over all threads.
    bytes : float
        Memory in addition to that of the graphs.

    Examples
    --------
    >>> import graphgrain as gg
    >>> from graphgrain.kernels import Estimate
    >>> print(Estimate(seconds=90.0, bytes=3 * 2**30))
    about 90.0 s of processor time and 3.00 GiB
    """

    seconds: float
    bytes: float

    def __str__(self) -> str:
        return f"about {self.seconds:,.1f} s of processor time and {self.bytes / 2**30:,.2f} GiB"


def estimate_cost(kernel: FeatureKernel, batch: GraphBatch, matrix: bool) -> Estimate:
    """Estimate the cost of counting the features and, if ``matrix``, of the Gram matrix."""
    large = np.array([is_large(size) for size in batch.vertex_counts.tolist()], dtype=bool)
    parts = [_estimate_small(kernel, batch[np.flatnonzero(~large)])]
    parts += [kernel.estimate_large(batch[g : g + 1]) for g in np.flatnonzero(large).tolist()]
    needed_gram = 16.0 * len(batch) ** 2 if matrix else 0.0  # two copies during the computation
    seconds, needed = np.sum(parts, axis=0).tolist()
    return Estimate(seconds, needed + needed_gram)


def _estimate_small(kernel: FeatureKernel, batch: GraphBatch) -> Estimate:
    """Estimate the cost of many small graphs from a sample."""
    if not batch.n_vertices:
        return Estimate(0.0, 0.0)
    order = shuffled(len(batch))
    few = int(np.searchsorted(np.cumsum(batch.vertex_counts[order]), _SAMPLE_VERTICES)) + 1
    sample = batch[order[:few]]
    kernel.count_features(sample[:1])  # compiles
    here = _measured(kernel, sample)
    scale = batch.n_vertices / max(sample.n_vertices, 1)
    return Estimate(scale * here.seconds, scale * here.needed)


def estimate_by_pieces(kernel: FeatureKernel, graph: GraphBatch) -> Estimate:
    """Estimate the cost of one large graph from some of its roots or from subgraphs."""
    start = process_time()
    roots = kernel._roots(graph)
    prepared = process_time() - start
    if roots is not None:
        seconds, needed = estimate_large_graph(roots(0), kernel.n_jobs)
        return Estimate(prepared + seconds, needed)
    size = min(_PIECE_VERTICES // 4, graph.n_vertices)
    before = _measured(kernel, _piece(graph, size))  # compiles
    while True:
        size = min(2 * size, graph.n_vertices)
        here = _measured(kernel, _piece(graph, size))
        if size == graph.n_vertices:
            return Estimate(here.seconds, here.needed)
        if size >= _PIECE_VERTICES and here.seconds >= SHORT:
            break
        before = here
    grown = np.log(max(here.size / before.size, 1.1))
    power = max(1.0, float(np.log(here.seconds / max(before.seconds, 1e-6)) / grown))
    growth = float(np.log(max(here.needed, 1.0) / max(before.needed, 1.0)) / grown)
    factor = (graph.n_vertices + graph.n_edges) / here.size
    return Estimate(
        here.seconds * factor**power, here.needed * factor ** float(np.clip(growth, 0.0, 1.0))
    )


def _measured(kernel: FeatureKernel, batch: GraphBatch) -> _Measured:
    """Measure the cost of counting the features of some graphs."""
    start = process_time()
    lengths = [len(level.hashes) for level in kernel.count_features(batch)]
    seconds = process_time() - start
    needed = sum(lengths) * _FEATURE_BYTES + max(lengths) * TABLE_BYTES
    return _Measured(batch.n_vertices + batch.n_edges, seconds, float(needed))


class _Measured(NamedTuple):
    """Number of vertices and edges of some graphs, and the measured cost."""

    size: int
    seconds: float
    needed: float  # bytes


def _piece(graph: GraphBatch, size: int) -> GraphBatch:
    """Return a subgraph of ``size`` vertices that are close to each other."""
    if size == graph.n_vertices:
        return graph
    return subgraph(graph, breadth_first_order(graph.arrays, shuffled(graph.n_vertices), size))
