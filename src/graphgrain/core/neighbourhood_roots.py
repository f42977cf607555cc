"""The pairs of neighbourhoods of one large graph, root by root.

1. The neighbourhoods of all vertices are hashed, for each radius. It takes the square of their
   sizes: distances are needed between all vertices of a neighbourhood. To estimate the cost, some
   vertices of some neighbourhoods are described, and colours of colour refinement take the place
   of hashes.
2. The vertices around a root are paired with it, those with a smaller number left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .balls import empty_ball, fill_ball
from .hashing import GOLDEN, mix
from .large_graphs import RootedFeatures, timed_sample
from .neighbourhood_pairs import make_neighbourhood, neighbourhood_hash
from .refinement import refine
from .structures import Graphs
from .tables import Tables, count_into
from .threads import call, entry_point

#: Vertices of a neighbourhood that are described to learn the speed.
_SOME = 16


@entry_point
def _hash_neighbourhoods(graphs, edges, g, roots, most, scratch, hashes, stop):
    """Hash the neighbourhoods of some roots; returns which part of the work was done.

    That is all of it unless ``most``, the vertices of a neighbourhood to describe, is less.
    """
    done = whole = 0.0
    for root in roots:
        for radius in range(len(hashes)):
            if stop[0]:
                return 1.0
            hashes[radius, root], count = neighbourhood_hash(
                graphs, edges, graphs.offsets[g], root, radius, scratch, most, stop
            )
            done += min(count, most) * count
            whole += count * count
    return done / whole


@entry_point
def _count_roots(graphs, furthest, g, roots, scratch, hashes, tables, stop):
    """Count the pairs of some roots: radius r and distance d at level r (furthest + 1) + d."""
    ball, codes, _, _ = scratch
    distance, members = ball.distance, ball.members
    for root in roots:
        if stop[0]:
            return tables
        count = fill_ball(graphs, graphs.offsets[g], root, furthest, ball)
        begin = 0
        while begin < count:  # those at one distance follow each other
            d = distance[begin]
            end = begin
            while end < count and distance[end] == d:
                end += 1
            for radius in range(len(hashes)):
                found = 0
                for i in range(begin, end):
                    v = members[i]
                    if v >= root:
                        both = hashes[radius, root] + hashes[radius, v]
                        codes[found] = mix(both + np.uint64(d + 1) * GOLDEN)
                        found += 1
                tables = count_into(tables, radius * (furthest + 1) + d, codes, found)
            begin = end
        empty_ball(ball, count)
    return tables


class NeighbourhoodRoots(RootedFeatures):
    """The pairs of graph ``g``, with neighbourhoods of radius 0 to ``radius``."""

    instead = (
        "Use a smaller radius or distance, or a kernel with fewer features such as WeisfeilerLehman"
    )

    def __init__(self, graphs: Graphs, edges: bool, radius: int, furthest: int, g: int) -> None:
        size = int(graphs.offsets[g + 1] - graphs.offsets[g])
        super().__init__(size, (radius + 1) * (furthest + 1))
        self.graphs, self.edges, self.furthest, self.g = graphs, edges, furthest, g
        self.hashes = np.zeros((radius + 1, size), dtype=np.uint64)

    def scratch(self) -> Any:
        return call(make_neighbourhood, self.graphs, self.g, self.g + 1)

    def prepare(self, roots: np.ndarray, scratch: Any) -> None:
        self._describe(roots, scratch, self.size)

    def _describe(self, roots: np.ndarray, scratch: Any, most: int) -> float:
        part: float = _hash_neighbourhoods(
            self.graphs, self.edges, self.g, roots, most, scratch, self.hashes
        )
        return part

    def prepare_roughly(self, order: np.ndarray) -> float:
        scratch, parts = self.scratch(), []
        seconds, _ = timed_sample(
            lambda roots: parts.append(self._describe(roots, scratch, _SOME)), order
        )
        self.hashes[:] = refine(self.graphs, self.edges, len(self.hashes) - 1, self.g, self.g + 1)
        return seconds / parts[-1]

    def add(self, roots: np.ndarray, scratch: Any, tables: Tables) -> Tables:
        tables = _count_roots(
            self.graphs, self.furthest, self.g, roots, scratch, self.hashes, tables
        )
        return tables
