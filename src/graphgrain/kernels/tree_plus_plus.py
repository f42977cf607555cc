"""Tree++, the truncated tree based graph kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..core.attribution import Spelling
from ..core.centrality import centrality_classes
from ..core.patterns import Options, count_patterns, make_work, trace_patterns
from ..core.structures import Graphs
from ..core.threads import call, chunks, stop_flag
from ..graphs.batch import GraphBatch
from ..parameters import BOOLEAN, OneOf, Whole, parameter
from .bases.feature_kernel import FeatureKernel
from .bases.graph_kernel import check_edge_labels
from .features import Counts, Occurrences
from .naming import Branch, Notation, arrow_tree, flat, join_path, nested

#: Approximate number of vertices located per call.
_LOCATED_VERTICES = 1024

CENTRALITIES = ("eigenvector", "closeness", "betweenness", "degree", None)


class TreePlusPlus(FeatureKernel):
    """Tree++ graph kernel: path patterns whose elements grow from vertices to trees.

    From every vertex a breadth-first tree of depth ``path_depth`` is grown. Its paths, read as
    sequences of labels, are the features of level 0. At level i each vertex on a path is
    replaced by its neighbourhood, the breadth-first tree of depth i (a super path). The kernel is
    the sum over the levels 0 to ``tree_depth`` of the dot products of the counts. The result does
    not depend on the numbering of the vertices.

    Parameters
    ----------
    path_depth : int, default=6
        Length of the longest paths, d in the paper.
    tree_depth : int, default=3
        Depth of the largest trees on a path, k in the paper. All levels are computed in one pass;
        see :meth:`gram_levels`.
    similarity : {"cosine", "minmax", "dot"}, default="cosine"
        Comparison of the features of two graphs. "dot" is the dot product, "cosine" the dot
        product divided by both norms, "minmax" the sum of minima over the sum of maxima (the
        Tanimoto coefficient of counts). Ignored if ``output="features"``.
    output : {"gram", "features"}, default="gram"
        Output of ``transform``: similarities to the fitted graphs, or a sparse matrix of features
        with one column per feature seen in ``fit``. Dot products of its rows are the kernel values.
    centrality : {"eigenvector", "closeness", "betweenness", "degree", None}, default="eigenvector"
        Centrality that orders vertices with equal labels in the breadth-first trees, or None to
        use none.
    edge_labels : bool, default=False
        If True, trees and patterns include edge labels.
    counts : {"raw", "sqrt", "log", "binary", "intersection"}, default="raw"
        Map applied to each count c before features are compared: c, sqrt(c), log(1 + c), 1, or c
        ones ("intersection", with which the dot product becomes the sum of minima).
    n_features : int, optional
        Number of columns of ``output="features"``. Each feature is assigned to its hash modulo
        this number, so no vocabulary is learned and ``transform`` works without ``fit``. By
        default there is one column per feature seen in ``fit``.
    n_jobs, verbose
        As in :class:`GraphKernel`.

    Attributes
    ----------
    vocabulary_ : list of uint64 arrays
        Sorted feature hashes of each level.
    graphs_ : GraphBatch
        The fitted graphs.

    See Also
    --------
    PathPattern : Level 0 only: paths of labels.
    WeisfeilerLehman : Neighbourhoods without the paths between them.
    GraphClassifier : Classifier that selects depths and count maps itself.

    Notes
    -----
    Labels must be integers or strings. In graphs without labels all vertices have the same label;
    :meth:`GraphBatch.with_degree_labels` uses degrees instead. Features of new graphs that were
    not seen in ``fit`` do not contribute to similarities, but do contribute to the norm of the
    new graph.

    Results depend on the order of the labels, not only on which labels are equal: vertices are
    visited in label order, integers numerically and strings by code point. Renaming labels leaves
    all values unchanged if it preserves this order (and that of the edge labels, if used);
    otherwise trees, patterns and values may change.

    References
    ----------
    Ye, Wang, Redberg, Singh: Tree++: Truncated Tree Based Graph Kernels. IEEE Transactions on
    Knowledge and Data Engineering 33 (4), 2021.

    Examples
    --------
    >>> import graphgrain as gg
    >>> ethanol = ([(0, 1), (1, 2)], ["C", "C", "O"])
    >>> methanol = ([(0, 1)], ["C", "O"])
    >>> water = ([], ["O"])
    >>> gg.TreePlusPlus(tree_depth=1).fit_transform([ethanol, methanol, water]).round(2).tolist()
    [[1.0, 0.41, 0.12], [0.41, 1.0, 0.2], [0.12, 0.2, 1.0]]
    """

    path_depth: int = parameter(Whole(0), default=6, kw_only=False)
    tree_depth: int = parameter(Whole(0), default=3, kw_only=False)
    centrality: str | None = parameter(OneOf(CENTRALITIES), default="eigenvector")
    edge_labels: bool = parameter(BOOLEAN, default=False)
    level_parameter: ClassVar[str | None] = "tree_depth"

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        return count_patterns(*self._given(batch), self.n_jobs)

    def _given(self, batch: GraphBatch) -> tuple[Graphs, np.ndarray, Options]:
        """Return the arguments that counting and tracing share."""
        check_edge_labels(batch, self.edge_labels)
        options = Options(self.path_depth, self.tree_depth, self.edge_labels)
        graphs = batch.arrays
        if self.centrality is None:
            return graphs, np.zeros(batch.n_vertices, dtype=np.int32), options
        if self.centrality == "degree":
            return graphs, batch.degrees.astype(np.int32), options
        return graphs, centrality_classes(graphs, self.centrality, self.n_jobs), options

    # ---------------------------------------------------------------- occurrences and names

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        graphs, classes, given = self._given(batch)

        def trace_all(begin: int, end: int) -> list[list[Occurrences]]:
            found: list[list[Occurrences]] = [[] for _ in range(begin, end)]
            for level in range(self.tree_depth + 1):
                options = given._replace(tree_depth=level)
                work = make_work(graphs, options, stop_flag(), begin, end)
                for own, graph in zip(found, range(begin, end), strict=True):
                    hashes, paths, _, trees, _, codes = trace_patterns(
                        graphs, classes, options, work, graph
                    )
                    spelling = Spelling(codes, self.edge_labels, reversible=True)
                    own.append(Occurrences(hashes, paths, trees, spelling=spelling))
            return found

        # Several graphs at once: a call to a worker costs more than tracing a small graph.
        for begin, end in chunks(batch.vertex_counts, _LOCATED_VERTICES):
            yield from call(trace_all, begin, end)

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        names = [""] * len(hashes)
        for place, seen in self._examples(batch, level, hashes, first=True):
            elements = [arrow_tree(own.tree) for own in self._elements(seen, level, False)]
            names[place] = f"k={level}: {join_path(elements, self._edge_names(batch, seen.bonds))}"
        return names

    def names_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        notation = Notation(batch)
        # From level 2 on, trees of different shapes can have the same label sequence. The SMARTS
        # must match every occurrence, so it lists all shapes. Conversely, trees of one shape can
        # have several sequences, since vertices of equal rank are merged: such names have a hash.
        every = notation.molecules and level > 1
        tails = [f" k={level}" if level else ""] * len(hashes)
        forms: dict[int, list[list[Branch]]] = {}
        orders: dict[int, tuple[list[Any], list[Any]]] = {}
        for place, seen in self._examples(batch, level, hashes, first=not every):
            elements = self._elements(seen, level, notation.molecules)
            if any(own.merged for own in elements):
                tails[place] = f" k={level} ~{int(hashes[place]):016x}"
            order = [own.sequence for own in elements], self._edge_names(batch, seen.bonds)
            if orders.setdefault(place, order) != order:
                elements.reverse()  # the same path, found from its other end
            known = forms.setdefault(place, [[] for _ in elements])
            for those, own in zip(known, elements, strict=True):
                if own.tree not in those:
                    those.append(own.tree)
        return [
            notation.path([sorted(those) for those in forms[place]], orders[place][1], tail)
            for place, tail in enumerate(tails)
        ]

    def _elements(self, seen: _Example, level: int, deep: bool) -> list[_Element]:
        """Return the trees on a path, nested or with all vertices directly below the root."""
        for vertex in seen.path:
            if vertex not in seen.elements:
                vertices = [v for v in seen.trees[vertex].tolist() if v >= 0]
                edges = self._edge_names(seen.batch, seen.tree_edges[vertex][1 : len(vertices)])
                bonds = [None, *edges]
                sequence = list(zip(seen.labels[vertices].tolist(), bonds, strict=True))
                tree = (
                    nested(seen.labels, vertices, bonds, seen.neighbours, level)
                    if deep
                    else flat(seen.labels, vertices, bonds)
                )
                merged = _breadth_first(tree) != sequence
                seen.elements[vertex] = _Element(tree, sequence, merged)
        return [seen.elements[vertex] for vertex in seen.path]

    def _edge_names(self, batch: GraphBatch, codes: np.ndarray) -> list[Any]:
        table = batch.edge_label_table
        if not self.edge_labels or table is None:
            return [None] * len(codes)
        return [table[code] for code in codes.tolist()]

    def _examples(
        self, batch: GraphBatch, level: int, hashes: np.ndarray, first: bool
    ) -> Iterator[tuple[int, _Example]]:
        """Yield occurrences of the given hashes (ascending): the first of each, or all of them."""
        if not len(hashes):
            return
        graphs, classes, options = self._given(batch)
        options = options._replace(tree_depth=level)
        missing = set(range(len(hashes)))
        for graph in range(len(batch)):
            if first and not missing:
                break
            work = make_work(graphs, options, stop_flag(), graph, graph + 1)
            found, paths, path_edges, trees, tree_edges, _ = trace_patterns(
                graphs, classes, options, work, graph
            )
            base, end = int(batch.offsets[graph]), int(batch.offsets[graph + 1])
            labels = batch.label_table[batch.label_codes[base:end]]
            neighbours = [
                {int(w) - base for w in batch.indices[batch.indptr[v] : batch.indptr[v + 1]]}
                for v in range(base, end)
            ]
            elements: dict[int, _Element] = {}
            if first:
                found, rows = np.unique(found, return_index=True)
            else:
                rows = np.arange(len(found))
            places = np.minimum(np.searchsorted(hashes, found), len(hashes) - 1)
            for code, place, row in zip(found, places.tolist(), rows.tolist(), strict=True):
                if hashes[place] != code or (first and place not in missing):
                    continue
                missing.discard(place)
                path = [vertex for vertex in paths[row].tolist() if vertex >= 0]
                between = path_edges[row, 1 : len(path)]
                seen = _Example(
                    batch, labels, neighbours, path, between, trees, tree_edges, elements
                )
                yield place, seen


class _Example(NamedTuple):
    """An occurrence of a pattern and the data needed to name it."""

    batch: GraphBatch
    labels: np.ndarray
    neighbours: list[set[int]]
    path: list[int]
    bonds: np.ndarray
    trees: np.ndarray
    tree_edges: np.ndarray
    elements: dict[int, _Element]  # trees of the graph decoded so far


class _Element(NamedTuple):
    """A tree on a path."""

    tree: Branch
    sequence: list[tuple[Any, Any]]  # labels of vertices and edges, in the order of their ranks
    merged: bool  # whether the sequence is another than that of the tree, read breadth first


def _breadth_first(tree: Branch) -> list[tuple[Any, Any]]:
    queue = [tree]
    for branch in queue:
        queue.extend(branch.below)
    return [(branch.label, branch.bond) for branch in queue]
