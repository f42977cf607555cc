"""The Tree++ patterns of one large graph, root by root.

1. The graph is renumbered once; all threads read the same.
2. Trees: a search to ``tree_depth`` from every root. To estimate the cost, colours of colour
   refinement take their place: they are known in no time, and vertices of different colours have
   different trees, nearly always.
3. Patterns: a search to ``path_depth`` from every root, given the hashes of all trees.
"""

from __future__ import annotations

import numpy as np

from .hashing import mix
from .large_graphs import RootedFeatures, timed_sample
from .patterns import level_salt, search_trees, walk
from .refinement import refine
from .structures import Graphs
from .tables import Tables, count_into
from .threads import call, entry_point, stop_flag
from .traversal import Options, Work, make_work, renumber


@entry_point
def _tree_hashes(edge_hashes, options, roots, work, stop):
    """Hashes of the trees of some roots; one search is kept at a time."""
    for root in roots:
        if stop[0]:
            return
        search_trees(
            edge_hashes, options, options.tree_depth, root, root + 1, work.graph, work.searches
        )


@entry_point
def _count_roots(edge_hashes, options, roots, work, tables, stop):
    """Count the patterns of some roots, given the hashes of all trees; returns the tables."""
    graph, searches, patterns = work.graph, work.searches, work.patterns
    depth = max(options.path_depth, options.tree_depth)
    zero = np.int64(0)
    for root in roots:
        if stop[0]:
            return tables
        search_trees(edge_hashes, options, depth, root, root + 1, graph, searches)
        pairs = walk(edge_hashes, options, zero, root, root + 1, False, graph, searches, patterns)
        for level in range(options.tree_depth + 1):
            tables = count_into(tables, level, patterns.codes[level], pairs)
    return tables


@entry_point
def _salt(hashes, level):
    """Keep the patterns of different levels apart."""
    salt = level_salt(level)
    for i in range(len(hashes)):
        hashes[i] = mix(hashes[i] + salt)


class PatternRoots(RootedFeatures):
    """The patterns of graph ``g``."""

    instead = (
        "Use a smaller path_depth or tree_depth, or a kernel with fewer features such as "
        "WeisfeilerLehman"
    )

    def __init__(self, graphs: Graphs, classes: np.ndarray, options: Options, g: int) -> None:
        self.graphs, self.options, self.g = graphs, options, g
        work = self._work()
        size = call(renumber, graphs, classes, options.edges, g, work.graph, work.searches)
        super().__init__(size, options.tree_depth + 1)
        self.graph = work.graph

    def _work(self) -> Work:
        return make_work(self.graphs, self.options, stop_flag(), self.g, self.g + 1, one=True)

    def scratch(self) -> Work:
        """Arrays that no other thread uses; the renumbered graph and the trees are shared."""
        return self._work()._replace(graph=self.graph)

    def prepare(self, roots: np.ndarray, scratch: Work) -> None:
        _tree_hashes(self.graphs.edge_hashes, self.options, roots, scratch)

    def prepare_roughly(self, order: np.ndarray) -> float:
        scratch = self.scratch()
        seconds, roots = timed_sample(lambda part: self.prepare(part, scratch), order)
        colours = refine(
            self.graphs, self.options.edges, self.options.tree_depth, self.g, self.g + 1
        )
        for level, colour in enumerate(colours[:, self.graph.vertex]):
            _spread_trees(self.graph.trees[:, level], colour, order[:roots])
        return seconds

    def add(self, roots: np.ndarray, scratch: Work, tables: Tables) -> Tables:
        tables = _count_roots(self.graphs.edge_hashes, self.options, roots, scratch, tables)
        return tables

    def read(self, tables: Tables, level: int) -> tuple[np.ndarray, np.ndarray]:
        hashes, counts = super().read(tables, level)
        _salt(hashes, level)
        return hashes, counts


def _spread_trees(trees: np.ndarray, colours: np.ndarray, roots: np.ndarray) -> None:
    """Give all vertices the tree of a root with their colour, or their colour itself."""
    known, first = np.unique(colours[roots], return_index=True)
    place = np.minimum(np.searchsorted(known, colours), len(known) - 1)
    of_roots = trees[roots[first]]
    trees[:] = np.where(known[place] == colours, of_roots[place], colours)
