"""GraphIndex: graphs on disk that can be searched."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import GraphgrainWarning, InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..kernels.features import FeatureKernel
from ..parameters import Jobs, Number, OneOf, Rule, Whole
from .building import add_to_index, build_index, compact_index, remove_from_index
from .columns import as_array, plain
from .keyed_features import KeyedFeatures, keyed_features
from .neighbors import NeighborsMixin
from .ranking import KINDS, Hits, Ranker
from .snapshot import Snapshot
from .stored_kernel import restored, shown

#: Queries that are answered together.
_BATCH = 256


class GraphIndex(NeighborsMixin):
    """An index of graphs on disk: exact search for the most similar ones.

    Make one with :meth:`build`, open it again with :meth:`open`. It is a folder that holds the
    graphs themselves in a compact form, a sketch of the features of each, ids and whatever else
    is known of them. Sketches give upper bounds of similarities; graphs whose bounds are high
    enough are compared exactly, with the kernel's own features. What is not needed for a search
    is not read.

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
    >>> len(gg.GraphIndex.open(f"{folder.name}/drugs.ggi"))
    291
    """

    def __init__(self) -> None:
        raise TypeError(
            "GraphIndex is not built directly. Use GraphIndex.build(path, graphs) to make an index "
            "and GraphIndex.open(path) to open one."
        )

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
            them. By default graphs are numbered from 0.
        columns : dictionary of arrays, or list of str, optional
            What else to keep of each graph: values for each, or which columns of the source. By
            default all columns that the source has.
        similarity : {"minmax", "cosine", "containment"}
            The default of :meth:`search`.
        overwrite : bool
            Replace an index that is there, once the new one is whole.
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
        build_index(
            _folder(path), source, kernel, ids, columns, _similarity(similarity), overwrite,
            _checked("n_jobs", n_jobs, Jobs()), verbose, options,
        )  # fmt: skip
        return cls.open(path, kernel=kernel, n_jobs=n_jobs)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        kernel: FeatureKernel | None = None,
        n_jobs: int | None = None,
    ) -> GraphIndex:
        """Open an index. Nothing is read but its list of contents.

        Parameters
        ----------
        path : path of a folder
        kernel : kernel, optional
            Only for kernels that are not graphgrain's own; it must be the one that the index was
            built with.
        n_jobs : int, optional
            Number of threads that search.
        """
        index = object.__new__(cls)
        index.path = _folder(path)
        index.n_jobs = _checked("n_jobs", n_jobs, Jobs())
        index._snapshot = Snapshot.of(index.path)
        index.kernel = restored(index._snapshot.manifest.kernel, kernel, str(path))
        index.kernel.set_params(n_jobs=n_jobs)
        index._recalls = {}
        return index

    path: Path
    n_jobs: int | None
    kernel: FeatureKernel
    _snapshot: Snapshot
    _recalls: dict[tuple[int, str], float]

    def refresh(self) -> GraphIndex:
        """See what other processes have written since the index was opened."""
        self._snapshot = Snapshot.of(self.path)
        self._recalls = {}
        return self

    # ---------------------------------------------------------------- contents

    def __len__(self) -> int:
        return len(self._snapshot)

    def __repr__(self) -> str:
        name = self._snapshot.manifest.kernel["class"]
        return f"GraphIndex({len(self):,} graphs, {self.similarity} of {name})"

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
        return self._ranker().graphs(self._places(ids))

    def nbytes(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.path.iterdir())

    def verify(self) -> None:
        """Read everything and compare it with the checksums; an error names what is damaged."""
        for segment in self._snapshot.segments:
            for part in segment.container.parts:
                segment.container[part]

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
        add_to_index(self.path, self.kernel, source, ids, columns, self.n_jobs, verbose, options)
        self.refresh()

    def remove(self, ids: Iterable[Any]) -> None:
        """Remove the graphs with these ids. :meth:`compact` gives their space back."""
        remove_from_index(self.path, [plain(value) for value in ids])
        self.refresh()

    def compact(self) -> None:
        """Write the index anew without removed graphs, in as few segments as possible."""
        compact_index(self.path, self.kernel)
        self.refresh()

    # ---------------------------------------------------------------- searching

    def search(
        self,
        queries: Any,
        k: int | None = 10,
        threshold: float | None = None,
        *,
        similarity: str | None = None,
        approximate: bool = False,
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
        similarity : {"minmax", "cosine", "containment"}, optional
            "cosine" is the kernel's normalised value, "minmax" the sum of minima over the sum of
            maxima of values (for 0 and 1: Tanimoto), "containment" the part of the query's values
            that the other graph has. By default that of the index.
        approximate : bool
            Look at fewer candidates: faster, and some of the best may be missing. :meth:`recall`
            tells how many; similarities are exact all the same.
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
        _checked("k", k, Whole(1, optional=True))
        _checked("threshold", threshold, Number(0.0, closed=True, optional=True))
        hits = self._hits(self.as_queries(queries), k, threshold, similarity, approximate)
        ids: Any = [as_array(self._snapshot.ids(hit.places)) for hit in hits]
        values: Any = [hit.similarities for hit in hits]
        columns = [self._snapshot.columns(hit.places) for hit in hits] if return_columns else []
        if threshold is None:
            width = min(k or 0, len(self))
            flat = [value for row in ids for value in row.tolist()]
            ids = as_array(flat).reshape(len(hits), width)
            values = np.array(values).reshape(len(hits), width)
        return (ids, values, columns) if return_columns else (ids, values)

    def recall(self, k: int = 10, similarity: str | None = None, sample: int = 100) -> float:
        """The part of the k best graphs that ``approximate=True`` finds.

        Measured on a random sample of the graphs of this index, once.
        """
        name = self._similarity(similarity)
        if (k, name) not in self._recalls:
            if not len(self):
                raise InvalidParameterError("An index without graphs has no recall to measure.")
            rng = np.random.default_rng(0)
            live = self._snapshot.live
            chosen = np.sort(rng.choice(live, min(sample, len(live)), replace=False))
            queries = self._ranker().graphs(chosen)
            exact = self._hits(queries, k, None, name, False)
            quick = self._hits(queries, k, None, name, True)
            # Equal similarities are equally good, whichever graph has them.
            found = [
                np.sum(fast.similarities >= slow.similarities[-1])
                for fast, slow in zip(quick, exact, strict=True)
            ]
            self._recalls[k, name] = float(np.sum(found)) / sum(len(hit.places) for hit in exact)
        return self._recalls[k, name]

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

    def _similarity(self, name: str | None) -> str:
        return self.similarity if name is None else _similarity(name)

    def _ranker(self, similarity: str | None = None) -> Ranker:
        name = self._similarity(similarity)
        return Ranker(self.kernel, self._snapshot.segments, name, self.n_jobs)

    def _hits(
        self,
        graphs: GraphBatch,
        k: int | None,
        threshold: float | None,
        similarity: str | None,
        approximate: bool = False,
    ) -> list[Hits]:
        """The answers to all queries; without a threshold exactly k, if the index has as many."""
        ranker = self._ranker(similarity)
        found: list[Hits] = []
        nothing = []
        for begin in range(0, len(graphs), _BATCH):
            part = graphs[begin : begin + _BATCH]
            features = keyed_features(self.kernel, part).sorted()
            found += self._answers(ranker, features, k, threshold, approximate)
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

    def _answers(
        self,
        ranker: Ranker,
        features: KeyedFeatures,
        k: int | None,
        threshold: float | None,
        approximate: bool,
    ) -> list[Hits]:
        wanted = None if k is None else min(k, max(1, len(self)))
        return ranker.search(features, wanted, threshold or 0.0, approximate)

    def _filled(self, hits: Hits, k: int | None) -> Hits:
        """With graphs of similarity 0, in the order of the index, where others are missing."""
        positive = hits.similarities > 0.0
        hits = Hits(hits.places[positive], hits.similarities[positive])
        missing = (len(self) if k is None else min(k, len(self))) - len(hits.places)
        if missing <= 0:
            return hits
        live = self._snapshot.live[: missing + len(hits.places)] if k is not None else (
            self._snapshot.live
        )  # fmt: skip
        others = live[~np.isin(live, hits.places)][:missing]
        zeros = np.zeros(len(others))
        return Hits(
            np.concatenate((hits.places, others)), np.concatenate((hits.similarities, zeros))
        )


def _folder(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path).expanduser()
    except TypeError:
        raise InvalidParameterError(f"A path is expected; got {path!r}.") from None


def _checked(name: str, value: Any, rule: Rule) -> Any:
    if not rule.allows(value):
        raise InvalidParameterError(f"{name} must be {rule}; got {value!r}.")
    return value


def _similarity(name: Any) -> str:
    return _checked("similarity", name, OneOf(tuple(KINDS)))


def describe_kernel(index: GraphIndex) -> str:
    """The kernel of an index in words."""
    return shown(index._snapshot.manifest.kernel)
