"""Files of molecules: SMILES (.smi), tables (.csv, .tsv) and structures (.sdf)."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidFileError, InvalidParameterError
from ..batch import GraphBatch
from ..convert.rdkit import from_rdkit, parse_mol_block, parse_smiles, rdkit, settle
from .archive import read_file

KINDS = (".smi", ".smiles", ".csv", ".tsv", ".sdf", ".mol")

# One molecule of a file: its first line, the text of its structure, and all else that is known.
_Record = tuple[int, str, dict[str, str]]


def load_molecules(
    path: str | os.PathLike[str],
    *,
    smiles: str | None = None,
    charge: bool = False,
    aromatic: bool = False,
    hydrogens: bool = False,
    errors: str = "raise",
    max_bytes: int | None = None,
) -> tuple[GraphBatch, dict[str, np.ndarray]]:
    """Load molecules from a file, with everything that the file says about them.

    Parameters
    ----------
    path : path of a file
        ``.smi`` (a SMILES and optionally a name on each line), ``.csv`` and ``.tsv`` (a header,
        one column with SMILES) or ``.sdf``; each may be packed (``.csv.gz``).
    smiles : str, optional
        The column of a table that holds the SMILES; by default the first whose name contains
        "smiles".
    charge, aromatic, hydrogens : bool
        What the vertex labels tell; see :func:`from_rdkit`.
    errors : {"raise", "skip"}
        What happens with a molecule that cannot be read: an error that names its line, or a
        warning that does, and the rest without it.
    max_bytes : int, optional
        How many bytes are read at most (by default 1 GiB; for packed files see
        :func:`load_tu`).

    Returns
    -------
    graphs : GraphBatch
    columns : dictionary of arrays
        One entry per graph: ``"line"`` (where it stands in the file), and the columns of a
        table, the ``"name"`` in a ``.smi`` file, or the ``"name"`` and properties of an
        ``.sdf``. Columns are integers or floats (missing: NaN) if all their entries are, else
        strings. A target is one of them: ``y = columns["active"]``.

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
    chem = rdkit()
    place, content = read_file(path, max_bytes)
    kind = Path(place.name.lower().removesuffix(".gz")).suffix
    text = _decoded(place.name, content)
    if kind in (".smi", ".smiles"):
        records = _smiles_lines(text)
    elif kind in (".csv", ".tsv"):
        records = _table_rows(place.name, text, kind, smiles)
    elif kind in (".sdf", ".mol"):
        records = _sdf_records(text)
    else:
        raise InvalidParameterError(
            f"The name of a file of molecules must end in {', '.join(KINDS)} (or one of them and "
            f".gz); got {place.name!r}."
        )
    parse = parse_mol_block if kind in (".sdf", ".mol") else parse_smiles
    molecules, problems = [], []
    for line, structure, _ in records:
        molecule = parse(chem, structure)
        molecules.append(molecule)
        if isinstance(molecule, str):
            start = structure.strip().split("\n")[0][:60]
            problems.append(f"{place.name}, line {line}, {start!r}: {molecule}")
    index = settle(molecules, problems, errors)
    graphs = from_rdkit(
        [molecules[number] for number in index],
        charge=charge,
        aromatic=aromatic,
        hydrogens=hydrogens,
    )
    return graphs, _columns([records[number] for number in index])


def _decoded(name: str, content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InvalidFileError(
            f"{name}, line {line}: UTF-8 text is expected; found the byte "
            f"{content[error.start : error.start + 1]!r}. Save the file as UTF-8."
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _smiles_lines(text: str) -> list[_Record]:
    records = []
    for number, line in enumerate(text.split("\n"), start=1):
        fields = line.strip().split(None, 1)
        if fields:
            records.append((number, fields[0], {"name": fields[1] if len(fields) > 1 else ""}))
    return records


def _table_rows(name: str, text: str, kind: str, smiles: str | None) -> list[_Record]:
    header_line = text.partition("\n")[0]
    delimiter = "\t" if kind == ".tsv" else ","
    if delimiter not in header_line and ";" in header_line:
        delimiter = ";"
    # The field limit is a setting of the whole csv module: leave it, and report what it refuses.
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        header = [column.strip() for column in next(reader, [])]
        column = _smiles_column(name, header, smiles)
        records = []
        line = reader.line_num + 1
        for row in reader:
            if row:
                if len(row) != len(header):
                    raise InvalidFileError(
                        f"{name}, line {line}: {len(header)} fields are expected, as in the "
                        f"header; found {len(row)}."
                    )
                records.append((line, row[column], dict(zip(header, row, strict=True))))
            line = reader.line_num + 1
    except csv.Error as error:
        raise InvalidFileError(f"{name}, line {reader.line_num}: {error}.") from None
    return records


def _smiles_column(name: str, header: list[str], smiles: str | None) -> int:
    twice = next((column for column in header if header.count(column) > 1), None)
    if twice is not None:
        raise InvalidFileError(f"{name}, line 1: the column {twice!r} occurs twice.")
    if smiles is None:
        found = [number for number, column in enumerate(header) if "smiles" in column.lower()]
        if found:
            return found[0]
        raise InvalidFileError(
            f"{name}, line 1: no column is called SMILES; there are {header[:20]}. Name it with "
            "smiles=... (a file without a header must be called .smi)."
        )
    if smiles not in header:
        raise InvalidParameterError(
            f"The table has no column {smiles!r}; {name} has {header[:20]}."
        )
    return header.index(smiles)


def _sdf_records(text: str) -> list[_Record]:
    """Records end with a line ``$$$$``; after the structure come ``> <property>`` blocks."""
    records: list[_Record] = []
    lines: list[str] = []
    start = 1
    for number, line in enumerate([*text.split("\n"), "$$$$"], start=1):
        if not line.startswith("$$$$"):
            lines.append(line)
            continue
        if any(part.strip() for part in lines):
            records.append((start, *_sdf_record(lines)))
        lines, start = [], number + 1
    return records


def _sdf_record(lines: list[str]) -> tuple[str, dict[str, str]]:
    end = next((n for n, line in enumerate(lines) if line.startswith("M  END")), len(lines) - 1)
    properties = {"name": lines[0].strip()}
    key: str | None = None
    values: list[str] = []
    for line in [*lines[end + 1 :], "> <>"]:
        if line.startswith(">") and "<" in line:
            if key:
                properties[key] = "\n".join(values).strip()
            key, values = line[line.index("<") + 1 :].partition(">")[0], []
        else:
            values.append(line)
    return "\n".join(lines[: end + 1]) + "\n", properties


def _columns(records: list[_Record]) -> dict[str, np.ndarray]:
    names = dict.fromkeys(name for _, _, fields in records for name in fields)
    columns = {name: _typed([fields.get(name, "") for _, _, fields in records]) for name in names}
    columns["line"] = np.array([line for line, _, _ in records], dtype=np.int64)
    return columns


def _typed(values: list[str]) -> np.ndarray:
    """Integers or floats if all entries are (empty: NaN), else the strings as they are."""
    if not any(values):
        return np.array(values, dtype=str)
    for convert, empty in ((int, None), (float, "nan")):
        try:
            numbers: list[Any] = [convert(value.strip() or empty) for value in values]  # type: ignore[arg-type]
            return np.array(numbers, dtype=np.int64 if convert is int else np.float64)
        except (ValueError, TypeError, OverflowError):
            continue
    return np.array(values, dtype=str)
