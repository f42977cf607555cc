"""The pairs of vertices of one large graph with their distances, root by root."""

from __future__ import annotations

from typing import Any

import numpy as np

from .distances import make_search, pair_codes, search
from .large_graphs import RootedFeatures
from .structures import Graphs
from .tables import Tables, count_into
from .threads import call, entry_point


@entry_point
def _count_roots(graphs, label_hashes, edges, g, roots, scratch, tables, stop):
    """Count the pairs of some roots, at each level by other hashes of labels."""
    work, paths, codes = scratch
    base = graphs.offsets[g]
    for root in roots:
        if stop[0]:
            return tables
        reached = search(graphs, edges, base, root, work, paths)
        for level in range(len(label_hashes)):
            pair_codes(
                graphs.labels, label_hashes[level], edges, base, root, reached, work, paths, codes
            )
            tables = count_into(tables, level, codes, reached - 1)
    return tables


class PairRoots(RootedFeatures):
    """The pairs of graph ``g``.

    Parameters
    ----------
    label_hashes : array of shape (levels, labels)
        Hashes of the labels at each level.
    """

    instead = "Use a kernel with fewer features such as WeisfeilerLehman or PathPattern"

    def __init__(self, graphs: Graphs, label_hashes: np.ndarray, edges: bool, g: int) -> None:
        super().__init__(int(graphs.offsets[g + 1] - graphs.offsets[g]), len(label_hashes))
        self.graphs, self.label_hashes, self.edges, self.g = graphs, label_hashes, edges, g

    def scratch(self) -> Any:
        codes = np.empty(self.size, dtype=np.uint64)
        return call(make_search, self.size), np.zeros(self.size, dtype=np.uint64), codes

    def add(self, roots: np.ndarray, scratch: Any, tables: Tables) -> Tables:
        tables = _count_roots(
            self.graphs, self.label_hashes, self.edges, self.g, roots, scratch, tables
        )
        return tables
