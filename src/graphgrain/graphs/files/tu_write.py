"""Write the text format of the TU Dortmund collection (see :mod:`graphgrain.graphs.files.tu`)."""

from __future__ import annotations

import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidParameterError
from ...writing import atomic_write
from ..batch import GraphBatch
from ..convert.dispatch import as_graphs
from ..labels import label_kind
from .tu import SIDECAR

PARTS = (
    "graph_indicator.txt",
    "graph_labels.txt",
    "graph_attributes.txt",
    "node_labels.txt",
    "edge_labels.txt",
    "node_attributes.txt",
    "edge_attributes.txt",
    SIDECAR,
    "A.txt",  # last: without it nobody takes a half-written folder for a data set
)


def save_tu(
    path: str | os.PathLike[str],
    graphs: Any,
    y: Any = None,
    *,
    name: str | None = None,
    overwrite: bool = False,
) -> None:
    """Save graphs in the text format of the TU Dortmund collection.

    :func:`load_tu` gives back exactly the same graphs and ``y``. The format knows integers
    only; the strings behind them, and the little else that it cannot say, are kept in one more
    file, ``DS_graphgrain.json``.

    Parameters
    ----------
    path : path
        A zip if it ends in ``.zip``, else a folder, which is made where it is missing.
    graphs : GraphBatch or anything that :func:`as_graphs` accepts
    y : array-like, optional
        Integers or strings are written as classes, floats as regression values.
    name : str, optional
        The data set's name ``DS``; by default the name of the folder or zip.
    overwrite : bool
        Whether a data set of that name may be replaced.

    Examples
    --------
    >>> import graphgrain as gg, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gg.save_tu(f"{folder}/DS.zip", [([(0, 1)], ["C", "O"]), ([], ["C"])], ["yes", "no"])
    ...     graphs, y = gg.load_tu(f"{folder}/DS.zip")
    >>> graphs[0].labels.tolist(), y.tolist()
    (['C', 'O'], ['yes', 'no'])
    """
    graphs = as_graphs(graphs)
    place = Path(path)
    zipped = place.suffix.lower() == ".zip"
    if name is None:
        name = place.stem if zipped else place.resolve().name
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w.+-]*", name):
        raise InvalidParameterError(
            "A data set's name must consist of letters, digits, '_', '-', '.' and '+'; got "
            f"{name!r}. Give another with name=..."
        )
    parts = _contents(graphs, y)
    there = place if zipped else place / f"{name}_A.txt"
    if there.exists() and not overwrite:
        raise InvalidParameterError(
            f"{str(there)!r} is there already and is not replaced. Choose another path, or say "
            "overwrite=True."
        )
    if zipped:
        _write_zip(place, name, parts)
    else:
        _write_folder(place, name, parts)


def _contents(graphs: GraphBatch, y: Any) -> dict[str, str]:
    """The text of each file, by the part of its name that follows ``DS_``."""
    extra: dict[str, Any] = {}
    source = np.repeat(np.arange(graphs.n_vertices), graphs.degrees)
    parts = {
        "A.txt": _lines(np.column_stack((source, graphs.indices)) + 1, ", "),
        "graph_indicator.txt": _lines(graphs.graph_of_vertex + 1),
    }
    empty = np.flatnonzero(graphs.vertex_counts == 0)
    if empty.size:
        extra["empty_graphs"] = (empty + 1).tolist()

    if graphs.labelled:
        parts["node_labels.txt"] = _label_lines(
            graphs.label_codes, graphs.label_table, "vertex_labels", extra
        )
    if graphs.edge_label_table is not None and graphs.edge_label_codes is not None:
        parts["edge_labels.txt"] = _label_lines(
            graphs.edge_label_codes, graphs.edge_label_table, "edge_labels", extra
        )
    for file, key, values in (
        ("node_attributes.txt", "vertex_attributes", graphs.vertex_attributes),
        ("edge_attributes.txt", "edge_attributes", graphs.edge_attributes),
    ):
        if values is None:
            continue
        if values.shape[1] == 0:
            raise InvalidParameterError(
                f"Attributes need at least one column to be written; {key} has none."
            )
        parts[file] = _lines(values, ", ")
        if not len(values):
            extra[key] = [values.shape[1]]
    if y is not None:
        parts |= _target_lines(y, len(graphs), extra)
    if extra:
        parts[SIDECAR] = json.dumps(extra, indent=1) + "\n"
    return parts


def _label_lines(codes: np.ndarray, table: np.ndarray, key: str, extra: dict[str, Any]) -> str:
    if label_kind(table) == "integer":
        return _lines(table[codes])
    extra[key] = table.tolist()
    return _lines(codes)


def _target_lines(y: Any, count: int, extra: dict[str, Any]) -> dict[str, str]:
    values = np.asarray(y)
    if values.ndim not in (1, 2) or len(values) != count or 0 in values.shape[1:]:
        raise InvalidParameterError(
            f"y must hold one class or value for each of the {count} graphs; got an array of "
            f"shape {values.shape}."
        )
    if values.dtype.kind == "O" and all(isinstance(value, str) for value in values.flat):
        values = values.astype(str)
    if values.dtype.kind == "f" and values.size:
        return {"graph_attributes.txt": _lines(values.astype(np.float64), ", ")}
    if values.dtype.kind == "U":
        names, codes = np.unique(values, return_inverse=True)
        extra["classes"] = names.tolist()
        values = codes.reshape(values.shape)
    elif values.size == 0:
        values = values.astype(np.int64)
    if values.dtype.kind not in "biu" or (values.dtype == np.uint64 and values.max() >= 2**63):
        raise InvalidParameterError(
            "y must hold integers or strings (classes) or floats (regression values); got "
            f"{values.dtype}."
        )
    return {"graph_labels.txt": _lines(values.astype(np.int64), ", ")}


def _lines(values: np.ndarray, separator: str = "") -> str:
    """One line per row; repr gives the shortest text that reads back as the same number."""
    if values.ndim == 1:
        return "".join(f"{value!r}\n" for value in values.tolist())
    return "".join(separator.join(map(repr, row)) + "\n" for row in values.tolist())


def _write_zip(place: Path, name: str, parts: dict[str, str]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(place, "The data set") as stream, zipfile.ZipFile(stream, "w") as archive:
        for part in PARTS:
            if part in parts:
                # A fixed date: the same graphs always give the same file.
                member = zipfile.ZipInfo(f"{name}/{name}_{part}", (1980, 1, 1, 0, 0, 0))
                member.create_system = 3  # by default the number of the system
                member.external_attr = 0o644 << 16
                archive.writestr(member, parts[part], zipfile.ZIP_DEFLATED, 9)


def _write_folder(place: Path, name: str, parts: dict[str, str]) -> None:
    place.mkdir(parents=True, exist_ok=True)
    (place / f"{name}_A.txt").unlink(missing_ok=True)
    for part in PARTS:
        file = place / f"{name}_{part}"
        if part in parts:
            with atomic_write(file, "The data set") as stream:
                stream.write(parts[part].encode("ascii"))
        else:
            file.unlink(missing_ok=True)
