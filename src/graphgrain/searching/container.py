"""A file of named arrays: what segments and lists of removed graphs are stored in.

::

    8 bytes   magic: "GGINDEX" and a zero byte
    4 bytes   version of the format, little-endian
    4 bytes   length of the header in bytes
    4 bytes   CRC-32 of the header
    header    JSON: {"about": {...}, "parts": {name: {dtype, shape, offset, crc32}}}
    parts     raw little-endian arrays, each at a multiple of 64 bytes

The header is checked when a file is opened, a part when it is first used. Arrays are mapped
into memory: what is not used is not read. Nothing in a file is ever executed.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InvalidFileError
from .durable import new_file

MAGIC = b"GGINDEX\0"
VERSION = 1
_FIXED = struct.Struct("<8sIII")
_ALIGN = 64
_KINDS = {"|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8"}


def write_container(path: Path, about: dict[str, Any], parts: dict[str, np.ndarray]) -> int:
    """Write arrays to a new file, safely on disk when this returns; its size in bytes."""
    arrays = {name: _little_endian(array) for name, array in parts.items()}
    entries: dict[str, Any] = {}
    offset = 0  # from the end of the header
    for name, array in arrays.items():
        entries[name] = {
            "dtype": array.dtype.str,
            "shape": list(array.shape),
            "offset": offset,
            "crc32": zlib.crc32(array.data) if array.size else 0,
        }
        offset += _padded(array.nbytes)
    header = json.dumps({"about": about, "parts": entries}).encode()
    header += b" " * (_padded(_FIXED.size + len(header)) - _FIXED.size - len(header))
    with new_file(path) as file:
        file.write(_FIXED.pack(MAGIC, VERSION, len(header), zlib.crc32(header)))
        file.write(header)
        for array in arrays.values():
            if array.size:
                file.write(array.data)
                file.write(b"\0" * (_padded(array.nbytes) - array.nbytes))
    return _FIXED.size + len(header) + offset


def _little_endian(array: np.ndarray) -> np.ndarray:
    array = np.ascontiguousarray(array)
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def _padded(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


class Container:
    """An open file of named arrays."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with open(path, "rb") as file:
                fixed = file.read(_FIXED.size)
                length = os.fstat(file.fileno()).st_size
                header = self._header(fixed, file.read(_header_length(fixed)))
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError:
            raise InvalidFileError(
                f"{path.name} is missing from the index {str(path.parent)!r}. Restore the folder "
                "from a copy, or build the index again."
            ) from None
        self.about: dict[str, Any] = header["about"]
        self._entries: dict[str, Any] = header["parts"]
        self._base = _FIXED.size + _header_length(fixed)
        self._checked: set[str] = set()
        for name, entry in self._entries.items():
            size = int(np.prod(entry["shape"], dtype=np.int64)) * np.dtype(entry["dtype"]).itemsize
            if self._base + entry["offset"] + _padded(size) > length:
                raise self.damaged(name, "the file ends before it does")

    def _header(self, fixed: bytes, header: bytes) -> dict[str, Any]:
        if len(fixed) < _FIXED.size or fixed[:8] != MAGIC:
            raise InvalidFileError(
                f"{self.path.name} is no file of a graphgrain index: it begins with {fixed[:8]!r}."
            )
        _, version, length, crc = _FIXED.unpack(fixed)
        check_version(version, self.path)
        if len(header) != length or zlib.crc32(header) != crc:
            raise self.damaged("header", "its checksum does not fit")
        return json.loads(header)

    def damaged(self, part: str, why: str) -> InvalidFileError:
        return InvalidFileError(
            f"The part {part!r} of {self.path.name} in the index {str(self.path.parent)!r} is "
            f"damaged: {why}. Restore the folder from a copy, or build the index again."
        )

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    @property
    def parts(self) -> list[str]:
        """The names of all arrays."""
        return list(self._entries)

    def __getitem__(self, name: str) -> np.ndarray:
        """An array of the file, read-only, as it was when its checksum was made."""
        entry = self._entries[name]
        if entry["dtype"] not in _KINDS:
            raise self.damaged(name, f"there are no arrays of type {entry['dtype']!r}")
        shape = tuple(entry["shape"])
        array: np.ndarray = np.frombuffer(
            self._map,
            dtype=entry["dtype"],
            count=int(np.prod(shape, dtype=np.int64)),
            offset=self._base + entry["offset"],
        ).reshape(shape)
        if name not in self._checked:
            if array.size and zlib.crc32(array.data) != entry["crc32"]:
                raise self.damaged(name, "its checksum does not fit")
            self._checked.add(name)
        return array


def _header_length(fixed: bytes) -> int:
    return _FIXED.unpack(fixed)[2] if len(fixed) == _FIXED.size else 0


def check_version(version: Any, path: Path) -> None:
    """Raise for a format that this version of the library does not know."""
    if version != VERSION:
        raise InvalidFileError(
            f"{str(path)!r} has version {version} of the index format; this version of graphgrain "
            f"reads version {VERSION}. Build the index again, or use the graphgrain that wrote it."
        )
