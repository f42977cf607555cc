"""PatternedKernel: base class of the graph invariant kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core.hashing import GOLDEN, hash_labels, mix_array
from ...core.refinement import pattern_colours, refine
from ...graphs.batch import GraphBatch
from ...parameters import BOOLEAN, OneOf, Whole, parameter
from .graph_kernel import GraphKernel, check_edge_labels


class VertexRoles(NamedTuple):
    """Roles of the vertices in the patterns of one radius, with one entry per refinement step."""

    pointers: np.ndarray  # first entry of each graph
    vertices: np.ndarray  # numbered from the first vertex of the range
    hashes: np.ndarray  # of (pattern, step, colour); equal hashes match
    sizes: np.ndarray  # number of vertices of the pattern, equal for equal hashes
    steps: np.ndarray


class PatternedKernel(GraphKernel):
    """Base class of the graph invariant kernels."""

    radius: int = parameter(Whole(0), default=2)
    n_iter: int = parameter(Whole(0), default=3)
    invariant: str = parameter(OneOf(("local", "global")), default="local")
    match: str = parameter(OneOf(("colours", "size")), default="colours")
    edge_labels: bool = parameter(BOOLEAN, default=False)

    def _patterns(
        self, batch: GraphBatch, radius: int, begin: int, end: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return the patterns of one radius; see :func:`pattern_colours`."""
        check_edge_labels(batch, self.edge_labels)
        return pattern_colours(batch.arrays, self.edge_labels, radius, self.n_iter, begin, end)

    def _roles(self, batch: GraphBatch, radius: int, begin: int, end: int) -> VertexRoles:
        """Return the vertex roles in the patterns of one radius, for a range of graphs."""
        pointers, members, colours, keys = self._patterns(batch, radius, begin, end)
        if self.invariant == "global":
            colours = refine(batch.arrays, self.edge_labels, self.n_iter, begin, end)[:, members]
        sizes = np.diff(pointers)
        if self.match == "size":
            keys = hash_labels(sizes, 4)
        steps = np.arange(self.n_iter + 1)
        with np.errstate(over="ignore"):
            salts = (steps.astype(np.uint64) + np.uint64(1)) * GOLDEN
            colours = mix_array(colours.T + salts)
            hashes = mix_array(colours + np.repeat(keys, sizes)[:, np.newaxis])
        roots = batch.offsets[begin : end + 1] - batch.offsets[begin]
        width = len(steps)
        return VertexRoles(
            pointers[roots] * width,
            np.repeat(members, width),
            hashes.ravel(),
            np.repeat(np.repeat(sizes, sizes), width),
            np.tile(steps, len(members)),
        )
