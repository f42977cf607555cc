"""File formats: named arrays, and JSON, with a version and checksums. Code is never executed.

An archive is a single memory-mapped file of named arrays; only the arrays that are used are read
from disk. An array cannot be larger than its file unless it is packed. A packed array declares its
size, and decompression stops there. ::

    8 bytes   magic number of the format
    4 bytes   version of the format, little-endian
    4 bytes   length of the header in bytes
    4 bytes   CRC-32 of the header
    header    JSON: {"about": {...}, "parts": {name: {dtype, shape, offset, crc32}}}
    parts     raw little-endian arrays, aligned to 64 bytes; an entry with "packed", a number of
              bytes, is deflated: the first byte of all elements, then the second, ...

A document is JSON, preceded by a line of JSON with the name of the format, its version and the
CRC-32 of the rest. NumPy archives (``.npz``) are read with the same limits by :func:`read_npz`.

Checksums detect accidental damage, not manipulation: the contents of arrays must be validated
before they are used as indices in compiled code.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np

from .errors import InvalidFileError

_FIXED = struct.Struct("<8sIII")
_ALIGN = 64
_DTYPES = {"|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8"}
#: Maximum size of a header in bytes, and maximum number of dimensions of an array.
_LONGEST_HEADER = 1 << 28
_DIMENSIONS = 4
#: Maximum compression ratio of deflate.
_MOST_PACKED = 1032


class Format(NamedTuple):
    """Properties of a file format."""

    name: str  # "graphgrain index"
    magic: bytes  # 8 bytes; empty for documents
    version: int
    remedy: str  # advice in error messages: "Build the index again"

    def check_version(self, version: Any, path: Path) -> None:
        """Raise an error if this version of the library cannot read a version of the format."""
        if version != self.version or isinstance(version, bool):
            raise InvalidFileError(
                f"{str(path)!r} has version {version!r} of the format {self.name!r}; this version "
                f"of graphgrain reads version {self.version}. {self.remedy}, or use the graphgrain "
                "that wrote it."
            )

    def damaged(self, path: Path, part: str, why: str) -> InvalidFileError:
        """Return the error for a damaged part of a file."""
        return InvalidFileError(
            f"The part {part!r} of {path.name} in {str(path.parent)!r} is damaged: {why}. Restore "
            f"it from a copy. {self.remedy}."
        )


# -------------------------------------------------------------------- arrays


def write_archive(
    file: IO[bytes],
    form: Format,
    about: dict[str, Any],
    parts: dict[str, np.ndarray],
    packed: bool = False,
) -> int:
    """Write arrays and a dictionary of metadata to an open file, and return its size in bytes.

    With ``packed``, arrays are deflated if that makes them smaller.
    """
    contents: list[Any] = []
    entries: dict[str, Any] = {}
    offset = 0  # relative to the end of the header
    for name, part in parts.items():
        array = np.ascontiguousarray(part)
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        content = array.data if array.size else b""
        entries[name] = {"dtype": array.dtype.str, "shape": list(array.shape), "offset": offset}
        if packed and len(small := zlib.compress(_byte_planes(array), 1)) < array.nbytes:
            content = small
            entries[name]["packed"] = len(small)
        entries[name]["crc32"] = zlib.crc32(content)
        contents.append(content)
        offset += _padded(memoryview(content).nbytes)
    header = json.dumps({"about": about, "parts": entries}).encode()
    header += b" " * (_padded(_FIXED.size + len(header)) - _FIXED.size - len(header))
    file.write(_FIXED.pack(form.magic, form.version, len(header), zlib.crc32(header)))
    file.write(header)
    for content in contents:
        size = memoryview(content).nbytes
        file.write(content)
        file.write(b"\0" * (_padded(size) - size))
    return _FIXED.size + len(header) + offset


def _byte_planes(array: np.ndarray) -> bytes:
    """Group bytes by significance, which gives small numbers long runs of zeros."""
    return array.reshape(-1).view(np.uint8).reshape(-1, array.itemsize).T.tobytes()


def _padded(size: int) -> int:
    return -(-size // _ALIGN) * _ALIGN


class Archive:
    """An open file of named arrays."""

    def __init__(self, path: Path, form: Format) -> None:
        self.path, self.form = path, form
        try:
            with open(path, "rb") as file:
                fixed = file.read(_FIXED.size)
                length = os.fstat(file.fileno()).st_size
                if len(fixed) < _FIXED.size or fixed[:8] != form.magic:
                    raise InvalidFileError(
                        f"{path.name} is not a {form.name} file: it begins with {fixed[:8]!r}."
                    )
                _, version, header_length, crc = _FIXED.unpack(fixed)
                form.check_version(version, path)
                if header_length > min(length, _LONGEST_HEADER):
                    raise self.damaged("header", "the file ends before it does")
                header = file.read(header_length)
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError:
            raise InvalidFileError(
                f"{path.name} is missing from {str(path.parent)!r}. Restore it from a copy. "
                f"{form.remedy}."
            ) from None
        except OSError as error:
            raise InvalidFileError(
                f"{str(path)!r} cannot be read: {error.strerror or error}."
            ) from None
        if len(header) != header_length or zlib.crc32(header) != crc:
            raise self.damaged("header", "its checksum does not match")
        content = parsed_json(header)
        if not (
            isinstance(content, dict)
            and isinstance(content.get("about"), dict)
            and isinstance(content.get("parts"), dict)
        ):
            raise self.damaged("header", "it does not conform to the format")
        self.about: dict[str, Any] = content["about"]
        self._entries: dict[str, Any] = content["parts"]
        self._base = _FIXED.size + header_length
        self._checked: set[str] = set()
        for name, entry in self._entries.items():
            if (why := _wrong_entry(entry, length - self._base)) is not None:
                raise self.damaged(name, why)

    def damaged(self, part: str, why: str) -> InvalidFileError:
        """Return the error for a damaged part."""
        return self.form.damaged(self.path, part, why)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    @property
    def parts(self) -> list[str]:
        """Names of all arrays."""
        return list(self._entries)

    def array(self, name: str, dtype: str, shape: tuple[int | None, ...]) -> np.ndarray:
        """Return an array after checking its type (``f4``, ``u8``, ...) and shape (None is any)."""
        array = self[name]
        fits = array.dtype.str[1:] == dtype and len(array.shape) == len(shape)
        if not fits or any(b not in (None, a) for a, b in zip(array.shape, shape, strict=True)):
            raise self.damaged(name, f"it is an array of {array.dtype} of shape {array.shape}")
        return array

    def __getitem__(self, name: str) -> np.ndarray:
        """Return a read-only array, after verifying its checksum on first access."""
        if name not in self._entries:
            raise self.damaged(name, "it is missing")
        entry = self._entries[name]
        size, begin = _bytes_of(entry), self._base + entry["offset"]
        content = memoryview(self._map)[begin : begin + entry.get("packed", size)]
        if name not in self._checked:
            if zlib.crc32(content) != entry["crc32"]:
                raise self.damaged(name, "its checksum does not match")
            self._checked.add(name)
        if "packed" in entry:
            content = memoryview(self._unpacked(name, content, size))
        array: np.ndarray = np.frombuffer(content, dtype=entry["dtype"])
        return array.reshape(entry["shape"])

    def _unpacked(self, name: str, content: memoryview, size: int) -> bytes:
        """Return the decompressed bytes of a packed array."""
        unpacking = zlib.decompressobj()
        try:
            planes = unpacking.decompress(content, size + 1)
        except zlib.error as error:
            raise self.damaged(name, f"it cannot be unpacked ({error})") from None
        if len(planes) != size or not unpacking.eof:
            raise self.damaged(name, f"unpacked it should have {size:,} bytes, no more, no less")
        width = np.dtype(self._entries[name]["dtype"]).itemsize
        return np.frombuffer(planes, dtype=np.uint8).reshape(width, -1).T.tobytes()


def _wrong_entry(entry: Any, length: int) -> str | None:
    """Return what is wrong with a header entry, or None; all parts have ``length`` bytes."""
    if not isinstance(entry, dict) or str(entry.get("dtype")) not in _DTYPES:
        return "there are no arrays of its type"
    shape: Any = entry.get("shape")
    offset: Any = entry.get("offset")
    if not isinstance(shape, list) or len(shape) > _DIMENSIONS or not all(map(_is_size, shape)):
        return f"there are no arrays of shape {str(shape)[:40]}"
    if not _is_size(offset) or offset % _ALIGN:
        return f"it cannot begin at {str(offset)[:40]}"
    size = _bytes_of(entry)
    packed: Any = entry.get("packed", size)
    if not _is_size(packed) or ("packed" in entry and size > _MOST_PACKED * packed):
        return f"{str(packed)[:40]} bytes cannot hold it"
    if offset + _padded(packed) > length:
        return "the file ends before it does"
    return None


def _bytes_of(entry: dict[str, Any]) -> int:
    """Return the uncompressed size of an array in bytes."""
    size: int = np.dtype(entry["dtype"]).itemsize
    for side in entry["shape"]:  # Python integers do not overflow
        size *= side
    return size


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**48


# -------------------------------------------------------------------- documents


def document(form: Format, content: Any) -> bytes:
    """Return JSON preceded by a line with the format, its version and a checksum."""
    text = json.dumps(content, indent=1).encode()
    head = {"format": form.name, "version": form.version, "crc32": zlib.crc32(text)}
    return json.dumps(head).encode() + b"\n" + text + b"\n"


def read_document(path: Path, form: Format) -> Any:
    """Return the content of a document."""
    try:
        first, _, text = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise InvalidFileError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    head = parsed_json(first)
    if not isinstance(head, dict) or head.get("format") != form.name:
        raise InvalidFileError(f"{str(path)!r} is not the manifest of a {form.name}.")
    form.check_version(head.get("version"), path)
    if zlib.crc32(text[:-1]) != head.get("crc32"):
        raise InvalidFileError(
            f"The manifest {str(path)!r} is damaged: its checksum does not match. Restore it from "
            f"a copy. {form.remedy}."
        )
    return parsed_json(text)


def parsed_json(text: bytes) -> Any:
    """Parse JSON; return None if it is invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


# -------------------------------------------------------------------- NumPy archives


def read_npz(path: Path, what: str, remedy: str) -> dict[str, np.ndarray]:
    """Read all arrays of an uncompressed NumPy archive (``.npz``); object arrays are rejected.

    Compressed members are rejected, so that no more memory is used than the size of the file. Error
    messages contain ``what`` the file should be and a ``remedy``.
    """

    def wrong(why: object) -> InvalidFileError:
        return InvalidFileError(f"{str(path)!r} is not {what}, or it is damaged: {why}. {remedy}.")

    arrays: dict[str, np.ndarray] = {}
    try:
        size = path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > size:
                raise wrong("its members claim more bytes than it has")
            for member in members:
                if member.compress_type != zipfile.ZIP_STORED or not member.filename.endswith(
                    ".npy"
                ):
                    raise wrong(f"{member.filename[:60]!r} is not an uncompressed array")
                with archive.open(member) as file:
                    arrays[member.filename.removesuffix(".npy")] = _npy(file, member.file_size)
    except FileNotFoundError:
        raise InvalidFileError(f"There is no file {str(path)!r}.") from None
    except InvalidFileError:
        raise
    except (
        OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, SyntaxError,
        OverflowError, struct.error, zipfile.BadZipFile, zlib.error,
    ) as error:  # fmt: skip
        raise wrong(error) from None
    return arrays


def _npy(file: IO[bytes], size: int) -> np.ndarray:
    """Read an array in NumPy's format, after comparing its header with the available bytes."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(file)
    else:
        raise ValueError(f"version {version} of arrays is not known")
    needed = dtype.itemsize
    for side in shape:
        needed *= side
    content = file.read(size)
    if dtype.hasobject or needed != len(content):
        raise ValueError(f"an array of {dtype} of shape {shape} in {len(content):,} bytes")
    array = np.frombuffer(bytearray(content), dtype=dtype)
    return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)
