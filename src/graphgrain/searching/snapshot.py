"""An index as it was at one moment: its manifest and its open segments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidFileError, InvalidParameterError
from ..graphs.streams import Chunk
from .columns import as_array, checked_ids, id_keys
from .container import Container, write_container
from .manifest import Manifest, new_name, read_manifest
from .segment import CHUNK, Segment

#: How often a reader starts again when a writer clears files away under its hands.
_ATTEMPTS = 5


class Snapshot:
    """The segments of an index. Nothing that a writer does later changes it."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder, self.manifest = folder, manifest
        removed = None if manifest.removed is None else Container(folder / manifest.removed)
        nothing: np.ndarray = np.empty(0, dtype=np.int64)
        self.segments = [
            Segment(
                folder / entry.file,
                entry,
                removed[entry.file].astype(np.int64)
                if removed is not None and entry.file in removed
                else nothing,
            )
            for entry in manifest.segments
        ]
        self.bases = np.cumsum([0] + [len(segment) for segment in self.segments])

    @classmethod
    def of(cls, folder: Path) -> Snapshot:
        """The index as it is now."""
        for attempt in range(_ATTEMPTS):
            manifest = read_manifest(folder)
            try:
                return cls(folder, manifest)
            except InvalidFileError:
                # A writer may have replaced the manifest and deleted what the old one names.
                if attempt == _ATTEMPTS - 1 or read_manifest(folder) == manifest:
                    raise
        raise AssertionError("unreachable")

    def __len__(self) -> int:
        return int(self.bases[-1]) - sum(len(segment.removed) for segment in self.segments)

    @cached_property
    def live(self) -> np.ndarray:
        """The places of all graphs that are not removed, in order."""
        parts = [
            segment.live + base
            for segment, base in zip(self.segments, self.bases[:-1].tolist(), strict=True)
        ]
        return np.concatenate([np.empty(0, dtype=np.int64), *parts])

    def _gathered(
        self, places: Sequence[int] | np.ndarray, read: Callable[[Segment, list[int]], list[Any]]
    ) -> list[Any]:
        """What a function reads from the rows of each segment, in the order of the places."""
        places = np.asarray(places, dtype=np.int64)
        owner = np.searchsorted(self.bases, places, side="right") - 1
        result: list[Any] = [None] * len(places)
        for number in np.unique(owner).tolist():
            mine = np.flatnonzero(owner == number)
            rows = (places[mine] - self.bases[number]).tolist()
            values = read(self.segments[number], rows)
            for place, value in zip(mine.tolist(), values, strict=True):
                result[place] = value
        return result

    def ids(self, places: Sequence[int] | np.ndarray) -> list[Any]:
        """The ids of some graphs."""
        return self._gathered(places, lambda segment, rows: segment.ids(rows))

    @property
    def column_names(self) -> list[str]:
        """All columns other than the id."""
        return list(dict.fromkeys(name for part in self.segments for name in part.columns.names))

    def columns(self, places: Sequence[int] | np.ndarray) -> dict[str, np.ndarray]:
        """What is known of some graphs; None where a graph came without that column."""

        def read(name: str) -> list[Any]:
            return self._gathered(places, lambda segment, rows: segment.column(name, rows))

        return {name: as_array(read(name)) for name in self.column_names}

    def places(self, ids: Sequence[Any]) -> np.ndarray:
        """Where the graphs with these ids are; an error for an id that is not there."""
        ids = checked_ids(ids)
        wanted = id_keys(ids)
        order = np.argsort(wanted)
        result = np.full(len(ids), -1, dtype=np.int64)
        for segment, base in zip(self.segments, self.bases[:-1].tolist(), strict=True):
            keys = segment.container["keys"]
            rows = np.flatnonzero(np.isin(keys, wanted))
            rows = rows[~np.isin(rows, segment.removed)]
            at = np.searchsorted(wanted[order], keys[rows])
            own = segment.ids(rows.tolist())
            for row, first, value in zip(rows.tolist(), at.tolist(), own, strict=True):
                for place in order[first:]:  # two ids may share a key, if hardly ever
                    if wanted[place] != keys[row]:
                        break
                    if ids[place] == value:
                        result[place] = base + row
        if (result < 0).any():
            missing = ids[int(np.flatnonzero(result < 0)[0])]
            raise InvalidParameterError(f"The index has no graph with the id {missing!r}.")
        return result

    def keys(self, segments: int | None = None) -> np.ndarray:
        """The keys of the ids of all graphs (of the first segments) that are not removed."""
        parts = [part.container["keys"][part.live] for part in self.segments[:segments]]
        return np.sort(np.concatenate([np.empty(0, dtype=np.uint64), *parts]))

    def pieces(self, first_segment: int = 0) -> Iterator[tuple[Chunk, list[Any]]]:
        """All graphs with their columns and ids, some at a time."""
        for segment in self.segments[first_segment:]:
            for begin in range(0, len(segment.live), CHUNK):
                yield segment.chunk(segment.live[begin : begin + CHUNK])

    def without(self, places: np.ndarray) -> Manifest:
        """Write a new list of removed graphs; the manifest that names it."""
        parts = {}
        for segment, base in zip(self.segments, self.bases[:-1].tolist(), strict=True):
            mine = places[(places >= base) & (places < base + len(segment))] - base
            rows = np.union1d(segment.removed, mine)
            if len(rows):
                parts[segment.entry.file] = rows.astype(np.uint32)
        path = self.folder / new_name("removed")
        write_container(path, {"removed": int(sum(map(len, parts.values())))}, parts)
        return replace(self.manifest, removed=path.name)
