"""Neighbours in scikit-learn's form: numbers of graphs, distances, sparse neighbour graphs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..parameters import Number, OneOf, Whole
from .ranking import Hits, Ranker
from .snapshot import Snapshot

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Graphs of the index that are queries together.
_TOGETHER = 1024


class NeighborsMixin(ABC):
    """What makes an index a source of neighbours for scikit-learn, UMAP and the like.

    Graphs are numbered as they stand in the index, from 0; distances are 1 minus similarities.
    """

    _snapshot: Snapshot

    @abstractmethod
    def as_queries(self, queries: Any) -> GraphBatch:
        """Graphs to search for, as a batch."""

    @abstractmethod
    def _ranker(self, similarity: str | None = None) -> Ranker:
        """What compares queries with the graphs of the index."""

    @abstractmethod
    def _hits(
        self,
        graphs: GraphBatch,
        k: int | None,
        threshold: float | None,
        similarity: str | None,
        approximate: bool = False,
    ) -> list[Hits]:
        """What each query finds."""

    @abstractmethod
    def __len__(self) -> int:
        """Number of graphs."""

    def kneighbors(self, X: Any = None, n_neighbors: int = 10, return_distance: bool = True) -> Any:
        """The nearest graphs of each query, as ``sklearn.neighbors.NearestNeighbors`` gives them.

        Parameters
        ----------
        X : graphs, optional
            Without it: the graphs of the index, each without itself.
        n_neighbors : int
        return_distance : bool

        Returns
        -------
        distances : array of shape (queries, n_neighbors), if ``return_distance``
        numbers : array of shape (queries, n_neighbors)
            Where in the index the neighbours are; ``index.ids[numbers]`` are their ids.

        Examples
        --------
        >>> import graphgrain as gg, tempfile
        >>> folder = tempfile.TemporaryDirectory()
        >>> index = gg.GraphIndex.build(f"{folder.name}/drugs.ggi", gg.load_drugs()[0])
        >>> distances, numbers = index.kneighbors(n_neighbors=2)
        >>> numbers.shape
        (292, 2)
        """
        rule = Whole(1, len(self) - (X is None))
        if not rule.allows(n_neighbors):
            raise InvalidParameterError(f"n_neighbors must be {rule}; got {n_neighbors!r}.")
        rows = list(self._neighbors(X, n_neighbors, None))
        numbers = np.array([row for row, _ in rows], dtype=np.int64).reshape(-1, n_neighbors)
        distances = np.array([row for _, row in rows]).reshape(-1, n_neighbors)
        return (distances, numbers) if return_distance else numbers

    def radius_neighbors(
        self, X: Any = None, radius: float = 0.3, return_distance: bool = True
    ) -> Any:
        """All graphs within a distance of each query, nearest first.

        Returns
        -------
        distances, numbers : arrays of arrays, one per query
            As from :meth:`kneighbors`.
        """
        if not Number(0.0, closed=True).allows(radius) or radius >= 1.0:
            raise InvalidParameterError(
                f"radius is a distance from 0 to below 1 (1 minus similarity); got {radius!r}."
            )
        rows = list(self._neighbors(X, None, radius))
        numbers = np.empty(len(rows), dtype=object)
        distances = np.empty(len(rows), dtype=object)
        for place, (number, distance) in enumerate(rows):
            numbers[place], distances[place] = number, distance
        return (distances, numbers) if return_distance else numbers

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int = 10, mode: str = "connectivity"
    ) -> csr_array:
        """The neighbours of :meth:`kneighbors` as a sparse matrix (queries, graphs).

        With ``mode="distance"`` its entries are distances, which estimators with
        ``metric="precomputed"`` take.
        """
        distances, numbers = self.kneighbors(X, n_neighbors)
        return self._sparse(list(numbers), list(distances), mode)

    def radius_neighbors_graph(
        self, X: Any = None, radius: float = 0.3, mode: str = "connectivity"
    ) -> csr_array:
        """The neighbours of :meth:`radius_neighbors` as a sparse matrix (queries, graphs)."""
        distances, numbers = self.radius_neighbors(X, radius)
        return self._sparse(list(numbers), list(distances), mode)

    def _sparse(self, numbers: list[Any], distances: list[Any], mode: str) -> csr_array:
        from scipy.sparse import csr_array

        modes = OneOf(("connectivity", "distance"))
        if not modes.allows(mode):
            raise InvalidParameterError(f"mode must be {modes}; got {mode!r}.")
        pointers = np.cumsum([0] + [len(row) for row in numbers])
        # SciPy's own width: compiled functions that take sparse matrices know no other
        width = np.int32 if max(pointers[-1], len(self)) < 2**31 else np.int64
        columns = np.concatenate([np.empty(0, dtype=np.int64), *numbers]).astype(width)
        values = np.concatenate([np.empty(0), *distances])
        if mode == "connectivity":
            values = np.ones(len(columns))
        return csr_array((values, columns, pointers.astype(width)), shape=(len(numbers), len(self)))

    def _neighbors(
        self, X: Any, k: int | None, radius: float | None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Numbers and distances of the neighbours of each query."""
        live = self._snapshot.live
        # Rounding must not hide a graph that is exactly at the radius.
        least = None if radius is None else max(0.0, 1.0 - radius - 1e-12)
        if X is not None:
            for hits in self._hits(self.as_queries(X), k, least, None):
                yield np.searchsorted(live, hits.places), 1.0 - hits.similarities
            return
        for begin in range(0, len(live), _TOGETHER):
            own = live[begin : begin + _TOGETHER]
            graphs = self._ranker().graphs(own)
            more = None if k is None else k + 1
            for place, hits in zip(own, self._hits(graphs, more, least, None), strict=True):
                others = np.flatnonzero(hits.places != place)[:k]
                yield np.searchsorted(live, hits.places[others]), 1.0 - hits.similarities[others]
