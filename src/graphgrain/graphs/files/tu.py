"""Read and write the text format of the TU Dortmund collection, the field's standard.

A data set ``DS`` is a folder or a zip with ``DS_A.txt`` (edges), ``DS_graph_indicator.txt``
(the graph of each vertex) and, where there is something to say, files for the classes, labels
and attributes. Everything is counted from 1.

What plain TU files cannot say stands in ``DS_graphgrain.json``, which :func:`save_tu` writes
when it is needed: the names behind integer codes (``vertex_labels``, ``edge_labels``,
``classes``), graphs without vertices (``empty_graphs``), and the number of attributes where no
vertex or edge shows it. Other readers of the format simply do not look at it.
"""

from __future__ import annotations

import io
import json
import os
import re
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ...errors import InvalidFileError, InvalidParameterError
from ...writing import atomic_write
from ..batch import GraphBatch
from ..convert.dispatch import as_graphs
from ..labels import label_kind
from ..streams import CHUNK_SIZE, Chunk, check_chunk_size
from .archive import Folder

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
        """The integers of a file that every data set must have."""
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


# -------------------------------------------------------------------- in chunks
#
# The files of a data set are read side by side: the lines of the graph indicator that belong to the
# graphs of a chunk, then the lines of their vertices and edges in the others. This needs vertices
# and edges in the order of their graphs, as the collection has them.

#: Lines of the indicator and of the edges that are parsed at a time.
_LINES = 50_000
#: Files that have a line for each graph, vertex or edge.
_PARTS = {
    "graph_labels": "graphs",
    "graph_attributes": "graphs",
    "node_labels": "vertices",
    "node_attributes": "vertices",
    "edge_labels": "edges",
    "edge_attributes": "edges",
}


def iter_tu(
    path: str | os.PathLike[str],
    *,
    chunk_size: int = CHUNK_SIZE,
    target: str | None = None,
    label_column: int | None = None,
    edge_label_column: int | None = None,
) -> Iterator[Chunk]:
    """Read a data set in TU format in chunks: memory does not grow with its length.

    Parameters
    ----------
    path : path of a folder or a zip
    chunk_size : int
        How many graphs are read at a time.
    target, label_column, edge_label_column
        See :func:`load_tu`.

    Yields
    ------
    Chunk
        A pair ``(graphs, columns)``; the classes or values, if there are any, are the column
        ``"target"``.

    Examples
    --------
    >>> import graphgrain as gg, tempfile
    >>> from graphgrain.graphs.files.tu import iter_tu
    >>> ring = ([(0, 1), (1, 2), (0, 2)], ["C", "C", "O"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gg.save_tu(f"{folder}/RINGS.zip", [ring] * 5, [1, -1, 1, 1, -1])
    ...     for graphs, columns in iter_tu(f"{folder}/RINGS.zip", chunk_size=3):
    ...         print(len(graphs), columns["target"])
    3 [ 1 -1  1]
    2 [ 1 -1]
    """
    check_chunk_size(chunk_size)
    files = _Window(Folder(path, in_lines=True))
    return _chunks(files, int(chunk_size), target, label_column, edge_label_column)


def _chunks(
    files: _Window,
    chunk_size: int,
    target: str | None,
    label_column: int | None,
    edge_label_column: int | None,
) -> Iterator[Chunk]:
    indicator, edges = files.numbers("graph_indicator", 1), files.numbers("A", 2)
    empty = np.array(sorted(files.extra("empty_graphs", int)), dtype=np.int64)
    graphs_seen = vertices_seen = 0
    while indicator.more() or files.more_graphs() or (empty > graphs_seen).any():
        rows = indicator.up_to(graphs_seen + chunk_size, graphs_seen, "graphs")[:, 0]
        if (np.diff(rows) < 0).any():
            raise indicator.unordered()
        files.take("graphs", chunk_size)
        y = targets_of(files, target)
        last = chunk_size
        if not indicator.more():
            here = empty[empty <= graphs_seen + chunk_size]
            last = max([*rows[-1:], *here[-1:], graphs_seen + (0 if y is None else len(y))])
            last -= graphs_seen
        sizes = np.bincount(rows - graphs_seen - 1, minlength=last)
        _check_graphs(files, sizes, y, empty, graphs_seen)

        count = len(rows)
        pairs = edges.up_to(vertices_seen + count, vertices_seen, "vertices") - vertices_seen - 1
        files.take("vertices", count)
        files.take("edges", len(pairs))
        graphs = GraphBatch.from_edges(
            sizes,
            pairs,
            labels_of(files, "node", label_column, count, "vertices"),
            edge_labels=labels_of(files, "edge", edge_label_column, len(pairs), "edges"),
            vertex_attributes=attributes_of(files, "node", count, "vertices"),
            edge_attributes=attributes_of(files, "edge", len(pairs), "edges"),
        )
        graphs_seen += len(sizes)
        vertices_seen += count
        yield Chunk(graphs, {} if y is None else {"target": y})
    edges.up_to(vertices_seen, vertices_seen, "vertices")
    if edges.more():
        raise edges.unordered()
    files.check_end()


def _check_graphs(
    files: _Window, sizes: np.ndarray, y: np.ndarray | None, empty: np.ndarray, before: int
) -> None:
    if y is not None and len(y) != len(sizes):
        raise InvalidFileError(
            f"{files.shown('graph_indicator.txt')} has vertices for graph {before + len(sizes):,}, "
            f"but there are {before + len(y):,} classes or values. A file is cut short."
        )
    found = np.flatnonzero(sizes == 0) + before + 1
    listed = empty[(empty > before) & (empty <= before + len(sizes))]
    if not np.array_equal(found, listed):
        raise InvalidFileError(
            f"{files.shown(SIDECAR)}: 'empty_graphs' must list the graphs without vertices; "
            f"{found[:5].tolist()} have none, {listed[:5].tolist()} are listed."
        )


class _Window(DataSetFiles):
    """The files of a data set, of which only the lines of the current chunk are in memory."""

    def __init__(self, folder: Folder) -> None:
        super().__init__(folder)
        self._lines = {
            part: _Lines(folder.lines(self._file(f"{part}.txt")))
            for part in _PARTS
            if self._file(f"{part}.txt") in self.names
        }
        self._taken: dict[str, tuple[bytes, int]] = {}

    def numbers(self, part: str, columns: int) -> _Numbers:
        """The integers of a file that every data set must have."""
        file = self._file(f"{part}.txt")
        if file not in self.names:
            self.needed(part, columns)  # which complains
        return _Numbers(self.folder.shown(file), _Lines(self.folder.lines(file)), columns)

    def take(self, what: str, rows: int) -> None:
        """Advance by ``count`` rows in all files that have one line for each of these."""
        for part, lines in self._lines.items():
            if _PARTS[part] == what:
                self._taken[part] = lines.take(rows)

    def table(self, part: str, dtype: type, columns: int | None = None) -> NumberTable | None:
        if part not in self._lines:
            return None
        content, first_line = self._taken[part]
        return parse_numbers(self.shown(f"{part}.txt"), content, dtype, columns, first_line)

    def more_graphs(self) -> bool:
        return any(lines.more() for part, lines in self._lines.items() if _PARTS[part] == "graphs")

    def check_end(self) -> None:
        """Whether all files have come to their end together."""
        for part, lines in self._lines.items():
            if lines.more():
                raise InvalidFileError(
                    f"{self.shown(f'{part}.txt')} must have a line for each of the {_PARTS[part]}; "
                    f"it has more (line {lines.next_line:,})."
                )


class _Lines:
    """The lines of a file that are not blank, in blocks, with their numbers."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self._ahead: list[bytes] = []
        self.next_line = 1

    def more(self) -> bool:
        """Whether there are lines left."""
        while not self._ahead:
            line = next(self._lines, None)
            if line is None:
                return False
            if line.strip():
                self._ahead = [line]
            else:
                self.next_line += 1
        return True

    def take(self, rows: int) -> tuple[bytes, int]:
        """The text of the next rows, and the number of its first line."""
        self.more()
        first, taken, found = self.next_line, list(self._ahead[:rows]), min(len(self._ahead), rows)
        self._ahead = self._ahead[found:]
        while found < rows:
            some = list(islice(self._lines, rows - found))
            if not some:
                break
            taken += some
            found += sum(bool(line.strip()) for line in some)
        self.next_line += len(taken)
        return b"".join(taken), first


class _Numbers:
    """Rows of integers that rise from chunk to chunk."""

    def __init__(self, name: str, lines: _Lines, columns: int) -> None:
        self.name, self.lines, self.columns = name, lines, columns
        self.rows = np.empty((0, columns), dtype=np.int64)

    def more(self) -> bool:
        """Whether there are rows left."""
        return len(self.rows) > 0 or self.lines.more()

    def up_to(self, last: int, before: int, what: str) -> np.ndarray:
        """The next rows in which no number is larger than ``last``."""
        parts = []
        while self.more():
            if not len(self.rows):
                content, first_line = self.lines.take(_LINES)
                table = parse_numbers(self.name, content, int, self.columns, first_line)
                wrong = np.flatnonzero((table.values < 1).any(axis=1))
                if wrong.size:
                    raise table.error(
                        int(wrong[0]), f"{what} are numbered from 1; the line is {{value!r}}."
                    )
                self.rows = table.values
            beyond = np.flatnonzero((self.rows > last).any(axis=1))
            end = int(beyond[0]) if beyond.size else len(self.rows)
            parts.append(self.rows[:end])
            self.rows = self.rows[end:]
            if beyond.size:
                break
        found = np.concatenate([np.empty((0, self.columns), dtype=np.int64), *parts])
        if (found <= before).any():
            raise self.unordered()
        return found

    def unordered(self) -> InvalidFileError:
        return InvalidFileError(
            f"{self.name}: reading in chunks needs vertices and edges in the order of their "
            "graphs, and no edge from one graph to another; these are not. load_tu reads (and "
            "checks) the data set in one piece."
        )


# -------------------------------------------------------------------- writing

PARTS = (
    "graph_indicator.txt",
    "graph_labels.txt",
    "graph_attributes.txt",
    "node_labels.txt",
    "edge_labels.txt",
    "node_attributes.txt",
    "edge_attributes.txt",
    SIDECAR,
    "A.txt",  # last: without it a half-written folder is not taken for a data set
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


# -------------------------------------------------------------------- tables of numbers
#
# Parsed by NumPy, errors with file, line and value.

_INTEGER = re.compile(r"[+-]?[0-9]+")
_LIMITS = np.iinfo(np.int64)


@dataclass(frozen=True)
class NumberTable:
    """The numbers of a file or of some of its lines, a row per line that is not blank."""

    name: str
    text: str
    values: np.ndarray
    first_line: int = 1

    def __len__(self) -> int:
        return len(self.values)

    def error(self, row: int, message: str) -> InvalidFileError:
        """An error about a row; the message may use ``{value}`` for what the line holds."""
        seen = -1
        for number, line in enumerate(io.StringIO(self.text), start=self.first_line):
            seen += bool(line.strip())
            if seen == row:
                return _complaint(self.name, number, message.format(value=_cut(line.strip())))
        return InvalidFileError(f"{self.name}: {message.format(value='?')}")


def parse_numbers(
    name: str, content: bytes, dtype: type, columns: int | None = None, first_line: int = 1
) -> NumberTable:
    """Parse a text file of integers or floats, separated by commas or by white space.

    Parameters
    ----------
    name : str
        What messages call the file.
    content : bytes
    dtype : int or float
    columns : int, optional
        How many numbers a line must hold; by default as many as the first line.
    first_line : int
        The number of the first line, where the text is not the beginning of the file.
    """
    text = _decoded(name, content, first_line)
    if not text.strip():
        return NumberTable(name, text, np.empty((0, columns or 1), dtype=dtype), first_line)
    first = next(line for line in io.StringIO(text) if line.strip())
    delimiter = "," if "," in first else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values: np.ndarray = np.loadtxt(
                io.StringIO(text), dtype=dtype, delimiter=delimiter, comments=None, ndmin=2
            )
    except (ValueError, OverflowError, Warning) as error:
        raise _first_wrong_line(name, text, dtype, delimiter, columns, error, first_line) from None
    table = NumberTable(name, text, values, first_line)
    if columns is not None and values.shape[1] != columns:
        raise table.error(0, _columns_rule(columns) + " The line is {value!r}.")
    return table


def finite(table: NumberTable) -> NumberTable:
    """The table itself, if it holds neither NaN nor infinity."""
    wrong = np.flatnonzero(~np.isfinite(table.values).all(axis=1))
    if wrong.size:
        raise table.error(
            int(wrong[0]), "attributes must be finite numbers; the line is {value!r}."
        )
    return table


def _decoded(name: str, content: bytes, first_line: int) -> str:
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + first_line
        value = content[error.start : error.start + 8]
        raise _complaint(
            name, line, f"only plain (ASCII) text is expected; found {value!r}. Save it as UTF-8."
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _first_wrong_line(
    name: str,
    text: str,
    dtype: type,
    delimiter: str | None,
    columns: int | None,
    cause: Exception,
    first_line: int,
) -> InvalidFileError:
    """Find the line that NumPy could not parse: slow, but needed for the error message only."""
    for number, line in enumerate(io.StringIO(text), start=first_line):
        if not line.strip():
            continue
        values = line.split(delimiter)
        for value in values:
            problem = _problem(value.strip(), dtype)
            if problem:
                return _complaint(name, number, problem)
        columns = columns or len(values)
        if len(values) != columns:
            return _complaint(
                name, number, f"{_columns_rule(columns)} The line is {_cut(line.strip())!r}."
            )
    return InvalidFileError(f"{name}: the numbers cannot be read ({cause}).")


def _problem(value: str, dtype: type) -> str | None:
    if not value:
        return "a number is missing."
    if dtype is int:
        if not _INTEGER.fullmatch(value):
            return f"an integer is expected; found {_cut(value)!r}."
        # int() refuses strings of thousands of digits, so look at the length first.
        if len(value) > 21 or not _LIMITS.min <= int(value) <= _LIMITS.max:
            return f"an integer of at most 64 bits is expected; found {_cut(value)!r}."
        return None
    try:
        float(value)
    except ValueError:
        return f"a number is expected; found {_cut(value)!r}."
    return None if "_" not in value else f"a number is expected; found {_cut(value)!r}."


def _columns_rule(columns: int) -> str:
    return f"{columns} {'number is' if columns == 1 else 'numbers are'} expected on each line."


def _complaint(name: str, line: int, message: str) -> InvalidFileError:
    return InvalidFileError(f"{name}, line {line}: {message}")


def _cut(value: str) -> str:
    return value if len(value) <= 60 else value[:57] + "..."
