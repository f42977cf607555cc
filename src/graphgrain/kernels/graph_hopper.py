"""The GraphHopper kernel for labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.counting import count_graphs, is_large, shuffled
from ..core.hashing import GOLDEN, mix_array
from ..core.hops import INSTEAD, count_places, hop_matrices, long_path
from ..core.memory import require_memory
from ..graphs.batch import GraphBatch
from .bases.feature_kernel import FeatureKernel
from .features import Counts, Occurrences, single_vertices
from .naming import label_name

#: Number of roots from which the longest path of a large graph is searched.
_ROOTS = 64
#: Bytes per count of a label at a position: while it is summed, and as a feature.
_PLACE_BYTES = 24


class GraphHopper(FeatureKernel):
    """GraphHopper kernel: shortest paths compared vertex by vertex.

    The similarity of two shortest paths of equal length is the number of positions at which their
    labels agree. The kernel is the sum over all pairs of shortest paths. Paths need not be compared
    individually: the kernel is the dot product of the counts of (label, position, path length).

    Parameters
    ----------
    similarity, output, counts, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

    See Also
    --------
    AttributedGraphHopper : The same for vertices with attributes.
    ShortestPath : The ends of shortest paths.

    Notes
    -----
    Uses vertex labels and all shortest paths, in both directions; a single vertex is a path of
    length 0. For a graph with n vertices, m edges and diameter D the cost is n (m + n) D, and no
    pairs of graphs are compared. GraKeL's kernel uses attributes only; with one-hot vectors of
    labels and its linear kernel it has the same values.

    References
    ----------
    Feragen, Kasenburg, Petersen, de Bruijne, Borgwardt: Scalable Kernels for Graphs with
    Continuous Attributes. NeurIPS 2013.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = gg.GraphHopper(similarity="dot")
    >>> kernel.fit_transform(graphs).tolist()
    [[33.0, 11.0], [11.0, 6.0]]
    >>> sorted(kernel.feature_names())[:3]
    ['C at 0 of 0', 'C at 0 of 1', 'C at 0 of 2']
    """

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        for graph in np.flatnonzero([is_large(size) for size in batch.vertex_counts.tolist()]):
            begin, end = batch.offsets[graph : graph + 2].tolist()
            longest, room = long_path(batch.arrays, graph, shuffled(end - begin)[:_ROOTS])
            places = (longest + 1.0) * (longest + 2.0) / 2
            labels = len(np.unique(batch.label_codes[begin:end]))
            require_memory(
                _PLACE_BYTES * places * labels + 16.0 * room,
                f"The places on shortest paths of a graph with {end - begin:,} vertices",
                INSTEAD,
            )

        def count(begin: int, end: int) -> list[Counts]:
            return [Counts(*count_places(batch.arrays, begin, end))]

        return count_graphs(count, batch.vertex_counts, self.n_jobs)

    def _places(self, batch: GraphBatch, graph: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the number of paths with each vertex at each position, and the label hashes."""
        M = hop_matrices(batch.arrays, graph)
        own = slice(int(batch.offsets[graph]), int(batch.offsets[graph + 1]))
        labels = batch.arrays.label_hashes[batch.label_codes[own]]
        with np.errstate(over="ignore"):
            places = np.arange(1, M.shape[1] + 1, dtype=np.uint64) * GOLDEN
            return M, mix_array(labels[:, np.newaxis] + places)

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        """Yield the vertex at each position, once for every path."""
        for graph in range(len(batch)):
            M, hashes = self._places(batch, graph)
            require_memory(
                16.0 * M.sum(),  # hash, vertex and path of each occurrence
                f"The {M.sum():.3g} places of vertices on shortest paths, listed one by one,",
                INSTEAD,
            )
            times = M.ravel().astype(np.int64)
            vertices = np.repeat(np.arange(len(M), dtype=np.int32), M.shape[1])
            paths = np.repeat(vertices, times).reshape(-1, 1)
            yield [Occurrences(np.repeat(hashes.ravel(), times), paths, single_vertices(len(M)))]

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        names: dict[int, str] = {}
        for graph in range(len(batch)):
            M, codes = self._places(batch, graph)
            first = int(batch.offsets[graph])
            found, where = np.unique(codes[M > 0], return_index=True)
            for code, (vertex, column) in zip(
                found.tolist(), np.argwhere(M > 0)[where].tolist(), strict=True
            ):
                if code not in names:
                    length = int((np.sqrt(8 * column + 1) - 1) // 2)
                    place = column - length * (length + 1) // 2
                    label = label_name(batch.label_table[batch.label_codes[first + vertex]])
                    names[code] = f"{label} at {place} of {length}"
        return [names[code] for code in hashes.tolist()]
