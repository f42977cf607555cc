"""Read and write the text format of the TU Dortmund collection.

A data set ``DS`` is a folder or a zip with ``DS_A.txt`` (edges), ``DS_graph_indicator.txt``
(the graph of each vertex) and optional files for classes, labels and attributes. Vertices and
graphs are numbered from 1.

:func:`save_tu` stores what plain TU files cannot represent in ``DS_graphgrain.json``, if needed:
the names behind integer codes (``vertex_labels``, ``edge_labels``, ``classes``), graphs without
vertices (``empty_graphs``), and the number of attributes if there are no vertices or edges. Other
readers of the format ignore this file.
"""

from __future__ import annotations

import io
import json
import os
import re
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ...errors import InvalidFileError, InvalidParameterError
from ...writing import atomic_write
from ..batch import GraphBatch
from ..convert.dispatch import as_graphs
from ..convert.parts import cut
from ..labels import label_kind
from ..molecule_labels import read_alphabet
from .archive import Folder

SIDECAR = "graphgrain.json"
#: Files with one line per graph, vertex or edge.
_LINE_PER = {
    "graph_indicator": "vertices",
    "graph_labels": "graphs",
    "graph_attributes": "graphs",
    "node_labels": "vertices",
    "edge_labels": "edges",
    "node_attributes": "vertices",
    "edge_attributes": "edges",
}


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
        Return the classes (``DS_graph_labels.txt``) or the regression values
        (``DS_graph_attributes.txt``) as ``y``. By default the classes if there are any, otherwise
        the values.
    label_column, edge_label_column : int, optional
        Column to use if vertices or edges have several labels, counted from 0. By default all
        columns are joined to one string such as ``"3,1"``.
    max_bytes : int, optional
        Maximum number of bytes of text. The default is 1 GiB for a folder, and a hundred times
        the file size, but between 64 MiB and 1 GiB, for a zip.

    Returns
    -------
    graphs : GraphBatch
        The graphs. In the files, edges may be listed once or in both directions, and vertices
        need not be in the order of their graphs; they are sorted. If the description of the data
        set says which atoms and bonds its labels mean, the column ``"alphabet"`` holds it, and
        graphs are drawn as molecules.
    y : array or None
        Integers (or strings, if :func:`save_tu` wrote strings) for classes, floats for
        regression values; two-dimensional if there are several columns.

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
    files = DataSetFiles(Folder(path, max_bytes))
    edges = files.needed("A", columns=2)
    indicator = files.needed("graph_indicator", columns=1)
    y = _targets(files, target)
    sizes, order, position = _vertices(files, indicator, None if y is None else len(y))
    pairs = _edges(edges, indicator, position)
    graphs = _batch(files, sizes, pairs, order, label_column, edge_label_column)
    alphabet = read_alphabet(files.readme())
    if alphabet is not None:
        graphs = graphs.with_columns({"alphabet": [alphabet] * len(graphs)})
    return graphs, y


class DataSetFiles:
    """The files of one data set."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.base = _data_set(folder)
        self.names = set(folder.names)
        self.sidecar = self._read_sidecar()

    def file(self, part: str) -> PurePosixPath:
        return self.base.with_name(f"{self.base.name}_{part}")

    def shown(self, part: str) -> str:
        return self.folder.shown(self.file(part))

    def table(self, part: str, dtype: type, columns: int | None = None) -> NumberTable | None:
        """Return the numbers of ``DS_part.txt``, or None if there is no such file."""
        if self.file(f"{part}.txt") not in self.names:
            return None
        content = self.folder.read(self.file(f"{part}.txt"))
        return parse_numbers(self.shown(f"{part}.txt"), content, dtype, columns)

    def readme(self) -> str:
        """Return the description of the data set; empty if it has none."""
        found = [name for name in self.names if "readme" in name.name.lower()]
        return self.folder.read(found[0]).decode("utf-8", "replace") if len(found) == 1 else ""

    def needed(self, part: str, columns: int) -> NumberTable:
        """Return the integers of a mandatory file."""
        table = self.table(part, int, columns)
        if table is None:
            raise InvalidFileError(
                f"{self.shown(f'{part}.txt')} is missing. A data set needs at least DS_A.txt and "
                "DS_graph_indicator.txt."
            )
        return table

    def of_rows(self, part: str, dtype: type, rows: int) -> NumberTable | None:
        """Return the numbers of an optional file, which must have a given number of rows."""
        table = self.table(part, dtype)
        if table is not None and len(table) != rows:
            raise InvalidFileError(
                f"{table.name} must have a line for each of the {rows:,} {_LINE_PER[part]}; it has "
                f"{len(table):,}."
            )
        return table

    def _read_sidecar(self) -> dict[str, Any]:
        if self.file(SIDECAR) not in self.names:
            return {}
        try:
            content = json.loads(self.folder.read(self.file(SIDECAR)))
        except (ValueError, RecursionError) as error:
            raise InvalidFileError(f"{self.shown(SIDECAR)} is not JSON: {error}.") from None
        if not isinstance(content, dict):
            raise InvalidFileError(f"{self.shown(SIDECAR)} must hold a JSON object.")
        return content

    def extra(self, key: str, kind: type) -> list[Any]:
        """Return a list of the sidecar with items of one type; empty if it is missing."""
        values = self.sidecar.get(key, [])
        if not isinstance(values, list) or not all(type(value) is kind for value in values):
            raise InvalidFileError(
                f"{self.shown(SIDECAR)}: {key!r} must be a list of "
                f"{'strings' if kind is str else 'integers'}."
            )
        return values

    def names_of(self, key: str, codes: np.ndarray, source: NumberTable) -> np.ndarray:
        """Replace the codes of a file by their names in the sidecar, if it has any."""
        if key not in self.sidecar:
            return codes
        names = np.array(self.extra(key, str), dtype=object)
        wrong = np.argwhere((codes < 0) | (codes >= len(names)))
        if wrong.size:
            raise source.error(
                int(wrong[0, 0]), f"{self.shown(SIDECAR)} names the codes 0 to {len(names) - 1}"
            )
        return names[codes]


def _data_set(folder: Folder) -> PurePosixPath:
    """Return the folder and name ``DS`` of the data set that has a file ``DS_A.txt``."""
    bases = [
        name.with_name(name.name.removesuffix("_A.txt"))
        for name in folder.names
        if name.name.endswith("_A.txt") and not name.name.startswith(".") and name.name != "_A.txt"
    ]
    stem = folder.path.name.removesuffix(".zip")
    named = [base for base in bases if base.name == stem]
    if len(bases) == 1 or len(named) == 1:
        return (named or bases)[0]
    if not bases:
        raise InvalidFileError(
            f"{str(folder.path)!r} holds no data set in TU format: there is no file that ends in "
            "'_A.txt'."
        )
    raise InvalidFileError(
        f"{folder.path.name} must hold one data set; it holds several: "
        f"{', '.join(sorted(str(base) for base in bases)[:5])}. Keep them in folders of their own."
    )


def _targets(files: DataSetFiles, target: str | None) -> np.ndarray | None:
    """Return the classes or the regression values."""
    if target not in (None, "classes", "values"):
        raise InvalidParameterError(f"target must be 'classes' or 'values'; got {target!r}.")
    y = None if target == "values" else _classes(files)
    if y is None and target != "classes":
        values = files.table("graph_attributes", float)
        y = None if values is None else _column_or_table(values)
    if y is None and target is not None:
        part = "graph_labels.txt" if target == "classes" else "graph_attributes.txt"
        raise InvalidFileError(f"There are no {target}: {files.shown(part)}.")
    return y


def _classes(files: DataSetFiles) -> np.ndarray | None:
    try:
        table = files.table("graph_labels", int)
    except InvalidFileError:
        # Some data sets have regression values here; text that is not a number fails again.
        table = files.table("graph_labels", float)
    if table is None:
        return None
    codes = _column_or_table(table)
    if codes.dtype.kind == "f":
        return codes
    named = files.names_of("classes", codes, table)
    return named if named is codes else np.array(named.tolist(), dtype=str)


def _column_or_table(table: NumberTable) -> np.ndarray:
    return table.values[:, 0] if table.values.shape[1] == 1 else table.values


def _vertices(
    files: DataSetFiles, indicator: NumberTable, n_targets: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return graph sizes, the vertices sorted by graph, and their positions in that order."""
    graph = indicator.values[:, 0]
    filled, empty = len(np.unique(graph)), set(files.extra("empty_graphs", int))
    n_graphs = filled + len(empty)
    last = n_graphs if n_targets is None else n_targets
    wrong = np.flatnonzero((graph < 1) | (graph > last))
    if wrong.size:
        raise indicator.error(int(wrong[0]), f"graphs are numbered from 1 to {last} without a gap")
    if n_targets is not None and n_targets != n_graphs:
        raise InvalidFileError(
            f"{indicator.name} has vertices for {filled:,} graphs, but there are {n_targets:,} "
            "classes or values, one line for each graph. A file is cut short, or a graph without "
            f"vertices is not listed as 'empty_graphs' in {files.shown(SIDECAR)}."
        )
    sizes = np.bincount(graph - 1, minlength=n_graphs)
    without = (np.flatnonzero(sizes == 0) + 1).tolist()
    if without != sorted(empty):
        raise InvalidFileError(
            f"{files.shown(SIDECAR)}: 'empty_graphs' must list the graphs without vertices; "
            f"{without[:5]} have none, {sorted(empty)[:5]} are listed."
        )
    order = np.argsort(graph, kind="stable")
    return sizes, order, np.argsort(order)


def _edges(edges: NumberTable, indicator: NumberTable, position: np.ndarray) -> np.ndarray:
    values = edges.values
    outside = np.flatnonzero(((values < 1) | (values > len(position))).any(axis=1))
    if outside.size:
        raise edges.error(
            int(outside[0]),
            f"vertices are numbered from 1 to {len(position):,} (the lines of {indicator.name})",
        )
    graph = indicator.values[values - 1, 0]
    across = np.flatnonzero(graph[:, 0] != graph[:, 1])
    if across.size:
        first, second = graph[across[0]]
        raise edges.error(
            int(across[0]),
            f"an edge must stay within one graph; this one joins graph {first} to graph {second}",
        )
    return position[values - 1]


def _batch(
    files: DataSetFiles,
    sizes: np.ndarray,
    pairs: np.ndarray,
    order: Any,
    label_column: int | None,
    edge_label_column: int | None,
) -> GraphBatch:
    """Build the batch with labels and attributes; ``order`` sorts the vertices by graph."""
    n_vertices, n_edges = int(sizes.sum()), len(pairs)
    labels = _labels(files, "node", "vertex", label_column, n_vertices)
    attributes = _attributes(files, "node", "vertex", n_vertices)
    return GraphBatch.from_edges(
        sizes,
        pairs,
        None if labels is None else labels[order],
        edge_labels=_labels(files, "edge", "edge", edge_label_column, n_edges),
        vertex_attributes=None if attributes is None else attributes[order],
        edge_attributes=_attributes(files, "edge", "edge", n_edges),
    )


def _labels(
    files: DataSetFiles, kind: str, what: str, column: int | None, rows: int
) -> np.ndarray | None:
    table = files.of_rows(f"{kind}_labels", int, rows)
    if table is None:
        return None
    values, width = table.values, table.values.shape[1]
    if column is not None:
        if not isinstance(column, int) or not 0 <= column < width:
            raise InvalidParameterError(
                f"The label column must be 0 to {width - 1} for {table.name}; got {column!r}."
            )
        values = values[:, [column]]
    elif width > 1:
        # Join distinct rows only, as there are few of them.
        distinct, codes = np.unique(values, axis=0, return_inverse=True)
        joined = np.array([",".join(map(str, row)) for row in distinct.tolist()], dtype=object)
        return joined[codes.reshape(-1)]
    return files.names_of(f"{what}_labels", values[:, 0], table)


def _attributes(files: DataSetFiles, kind: str, what: str, rows: int) -> np.ndarray | None:
    table = files.of_rows(f"{kind}_attributes", float, rows)
    if table is None:
        return None
    if not rows:
        width = (files.extra(f"{what}_attributes", int) or [1])[0]
        return np.empty((0, min(max(width, 1), 10**6)))
    wrong = np.flatnonzero(~np.isfinite(table.values).all(axis=1))
    if wrong.size:
        raise table.error(int(wrong[0]), "attributes must be finite numbers")
    return table.values


# -------------------------------------------------------------------- writing


def save_tu(
    path: str | os.PathLike[str],
    graphs: Any,
    y: Any = None,
    *,
    name: str | None = None,
    overwrite: bool = False,
) -> None:
    """Save graphs in the text format of the TU Dortmund collection.

    :func:`load_tu` restores exactly the same graphs and ``y``. Labels and classes in this format
    are integers; strings, and graphs without vertices, are recorded in an additional file,
    ``DS_graphgrain.json``.

    Parameters
    ----------
    path : path
        A zip file if it ends in ``.zip``, otherwise a folder, which is created if needed.
    graphs : GraphBatch or anything that :func:`as_graphs` accepts
    y : array-like, optional
        Integers or strings are written as classes, floats as regression values.
    name : str, optional
        Name ``DS`` of the data set; by default the name of the folder or zip.
    overwrite : bool, default=False
        Whether an existing data set of that name may be replaced.

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
    location = Path(path)
    zipped = location.suffix.lower() == ".zip"
    if name is None:
        name = location.stem if zipped else location.resolve().name
    if not isinstance(name, str) or not re.fullmatch(r"\w[\w.+-]*", name):
        raise InvalidParameterError(
            "A data set's name must consist of letters, digits, '_', '-', '.' and '+'; got "
            f"{name!r}. Give another with name=..."
        )
    parts = _contents(graphs, y)
    first_file = location if zipped else location / f"{name}_A.txt"
    if first_file.exists() and not overwrite:
        raise InvalidParameterError(
            f"{str(first_file)!r} is there already and is not replaced. Choose another path, or "
            "say overwrite=True."
        )
    # Write the edges last: without them an incomplete folder is not recognised as a data set.
    files = [*(f"{part}.txt" for part in _LINE_PER), SIDECAR, "A.txt"]
    if zipped:
        location.parent.mkdir(parents=True, exist_ok=True)
        with (
            atomic_write(location, "The data set") as stream,
            zipfile.ZipFile(stream, "w") as archive,
        ):
            for part in (part for part in files if part in parts):
                # Fixed date and system, so that the same graphs always give the same file.
                member = zipfile.ZipInfo(f"{name}/{name}_{part}", (1980, 1, 1, 0, 0, 0))
                member.create_system = 3
                member.external_attr = 0o644 << 16
                archive.writestr(member, parts[part], zipfile.ZIP_DEFLATED, 9)
        return
    location.mkdir(parents=True, exist_ok=True)
    first_file.unlink(missing_ok=True)
    for part in files:
        file = location / f"{name}_{part}"
        if part in parts:
            with atomic_write(file, "The data set") as stream:
                stream.write(parts[part].encode("ascii"))
        else:
            file.unlink(missing_ok=True)


def _contents(graphs: GraphBatch, y: Any) -> dict[str, str]:
    """Return the text of each file, by the part of its name after ``DS_``."""
    extra: dict[str, Any] = {}
    parts = {
        "A.txt": _lines(np.column_stack((graphs.sources, graphs.indices)) + 1),
        "graph_indicator.txt": _lines(graphs.graph_of_vertex + 1),
    }
    empty = np.flatnonzero(graphs.vertex_counts == 0)
    if empty.size:
        extra["empty_graphs"] = (empty + 1).tolist()
    label_table = graphs.label_table if graphs.labelled else None
    for kind, what, codes, table, values in (
        ("node", "vertex", graphs.label_codes, label_table, graphs.vertex_attributes),
        ("edge", "edge", graphs.edge_label_codes, graphs.edge_label_table, graphs.edge_attributes),
    ):
        if codes is not None and table is not None:
            if label_kind(table) == "string":
                extra[f"{what}_labels"] = table.tolist()
                table = np.arange(len(table))
            parts[f"{kind}_labels.txt"] = _lines(table[codes])
        if values is not None:
            if values.shape[1] == 0:
                raise InvalidParameterError(
                    f"Attributes need at least one column to be written; {what}_attributes has "
                    "none."
                )
            parts[f"{kind}_attributes.txt"] = _lines(values)
            if not len(values):
                extra[f"{what}_attributes"] = [values.shape[1]]
    if y is not None:
        parts |= _target_lines(y, len(graphs), extra)
    if extra:
        parts[SIDECAR] = json.dumps(extra, indent=1) + "\n"
    return parts


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
        return {"graph_attributes.txt": _lines(values.astype(np.float64))}
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
    return {"graph_labels.txt": _lines(values.astype(np.int64))}


def _lines(values: np.ndarray) -> str:
    """Format one line per row; repr gives the shortest text that is parsed as the same number."""
    rows = values.reshape(len(values), int(np.prod(values.shape[1:]))).tolist()
    return "".join(", ".join(map(repr, row)) + "\n" for row in rows)


# -------------------------------------------------------------------- tables of numbers

_INTEGER = re.compile(r"[+-]?[0-9]+")
_LIMITS = np.iinfo(np.int64)


@dataclass(frozen=True)
class NumberTable:
    """The numbers of a file, with one row per line that is not blank."""

    name: str
    text: str
    values: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    def rows(self) -> Iterator[tuple[int, str]]:
        """Yield line number and text of the lines that are not blank."""
        for number, line in enumerate(io.StringIO(self.text), start=1):
            if line.strip():
                yield number, line.strip()

    def error(self, row: int, rule: str) -> InvalidFileError:
        """Return an error about a row."""
        number, line = next(islice(self.rows(), row, None))
        return InvalidFileError(f"{self.name}, line {number}: {rule}; the line is {cut(line)!r}.")


def parse_numbers(
    name: str, content: bytes, dtype: type, columns: int | None = None
) -> NumberTable:
    """Parse a text file of integers or floats, separated by commas or by white space.

    All lines must have the given number of columns, by default that of the first line.
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        text = content.decode("ascii").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InvalidFileError(
            f"{name}, line {line}: only plain (ASCII) text is expected; found "
            f"{content[error.start : error.start + 8]!r}. Save it as UTF-8."
        ) from None
    table = NumberTable(name, text, np.empty((0, columns or 1), dtype=dtype))
    _, first = next(table.rows(), (0, ""))
    if not first:
        return table
    delimiter = "," if "," in first else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values: np.ndarray = np.loadtxt(
                io.StringIO(text), dtype=dtype, delimiter=delimiter, comments=None, ndmin=2
            )
    except (ValueError, OverflowError, Warning) as error:
        raise _first_wrong_line(table, dtype, delimiter, columns, error) from None
    if columns is not None and values.shape[1] != columns:
        raise table.error(0, _columns_rule(columns))
    return NumberTable(name, text, values)


def _first_wrong_line(
    table: NumberTable, dtype: type, delimiter: str | None, columns: int | None, cause: Exception
) -> InvalidFileError:
    """Find the line that NumPy could not parse; slow, so only used for the error message."""
    for row, (_, line) in enumerate(table.rows()):
        values = line.split(delimiter)
        columns = columns or len(values)
        problems = filter(None, (_problem(value.strip(), dtype) for value in values))
        problem = next(problems, _columns_rule(columns) if len(values) != columns else None)
        if problem is not None:
            return table.error(row, problem)
    return InvalidFileError(f"{table.name}: the numbers cannot be read ({cause}).")


def _problem(value: str, dtype: type) -> str | None:
    if not value:
        return "a number is missing"
    if dtype is int and _INTEGER.fullmatch(value):
        # int() rejects strings of thousands of digits, so check the length first.
        fits = len(value) <= 21 and _LIMITS.min <= int(value) <= _LIMITS.max
        return None if fits else f"an integer of at most 64 bits is expected; found {cut(value)!r}"
    if dtype is float and "_" not in value:
        with suppress(ValueError):
            float(value)
            return None
    return f"{'an integer' if dtype is int else 'a number'} is expected; found {cut(value)!r}"


def _columns_rule(columns: int) -> str:
    return f"{columns} {'number is' if columns == 1 else 'numbers are'} expected on each line"
