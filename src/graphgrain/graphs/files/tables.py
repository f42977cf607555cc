"""Tables of molecules (``.csv``, ``.tsv``): a header, and one column with SMILES."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain

from ...errors import InvalidFileError, InvalidParameterError
from .record import Record


def table_records(
    name: str, lines: Iterator[str], tabs: bool, smiles: str | None
) -> Iterator[Record]:
    """The molecules of a table, one per row.

    Parameters
    ----------
    name : str
        What messages call the file.
    lines : iterator of str
    tabs : bool
        Fields are separated by tabs, else by commas, or semicolons if the header has no comma.
    smiles : str, optional
        The column with the SMILES; by default the first whose name contains "smiles".
    """
    first = next(lines, "")
    delimiter = "\t" if tabs else ","
    if delimiter not in first and ";" in first:
        delimiter = ";"
    # The field limit is a setting of the whole csv module: leave it, and report what it refuses.
    reader = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
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
        raise InvalidFileError(f"{name}, line {reader.line_num}: {error}.") from None


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
