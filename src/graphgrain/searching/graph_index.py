"""GraphIndex: an index of graphs for exact similarity search, on disk or in memory.

1. :class:`IndexWriter` reads a stream of graphs in chunks, checks them, and collects segments of
   up to 65,536 graphs (``segment.py``).
2. Segments are stored in a folder in one transaction (``index_folder.py``), or stay in memory.
3. A :class:`Ranker` searches the segments of one moment (``ranking.py``).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.base import clone

from ..core.similarity import DOT
from ..core.threads import call
from ..errors import (
    GraphgrainWarning,
    InvalidFileError,
    InvalidGraphError,
    InvalidParameterError,
)
from ..graphs.batch import GraphBatch, check_length, counted, replaced
from ..graphs.convert.dispatch import as_graphs
from ..graphs.convert.parts import column_items
from ..graphs.convert.rdkit import (
    LabelFlags,
    LabelOptions,
    from_rdkit,
    from_smiles,
    holds_molecules,
    is_rdkit,
)
from ..graphs.files.molecules import file_chunks, is_molecule_file
from ..graphs.processes import progress_bar
from ..graphs.streams import as_chunks
from ..kernels.bases.feature_kernel import FeatureKernel, check_explicit
from ..kernels.features import Features
from ..kernels.registry import describe_kernel, kernel_from_json, kernel_to_json
from ..kernels.tree_plus_plus import TreePlusPlus
from ..parameters import JOBS, Number, OneOf, Whole, check_parameters, check_value
from ..writing import unwritable
from .index_folder import (
    DATABASE,
    Settings,
    Snapshot,
    checked_ids,
    delete_strays,
    load,
    writing,
)
from .ranking import Hits, Ranker
from .segment import (
    CHUNK,
    KINDS,
    LARGEST,
    Segment,
    SegmentBuilder,
    Stored,
    as_array,
    id_keys,
    keyed,
    keyed_features,
    values_differ,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from .similar_pairs import Pairs

#: Number of graphs of an index among which an example of their labels and attributes is chosen.
_EXAMPLES = 64
#: Chunks of graphs with their ids, if they have any.
Pieces = Iterable[tuple[GraphBatch, Sequence[Any] | None]]
#: Number of queries answered together, and of graphs of the index used as queries together.
_BATCH = 256
_TOGETHER = 1024
_NO_ROWS = np.empty(0, dtype=np.int64)


class GraphIndex:
    """An index of graphs for exact search of the most similar graphs.

    Create an index with :meth:`build` and open an existing one with ``GraphIndex(path)``. An index
    is a folder with the graphs in a compact form, a sketch of the features of each graph, ids and
    optional columns; or it is in memory. Sketches give upper bounds of similarities; graphs whose
    bounds are high enough are compared exactly, with the features of the kernel. Only the parts a
    search needs are read from disk.

    Parameters
    ----------
    path : path of a folder
        An index created by :meth:`build`. Opening maps its arrays and reads its columns.
    kernel : kernel, optional
        Required only for kernels that are not part of graphgrain; it must be the kernel that the
        index was built with.
    n_jobs : int, optional
        Number of threads for searching.

    See Also
    --------
    pairs : Find all pairs of similar graphs.
    sphere_exclusion : Cluster graphs.
    pick_diverse : Pick diverse graphs.
    near_duplicates : Find queries that are nearly contained in an index.

    Notes
    -----
    Pickling stores only the path, unless the index is in memory; the folder must be accessible
    where the index is unpickled.

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

    path: Path | None
    kernel: FeatureKernel | None

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        kernel: FeatureKernel | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.path = _folder(path).absolute()  # the working directory may change
        self.n_jobs = check_value("n_jobs", n_jobs, JOBS)
        self._passed_kernel = None if kernel is None else check_kernel(kernel)
        self.refresh()
        delete_strays(self.path, self._snapshot)

    @classmethod
    def _in_memory(
        cls, snapshot: Snapshot, kernel: FeatureKernel | None, n_jobs: int | None
    ) -> GraphIndex:
        index = cls.__new__(cls)
        index.path, index.kernel, index.n_jobs = None, kernel, n_jobs
        index._snapshot = snapshot
        return index

    def __reduce__(self) -> Any:
        if self.path is None:
            return type(self)._in_memory, (self._snapshot, self.kernel, self.n_jobs)
        options = {"kernel": self._passed_kernel, "n_jobs": self.n_jobs}
        return partial(type(self), **options), (str(self.path),)

    # ---------------------------------------------------------------- building and opening

    @classmethod
    def build(
        cls,
        path: str | os.PathLike[str] | None,
        source: Any,
        kernel: FeatureKernel | None = None,
        *,
        ids: Any = None,
        columns: Any = None,
        similarity: str | None = None,
        overwrite: bool = False,
        first_id: int = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
        **options: Any,
    ) -> GraphIndex:
        """Build an index from graphs, a stream of graphs or a file.

        Parameters
        ----------
        path : path of a folder, or None
            The folder must not exist unless ``overwrite`` is True; by convention its name ends
            in ``.ggi``. With None the index is in memory and cannot be changed.
        source : GraphBatch, iterable, path or Features
            Anything that :func:`as_chunks` accepts: graphs, a stream of graphs, or a file of
            molecules or graphs. An index in memory can also be one of :class:`Features`, whose
            counts are compared as they are; its queries are features, too.
        kernel : kernel with explicit features, optional
            Kernel used to compare graphs. The default is
            ``TreePlusPlus(4, 1, counts="binary")``, with edge labels if there are any; the
            reasons are in docs/searching.md.
        ids : sequence or str, optional
            An integer, a string or a tuple of them for each graph, or the name of the column
            with the ids. By default graphs are numbered.
        columns : dictionary of arrays, or list of str, optional
            Columns to store: arrays with one value per graph, or names of columns of the source.
            By default all columns of the source. A column ``"id"`` is one like any other: it
            holds the ids only with ``ids="id"``.
        similarity : {"minmax", "cosine", "dot", "containment"}, optional
            Default similarity of :meth:`search`. By default that of the kernel, or "minmax" if
            no kernel is passed.
        overwrite : bool, default=False
            Whether to replace an existing index, once the new one is complete.
        first_id : int, default=0
            First number for graphs without an id.
        n_jobs : int, optional
            Number of processes for reading a file of molecules, and of threads for counting
            features.
        verbose : int, default=0
            If 1 or more, show a progress bar.
        **options
            Passed on to the file reader, such as ``errors="skip"`` or ``charge=True``.

        Returns
        -------
        index : GraphIndex

        Notes
        -----
        Until building has finished, there is no index, or the previous one remains.

        Examples
        --------
        >>> import graphgrain as gg
        >>> graphs = gg.load_drugs()[0]
        >>> index = gg.GraphIndex.build(None, graphs[:100])
        >>> index.search(graphs[100], k=2)[0].shape
        (1, 2)
        """
        check_value("first_id", first_id, Whole(0))
        check_value("n_jobs", n_jobs, JOBS)
        chosen = None if kernel is None else check_kernel(kernel)
        settings = Settings(
            None, check_value("similarity", similarity_by(chosen, similarity), OneOf(tuple(KINDS)))
        )
        if path is None and isinstance(source, Features):
            return cls._of_features(source, settings, ids, first_id, n_jobs)
        source, are_molecules = with_kind(source)
        if are_molecules or is_molecules(source):
            labels = {name: bool(options[name]) for name in LabelOptions._fields if name in options}
            settings = replace(settings, molecules=labels)
        settings = replace(settings, next_id=int(first_id))

        def write(put: Callable[[Stored], None]) -> tuple[FeatureKernel, Settings]:
            pieces = pieces_of(source, ids, columns, n_jobs, options)
            first = list(islice(pieces, 1))
            if chosen is None and not first:
                raise InvalidParameterError(
                    "An index without graphs needs a kernel; give kernel=TreePlusPlus(...)."
                )
            used = default_kernel(first[0][0]) if chosen is None else chosen
            used.set_params(n_jobs=n_jobs)
            writer = IndexWriter(
                used, Snapshot(replace(settings, kernel=kernel_entry(used)), []), put
            )
            with progress_bar(verbose, None, "graphs") as bar:
                writer.write(chain(first, pieces), bar.update)
            return used, writer.settings

        if path is None:
            stored: list[Stored] = []
            used, settings = write(stored.append)
            snapshot = Snapshot(settings, [Segment(each, _NO_ROWS, "in memory") for each in stored])
            return cls._in_memory(snapshot, used, n_jobs)
        folder = _folder(path)
        make_folder(folder)
        with writing(folder, create=True) as transaction:
            if not (transaction.is_new or overwrite):
                raise InvalidParameterError(
                    f"There is an index {str(folder)!r} already. Choose another name, add to it "
                    "with GraphIndex.open(path).add(graphs), or say overwrite=True "
                    "(`--overwrite`)."
                )
            transaction.drop()
            transaction.set(write(transaction.add)[1])
        return cls(path, kernel=kernel, n_jobs=n_jobs)

    @classmethod
    def _of_features(
        cls, features: Features, settings: Settings, ids: Any, first_id: int, n_jobs: int | None
    ) -> GraphIndex:
        """Return an index in memory of features that have been counted."""
        counts = keyed(features)
        numbers = range(first_id, first_id + len(features))
        builder = SegmentBuilder(bool((counts.counts != 1.0).any()))
        bare = GraphBatch.from_edges([0] * len(features), [])
        builder.add(bare, counts, checked_ids(numbers if ids is None else ids))
        segments = [Segment(builder.build(), _NO_ROWS, "in memory", features)] if len(bare) else []
        return cls._in_memory(Snapshot(settings, segments), None, n_jobs)

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
        """Load changes made by other processes since the index was opened."""
        if self.path is not None:
            snapshot = load(self.path)
            # Another process may have replaced the index by one with another kernel.
            entry = snapshot.settings.kernel
            kernel = restored(entry or {}, self._passed_kernel, str(self.path))
            self.kernel = kernel.set_params(n_jobs=self.n_jobs)
            self._snapshot = snapshot
        return self

    # ---------------------------------------------------------------- contents

    def __repr__(self) -> str:
        entry = self._snapshot.settings.kernel
        name = "Features" if entry is None else entry["class"]
        return f"GraphIndex({counted(len(self), 'graph')}, {self.similarity} of {name})"

    def __len__(self) -> int:
        return len(self._snapshot)

    @property
    def similarity(self) -> str:
        """Default similarity of this index."""
        return self._snapshot.settings.similarity

    @property
    def ids(self) -> np.ndarray:
        """Ids of all graphs, in the order of the index."""
        return as_array(self._snapshot.ids(self._snapshot.live))

    @property
    def column_names(self) -> list[str]:
        """Names of the stored columns."""
        return self._snapshot.column_names

    @property
    def label_options(self) -> dict[str, bool] | None:
        """Options of labels that the molecules were read with; None for other graphs."""
        molecules = self._snapshot.settings.molecules
        return None if molecules is None else {name: bool(used) for name, used in molecules.items()}

    def columns(self, ids: Sequence[Any] | None = None) -> dict[str, np.ndarray]:
        """Return the stored columns of the graphs with the given ids, by default of all graphs."""
        return self._snapshot.columns(self._positions(ids))

    def graphs(self, ids: Sequence[Any] | None = None) -> GraphBatch:
        """Return the graphs with the given ids and their columns, by default all graphs."""
        self._check_kernel("graphs")
        positions = self._positions(ids)
        columns = {"id": as_array(self._snapshot.ids(positions))}
        return self._snapshot.graphs(positions).with_columns(
            columns | self._snapshot.columns(positions)
        )

    def nbytes(self) -> int:
        """Return the size in bytes, on disk or in memory."""
        if self.path is None:
            return sum(segment.nbytes for segment in self._snapshot.segments)
        size = 0
        for file in self.path.iterdir():
            with suppress(FileNotFoundError):  # a writer may delete it in the meantime
                size += file.stat().st_size
        return size

    def verify(self) -> None:
        """Check the whole index, and raise an error that names the damaged part.

        All checksums are verified, and all data derived from the graphs (sketches, sums, keys of
        ids) are recomputed and compared. An index that passes gives correct results even if it
        comes from an untrusted source.
        """
        for segment in self._snapshot.segments:
            segment.verify(self._check_kernel("verify"))

    def _positions(self, ids: Sequence[Any] | None) -> np.ndarray:
        return self._snapshot.live if ids is None else self._snapshot.positions(ids)

    def _check_kernel(self, act: str) -> FeatureKernel:
        if self.kernel is None:
            raise InvalidParameterError(
                f"{act} needs the graphs, and this index is one of features. Build it of graphs."
            )
        return self.kernel

    # ---------------------------------------------------------------- changing

    def add(
        self, source: Any, *, ids: Any = None, columns: Any = None, verbose: int = 0,
        **options: Any,
    ) -> None:  # fmt: skip
        """Add graphs; the parameters are those of :meth:`build`.

        Either all graphs are added or, in case of an error, none.
        """
        with writing(self._folder()) as transaction:
            now = self.refresh()._snapshot
            source = self._as_source(source, options)
            pieces = pieces_of(source, ids, columns, self.n_jobs, options)
            first = list(islice(pieces, 2))
            new = sum(len(graphs) for graphs, _ in first)
            if not new:
                return
            merged = tail_to_merge(now.segments, new) if len(first) == 1 else 0
            stay = len(now.segments) - merged
            writer = IndexWriter(
                self._check_kernel("add"),
                Snapshot(now.settings, now.segments[:stay]),
                transaction.add,
            )
            transaction.drop(now.segments[stay:])
            with progress_bar(verbose, None, "graphs") as bar:
                writer.write(chain(now.pieces(stay), first, pieces), bar.update)
            transaction.set(writer.settings)
        self.refresh()

    def _as_source(self, source: Any, options: dict[str, Any]) -> Any:
        """Return a source whose molecules are read as those of the index, with its options."""
        settings = self._snapshot.settings
        molecules = settings.molecules
        source, are_molecules = with_kind(source)
        if (are_molecules or is_molecules(source)) and molecules is None and settings.label_kind:
            raise InvalidGraphError(
                "This index holds graphs, and does not know how molecules were read for it. "
                "Give graphs, such as graphgrain.from_smiles(list)."
            )
        if are_molecules:
            items = iter(column_items(source) if hasattr(source, "__len__") else source)
            parts = iter(lambda: list(islice(items, CHUNK)), [])
            return (self.as_queries(part) for part in parts)
        if is_molecules(source) and molecules is not None:
            read = {name: options[name] for name in LabelOptions._fields if name in options}
            if any(value != molecules.get(name, False) for name, value in read.items()):
                raise InvalidParameterError(
                    f"All molecules of an index are read in the same way; it was built with "
                    f"{molecules}, got {read}. Leave these options out."
                )
            options |= molecules
        return source

    def remove(self, ids: Iterable[Any]) -> None:
        """Remove the graphs with the given ids. Use :meth:`compact` to free their disk space."""
        with writing(self._folder()) as transaction:
            now = self.refresh()._snapshot
            for segment, rows in now.rows(np.unique(now.positions(ids))):
                transaction.bury(segment, rows)
        self.refresh()

    def compact(self) -> None:
        """Rewrite the index without removed graphs, in as few segments as possible."""
        with writing(self._folder()) as transaction:
            now = self.refresh()._snapshot
            transaction.drop()
            kernel = self._check_kernel("compact")
            IndexWriter(kernel, Snapshot(now.settings, []), transaction.add).write(now.pieces())
        self.refresh()

    def _folder(self) -> Path:
        if self.path is None:
            raise InvalidParameterError(
                "An index in memory cannot be changed. Build one in a folder: "
                "GraphIndex.build(path, graphs)."
            )
        return self.path

    # ---------------------------------------------------------------- searching

    def search(
        self,
        queries: Any,
        k: int | None = 10,
        min_similarity: float | None = None,
        *,
        similarity: str | None = None,
        return_columns: bool = False,
    ) -> Any:
        """Find the graphs that are most similar to each query.

        Parameters
        ----------
        queries : graphs, or list of SMILES if the index holds molecules
        k : int or None, default=10
            Maximum number of results per query. None returns all graphs that reach the
            ``min_similarity``, which is then required.
        min_similarity : float, optional
            Minimum similarity of the results.
        similarity : {"minmax", "cosine", "dot", "containment"}, optional
            "minmax" is the sum of the minima divided by the sum of the maxima of the feature
            values (Tanimoto, for bits and for counts), "cosine" the normalised kernel, "dot" the
            kernel without normalisation, and "containment" the fraction of the query's feature
            values that the other graph has. By default the similarity of the index.
        return_columns : bool, default=False
            Whether to return the stored columns of the results.

        Returns
        -------
        ids : array of shape (n_queries, k), or list of arrays if ``min_similarity`` is given
            Ids of the results, best first; ties are in the order of the index.
        similarities : array, or list of arrays
            Similarities of the results.
        columns : list of dictionaries of arrays
            Columns of the results of each query; only if ``return_columns`` is True.

        Notes
        -----
        As in the kernel, patterns that do not occur in the index reduce the similarity of a query
        to all graphs, and graphs without any patterns are equal to each other. A query that has
        nothing in common with any graph returns graphs with similarity 0 in the order of the index,
        with a warning.
        """
        if k is None and min_similarity is None:
            raise InvalidParameterError(
                "k=None returns all graphs of a minimum similarity; give min_similarity."
            )
        check_value("k", k, Whole(1, optional=True))
        check_value("min_similarity", min_similarity, Number(0.0, closed=True, optional=True))
        ranker = self._ranker(similarity)
        snapshot = ranker.snapshot  # another thread may refresh the index in the meantime
        hits = self._hits(ranker, self.as_queries(queries), k, min_similarity)
        flat = snapshot.ids(np.concatenate([_NO_ROWS, *(hit.positions for hit in hits)]))
        rest = iter(flat)
        ids: Any = [as_array(list(islice(rest, len(hit.positions)))) for hit in hits]
        values: Any = [hit.similarities for hit in hits]
        columns = [snapshot.columns(hit.positions) for hit in hits] if return_columns else []
        if min_similarity is None:
            width = min(k or 0, len(snapshot))
            ids = as_array(flat).reshape(len(hits), width)
            values = np.array(values).reshape(len(hits), width)
        return (ids, values, columns) if return_columns else (ids, values)

    def as_queries(self, queries: Any) -> GraphBatch | Features:
        """Convert queries to graphs of the kind that the index holds."""
        settings = self._snapshot.settings
        if self.kernel is None:
            if not isinstance(queries, Features):
                raise InvalidParameterError(
                    f"Queries for an index of features are Features; got {type(queries).__name__}. "
                    "Count them with the kernel: kernel.count(graphs)."
                )
            return queries
        if isinstance(queries, str) or is_rdkit(queries):
            queries = [queries]
        queries, are_molecules = with_kind(queries)
        if are_molecules:
            items = column_items(queries)
            smiles = isinstance(items[0], str)
            name, convert = ("SMILES", from_smiles) if smiles else ("Molecules", from_rdkit)
            if settings.molecules is None:
                raise InvalidGraphError(
                    f"{name} are queries for an index of molecules; this one holds other graphs. "
                    f"Give graphs, such as graphgrain.{convert.__name__}(list)."
                )
            return convert(items, **cast(LabelFlags, settings.molecules))
        batch = as_graphs(queries)
        if batch.n_vertices and settings.label_kind and batch.label_kind != settings.label_kind:
            raise InvalidGraphError(
                f"Queries must have labels of the kind in the index ({settings.label_kind}); got "
                f"{batch.label_kind}. Convert them with GraphBatch.with_labels."
            )
        return batch

    def _ranker(self, similarity: str | None = None) -> Ranker:
        name = self.similarity if similarity is None else similarity
        check_value("similarity", name, OneOf(tuple(KINDS)))
        return Ranker(self.kernel, self._snapshot, name, self.n_jobs)

    def _hits(
        self,
        ranker: Ranker,
        queries: GraphBatch | Features,
        k: int | None,
        min_similarity: float | None,
    ) -> list[Hits]:
        """Return the results of all queries; without min_similarity k each, if there are enough."""
        live = ranker.snapshot.live
        wanted = None if k is None else min(k, max(1, len(live)))
        results: list[Hits] = []
        nothing: list[int] = []
        for begin in range(0, len(queries), _BATCH):
            part = queries[begin : begin + _BATCH]
            # In one call, as each of many small calls would start a thread.
            results += call(ranker.search, part, wanted, min_similarity or 0.0)
        if not min_similarity:
            nothing = [n for n, hits in enumerate(results) if not (hits.similarities > 0.0).any()]
            results = [_filled(hits, live, k) for hits in results]
        if nothing and len(live):
            several = f" and {len(nothing) - 1} more have" if len(nothing) > 1 else " has"
            warnings.warn(
                f"Query {nothing[0]}{several} nothing in common with any graph of the index: all "
                "similarities are 0.",
                GraphgrainWarning,
                stacklevel=3,
            )
        return results

    def pairs(
        self, min_similarity: float = 0.8, *, similarity: str | None = None
    ) -> Iterator[Pairs]:
        """Yield all pairs of similar graphs, in blocks.

        The result is exact, and each pair occurs once.

        Parameters
        ----------
        min_similarity : float, default=0.8
            Minimum similarity, above 0 and at most 1.
        similarity : {"minmax", "cosine"}, optional
            By default the similarity of the index.

        Yields
        ------
        Pairs
            The pairs of some thousand graphs. ``index.ids[pairs.first]`` are the ids.

        See Also
        --------
        graphgrain.pairs : Return all pairs at once, also for graphs without an index.
        """
        from .similar_pairs import iter_pairs

        return iter_pairs(self, min_similarity, similarity=similarity)

    # ---------------------------------------------------------------- neighbours
    # Graphs are numbered from 0 in the order of the index; distances are 1 minus similarities.

    def kneighbors(self, X: Any = None, n_neighbors: int = 10, return_distance: bool = True) -> Any:
        """Find the nearest graphs of each query, as ``sklearn.neighbors.NearestNeighbors`` does.

        Parameters
        ----------
        X : graphs, optional
            The queries. By default the graphs of the index, each of which is not its own
            neighbour.
        n_neighbors : int, default=10
            Number of neighbours.
        return_distance : bool, default=True
            Whether to return the distances, 1 minus similarities.

        Returns
        -------
        distances : array of shape (n_queries, n_neighbors)
            Only if ``return_distance`` is True.
        numbers : array of shape (n_queries, n_neighbors)
            Positions of the neighbours in the index; ``index.ids[numbers]`` are their ids.

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
        """Find all graphs within a distance of each query, nearest first.

        Parameters
        ----------
        X : graphs, optional
            As in :meth:`kneighbors`.
        radius : float, default=0.3
            Maximum distance, at least 0 and below 1.
        return_distance : bool, default=True
            Whether to return the distances.

        Returns
        -------
        distances, numbers : object arrays with one array per query
            As in :meth:`kneighbors`.
        """
        if not Number(0.0, closed=True).allows(radius) or radius >= 1.0:
            raise InvalidParameterError(
                f"radius is a distance from 0 to below 1 (1 minus similarity); got {radius!r}."
            )
        rows = list(self._neighbors(X, None, radius))
        numbers, distances = np.empty((2, len(rows)), dtype=object)
        for position, (number, distance) in enumerate(rows):
            numbers[position], distances[position] = number, distance
        return (distances, numbers) if return_distance else numbers

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int = 10, mode: str = "connectivity"
    ) -> csr_array:
        """Return the neighbours of :meth:`kneighbors` as a sparse (n_queries, n_graphs) matrix.

        With ``mode="distance"`` the entries are distances, for estimators with
        ``metric="precomputed"``.
        """
        distances, numbers = self.kneighbors(X, n_neighbors)
        return self._sparse(list(numbers), list(distances), mode)

    def radius_neighbors_graph(
        self, X: Any = None, radius: float = 0.3, mode: str = "connectivity"
    ) -> csr_array:
        """Return the neighbours of :meth:`radius_neighbors` as a sparse matrix."""
        distances, numbers = self.radius_neighbors(X, radius)
        return self._sparse(list(numbers), list(distances), mode)

    def _sparse(self, numbers: list[Any], distances: list[Any], mode: str) -> csr_array:
        from scipy.sparse import csr_array

        check_value("mode", mode, OneOf(("connectivity", "distance")))
        pointers = np.cumsum([0] + [len(row) for row in numbers])
        # Use SciPy's default index type, which compiled functions of other libraries require.
        width = np.int32 if max(pointers[-1], len(self)) < 2**31 else np.int64
        columns = np.concatenate([np.empty(0, dtype=np.int64), *numbers]).astype(width)
        values = np.concatenate([np.empty(0), *distances])
        if mode == "connectivity":
            values = np.ones(len(columns))
        return csr_array((values, columns, pointers.astype(width)), shape=(len(numbers), len(self)))

    def _neighbors(
        self, X: Any, k: int | None, radius: float | None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield numbers and distances of the neighbours of each query."""
        if KINDS[self.similarity] == DOT:
            raise InvalidParameterError(
                "Distances are 1 minus a similarity that is at most 1; this index compares by the "
                "dot product. Build it with similarity='cosine' or 'minmax'."
            )
        ranker = self._ranker()
        live = ranker.snapshot.live
        # Rounding must not exclude a graph that is exactly at the radius.
        least = None if radius is None else max(0.0, 1.0 - radius - 1e-12)
        if X is not None:
            for hits in self._hits(ranker, self.as_queries(X), k, least):
                yield np.searchsorted(live, hits.positions), 1.0 - hits.similarities
            return
        more = None if k is None else k + 1
        for begin in range(0, len(live), _TOGETHER):
            some = live[begin : begin + _TOGETHER]
            hits_of = self._hits(ranker, ranker.snapshot.select(some), more, least)
            for position, hits in zip(some, hits_of, strict=True):
                rest = np.flatnonzero(hits.positions != position)[:k]
                yield np.searchsorted(live, hits.positions[rest]), 1.0 - hits.similarities[rest]


def _filled(hits: Hits, live: np.ndarray, k: int | None) -> Hits:
    """Fill up missing results with graphs of similarity 0, in the order of the index."""
    positive = hits.similarities > 0.0
    positions, similarities = hits.positions[positive], hits.similarities[positive]
    first = live[:k]
    rest = first[~np.isin(first, positions)][: len(first) - len(positions)]
    zeros = np.zeros(len(rest))
    return Hits(np.concatenate((positions, rest)), np.concatenate((similarities, zeros)))


def _folder(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path).expanduser()
    except TypeError:
        raise InvalidParameterError(
            f"GraphIndex opens the folder of an index by its path; got {type(path).__name__}. "
            "GraphIndex.build(path, graphs) makes one of graphs."
        ) from None


def described_kernel(index: GraphIndex) -> str:
    """Return a description of the kernel of an index."""
    entry = index._snapshot.settings.kernel
    return "features" if entry is None else describe_kernel(entry)


# -------------------------------------------------------------------- segments


class IndexWriter:
    """Make segments of a stream of graphs, to follow those that there are.

    Parameters
    ----------
    kernel : FeatureKernel
    before : Snapshot
        The segments that stay.
    put : function
        Called with each segment.
    """

    def __init__(
        self, kernel: FeatureKernel, before: Snapshot, put: Callable[[Stored], None]
    ) -> None:
        self.kernel, self.put, self.settings = kernel, put, before.settings
        self._keys = before.keys()
        self._example = _example(before.graphs(before.live[:_EXAMPLES]))
        self._builder = SegmentBuilder(values_differ(kernel))

    def write(self, pieces: Pieces, progress: Callable[[int], object] = lambda count: None) -> None:
        """Make segments of all graphs of a stream."""
        for graphs, ids in pieces:
            if len(self._builder.ids) + len(graphs) > LARGEST:
                self._flush()
            self._check(graphs)
            features = keyed_features(self.kernel, graphs)
            self._builder.add(graphs, features, self._new_ids(len(graphs), ids))
            progress(len(graphs))
        self._flush()

    def _flush(self) -> None:
        """Make a segment of the collected graphs."""
        if self._builder.ids:
            self._check_ids(self._builder.ids)
            self.put(self._builder.build())
        self._builder = SegmentBuilder(self._builder.weighted)

    def _check(self, graphs: GraphBatch) -> None:
        """Check that all graphs of the index have labels and attributes of the same kind."""
        kind = self.settings.label_kind
        if not graphs.n_vertices:
            return
        if kind == "":
            self.settings = replace(self.settings, label_kind=graphs.label_kind)
        elif graphs.label_kind != kind:
            raise InvalidGraphError(
                f"The graphs of an index have labels of one kind, here {kind}; got graphs with "
                f"labels of kind {graphs.label_kind}. Convert them with GraphBatch.with_labels."
            )
        example = _example(graphs)
        try:
            GraphBatch.concatenate([self._example, example])
        except InvalidGraphError as error:
            raise InvalidGraphError(
                f"These graphs cannot be in one index with those before: {error}"
            ) from None
        if example.n_edges >= self._example.n_edges:
            self._example = example

    def _new_ids(self, count: int, ids: Sequence[Any] | None) -> list[Any]:
        first = self.settings.next_id
        chosen = list(range(first, first + count)) if ids is None else checked_ids(ids)
        if len(chosen) != count:
            raise InvalidParameterError(
                f"There must be one id for each graph; got {len(chosen)} ids for {count} graphs."
            )
        following = max((value + 1 for value in chosen if type(value) is int), default=0)
        self.settings = replace(self.settings, next_id=max(first, following))
        return chosen

    def _check_ids(self, ids: list[Any]) -> None:
        """Check that no id of a new segment occurs twice in the index."""
        keys = id_keys(ids)
        self._keys = np.sort(np.concatenate((self._keys, keys)))
        repeated = self._keys[1:][self._keys[1:] == self._keys[:-1]]
        for row in np.flatnonzero(np.isin(keys, repeated))[-1:].tolist():
            raise InvalidParameterError(
                f"Every id of an index occurs once; {ids[row]!r} comes a second time. Leave out "
                "ids to number the graphs, or remove the older one first."
            )


def _example(graphs: GraphBatch) -> GraphBatch:
    """Return the graph with the most edges, which has all labels and attributes that there are."""
    return graphs[np.argsort(-graphs.edge_counts, kind="stable")[:1]]


def pieces_of(
    source: Any, ids: Any, columns: Any, n_jobs: int | None, options: dict[str, Any]
) -> Iterator[tuple[GraphBatch, Sequence[Any] | None]]:
    """Yield the graphs of a source in chunks, with the columns to store alone, and their ids.

    ``ids`` is None, the name of a column, or an iterable with one id per graph.
    """
    if not isinstance(columns, list | Mapping | None):
        raise InvalidParameterError(
            "columns is a dictionary of arrays, or a list of names of the source's columns; got "
            f"{type(columns).__name__}."
        )
    arrays = _checked_columns(columns) if isinstance(columns, Mapping) else {}
    values = None if ids is None or isinstance(ids, str) else iter(ids)
    count = 0
    for graphs, names in _chunks(source, n_jobs, options):
        rows = slice(count, count + len(graphs))
        count = rows.stop
        table = {name: graphs.columns[name] for name in names} | {
            name: column[rows] for name, column in arrays.items()
        }
        chosen: Sequence[Any] | None = None
        if isinstance(ids, str):
            chosen = _column(table, ids).tolist()
        elif values is not None:
            chosen = list(islice(values, len(graphs)))
        if isinstance(columns, list):
            table = {name: _column(table, name) for name in columns}
        yield replaced(graphs, columns={}).with_columns(table), chosen
    for name, column in arrays.items():
        check_length(len(column), count, f"entries of the column {name!r}", "graphs")
    if values is not None and (left := len(list(islice(values, 1)))):
        raise InvalidParameterError(f"There must be one id for each graph; got {left} too many.")


def _chunks(
    source: Any, n_jobs: int | None, options: dict[str, Any]
) -> Iterator[tuple[GraphBatch, list[str]]]:
    """Yield the graphs of a source in chunks, with the names of the columns of the source.

    Readers of molecules add columns of usual names (id, smiles), which would be stored twice.
    """
    if is_molecules(source):
        yield from file_chunks(source, chunk_size=CHUNK, n_jobs=n_jobs, **options)
        return
    for graphs in as_chunks(source, chunk_size=CHUNK, **options):
        # molecules that were given as RDKit's are stored as graphs alone
        yield graphs, [name for name in graphs.columns if not holds_molecules(graphs.columns[name])]


def _checked_columns(columns: Mapping[str, Any]) -> dict[str, np.ndarray]:
    arrays = {name: np.atleast_1d(column) for name, column in columns.items()}
    for name, column in arrays.items():
        if column.ndim > 1:  # several values for each graph are one list
            arrays[name] = as_array(column.tolist())
        if column.dtype.kind == "U" and len(column) and not any(map(str.strip, column)):
            raise InvalidParameterError(
                f"A column of texts has a text for at least one graph; all of {name!r} are "
                "blank. Leave it out."
            )
    return arrays


def _column(table: Mapping[str, Any], name: str) -> Any:
    if name not in table:
        raise InvalidParameterError(
            f"The graphs have no column {name!r}; they have {', '.join(table) or 'none'}."
        )
    return table[name]


def tail_to_merge(segments: Sequence[Segment], new: int) -> int:
    """Return the number of last segments to be rewritten together with ``new`` graphs.

    These are the segments that are not larger than what comes after them. Adding graphs one by
    one therefore leaves few segments, and each graph is rewritten only a few times.
    """
    count = 0
    for segment in reversed(segments):
        if len(segment) > new or len(segment) + new > LARGEST:
            break
        new += len(segment)
        count += 1
    return count


# -------------------------------------------------------------------- kernels


def default_kernel(graphs: GraphBatch) -> TreePlusPlus:
    """Return the default kernel: presence, not counts, of patterns (see docs/searching.md)."""
    return TreePlusPlus(4, 1, edge_labels=graphs.edge_label_table is not None, counts="binary")


def similarity_by(kernel: FeatureKernel | None, similarity: str | None) -> str:
    """Return the similarity that is chosen, else that of the kernel, else min-max."""
    if similarity is not None:
        return similarity
    return "minmax" if kernel is None else kernel.similarity


def check_kernel(kernel: Any) -> FeatureKernel:
    """Check that an index can use a kernel, and return a copy."""
    # A copy, since what the caller does with it later does not concern the index.
    kernel = clone(check_explicit(kernel, "An index", fixed=True))
    check_parameters(kernel)
    if kernel.n_features is not None:
        raise InvalidParameterError(
            f"An index distinguishes all features; n_features={kernel.n_features} would merge "
            "some. Leave it out."
        )
    return kernel


def kernel_entry(kernel: FeatureKernel) -> dict[str, Any]:
    """Return the kernel as JSON, with the parameters that similarities depend on."""
    return kernel_to_json(kernel, leave_out=kernel.parameters_after_counting - {"counts"})


def restored(entry: dict[str, Any], passed: FeatureKernel | None, where: str) -> FeatureKernel:
    """Return the kernel of an index, made of JSON or checked against the one that was passed."""
    if passed is not None:
        kernel = check_kernel(passed)
        if kernel_entry(kernel) != entry:
            raise InvalidParameterError(
                f"The index {where!r} was built with {describe_kernel(entry)}; got {passed!r}. "
                "Leave the kernel out, or build another index with it."
            )
        return kernel
    try:
        return check_kernel(kernel_from_json(entry))
    except (InvalidFileError, InvalidParameterError) as error:
        raise InvalidFileError(
            f"The kernel of the index {where!r} cannot be made: {error} If it is one of your own, "
            "give it: GraphIndex.open(path, kernel=...). Otherwise build the index again."
        ) from None


def is_molecules(source: Any) -> bool:
    return isinstance(source, str | Path) and is_molecule_file(Path(source))


def with_kind(source: Any) -> tuple[Any, bool]:
    """Return a source, and whether it is a list, column or stream of SMILES or RDKit molecules.

    The first item decides; streams continue after it.
    """
    if isinstance(source, str | Path | GraphBatch | Mapping) or not hasattr(source, "__iter__"):
        return source, False
    items = iter(column_items(source)) if hasattr(source, "__len__") else iter(source)
    first = list(islice(items, 1))
    molecules = bool(first) and (isinstance(first[0], str) or is_rdkit(first[0]))
    return chain(first, items) if not hasattr(source, "__len__") else source, molecules


# -------------------------------------------------------------------- folders


def make_folder(folder: Path) -> None:
    """Make the folder of an index, unless it is there; it must not hold other files."""
    if folder.exists() and not folder.is_dir():
        raise InvalidParameterError(f"An index is a folder; {str(folder)!r} is a file.")
    if folder.is_dir():
        for path in folder.iterdir():
            if not path.name.startswith(DATABASE) and path.suffix != ".npy":
                raise InvalidParameterError(
                    f"{str(folder)!r} holds other files, such as {path.name!r}. An index needs a "
                    "folder of its own."
                )
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise unwritable("The index", folder, error) from None


# -------------------------------------------------------------------- collections in memory


def as_index(
    collection: Any,
    kernel: FeatureKernel | None,
    similarity: str | None,
    n_jobs: int | None = None,
) -> GraphIndex:
    """Return an index, or one in memory of graphs or features."""
    if not isinstance(collection, GraphIndex):
        if isinstance(collection, Features) and kernel is not None:
            raise InvalidParameterError(
                f"Features have been counted by a kernel; got another one, {kernel!r}. Leave it "
                "out, or give the graphs."
            )
        graphs = collection if isinstance(collection, Features) else as_graphs(collection)
        if not len(graphs) and kernel is None:
            kernel = TreePlusPlus()
        return GraphIndex.build(None, graphs, kernel, similarity=similarity, n_jobs=n_jobs)
    if kernel is not None:
        raise InvalidParameterError(
            f"An index has its own kernel, {collection.kernel!r}; got {kernel!r}. Leave it out, "
            "or give the graphs: index.graphs()."
        )
    return frozen(collection, similarity)


def frozen(index: GraphIndex, similarity: str | None = None) -> GraphIndex:
    """Return the present state of an index, with another default similarity if one is chosen.

    It cannot be changed, and is not affected by changes of the index.
    """
    if similarity is None:
        similarity = index.similarity
    check_value("similarity", similarity, OneOf(tuple(KINDS)))
    settings = replace(index._snapshot.settings, similarity=similarity)
    snapshot = Snapshot(settings, index._snapshot.segments)
    return GraphIndex._in_memory(snapshot, index.kernel, index.n_jobs)
