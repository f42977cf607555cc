"""Read Matlab files in the format of the data sets published by the authors of Tree++."""

from __future__ import annotations

import io
import os
import struct
import warnings
import zlib
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
    file, content = read_file(path, max_bytes)
    variables = read_mat(file.name, content, max_bytes or default_limit(len(content)))
    sets = [name for name, value in variables.items() if "am" in (_fields(value) or ())]
    if len(sets) != 1:
        raise InvalidFileError(
            f"{file.name} must hold one struct array of graphs with the field 'am'; it has "
            f"{len(sets)} among its variables {sorted(variables)[:10]}."
        )
    graphs = variables[sets[0]]
    parts = [
        _part({field: graph[field] for field in graphs.dtype.names}, f"{file.name}, {sets[0]}({n})")
        for n, graph in enumerate(graphs.reshape(-1, order="F"), start=1)
    ]
    return joined(parts), _classes(variables, sets[0], len(parts), file.name)


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
    if hasattr(matrix, "check_format"):
        try:
            matrix.check_format()  # SciPy reads row numbers without checking them
        except ValueError as error:
            raise InvalidFileError(f"{where}.am is damaged: {error}.") from None
    else:
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
    names = ("label", "labels", f"l{name.lower()}")
    classes = next((value for key, value in variables.items() if key.lower() in names), None)
    if classes is None:
        return None
    if not _is_numeric(classes) or classes.size != count:
        raise InvalidFileError(
            f"{file} must hold one class for each of the {count} graphs; its classes are "
            f"{classes.size if _is_numeric(classes) else type(classes).__name__}."
        )
    values = classes.reshape(-1)
    if values.dtype.kind == "f" and not (values == np.floor(values)).all():
        return values.astype(np.float64)
    return _integers(values, f"{file}: the classes")


def _fields(value: Any) -> tuple[str, ...] | None:
    """Return the names of the fields of a struct array."""
    return value.dtype.names if isinstance(value, np.ndarray) else None


def _inner(value: Any) -> Any:
    """Return the value of a field, or its field ``values`` if it is a struct."""
    return value.item()[0] if _fields(value) == ("values",) and value.size == 1 else value


def _is_numeric(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf"


def _matrix(value: Any, field: str, where: str, rows: int | None) -> np.ndarray:
    if not _is_numeric(value) or value.ndim != 2:
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
# SciPy trusts the types and sizes that a MAT-file of level 5 (Matlab 5 to 7) states: a damaged file
# can crash it, and a few bytes can make it allocate gigabytes. So the structure is checked first:
# every element must have a known type and lie within its parent, and nothing may claim more
# elements than there are bytes. What passes is handed on unpacked, within a limit.

#: Types of elements with numbers or text, and kinds of variables.
_VALUES = frozenset((1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18))
_MATRIX, _COMPRESSED = 14, 15
_SPARSE, _FUNCTION = 5, 16
_CONTAINERS = frozenset((1, 2, 3, _FUNCTION))  # cells, structs, objects
_MAX_DEPTH = 16


def read_mat(name: str, content: bytes, max_bytes: int) -> dict[str, Any]:
    """Return all variables of a MAT-file by name, as SciPy reads them."""
    from scipy.io import loadmat

    if content[:10] == b"MATLAB 7.3" or content[512:516] == b"\x89HDF":
        raise InvalidFileError(
            f"{name} is a MAT-file of version 7.3 (HDF5), which is not read. Save it in Matlab "
            "with: save('file.mat', '-v7')."
        )
    mark = content[126:128]
    if len(content) < 128 or mark not in (b"IM", b"MI"):
        raise InvalidFileError(f"{name} is not a MAT-file of Matlab 5 to 7: its header is wrong.")
    order = "<" if mark == b"IM" else ">"
    structure = _Structure(name, order, max_bytes)
    parts, position = [b"MATLAB 5.0".ljust(124) + struct.pack(order + "H", 256) + mark], 128
    while position < len(content):
        kind, data, position = structure.element(content, position)
        if kind == _COMPRESSED:
            kind, data, _ = structure.element(structure.unpacked(data), 0)
        if kind == _MATRIX and structure.is_read(data):
            structure.check_matrix(data)
            parts += [struct.pack(order + "II", kind, len(data)), bytes(data)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a variable that is there twice
            variables = loadmat(io.BytesIO(b"".join(parts)))
    except Exception as error:  # SciPy raises whatever it meets
        raise structure.wrong(f"{type(error).__name__}: {error}") from None
    return {key: value for key, value in variables.items() if not key.startswith("__")}


class _Structure:
    """Check the structure of a MAT-file."""

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
        kind, length = struct.unpack_from(self.order + "II", view, at)
        start, after = at + 8, at + 8 + length
        if kind >> 16:  # a small element: type, length and up to four bytes in one tag
            kind, length = kind & 0xFFFF, kind >> 16
            start, after = at + 4, at + 8
            if length > 4 or kind in (_MATRIX, _COMPRESSED):
                raise self.wrong(f"a small element of type {kind} claims {length} bytes")
        elif kind != _COMPRESSED:
            after += -length % 8
        if start + length > len(view):
            raise self.wrong(f"an element claims {length:,} bytes, more than there are")
        return kind, view[start : start + length], after

    def is_read(self, data: memoryview) -> bool:
        """Return whether a variable is of a kind that is read; objects of classes are not."""
        return len(data) > 8 and data[8 if self.order == "<" else 11] <= _FUNCTION

    def check_matrix(self, data: memoryview, depth: int = 0) -> None:
        """Check a matrix element and all that is in it."""
        if depth > _MAX_DEPTH:
            raise self.wrong(f"variables are nested more than {_MAX_DEPTH} deep")
        tags: list[tuple[int, memoryview]] = []
        at = 0
        while at < len(data):
            kind, values, at = self.element(data, at)
            tags.append((kind, values))
        if len(tags) < 3 or [kind for kind, _ in tags[:2]] != [6, 5] or len(tags[0][1]) != 8:
            raise self.wrong("a variable has no flags, shape or name")
        word = struct.unpack_from(self.order + "I", tags[0][1])[0]
        kind, is_complex = word & 0xFF, bool(word & 0x800)
        shape = struct.unpack_from(f"{self.order}{len(tags[1][1]) // 4}i", tags[1][1])
        if len(shape) < 2 or min(shape) < 0:
            raise self.wrong(f"a variable has the shape {shape[:4]}")
        if kind != _SPARSE and prod(shape) > len(data):
            raise self.wrong(f"a variable claims {prod(shape):,} elements, more than there are")
        if kind not in _CONTAINERS and len(tags) < 4 + 2 * (kind == _SPARSE) + is_complex:
            raise self.wrong("a variable has no values")
        for stored, values in tags[2:]:
            if stored == _MATRIX and kind in _CONTAINERS:
                if len(values):
                    self.check_matrix(values, depth + 1)
            elif stored not in _VALUES:
                raise self.wrong(f"numbers or text are expected, not an element of type {stored}")
