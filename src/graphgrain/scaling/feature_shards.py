"""Features in a folder: shards of rows, a receipt for each, a manifest, and how they are read.

``npz``
    ``shard-00000.npz`` is read by ``scipy.sparse.load_npz``; ``shard-00000.csv`` beside it has one
    row per row of the matrix.
``parquet``
    ``shard-00000.parquet`` has one row per graph: the columns of the input, and the lists
    ``feature_columns`` and ``feature_values``.

The receipt ``shard-00000.json`` is written last. It names the shard's files with their sizes and
SHA-256, and the SHA-256 of the input that they were made from: a shard counts as finished if its
receipt is there and all of it is still true. ``manifest.json`` has the settings and all receipts; a
shard is read only if its files are those that the manifest names, and their content is checked.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..archives import Format, parsed_json, read_npz
from ..errors import InvalidFileError, InvalidParameterError, MissingDependencyError
from ..graphs.files.molecules import typed
from ..writing import atomic_write

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FORMATS = ("npz", "parquet")
#: Names of the lists in a Parquet file that are not columns of the input.
PARQUET_COLUMNS, PARQUET_VALUES = "feature_columns", "feature_values"
MANIFEST = "manifest.json"
#: The layout of the folder. Since version 2 receipts tell which columns are numbers.
FOLDER = Format("graphgrain features", b"", 2, "Make the features again in another folder")
#: What a column is: the type of its values when they are read.
_KINDS = ("integer", "number", "text", "blank")
_AGAIN = "Make it again: the command that made the folder goes on with what is missing"


class Shard(NamedTuple):
    """Some rows of the features, and what is known about each of them.

    Attributes
    ----------
    X : sparse array
        One row per graph.
    columns : dictionary of arrays
        The other columns of the input, as :func:`load_molecules` gives them: numbers where all
        values of the column are, in all shards (a blank is NaN), else text.

    Examples
    --------
    >>> import graphgrain as gg, tempfile
    >>> graphs = gg.load_drugs()[0][:30]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = gg.save_features(graphs, folder, n_features=512, shard_size=20)
    ...     [shard.X.shape for shard in gg.FeatureShards(folder)]
    [(20, 512), (10, 512)]
    """

    X: csr_array
    columns: dict[str, np.ndarray]


class FeatureShards:
    """The features in a folder that :func:`save_features` has written, shard by shard.

    Parameters
    ----------
    folder : path

    Attributes
    ----------
    manifest : dictionary
        How the features were made, and the receipts of all shards.

    Examples
    --------
    Train on more molecules than memory holds:

    >>> import graphgrain as gg, pathlib, tempfile
    >>> from sklearn.linear_model import SGDClassifier
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pathlib.Path(folder, "alcohols.csv")
    ...     rows = [f"{'C' * n}O,1" for n in range(1, 40)] + [f"{'C' * n}N,0" for n in range(1, 40)]
    ...     _ = table.write_text("\\n".join(["smiles,alcohol", *rows]))
    ...     _ = gg.save_features(table, f"{folder}/features", n_features=512, shard_size=30)
    ...     shards = gg.FeatureShards(f"{folder}/features")
    ...     model = SGDClassifier(random_state=0)
    ...     for X, columns in shards:
    ...         model = model.partial_fit(X, columns["alcohol"], classes=[0, 1])
    >>> shards
    FeatureShards(3 shards, 78 rows, 512 columns, TreePlusPlus)
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        manifest = read_manifest(self.folder)
        if manifest is None:
            raise InvalidFileError(
                f"{str(self.folder)!r} holds no features: there is no manifest.json in it."
            )
        if not manifest["complete"]:
            raise InvalidFileError(
                f"The features in {str(self.folder)!r} are not complete. Call what made them "
                "again: it goes on with what is missing."
            )
        if not _is_complete(manifest):
            raise InvalidFileError(
                f"{self.folder.name}/{MANIFEST} is damaged: it does not say what was written. "
                f"{FOLDER.remedy}."
            )
        self.manifest: dict[str, Any] = manifest

    def __len__(self) -> int:
        return len(self.manifest["shards"])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows of all shards together, and columns."""
        return self.manifest["rows"], self.manifest["n_features"]

    def __repr__(self) -> str:
        rows, columns = self.shape
        return (
            f"FeatureShards({len(self):,} shards, {rows:,} rows, {columns:,} columns, "
            f"{self.manifest['kernel']['class']})"
        )

    def __getitem__(self, number: int) -> Shard:
        if not -len(self) <= number < len(self):
            raise IndexError(f"Shard {number} is out of range: there are {len(self)}.")
        return Shard(*read_shard(self.folder, number % len(self), self.manifest))

    def __iter__(self) -> Iterator[Shard]:
        return (self[number] for number in range(len(self)))

    def check(self) -> None:
        """Compare all files with their checksums; an error names the first that differs."""
        for number, said in enumerate(self.manifest["shards"]):
            if read_receipt(self.folder, number) != said:
                raise InvalidFileError(
                    f"{self.folder.name}/{shard_name(number)} is missing or not what was written. "
                    "Call what made the features again: it makes what is missing."
                )


# -------------------------------------------------------------------- files


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
    folder: Path, number: int, manifest: dict[str, Any]
) -> tuple[csr_array, dict[str, np.ndarray]]:
    """The matrix of a shard and the columns beside it, if they are what was written."""
    name, said = shard_name(number), manifest["shards"][number]
    n_features, rows = manifest["n_features"], said["rows"]
    try:
        for file, known in said["files"].items():
            if file_digest(folder / Path(file).name) != known["sha256"]:
                raise ValueError(f"{file} is not what was written")
        if manifest["format"] == "parquet":
            X, columns = _read_parquet(folder / f"{name}.parquet", n_features)
        else:
            X, columns = _read_npz(folder / name, n_features)
        if X.shape[0] != rows or any(len(values) != rows for values in columns.values()):
            raise ValueError(f"there are not {rows:,} rows")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        raise InvalidFileError(f"{folder.name}/{name} cannot be read: {error}. {_AGAIN}.") from None
    kinds = manifest["columns"]
    return X, {key: _as_kind(values, kinds.get(key)) for key, values in columns.items()}


def _read_npz(stem: Path, n_features: int) -> tuple[csr_array, dict[str, np.ndarray]]:
    parts = read_npz(stem.with_suffix(".npz"), "a shard of features", _AGAIN)
    form = str(parts["format"].item())
    if form not in ("csr", "b'csr'") or parts["shape"].tolist()[1:] != [n_features]:
        raise ValueError(f"it is no matrix by rows with {n_features:,} columns")
    rows = int(parts["shape"][0])
    X = _checked_csr(parts["data"], parts["indices"], parts["indptr"], rows, n_features)
    with open(stem.with_suffix(".csv"), newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    values = list(zip(*lines, strict=True)) or [()] * len(header)
    columns = {key: np.array(items, dtype=str) for key, items in zip(header, values, strict=True)}
    return X, columns


def _checked_csr(
    data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, rows: int, columns: int
) -> csr_array:
    """A sparse matrix whose pointers lead somewhere: SciPy follows them in compiled code."""
    from scipy.sparse import csr_array

    integers = indices.dtype.kind == indptr.dtype.kind == "i" and data.dtype.kind == "f"
    if not integers or not data.ndim == indices.ndim == indptr.ndim == 1:
        raise ValueError("it is no matrix by rows")
    if len(indptr) != rows + 1 or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        raise ValueError("its rows do not follow each other")
    if not indptr[-1] == len(indices) == len(data):
        raise ValueError("its rows do not end where it does")
    if len(indices) and not (indices.min() >= 0 and indices.max() < columns):
        raise ValueError("an entry is outside of the matrix")
    return csr_array((data, indices, indptr), shape=(rows, columns))


# -------------------------------------------------------------------- columns


def column_kinds(columns: dict[str, np.ndarray]) -> dict[str, str]:
    """What the columns of a shard hold: integers, numbers, text, or nothing but blanks."""
    return {name: _kind(values) for name, values in columns.items()}


def _kind(values: np.ndarray) -> str:
    found = typed(values)
    if found.dtype.kind in "iub":
        return "integer"
    if found.dtype.kind == "f":
        return "number"
    return "text" if any(str(value) for value in found.tolist()) else "blank"


def joined_kinds(shards: Iterable[dict[str, str]]) -> dict[str, str]:
    """What the columns of all shards hold."""
    kinds: dict[str, set[str]] = {}
    for shard in shards:
        for name, kind in shard.items():
            kinds.setdefault(name, set()).add(kind)
    return {
        name: "text"
        if "text" in found or found == {"blank"}
        else "integer"
        if found == {"integer"}
        else "number"
        for name, found in kinds.items()
    }


def _as_kind(values: np.ndarray, kind: Any) -> np.ndarray:
    """Text as the numbers that it is."""
    if kind not in ("integer", "number"):
        return values
    try:
        if kind == "integer":
            return np.array([int(value) for value in values.tolist()], dtype=np.int64)
        return np.array([float(value.strip() or "nan") for value in values.tolist()])
    except ValueError:
        return values


# -------------------------------------------------------------------- manifest


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """The manifest of a folder, or None where there is none."""
    path = folder / MANIFEST
    if not path.is_file():
        return None
    manifest = parsed_json(path.read_bytes())
    if not isinstance(manifest, dict) or "version" not in manifest or "complete" not in manifest:
        raise InvalidFileError(
            f"{folder.name}/{MANIFEST} cannot be read. Restore it, or begin anew in another folder."
        )
    FOLDER.check_version(manifest["version"], path)
    return manifest


def _is_complete(manifest: dict[str, Any]) -> bool:
    """Whether a manifest says what it must, in the types that it must have."""
    shards = manifest.get("shards")
    return (
        isinstance(shards, list)
        and all(
            isinstance(shard, dict)
            and type(shard.get("rows")) is int
            and isinstance(shard.get("files"), dict)
            for shard in shards
        )
        and manifest.get("rows") == sum(shard["rows"] for shard in shards)
        and type(manifest.get("n_features")) is int
        and 0 < manifest["n_features"] < 2**31
        and manifest.get("format") in FORMATS
        and isinstance(manifest.get("columns"), dict)
        and isinstance(manifest.get("kernel"), dict)
        and isinstance(manifest["kernel"].get("class"), str)
    )


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
    return _checked_csr(*parts, table.num_rows, n_features), columns
