"""The changes of an index: build, add, remove, compact. Each holds the lock, ends with one step."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidFileError, InvalidParameterError
from ..graphs.streams import Chunk, as_chunks
from ..kernels.bases.feature_kernel import FeatureKernel
from .durable import only_writer, unwritable
from .manifest import JOURNAL, NAME, Manifest, read_manifest, write_manifest
from .segment import CHUNK
from .snapshot import Snapshot
from .stored_kernel import check_kernel, default_kernel, restored, stored
from .writing import SegmentWriter, commit, tail_to_fold, with_ids

#: Options of readers of molecules that also say how a query's SMILES becomes a graph.
_LABEL_OPTIONS = ("charge", "aromatic", "hydrogens", "stereo", "isotopes", "radicals")


def build_index(
    folder: Path,
    source: Any,
    kernel: FeatureKernel | None,
    ids: Any,
    columns: Any,
    similarity: str,
    overwrite: bool,
    n_jobs: int | None,
    verbose: bool,
    options: dict[str, Any],
) -> None:
    """Make an index; see :meth:`GraphIndex.build`."""
    if kernel is not None:
        check_kernel(kernel)
    _make_folder(folder, overwrite)
    with only_writer(folder):
        settings = {
            "kernel": None if kernel is None else stored(kernel),
            "similarity": similarity,
            "ids": ids if isinstance(ids, str) else None,
            "columns": columns if isinstance(columns, list) else None,
            "options": {name: repr(value) for name, value in options.items()},
        }
        origin = _origin(source, ids, settings)
        earlier = _interrupted(folder, origin)
        after = earlier.extra["line"] if earlier is not None else 0
        chunks = _chunks(source, columns, n_jobs, options, after)
        first = next(chunks, None)
        if kernel is None:
            if earlier is not None:
                kernel = restored(earlier.kernel, None, str(folder))
            elif first is None:
                raise InvalidParameterError(
                    "An index without graphs needs a kernel; give kernel=TreePlusPlus(...)."
                )
            else:
                kernel = default_kernel(first.graphs)
        kernel.set_params(n_jobs=n_jobs)
        manifest = earlier or Manifest(
            stored(kernel), similarity, label_kind="", molecules=_molecules(source, options)
        )
        whole = chunks if first is None else chain([first], chunks)

        def journal(so_far: Manifest, last: Chunk) -> None:
            if origin is not None:
                extra = {"origin": origin, "line": int(last.columns["line"][-1])}
                write_manifest(folder, replace(so_far, extra=extra), JOURNAL)

        known = Snapshot(folder, manifest).keys()
        writer = SegmentWriter(folder, kernel, manifest, known, journal)
        with _bar(verbose, sum(entry.graphs for entry in manifest.segments)) as bar:
            keep = columns if isinstance(columns, list) else None
            writer.write(with_ids(whole, ids, keep), bar.update)
        commit(folder, writer.manifest)


def add_to_index(
    folder: Path,
    kernel: FeatureKernel,
    source: Any,
    ids: Any,
    columns: Any,
    n_jobs: int | None,
    verbose: bool,
    options: dict[str, Any],
) -> None:
    """Add graphs to an index; see :meth:`GraphIndex.add`."""
    with only_writer(folder):
        now = Snapshot.of(folder)
        if now.manifest.molecules is not None and _is_molecule_file(source):
            given = {name: options[name] for name in _LABEL_OPTIONS if name in options}
            if any(value != now.manifest.molecules.get(name) for name, value in given.items()):
                raise InvalidParameterError(
                    f"Molecules of an index are all read alike; it was built with "
                    f"{now.manifest.molecules}, got {given}. Leave these options out."
                )
            options = {**options, **now.manifest.molecules}
        chunks = _chunks(source, columns, n_jobs, options, 0)
        keep = columns if isinstance(columns, list) else None
        pieces = with_ids(chunks, ids, keep)
        first = list(_take(pieces, 2))
        new = sum(len(chunk.graphs) for chunk, _ in first)
        if not new:
            return
        folded = tail_to_fold(now.manifest.segments, new) if len(first) == 1 else 0
        stay = len(now.segments) - folded
        manifest = replace(now.manifest, segments=now.manifest.segments[:stay])
        old = now.pieces(stay)
        writer = SegmentWriter(folder, kernel, manifest, now.keys(stay))
        with _bar(verbose, 0) as bar:
            writer.write(chain(old, first, pieces), bar.update)
        commit(folder, writer.manifest)


def remove_from_index(folder: Path, ids: list[Any]) -> None:
    """Remove graphs from an index; see :meth:`GraphIndex.remove`."""
    with only_writer(folder):
        now = Snapshot.of(folder)
        places = now.places(ids)
        if len(places):
            commit(folder, now.without(places))


def compact_index(folder: Path, kernel: FeatureKernel) -> None:
    """Write an index anew; see :meth:`GraphIndex.compact`."""
    with only_writer(folder):
        now = Snapshot.of(folder)
        manifest = replace(now.manifest, segments=(), removed=None)
        nothing = np.empty(0, dtype=np.uint64)
        writer = SegmentWriter(folder, kernel, manifest, nothing)
        writer.write(now.pieces())
        commit(folder, writer.manifest)


# -------------------------------------------------------------------- sources


def _chunks(
    source: Any, columns: Any, n_jobs: int | None, options: dict[str, Any], after: int
) -> Iterator[Chunk]:
    """The graphs of a source in chunks, with values for each graph if such are given."""
    if _is_molecule_file(source):
        options = {**options, "n_jobs": n_jobs, "after_line": after}
    chunks = as_chunks(source, chunk_size=CHUNK, **options)
    if columns is None or isinstance(columns, list):
        return chunks
    if not isinstance(columns, Mapping):
        raise InvalidParameterError(
            "columns is a dictionary of arrays, or a list of names of the source's columns; got "
            f"{type(columns).__name__}."
        )
    return _with_columns(chunks, {name: np.asarray(column) for name, column in columns.items()})


def _with_columns(chunks: Iterator[Chunk], columns: dict[str, np.ndarray]) -> Iterator[Chunk]:
    begin = 0
    for chunk in chunks:
        end = begin + len(chunk.graphs)
        for name, column in columns.items():
            if len(column) < end:
                raise InvalidParameterError(
                    f"A column needs a value for each graph; {name!r} has {len(column)}."
                )
        own = {name: column[begin:end] for name, column in columns.items()}
        yield chunk._replace(columns={**chunk.columns, **own})
        begin = end


def _take(pieces: Iterator[Any], count: int) -> Iterator[Any]:
    for _ in range(count):
        if (piece := next(pieces, None)) is None:
            return
        yield piece


def _is_molecule_file(source: Any) -> bool:
    from ..graphs.files.molecules import is_molecule_file

    return isinstance(source, str | Path) and is_molecule_file(Path(source))


def _molecules(source: Any, options: dict[str, Any]) -> dict[str, bool] | None:
    if not _is_molecule_file(source):
        return None
    return {name: bool(options[name]) for name in _LABEL_OPTIONS if name in options}


# -------------------------------------------------------------------- folders


def _make_folder(folder: Path, overwrite: bool) -> None:
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


def _origin(source: Any, ids: Any, settings: dict[str, Any]) -> dict[str, Any] | None:
    """What tells that an interrupted build was of the same thing; None if it cannot be told."""
    if not _is_molecule_file(source) or not (ids is None or isinstance(ids, str)):
        return None
    path = Path(source).resolve()
    if not path.exists():
        return None
    state = path.stat()
    return {"file": path.name, "size": state.st_size, "time": state.st_mtime_ns, **settings}


def _interrupted(folder: Path, origin: dict[str, Any] | None) -> Manifest | None:
    """What an earlier build of the same thing has done, if there was one."""
    if origin is None or not (folder / JOURNAL).is_file():
        return None
    try:
        earlier = read_manifest(folder, JOURNAL)
    except InvalidFileError:
        return None
    return earlier if earlier.extra.get("origin") == json.loads(json.dumps(origin)) else None


def _bar(verbose: bool, done: int) -> Any:
    from tqdm import tqdm

    return tqdm(disable=not verbose, initial=done, unit=" graphs", unit_scale=True, smoothing=0.05)
