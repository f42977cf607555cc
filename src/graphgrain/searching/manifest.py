"""The files of an index: its manifest, how they come to be, and who may write.

The manifest says which files belong to the index and how its graphs are compared. It is the one
file that changes, in one step. Everything else is written once under a name of its own; a file
that no manifest names does not belong to the index. So whatever interrupts a writer, the index is
as it was before or as it is after.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from dataclasses import fields as dataclass_fields
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..archives import Format, document, read_document, write_archive
from ..core.posting_scan import CONTAINMENT
from ..errors import InvalidFileError, UnwritableFileError
from ..graphs.convert.rdkit import LabelOptions
from ..kernels.features import SIMILARITIES
from ..locking import locked
from ..writing import atomic_write, delete_if_free, to_disk

FORMAT = Format("graphgrain index", b"GGINDEX\0", 1, "Build the index again")
NAME = "manifest.json"
JOURNAL = "building.json"
#: How graphs of an index are compared: the similarities of kernels, and how much of a query a graph
#: contains.
KINDS = {**SIMILARITIES, "containment": CONTAINMENT}
_LABEL_KINDS = ("integer", "string", "none", "")
_OWN = (".segment", ".removed")
_FILE = re.compile(r"[0-9a-f]{16}\.(segment|removed)")


@dataclass(frozen=True)
class SegmentEntry:
    """A segment as the manifest names it."""

    file: str
    graphs: int
    bytes: int


@dataclass(frozen=True)
class Manifest:
    """What an index consists of.

    Attributes
    ----------
    kernel : dictionary
        ``{"class": name, "parameters": {...}}``.
    similarity : str
        The default of ``search``.
    label_kind : str
        "integer", "string" or "none", of the vertex labels.
    molecules : dictionary or None
        How SMILES become graphs, if the graphs are molecules: the options of ``from_smiles``.
    segments : tuple of SegmentEntry
    removed : str or None
        The file that says which graphs are removed.
    next_id : int
        The id of the next graph that comes without one.
    """

    kernel: dict[str, Any]
    similarity: str = "cosine"
    label_kind: str = "none"
    molecules: dict[str, bool] | None = None
    segments: tuple[SegmentEntry, ...] = ()
    removed: str | None = None
    next_id: int = 0
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def files(self) -> set[str]:
        """The names of all files that belong to the index."""
        files = {entry.file for entry in self.segments}
        return files if self.removed is None else files | {self.removed}

    def with_segments(self, more: tuple[SegmentEntry, ...]) -> Manifest:
        """The same with more segments."""
        return replace(self, segments=self.segments + more)


def write_manifest(folder: Path, manifest: Manifest, name: str = NAME) -> None:
    """Make a manifest the valid one: readers see the old one or the new one, never less."""
    path = folder / name
    with atomic_write(path, "The index") as file:
        file.write(document(FORMAT, asdict(manifest)))
    try:
        _sync_folder(folder)
    except OSError as error:
        raise unwritable(path, error) from None


def read_manifest(folder: Path, name: str = NAME) -> Manifest:
    """The manifest of an index."""
    path = folder / name
    if not path.is_file():
        unfinished = (folder / JOURNAL).is_file()
        raise InvalidFileError(
            f"{str(folder)!r} is no graphgrain index: "
            + (
                "its building was interrupted. Build it again with the same arguments to go on."
                if unfinished
                else f"it has no {NAME}. Build one with GraphIndex.build or `graphgrain index`."
            )
        )
    fields = read_document(path, FORMAT)
    try:
        if set(fields) != {each.name for each in dataclass_fields(Manifest)}:
            raise KeyError
        if not isinstance(fields["segments"], list):
            raise TypeError
        fields["segments"] = tuple(SegmentEntry(**entry) for entry in fields["segments"])
        manifest = Manifest(**fields)
    except (TypeError, KeyError):
        raise FORMAT.damaged(path, "manifest", "its entries are not those of an index") from None
    if (why := _wrong(manifest)) is not None:
        raise FORMAT.damaged(path, "manifest", why)
    return manifest


def _wrong(manifest: Manifest) -> str | None:
    """What is wrong with a manifest whose checksum is right."""
    names = [entry.file for entry in manifest.segments]
    for name in (*names, *(() if manifest.removed is None else (manifest.removed,))):
        if not isinstance(name, str) or not _FILE.fullmatch(name):
            return f"{str(name)[:60]!r} is no file of an index"
    if len(set(names)) != len(names):
        return "a segment is named twice"
    counts = [(entry.graphs, entry.bytes) for entry in manifest.segments]
    numbers = [manifest.next_id, *(number for pair in counts for number in pair)]
    if not all(type(number) is int and number >= 0 for number in numbers):
        return "a number of graphs or bytes is none"
    if str(manifest.similarity) not in KINDS or str(manifest.label_kind) not in _LABEL_KINDS:
        return "its similarity or its kind of labels is unknown"
    if not isinstance(manifest.extra, dict):
        return "its notes are none"
    options = manifest.molecules
    if options is not None and not (
        isinstance(options, dict)
        and set(options) <= set(LabelOptions._fields)
        and all(type(value) is bool for value in options.values())
    ):
        return "the options of its molecules are unknown"
    return None


# -------------------------------------------------------------------- files


def new_path(folder: Path, kind: str) -> Path:
    """A path for a new file that no other has."""
    return folder / f"{secrets.token_hex(8)}.{kind}"


def write_file(path: Path, about: dict[str, Any], parts: dict[str, np.ndarray]) -> int:
    """Write arrays to a new file, safely on disk when this returns; its size in bytes."""
    with _new_file(path) as file:
        return write_archive(file, FORMAT, about, parts)


@contextmanager
def _new_file(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that did not exist; if that fails, it does not exist afterwards either."""
    try:
        with open(path, "xb") as file:
            yield file
            file.flush()
            to_disk(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise unwritable(path, error) from None
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """See to it that names of files are on disk too, where the system can do that."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def delete_leftovers(folder: Path, keep: set[str]) -> None:
    """Delete files of segments that no longer belong to the index. Only a writer may."""
    for path in folder.iterdir():
        if (path.suffix in _OWN and path.name not in keep) or path.suffix == ".part":
            delete_if_free(path)


def unwritable(path: Path, error: OSError) -> UnwritableFileError:
    """The error for a file of an index that cannot be written."""
    return UnwritableFileError(
        f"The index cannot be written: {path.name} in {str(path.parent)!r}: "
        f"{error.strerror or error}. What was there before is unchanged. Make room, or choose "
        "another place."
    )


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold the lock of an index. It ends with the process, however that ends."""
    path = folder / "lock"
    try:
        file = open(path, "a+b")  # noqa: SIM115 - closed below
    except OSError as error:
        raise unwritable(path, error) from None
    with file, locked(file.fileno(), wait=False) as alone:
        if not alone:
            raise UnwritableFileError(
                f"Another process is writing to the index {str(folder)!r}; one at a time can. "
                "Wait until it has finished."
            )
        yield
