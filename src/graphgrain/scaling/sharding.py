"""Features to files: shard after shard, by any number of processes, from where it stopped.

1. The input is cut into shards by position: shard k has the molecules (or graphs) from
   ``k * shard_size`` on, whether they can be read or not. So any shard can be made alone.
2. A process reads the molecules of a shard, computes their features (columns are hashes, nothing
   is learned) and writes the files, then the receipt (see :mod:`.feature_shards`).
3. Shards whose receipts are true and name this input are not made again.
4. When all are there, the manifest says so.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from sklearn.base import clone

from ..errors import InvalidParameterError, UnwritableFileError
from ..graphs.batch import GraphBatch
from ..graphs.convert.rdkit import LabelFlags, LabelOptions, Unreadable, parse_molecules
from ..graphs.files.molecules import (
    MoleculeFile,
    Record,
    is_molecule_file,
    no_molecule,
    record_columns,
)
from ..graphs.processes import map_processes
from ..graphs.progress import progress_bar
from ..graphs.streams import CHUNK_SIZE, Chunk, as_chunks
from ..kernels.registry import kernel_to_json
from ..writing import atomic_write, delete_if_free
from .feature_shards import (
    FOLDER,
    FORMATS,
    MANIFEST,
    column_kinds,
    joined_kinds,
    pyarrow,
    read_manifest,
    read_receipt,
    shard_name,
    write_receipt,
    write_shard,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SHARD_SIZE = 20_000


class ShardPlan(NamedTuple):
    """All that a process must know to make any shard."""

    folder: Path
    kernel: Any
    form: str
    labels: LabelOptions
    blocks: bool
    file: str


class ShardTask(NamedTuple):
    """The input of one shard: records of a file of molecules, or graphs."""

    number: int
    digest: str
    content: list[Record] | Chunk


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
    """Write the features of any number of graphs to a folder, shard after shard.

    Whatever interrupts it, even the power: called again in the same way it goes on, and at most
    the shards in work are lost. The files have the same bytes however many processes wrote them.

    Parameters
    ----------
    source : path, GraphBatch or iterable of graphs
        See :func:`as_chunks`. Only what is read again in the same order can be resumed.
    folder : path
        Made if it is not there.
    kernel : kernel with explicit features, optional
        By default ``TreePlusPlus()``.
    n_features : int
        Number of columns: features are hashed into them (see the kernel's ``n_features``).
    shard_size : int
        Molecules or graphs of a shard.
    format : {"npz", "parquet"}
        ``"npz"``: SciPy's sparse matrices, and a CSV file beside each with the other columns of
        the input (names, targets). ``"parquet"``: one table per shard with these columns and the
        lists ``feature_columns`` and ``feature_values``.
    smiles : str, optional
        For files of molecules: see :func:`iter_molecules`.
    errors : {"raise", "skip"}
        What happens with a molecule that cannot be read. The shards before it are kept.
    n_jobs : int, optional
        Number of processes; None means this one alone, -1 one per core.
    verbose : int
        1 shows a progress bar.
    charge, aromatic, hydrogens, stereo, isotopes, radicals : bool
        For files of molecules: what the labels encode; see :func:`from_rdkit`.

    Returns
    -------
    manifest : dictionary
        What stands in ``manifest.json``: settings, shards with checksums, numbers of rows.

    See Also
    --------
    FeatureShards : Read them.

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
    if not isinstance(shard_size, int | np.integer) or shard_size < 1:
        raise InvalidParameterError(
            f"shard_size must be an integer of 1 or more; got {shard_size!r}."
        )
    if format == "parquet":
        pyarrow()  # an error now, not after the work
    unreadable = Unreadable(errors)
    kernel = hashing_kernel(kernel, n_features)
    options = LabelOptions.of(labels)
    file, pieces = _pieces(source, int(shard_size), smiles, options)
    place = _folder(folder)
    settings = {
        "kernel": kernel_to_json(kernel, leave_out=("n_jobs", "n_features", "output", "verbose")),
        "n_features": n_features,
        "shard_size": int(shard_size),
        "format": format,
        "labels": options._asdict() if file else None,
        "smiles": smiles,
    }
    _begin_manifest(place, settings)
    # worker processes may have been started in another working folder
    shared = (place.absolute(), kernel, format, options)
    plan = ShardPlan(*shared, file is not None and file.blocks, file.name if file else "")
    receipts: list[dict[str, Any]] = []
    seen = 0
    try:
        with progress_bar(verbose, None) as bar:
            tasks = (
                ShardTask(number, _digest(content), content)
                for number, content in enumerate(pieces)
            )
            for receipt in map_processes(partial(finished_shard, plan), tasks, n_jobs):
                unreadable.add([text for _, text in receipt["problems"]])
                receipts.append(receipt)
                seen += receipt["input_rows"]
                bar.update(receipt["input_rows"])
    finally:
        unreadable.warn(seen)
    if file is not None and not seen:
        raise no_molecule(file.name)
    _tidy(place, len(receipts))
    manifest = {
        "version": FOLDER.version,
        "complete": True,
        **settings,
        "rows": sum(receipt["rows"] for receipt in receipts),
        "skipped": unreadable.count,
        "columns": joined_kinds(receipt["columns"] for receipt in receipts),
        "shards": receipts,
    }
    _write_manifest(place, manifest)
    return manifest


def hashing_kernel(kernel: Any, n_features: int) -> Any:
    """The kernel with explicit features in hashed columns, unfitted."""
    if kernel is None:
        from ..kernels.tree_plus_plus import TreePlusPlus

        kernel = TreePlusPlus()
    if not {"n_features", "output"} <= set(getattr(kernel, "get_params", dict)()):
        raise InvalidParameterError(
            f"Features are those of a kernel that has n_features and output; got {kernel!r}. Use "
            "TreePlusPlus, WeisfeilerLehman, ShortestPath or another with explicit features."
        )
    chosen = clone(kernel).set_params(output="features", n_features=n_features, n_jobs=None)
    chosen.transform(GraphBatch.from_edges([1], [], [0]))  # parameters are checked here, not later
    return chosen


def feature_matrix(kernel: Any, graphs: GraphBatch) -> csr_array:
    """The features of a batch, a chunk at a time; counts as 32-bit floats, which hold them."""
    from scipy.sparse import csr_array, vstack

    integral = kernel.get_params().get("counts", "raw") in ("raw", "binary", "intersection")
    parts = []
    for chunk, _ in as_chunks(graphs, chunk_size=CHUNK_SIZE):
        X = kernel.transform(chunk)
        if integral and X.data.max(initial=0) <= 2**24:
            X = X.astype(np.float32)
        parts.append(X)
    if not parts:
        return csr_array((0, kernel.n_features), dtype=np.float32)
    return csr_array(vstack(parts, format="csr"))


def finished_shard(plan: ShardPlan, task: ShardTask) -> dict[str, Any]:
    """The receipt of a shard that is there already, or made now."""
    there = read_receipt(plan.folder, task.number)
    if there is not None and there.get("input_sha256") == task.digest:
        return there
    chunk, problems = _graphs(plan, task.content)
    X = feature_matrix(plan.kernel, chunk.graphs)
    # Without the old receipt nobody takes a mixture of old and new files for a whole.
    (plan.folder / f"{shard_name(task.number)}.json").unlink(missing_ok=True)
    files = write_shard(plan.folder, task.number, plan.form, X, chunk.columns)
    about = {
        "rows": X.shape[0],
        "columns": column_kinds(chunk.columns),
        "entries": int(X.nnz),
        "input_rows": _rows(task.content),
        "input_sha256": task.digest,
        "problems": problems,
    }
    return write_receipt(plan.folder, task.number, files, about)


def _graphs(plan: ShardPlan, content: list[Record] | Chunk) -> tuple[Chunk, list[tuple[int, str]]]:
    if isinstance(content, Chunk):
        return content, []
    parsed = parse_molecules([record.structure for record in content], plan.labels, plan.blocks)
    file = MoleculeFile(plan.file, plan.blocks, iter(()))
    problems = [(content[at].line, file.problem(content[at], why)) for at, why in parsed.problems]
    columns = record_columns([content[at] for at in parsed.positions])
    return Chunk(parsed.graphs, columns), problems


def _pieces(
    source: Any, shard_size: int, smiles: str | None, labels: LabelOptions
) -> tuple[MoleculeFile | None, Iterator[list[Record] | Chunk]]:
    """The input of each shard, one after the other."""
    if isinstance(source, str | os.PathLike) and is_molecule_file(Path(source)):
        file = MoleculeFile.opened(source, smiles)
        return file, iter(lambda: list(islice(file.records, shard_size)), [])
    if smiles is not None or labels != LabelOptions():
        raise InvalidParameterError(
            "smiles and the options of labels (charge, stereo, ...) are for files of molecules; "
            "other graphs have their labels already."
        )
    return None, as_chunks(source, chunk_size=shard_size)


def _rows(content: list[Record] | Chunk) -> int:
    return len(content.graphs) if isinstance(content, Chunk) else len(content)


def _digest(content: list[Record] | Chunk) -> str:
    """SHA-256 of the input of a shard."""
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


# -------------------------------------------------------------------- manifest


def _folder(folder: str | os.PathLike[str]) -> Path:
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableFileError(
            f"The folder {str(place)!r} cannot be made: {error.strerror or error}. Choose another."
        ) from None
    return place


def _begin_manifest(folder: Path, settings: dict[str, Any]) -> None:
    """Check that the folder is ours to go on with, and say what it will hold."""
    there = read_manifest(folder)
    if there is None:
        others = [entry.name for entry in folder.iterdir() if not entry.name.startswith(".")]
        if others:
            raise InvalidParameterError(
                f"Features go to a folder of their own; {str(folder)!r} holds {others[0]!r} and "
                "no features. Choose another."
            )
    else:
        old = _flat({name: there.get(name) for name in settings})
        for name, value in _flat(json.loads(json.dumps(settings))).items():
            if old.get(name) != value:
                raise InvalidParameterError(
                    f"The folder {str(folder)!r} holds features with {name}={old.get(name)!r}; "
                    f"asked for is {value!r}. Use the same settings to go on, or another folder."
                )
    if there is None or not there.get("complete"):
        _write_manifest(folder, {"version": FOLDER.version, "complete": False, **settings})


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with those of groups (the kernel's parameters, the labels) among them."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= _flat(value) if isinstance(value, dict) else {name: value}
    return flat


def _write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    with atomic_write(folder / MANIFEST, "The manifest") as file:
        file.write(json.dumps(manifest, indent=1).encode())


def _tidy(folder: Path, count: int) -> None:
    """Remove shards of an input that was longer once, and what a killed process was writing."""
    for file in folder.glob("shard-*"):
        number = file.stem.removeprefix("shard-")
        if number.isdigit() and int(number) >= count:
            delete_if_free(file)
    for file in folder.glob(".*.part"):
        delete_if_free(file)
