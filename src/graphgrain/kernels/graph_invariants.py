"""GraphInvariants: the graph invariant kernel.

1. The patterns of a graph are the neighbourhoods of all its vertices, one per radius.
2. The role of a vertex, in its pattern or in the whole graph, is a vertex invariant: its colour
   after some refinement steps.
3. Pairs of vertices contribute if they have the same role in matching patterns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from ..core.counting import count_graphs, count_hashes
from ..core.refinement import equal_pairs
from ..graphs.batch import GraphBatch
from ..parameters import Whole, parameter
from .bases.feature_kernel import FeatureKernel
from .bases.patterned import PatternedKernel
from .features import Counts, Occurrences, balls, first_places
from .naming import label_name


class _Found(NamedTuple):
    """Occurrences of features, graph after graph."""

    pointers: np.ndarray  # first occurrence of each graph
    vertices: np.ndarray  # numbered from the first vertex of the range
    hashes: np.ndarray
    weights: np.ndarray  # equal for all occurrences of a feature


class GraphInvariants(FeatureKernel, PatternedKernel):
    """Graph invariant kernel (GIK): vertices with the same role in matching neighbourhoods.

    The patterns of radius r of a graph are the subgraphs induced by all vertices within distance r
    of a vertex, one pattern per vertex. For every pair of matching patterns of the same radius that
    contain them, a pair of vertices v and v' contributes k_inv(v, v') / (n n'), where k_inv is the
    number of refinement steps, from 0 to ``n_iter``, after which v and v' have the same colour, and
    n and n' are the numbers of vertices of the patterns. The kernel is the sum over all pairs of
    vertices and the radii 0 to ``radius``.

    Parameters
    ----------
    radius : int, default=2
        Largest radius of patterns. All radii are computed in one pass; see :meth:`gram_levels`.
    n_iter : int, default=3
        Number of colour refinement steps.
    invariant : {"local", "global"}, default="local"
        Whether colours are refined within the pattern or in the whole graph.
    match : {"colours", "size"}, default="colours"
        Patterns match if they have the same multiset of colours after ``n_iter`` steps within
        them, or if they have the same number of vertices.
    edge_labels : bool, default=False
        If True, refine by pairs of edge label and neighbour's colour.
    similarity, output, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

    See Also
    --------
    AttributedGraphInvariants : The same for vertices with attributes.
    NeighbourhoodPairs : Pairs of whole neighbourhoods.

    Notes
    -----
    Uses structure, vertex labels and optionally edge labels. A feature is a colour at a step within
    a pattern; its value is its number of occurrences divided by the number of vertices of the
    pattern. With the defaults, where matching patterns agree in all local colours, a feature is a
    whole pattern instead, since the weights of all pairs of vertices of two matching patterns add
    up to a constant of the pattern. The cost is that of refining every neighbourhood: vertices x
    edges of a neighbourhood x steps.

    The paper describes a family: k(G, G') is the sum over v and v' of w(v, v') k_attr(v, v'), where
    w(v, v') is the sum of k_inv(v, v') delta_m(g, g') / (n n') over the patterns g and g' that
    contain v and v'. It leaves patterns, invariant and matching open. ``invariant`` and ``match``
    select instances that it evaluates: its GWL with WL matching is ``invariant="global"`` with
    ``match="colours"``. No code was published, and these details are choices of this
    implementation: patterns are neighbourhoods without a marked root, of all radii up to ``radius``
    with equal weight; only patterns of the same radius are compared; initial colours are the
    labels, so that k_attr, equality of labels, is implied by k_inv, and all steps have equal
    weight; isomorphism of patterns is decided by colours, within the limits of refinement. The
    paper's spectral colouring of vertices is not implemented. GraKeL has no such kernel.

    References
    ----------
    Orsini, Frasconi, De Raedt: Graph Invariant Kernels. IJCAI 2015.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = gg.GraphInvariants(radius=1, n_iter=0, similarity="dot")
    >>> kernel.fit_transform(graphs).round(3).tolist()
    [[7.056, 4.0], [4.0, 4.0]]
    >>> sorted(name.partition(" ~")[0] for name in kernel.feature_names())
    ['r=0: 1 C', 'r=0: 1 O', 'r=1: 1 C, 1 O', 'r=1: 2 C', 'r=1: 2 C, 1 O']
    """

    radius: int = parameter(Whole(0), default=2, kw_only=False)
    n_iter: int = parameter(Whole(0), default=3, kw_only=False)
    level_parameter = "radius"
    counts: str = parameter(default="raw", init=False)  # values are fractions of patterns
    _whole_counts: ClassVar[bool] = False

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        def count(begin: int, end: int) -> list[Counts]:
            return [self._shares(batch, r, begin, end) for r in range(self.radius + 1)]

        return count_graphs(count, batch.vertex_counts, self.n_jobs)

    def _shares(self, batch: GraphBatch, radius: int, begin: int, end: int) -> Counts:
        """Return the number of occurrences of each feature times their weight."""
        found = self._found(batch, radius, begin, end)
        distinct, where = np.unique(found.hashes, return_index=True)
        level = count_hashes(found.pointers, found.hashes)
        weights = found.weights[where][np.searchsorted(distinct, level.hashes)]
        return level._replace(counts=level.counts * weights)

    def _found(self, batch: GraphBatch, radius: int, begin: int, end: int) -> _Found:
        """Return all occurrences of the features of one radius in a range of graphs."""
        if not self._whole_patterns:
            roles = self._roles(batch, radius, begin, end)
            return _Found(roles.pointers, roles.vertices, roles.hashes, 1.0 / roles.sizes)
        pointers, _, colours, keys = self._patterns(batch, radius, begin, end)
        roots = batch.offsets[begin : end + 1] - batch.offsets[begin]
        weights = np.sqrt(equal_pairs(pointers, colours)) / np.diff(pointers)
        return _Found(roots, np.arange(len(keys)), keys, weights)

    @property
    def _whole_patterns(self) -> bool:
        """Whether features are whole patterns: matching patterns agree in all vertex roles."""
        return self.invariant == "local" and self.match == "colours"

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        """Yield the root of each pattern, or the vertex with a role in it."""
        for graph in range(len(batch)):
            levels = []
            for radius in range(self.radius + 1):
                found = self._found(batch, radius, graph, graph + 1)
                paths = found.vertices.astype(np.int32).reshape(-1, 1)
                near = balls(batch, graph, radius)
                levels.append(Occurrences(found.hashes, paths, near, found.weights))
            yield levels

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        labels = [label_name(label) for label in batch.labels.tolist()]
        if self._whole_patterns:
            pointers, members, _, keys = self._patterns(batch, level, 0, len(batch))
            texts = []
            for place in first_places(keys, hashes):
                inside = members[pointers[place] : pointers[place + 1]].tolist()
                found = sorted(Counter(labels[vertex] for vertex in inside).items())
                texts.append(", ".join(f"{times} {label}" for label, times in found))
        else:
            roles = self._roles(batch, level, 0, len(batch))
            texts = [
                f"{labels[roles.vertices[place]]} after {roles.steps[place]} "
                f"among {roles.sizes[place]}"
                for place in first_places(roles.hashes, hashes)
            ]
        return [
            f"r={level}: {text} ~{code:016x}"
            for text, code in zip(texts, hashes.tolist(), strict=True)
        ]
