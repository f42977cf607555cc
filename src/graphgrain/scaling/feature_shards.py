"""Write and read features in a folder of Parquet files.

``shard-00000.parquet`` has one row per graph, with the columns of the input and the lists
``feature_columns`` and ``feature_values``. The metadata of each file hold its receipt: the SHA-256
of the settings and of the input that the features were computed from. ``_features.json`` contains
the settings and, once all shards are finished, their receipts.

1. The input is split into shards by position: shard k starts at molecule (or graph)
   ``k * shard_size``, counting unreadable molecules as well. Shards are therefore independent.
2. A process parses the molecules of a shard, computes their features (columns are hashes, so
   nothing is fitted) and writes the file, which is complete or absent.
3. A shard that can be read and has the right receipt is not computed again.
4. When all shards are finished, their receipts are written to ``_features.json``.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from sklearn.base import clone

from ..errors import InvalidFileError, InvalidParameterError, needed
from ..graphs.batch import GraphBatch, counted
from ..graphs.convert.rdkit import (
    LabelFlags,
    LabelOptions,
    Unreadable,
    parse_molecules,
    with_binaries,
)
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
from ..graphs.streams import CHUNK_SIZE, as_chunks
from ..kernels.bases.feature_kernel import FeatureKernel
from ..kernels.bases.graph_kernel import OUTPUT_PARAMETERS
from ..kernels.registry import kernel_to_json
from ..kernels.tree_plus_plus import TreePlusPlus
from ..parameters import Whole, check_value
from ..writing import atomic_write, delete_if_free, unwritable

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Names of the two columns that hold the features of a row.
FEATURE_COLUMNS, FEATURE_VALUES = "feature_columns", "feature_values"
#: Other programs ignore files whose names begin with an underscore.
MANIFEST = "_features.json"
SHARD_SIZE = 20_000
_VERSION = 3
_GRAPH_ARRAYS = (
    *("offsets", "indptr", "indices", "labels", "edge_labels"),
    *("vertex_attributes", "edge_attributes"),
)
_AGAIN = "Make the features again with the same call, which computes only what is missing"


class Shard(NamedTuple):
    """A block of rows of the features, with metadata.

    Attributes
    ----------
    X : sparse array
        Features, with one row per graph.
    columns : dictionary of arrays
        Columns of the input, as returned by :func:`load_molecules`: numbers if all values of the
        column are numeric in all shards (blanks become NaN), otherwise strings.
    """

    X: csr_array
    columns: dict[str, np.ndarray]


class FeatureShards:
    """Features in a folder, read shard by shard; see :func:`load_features`.

    Attributes
    ----------
    folder : Path
    manifest : dictionary
        Settings of the features, and the receipts of all shards.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        manifest = _read_manifest(self.folder)
        if manifest is None:
            raise InvalidFileError(
                f"{str(self.folder)!r} holds no features: there is no {MANIFEST} in it. Make them "
                "with save_features."
            )
        if not manifest["complete"]:
            raise InvalidFileError(
                f"The features in {str(self.folder)!r} are not complete. {_AGAIN}."
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
            f"{counted(columns, 'column')}, {self.manifest['kernel']})"
        )

    def __iter__(self) -> Iterator[Shard]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, number: int) -> Shard:
        if not -len(self) <= number < len(self):
            raise IndexError(f"Shard {number} is out of range: there are {len(self)}.")
        number %= len(self)
        path = self.folder / shard_name(number)
        receipt, X, columns = read_shard(path, self.manifest["n_features"])
        if receipt != self.manifest["shards"][number]:
            raise InvalidFileError(f"{str(path)!r} is not the shard that was written. {_AGAIN}.")
        blank = np.full(X.shape[0], "", dtype=str)  # a shard can lack columns of other shards
        kinds = self.manifest["columns"].items()
        try:
            values = {name: _converted(columns.get(name, blank), kind) for name, kind in kinds}
        except ValueError as error:
            raise InvalidFileError(f"{str(path)!r} cannot be read: {error}. {_AGAIN}.") from None
        return Shard(X, values)


def load_features(folder: str | os.PathLike[str]) -> FeatureShards:
    """Open features written by :func:`save_features`.

    Parameters
    ----------
    folder : path
        Folder passed to :func:`save_features`.

    Returns
    -------
    shards : sequence
        Each item is a pair ``(X, columns)`` of a sparse matrix and the columns of the input, read
        from disk when it is asked for. ``shards.shape`` is the shape of the whole matrix,
        ``shards.manifest`` contains the settings.

    See Also
    --------
    save_features : Write features.

    Examples
    --------
    Train on more molecules than fit in memory:

    >>> import graphgrain as gg, pathlib, tempfile
    >>> from sklearn.linear_model import SGDClassifier
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pathlib.Path(folder, "alcohols.csv")
    ...     rows = [f"{'C' * n}{'O' * (n % 2)},{n % 2}" for n in range(2, 80)]
    ...     _ = table.write_text("\\n".join(["smiles,alcohol", *rows]))
    ...     _ = gg.save_features(table, f"{folder}/features", n_features=512, shard_size=30)
    ...     shards = gg.load_features(f"{folder}/features")
    ...     model = SGDClassifier(random_state=0)
    ...     for X, columns in shards:
    ...         model = model.partial_fit(X, columns["alcohol"], classes=[0, 1])
    >>> shards
    FeatureShards(3 shards, 78 rows, 512 columns, TreePlusPlus)
    """
    return FeatureShards(folder)


def save_features(
    source: Any,
    folder: str | os.PathLike[str],
    kernel: Any = None,
    *,
    n_features: int = 2**20,
    shard_size: int = SHARD_SIZE,
    smiles: str | None = None,
    errors: str = "raise",
    n_jobs: int | None = None,
    verbose: int = 0,
    **labels: Unpack[LabelFlags],
) -> dict[str, Any]:
    """Write the features of any number of graphs to a folder of Parquet files.

    An interrupted call, even by a power failure, is resumed by the same call; at most the
    unfinished shards are computed again. The files do not depend on the number of processes.
    They can be read with :func:`load_features` or any program that reads Parquet: a row has the
    columns of the input (names, targets) and the lists ``feature_columns`` and
    ``feature_values``.

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
        Number of molecules or graphs per file.
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
        Settings, numbers of rows, and a receipt for each shard.

    See Also
    --------
    load_features : Read the features.

    Examples
    --------
    >>> import graphgrain as gg, tempfile
    >>> graphs, _ = gg.load_drugs()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     manifest = gg.save_features(graphs, folder, n_features=1024, shard_size=200)
    ...     [X.shape for X, columns in gg.load_features(folder)]
    [(200, 1024), (92, 1024)]
    """
    check_value("shard_size", shard_size, Whole(1))
    pyarrow()  # fail early if it is not installed
    unreadable = Unreadable(errors)
    kernel = hashing_kernel(kernel, n_features)
    options = LabelOptions.of(labels)
    file, inputs = _inputs(source, int(shard_size), smiles, options)
    description = kernel_to_json(kernel, leave_out=OUTPUT_PARAMETERS)
    settings = {
        "version": _VERSION,
        "kernel": description["class"],
        **description["parameters"],
        "n_features": int(n_features),
        "shard_size": int(shard_size),
        "smiles": smiles,
        **(options._asdict() if file else {}),
    }
    first = list(islice(inputs, 1))
    if file is not None and not first:
        raise no_molecule(file.name)
    root = Path(folder).absolute()  # worker processes may have another working directory
    _begin(root, settings)
    template = None if file is None else file._replace(records=iter(()))
    finish = partial(_finished_shard, root, kernel, options, template, json.dumps(settings))
    receipts: list[dict[str, Any]] = []
    total = 0
    try:
        with progress_bar(verbose, None) as bar:
            for receipt in map_processes(finish, enumerate(chain(first, inputs)), n_jobs):
                unreadable.add(receipt["problems"])
                receipts.append(receipt)
                total += receipt["input_rows"]
                bar.update(receipt["input_rows"])
    finally:
        unreadable.warn(total)
    # shards of a formerly longer input, and temporary files of killed processes
    finished = {shard_name(number) for number in range(len(receipts))}
    for path in [*root.glob("shard-*.parquet"), *root.glob(".*.part")]:
        if path.name not in finished:
            delete_if_free(path)
    kinds = [receipt["columns"] for receipt in receipts if receipt["rows"]]
    names = dict.fromkeys(name for columns in kinds for name in columns)
    summary = {
        "rows": sum(receipt["rows"] for receipt in receipts),
        "skipped": unreadable.count,
        "columns": {
            name: _joined_kind({columns.get(name, "") for columns in kinds}) for name in names
        },
        "shards": receipts,
    }
    return _write_manifest(root, {**settings, "complete": True, **summary})


# -------------------------------------------------------------------- computing a shard


def hashing_kernel(kernel: Any, n_features: int) -> Any:
    """Return an unfitted copy of the kernel that outputs features in hashed columns."""
    if kernel is None:
        kernel = TreePlusPlus()
    if not isinstance(kernel, FeatureKernel):
        raise InvalidParameterError(
            f"Features are those of a kernel that has n_features and output; got {kernel!r}. Use "
            "TreePlusPlus, WeisfeilerLehman, ShortestPath or another with explicit features."
        )
    hashing = clone(kernel).set_params(output="features", n_features=n_features, n_jobs=None)
    hashing.transform(GraphBatch.from_edges([1], [], [0]))  # validates the parameters early
    return hashing


def feature_matrix(kernel: Any, graphs: GraphBatch) -> csr_array:
    """Compute the features of a batch in chunks; integers up to 2**24 are stored as float32."""
    from scipy.sparse import csr_array, vstack

    parts = []
    for chunk in as_chunks(graphs, chunk_size=CHUNK_SIZE):
        X = kernel.transform(chunk)
        if X.data.max(initial=0) <= 2**24 and np.array_equal(X.data, np.rint(X.data)):
            X = X.astype(np.float32)
        parts.append(X)
    if not parts:
        return csr_array((0, kernel.n_features), dtype=np.float32)
    return csr_array(vstack(parts, format="csr"))


def _inputs(
    source: Any, shard_size: int, smiles: str | None, labels: LabelOptions
) -> tuple[MoleculeFile | None, Iterator[list[Record] | GraphBatch]]:
    """Return the file, if the source is one, and an iterator over the input of each shard."""
    if isinstance(source, str | os.PathLike) and is_molecule_file(Path(source)):
        file = MoleculeFile.opened(source, smiles)
        return file, iter(lambda: list(islice(file.records, shard_size)), [])
    if smiles is not None or labels != LabelOptions():
        raise InvalidParameterError(
            "smiles and the options of labels (charge, stereo, ...) are for files of molecules; "
            "other graphs have their labels already."
        )
    return None, map(with_binaries, as_chunks(source, chunk_size=shard_size))


def _finished_shard(
    folder: Path,
    kernel: Any,
    labels: LabelOptions,
    file: MoleculeFile | None,
    settings: str,
    task: tuple[int, list[Record] | GraphBatch],
) -> dict[str, Any]:
    """Return the receipt of a shard, after computing it unless it is already finished."""
    number, content = task
    path, digest = folder / shard_name(number), _digest(settings, content)
    try:
        receipt, _, _ = read_shard(path, kernel.n_features)
        if receipt["sha256"] == digest:
            return receipt
    except InvalidFileError:
        pass
    problems: list[str] = []
    if isinstance(content, GraphBatch):
        graphs, columns, input_rows = content, content.columns, len(content)
    else:
        assert file is not None
        parsed = parse_molecules([record.structure for record in content], labels, file.blocks)
        problems = [file.problem(content[at], reason) for at, reason in parsed.problems]
        columns = record_columns([content[at] for at in parsed.positions])
        graphs, input_rows = parsed.graphs, len(content)
    X = feature_matrix(kernel, graphs)
    receipt = {
        "sha256": digest,
        "rows": X.shape[0],
        "entries": int(X.nnz),
        "columns": {name: _kind(values) for name, values in columns.items()},
        "input_rows": input_rows,
        "problems": problems,
    }
    write_shard(path, receipt, X, columns)
    return receipt


def _digest(settings: str, content: list[Record] | GraphBatch) -> str:
    """Return the SHA-256 of the settings and the input of a shard."""
    digest = hashlib.sha256(settings.encode())
    if not isinstance(content, GraphBatch):
        digest.update(repr(content).encode())
        return digest.hexdigest()
    arrays: dict[str, Any] = {name: getattr(content, name) for name in _GRAPH_ARRAYS}
    arrays |= content.columns
    for name, array in arrays.items():
        digest.update(f"{name} {getattr(array, 'dtype', None)}{np.shape(array)}".encode())
        numeric = array is not None and array.dtype.kind not in "OU"
        digest.update(array.tobytes() if numeric else repr(np.array(array).tolist()).encode())
    return digest.hexdigest()


# -------------------------------------------------------------------- files


def pyarrow() -> Any:
    """Import and return PyArrow."""
    with needed("Parquet files are written with PyArrow", "'graphgrain[parquet]'"):
        import pyarrow
        import pyarrow.parquet
    return pyarrow


def shard_name(number: int) -> str:
    """Return the name of a shard's file."""
    return f"shard-{number:05d}.parquet"


def write_shard(
    path: Path, receipt: dict[str, Any], X: csr_array, columns: dict[str, np.ndarray]
) -> None:
    """Write a shard with checksums for each page."""
    pa = pyarrow()
    clashes = {FEATURE_COLUMNS, FEATURE_VALUES} & set(columns)
    if clashes:
        raise InvalidParameterError(
            f"A column of the input must not be called {clashes.pop()!r}, the name of a column of "
            "features. Rename it."
        )
    arrays = {}
    for name, values in columns.items():
        try:
            arrays[name] = pa.array(values)
        except pa.ArrowException:  # values of several types, or several for each row
            arrays[name] = pa.array(_as_text(values.tolist()))
    for name, items in ((FEATURE_COLUMNS, X.indices), (FEATURE_VALUES, X.data)):
        arrays[name] = pa.ListArray.from_arrays(pa.array(X.indptr, pa.int64()), pa.array(items))
    table = pa.table(arrays).replace_schema_metadata({"graphgrain": json.dumps(receipt)})
    with atomic_write(path, "The shard") as file:
        pa.parquet.write_table(
            table, file, compression="zstd", use_dictionary=False, write_page_checksum=True
        )


def read_shard(
    path: Path, n_features: int
) -> tuple[dict[str, Any], csr_array, dict[str, np.ndarray]]:
    """Return the receipt, the features and the other columns, as text, of a shard."""
    pa = pyarrow()
    try:
        with pa.parquet.ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read().combine_chunks()
        receipt = json.loads(table.schema.metadata[b"graphgrain"])
        X = _checked_csr(table, n_features)
        columns = {
            name: _as_text(table[name].to_pylist())
            for name in table.column_names
            if name not in (FEATURE_COLUMNS, FEATURE_VALUES)
        }
    except (
        pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError
    ) as error:  # fmt: skip
        raise InvalidFileError(f"{str(path)!r} cannot be read: {error}. {_AGAIN}.") from None
    return receipt, X, columns


def _checked_csr(table: Any, n_features: int) -> csr_array:
    """Create a sparse matrix; SciPy uses its indices in compiled code, so all are checked."""
    from scipy.sparse import csr_array

    pa = pyarrow()
    if not table.num_rows:
        return csr_array((0, n_features), dtype=np.float32)
    columns = table[FEATURE_COLUMNS].cast(pa.list_(pa.int32())).combine_chunks()
    values = table[FEATURE_VALUES].combine_chunks()
    if not columns.offsets.equals(values.offsets):
        raise ValueError("its lists of columns and of values are not of one length")
    parts = values.values, columns.values, columns.offsets
    X = csr_array(tuple(part.to_numpy() for part in parts), (table.num_rows, n_features))
    X.check_format(full_check=True)
    return X


def _begin(folder: Path, settings: dict[str, Any]) -> None:
    """Check that the folder is empty or has the same settings, and write them."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable("Features", folder, error) from None
    manifest = _read_manifest(folder)
    if manifest is None:
        for name in (entry.name for entry in folder.iterdir() if entry.name[0] != "."):
            raise InvalidParameterError(
                f"Features go to a folder of their own; {str(folder)!r} holds {name!r} and no "
                "features. Choose another."
            )
    else:
        for name, value in json.loads(json.dumps(settings)).items():
            if manifest.get(name) != value:
                raise InvalidParameterError(
                    f"The folder {str(folder)!r} holds features with {name}="
                    f"{manifest.get(name)!r}; requested is {value!r}. Use the same settings to "
                    "resume, or another folder."
                )
    _write_manifest(folder, {**settings, "complete": False})


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> dict[str, Any]:
    with atomic_write(folder / MANIFEST, "The settings") as file:
        file.write(json.dumps(manifest, indent=1).encode())
    return manifest


def _read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the settings of a folder, with receipts if it is complete; None if there are none."""
    path = folder / MANIFEST
    if (folder / "manifest.json").is_file() and not path.exists():
        raise InvalidFileError(
            f"The features in {str(folder)!r} were written by graphgrain 0.3; this version reads "
            "Parquet. Make the features again in another folder."
        )
    if not path.is_file():
        return None
    try:
        manifest = json.loads(path.read_bytes())
        version, complete = manifest["version"], manifest["complete"]
        if version == _VERSION and complete:
            rows = sum(receipt["rows"] for receipt in manifest["shards"])
            if rows != manifest["rows"] or not 0 < manifest["n_features"] < 2**31:
                raise ValueError("its sizes contradict each other")
            dict(manifest["columns"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidFileError(
            f"{str(path)!r} is damaged ({error!r}). Make the features again in another folder."
        ) from None
    if version != _VERSION:
        raise InvalidFileError(
            f"{str(path)!r} has version {version!r}; this version of graphgrain reads version "
            f"{_VERSION}. Make the features again in another folder."
        )
    return manifest


# -------------------------------------------------------------------- columns


def _kind(values: np.ndarray) -> str:
    """Return the type of a column of a shard: NumPy's letter, or nothing if all are blank."""
    if values.dtype.kind in "if" and values.ndim == 1:
        return values.dtype.kind
    converted = typed(_as_text(values.tolist()))
    return converted.dtype.kind if any(map(str, converted.tolist())) else ""


def _joined_kind(kinds: set[str]) -> str:
    """Combine the types of a column in all shards; blanks are NaN beside numbers."""
    if "U" in kinds or kinds == {""}:
        return "U"
    return "i" if kinds == {"i"} else "f"


def _converted(values: np.ndarray, kind: str) -> np.ndarray:
    """Convert text to integers or floats if the column has that type."""
    missing = missing_values(values)
    if kind == "U":
        return np.where(missing, "", values)
    return np.where(missing, "nan", values).astype(np.int64 if kind == "i" else np.float64)


def _as_text(values: list[Any]) -> np.ndarray:
    return np.array(["" if value is None else str(value) for value in values], dtype=str)
