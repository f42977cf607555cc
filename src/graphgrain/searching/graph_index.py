"""GraphIndex: graphs on disk that can be searched."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.gram import DOT
from ..core.threads import call
from ..errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..graphs.convert.rdkit import LabelOptions
from ..graphs.streams import Chunk
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.registry import describe_kernel
from ..parameters import Jobs, Number, OneOf, Whole, check_value
from .building import (
    SegmentWriter,
    check_kernel,
    commit,
    default_kernel,
    interrupted,
    is_molecules,
    make_folder,
    origin_of,
    pieces_of,
    progress_of,
    restored,
    stored,
    tail_to_merge,
)
from .index_files import JOURNAL, KINDS, Manifest, Snapshot, as_array, only_writer, write_manifest
from .ranking import Hits, Ranker

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from .similar_pairs import Pairs

#: Queries that are answered together, and graphs of the index that are queries together.
_BATCH = 256
_TOGETHER = 1024


class GraphIndex:
    """An index of graphs on disk: exact search for the most similar ones.

    Make one with :meth:`build`, open it again with ``GraphIndex(path)``. It is a folder that holds
    the graphs themselves in a compact form, a sketch of the features of each, ids and whatever else
    is known of them. Sketches give upper bounds of similarities; graphs whose bounds are high
    enough are compared exactly, with the kernel's own features. What is not needed for a search
    is not read.

    Parameters
    ----------
    path : path of a folder
        An index that :meth:`build` has made. Nothing is read but its list of contents.
    kernel : kernel, optional
        Only for kernels that are not graphgrain's own; it must be the one that the index was
        built with.
    n_jobs : int, optional
        Number of threads that search.

    See Also
    --------
    pairs : All pairs of similar graphs.
    sphere_exclusion, pick_diverse, near_duplicates : What an index makes possible.

    Notes
    -----
    A pickled index is its path: who loads it must see the same folder.

    Examples
    --------
    >>> import graphgrain as gg, tempfile
    >>> graphs, families, names = gg.load_drugs(names=True)
    >>> folder = tempfile.TemporaryDirectory()
    >>> index = gg.GraphIndex.build(f"{folder.name}/drugs.ggi", graphs, ids=names)
    >>> index
    GraphIndex(292 graphs, minmax of TreePlusPlus)
    >>> ids, similarities = index.search(graphs[:2], k=3)
    >>> ids.tolist()[0], similarities[0].round(3).tolist()
    (['alimemazine', 'levomepromazine', 'promazine'], [1.0, 0.752, 0.746])
    >>> index.remove(["promethazine"])
    >>> len(gg.GraphIndex(f"{folder.name}/drugs.ggi"))
    291
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        kernel: FeatureKernel | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.path = _folder(path).absolute()  # found again wherever the process goes
        self.n_jobs = check_value("n_jobs", n_jobs, Jobs())
        self._snapshot = Snapshot.of(self.path)
        self.kernel = restored(self._snapshot.manifest.kernel, kernel, str(path))
        self.kernel.set_params(n_jobs=n_jobs)
        self._own_kernel = kernel

    def __reduce__(self) -> Any:
        options = {"kernel": self._own_kernel, "n_jobs": self.n_jobs}
        return partial(type(self), **options), (str(self.path),)

    # ---------------------------------------------------------------- making and opening

    @classmethod
    def build(
        cls,
        path: str | os.PathLike[str],
        source: Any,
        kernel: FeatureKernel | None = None,
        *,
        ids: Any = None,
        columns: Any = None,
        similarity: str = "minmax",
        overwrite: bool = False,
        first_id: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
        **options: Any,
    ) -> GraphIndex:
        """Make an index from graphs, a stream of graphs or a file.

        Parameters
        ----------
        path : path of a folder
            It must not exist, unless ``overwrite``; by habit its name ends in ``.ggi``.
        source : GraphBatch, iterable or path
            Whatever :func:`as_chunks` accepts: graphs, a stream of them, or a file of molecules
            or graphs.
        kernel : kernel with explicit features, optional
            How graphs are compared. By default ``TreePlusPlus(4, 1, counts="binary")`` with edge
            labels where there are any; docs/searching.md tells why.
        ids : sequence or str, optional
            An integer, a string or a tuple of them for each graph, or the column that holds
            them. By default graphs are numbered.
        columns : dictionary of arrays, or list of str, optional
            What else to keep of each graph: values for each, or which columns of the source. By
            default all columns that the source has.
        similarity : {"minmax", "cosine", "dot", "containment"}
            The default of :meth:`search`.
        overwrite : bool
            Replace an index that is there, once the new one is whole.
        first_id : int
            The number of the first graph that comes without an id.
        n_jobs : int, optional
            Number of processes that read a file of molecules, and of threads that count
            features.
        verbose : bool
            Show a progress bar.
        **options
            For the reader of a file, such as ``errors="skip"`` or ``charge=True``.

        Notes
        -----
        Building from a file of molecules can be interrupted: the same call goes on where it
        stopped. Until it has finished there is no index, or the one that was there before.
        """
        check_value("first_id", first_id, Whole(0))
        check_value("n_jobs", n_jobs, Jobs())
        _check_similarity(similarity)
        used = None if kernel is None else check_kernel(kernel)
        folder = _folder(path)
        make_folder(folder, overwrite)
        with only_writer(folder):
            settings = {
                "kernel": None if used is None else stored(used),
                "similarity": similarity,
                "first_id": first_id,
                "ids": ids if isinstance(ids, str) else None,
                "columns": columns if isinstance(columns, list) else None,
                "options": {name: repr(value) for name, value in options.items()},
            }
            origin = origin_of(source, ids, settings)
            earlier = interrupted(folder, origin)
            after = 0 if earlier is None else int(earlier.extra["line"])
            pieces = pieces_of(source, ids, columns, n_jobs, options, after)
            first = list(islice(pieces, 1))
            if used is None and earlier is not None:
                used = restored(earlier.kernel, None, str(folder))
            elif used is None:
                if not first:
                    raise InvalidParameterError(
                        "An index without graphs needs a kernel; give kernel=TreePlusPlus(...)."
                    )
                used = default_kernel(first[0][0].graphs)
            used.set_params(n_jobs=n_jobs)
            labels = {name: bool(options[name]) for name in LabelOptions._fields if name in options}
            manifest = earlier or Manifest(
                stored(used),
                similarity,
                label_kind="",
                molecules=labels if is_molecules(source) else None,
                next_id=int(first_id),
            )

            def journal(so_far: Manifest, last: Chunk) -> None:
                if origin is not None:
                    extra = {"origin": origin, "line": int(last.columns["line"][-1])}
                    write_manifest(folder, replace(so_far, extra=extra), JOURNAL)

            writer = SegmentWriter(folder, used, manifest, Snapshot(folder, manifest), journal)
            with progress_of(verbose, sum(entry.graphs for entry in manifest.segments)) as bar:
                writer.write(chain(first, pieces), bar.update)
        return cls(path, kernel=kernel, n_jobs=n_jobs)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        kernel: FeatureKernel | None = None,
        n_jobs: int | None = None,
    ) -> GraphIndex:
        """Open an index; the same as ``GraphIndex(path)``."""
        return cls(path, kernel=kernel, n_jobs=n_jobs)

    def refresh(self) -> GraphIndex:
        """See what other processes have written since the index was opened."""
        self._snapshot = Snapshot.of(self.path)
        return self

    # ---------------------------------------------------------------- contents

    def __repr__(self) -> str:
        name = self._snapshot.manifest.kernel["class"]
        return f"GraphIndex({len(self):,} graphs, {self.similarity} of {name})"

    def __len__(self) -> int:
        return len(self._snapshot)

    @property
    def similarity(self) -> str:
        """The default similarity of this index."""
        return self._snapshot.manifest.similarity

    @property
    def ids(self) -> np.ndarray:
        """The ids of all graphs, in order."""
        return as_array(self._snapshot.ids(self._snapshot.live))

    @property
    def column_names(self) -> list[str]:
        """What is known of the graphs besides their ids."""
        return self._snapshot.column_names

    def columns(self, ids: Sequence[Any] | None = None) -> dict[str, np.ndarray]:
        """What is known of some graphs (by default all), column by column."""
        return self._snapshot.columns(self._places(ids))

    def graphs(self, ids: Sequence[Any] | None = None) -> GraphBatch:
        """Some of the graphs, by default all."""
        return self._snapshot.graphs(self._places(ids))

    def nbytes(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.path.iterdir())

    def verify(self) -> None:
        """Check the whole index; an error names what is damaged.

        Everything is read and compared with its checksum, and what was derived from the graphs
        (sketches, sums, keys of ids) is computed anew and compared: an index that passes gives
        right answers, whoever has written it.
        """
        for segment in self._snapshot.segments:
            segment.verify(self.kernel)

    def _places(self, ids: Sequence[Any] | None) -> np.ndarray:
        return self._snapshot.live if ids is None else self._snapshot.places(ids)

    # ---------------------------------------------------------------- changing

    def add(
        self, source: Any, *, ids: Any = None, columns: Any = None, verbose: bool = False,
        **options: Any,
    ) -> None:  # fmt: skip
        """Add graphs; the parameters are those of :meth:`build`.

        All of them are added or, if anything goes wrong, none.
        """
        with only_writer(self.path):
            now = Snapshot.of(self.path)
            molecules = now.manifest.molecules
            if molecules is not None and is_molecules(source):
                given = {name: options[name] for name in LabelOptions._fields if name in options}
                if any(value != molecules.get(name) for name, value in given.items()):
                    raise InvalidParameterError(
                        f"All molecules of an index are read in the same way; it was built with "
                        f"{molecules}, got {given}. Leave these options out."
                    )
                options = {**options, **molecules}
            pieces = pieces_of(source, ids, columns, self.n_jobs, options)
            first = list(islice(pieces, 2))
            new = sum(len(chunk.graphs) for chunk, _ in first)
            if not new:
                return
            merged = tail_to_merge(now.manifest.segments, new) if len(first) == 1 else 0
            stay = len(now.segments) - merged
            manifest = replace(now.manifest, segments=now.manifest.segments[:stay])
            writer = SegmentWriter(self.path, self.kernel, manifest, Snapshot(self.path, manifest))
            with progress_of(verbose, 0) as bar:
                writer.write(chain(now.pieces(stay), first, pieces), bar.update)
        self.refresh()

    def remove(self, ids: Iterable[Any]) -> None:
        """Remove the graphs with these ids. :meth:`compact` gives their space back."""
        with only_writer(self.path):
            now = Snapshot.of(self.path)
            places = now.places(list(ids))
            if len(places):
                commit(self.path, now.without(places))
        self.refresh()

    def compact(self) -> None:
        """Write the index anew without removed graphs, in as few segments as possible."""
        with only_writer(self.path):
            now = Snapshot.of(self.path)
            manifest = replace(now.manifest, segments=(), removed=None)
            SegmentWriter(self.path, self.kernel, manifest, Snapshot(self.path, manifest)).write(
                now.pieces()
            )
        self.refresh()

    # ---------------------------------------------------------------- searching

    def search(
        self,
        queries: Any,
        k: int | None = 10,
        threshold: float | None = None,
        *,
        similarity: str | None = None,
        return_columns: bool = False,
    ) -> Any:
        """Find the graphs that are most similar to each query.

        Parameters
        ----------
        queries : graphs, or list of SMILES if the index holds molecules
        k : int or None
            How many graphs to find; fewer if the index holds fewer. None, which needs a
            ``threshold``: all that reach it.
        threshold : float, optional
            The least similarity.
        similarity : {"minmax", "cosine", "dot", "containment"}, optional
            "minmax" is the sum of minima over the sum of maxima of values (Tanimoto, for bits and
            for counts), "cosine" the kernel's normalised value, "dot" the kernel's value as it
            is, "containment" the part of the query's values that the other graph has. By default
            that of the index.
        return_columns : bool
            Return also what is known of the graphs found: a dictionary of arrays per query.

        Returns
        -------
        ids : array of shape (queries, k), or with a ``threshold`` a list of arrays
            Best first; equal ones in the order of the index.
        similarities : array, or list of arrays
        columns : list of dictionaries, if ``return_columns``

        Notes
        -----
        Patterns that the index has never seen make a query less similar to everything in it, as
        in the kernel itself. A query without anything in common with any graph, such as an empty
        one, finds graphs with similarity 0, in the order of the index, and a warning tells.
        """
        if k is None and threshold is None:
            raise InvalidParameterError("k=None asks for all graphs above a threshold; give it.")
        check_value("k", k, Whole(1, optional=True))
        check_value("threshold", threshold, Number(0.0, closed=True, optional=True))
        hits = self._hits(self.as_queries(queries), k, threshold, similarity)
        ids: Any = [as_array(self._snapshot.ids(hit.places)) for hit in hits]
        values: Any = [hit.similarities for hit in hits]
        columns = [self._snapshot.columns(hit.places) for hit in hits] if return_columns else []
        if threshold is None:
            width = min(k or 0, len(self))
            flat = [value for row in ids for value in row.tolist()]
            ids = as_array(flat).reshape(len(hits), width)
            values = np.array(values).reshape(len(hits), width)
        return (ids, values, columns) if return_columns else (ids, values)

    def as_queries(self, queries: Any) -> GraphBatch:
        """Graphs from whatever a query may be."""
        manifest = self._snapshot.manifest
        if isinstance(queries, str):
            queries = [queries]
        items = list(queries) if not isinstance(queries, GraphBatch) else []
        if items and all(isinstance(item, str) for item in items):
            if manifest.molecules is None:
                raise InvalidGraphError(
                    "SMILES are queries for an index of molecules; this one holds other graphs. "
                    "Give graphs, such as graphgrain.from_smiles(list)."
                )
            from ..graphs.convert.rdkit import from_smiles

            options: dict[str, Any] = dict(manifest.molecules)
            return from_smiles(items, **options)
        batch = as_graphs(items or queries)
        if batch.n_vertices and manifest.label_kind and batch.label_kind != manifest.label_kind:
            raise InvalidGraphError(
                f"Queries must have labels of the kind in the index ({manifest.label_kind}); got "
                f"{batch.label_kind}. Convert them with GraphBatch.with_labels."
            )
        return batch

    def _ranker(self, similarity: str | None = None) -> Ranker:
        if similarity is not None:
            _check_similarity(similarity)
        name = similarity or self.similarity
        return Ranker(self.kernel, self._snapshot, name, self.n_jobs)

    def _hits(
        self, graphs: GraphBatch, k: int | None, threshold: float | None, similarity: str | None
    ) -> list[Hits]:
        """The answers to all queries; without a threshold exactly k, if the index has as many."""
        ranker = self._ranker(similarity)
        wanted = None if k is None else min(k, max(1, len(self)))
        found: list[Hits] = []
        nothing = []
        for begin in range(0, len(graphs), _BATCH):
            part = graphs[begin : begin + _BATCH]
            # As one piece of work: small ones would each start a thread of their own.
            found += call(ranker.search, part, wanted, threshold or 0.0)
        if threshold is None or not threshold:
            for number, hits in enumerate(found):
                if not len(hits.places) and len(self):
                    nothing.append(number)
                found[number] = self._filled(hits, k)
        if nothing:
            several = f" and {len(nothing) - 1} more have" if len(nothing) > 1 else " has"
            warnings.warn(
                f"Query {nothing[0]}{several} nothing in common with any graph of the index: all "
                "similarities are 0.",
                GraphgrainWarning,
                stacklevel=3,
            )
        return found

    def _filled(self, hits: Hits, k: int | None) -> Hits:
        """With graphs of similarity 0, in the order of the index, where others are missing."""
        positive = hits.similarities > 0.0
        hits = Hits(hits.places[positive], hits.similarities[positive])
        missing = (len(self) if k is None else min(k, len(self))) - len(hits.places)
        if missing <= 0:
            return hits
        live = self._snapshot.live[: missing + len(hits.places)]
        others = live[~np.isin(live, hits.places)][:missing]
        return Hits(
            np.concatenate((hits.places, others)),
            np.concatenate((hits.similarities, np.zeros(len(others)))),
        )

    def pairs(
        self, min_similarity: float = 0.8, *, similarity: str | None = None
    ) -> Iterator[Pairs]:
        """All pairs of graphs that are at least this similar, each once, exactly, as a stream.

        Parameters
        ----------
        min_similarity : float
            The least similarity, above 0 and at most 1.
        similarity : {"minmax", "cosine"}, optional
            By default that of the index.

        Yields
        ------
        Pairs
            The pairs of some thousand graphs at a time. ``index.ids[pairs.first]`` are the ids.

        See Also
        --------
        graphgrain.pairs : All of them at once, also of graphs without an index.
        """
        from .similar_pairs import iter_pairs

        return iter_pairs(self, min_similarity, similarity=similarity)

    # ---------------------------------------------------------------- neighbours
    # Numbers of graphs as they stand in the index, from 0; distances are 1 minus similarities.

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
        check_value("n_neighbors", n_neighbors, Whole(1, len(self) - (X is None)))
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

        check_value("mode", mode, OneOf(("connectivity", "distance")))
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
        if KINDS[self.similarity] == DOT:
            raise InvalidParameterError(
                "Distances are 1 minus a similarity that is at most 1; this index compares by the "
                "dot product. Build it with similarity='cosine' or 'minmax'."
            )
        live = self._snapshot.live
        # Rounding must not hide a graph that is exactly at the radius.
        least = None if radius is None else max(0.0, 1.0 - radius - 1e-12)
        if X is not None:
            for hits in self._hits(self.as_queries(X), k, least, None):
                yield np.searchsorted(live, hits.places), 1.0 - hits.similarities
            return
        more = None if k is None else k + 1
        for begin in range(0, len(live), _TOGETHER):
            own = live[begin : begin + _TOGETHER]
            found = self._hits(self._snapshot.graphs(own), more, least, None)
            for place, hits in zip(own, found, strict=True):
                others = np.flatnonzero(hits.places != place)[:k]
                yield np.searchsorted(live, hits.places[others]), 1.0 - hits.similarities[others]


def _folder(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path).expanduser()
    except TypeError:
        raise InvalidParameterError(
            f"GraphIndex opens the folder of an index by its path; got {type(path).__name__}. "
            "GraphIndex.build(path, graphs) makes one of graphs."
        ) from None


def described_kernel(index: GraphIndex) -> str:
    """The kernel of an index in words."""
    return describe_kernel(index._snapshot.manifest.kernel)


def _check_similarity(name: Any) -> None:
    check_value("similarity", name, OneOf(tuple(KINDS)))
