"""Write graphs to an index: segments, the journal and the manifest.

1. Graphs are sketched chunk by chunk; every 65,536 of them are written as a segment.
2. After each segment, a journal records how far the stream was read, so that the same call can
   resume after an interruption.
3. Finally the manifest is replaced, which adds all new segments to the index at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from ..errors import InvalidFileError, InvalidGraphError, InvalidParameterError
from ..graphs.batch import GraphBatch
from ..graphs.convert.parts import column_items
from ..graphs.convert.rdkit import is_rdkit
from ..graphs.streams import Chunk, as_chunks
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.registry import describe_kernel, kernel_from_json, kernel_to_json
from ..kernels.tree_plus_plus import TreePlusPlus
from ..parameters import check_parameters
from .index_files import (
    CHUNK,
    JOURNAL,
    LARGEST,
    NAME,
    Manifest,
    SegmentEntry,
    Sketches,
    Snapshot,
    checked_ids,
    choose_common,
    delete_leftovers,
    id_keys,
    keyed_features,
    make_sketches,
    read_manifest,
    unwritable,
    write_manifest,
    write_segment,
)

#: Number of graphs of an index among which an example of their labels and attributes is chosen.
_EXAMPLES = 64
#: Chunks of graphs with their ids, if they have any.
Pieces = Iterable[tuple[Chunk, Sequence[Any] | None]]


# -------------------------------------------------------------------- segments


class SegmentWriter:
    """Write a stream of graphs as segments of an index.

    They are added to the segments of ``manifest``, which ``there`` has opened. ``journal`` is
    called after each segment with the current manifest and the last chunk.
    """

    def __init__(
        self,
        folder: Path,
        kernel: FeatureKernel,
        manifest: Manifest,
        there: Snapshot,
        journal: Callable[[Manifest, Chunk], None] | None = None,
    ) -> None:
        self.folder, self.kernel, self.manifest = folder, kernel, manifest
        self._known, self._journal = there.keys(), journal
        self._example = _example(there.graphs(there.live[:_EXAMPLES]))
        self._chunks: list[Chunk] = []
        self._sketches: list[Sketches] = []
        self._ids: list[Any] = []
        self._common: np.ndarray = np.empty(0, dtype=np.uint64)

    def write(self, pieces: Pieces, progress: Callable[[int], object] = lambda count: None) -> None:
        """Write all graphs of a stream and add them to the index."""
        for chunk, ids in pieces:
            if len(self._ids) + len(chunk.graphs) > LARGEST:
                self.flush()
            self._check(chunk.graphs)
            features = keyed_features(self.kernel, chunk.graphs)
            if not self._chunks:
                self._common = choose_common(features, self.kernel)
            new = self._new_ids(len(chunk.graphs), ids)
            self._sketches.append(make_sketches(features, self.kernel, self._common))
            self._chunks.append(chunk)
            self._ids += new
            progress(len(chunk.graphs))
        self.flush()
        commit(self.folder, self.manifest)

    def flush(self) -> None:
        """Write the collected graphs as a segment."""
        if not self._ids:
            return
        entry = write_segment(self.folder, self._chunks, self._sketches, self._common, self._ids)
        last = self._chunks[-1]
        self._chunks, self._sketches, self._ids = [], [], []
        self.manifest = replace(self.manifest, segments=(*self.manifest.segments, entry))
        if self._journal is not None:
            self._journal(self.manifest, last)

    def _check(self, graphs: GraphBatch) -> None:
        """Check that all graphs of the index have labels and attributes of the same kind."""
        kind = self.manifest.label_kind
        if not graphs.n_vertices:
            return
        if kind == "":
            self.manifest = replace(self.manifest, label_kind=graphs.label_kind)
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
        first = self.manifest.next_id
        chosen = list(range(first, first + count)) if ids is None else checked_ids(ids)
        if len(chosen) != count:
            raise InvalidParameterError(
                f"There must be one id for each graph; got {len(chosen)} ids for {count} graphs."
            )
        keys = id_keys(chosen)
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        again = np.flatnonzero(ordered[1:] == ordered[:-1]) + 1
        places = np.searchsorted(self._known, ordered)
        inside = places < len(self._known)
        there = np.flatnonzero(inside)[self._known[places[inside]] == ordered[inside]]
        for twice in (*again[:1], *there[:1]):
            raise InvalidParameterError(
                f"Every id of an index occurs once; {chosen[order[twice]]!r} comes a second time. "
                "Leave out ids to number the graphs, or remove the older one first."
            )
        self._known = np.insert(self._known, places, ordered)
        following = max((value + 1 for value in chosen if type(value) is int), default=0)
        self.manifest = replace(self.manifest, next_id=max(first, following))
        return chosen


def _example(graphs: GraphBatch) -> GraphBatch:
    """Return the graph with the most edges, which has all labels and attributes that there are."""
    return graphs[np.argsort(-graphs.edge_counts, kind="stable")[:1]]


def pieces_of(
    source: Any, ids: Any, columns: Any, n_jobs: int | None, options: dict[str, Any], after: int = 0
) -> Iterator[tuple[Chunk, Sequence[Any] | None]]:
    """Yield the graphs of a source in chunks with the columns to store, and their ids.

    ``ids`` is None, the name of a column, or an iterable with one id per graph.
    """
    if is_molecules(source):
        options = {**options, "n_jobs": n_jobs, "after_line": after}
    if not isinstance(columns, list | Mapping | None):
        raise InvalidParameterError(
            "columns is a dictionary of arrays, or a list of names of the source's columns; got "
            f"{type(columns).__name__}."
        )
    given = {}
    if isinstance(columns, Mapping):
        given = {name: np.asarray(column) for name, column in columns.items()}
    values = None if ids is None or isinstance(ids, str) else iter(ids)
    begin = 0
    for chunk in as_chunks(source, chunk_size=CHUNK, **options):
        end = begin + len(chunk.graphs)
        for name, column in given.items():
            if len(column) < end:
                raise InvalidParameterError(
                    f"A column needs a value for each graph; {name!r} has {len(column)}."
                )
        more = {name: column[begin:end] for name, column in given.items()}
        chunk = chunk._replace(columns={**chunk.columns, **more})
        own: Sequence[Any] | None = None
        if isinstance(ids, str):
            own = _column(chunk, ids).tolist()
        elif values is not None:
            own = list(islice(values, len(chunk.graphs)))
        if isinstance(columns, list):
            kept = {name: _column(chunk, name) for name in columns}
            if "line" in chunk.columns:  # needed to resume an interrupted build
                kept["line"] = chunk.columns["line"]
            chunk = chunk._replace(columns=kept)
        yield chunk, own
        begin = end
    for name, column in given.items():
        if len(column) > begin:
            raise InvalidParameterError(
                f"A column needs a value for each of the {begin} graphs; {name!r} has "
                f"{len(column)}."
            )
    if values is not None and (left := len(list(islice(values, 1)))):
        raise InvalidParameterError(f"There must be one id for each graph; got {left} too many.")


def _column(chunk: Chunk, name: str) -> np.ndarray:
    if name not in chunk.columns:
        raise InvalidParameterError(
            f"The graphs have no column {name!r}; they have {', '.join(chunk.columns) or 'none'}."
        )
    return chunk.columns[name]


def commit(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest and delete files that no longer belong to the index."""
    write_manifest(folder, replace(manifest, extra={}))
    (folder / JOURNAL).unlink(missing_ok=True)
    delete_leftovers(folder, manifest.files)


def tail_to_merge(segments: Sequence[SegmentEntry], new: int) -> int:
    """Return the number of last segments to be rewritten together with ``new`` graphs.

    These are the segments that are not larger than what comes after them. Adding graphs one by
    one therefore leaves few segments, and each graph is rewritten only a few times.
    """
    count = 0
    for entry in reversed(segments):
        if entry.graphs > new or entry.graphs + new > LARGEST:
            break
        new += entry.graphs
        count += 1
    return count


# -------------------------------------------------------------------- kernels


def default_kernel(graphs: GraphBatch) -> TreePlusPlus:
    """Return the default kernel: presence, not counts, of patterns (see docs/searching.md)."""
    return TreePlusPlus(4, 1, edge_labels=graphs.edge_label_table is not None, counts="binary")


def check_kernel(kernel: Any) -> FeatureKernel:
    """Check that an index can use a kernel, and return a copy."""
    if not isinstance(kernel, FeatureKernel):
        raise InvalidParameterError(
            "An index needs a kernel with explicit features, such as TreePlusPlus() or "
            f"WeisfeilerLehman(); got {kernel!r}."
        )
    kernel = clone(kernel)  # what the caller does with it later does not concern the index
    check_parameters(kernel)
    parameters = kernel.get_params()
    if "random_state" in parameters and parameters["random_state"] is None:
        raise InvalidParameterError(
            "The features of an index must be the same every time; random_state=None draws other "
            "ones each time. Give it a number."
        )
    if parameters.get("n_features") is not None:
        raise InvalidParameterError(
            f"An index distinguishes all features; n_features={parameters['n_features']} would "
            "merge some. Leave it out."
        )
    return kernel


def stored(kernel: FeatureKernel) -> dict[str, Any]:
    """Return the kernel as JSON, with the parameters that similarities depend on."""
    return kernel_to_json(kernel, leave_out=kernel.parameters_after_counting - {"counts"})


def restored(entry: dict[str, Any], given: FeatureKernel | None, where: str) -> FeatureKernel:
    """Return the kernel of an index, created from JSON or checked against the given one."""
    if given is not None:
        own = check_kernel(given)
        if stored(own) != entry:
            raise InvalidParameterError(
                f"The index {where!r} was built with {_shown(entry)}; got {given!r}. Leave the "
                "kernel out, or build another index with it."
            )
        return own
    try:
        return check_kernel(kernel_from_json(entry))
    except (InvalidFileError, InvalidParameterError) as error:
        raise InvalidFileError(
            f"The kernel of the index {where!r} cannot be made: {error} If it is one of your own, "
            "give it: GraphIndex.open(path, kernel=...). Otherwise build the index again."
        ) from None


def _shown(entry: Any) -> str:
    try:
        return describe_kernel(entry)
    except (TypeError, KeyError, AttributeError):
        return "another kernel"


def is_molecules(source: Any) -> bool:
    from ..graphs.files.molecules import is_molecule_file

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


def make_folder(folder: Path, overwrite: bool) -> None:
    if (folder / NAME).exists() and not overwrite:
        raise InvalidParameterError(
            f"There is an index {str(folder)!r} already. Choose another name, add to it with "
            "GraphIndex.open(path).add(graphs), or say overwrite=True (`--overwrite`)."
        )
    if folder.exists() and not folder.is_dir():
        raise InvalidParameterError(f"An index is a folder; {str(folder)!r} is a file.")
    own = (".segment", ".removed", ".part", ".json")
    if folder.is_dir():
        for path in folder.iterdir():
            if path.name != "lock" and path.suffix not in own:
                raise InvalidParameterError(
                    f"{str(folder)!r} holds other files, such as {path.name!r}. An index needs a "
                    "folder of its own."
                )
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from None


def origin_of(
    source: Any, ids: Any, columns: Any, settings: dict[str, Any]
) -> dict[str, Any] | None:
    """Return a description that identifies a build for resuming; None if it cannot be resumed."""
    given = isinstance(columns, Mapping) or not (ids is None or isinstance(ids, str))
    if given or not is_molecules(source):
        return None
    path = Path(source).resolve()
    if not path.exists():
        return None
    state = path.stat()
    return {"file": path.name, "size": state.st_size, "time": state.st_mtime_ns, **settings}


def interrupted(folder: Path, origin: dict[str, Any] | None) -> Manifest | None:
    """Return the manifest of an interrupted build of the same origin, if there is one."""
    if origin is None or not (folder / JOURNAL).is_file():
        return None
    try:
        earlier = read_manifest(folder, JOURNAL)
    except InvalidFileError:
        return None
    same = earlier.extra.get("origin") == json.loads(json.dumps(origin))
    return earlier if same and type(earlier.extra.get("line")) is int else None


def progress_of(verbose: bool, done: int) -> Any:
    from tqdm import tqdm

    return tqdm(disable=not verbose, initial=done, unit=" graphs", unit_scale=True, smoothing=0.05)
