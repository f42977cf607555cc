"""Where features sit in a graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.balls import balls_of
from ..graphs.batch import GraphBatch


class Occurrences(NamedTuple):
    """Every occurrence of every feature of one level in one graph.

    Attributes
    ----------
    hashes : uint64 array
        The feature of each occurrence: each hash as often as the feature occurs.
    paths : int32 array of shape (occurrences, longest)
        The vertices of each occurrence, in order; -1 fills the rest. Vertices are numbered
        within the graph.
    trees : int32 array of shape (vertices, largest)
        Row v: the vertices whose labels take part wherever v stands on a path, v first.
    weights : float array, optional
        What each occurrence adds to its feature, the same for all of a feature; 1 without it.

    Examples
    --------
    >>> import graphgrain as gg
    >>> [found] = gg.VertexHistogram().locate([([(0, 1)], ["C", "O"])])
    >>> found.of(found.hashes[:1])
    [(0,)]
    """

    hashes: np.ndarray
    paths: np.ndarray
    trees: np.ndarray
    weights: np.ndarray | None = None

    def of(self, wanted: np.ndarray) -> list[tuple[int, ...]]:
        """The sorted vertex paths of some features."""
        rows = self.paths[np.isin(self.hashes, wanted)].tolist()
        return sorted(tuple(vertex for vertex in row if vertex >= 0) for row in rows)

    def tally(self) -> Tally:
        """The features that occur, how often, and what the occurrences add up to."""
        hashes, place, times = np.unique(self.hashes, return_inverse=True, return_counts=True)
        values = times
        if self.weights is not None:
            values = np.bincount(place, self.weights, len(hashes))
        return Tally(hashes, place, times, values)


class Tally(NamedTuple):
    """The features of one level in one graph."""

    hashes: np.ndarray  # ascending
    place: np.ndarray  # of each occurrence among them
    times: np.ndarray
    values: np.ndarray  # before the map of counts


def single_vertices(count: int) -> np.ndarray:
    """Paths, or trees, that are one vertex each: 0, 1, ..."""
    return np.arange(count, dtype=np.int32).reshape(-1, 1)


def balls(batch: GraphBatch, graph: int, radius: int) -> np.ndarray:
    """Trees that hold all vertices up to a distance."""
    if radius == 0:
        return single_vertices(int(batch.vertex_counts[graph]))
    return balls_of(batch.arrays, graph, radius)
