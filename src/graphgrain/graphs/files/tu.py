"""Read the text format of the TU Dortmund collection, the field's standard.

A data set ``DS`` is a folder or a zip with ``DS_A.txt`` (edges), ``DS_graph_indicator.txt``
(the graph of each vertex) and, where there is something to say, files for the classes, labels
and attributes. Everything is counted from 1.

What plain TU files cannot say stands in ``DS_graphgrain.json``, which :func:`save_tu` writes
when it is needed: the names behind integer codes (``vertex_labels``, ``edge_labels``,
``classes``), graphs without vertices (``empty_graphs``), and the number of attributes where no
vertex or edge shows it. Other readers of the format simply do not look at it.
"""

from __future__ import annotations

import json
import os
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from ...errors import InvalidFileError, InvalidParameterError
from ..batch import GraphBatch
from .archive import Folder
from .number_table import NumberTable, finite, parse_numbers

SIDECAR = "graphgrain.json"


def load_tu(
    path: str | os.PathLike[str],
    *,
    target: str | None = None,
    label_column: int | None = None,
    edge_label_column: int | None = None,
    max_bytes: int | None = None,
) -> tuple[GraphBatch, np.ndarray | None]:
    """Load a data set in the text format of the TU Dortmund collection.

    Parameters
    ----------
    path : path of a folder or a zip
    target : {"classes", "values"}, optional
        What to return as ``y``: the classes (``DS_graph_labels.txt``) or the regression values
        (``DS_graph_attributes.txt``). By default the classes if there are any, else the values.
    label_column, edge_label_column : int, optional
        Which column to use where vertices or edges have several labels, counted from 0. By
        default all are joined to one string such as ``"3,1"``.
    max_bytes : int, optional
        How many bytes of text are read at most. The default is 1 GiB for a folder; for a zip
        a hundred times its size, but 64 MiB to 1 GiB.

    Returns
    -------
    graphs : GraphBatch
        Edges may be listed once or in both directions. Vertices that are not in the order of
        their graphs are brought into it.
    y : array or None
        Integers (or strings, if :func:`save_tu` wrote strings) for classes, floats for
        regression values; one row per graph where there are several columns.

    See Also
    --------
    save_tu, fetch_tu

    Examples
    --------
    >>> import graphgrain as gg, tempfile
    >>> ring = ([(0, 1), (1, 2), (0, 2)], ["C", "C", "O"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gg.save_tu(f"{folder}/RINGS.zip", gg.as_graphs([ring, ring]), [1, -1])
    ...     graphs, y = gg.load_tu(f"{folder}/RINGS.zip")
    >>> graphs
    GraphBatch(2 graphs, 6 vertices, 6 edges, 2 vertex labels)
    >>> y
    array([ 1, -1])
    """
    if target not in (None, "classes", "values"):
        raise InvalidParameterError(f"target must be 'classes' or 'values'; got {target!r}.")
    files = DataSetFiles(Folder(path, max_bytes))

    edges = files.needed("A", columns=2)
    indicator = files.needed("graph_indicator", columns=1)
    y = targets_of(files, target)
    sizes, order, position = _vertices(files, indicator, None if y is None else len(y))
    pairs = _edges(edges, indicator, position)

    labels = labels_of(files, "node", label_column, len(indicator), "vertices")
    edge_labels = labels_of(files, "edge", edge_label_column, len(edges), "edges")
    attributes = attributes_of(files, "node", len(indicator), "vertices")
    edge_attributes = attributes_of(files, "edge", len(edges), "edges")
    graphs = GraphBatch.from_edges(
        sizes,
        pairs,
        None if labels is None else labels[order],
        edge_labels=edge_labels,
        vertex_attributes=None if attributes is None else attributes[order],
        edge_attributes=edge_attributes,
    )
    return graphs, y


class DataSetFiles:
    """The files of one data set: which there are, and their tables."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.base = _data_set(folder)
        self.names = set(folder.names)
        self.sidecar = self._read_sidecar()

    def _file(self, part: str) -> PurePosixPath:
        return self.base.with_name(f"{self.base.name}_{part}")

    def shown(self, part: str) -> str:
        return self.folder.shown(self._file(part))

    def table(self, part: str, dtype: type, columns: int | None = None) -> NumberTable | None:
        """The numbers of ``DS_part.txt``, or None where there is no such file."""
        file = self._file(f"{part}.txt")
        if file not in self.names:
            return None
        return parse_numbers(self.folder.shown(file), self.folder.read(file), dtype, columns)

    def needed(self, part: str, columns: int) -> NumberTable:
        """The integers of a file that no data set can do without."""
        table = self.table(part, int, columns)
        if table is None:
            raise InvalidFileError(
                f"{self.shown(f'{part}.txt')} is missing. A data set needs at least DS_A.txt and "
                "DS_graph_indicator.txt."
            )
        return table

    def _read_sidecar(self) -> dict[str, Any]:
        file = self._file(SIDECAR)
        if file not in self.names:
            return {}
        try:
            content = json.loads(self.folder.read(file))
        except (ValueError, RecursionError) as error:
            raise InvalidFileError(f"{self.folder.shown(file)} is not JSON: {error}.") from None
        if not isinstance(content, dict):
            raise InvalidFileError(f"{self.folder.shown(file)} must hold a JSON object.")
        return content

    def extra(self, key: str, kind: type) -> list[Any]:
        """A list of the sidecar whose items are all of one kind; empty if it is not there."""
        values = self.sidecar.get(key, [])
        if not isinstance(values, list) or not all(type(value) is kind for value in values):
            raise InvalidFileError(
                f"{self.shown(SIDECAR)}: {key!r} must be a list of "
                f"{'strings' if kind is str else 'integers'}."
            )
        return values

    def names_of(self, key: str, codes: np.ndarray, source: NumberTable) -> np.ndarray:
        """The codes of a file as the names that the sidecar gives them."""
        if key not in self.sidecar:
            return codes
        names = self.extra(key, str)
        wrong = np.flatnonzero((codes < 0) | (codes >= len(names)))
        if wrong.size:
            raise source.error(
                int(wrong[0]) // (codes.shape[1] if codes.ndim > 1 else 1),
                f"{self.shown(SIDECAR)} names the codes 0 to {len(names) - 1}; the line is "
                "{value!r}.",
            )
        table = np.empty(len(names), dtype=object)
        table[:] = names
        return table[codes]


def _data_set(folder: Folder) -> PurePosixPath:
    """Folder and name ``DS`` of the data set, found by its file ``DS_A.txt``."""
    found = [
        name.with_name(name.name.removesuffix("_A.txt"))
        for name in folder.names
        if name.name.endswith("_A.txt") and not name.name.startswith(".") and name.name != "_A.txt"
    ]
    stem = folder.path.name.removesuffix(".zip")
    named = [base for base in found if base.name == stem]
    if len(found) == 1 or len(named) == 1:
        return (named or found)[0]
    if not found:
        raise InvalidFileError(
            f"{folder.path.name} holds no data set in TU format: there is no file that ends in "
            "'_A.txt'."
        )
    raise InvalidFileError(
        f"{folder.path.name} must hold one data set; it holds several: "
        f"{', '.join(sorted(str(base) for base in found)[:5])}. Keep them in folders of their own."
    )


def targets_of(files: DataSetFiles, target: str | None) -> np.ndarray | None:
    """The classes or values."""
    if target != "values":
        classes = _classes(files)
        if classes is not None or target == "classes":
            if classes is None:
                raise InvalidFileError(f"There are no classes: {files.shown('graph_labels.txt')}.")
            return classes
    values = files.table("graph_attributes", float)
    if values is None:
        if target == "values":
            raise InvalidFileError(f"There are no values: {files.shown('graph_attributes.txt')}.")
        return None
    return _column_or_table(values.values)


def _classes(files: DataSetFiles) -> np.ndarray | None:
    try:
        table = files.table("graph_labels", int)
    except InvalidFileError:
        # Some data sets keep regression values here; what is no number at all fails again.
        table = files.table("graph_labels", float)
    if table is None:
        return None
    codes = _column_or_table(table.values)
    if codes.dtype.kind == "f":
        return codes
    named = files.names_of("classes", codes, table)
    return named if named is codes else np.array(named.tolist(), dtype=str)


def _vertices(
    files: DataSetFiles, indicator: NumberTable, n_targets: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Size of each graph, the vertices in the order of their graphs, and where each went."""
    graph = indicator.values[:, 0]
    ids, sizes_found = np.unique(graph, return_counts=True)
    empty = set(files.extra("empty_graphs", int))
    n_graphs = len(ids) + len(empty)
    last = n_graphs if n_targets is None else n_targets
    wrong = np.flatnonzero((graph < 1) | (graph > last))
    if wrong.size:
        raise indicator.error(
            int(wrong[0]),
            f"graphs are numbered from 1 to {last} without a gap; the line is {{value!r}}.",
        )
    if n_targets is not None and n_targets != n_graphs:
        raise InvalidFileError(
            f"{indicator.name} has vertices for {len(ids):,} graphs, but there are {n_targets:,} "
            "classes or values, one line for each graph. A file is cut short, or a graph without "
            f"vertices is not listed as 'empty_graphs' in {files.shown(SIDECAR)}."
        )
    expected = set(range(1, n_graphs + 1)) - set(ids.tolist())
    if expected != empty:
        raise InvalidFileError(
            f"{files.shown(SIDECAR)}: 'empty_graphs' must list the graphs without vertices; "
            f"{sorted(expected)[:5]} have none, {sorted(empty)[:5]} are listed."
        )
    sizes = np.zeros(n_graphs, dtype=np.int64)
    sizes[ids - 1] = sizes_found
    order = np.argsort(graph, kind="stable")
    position = np.empty(len(graph), dtype=np.int64)
    position[order] = np.arange(len(graph))
    return sizes, order, position


def _edges(edges: NumberTable, indicator: NumberTable, position: np.ndarray) -> np.ndarray:
    values = edges.values
    outside = np.flatnonzero(((values < 1) | (values > len(position))).any(axis=1))
    if outside.size:
        raise edges.error(
            int(outside[0]),
            f"vertices are numbered from 1 to {len(position):,} (the lines of {indicator.name}); "
            "the line is {value!r}.",
        )
    graph = indicator.values[values - 1, 0]
    across = np.flatnonzero(graph[:, 0] != graph[:, 1])
    if across.size:
        ends = graph[across[0]]
        raise edges.error(
            int(across[0]),
            f"an edge must stay within one graph; this one joins graph {ends[0]} to graph "
            f"{ends[1]}. The line is {{value!r}}.",
        )
    return position[values - 1]


def labels_of(
    files: DataSetFiles, kind: str, column: int | None, rows: int, what: str
) -> np.ndarray | None:
    """The labels of vertices (``kind="node"``) or edges, one per row, or None."""
    table = files.table(f"{kind}_labels", int)
    if table is None:
        return None
    _check_rows(table, rows, what)
    values, width = table.values, table.values.shape[1]
    if column is not None:
        if not isinstance(column, int) or not 0 <= column < width:
            raise InvalidParameterError(
                f"The label column must be 0 to {width - 1} for {table.name}; got {column!r}."
            )
        return values[:, column]
    if width > 1:
        # Joining distinct rows only: there are few of them.
        distinct, codes = np.unique(values, axis=0, return_inverse=True)
        joined = np.array([",".join(map(str, row)) for row in distinct.tolist()], dtype=object)
        return joined[codes.reshape(-1)]
    key = "vertex_labels" if kind == "node" else "edge_labels"
    return files.names_of(key, values[:, 0], table)


def attributes_of(files: DataSetFiles, kind: str, rows: int, what: str) -> np.ndarray | None:
    """The attributes of vertices (``kind="node"``) or edges, or None."""
    table = files.table(f"{kind}_attributes", float)
    if table is None:
        return None
    _check_rows(table, rows, what)
    if not rows:
        key = "vertex_attributes" if kind == "node" else "edge_attributes"
        width = (files.extra(key, int) or [1])[0]
        return np.empty((0, min(max(width, 1), 10**6)))
    return finite(table).values


def _check_rows(table: NumberTable, rows: int, what: str) -> None:
    if len(table) != rows:
        raise InvalidFileError(
            f"{table.name} must have a line for each of the {rows:,} {what}; it has {len(table):,}."
        )


def _column_or_table(values: np.ndarray) -> np.ndarray:
    return values[:, 0] if values.shape[1] == 1 else values
