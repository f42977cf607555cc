"""Read the text format of the TU Dortmund collection in chunks (see :mod:`.tu`).

The files of a data set are read side by side: so many lines of the graph indicator as belong to
the graphs of a chunk, then their vertices' and edges' lines of the others. This needs vertices and
edges in the order of their graphs, as the collection has them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice

import numpy as np

from ...errors import InvalidFileError
from ..batch import GraphBatch
from ..streams import CHUNK_SIZE, Chunk, check_chunk_size
from .archive import Folder
from .number_table import NumberTable, parse_numbers
from .tu import SIDECAR, DataSetFiles, attributes_of, labels_of, targets_of

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
    >>> from graphgrain.graphs.files.tu_stream import iter_tu
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
    """The files of a data set, of which only the lines of the present chunk are there."""

    def __init__(self, folder: Folder) -> None:
        super().__init__(folder)
        self._lines = {
            part: _Lines(folder.lines(self._file(f"{part}.txt")))
            for part in _PARTS
            if self._file(f"{part}.txt") in self.names
        }
        self._taken: dict[str, tuple[bytes, int]] = {}

    def numbers(self, part: str, columns: int) -> _Numbers:
        """The integers of a file that no data set can do without."""
        file = self._file(f"{part}.txt")
        if file not in self.names:
            self.needed(part, columns)  # which complains
        return _Numbers(self.folder.shown(file), _Lines(self.folder.lines(file)), columns)

    def take(self, what: str, rows: int) -> None:
        """Go on by so many rows in all files that have a line for each of these."""
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
    """The lines of a file that are not blank, so many at a time, with their numbers."""

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
