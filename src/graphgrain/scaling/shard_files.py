"""The files of one shard: a sparse matrix, what is known about its rows, and a receipt.

``npz``
    ``shard-00000.npz`` is read by ``scipy.sparse.load_npz``; ``shard-00000.csv`` beside it has one
    row per row of the matrix.
``parquet``
    ``shard-00000.parquet`` has one row per graph: the columns of the input, and the lists
    ``feature_columns`` and ``feature_values``.

The receipt ``shard-00000.json`` is written last. It names the shard's files with their sizes and
SHA-256, and the SHA-256 of the input that they were made from: a shard counts as finished if its
receipt is there and all of it is still true.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidFileError, InvalidParameterError, MissingDependencyError
from ..writing import atomic_write

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FORMATS = ("npz", "parquet")
#: Names of the lists in a Parquet file that are not columns of the input.
PARQUET_COLUMNS, PARQUET_VALUES = "feature_columns", "feature_values"


def shard_name(number: int) -> str:
    """The name of a shard's files, without what comes after the dot."""
    return f"shard-{number:05d}"


def write_shard(
    folder: Path, number: int, form: str, X: csr_array, columns: dict[str, np.ndarray]
) -> list[str]:
    """Write the files of a shard, each in whole or not at all; their names."""
    name = shard_name(number)
    if form == "parquet":
        with atomic_write(folder / f"{name}.parquet", "The shard") as file:
            _write_parquet(file, X, columns)
        return [f"{name}.parquet"]
    from scipy.sparse import save_npz

    with atomic_write(folder / f"{name}.npz", "The shard") as file:
        save_npz(file, X, compressed=False)
    with atomic_write(folder / f"{name}.csv", "The shard") as file:
        file.write(_csv(columns, X.shape[0]).encode())
    return [f"{name}.npz", f"{name}.csv"]


def read_shard(
    folder: Path, number: int, form: str, n_features: int
) -> tuple[csr_array, dict[str, np.ndarray]]:
    """The matrix of a shard and the columns beside it, as text."""
    name = shard_name(number)
    try:
        if form == "parquet":
            return _read_parquet(folder / f"{name}.parquet", n_features)
        from scipy.sparse import csr_array, load_npz

        with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        values = list(zip(*rows, strict=True)) or [()] * len(header)
        columns = {
            key: np.array(items, dtype=str) for key, items in zip(header, values, strict=True)
        }
        return csr_array(load_npz(folder / f"{name}.npz")), columns
    except (OSError, ValueError, KeyError) as error:
        raise InvalidFileError(
            f"{folder.name}/{name} cannot be read: {error}. Make it again: the command that made "
            "the folder goes on with what is missing."
        ) from None


# -------------------------------------------------------------------- receipts


def write_receipt(
    folder: Path, number: int, files: list[str], about: dict[str, Any]
) -> dict[str, Any]:
    """Say that a shard is finished; what is said."""
    receipt = {
        "shard": number,
        **about,
        "files": {
            name: {"bytes": (folder / name).stat().st_size, "sha256": file_digest(folder / name)}
            for name in files
        },
    }
    with atomic_write(folder / f"{shard_name(number)}.json", "The shard") as file:
        file.write(json.dumps(receipt, indent=1).encode())
    return receipt


def read_receipt(folder: Path, number: int) -> dict[str, Any] | None:
    """The receipt of a shard, if it is there and all its files are as it says."""
    try:
        receipt = json.loads((folder / f"{shard_name(number)}.json").read_bytes())
        for name, said in receipt["files"].items():
            file = folder / Path(name).name
            if file.stat().st_size != said["bytes"] or file_digest(file) != said["sha256"]:
                return None
        return receipt if receipt["shard"] == number else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -------------------------------------------------------------------- formats


def _csv(columns: dict[str, np.ndarray], rows: int) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = list(columns) or ["row"]
    writer.writerow(names)
    lists = [columns[name].tolist() for name in columns] or [list(range(rows))]
    writer.writerows(zip(*lists, strict=True))
    return text.getvalue()


def pyarrow() -> Any:
    """The package behind Parquet files."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependencyError(
            "Parquet files are written with PyArrow, which is not installed. Install it with: "
            "pip install 'graphgrain[parquet]'"
        ) from None
    return pyarrow


def _write_parquet(file: Any, X: csr_array, columns: dict[str, np.ndarray]) -> None:
    pa = pyarrow()
    taken = {PARQUET_COLUMNS, PARQUET_VALUES} & set(columns)
    if taken:
        raise InvalidParameterError(
            f"A column of the input must not be called {taken.pop()!r} in a Parquet file. Rename "
            "it, or write the format npz."
        )
    offsets = pa.array(X.indptr, type=pa.int32())
    lists = {
        PARQUET_COLUMNS: pa.ListArray.from_arrays(offsets, pa.array(X.indices, type=pa.int32())),
        PARQUET_VALUES: pa.ListArray.from_arrays(offsets, pa.array(X.data)),
    }
    table = pa.table({**{name: pa.array(values) for name, values in columns.items()}, **lists})
    pa.parquet.write_table(table, file, compression="zstd", use_dictionary=False)


def _read_parquet(path: Path, n_features: int) -> tuple[csr_array, dict[str, np.ndarray]]:
    from scipy.sparse import csr_array

    pa = pyarrow()
    try:
        table = pa.parquet.read_table(path).combine_chunks()
    except pa.ArrowException as error:
        raise ValueError(error) from None
    columns = {
        name: np.array([str(value) for value in table[name].to_pylist()], dtype=str)
        for name in table.column_names
        if name not in (PARQUET_COLUMNS, PARQUET_VALUES)
    }
    if not table.num_rows:
        return csr_array((0, n_features)), columns
    indices = table[PARQUET_COLUMNS].combine_chunks()
    values = table[PARQUET_VALUES].combine_chunks()
    parts = (values.values.to_numpy(), indices.values.to_numpy(), indices.offsets.to_numpy())
    return csr_array(parts, shape=(table.num_rows, n_features)), columns
