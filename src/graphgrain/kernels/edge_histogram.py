"""The edge histogram kernel, and helpers for edges as features."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..core.counting import count_hashes
from ..core.hashing import mix_array
from ..graphs.batch import GraphBatch
from ..parameters import BOOLEAN, parameter
from .bases.feature_kernel import FeatureKernel
from .bases.graph_kernel import check_edge_labels
from .features import Counts, Occurrences, first_places, single_vertices
from .naming import Branch, Notation, label_name


class EdgeHistogram(FeatureKernel):
    """Edge histogram kernel: counts of edges by the labels of their ends.

    Parameters
    ----------
    vertex_labels : bool, default=True
        If True, distinguish edges by the labels of their two ends.
    edge_labels : bool, default=False
        If True, distinguish edges by their own labels.
    similarity, output, counts, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

    See Also
    --------
    VertexHistogram : Vertices instead of edges.
    WLEdge : The same with refined labels.

    Notes
    -----
    Each undirected edge counts once. GraKeL's kernel of this name corresponds to
    ``vertex_labels=False, edge_labels=True``; its values are four times as large if its input lists
    every edge in both directions. A graph without edges has similarity 0 with all others.

    References
    ----------
    Sugiyama, Borgwardt: Halting in Random Walk Kernels. NeurIPS 2015.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = gg.EdgeHistogram(similarity="dot")
    >>> kernel.fit_transform(graphs).tolist()
    [[2.0, 1.0], [1.0, 1.0]]
    >>> sorted(kernel.feature_names())
    ['C->C', 'C->O']
    """

    vertex_labels: bool = parameter(BOOLEAN, default=True)
    edge_labels: bool = parameter(BOOLEAN, default=False)

    @property
    def _uses_labels(self) -> bool:  # type: ignore[override]
        return self.vertex_labels

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        if not (self.vertex_labels or self.edge_labels):  # all edges have the hash 0
            counts = batch.edge_counts
            some = counts[counts > 0]
            return [Counts((counts > 0).astype(int), np.zeros(len(some), np.uint64), some)]
        return [count_hashes(edge_pointers(batch), self._hashes(batch))]

    def _is_quick(self, batch: GraphBatch) -> bool:
        return self.similarity != "minmax" and not (self.vertex_labels or self.edge_labels)

    def _hashes(self, batch: GraphBatch) -> np.ndarray:
        """Return one hash per edge."""
        ends = batch.arrays.label_hashes[batch.label_codes] if self.vertex_labels else None
        return edge_hashes(batch, ends, self.edge_labels)

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        hashes = self._hashes(batch)
        for count, (own, paths) in zip(
            batch.vertex_counts.tolist(), edges_by_graph(batch), strict=True
        ):
            yield [Occurrences(hashes[own], paths, single_vertices(count))]

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        labels = batch.labels

        def ends(u: int, v: int) -> list[str]:
            found = sorted(labels[[u, v]].tolist()) if self.vertex_labels else []
            return list(map(label_name, found))

        return edge_names(batch, first_places(self._hashes(batch), hashes), ends, self.edge_labels)

    def names_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        if not self.vertex_labels:
            return self.descriptions_of(batch, level, hashes)
        notation = Notation(batch)
        edges, labels, ends = batch.edges, batch.edge_labels, batch.labels
        names = []
        for edge in first_places(self._hashes(batch), hashes):
            path = [[Branch(ends[vertex], None)] for vertex in edges[edge].tolist()]
            bond = labels[edge] if self.edge_labels and labels is not None else None
            names.append(notation.path(path, [bond], ""))
        return names


def edge_pointers(batch: GraphBatch) -> np.ndarray:
    """Return the position of the first edge of each graph, and the total."""
    return np.concatenate(([0], np.cumsum(batch.edge_counts)))


def edge_hashes(batch: GraphBatch, ends: np.ndarray | None, edge_labels: bool) -> np.ndarray:
    """Hash each edge from the hashes of its ends, if given, and its label, if wanted.

    The hashes of the ends are added, so that the result does not depend on their order.
    """
    own = np.zeros(batch.n_edges, dtype=np.uint64)
    if edge_labels and batch.n_edges:
        check_edge_labels(batch, True)
        arrays = batch.arrays
        own = mix_array(arrays.edge_hashes[arrays.edge_labels[batch.edge_entries]])
    if ends is not None:
        edges = batch.edges
        with np.errstate(over="ignore"):
            own += ends[edges[:, 0]] + ends[edges[:, 1]]
    return mix_array(own)


def edges_by_graph(batch: GraphBatch) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield, for each graph, the slice of its edges, and their ends numbered within the graph."""
    edges, ends = batch.edges, edge_pointers(batch).tolist()
    for graph, first in enumerate(batch.offsets[:-1].tolist()):
        own = slice(ends[graph], ends[graph + 1])
        yield own, (edges[own] - first).astype(np.int32)


def edge_names(
    batch: GraphBatch, chosen: list[int], ends: Callable[[int, int], list[str]], edge_labels: bool
) -> list[str]:
    """Name some edges: ``ends(u, v)`` joined by the edge, or the edge label if there are none."""
    edges, labels = batch.edges, batch.edge_labels
    names = []
    for edge in chosen:
        link = "-"
        if edge_labels and labels is not None:
            link = f"-[{label_name(labels[edge])}]-"
        names.append(f" {link} ".join(ends(*edges[edge].tolist())) or link)
    return names
