"""Writing to an index: streams of graphs become segments, and segments become part of it.

1. Graphs are sketched chunk by chunk; every 65,536 of them are written as a segment.
2. After each segment a journal notes how far the stream was read: if the process dies, the same
   call goes on from there.
3. In the end the manifest is replaced, which makes all of it part of the index at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidGraphError, InvalidParameterError
from ..graphs.streams import Chunk
from ..kernels.bases.feature_kernel import FeatureKernel
from .columns import checked_ids, id_keys
from .keyed_features import keyed_features
from .manifest import (
    JOURNAL,
    Manifest,
    SegmentEntry,
    delete_leftovers,
    new_name,
    write_manifest,
)
from .segment import LARGEST, Sketches, choose_common, make_sketches, write_segment

#: Graphs and, if they have them already, their ids.
Pieces = Iterable[tuple[Chunk, Sequence[Any] | None]]


class SegmentWriter:
    """Turns a stream of graphs into segments of an index.

    Parameters
    ----------
    folder : Path
    kernel : FeatureKernel
    manifest : Manifest
        What the new segments are added to.
    known : array of uint64
        The keys of the ids that are there already, sorted.
    journal : callable, optional
        Called after each segment with the manifest so far and the last chunk.
    """

    def __init__(
        self,
        folder: Path,
        kernel: FeatureKernel,
        manifest: Manifest,
        known: np.ndarray,
        journal: Callable[[Manifest, Chunk], None] | None = None,
    ) -> None:
        self.folder, self.kernel, self.manifest = folder, kernel, manifest
        self._known, self._journal = known, journal
        self._chunks: list[Chunk] = []
        self._sketches: list[Sketches] = []
        self._ids: list[Any] = []
        self._common: np.ndarray = np.empty(0, dtype=np.uint64)

    def write(self, pieces: Pieces, progress: Callable[[int], object] = lambda count: None) -> None:
        """Write everything that a stream has."""
        for chunk, ids in pieces:
            if len(self._ids) + len(chunk.graphs) > LARGEST:
                self.flush()
            self._check(chunk)
            features = keyed_features(self.kernel, chunk.graphs)
            if not self._chunks:
                self._common = choose_common(features, self.kernel)
            new = self._new_ids(len(chunk.graphs), ids)
            self._sketches.append(make_sketches(features, self.kernel, self._common))
            self._chunks.append(chunk)
            self._ids += new
            progress(len(chunk.graphs))
        self.flush()

    def flush(self) -> None:
        """Write what is waiting as a segment."""
        if not self._ids:
            return
        path = self.folder / new_name("segment")
        entry = write_segment(path, self._chunks, self._sketches, self._common, self._ids)
        last = self._chunks[-1]
        self._chunks, self._sketches, self._ids = [], [], []
        self.manifest = self.manifest.with_segments((entry,))
        if self._journal is not None:
            self._journal(self.manifest, last)

    def _check(self, chunk: Chunk) -> None:
        """All graphs of an index have labels of one kind."""
        graphs, kind = chunk.graphs, self.manifest.label_kind
        if not graphs.n_vertices:
            return
        if kind == "":
            self.manifest = replace(self.manifest, label_kind=graphs.label_kind)
        elif graphs.label_kind != kind:
            raise InvalidGraphError(
                f"The graphs of an index have labels of one kind, here {kind}; got graphs with "
                f"labels of kind {graphs.label_kind}. Convert them with GraphBatch.with_labels."
            )

    def _new_ids(self, count: int, ids: Sequence[Any] | None) -> list[Any]:
        first = self.manifest.next_id
        chosen = list(range(first, first + count)) if ids is None else checked_ids(ids)
        if len(chosen) != count:
            raise InvalidParameterError(
                f"There must be one id for each graph; got {len(chosen)} ids for {count} graphs."
            )
        self._remember(chosen)
        largest = max((value for value in chosen if type(value) is int), default=-1)
        following = max(first, largest + 1)
        self.manifest = replace(self.manifest, next_id=following)
        return chosen

    def _remember(self, ids: list[Any]) -> None:
        keys = id_keys(ids)
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        again = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
        places = np.searchsorted(self._known, ordered)
        inside = places < len(self._known)
        there = np.flatnonzero(inside)[self._known[places[inside]] == ordered[inside]]
        for twice in (*again[:1], *there[:1]):
            raise InvalidParameterError(
                f"Every id of an index occurs once; {ids[order[twice]]!r} comes a second time. "
                "Leave out ids to number the graphs, or remove the older one first."
            )
        self._known = np.insert(self._known, places, ordered)


def with_ids(chunks: Iterable[Chunk], ids: Any, keep: Sequence[str] | None) -> Iterator[Any]:
    """Each chunk with its ids and the columns that are kept.

    ``ids`` is None, the name of a column, or an iterable with an id per graph.
    """
    source = None if ids is None or isinstance(ids, str) else iter(ids)
    for chunk in chunks:
        own: Sequence[Any] | None = None
        if isinstance(ids, str):
            own = _column(chunk, ids).tolist()
        elif source is not None:
            own = list(islice(source, len(chunk.graphs)))
        columns = chunk.columns
        if keep is not None:
            columns = {name: _column(chunk, name) for name in keep}
        yield chunk._replace(columns=columns), own
    if source is not None and (left := len(list(islice(source, 1)))):
        raise InvalidParameterError(f"There must be one id for each graph; got {left} too many.")


def _column(chunk: Chunk, name: str) -> np.ndarray:
    if name not in chunk.columns:
        raise InvalidParameterError(
            f"The graphs have no column {name!r}; they have {', '.join(chunk.columns) or 'none'}."
        )
    return chunk.columns[name]


def commit(folder: Path, manifest: Manifest) -> None:
    """Make a manifest the valid one and clear away what no longer belongs to the index."""
    write_manifest(folder, replace(manifest, extra={}))
    (folder / JOURNAL).unlink(missing_ok=True)
    delete_leftovers(folder, manifest.files)


def tail_to_fold(segments: Sequence[SegmentEntry], new: int) -> int:
    """How many of the last segments are rewritten with ``new`` graphs.

    Those that are no larger than what comes after them: adding graphs one by one leaves few
    segments, and each graph is rewritten a few times only.
    """
    count = 0
    for entry in reversed(segments):
        if entry.graphs > new or entry.graphs + new > LARGEST:
            break
        new += entry.graphs
        count += 1
    return count
