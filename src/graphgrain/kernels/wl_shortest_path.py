"""The Weisfeiler-Lehman shortest-path kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ..core.counting import RootedFeatures, count_graphs
from ..core.distances import PairRoots, count_pairs, trace_pairs
from ..core.structures import Graphs
from ..graphs.batch import GraphBatch
from .features import Counts, Occurrences, balls
from .weisfeiler_lehman import WeisfeilerLehman


class WLShortestPath(WeisfeilerLehman):
    """Weisfeiler-Lehman shortest-path kernel: pairs of colours by their distance at every step.

    After each refinement step the shortest-path kernel is evaluated with colours in place of
    labels: every ordered pair of connected vertices is one occurrence of the feature (colour of
    the first, colour of the second, number of edges between them). The kernel is the sum over the
    steps 0 to ``n_iter`` of the dot products of the counts.

    Parameters
    ----------
    n_iter, edge_labels, similarity, output, counts, n_features, n_jobs, verbose
        As in :class:`WeisfeilerLehman`.

    See Also
    --------
    ShortestPath : Pairs of labels, without refinement.
    WeisfeilerLehman : Colours without distances.

    Notes
    -----
    Uses structure, vertex labels and optionally edge labels. The cost is that of
    :class:`ShortestPath`, the number of vertices times the number of edges, for each step. After a
    few steps nearly every pair has a feature of its own. Values are equal to those of GraKeL's
    WeisfeilerLehman with ShortestPath as its base kernel. A graph without edges has no features.

    References
    ----------
    Shervashidze, Schweitzer, van Leeuwen, Mehlhorn, Borgwardt: Weisfeiler-Lehman Graph Kernels.
    Journal of Machine Learning Research 12, 2011.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = gg.WLShortestPath(n_iter=1, similarity="dot")
    >>> kernel.fit_transform(graphs).tolist()
    [[14.0, 2.0], [2.0, 4.0]]
    >>> sorted(kernel.feature_names())[:3]
    ['t=0: C 1 C', 't=0: C 1 O', 't=0: C 2 O']
    """

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        graphs = self._coloured(batch)

        def count(begin: int, end: int) -> list[Counts]:
            return [Counts(*count_pairs(own, False, begin, end)) for own in graphs]

        return count_graphs(count, batch.vertex_counts, self.n_jobs, _roots_of(graphs))

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        """Yield the two ends of each pair."""
        graphs = self._coloured(batch)
        for graph in range(len(batch)):
            levels = []
            for step, own in enumerate(graphs):
                codes, distances, *_ = trace_pairs(own, False, graph)
                pairs = np.argwhere(distances > 0).astype(np.int32)
                levels.append(Occurrences(codes[distances > 0], pairs, balls(batch, graph, step)))
            yield levels

    def names_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        return self.descriptions_of(batch, level, hashes)

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        own = self._coloured(batch)[level]
        names = self._vertex_names(batch, level)
        wanted, found = set(hashes.tolist()), {}
        for graph, first in enumerate(batch.offsets[:-1].tolist()):
            codes, distances, *_ = trace_pairs(own, False, graph)
            for u, v in np.argwhere(distances > 0).tolist():
                code = int(codes[u, v])
                if code in wanted and code not in found:
                    ends = names[first + u], names[first + v]
                    found[code] = f"t={level}: {ends[0]} {distances[u, v]} {ends[1]}"
        return [found[code] for code in hashes.tolist()]


def _roots_of(graphs: list[Graphs]) -> Callable[[int], RootedFeatures]:
    """Return the roots of large graphs; the levels differ only in the label hashes."""
    return partial(PairRoots, graphs[0], np.array([own.label_hashes for own in graphs]), False)
