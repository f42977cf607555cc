"""The Weisfeiler-Lehman edge kernel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.counting import count_hashes
from ..graphs.batch import GraphBatch
from .edge_histogram import edge_hashes, edge_names, edge_pointers, edges_by_graph
from .features import Counts, Occurrences, balls, first_places
from .weisfeiler_lehman import WeisfeilerLehman


class WLEdge(WeisfeilerLehman):
    """Weisfeiler-Lehman edge kernel: counts of the colours of the edges' ends at every step.

    After each refinement step an edge is represented by the colours of its two ends. The kernel
    is the sum over the steps 0 to ``n_iter`` of the dot products of the counts.

    Parameters
    ----------
    n_iter, similarity, output, counts, n_features, n_jobs, verbose
        As in :class:`WeisfeilerLehman`.
    edge_labels : bool, default=False
        If True, distinguish edges by their own labels, and refine by pairs of edge label and
        neighbour's colour.

    See Also
    --------
    EdgeHistogram : Edges by labels, without refinement.
    WeisfeilerLehman : Colours of single vertices.

    Notes
    -----
    Uses structure, vertex labels and optionally edge labels. The cost is that of colour
    refinement, linear in the number of edges and steps. Step 0 is :class:`EdgeHistogram`. A graph
    without edges has no features. GraKeL has no such kernel; its EdgeHistogram uses edge labels
    only.

    References
    ----------
    Shervashidze, Schweitzer, van Leeuwen, Mehlhorn, Borgwardt: Weisfeiler-Lehman Graph Kernels.
    Journal of Machine Learning Research 12, 2011.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = gg.WLEdge(n_iter=1, similarity="dot")
    >>> kernel.fit_transform(graphs).tolist()
    [[4.0, 1.0], [1.0, 2.0]]
    >>> sorted(kernel.feature_names())[:3]
    ['t=0: C - C', 't=0: C - O', 't=1: C(C) - C(C,O)']
    """

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        pointers = edge_pointers(batch)
        return [count_hashes(pointers, hashes) for hashes in self._hashes(batch)]

    def _hashes(self, batch: GraphBatch) -> Iterator[np.ndarray]:
        """Yield one hash per edge for each step."""
        for row in self._colours(batch, self.n_iter):
            yield edge_hashes(batch, row, self.edge_labels)

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        """Yield the two ends of each edge."""
        hashes = list(self._hashes(batch))
        for graph, (own, paths) in enumerate(edges_by_graph(batch)):
            yield [
                Occurrences(row[own], paths, balls(batch, graph, step))
                for step, row in enumerate(hashes)
            ]

    def names_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        return self.descriptions_of(batch, level, hashes)

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        names = self._vertex_names(batch, level)
        edges = first_places(list(self._hashes(batch))[level], hashes)
        written = edge_names(
            batch, edges, lambda u, v: sorted((names[u], names[v])), self.edge_labels
        )
        return [f"t={level}: {name}" for name in written]
