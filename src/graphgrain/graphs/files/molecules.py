"""Files of molecules of any format, read in chunks or in whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InvalidParameterError
from ..batch import GraphBatch
from ..convert.rdkit import from_rdkit, parse_mol_block, parse_smiles, rdkit, settle
from ..streams import CHUNK_SIZE, Chunk, check_chunk_size, join_chunks
from .record import Record
from .sdf import sdf_records
from .smiles import smiles_records
from .tables import table_records
from .text_lines import check_size, text_file, text_lines

KINDS = (".smi", ".smiles", ".csv", ".tsv", ".sdf", ".mol")


def is_molecule_file(path: Path) -> bool:
    """Whether the name of a file says that it holds molecules."""
    return _kind(path) in KINDS and not path.is_dir()


def _kind(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def iter_molecules(
    path: str | os.PathLike[str],
    *,
    chunk_size: int = CHUNK_SIZE,
    smiles: str | None = None,
    charge: bool = False,
    aromatic: bool = False,
    hydrogens: bool = False,
    errors: str = "raise",
) -> Iterator[Chunk]:
    """Read molecules from a file in chunks: memory does not grow with the length of the file.

    Parameters
    ----------
    path : path of a file
        ``.smi`` (a SMILES and optionally a name on each line), ``.csv`` and ``.tsv`` (a header,
        one column with SMILES) or ``.sdf``; each may be packed (``.csv.gz``).
    chunk_size : int
        How many molecules are read at a time.
    smiles : str, optional
        The column of a table that holds the SMILES; by default the first whose name contains
        "smiles".
    charge, aromatic, hydrogens : bool
        What the vertex labels tell; see :func:`from_rdkit`.
    errors : {"raise", "skip"}
        What happens with a molecule that cannot be read: an error that names its line, or the
        rest without it and a warning, at the end, that names all of them.

    Yields
    ------
    Chunk
        A pair ``(graphs, columns)``. The columns are ``"line"`` (an integer: where the molecule
        stands in the file) and everything else that the file says, as the text that it is: what
        is a number in one chunk may be none in the next. ``columns["active"].astype(float)``
        makes numbers of it.

    See Also
    --------
    load_molecules : All molecules of a file at once.

    Examples
    --------
    >>> import graphgrain as gg, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "three.smi")
    ...     _ = file.write_text("CCO ethanol\\nCN methylamine\\nC methane\\n")
    ...     for graphs, columns in gg.iter_molecules(file, chunk_size=2):
    ...         print(len(graphs), columns["line"], columns["name"])
    2 [1 2] ['ethanol' 'methylamine']
    1 [3] ['methane']
    """
    check_chunk_size(chunk_size)
    chem = rdkit()
    place = text_file(path)
    kind = _kind(place)
    if kind not in KINDS:
        raise InvalidParameterError(
            f"The name of a file of molecules must end in {', '.join(KINDS)} (or one of them and "
            f".gz); got {place.name!r}."
        )
    records = _records(place, kind, smiles)
    parse = parse_mol_block if kind in (".sdf", ".mol") else parse_smiles
    options = {"charge": charge, "aromatic": aromatic, "hydrogens": hydrogens}
    return _chunks(place.name, records, chunk_size, chem, parse, options, errors)


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
        How many bytes are read at most. The default is 1 GiB; for packed files a hundred times
        their size, but 64 MiB to 1 GiB.

    Returns
    -------
    graphs : GraphBatch
    columns : dictionary of arrays
        One entry per graph: ``"line"`` (where it stands in the file), and the columns of a
        table, the ``"name"`` in a ``.smi`` file, or the ``"name"`` and properties of an
        ``.sdf``. Columns are integers or floats (missing: NaN) if all their entries are, else
        strings. A target is one of them: ``y = columns["active"]``.

    See Also
    --------
    iter_molecules : The same in chunks, for files of any size.

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
    place = text_file(path)
    check_size(place, max_bytes)
    chunks = iter_molecules(
        place,
        smiles=smiles,
        charge=charge,
        aromatic=aromatic,
        hydrogens=hydrogens,
        errors=errors,
    )
    graphs, columns = join_chunks(list(chunks))
    return graphs, {name: _typed(values) for name, values in columns.items()}


def _records(place: Path, kind: str, smiles: str | None) -> Iterator[Record]:
    lines = text_lines(place)
    if kind in (".sdf", ".mol"):
        return sdf_records(place.name, lines)
    if kind in (".csv", ".tsv"):
        return table_records(place.name, lines, kind == ".tsv", smiles)
    return smiles_records(lines)


def _chunks(
    name: str,
    records: Iterator[Record],
    chunk_size: int,
    chem: Any,
    parse: Any,
    options: dict[str, bool],
    errors: str,
) -> Iterator[Chunk]:
    while some := list(islice(records, chunk_size)):
        molecules, problems = [], []
        for line, structure, _ in some:
            molecule = parse(chem, structure)
            molecules.append(molecule)
            if isinstance(molecule, str):
                start = structure.strip().split("\n")[0][:60]
                problems.append(f"{name}, line {line}, {start!r}: {molecule}")
        index = settle(molecules, problems, errors)
        graphs = from_rdkit([molecules[number] for number in index], **options)
        yield Chunk(graphs, _columns([some[number] for number in index]))


def _columns(records: list[Record]) -> dict[str, np.ndarray]:
    names = dict.fromkeys(name for record in records for name in record.fields)
    columns = {
        name: np.array([record.fields.get(name, "") for record in records], dtype=str)
        for name in names
    }
    columns["line"] = np.array([record.line for record in records], dtype=np.int64)
    return columns


def _typed(values: np.ndarray) -> np.ndarray:
    """Integers or floats if all entries are (empty: NaN), else the strings as they are."""
    if values.dtype.kind != "U" or not (values != "").any():
        return values
    items = values.tolist()
    for convert, empty in ((int, None), (float, "nan")):
        try:
            numbers: list[Any] = [convert(value.strip() or empty) for value in items]  # type: ignore[arg-type]
            return np.array(numbers, dtype=np.int64 if convert is int else np.float64)
        except (ValueError, TypeError, OverflowError):
            continue
    return values
