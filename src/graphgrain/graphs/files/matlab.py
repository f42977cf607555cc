"""Read the Matlab form in which the authors of Tree++ keep their data sets."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...errors import InvalidFileError
from ..batch import GraphBatch
from ..convert.parts import Part, joined
from .archive import default_limit, read_file
from .matfile import Struct, read_mat


def load_mat(
    path: str | os.PathLike[str], *, max_bytes: int | None = None
) -> tuple[GraphBatch, np.ndarray | None]:
    """Load graphs from a MAT-file (Matlab 5 to 7).

    The file holds a struct array with one element per graph and the fields ``am`` (adjacency
    matrix, dense or sparse), optionally ``nl`` (vertex labels, or a struct with the field
    ``values``), ``el`` (rows ``i, j, label``, counted from 1) and ``na`` (vertex attributes),
    and a vector with the classes, called ``label``, ``labels`` or ``l`` and the name of the
    struct (``MUTAG`` and ``lmutag``). Other fields are not read.

    Parameters
    ----------
    path : path of a file
    max_bytes : int, optional
        How many bytes the file may hold once unpacked. The default is a hundred times its
        size, but 64 MiB to 1 GiB.

    Returns
    -------
    graphs : GraphBatch
    y : array or None
        The classes: integers, or floats if they are no whole numbers.

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
    place, content = read_file(path)
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
    """Pairs of the entries other than 0, and the number of vertices."""
    if not hasattr(matrix, "tocoo"):
        matrix = _matrix(matrix, "am", where, None)
    rows, columns = matrix.shape
    if rows != columns:
        raise InvalidFileError(f"{where}.am must be square; its shape is {matrix.shape}.")
    if hasattr(matrix, "tocoo"):
        entries = matrix.tocoo()
        used = entries.data != 0
        source, target = entries.row[used], entries.col[used]
    else:
        source, target = np.nonzero(matrix)
    return np.column_stack((source, target)).astype(np.int64), rows


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
    """What a field holds: itself, or the field ``values`` of a struct."""
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
