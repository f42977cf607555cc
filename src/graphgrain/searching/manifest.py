"""The manifest of an index: which files belong to it, and how its graphs are compared.

It is the one file that changes, in one step. Everything else is written once under a name of
its own; a file that no manifest names does not belong to the index. So whatever interrupts a
writer, the index is as it was before or as it is after.
"""

from __future__ import annotations

import json
import secrets
import zlib
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import InvalidFileError
from ..writing import delete_if_free
from .container import VERSION, check_version
from .durable import replace_file

FORMAT = "graphgrain index"
NAME = "manifest.json"
JOURNAL = "building.json"
_OWN = (".segment", ".removed")


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


def new_name(kind: str) -> str:
    """A name for a new file that no other has."""
    return f"{secrets.token_hex(8)}.{kind}"


def write_manifest(folder: Path, manifest: Manifest, name: str = NAME) -> None:
    """Make a manifest the valid one."""
    content = json.dumps(asdict(manifest), indent=1).encode()
    head = {"format": FORMAT, "version": VERSION, "crc32": zlib.crc32(content)}
    replace_file(folder / name, json.dumps(head).encode() + b"\n" + content + b"\n")


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
    first, _, content = path.read_bytes().partition(b"\n")
    try:
        head = json.loads(first)
        known = isinstance(head, dict) and head.get("format") == FORMAT
    except ValueError:
        known = False
    if not known:
        raise InvalidFileError(f"{str(path)!r} is not the manifest of a graphgrain index.")
    check_version(head.get("version"), path)
    if zlib.crc32(content[:-1]) != head.get("crc32"):
        raise InvalidFileError(
            f"The manifest {str(path)!r} is damaged: its checksum does not fit. Restore the "
            "folder from a copy, or build the index again."
        )
    fields = json.loads(content)
    fields["segments"] = tuple(SegmentEntry(**entry) for entry in fields["segments"])
    return Manifest(**fields)


def delete_leftovers(folder: Path, keep: set[str]) -> None:
    """Delete files of segments that no longer belong to the index. Only a writer may."""
    for path in folder.iterdir():
        if (path.suffix in _OWN and path.name not in keep) or path.suffix == ".part":
            delete_if_free(path)
