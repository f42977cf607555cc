"""Read Matlab files in the format of the data sets published by the authors of Tree++."""

from __future__ import annotations

import os
import struct
import zlib
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ...errors import InvalidFileError
from ..batch import GraphBatch
from ..convert.parts import Part, joined
from .archive import default_limit, read_file


def load_mat(
    path: str | os.PathLike[str], *, max_bytes: int | None = None
) -> tuple[GraphBatch, np.ndarray | None]:
    """Load graphs from a MAT-file (Matlab 5 to 7).

    The file must contain a struct array with one element per graph and the field ``am``
    (adjacency matrix, dense or sparse). The fields ``nl`` (vertex labels, or a struct with the
    field ``values``), ``el`` (rows ``i, j, label``, with vertices counted from 1) and ``na``
    (vertex attributes) are optional, and so is a vector of classes, called ``label``, ``labels``
    or ``l`` followed by the lower-case name of the struct (``MUTAG`` and ``lmutag``). Other fields
    are ignored.

    Parameters
    ----------
    path : path of a file
    max_bytes : int, optional
        Maximum size of the decompressed file in bytes. The default is a hundred times the file
        size, but between 64 MiB and 1 GiB.

    Returns
    -------
    graphs : GraphBatch
    y : array or None
        The classes as integers, or as floats if they are not whole numbers.

    Examples
    --------
    >>> import graphgrain as gg, numpy as np, scipy.io, tempfile
    >>> graph = np.zeros((1, 1), dtype=[("am", object), ("nl", object)])
    >>> graph[0, 0] = (np.array([[0, 1], [1, 0]]), np.array([[6], [8]]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scipy.io.savemat(f"{folder}/CO.mat", {"graph": graph, "label": [[1]]})
    ...     graphs, y = gg.load_mat(f"{folder}/CO.mat")
    >>> graphs, y
    (GraphBatch(1 graph, 2 vertices, 1 edge, 2 vertex labels), array([1]))
    """
    place, content = read_file(path, max_bytes)
    variables = read_mat(place.name, content, max_bytes or default_limit(len(content)))
    structs = {
        name: value
        for name, value in variables.items()
        if isinstance(value, Struct) and "am" in value.fields
    }
    if len(structs) != 1:
        raise InvalidFileError(
            f"{place.name} must hold one struct array of graphs with the field 'am'; it has "
            f"{len(structs)} among its variables {sorted(variables)[:10]}."
        )
    ((name, graphs),) = structs.items()
    parts = [
        _part(dict(zip(graphs.fields, values, strict=True)), f"{place.name}, {name}({number})")
        for number, values in enumerate(graphs.elements, start=1)
    ]
    return joined(parts), _classes(variables, name, len(parts), place.name)


def _part(fields: dict[str, Any], where: str) -> Part:
    edges, size = _adjacency(fields["am"], where)
    labels = _inner(fields.get("nl"))
    if labels is not None:
        labels = _integers(_matrix(labels, "nl", where, size), f"{where}.nl").reshape(-1)
        if len(labels) != size:
            raise InvalidFileError(
                f"{where}.nl must hold one label for each of the {size} vertices; it has "
                f"{len(labels)}."
            )
    attributes = fields.get("na")
    if attributes is not None:
        attributes = _matrix(attributes, "na", where, size).astype(np.float64)
        if len(attributes) != size or not np.isfinite(attributes).all():
            raise InvalidFileError(
                f"{where}.na must hold a row of finite numbers for each of the {size} vertices; "
                f"its shape is {attributes.shape}."
            )
    part = Part(size, edges, labels, None, attributes)
    rows = _inner(fields.get("el"))
    return part if rows is None else _with_edge_labels(part, rows, where)


def _adjacency(matrix: Any, where: str) -> tuple[np.ndarray, int]:
    """Return the positions of the nonzero entries and the number of vertices."""
    if not hasattr(matrix, "tocoo"):
        matrix = _matrix(matrix, "am", where, None)
    rows, columns = matrix.shape
    if rows != columns:
        raise InvalidFileError(f"{where}.am must be square; its shape is {matrix.shape}.")
    return np.column_stack(matrix.nonzero()).astype(np.int64), rows


def _with_edge_labels(part: Part, rows: Any, where: str) -> Part:
    rows = _integers(_matrix(rows, "el", where, 0), f"{where}.el")
    if not rows.size:
        rows = rows.reshape(0, 3)
    if rows.shape[1] != 3:
        raise InvalidFileError(f"{where}.el must have rows i, j, label; its shape is {rows.shape}.")
    pairs = rows[:, :2] - 1
    outside = np.flatnonzero(((pairs < 0) | (pairs >= part.size)).any(axis=1))
    if outside.size:
        raise InvalidFileError(
            f"{where}.el must name vertices from 1 to {part.size}; row {outside[0] + 1} is "
            f"{rows[outside[0]].tolist()}."
        )
    if not np.array_equal(_undirected(pairs, part.size), _undirected(part.edges, part.size)):
        raise InvalidFileError(f"{where}.el must name the edges of {where}.am; they differ.")
    return part._replace(edges=pairs, edge_labels=rows[:, 2])


def _undirected(pairs: np.ndarray, size: int) -> np.ndarray:
    low, high = pairs.min(axis=1, initial=size), pairs.max(axis=1, initial=0)
    return np.unique((low * size + high)[low != high])


def _classes(variables: dict[str, Any], name: str, count: int, file: str) -> np.ndarray | None:
    wanted = ("label", "labels", f"l{name.lower()}")
    found = next((value for key, value in variables.items() if key.lower() in wanted), None)
    if found is None:
        return None
    if not isinstance(found, np.ndarray) or found.size != count:
        raise InvalidFileError(
            f"{file} must hold one class for each of the {count} graphs; its classes are "
            f"{found.size if isinstance(found, np.ndarray) else type(found).__name__}."
        )
    values = found.reshape(-1)
    if values.dtype.kind == "f" and not (values == np.floor(values)).all():
        return values.astype(np.float64)
    return _integers(values, f"{file}: the classes")


def _inner(value: Any) -> Any:
    """Return the value of a field, or its field ``values`` if it is a struct."""
    if isinstance(value, Struct) and value.fields == ["values"] and len(value.elements) == 1:
        return value.elements[0][0]
    return value


def _matrix(value: Any, field: str, where: str, rows: int | None) -> np.ndarray:
    if not isinstance(value, np.ndarray) or value.ndim != 2:
        raise InvalidFileError(f"{where}.{field} must be a matrix of numbers; it is not.")
    return value.reshape(0, value.shape[1]) if rows == 0 and not value.size else value


def _integers(values: np.ndarray, where: str) -> np.ndarray:
    if values.dtype.kind == "f":
        whole = np.isfinite(values) & (values == np.floor(values)) & (np.abs(values) < 2**63)
    else:
        whole = values <= np.iinfo(np.int64).max
    if not whole.all():
        raise InvalidFileError(
            f"{where} must hold whole numbers of at most 64 bits; found {values[~whole][0]}."
        )
    return values.astype(np.int64)


# -------------------------------------------------------------------- MAT-files
#
# MAT-files of level 5 (Matlab 5 to 7), restricted to numbers, sparse matrices, text, cells and
# structs; other variables are skipped. scipy.io.loadmat is not used because it can crash on damaged
# files, and a few bytes can make it allocate gigabytes. Here each length is checked against the
# available bytes before anything is allocated, and decompression stops at a limit.

_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_STORED |= {12: "i8", 13: "u8"}
_TEXT = {16: "utf-8", 17: "utf-16", 18: "utf-32", 2: "latin-1", 4: "utf-16"}
_MATRIX, _COMPRESSED = 14, 15
_CELL, _STRUCT, _OBJECT, _CHAR, _SPARSE = 1, 2, 3, 4, 5
_NUMERIC = range(6, 16)
_MAX_DEPTH = 16


@dataclass(frozen=True)
class Struct:
    """A struct array: field names, and the list of values of each element."""

    fields: list[str]
    elements: list[list[Any]]


def read_mat(name: str, content: bytes, max_bytes: int) -> dict[str, Any]:
    """Return all variables of a MAT-file by name.

    Numbers become arrays of their storage type, sparse matrices SciPy sparse arrays, text str,
    cells lists, and structs :class:`Struct`.
    """
    if content[:10] == b"MATLAB 7.3" or content[512:516] == b"\x89HDF":
        raise InvalidFileError(
            f"{name} is a MAT-file of version 7.3 (HDF5), which is not read. Save it in Matlab "
            "with: save('file.mat', '-v7')."
        )
    mark = content[126:128]
    if len(content) < 128 or mark not in (b"IM", b"MI"):
        raise InvalidFileError(f"{name} is not a MAT-file of Matlab 5 to 7: its header is wrong.")
    reader = _Reader(name, "<" if mark == b"IM" else ">", max_bytes)
    variables: dict[str, Any] = {}
    position = 128
    while position < len(content):
        kind, data, position = reader.element(content, position)
        if kind == _COMPRESSED:
            kind, data, _ = reader.element(reader.unpacked(data), 0)
        if kind == _MATRIX:
            variable, value = reader.matrix(data, 0)
            if value is not None:
                variables[variable] = value
    return variables


class _Reader:
    def __init__(self, name: str, order: str, max_bytes: int) -> None:
        self.name = name
        self.order = order
        self.left = max_bytes

    def wrong(self, what: str) -> InvalidFileError:
        return InvalidFileError(f"{self.name} is damaged: {what}. Copy or save it again.")

    def unpacked(self, data: memoryview | bytes) -> bytes:
        """Decompress a part of the file, within the remaining limit."""
        try:
            stream = zlib.decompressobj()
            content = stream.decompress(data, self.left + 1)
        except zlib.error as error:
            raise self.wrong(f"a compressed part cannot be unpacked ({error})") from None
        if len(content) > self.left:
            raise InvalidFileError(
                f"{self.name} holds more than the limit once unpacked. If you trust it, save it "
                "without compression, or raise the limit (max_bytes in Python)."
            )
        if not stream.eof:
            raise self.wrong("a compressed part is cut short")
        self.left -= len(content)
        return content

    def element(self, data: memoryview | bytes, at: int) -> tuple[int, memoryview, int]:
        """Return type and bytes of the element at a position, and the position after it."""
        view = memoryview(data)
        if at + 8 > len(view):
            raise self.wrong("it ends in the middle of an element")
        first, length = struct.unpack_from(self.order + "II", view, at)
        start, after = at + 8, at + 8 + length
        if first >> 16:  # a small element: type, length and up to four bytes in one tag
            first, length = first & 0xFFFF, first >> 16
            start, after = at + 4, at + 8
            if length > 4:
                raise self.wrong(f"a small element claims {length} bytes")
        elif first != _COMPRESSED:
            after += -length % 8
        if start + length > len(view):
            raise self.wrong(f"an element claims {length:,} bytes, more than there are")
        return first, view[start : start + length], after

    def numbers(self, data: memoryview, at: int) -> tuple[np.ndarray, int]:
        kind, values, after = self.element(data, at)
        if kind not in _STORED:
            raise self.wrong(f"numbers are expected, not an element of type {kind}")
        dtype = np.dtype(self.order + _STORED[kind])
        if len(values) % dtype.itemsize:
            raise self.wrong("an array ends in the middle of a number")
        return np.frombuffer(values, dtype=dtype), after

    def text(self, data: memoryview, at: int) -> tuple[str, int]:
        values, after = self.numbers(data, at)
        return values.tobytes().decode("latin-1"), after

    def matrix(self, data: memoryview, depth: int) -> tuple[str, Any]:
        """Return name and value of a matrix element; the value is None for skipped types."""
        if not len(data):
            return "", np.empty((0, 0))
        if depth > _MAX_DEPTH:
            raise self.wrong(f"variables are nested more than {_MAX_DEPTH} deep")
        flags, at = self.numbers(data, 0)
        if len(flags) < 1 or flags.dtype.itemsize != 4:
            raise self.wrong("a variable has no flags")
        kind = int(flags[0]) & 0xFF
        if kind not in (_CELL, _STRUCT, _OBJECT, _CHAR, _SPARSE, *_NUMERIC):
            return "", None
        shape, at = self.numbers(data, at)
        name, at = self.text(data, at)
        if shape.dtype.kind not in "iu" or len(shape) < 2 or (shape < 0).any():
            raise self.wrong(f"the variable {name!r} has the shape {shape.tolist()[:4]}")
        dimensions = [int(size) for size in shape]
        if kind in _NUMERIC:
            values, _ = self.numbers(data, at)
            if len(values) != prod(dimensions):
                raise self.wrong(
                    f"an array of shape {dimensions[:4]} holds {len(values):,} numbers"
                )
            return name, values.reshape(dimensions, order="F")
        if kind == _CHAR:
            stored, text, _ = self.element(data, at)
            encoding = _TEXT.get(stored, "latin-1")
            if encoding in ("utf-16", "utf-32"):
                encoding += "-le" if self.order == "<" else "-be"
            return name, bytes(text).decode(encoding, errors="replace")
        if kind == _SPARSE:
            return name, self.sparse(data, at, dimensions)
        count = prod(dimensions)
        if kind == _CELL:
            return name, self.matrices(data, at, count, depth)
        if kind == _OBJECT:
            _, at = self.text(data, at)
        width, at = self.numbers(data, at)
        names, at = self.text(data, at)
        if len(width) != 1 or not 1 <= int(width[0]) <= 1024:
            raise self.wrong(f"the struct {name!r} has field names of an impossible length")
        step = int(width[0])
        fields = [names[i : i + step].split("\0")[0] for i in range(0, len(names), step)]
        flat = iter(self.matrices(data, at, count * len(fields), depth))
        elements = [list(row) for row in zip(*[flat] * len(fields), strict=True)]
        return name, Struct(fields, elements)

    def matrices(self, data: memoryview, at: int, count: int, depth: int) -> list[Any]:
        """Return the values of cells or fields."""
        if count * 8 > len(data) - at:
            raise self.wrong(f"a variable claims {count:,} elements, more than there are")
        values = []
        for _ in range(count):
            kind, element, at = self.element(data, at)
            if kind != _MATRIX:
                raise self.wrong(f"a variable is expected, not an element of type {kind}")
            values.append(self.matrix(element, depth + 1)[1])
        return values

    def sparse(self, data: memoryview, at: int, shape: list[int]) -> Any:
        from scipy.sparse import csc_array

        rows, at = self.numbers(data, at)
        starts, at = self.numbers(data, at)
        values, _ = self.numbers(data, at)
        used = int(starts[-1]) if len(starts) else -1
        if len(shape) != 2 or len(starts) != shape[1] + 1 or not 0 <= used <= len(rows):
            raise self.wrong("the columns of a sparse matrix do not fit its shape")
        native = [part.astype(part.dtype.newbyteorder("=")) for part in (values, rows, starts)]
        try:
            matrix = csc_array((native[0][:used], native[1][:used], native[2]), shape=tuple(shape))
            matrix.check_format()
        except ValueError as error:
            raise self.wrong(f"a sparse matrix is not valid ({error})") from None
        return matrix
