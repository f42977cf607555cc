"""Read files of molecules (SMILES, CSV, TSV, SDF), in chunks or as a whole."""

from __future__ import annotations

import contextlib
import csv
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np

from ...errors import InvalidFileError, InvalidParameterError
from ...parameters import Whole, check_value
from ..batch import GraphBatch
from ..convert.rdkit import (
    LabelFlags,
    LabelOptions,
    Parsed,
    Unreadable,
    check_standardize,
    parse_molecules,
    rdkit,
)
from ..processes import map_processes, progress_bar
from ..streams import CHUNK_SIZE
from ..tables import ID_NAMES, names_beside, the_column, with_ids
from .archive import MAX_LINE, MIB, check_size, text_file, text_lines


class Record(NamedTuple):
    """One molecule of a file: line number, structure as text, fields, and row of data from 1."""

    line: int
    structure: str
    fields: dict[str, str]
    row: int = 0


KINDS = (".smi", ".smiles", ".csv", ".tsv", ".sdf", ".mol")


def is_molecule_file(path: Path) -> bool:
    """Return whether the file name has the suffix of a molecule file."""
    return _kind(path) in KINDS and not path.is_dir()


def _kind(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def iter_molecules(
    path: str | os.PathLike[str],
    *,
    chunk_size: int = CHUNK_SIZE,
    smiles: str | None = None,
    id: str | None = None,
    errors: str = "raise",
    standardize: str | None = None,
    after_line: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    **labels: Unpack[LabelFlags],
) -> Iterator[GraphBatch]:
    """Read molecules from a file in chunks, so that memory use does not grow with its length.

    Parameters
    ----------
    path : path of a file
        ``.smi`` (a SMILES and optionally a name on each line), ``.csv`` or ``.tsv`` (a header
        and a column of SMILES), or ``.sdf``; all may be compressed (``.csv.gz``).
    chunk_size : int, default=2000
        Number of molecules to read at a time.
    smiles : str, optional
        Column of a table that holds the SMILES; by default the first whose name contains
        "smiles".
    id : str, optional
        Column that identifies the molecules, or property of an ``.sdf`` file; by default one with
        a usual name, such as id, compound_id or name. It becomes the column ``"id"`` of the
        graphs (:attr:`GraphBatch.columns`), beside all other columns.
    errors : {"raise", "skip"}, default="raise"
        Whether molecules that cannot be read raise an error, or are skipped with a warning at
        the end. Both report line numbers.
    standardize : {"largest", "cleanup", "parent"}, optional
        Standardise molecules; see :func:`from_rdkit`.
    after_line : int, default=0
        Skip all molecules up to this line, to resume an interrupted run.
    n_jobs, verbose
        As in :func:`from_smiles`.
    charge, aromatic, hydrogens, stereo, isotopes, radicals : bool, default=False
        Properties encoded in the labels; see :func:`from_rdkit`.

    Yields
    ------
    GraphBatch
        Consecutive molecules. Their columns are ``"line"`` (the line number of the molecule as an
        integer; a column of this name in the file becomes ``"input_line"``), ``"smiles"`` (or
        ``"molecule"``, see :func:`from_rdkit`), ``"id"``, and all columns of the file as text,
        because a column can contain numbers in one chunk and other text in the next. Convert
        numeric columns with ``graphs.columns["active"].astype(float)``. A chunk of an ``.sdf``
        file has the properties that at least one of its molecules has.

    See Also
    --------
    load_molecules : Load all molecules of a file at once.

    Examples
    --------
    >>> import graphgrain as gg, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "three.smi")
    ...     _ = file.write_text("CCO ethanol\\nCN methylamine\\nC methane\\n")
    ...     for graphs in gg.iter_molecules(file, chunk_size=2):
    ...         print(len(graphs), graphs.columns["line"], graphs.columns["name"])
    2 [1 2] ['ethanol' 'methylamine']
    1 [3] ['methane']
    """
    options: Any = {"smiles": smiles, "id": id, "errors": errors, "standardize": standardize}
    options |= {"after_line": after_line, "n_jobs": n_jobs, "verbose": verbose}
    chunks = file_chunks(path, chunk_size=chunk_size, **options, **labels)
    return (graphs for graphs, _ in chunks)


def file_chunks(
    path: str | os.PathLike[str],
    *,
    chunk_size: int = CHUNK_SIZE,
    smiles: str | None = None,
    id: str | None = None,
    errors: str = "raise",
    standardize: str | None = None,
    after_line: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    **labels: Unpack[LabelFlags],
) -> Iterator[tuple[GraphBatch, list[str]]]:
    """Read molecules as :func:`iter_molecules` does, with the names of the file's own columns."""
    check_value("chunk_size", chunk_size, Whole(1))
    file = MoleculeFile.opened(path, smiles)
    file = file._replace(records=_after(file, after_line))
    options = LabelOptions.of(labels)
    check_standardize(standardize)
    parse = partial(parse_molecules, options=options, blocks=file.blocks, standardize=standardize)
    return _chunks(file, chunk_size, id, parse, Unreadable(errors), n_jobs, verbose)


class MoleculeFile(NamedTuple):
    """An open file of molecules that are not parsed yet."""

    name: str  # file name for messages
    blocks: bool  # True for mol blocks, False for SMILES
    records: Iterator[Record]

    @classmethod
    def opened(cls, path: str | os.PathLike[str], smiles: str | None = None) -> MoleculeFile:
        """Open a file in the format given by its suffix."""
        file = text_file(path)
        kind = _kind(file)
        if kind not in KINDS:
            raise InvalidParameterError(
                f"The name of a file of molecules must end in {', '.join(KINDS)} (or one of them "
                f"and .gz); got {file.name!r}."
            )
        lines, blocks = text_lines(file), kind in (".sdf", ".mol")
        if blocks:
            records = sdf_records(file.name, lines)
        elif kind in (".csv", ".tsv"):
            records = table_records(file.name, lines, kind == ".tsv", smiles)
        else:
            records = smiles_records(lines)
        records = chain(list(islice(records, 1)), records)  # a wrong header is an error here
        rdkit()
        rows = (record._replace(row=row) for row, record in enumerate(records, start=1))
        return cls(file.name, blocks, rows)

    def problem(self, record: Record, reason: str) -> str:
        """Describe where a molecule is and why it cannot be read."""
        start = record.structure.strip().split("\n")[0][:60]
        row = "" if record.row == record.line else f" (row {record.row})"
        return f"{self.name}, line {record.line}{row}, {start!r}: {reason}"


def load_molecules(
    path: str | os.PathLike[str],
    *,
    smiles: str | None = None,
    id: str | None = None,
    errors: str = "raise",
    standardize: str | None = None,
    max_bytes: int | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    **labels: Unpack[LabelFlags],
) -> tuple[GraphBatch, dict[str, np.ndarray]]:
    """Load molecules from a file, with all other columns of the file.

    Parameters
    ----------
    path, smiles, id, errors, standardize, n_jobs, verbose
        As in :func:`iter_molecules`.
    max_bytes : int, optional
        Maximum number of bytes to read. The default is 1 GiB, and for compressed files a hundred
        times their size, but between 64 MiB and 1 GiB.
    charge, aromatic, hydrogens, stereo, isotopes, radicals : bool, default=False
        Properties encoded in the labels; see :func:`from_rdkit`.

    Returns
    -------
    graphs : GraphBatch
    columns : dictionary of arrays
        Arrays with one entry per graph: ``"line"`` (its line number; a column of this name in the
        file becomes ``"input_line"``), and the columns of a table, the ``"name"`` of a ``.smi``
        file, or the ``"name"`` and properties of an ``.sdf`` file.
        Columns are integer or float arrays (with NaN for missing values) if all entries are
        numbers, otherwise string arrays (with empty strings for missing values). Codes such as 007,
        and integers that a float would round, stay strings. Empty entries
        and the markers that pandas recognises (NA, NaN, null, ...) are missing values. Targets
        are taken from the columns: ``y = columns["active"]``.

    See Also
    --------
    iter_molecules : Read molecules in chunks, for files of any size.

    Examples
    --------
    >>> import graphgrain as gg, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "two.csv")
    ...     _ = file.write_text("name,smiles,active\\nethanol,CCO,0\\naniline,Nc1ccccc1,1\\n")
    ...     graphs, columns = gg.load_molecules(file)
    >>> graphs
    GraphBatch(2 graphs, 10 vertices, 9 edges, 3 vertex labels, 2 edge labels)
    >>> columns["active"]
    array([0, 1])
    """
    options: Any = {"smiles": smiles, "id": id, "errors": errors, "n_jobs": n_jobs}
    options |= {"standardize": standardize, "verbose": verbose}
    graphs, columns = molecule_texts(path, max_bytes, **options, **labels)
    columns = {name: typed(values) for name, values in columns.items()}
    numbers = {name: values for name, values in columns.items() if values.dtype.kind in "if"}
    return with_ids(graphs.with_columns(numbers)), columns


def molecule_texts(
    path: str | os.PathLike[str], max_bytes: int | None = None, **options: Any
) -> tuple[GraphBatch, dict[str, np.ndarray]]:
    """Load molecules as :func:`load_molecules` does, with the columns of the file as text."""
    file = text_file(path)
    check_size(file, max_bytes)
    chunks = list(file_chunks(file, **options))
    graphs = GraphBatch.concatenate([batch for batch, _ in chunks])
    columns = {name: graphs.columns[name] for _, names in chunks for name in names}
    return graphs, {
        name: values.astype(str) if values.dtype == object else values
        for name, values in columns.items()
    }


def _chunks(
    file: MoleculeFile,
    chunk_size: int,
    id: str | None,
    parse: Callable[[list[str]], Parsed],
    unreadable: Unreadable,
    n_jobs: int | None,
    verbose: int,
) -> Iterator[tuple[GraphBatch, list[str]]]:
    waiting: deque[list[Record]] = deque()  # submitted to the processes

    def structures() -> Iterator[list[str]]:
        while some := list(islice(file.records, chunk_size)):
            waiting.append(some)
            yield [record.structure for record in some]

    total = 0
    try:
        with progress_bar(verbose, None) as bar:
            for graphs, positions, problems in map_processes(parse, structures(), n_jobs):
                some = waiting.popleft()
                unreadable.add([file.problem(some[at], reason) for at, reason in problems])
                total += len(some)
                bar.update(len(some))
                if len(positions):
                    columns = record_columns([some[at] for at in positions])
                    yield graphs.with_columns(_with_id(columns, id)), list(columns)
    finally:
        unreadable.warn(total)


def _with_id(columns: dict[str, np.ndarray], id: str | None) -> dict[str, np.ndarray]:
    """Return columns with the ids of the molecules, from a column of a usual name by default."""
    if id is None:
        usual = {name.lower(): name for name in reversed(columns)}
        id = next((usual[name] for name in ID_NAMES if name in usual), None)
    return columns if id is None else columns | {"id": columns[the_column(columns, id, "ids")]}


def _after(file: MoleculeFile, line: int) -> Iterator[Record]:
    """Yield the records after a line; raise an error if the file has none at all."""
    empty = True
    for record in file.records:
        empty = False
        if record.line > line:
            yield record
    if empty:
        raise no_molecule(file.name)


def no_molecule(name: str) -> InvalidFileError:
    """Return the error for a file that is empty or only has a header."""
    return InvalidFileError(f"{name} holds no molecule. Is it the right file?")


def record_columns(records: list[Record], fields: Iterable[str] = ()) -> dict[str, np.ndarray]:
    """Return all fields of the records as columns of text, and their line numbers.

    A field called line, such as a cell line, becomes the column input_line. ``fields`` get a column
    even if no record has them.
    """
    names = dict.fromkeys([*fields, *(name for record in records for name in record.fields)])
    columns = {
        shown: np.array([record.fields.get(name, "") for record in records], dtype=str)
        for name, shown in names_beside({"line"}, names).items()
    }
    columns["line"] = np.array([record.line for record in records], dtype=np.int64)
    return columns


#: Markers of missing values, as in pandas.
MISSING = frozenset(
    {
        *("", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "NULL", "null", "None"),
        *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
    }
)


#: Codes that would lose characters as numbers: 007, and 12_3, which Python reads as 123.
_CODE = re.compile(r"\s*[+-]?0[0-9]|.*_")


def missing_values(values: np.ndarray) -> np.ndarray:
    """Return a mask of the missing entries of a column: NaN, None and the markers in MISSING."""
    if values.dtype.kind not in "OUS":
        return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
    return np.array(
        [
            value.strip() in MISSING if isinstance(value, str) else value is None or value != value
            for value in values.tolist()
        ],
        dtype=bool,
    )


def stray_text(values: np.ndarray) -> int | None:
    """Return the position of a text in a column that otherwise holds many different numbers.

    A few numbers beside texts, such as the assays 1, 2 and x, are categories.
    """
    if values.dtype.kind != "U" or typed(values).dtype.kind != "U":
        return None
    texts, numbers = [], set()
    for row in np.flatnonzero(~missing_values(values)).tolist():
        if (number := _number(values[row])) is None:
            texts.append(row)
        else:
            numbers.add(number)
    return texts[0] if len(numbers) > 10 * len(texts) > 0 else None


def typed(values: np.ndarray) -> np.ndarray:
    """Convert text to integers or floats (missing: NaN) if all entries are numbers.

    Other columns, also of codes such as 007 and 12_3 and of integers that a float would round, stay
    strings, with empty strings for missing values.
    """
    if values.dtype.kind != "U":
        return values
    missing = missing_values(values)
    if missing.all():
        return np.full(len(values), "", dtype=str)
    present = values[~missing].tolist()
    if any(_CODE.match(value) for value in present):
        return np.where(missing, "", values)
    with contextlib.suppress(ValueError):
        whole = [int(value) for value in present]
        if not missing.any() and all(-(2**63) <= number < 2**63 for number in whole):
            return np.array(whole, dtype=np.int64)
        if whole != [float(value) for value in present]:
            return np.where(missing, "", values)
    numbers = [_number(value) for value in present]
    if None in numbers:
        return np.where(missing, "", values)
    filled = np.full(len(values), np.nan)
    filled[~missing] = numbers
    return filled


def _number(text: str) -> float | None:
    """Return the number that a text stands for; Python alone reads 12_3 as 123."""
    with contextlib.suppress(ValueError):
        return None if "_" in text else float(text)
    return None


# -------------------------------------------------------------------- formats


def smiles_records(lines: Iterable[str]) -> Iterator[Record]:
    """Yield the molecules of a SMILES file; blank lines are skipped but counted as lines."""
    for number, line in enumerate(lines, start=1):
        fields = line.split(None, 1)
        if fields:
            name = fields[1].strip() if len(fields) > 1 else ""
            yield Record(number, fields[0], {"smiles": fields[0], "name": name})


def table_records(
    name: str, lines: Iterator[str], tabs: bool, smiles: str | None
) -> Iterator[Record]:
    """Yield the molecules of a table, one per row.

    Fields are separated by tabs (if ``tabs`` is True) or commas, or by semicolons or tabs if the
    header has none of these, or by spaces if the first row then has as many words as the header.
    """
    head = list(islice(lines, 2))
    usual = "\t" if tabs else ","
    sign = next((sign for sign in (usual, ";", "\t") if sign in "".join(head[:1])), None)
    words = [len(line.split()) for line in head]
    by_spaces = sign is None and len(words) == 2 and words[0] == words[1] > 1
    # one limit for the csv module as a whole: it is only raised, to that of a line
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))
    reader = csv.reader(
        (line.strip() + "\n" if by_spaces else line for line in chain(head, lines)),
        delimiter=" " if by_spaces else sign or usual,
        skipinitialspace=by_spaces,
        strict=True,
    )
    try:
        header = [column.strip() for column in next(reader, [])]
        column = _smiles_column(name, header, smiles)
        line = reader.line_num + 1
        for row in reader:
            if row:
                if len(row) != len(header):
                    raise InvalidFileError(
                        f"{name}, line {line}: {len(header)} fields are expected, as in the "
                        f"header; found {len(row)}."
                    )
                yield Record(line, row[column], dict(zip(header, row, strict=True)))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InvalidFileError(
            f"{name}, line {reader.line_num}: {error}. Is a quotation mark not closed?"
        ) from None


def _smiles_column(name: str, header: list[str], smiles: str | None) -> int:
    if not any(header):
        raise InvalidFileError(f"{name} is empty: a table begins with the names of its columns.")
    twice = next((column for column in header if header.count(column) > 1), None)
    if twice is not None:
        raise InvalidFileError(f"{name}, line 1: the column {twice!r} occurs twice.")
    for number, column in enumerate(header):
        if "smiles" in column.lower() if smiles is None else column == smiles:
            return number
    if smiles is not None:
        raise InvalidParameterError(
            f"The table has no column {smiles!r}; {name} has {', '.join(header[:20])}."
        )
    if {"source", "target"} <= {column.lower() for column in header}:
        raise InvalidFileError(
            f"{name} is a table of edges: its columns are {', '.join(header[:20])}. Tables of "
            "edges are read in Python, with graphgrain.from_edge_list(pandas.read_csv(path), "
            "graph='...'), where graph is the column that says to which graph an edge belongs; "
            "graphgrain.save_tu writes them as a data set for the command line."
        )
    raise InvalidFileError(
        f"{name}, line 1: no column is called SMILES; there are {', '.join(header[:20])}. Name it "
        "(smiles in Python, --smiles on the command line); a file without a header must be called "
        ".smi."
    )


#: Maximum length of a record, so that a file without ``$$$$`` lines does not fill the memory.
MAX_RECORD = 64 * MIB


def sdf_records(name: str, lines: Iterable[str]) -> Iterator[Record]:
    """Yield the molecules of an SDF file.

    Records end with a line ``$$$$``; the structure is followed by ``> <property>`` blocks.
    """
    record: list[str] = []
    start, size = 1, 0
    for number, line in enumerate(chain(lines, ["$$$$\n"]), start=1):
        if line.startswith("$$$$"):
            if any(part.strip() for part in record):
                yield _record(start, record)
            record, start, size = [], number + 1, 0
            continue
        record.append(line)
        size += len(line)
        if size > MAX_RECORD:
            raise InvalidFileError(
                f"{name}, line {start}: a record must not be longer than {MAX_RECORD:,} "
                "characters. Records end with a line $$$$."
            )


def _record(start: int, lines: list[str]) -> Record:
    end = next((n for n, line in enumerate(lines) if line.startswith("M  END")), len(lines) - 1)
    properties = {"name": lines[0].strip()}
    key: str | None = None
    values: list[str] = []
    for line in [*lines[end + 1 :], "> <>"]:
        if line.startswith(">") and "<" in line:
            if key:
                properties[key] = "".join(values).strip()
            key, values = line[line.index("<") + 1 :].partition(">")[0], []
        else:
            values.append(line)
    return Record(start, "".join(lines[: end + 1]), properties)
