"""Rows in buckets: all rows with the same key come together, in memory or on disk.

Sorting everything by a key needs room for everything. Rows in buckets by a hash of the key, one
bucket in memory at a time, need none: what does not fit goes to one file per bucket.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ..core.hashing import mix_array

#: Buckets on disk, and bytes of rows that are kept in memory.
_BUCKETS = 256
_MEMORY = 1 << 24


class Buckets:
    """Rows of one kind. Add all, then go through the buckets once.

    Parameters
    ----------
    dtype : structured dtype
        Of a row.
    memory : int
        As many bytes of rows are in memory before they go to disk.

    Examples
    --------
    >>> import numpy as np
    >>> from graphgrain.searching.buckets import Buckets
    >>> with Buckets(np.dtype([("key", np.uint64)]), memory=16) as rows:
    ...     rows.add(np.array([1, 2, 1, 2, 3], dtype=np.uint64).view(rows.dtype), "key")
    ...     rows.add(np.array([2], dtype=np.uint64).view(rows.dtype), "key")
    ...     sorted(sorted(bucket["key"].tolist()) for bucket in rows)
    [[1, 1], [2, 2, 2], [3]]
    """

    def __init__(self, dtype: np.dtype, memory: int = _MEMORY) -> None:
        self.dtype, self.memory = dtype, memory
        self._rows: list[np.ndarray] = []
        self._numbers: list[np.ndarray] = []
        self._bytes = 0
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Buckets:
        return self

    def __exit__(self, *error: object) -> None:
        self._rows, self._numbers = [], []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def add(self, rows: np.ndarray, *keys: str) -> None:
        """Add rows; those with the same values in the named fields come together."""
        if not len(rows):
            return
        code = np.zeros(len(rows), dtype=np.uint64)
        for name in keys:
            code = mix_array(code + rows[name].astype(np.uint64))
        self._rows.append(rows)
        self._numbers.append((code >> np.uint64(56)).astype(np.uint8))
        self._bytes += rows.nbytes
        if self._bytes > self.memory:
            self._flush()

    def _path(self, number: int) -> Path:
        assert self._folder is not None
        return Path(self._folder.name) / f"{number}.rows"

    def _flush(self) -> None:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="graphgrain-")
        rows, numbers = np.concatenate(self._rows), np.concatenate(self._numbers)
        self._rows, self._numbers, self._bytes = [], [], 0
        rows = rows[np.argsort(numbers, kind="stable")]
        ends = np.cumsum(np.bincount(numbers, minlength=_BUCKETS)).tolist()
        for number, (begin, end) in enumerate(zip([0, *ends], ends, strict=False)):
            if begin < end:
                with self._path(number).open("ab") as file:
                    rows[begin:end].tofile(file)

    def __iter__(self) -> Iterator[np.ndarray]:
        """The buckets; rows that have never been on disk are one."""
        if self._folder is None:
            if self._rows:
                rows, self._rows, self._numbers = self._rows, [], []
                yield np.concatenate(rows)
            return
        if self._rows:
            self._flush()
        for number in range(_BUCKETS):
            path = self._path(number)
            if path.exists():
                rows_of_one = np.fromfile(path, dtype=self.dtype)
                path.unlink()
                yield rows_of_one
