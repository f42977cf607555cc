"""The shortest-path kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..core.attribution import NO_PATHS, Spelling
from ..core.counting import count_graphs
from ..core.distances import PairRoots, count_pairs, paths_between, trace_pairs
from ..graphs.batch import GraphBatch
from ..parameters import BOOLEAN, parameter
from .bases.feature_kernel import FeatureKernel
from .bases.graph_kernel import check_edge_labels
from .features import Counts, Occurrences, single_vertices
from .naming import Notation, label_name


class ShortestPath(FeatureKernel):
    """Shortest-path kernel: counts of pairs of vertices by their labels and their distance.

    Every ordered pair of distinct connected vertices is one occurrence of the feature (label of
    the first, label of the second, number of edges between them). The kernel is the dot product of
    the counts.

    Parameters
    ----------
    edge_labels : bool, default=False
        If True, also distinguish pairs by the sequence of edge labels along the shortest path;
        among several shortest paths, the first sequence in sorted order is used.
    similarity, output, counts, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

    See Also
    --------
    WLShortestPath : The same with refined labels.
    GraphHopper : All vertices on shortest paths, not only their ends.
    PathPattern : The labels along shortest paths.

    Notes
    -----
    Edges have length 1. Counts are equal to those of GraKeL with labels. A graph without edges has
    no features and similarity 0 with all others, where GraKeL's normalised matrix has NaN. GraKeL
    ignores edge labels, as ``edge_labels=False`` does. The cost is proportional to the number of
    vertices times the number of edges of a graph.

    References
    ----------
    Borgwardt, Kriegel: Shortest-Path Kernels on Graphs. ICDM 2005.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = gg.ShortestPath(similarity="dot")
    >>> kernel.fit_transform(graphs).tolist()
    [[8.0, 2.0], [2.0, 2.0]]
    >>> sorted(kernel.feature_names())
    ['C 1 C', 'C 1 O', 'C 2 O', 'O 1 C', 'O 2 C']
    """

    edge_labels: bool = parameter(BOOLEAN, default=False)

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        check_edge_labels(batch, self.edge_labels)
        hashes = batch.arrays.label_hashes[np.newaxis]
        roots = partial(PairRoots, batch.arrays, hashes, self.edge_labels)

        def count(begin: int, end: int) -> list[Counts]:
            return [Counts(*count_pairs(batch.arrays, self.edge_labels, begin, end))]

        return count_graphs(count, batch.vertex_counts, self.n_jobs, roots)

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        """Yield the two ends of each pair; with edge labels, the whole path between them."""
        check_edge_labels(batch, self.edge_labels)
        for graph in range(len(batch)):
            codes, distances, before, _ = trace_pairs(batch.arrays, self.edge_labels, graph)
            pairs = np.argwhere(distances > 0)
            paths, spelling = pairs.astype(np.int32), NO_PATHS
            if self.edge_labels:
                longest = int(distances.max(initial=0)) + 1
                paths = paths_between(pairs, before, longest)
                # Labels of the vertices between the ends do not matter.
                alike = np.zeros(len(distances), dtype=np.uint64)
                spelling = Spelling(alike, edges=True, reversible=False)
            trees = single_vertices(len(distances))
            yield [Occurrences(codes[distances > 0], paths, trees, spelling=spelling)]

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        def write(ends: np.ndarray, between: list[Any]) -> str:
            link = f"[{','.join(map(label_name, between))}]" if self.edge_labels else len(between)
            return f"{label_name(ends[0])} {link} {label_name(ends[1])}"

        return self._named(batch, hashes, write)

    def names_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        notation = Notation(batch)
        if not notation.molecules:
            return self.descriptions_of(batch, level, hashes)
        return self._named(
            batch, hashes, lambda ends, between: notation.walk(ends[0], ends[1], between)
        )

    def _named(
        self,
        batch: GraphBatch,
        hashes: np.ndarray,
        write: Callable[[np.ndarray, list[Any]], str],
    ) -> list[str]:
        """Name pairs from the labels of their ends and of the edges between (None if not used)."""
        check_edge_labels(batch, self.edge_labels)
        table = batch.edge_label_table if self.edge_labels else None
        names: dict[int, str] = {}
        for graph in range(len(batch)):
            if len(names) == len(hashes):
                break
            codes, distances, before, via = trace_pairs(batch.arrays, self.edge_labels, graph)
            first = int(batch.offsets[graph])
            found, where = np.unique(codes[distances > 0], return_index=True)
            pairs = np.argwhere(distances > 0)[where].tolist()
            for code, (u, v) in zip(found.tolist(), pairs, strict=True):
                if code not in names:
                    ends = batch.label_table[batch.label_codes[[first + u, first + v]]]
                    between = [None] * int(distances[u, v])
                    if table is not None:
                        between = _labels_between(u, v, before, via, table)
                    names[code] = write(ends, between)
        return [names[code] for code in hashes.tolist()]


def _labels_between(
    u: int, v: int, before: np.ndarray, via: np.ndarray, table: np.ndarray
) -> list[Any]:
    """Return the labels of the edges along the path from u to v."""
    labels = []
    while v != u:
        labels.append(table[via[u, v]])
        v = int(before[u, v])
    return labels[::-1]
