"""The Weisfeiler-Lehman subtree kernel."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..core.counting import count_graphs, count_hashes
from ..core.refinement import refine
from ..core.structures import Graphs
from ..graphs.batch import GraphBatch
from ..parameters import BOOLEAN, Whole, parameter
from .bases.feature_kernel import FeatureKernel
from .bases.graph_kernel import check_edge_labels
from .features import Counts, Occurrences, first_places, located_vertices
from .naming import Notation, label_name

#: Longer names of colours are replaced by the root's label and the colour's hash.
_LONGEST_NAME = 120


class WeisfeilerLehman(FeatureKernel):
    """Weisfeiler-Lehman subtree kernel: counts of the vertex colours of every refinement step.

    The initial colour of a vertex is its label. In each step its new colour encodes its old
    colour and the multiset of its neighbours' old colours, so that after t steps it describes the
    tree of all walks of length t from the vertex. The kernel is the sum over the steps 0 to
    ``n_iter`` of the dot products of the colour counts.

    Parameters
    ----------
    n_iter : int, default=5
        Number of refinement steps, h in the paper. All steps are computed in one pass; see
        :meth:`gram_levels`.
    edge_labels : bool, default=False
        If True, refine by pairs of edge label and neighbour's colour.
    similarity, output, counts, n_features, n_jobs, verbose
        As in :class:`TreePlusPlus`.

    See Also
    --------
    WLOptimalAssignment : The same colours, matched one to one.
    WLShortestPath : Pairs of colours with their distance.
    WLEdge : Colours of the ends of edges.
    WassersteinWL : The same colours compared by optimal transport.

    Notes
    -----
    Colours are 64-bit hashes of label values and are the same in every run, so adding or removing
    graphs does not change the features of the others. Counts are equal to those of GraKeL, whose
    ``n_iter`` has the same meaning. GraKeL ignores edge labels, as ``edge_labels=False`` does.

    A feature name shows the tree that a colour represents, such as ``C(C,O) t=1``. Trees longer
    than a line are replaced by the root's label and the hash of the colour.

    References
    ----------
    Shervashidze, Schweitzer, van Leeuwen, Mehlhorn, Borgwardt: Weisfeiler-Lehman Graph Kernels.
    Journal of Machine Learning Research 12, 2011.

    Examples
    --------
    >>> import graphgrain as gg
    >>> graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = gg.WeisfeilerLehman(n_iter=1, similarity="dot")
    >>> kernel.fit_transform(graphs).tolist()
    [[8.0, 4.0], [4.0, 4.0]]
    >>> sorted(kernel.feature_names())
    ['C', 'C(C) t=1', 'C(C,O) t=1', 'C(O) t=1', 'O', 'O(C) t=1']
    """

    n_iter: int = parameter(Whole(0), default=5, kw_only=False)
    edge_labels: bool = parameter(BOOLEAN, default=False)
    level_parameter = "n_iter"

    def count_features(self, batch: GraphBatch) -> list[Counts]:
        check_edge_labels(batch, self.edge_labels)

        def count(begin: int, end: int) -> list[Counts]:
            pointers = batch.offsets[begin : end + 1] - batch.offsets[begin]
            colours = refine(batch.arrays, self.edge_labels, self.n_iter, begin, end)
            return [count_hashes(pointers, row) for row in colours]

        return count_graphs(count, batch.vertex_counts, self.n_jobs)

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        return located_vertices(batch, self._colours(batch, self.n_iter))

    def _colours(self, batch: GraphBatch, steps: int) -> np.ndarray:
        """Return the colours of all vertices after 0, 1, ... steps."""
        check_edge_labels(batch, self.edge_labels)
        return refine(batch.arrays, self.edge_labels, steps, 0, len(batch))

    def _coloured(self, batch: GraphBatch) -> list[Graphs]:
        """Return the graphs with the colours of each step in place of their labels."""
        own = np.arange(batch.n_vertices, dtype=np.int32)
        return [
            batch.arrays._replace(labels=own, label_hashes=row)
            for row in self._colours(batch, self.n_iter)
        ]

    def descriptions_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        names = self._colour_names(batch, level)[1]
        return [f"t={level}: {names[colour]}" for colour in hashes.tolist()]

    def names_of(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        notation = Notation(batch)
        if not notation.molecules:
            names = self._colour_names(batch, level)[1]
            tail = f" t={level}" if level else ""
            return [names[colour] + tail for colour in hashes.tolist()]
        colours = self._colours(batch, level)[level]
        return [
            notation.neighbourhood(batch, vertex, level, self.edge_labels, code)
            for vertex, code in zip(first_places(colours, hashes), hashes.tolist(), strict=True)
        ]

    def _vertex_names(self, batch: GraphBatch, level: int) -> list[str]:
        """Return the name of the colour of each vertex after ``level`` steps."""
        colours, names = self._colour_names(batch, level)
        return [names[colour] for colour in colours.tolist()]

    def _colour_names(self, batch: GraphBatch, level: int) -> tuple[np.ndarray, dict[int, str]]:
        """Return the colours after ``level`` steps, and their names."""
        colours = self._colours(batch, level)
        examples = []  # one vertex per colour, for each step
        for row in colours:
            distinct, where = np.unique(row, return_index=True)
            examples.append(dict(zip(distinct.tolist(), where.tolist(), strict=True)))
        names = [
            {c: label_name(batch.label_table[batch.label_codes[v]]) for c, v in examples[0].items()}
        ]
        for step in range(1, level + 1):
            names.append({})
            for colour, vertex in examples[step].items():
                root = names[0][int(colours[0, vertex])]
                branches = ",".join(
                    self._branches(batch, vertex, names[step - 1], colours[step - 1])
                )
                tree = f"{root}({branches})" if branches else root
                names[step][colour] = (
                    tree if len(tree) <= _LONGEST_NAME else f"{root}~{colour:016x}"
                )
        return colours[level], names[level]

    def _branches(
        self, batch: GraphBatch, vertex: int, names: dict[int, str], colours: np.ndarray
    ) -> list[str]:
        """Return the sorted names of a vertex's neighbours, with edge labels if used."""
        entries = range(int(batch.indptr[vertex]), int(batch.indptr[vertex + 1]))
        branches = [names[int(colours[batch.indices[entry]])] for entry in entries]
        codes, table = batch.edge_label_codes, batch.edge_label_table
        if self.edge_labels and codes is not None and table is not None:
            branches = [
                f"[{label_name(table[codes[entry]])}]{branch}"
                for entry, branch in zip(entries, branches, strict=True)
            ]
        return sorted(branches)
