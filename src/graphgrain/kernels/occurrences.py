"""Where features sit in a graph."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..core.balls import balls_of
from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..parameters import check_parameters
from .base import GraphKernel
from .counts import Counts, map_counts
from .hashed_columns import columns_of_hashes
from .naming import times_of_name


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


class LocatedFeatures(GraphKernel):
    """Kernels that can point: from a feature to the vertices of a graph that show it."""

    counts: str
    n_features: int | None

    @property
    @abstractmethod
    def _stateless(self) -> bool:
        """Whether columns are shared and nothing is learnt."""

    def locate(self, graph: Any) -> list[Occurrences]:
        """All occurrences of all features of one graph, level by level.

        The kernel need not be fitted.

        Parameters
        ----------
        graph : GraphBatch with one graph, or a list with one graph

        Returns
        -------
        list of Occurrences
            One per level, with the arrays ``hashes``, ``paths``, ``trees`` and, where occurrences
            do not count 1 each, ``weights``.

        Examples
        --------
        >>> import graphgrain as gg
        >>> [found] = gg.EdgeHistogram().locate([([(0, 1), (1, 2)], ["C", "C", "O"])])
        >>> len(found.hashes), found.paths.tolist()
        (2, [[0, 1], [1, 2]])
        """
        check_parameters(self, self.parameter_rules)
        [levels] = self.locate_each(one_graph(as_graphs(graph), "locate"))
        return levels

    def locate_each(self, batch: GraphBatch) -> Iterator[list[Occurrences]]:
        """What :meth:`locate` gives, for each graph of a batch.

        A kernel that does not say where its features are can do all but point to them.
        """
        raise InvalidParameterError(
            f"{type(self).__name__} does not say where its features are. Give it a method "
            "locate_each, as VertexHistogram has it, to explain its models."
        )

    def occurrences(self, graph: Any, feature: int | str) -> list[tuple[int, ...]]:
        """The vertices of a graph that produce a feature.

        Parameters
        ----------
        graph : GraphBatch with one graph, or a list with one graph
        feature : int or str
            A column of the feature matrix, or its name.

        Returns
        -------
        list of tuples of vertex numbers
            As many as the feature counts: the vertices along a path, the ends of an edge or of
            a pair, or a single vertex, as the kernel has it. For Tree++ a path and its reverse
            both count; where several shortest paths carry the same pattern, one of them stands
            for all. With ``counts="intersection"`` the column "at least 3 times" gives all
            occurrences where there are 3 or more, and none elsewhere. With ``n_features`` a
            column may hold several patterns: the occurrences of all of them.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graph = [([(0, 1), (1, 2)], ["C", "C", "O"])]
        >>> kernel = gg.PathPattern(path_depth=1).fit(graph)
        >>> kernel.occurrences(graph, "k=0: C - O")
        [(1, 2), (2, 1)]
        """
        batch = one_graph(self._checked(graph), "occurrences")
        [levels] = self.locate_each(batch)
        if isinstance(feature, str):
            found, patterns = self._with_name(batch, levels, feature)
        elif self._stateless:
            return self._in_shared_column(levels, feature)
        else:
            level, code = self._level_of_column(feature)
            found, patterns = levels[level], self._patterns_behind(levels[level], code)
        return found.of(patterns)

    def _in_shared_column(self, levels: list[Occurrences], column: int) -> list[tuple[int, ...]]:
        """The occurrences of all patterns that meet in a column of ``n_features``."""
        assert self.n_features is not None
        if not 0 <= column < self.n_features:
            raise IndexError(f"Feature {column} is out of range: there are {self.n_features}.")
        found: list[tuple[int, ...]] = []
        for number, level in enumerate(levels):
            hashes, counts = np.unique(level.hashes, return_counts=True)
            units = map_counts(Counts(np.ones(len(hashes), int), hashes, counts), self.counts)
            owners = np.repeat(np.arange(len(hashes)), units.lengths)
            there = columns_of_hashes(units.hashes, number, self.n_features) == column
            found += level.of(hashes[np.unique(owners[there])])
        return sorted(found)

    def _with_name(
        self, batch: GraphBatch, levels: list[Occurrences], feature: str
    ) -> tuple[Occurrences, np.ndarray]:
        """The patterns of a graph that bear a name, and their level.

        The names of the graph's own patterns are read first; those of the fitted graphs only if
        it is not among them, level by level, and then remembered.
        """
        name, times = times_of_name(feature) if self.counts == "intersection" else (feature, 1)
        for level, found in enumerate(levels):
            distinct, counts = np.unique(found.hashes, return_counts=True)
            matches = np.array(self._describe(batch, level, distinct), dtype=object) == name
            if matches.any():
                return found, distinct[matches & (counts >= times)]
        if not any(feature in self._names(number) for number in range(len(levels))):
            raise KeyError(f"No feature has the name {feature!r}; feature_names() lists them.")
        return levels[0], np.empty(0, dtype=np.uint64)

    def _names(self, level: int) -> list[str]:
        """The names of the fitted features of a level, in order; decoded once and remembered."""
        remembered: dict[int, list[str]] = self.__dict__.setdefault("_remembered_names", {})
        if level not in remembered:
            remembered[level] = self._decoded_names(level)
        return remembered[level]

    def _forget_names(self) -> None:
        self.__dict__.pop("_remembered_names", None)

    def __getstate__(self) -> Any:
        state = super().__getstate__()  # type: ignore[misc]
        return {name: value for name, value in state.items() if name != "_remembered_names"}

    def _describe(self, batch: GraphBatch, level: int, hashes: np.ndarray) -> list[str]:
        """A readable name for each of the hashes, which all occur in the batch at this level.

        The hash itself, unless a kernel knows better.
        """
        return [f"k={level}: {code:016x}" for code in hashes.tolist()]

    @abstractmethod
    def _decoded_names(self, level: int) -> list[str]:
        """Readable names of the fitted features of a level, one for each."""

    @abstractmethod
    def _level_of_column(self, column: int) -> tuple[int, np.uint64]:
        """Level and hash of a column."""

    @abstractmethod
    def _patterns_behind(self, found: Occurrences, code: np.uint64) -> np.ndarray:
        """The patterns of a graph that fill a column with this hash."""


def one_graph(batch: GraphBatch, method: str) -> GraphBatch:
    """The batch, or an error if it is not a single graph."""
    if len(batch) != 1:
        raise InvalidGraphError(f"{method} looks at one graph; got {len(batch)}. Use graphs[i].")
    return batch
