"""Colour refinement on hashes.

1. The first colour of a vertex is the hash of its label.
2. Its next colour hashes its colour together with the multiset of its neighbours' colours. A
   multiset is hashed by a sum: no sorting, no dictionary, the same on every machine.
3. With edge labels, a neighbour's colour is first mixed with the label of the edge to it.
"""

from __future__ import annotations

import numpy as np

from .compiling import compiled
from .hashing import BASE, mix
from .threads import entry_point


@compiled
def refine_once(graphs, edges, base, colours, finer):
    """Write to ``finer`` the next colours of the vertices from ``base`` on.

    With ``edges`` the labels of edges take part.
    """
    indptr, indices, edge_hashes = graphs.indptr, graphs.indices, graphs.edge_hashes
    for v in range(len(colours)):
        total = colours[v] * BASE
        for entry in range(indptr[base + v], indptr[base + v + 1]):
            colour = colours[indices[entry] - base]
            total += mix(colour + edge_hashes[graphs.edge_labels[entry]]) if edges else colour
        finer[v] = mix(total)


@entry_point
def refine_colours(graphs, edges, colours):
    """The next colours of all vertices."""
    finer = np.empty_like(colours)
    refine_once(graphs, edges, 0, colours, finer)
    return finer


@entry_point
def refine(graphs, edges, steps, begin, end):
    """Weisfeiler-Lehman colours of all vertices of the graphs ``begin`` to ``end``.

    One row per step; the first are the hashes of labels.
    """
    base = graphs.offsets[begin]
    n = graphs.offsets[end] - base
    colours = np.empty((steps + 1, n), dtype=np.uint64)
    for v in range(n):
        colours[0, v] = graphs.label_hashes[graphs.labels[base + v]]
    for step in range(steps):
        refine_once(graphs, edges, base, colours[step], colours[step + 1])
    return colours
