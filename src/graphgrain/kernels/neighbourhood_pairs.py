"""NSPDK: the neighbourhood subgraph pairwise distance kernel."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ..core.counting import count_graphs, count_hashes
from ..core.hashing import GOLDEN, mix_array
from ..core.neighbourhood_pairs import NeighbourhoodRoots, near_pairs, neighbourhood_hashes
from ..graphs.batch import GraphBatch
from ..parameters import BOOLEAN, Whole, parameter
from .bases.feature_kernel import FeatureKernel
from .bases.graph_kernel import check_edge_labels
from .features import Counts, Occurrences, balls, first_places
from .naming import label_name


class NeighbourhoodPairs(FeatureKernel):
    """NSPDK: counts of pairs of neighbourhoods at small distances.

    The neighbourhood of radius r of a vertex is the subgraph induced by all vertices within
    distance r, with the vertex as its root. For every r up to ``radius`` and every d up to
    ``distance``, the features are the pairs of neighbourhoods of radius r whose roots have distance
    d. The kernel is the sum over all (r, d) of the cosine similarities of the counts.

    Parameters
    ----------
    radius : int, default=3
        Largest radius, r* in the paper.
    distance : int, default=4
        Largest distance, d* in the paper.
    edge_labels : bool, default=False
        If True, neighbourhoods include edge labels.
    similarity, output, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

    See Also
    --------
    WeisfeilerLehman : Single neighbourhoods, by colour refinement.
    GraphInvariants : Vertices within matching neighbourhoods.

    Notes
    -----
    Uses structure, vertex labels and optionally edge labels. Neighbourhoods are compared by the
    invariant of the paper (each edge is described by its ends, each end by its distances to all
    vertices and their labels), which in rare cases does not distinguish non-isomorphic ones. The
    cost is cubic in the size of the neighbourhoods, times the number of vertices; pairs cost as
    much as a shortest-path kernel truncated at ``distance``. Each pair of vertices counts once, and
    for d = 0 each vertex.

    The levels of :meth:`gram_levels` are the pairs (r, d), with d varying faster. GraKeL's kernel
    of this name counts ordered pairs, always uses edge labels and has a different invariant, so
    values differ except for r = d = 0.

    References
    ----------
    Costa, De Grave: Fast Neighborhood Subgraph Pairwise Distance Kernel. ICML 2010.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = gg.NeighbourhoodPairs(radius=0, distance=1)
    >>> kernel.fit_transform(graphs).round(3).tolist()
    [[1.0, 0.828], [0.828, 1.0]]
    >>> sorted(kernel.feature_names())
    ['r=0, d=0: C', 'r=0, d=0: O', 'r=0, d=1: C .. C', 'r=0, d=1: C .. O']
    """

    radius: int = parameter(Whole(0), default=3, kw_only=False)
    distance: int = parameter(Whole(0), default=4, kw_only=False)
    edge_labels: bool = parameter(BOOLEAN, default=False)
    counts: str = parameter(
        default="unit", init=False
    )  # equal weight for every (r, d), as in the paper

    @property
    def level_scales(self) -> np.ndarray:
        return np.ones((self.radius + 1) * (self.distance + 1))

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        check_edge_labels(batch, self.edge_labels)
        roots = partial(
            NeighbourhoodRoots, batch.arrays, self.edge_labels, self.radius, self.distance
        )

        def count(begin: int, end: int) -> list[Counts]:
            levels = self._occurrences(batch, begin, end)
            return [count_hashes(pointers, hashes) for pointers, _, hashes in levels]

        return count_graphs(count, batch.vertex_counts, self.n_jobs, roots)

    def _occurrences(
        self, batch: GraphBatch, begin: int, end: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield, for each level, the first pair of each graph, the pairs, and their hashes."""
        check_edge_labels(batch, self.edge_labels)
        pointers, pairs = near_pairs(batch.arrays, self.distance, begin, end)
        rows = np.repeat(np.arange(end - begin), np.diff(pointers))
        at = [pairs[:, 2] == d for d in range(self.distance + 1)]
        ends = [
            np.concatenate(([0], np.cumsum(np.bincount(rows[there], minlength=end - begin))))
            for there in at
        ]
        for hashes in neighbourhood_hashes(batch.arrays, self.edge_labels, self.radius, begin, end):
            for d, there in enumerate(at):
                with np.errstate(over="ignore"):
                    both = hashes[pairs[there, 0]] + hashes[pairs[there, 1]]
                    codes = mix_array(both + np.uint64(d + 1) * GOLDEN)
                yield ends[d], pairs[there, :2], codes

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        for graph in range(len(batch)):
            levels = []
            for level, (_, pairs, codes) in enumerate(self._occurrences(batch, graph, graph + 1)):
                paths = pairs.astype(np.int32)
                paths[paths[:, 0] == paths[:, 1], 1] = -1  # distance 0: one vertex
                trees = balls(batch, graph, level // (self.distance + 1))
                levels.append(Occurrences(codes, paths, trees))
            yield levels

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        radius, distance = divmod(level, self.distance + 1)
        _, pairs, codes = list(self._occurrences(batch, 0, len(batch)))[level]
        names = []
        for code, place in zip(hashes.tolist(), first_places(codes, hashes), strict=True):
            roots = pairs[place].tolist() if distance else pairs[place, :1].tolist()
            ends = sorted(self._root_name(batch, vertex, radius) for vertex in roots)
            mark = f" ~{code:016x}" if radius else ""
            names.append(f"r={radius}, d={distance}: {' .. '.join(ends)}{mark}")
        return names

    def _root_name(self, batch: GraphBatch, vertex: int, radius: int) -> str:
        """Return the label of a vertex, followed by those of its neighbours if ``radius`` > 0."""
        own = label_name(batch.label_table[batch.label_codes[vertex]])
        if not radius:
            return own
        around = batch.indices[batch.indptr[vertex] : batch.indptr[vertex + 1]]
        labels = batch.label_table[batch.label_codes[around]].tolist()
        return f"{own}({','.join(sorted(map(label_name, labels)))})" if labels else own
