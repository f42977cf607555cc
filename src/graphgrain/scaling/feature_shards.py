"""Write and read features in a folder of shards.

``npz``
    ``shard-00000.npz`` can be read with ``scipy.sparse.load_npz``; ``shard-00000.csv`` has one line
    of metadata per row of the matrix.
``parquet``
    ``shard-00000.parquet`` has one row per graph, with the columns of the input and the lists
    ``feature_columns`` and ``feature_values``.

Each shard has a receipt, ``shard-00000.json``, which is written last. It lists the shard's files
with their sizes and SHA-256, and the SHA-256 of the input that they were computed from. A shard is
finished if its receipt exists and agrees with the files. ``manifest.json`` contains the settings
and all receipts; a shard is only read if its files agree with the manifest and their content is
valid.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from sklearn.base import clone

from ..archives import Format, parsed_json, read_npz
from ..errors import InvalidFileError, InvalidParameterError, UnwritableFileError, needed
from ..graphs.batch import GraphBatch, counted
from ..graphs.convert.rdkit import LabelFlags, LabelOptions, Unreadable, parse_molecules
from ..graphs.files.molecules import (
    MoleculeFile,
    Record,
    is_molecule_file,
    missing_values,
    no_molecule,
    record_columns,
    typed,
)
from ..graphs.processes import map_processes, progress_bar
from ..graphs.streams import CHUNK_SIZE, Chunk, as_chunks
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.bases.graph_kernel import OUTPUT_PARAMETERS
from ..kernels.registry import kernel_to_json
from ..kernels.tree_plus_plus import TreePlusPlus
from ..parameters import Whole, check_value
from ..writing import atomic_write, delete_if_free, write_csv

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FORMATS = ("npz", "parquet")
#: Names of the two columns of a Parquet file that hold the features.
PARQUET_COLUMNS, PARQUET_VALUES = "feature_columns", "feature_values"
MANIFEST = "manifest.json"
#: Format of the folder. Since version 2, receipts record which columns are numeric.
FOLDER = Format("graphgrain features", b"", 2, "Make the features again in another folder")
_AGAIN = "Run the command that created the folder again to recompute what is missing"


class Shard(NamedTuple):
    """A block of rows of the features, with metadata.

    Attributes
    ----------
    X : sparse array
        Features, with one row per graph.
    columns : dictionary of arrays
        Columns of the input, as returned by :func:`load_molecules`: numbers if all values of the
        column are numeric in all shards (blanks become NaN), otherwise strings.

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
    """Features written by :func:`save_features`, read shard by shard.

    Iterate over it, or index it with the number of a shard, to get :class:`Shard` tuples.

    Parameters
    ----------
    folder : path
        Folder passed to :func:`save_features`.

    Attributes
    ----------
    manifest : dictionary
        Settings of the features, and the receipts of all shards.

    Examples
    --------
    Train on more molecules than fit in memory:

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
                f"The features in {str(self.folder)!r} are not complete. {_AGAIN}."
            )
        if not _is_complete(manifest):
            raise InvalidFileError(
                f"{self.folder.name}/{MANIFEST} is damaged: entries are missing or invalid. "
                f"{FOLDER.remedy}."
            )
        self.manifest: dict[str, Any] = manifest

    def __len__(self) -> int:
        return len(self.manifest["shards"])

    @property
    def shape(self) -> tuple[int, int]:
        """Total number of rows, and number of columns."""
        return self.manifest["rows"], self.manifest["n_features"]

    def __repr__(self) -> str:
        rows, columns = self.shape
        return (
            f"FeatureShards({counted(len(self), 'shard')}, {counted(rows, 'row')}, "
            f"{counted(columns, 'column')}, "
            f"{self.manifest['kernel']['class']})"
        )

    def __getitem__(self, number: int) -> Shard:
        if not -len(self) <= number < len(self):
            raise IndexError(f"Shard {number} is out of range: there are {len(self)}.")
        return read_shard(self.folder, number % len(self), self.manifest)

    def __iter__(self) -> Iterator[Shard]:
        return (self[number] for number in range(len(self)))

    def check(self) -> None:
        """Verify the checksums of all files, and raise an error for the first that differs."""
        for number, said in enumerate(self.manifest["shards"]):
            if read_receipt(self.folder, number) != said:
                raise InvalidFileError(
                    f"{self.folder.name}/{shard_name(number)} is missing or not what was written. "
                    f"{_AGAIN}."
                )


# -------------------------------------------------------------------- files


def shard_name(number: int) -> str:
    """Return the name of a shard's files without suffix."""
    return f"shard-{number:05d}"


def write_shard(
    folder: Path, number: int, form: str, X: csr_array, columns: dict[str, np.ndarray]
) -> list[str]:
    """Write the files of a shard, each atomically, and return their names."""
    name = shard_name(number)
    if form == "parquet":
        with atomic_write(folder / f"{name}.parquet", "The shard") as file:
            _write_parquet(file, X, columns)
        return [f"{name}.parquet"]
    from scipy.sparse import save_npz

    with atomic_write(folder / f"{name}.npz", "The shard") as file:
        save_npz(file, X, compressed=False)
    lists = [values.tolist() for values in columns.values()] or [range(X.shape[0])]
    write_csv(folder / f"{name}.csv", [list(columns) or ["row"], *zip(*lists, strict=True)])
    return [f"{name}.npz", f"{name}.csv"]


def read_shard(folder: Path, number: int, manifest: dict[str, Any]) -> Shard:
    """Read a shard; raise an error if its files differ from the manifest."""
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
    blank = np.full(rows, "", dtype=str)
    kinds = dict.fromkeys(columns) | manifest["columns"]  # a shard can lack columns of others
    return Shard(X, {key: _as_kind(columns.get(key, blank), kind) for key, kind in kinds.items()})


def _read_npz(stem: Path, n_features: int) -> tuple[csr_array, dict[str, np.ndarray]]:
    parts = read_npz(stem.with_suffix(".npz"), "a shard of features", _AGAIN)
    form = str(parts["format"].item())
    if form not in ("csr", "b'csr'") or parts["shape"].tolist()[1:] != [n_features]:
        raise ValueError(f"it is not a CSR matrix with {n_features:,} columns")
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
    """Create a sparse matrix after checking its indices, which SciPy uses in compiled code."""
    from scipy.sparse import csr_array

    integers = indices.dtype.kind == indptr.dtype.kind == "i" and data.dtype.kind == "f"
    if not integers or not data.ndim == indices.ndim == indptr.ndim == 1:
        raise ValueError("it is not a CSR matrix")
    if len(indptr) != rows + 1 or indptr[0] != 0 or (np.diff(indptr) < 0).any():
        raise ValueError("its rows do not follow each other")
    if not indptr[-1] == len(indices) == len(data):
        raise ValueError("its rows do not end where it does")
    if len(indices) and not (indices.min() >= 0 and indices.max() < columns):
        raise ValueError("an entry is outside of the matrix")
    return csr_array((data, indices, indptr), shape=(rows, columns))


# -------------------------------------------------------------------- columns


def _kind(values: np.ndarray) -> str:
    """Return the type of a column of a shard: integer, number, text or blank."""
    numeric = values.dtype.kind in "if" and values.ndim == 1
    found = values if numeric else typed(_as_text(values.tolist()))
    if found.dtype.kind == "i":
        return "integer"
    if found.dtype.kind == "f":
        return "number"
    return "text" if any(str(value) for value in found.tolist()) else "blank"


def _joined_kind(kinds: set[str]) -> str:
    """Combine the types of a column in all shards."""
    if "text" in kinds or kinds == {"blank"}:
        return "text"
    return "integer" if kinds == {"integer"} else "number"


def _as_text(values: list[Any]) -> np.ndarray:
    """Return values as they are written to a CSV file."""
    return np.array(["" if value is None else str(value) for value in values], dtype=str)


def _as_kind(values: np.ndarray, kind: Any) -> np.ndarray:
    """Convert text to integers or floats if the column has that type."""
    missing = missing_values(values)
    with suppress(ValueError):
        if kind == "integer":
            return np.array([int(value) for value in values.tolist()], dtype=np.int64)
        if kind == "number":
            numbers = np.full(len(values), np.nan)
            numbers[~missing] = [float(value) for value in values[~missing].tolist()]
            return numbers
    return np.where(missing, "", values)


# -------------------------------------------------------------------- manifest


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Read the manifest of a folder; None if there is none."""
    path = folder / MANIFEST
    if not path.is_file():
        return None
    manifest = parsed_json(path.read_bytes())
    if not isinstance(manifest, dict) or "version" not in manifest or "complete" not in manifest:
        raise InvalidFileError(
            f"{folder.name}/{MANIFEST} cannot be read. Restore it, or start in another folder."
        )
    FOLDER.check_version(manifest["version"], path)
    return manifest


def _is_complete(manifest: dict[str, Any]) -> bool:
    """Return whether a manifest has all entries with the right types."""
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
    """Write and return the receipt of a finished shard."""
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
    """Return the receipt of a shard if it exists and agrees with the files, otherwise None."""
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
    """Return the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -------------------------------------------------------------------- formats


def pyarrow() -> Any:
    """Import and return PyArrow."""
    with needed("Parquet files are written with PyArrow", "'graphgrain[parquet]'"):
        import pyarrow
        import pyarrow.parquet
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
    arrays = {}
    for name, values in columns.items():
        try:
            arrays[name] = pa.array(values)
        except pa.ArrowException:  # values of several types, or several for each row
            arrays[name] = pa.array(_as_text(values.tolist()))
    table = pa.table({**arrays, **lists})
    pa.parquet.write_table(table, file, compression="zstd", use_dictionary=False)


def _read_parquet(path: Path, n_features: int) -> tuple[csr_array, dict[str, np.ndarray]]:
    from scipy.sparse import csr_array

    pa = pyarrow()
    try:
        table = pa.parquet.read_table(path).combine_chunks()
    except pa.ArrowException as error:
        raise ValueError(error) from None
    columns = {
        name: _as_text(table[name].to_pylist())
        for name in table.column_names
        if name not in (PARQUET_COLUMNS, PARQUET_VALUES)
    }
    if not table.num_rows:
        return csr_array((0, n_features)), columns
    indices = table[PARQUET_COLUMNS].combine_chunks()
    values = table[PARQUET_VALUES].combine_chunks()
    parts = (values.values.to_numpy(), indices.values.to_numpy(), indices.offsets.to_numpy())
    return _checked_csr(*parts, table.num_rows, n_features), columns


# -------------------------------------------------------------------- computing features
#
# 1. The input is split into shards by position: shard k starts at molecule (or graph)
#    ``k * shard_size``, counting unreadable molecules as well. Shards are therefore independent.
# 2. A process parses the molecules of a shard, computes their features (columns are hashes, so
#    nothing is fitted) and writes the files, then the receipt.
# 3. Shards with a valid receipt for the same input are not computed again.
# 4. When all shards are finished, the manifest is marked as complete.

SHARD_SIZE = 20_000


def save_features(
    source: Any,
    folder: str | os.PathLike[str],
    kernel: Any = None,
    *,
    n_features: int = 2**20,
    shard_size: int = SHARD_SIZE,
    format: str = "npz",
    smiles: str | None = None,
    errors: str = "raise",
    n_jobs: int | None = None,
    verbose: int = 0,
    **labels: Unpack[LabelFlags],
) -> dict[str, Any]:
    """Write the features of any number of graphs to a folder, shard by shard.

    An interrupted call, even by a power failure, is resumed by the same call; at most the
    unfinished shards are computed again. The files do not depend on the number of processes.

    Parameters
    ----------
    source : path, GraphBatch or iterable of graphs
        Anything that :func:`as_chunks` accepts. To resume, it must give the same graphs in the
        same order again.
    folder : path
        Output folder, created if needed.
    kernel : kernel with explicit features, optional
        The default is ``TreePlusPlus()``.
    n_features : int, default=2**20
        Number of columns into which features are hashed (see the kernel's ``n_features``).
    shard_size : int, default=20000
        Number of molecules or graphs per shard.
    format : {"npz", "parquet"}, default="npz"
        ``"npz"`` writes SciPy sparse matrices, each with a CSV file that contains the columns of
        the input (names, targets). ``"parquet"`` writes one table per shard with these columns and
        the lists ``feature_columns`` and ``feature_values``.
    smiles : str, optional
        Column of SMILES in a file of molecules; see :func:`iter_molecules`.
    errors : {"raise", "skip"}, default="raise"
        Whether molecules that cannot be read raise an error or are skipped. Shards that were
        finished before an error are kept.
    n_jobs : int, optional
        Number of processes. None uses the current process only, -1 one process per core.
    verbose : int, default=0
        Show a progress bar if positive.
    charge, aromatic, hydrogens, stereo, isotopes, radicals : bool, default=False
        Properties encoded in the labels, for files of molecules; see :func:`from_rdkit`.

    Returns
    -------
    manifest : dictionary
        Contents of ``manifest.json``: settings, numbers of rows, and shards with checksums.

    See Also
    --------
    FeatureShards : Read the features.

    Examples
    --------
    >>> import graphgrain as gg, tempfile
    >>> graphs, _ = gg.load_drugs()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manifest = gg.save_features(graphs, folder, n_features=1024, shard_size=200)
    ...     [X.shape for X, columns in gg.FeatureShards(folder)]
    [(200, 1024), (92, 1024)]
    """
    if format not in FORMATS:
        raise InvalidParameterError(f"format must be one of {', '.join(FORMATS)}; got {format!r}.")
    check_value("shard_size", shard_size, Whole(1))
    if format == "parquet":
        pyarrow()  # fail early if it is not installed
    unreadable = Unreadable(errors)
    kernel = hashing_kernel(kernel, n_features)
    options = LabelOptions.of(labels)
    file, pieces = _pieces(source, int(shard_size), smiles, options)
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableFileError(
            f"The folder {str(place)!r} cannot be made: {error.strerror or error}. Choose another."
        ) from None
    settings = {
        "kernel": kernel_to_json(kernel, leave_out=OUTPUT_PARAMETERS),
        "n_features": int(n_features),
        "shard_size": int(shard_size),
        "format": format,
        "labels": options._asdict() if file else None,
        "smiles": smiles,
    }
    _begin_manifest(place, settings)
    finish = partial(
        finished_shard,
        place.absolute(),  # worker processes may have another working directory
        kernel,
        format,
        options,
        None if file is None else file._replace(records=iter(())),
    )
    receipts: list[dict[str, Any]] = []
    seen = 0
    try:
        with progress_bar(verbose, None) as bar:
            for receipt in map_processes(finish, enumerate(pieces), n_jobs):
                unreadable.add([text for _, text in receipt["problems"]])
                receipts.append(receipt)
                seen += receipt["input_rows"]
                bar.update(receipt["input_rows"])
    finally:
        unreadable.warn(seen)
    if file is not None and not seen:
        raise no_molecule(file.name)
    _tidy(place, len(receipts))
    kinds = [receipt["columns"] for receipt in receipts if receipt["rows"]]
    names = dict.fromkeys(name for columns in kinds for name in columns)
    manifest = {
        "version": FOLDER.version,
        "complete": True,
        **settings,
        "rows": sum(receipt["rows"] for receipt in receipts),
        "skipped": unreadable.count,
        "columns": {
            name: _joined_kind({columns.get(name, "blank") for columns in kinds}) for name in names
        },
        "shards": receipts,
    }
    _write_manifest(place, manifest)
    return manifest


def hashing_kernel(kernel: Any, n_features: int) -> Any:
    """Return an unfitted copy of the kernel that outputs features in hashed columns."""
    if kernel is None:
        kernel = TreePlusPlus()
    if not isinstance(kernel, FeatureKernel):
        raise InvalidParameterError(
            f"Features are those of a kernel that has n_features and output; got {kernel!r}. Use "
            "TreePlusPlus, WeisfeilerLehman, ShortestPath or another with explicit features."
        )
    chosen = clone(kernel).set_params(output="features", n_features=n_features, n_jobs=None)
    chosen.transform(GraphBatch.from_edges([1], [], [0]))  # validates the parameters early
    return chosen


def feature_matrix(kernel: Any, graphs: GraphBatch) -> csr_array:
    """Compute the features of a batch in chunks; integers up to 2**24 are stored as float32."""
    from scipy.sparse import csr_array, vstack

    parts = []
    for chunk, _ in as_chunks(graphs, chunk_size=CHUNK_SIZE):
        X = kernel.transform(chunk)
        if X.data.max(initial=0) <= 2**24 and np.array_equal(X.data, np.rint(X.data)):
            X = X.astype(np.float32)
        parts.append(X)
    if not parts:
        return csr_array((0, kernel.n_features), dtype=np.float32)
    return csr_array(vstack(parts, format="csr"))


def finished_shard(
    folder: Path,
    kernel: Any,
    form: str,
    labels: LabelOptions,
    file: MoleculeFile | None,
    task: tuple[int, list[Record] | Chunk],
) -> dict[str, Any]:
    """Return the receipt of a shard, after computing it unless it is already finished."""
    number, content = task
    there, digest = read_receipt(folder, number), _digest(content)
    if there is not None and there.get("input_sha256") == digest:
        return there
    problems: list[tuple[int, str]] = []
    if isinstance(content, Chunk):
        chunk, count = content, len(content.graphs)
    else:
        assert file is not None
        parsed = parse_molecules([record.structure for record in content], labels, file.blocks)
        for at, why in parsed.problems:
            problems.append((content[at].line, file.problem(content[at], why)))
        columns = record_columns([content[at] for at in parsed.positions])
        chunk, count = Chunk(parsed.graphs, columns), len(content)
    X = feature_matrix(kernel, chunk.graphs)
    # Remove the old receipt first, so that a mixture of old and new files is never valid.
    (folder / f"{shard_name(number)}.json").unlink(missing_ok=True)
    files = write_shard(folder, number, form, X, chunk.columns)
    about = {
        "rows": X.shape[0],
        "columns": {name: _kind(values) for name, values in chunk.columns.items()},
        "entries": int(X.nnz),
        "input_rows": count,
        "input_sha256": digest,
        "problems": problems,
    }
    return write_receipt(folder, number, files, about)


def _pieces(
    source: Any, shard_size: int, smiles: str | None, labels: LabelOptions
) -> tuple[MoleculeFile | None, Iterator[list[Record] | Chunk]]:
    """Return the file, if the source is one, and an iterator over the input of each shard."""
    if isinstance(source, str | os.PathLike) and is_molecule_file(Path(source)):
        file = MoleculeFile.opened(source, smiles)
        return file, iter(lambda: list(islice(file.records, shard_size)), [])
    if smiles is not None or labels != LabelOptions():
        raise InvalidParameterError(
            "smiles and the options of labels (charge, stereo, ...) are for files of molecules; "
            "other graphs have their labels already."
        )
    return None, as_chunks(source, chunk_size=shard_size)


def _digest(content: list[Record] | Chunk) -> str:
    """Return the SHA-256 of the input of a shard."""
    digest = hashlib.sha256()
    if isinstance(content, Chunk):
        graphs = content.graphs
        arrays: Sequence[Any] = (
            graphs.offsets, graphs.indptr, graphs.indices, graphs.labels, graphs.edge_labels,
            graphs.vertex_attributes, graphs.edge_attributes, *content.columns.values(),
        )  # fmt: skip
        for array in arrays:
            text = array is not None and array.dtype.kind in "OU"
            digest.update(repr(array.tolist() if text else (array is None)).encode())
            if array is not None and not text:
                digest.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
        digest.update(repr(list(content.columns)).encode())
    else:
        for record in content:
            digest.update(repr(tuple(record)).encode())
    return digest.hexdigest()


def _begin_manifest(folder: Path, settings: dict[str, Any]) -> None:
    """Check that the folder is empty or has the same settings, and write them."""
    there = read_manifest(folder)
    if there is None:
        for other in (entry.name for entry in folder.iterdir() if entry.name[0] != "."):
            raise InvalidParameterError(
                f"Features go to a folder of their own; {str(folder)!r} holds {other!r} and no "
                "features. Choose another."
            )
    else:
        old = _flat({name: there.get(name) for name in settings})
        for name, value in _flat(json.loads(json.dumps(settings))).items():
            if old.get(name) != value:
                raise InvalidParameterError(
                    f"The folder {str(folder)!r} holds features with {name}={old.get(name)!r}; "
                    f"requested is {value!r}. Use the same settings to resume, or another folder."
                )
    if there is None or not there.get("complete"):
        _write_manifest(folder, {"version": FOLDER.version, "complete": False, **settings})


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Flatten nested settings (the kernel's parameters, the labels)."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= _flat(value) if isinstance(value, dict) else {name: value}
    return flat


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    with atomic_write(folder / MANIFEST, "The manifest") as file:
        file.write(json.dumps(manifest, indent=1).encode())


def _tidy(folder: Path, count: int) -> None:
    """Remove shards of a formerly longer input, and temporary files of killed processes."""
    for file in folder.glob("shard-*"):
        number = file.stem.removeprefix("shard-")
        if number.isdigit() and int(number) >= count:
            delete_if_free(file)
    for file in folder.glob(".*.part"):
        delete_if_free(file)
