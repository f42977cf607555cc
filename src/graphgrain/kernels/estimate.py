"""What counting features will cost, asked before it is begun.

1. Of many small graphs some are counted, drawn at random, and the cost grows with their vertices.
2. Of a large graph whose features are counted root by root, those of some roots are.
3. Of any other large graph pieces are, each twice as large as the one before, until that takes a
   time that says something. The cost grows on like a power of the size, at least in proportion.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from ..core.components import breadth_first_order
from ..core.large_graphs import (
    SHORT,
    TABLE_BYTES,
    RootedFeatures,
    estimate_large_graph,
    is_large,
)
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..parameters import check_parameters
from .base import GraphKernel
from .counts import Counts

#: Vertices of the small graphs, and at least of the piece of a large one, that are counted.
_SAMPLE_VERTICES, _PIECE_VERTICES = 4096, 2048
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


class CountingKernel(GraphKernel):
    """Base class of kernels that count features, and can tell beforehand what it will cost."""

    @abstractmethod
    def count_features(self, batch: GraphBatch) -> list[Counts]:
        """Distinct features of each graph and their counts, one item per level."""

    def _roots(self, batch: GraphBatch) -> Callable[[int], RootedFeatures] | None:
        """For kernels that count root by root: the features of each graph, by its number."""
        return None

    def estimate(self, X: Any) -> Estimate:
        """What fitting to these graphs will cost, about; takes seconds at most, as a rule.

        The features of some graphs, and of some vertices or pieces of each graph with thousands of
        vertices, are counted. The kernel need not be fitted, and stays as it is.

        Parameters
        ----------
        X : GraphBatch or sequence of graphs

        Returns
        -------
        Estimate
            Processor seconds until the features are counted, and bytes of memory, those of a
            Gram matrix included where ``output="gram"``.

        Examples
        --------
        >>> import graphgrain as gg
        >>> path = [([(v, v + 1) for v in range(2000)], [0] * 2001)]
        >>> cost = gg.ShortestPath().estimate(path)
        >>> bool(cost.seconds < 60 and cost.bytes < 2**30)
        True
        """
        check_parameters(self, self.parameter_rules)
        batch = as_graphs(X)
        large = np.array([is_large(size) for size in batch.vertex_counts.tolist()], dtype=bool)
        parts = [self._estimate_small(batch[np.flatnonzero(~large)])]
        parts += [self._estimate_large(batch[g : g + 1]) for g in np.flatnonzero(large).tolist()]
        matrix = 16.0 * len(batch) ** 2 if self._gives_gram else 0.0  # twice while it is computed
        seconds, needed = np.sum(parts, axis=0).tolist()
        return Estimate(seconds, needed + matrix)

    def _estimate_small(self, batch: GraphBatch) -> Estimate:
        """The cost of many small graphs, from some of them."""
        if not batch.n_vertices:
            return Estimate(0.0, 0.0)
        order = np.random.default_rng(0).permutation(len(batch))
        few = int(np.searchsorted(np.cumsum(batch.vertex_counts[order]), _SAMPLE_VERTICES)) + 1
        sample = batch[order[:few]]
        self.count_features(sample[:1])  # compiles
        here = self._measured(sample)
        scale = batch.n_vertices / max(sample.n_vertices, 1)
        return Estimate(scale * here.seconds, scale * here.needed)

    def _estimate_large(self, graph: GraphBatch) -> Estimate:
        """The cost of one large graph."""
        start = process_time()
        roots = self._roots(graph)
        prepared = process_time() - start
        if roots is not None:
            seconds, needed = estimate_large_graph(roots(0), self.n_jobs)
            return Estimate(prepared + seconds, needed)
        size = _PIECE_VERTICES // 4
        before = self._measured(_piece(graph, size))  # compiles
        while True:
            size = min(2 * size, graph.n_vertices)
            here = self._measured(_piece(graph, size))
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

    def _measured(self, batch: GraphBatch) -> _Measured:
        """What counting the features of some graphs takes."""
        start = process_time()
        lengths = [len(level.hashes) for level in self.count_features(batch)]
        seconds = process_time() - start
        needed = sum(lengths) * _FEATURE_BYTES + max(lengths) * TABLE_BYTES
        return _Measured(batch.n_vertices + batch.n_edges, seconds, float(needed))


class _Measured(NamedTuple):
    """Vertices and edges of some graphs, and what counting their features took."""

    size: int
    seconds: float
    needed: float  # bytes


def _piece(graph: GraphBatch, size: int) -> GraphBatch:
    """The subgraph of so many vertices of a graph that are near each other."""
    if size == graph.n_vertices:
        return graph
    starts = np.random.default_rng(0).permutation(graph.n_vertices)
    vertices = breadth_first_order(graph.arrays, starts, size)
    place = np.full(graph.n_vertices, -1)
    place[vertices] = np.arange(len(vertices))
    ends = place[graph.edges]
    inside = (ends >= 0).all(axis=1)
    entries = graph.edge_entries[inside]
    labels, attributes = graph.edge_labels, graph.edge_attributes
    own = graph.vertex_attributes
    return GraphBatch.from_edges(
        [len(vertices)],
        ends[inside],
        graph.labels[vertices] if graph.labelled else None,
        edge_labels=None if labels is None else labels[inside],
        vertex_attributes=None if own is None else own[vertices],
        edge_attributes=None if attributes is None else attributes[entries],
    )
