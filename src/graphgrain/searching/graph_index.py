"""GraphIndex: graphs on disk that can be searched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidParameterError
from ..graphs.batch import GraphBatch
from ..kernels.bases.feature_kernel import FeatureKernel
from ..parameters import Jobs
from .building import add_to_index, build_index, compact_index, remove_from_index
from .columns import as_array, plain
from .neighbors import NeighborsMixin
from .search import SearchMixin, checked, checked_similarity
from .snapshot import Snapshot
from .stored_kernel import restored, shown


class GraphIndex(SearchMixin, NeighborsMixin):
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
            _folder(path), source, kernel, ids, columns, checked_similarity(similarity), overwrite,
            checked("n_jobs", n_jobs, Jobs()), verbose, options,
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
        index.n_jobs = checked("n_jobs", n_jobs, Jobs())
        index._snapshot = Snapshot.of(index.path)
        index.kernel = restored(index._snapshot.manifest.kernel, kernel, str(path))
        index.kernel.set_params(n_jobs=n_jobs)
        index._recalls = {}
        return index

    path: Path

    def refresh(self) -> GraphIndex:
        """See what other processes have written since the index was opened."""
        self._snapshot = Snapshot.of(self.path)
        self._recalls = {}
        return self

    # ---------------------------------------------------------------- contents

    def __repr__(self) -> str:
        name = self._snapshot.manifest.kernel["class"]
        return f"GraphIndex({len(self):,} graphs, {self.similarity} of {name})"

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


def _folder(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path).expanduser()
    except TypeError:
        raise InvalidParameterError(f"A path is expected; got {path!r}.") from None


def describe_kernel(index: GraphIndex) -> str:
    """The kernel of an index in words."""
    return shown(index._snapshot.manifest.kernel)
