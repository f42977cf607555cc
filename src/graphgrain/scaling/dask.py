"""Compute features with Dask."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from ..errors import InvalidGraphError, InvalidParameterError, needed
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..graphs.convert.rdkit import LabelFlags, LabelOptions, parse_molecules
from ..graphs.files.molecules import MoleculeFile, is_molecule_file
from ..graphs.streams import as_chunks
from ..graphs.tables import is_missing
from .feature_shards import feature_matrix, hashing_kernel


def dask_features(
    source: Any,
    kernel: Any = None,
    *,
    n_features: int = 2**20,
    errors: str = "raise",
    smiles: str | None = None,
    **labels: Unpack[LabelFlags],
) -> Any:
    """Compute the features of a Dask collection or of files as a Dask array of sparse blocks.

    Nothing is fitted, so each partition is an independent task. If a worker dies, its task is
    computed again elsewhere, with the same result.

    Parameters
    ----------
    source : Dask bag, Dask series or list of paths
        A bag of SMILES or of graphs that :func:`as_graphs` accepts, a column of SMILES of a
        Dask data frame, or paths of files of molecules or TU data sets that all workers can
        read. There is one block per partition or file.
    kernel, n_features, smiles
        As in :func:`save_features`.
    errors : {"raise", "empty"}, default="raise"
        Whether molecules that cannot be read raise an error or become rows without features, so
        that rows stay aligned with other columns.
    charge, aromatic, hydrogens, stereo, isotopes, radicals : bool, default=False
        Properties encoded in the labels, for molecules; see :func:`from_rdkit`.

    Returns
    -------
    X : dask.array.Array of shape (unknown, n_features)
        Features, with SciPy sparse arrays as blocks.

    See Also
    --------
    save_features : Write features to files.

    Examples
    --------
    >>> import graphgrain as gg
    >>> import dask.bag
    >>> bag = dask.bag.from_sequence(["CCO", "CCN", "c1ccccc1", "CC"], npartitions=2)
    >>> X = gg.dask_features(bag, n_features=512)
    >>> X.numblocks
    (2, 1)
    >>> X.blocks[1].compute(scheduler="synchronous").shape
    (2, 512)
    """
    if errors not in ("raise", "empty"):
        raise InvalidParameterError(f"errors must be 'raise' or 'empty'; got {errors!r}.")
    with needed("Work on a cluster is done with Dask", "'graphgrain[dask]'"):
        import dask.array
    library: Any = dask
    kernel = hashing_kernel(kernel, n_features)
    read: Callable[..., GraphBatch]
    if hasattr(source, "to_delayed"):
        read, parts = _partition, np.ravel(source.to_delayed()).tolist()
    elif isinstance(source, Sequence) and not isinstance(source, str | bytes):
        read, parts = _file, [(os.fspath(path), smiles, _state(path)) for path in source]
    else:
        raise InvalidParameterError(
            "dask_features takes a Dask bag, a column of a Dask data frame or a list of paths; got "
            f"{type(source).__name__}."
        )
    if not parts:
        raise InvalidParameterError("There must be at least one partition or file; got none.")
    from scipy.sparse import csr_array

    block = library.delayed(_block, pure=True)
    meta = csr_array((0, n_features), dtype=np.float32)
    options = LabelOptions.of(labels)
    blocks = [
        library.array.from_delayed(
            block(read, part, kernel, options, errors), shape=(np.nan, n_features), meta=meta
        )
        for part in parts
    ]
    return library.array.concatenate(blocks, axis=0, allow_unknown_chunksizes=True)


def _block(
    read: Callable[..., GraphBatch], part: Any, kernel: Any, labels: LabelOptions, errors: str
) -> Any:
    """Compute the features of one partition or file."""
    return feature_matrix(kernel, read(part, labels, errors))


def _state(path: str | os.PathLike[str]) -> tuple[int, int] | None:
    """Return size and time of a file: workers may still have the features of an older one."""
    if not os.path.exists(path):
        return None
    state = os.stat(path)
    return state.st_size, state.st_mtime_ns


def _file(part: tuple[str, str | None, Any], labels: LabelOptions, errors: str) -> GraphBatch:
    path, smiles, _ = part
    if not is_molecule_file(Path(path)):
        return GraphBatch.concatenate(list(as_chunks(path)))
    file = MoleculeFile.opened(path, smiles)
    records = list(file.records)
    names = [f"{file.name}, line {record.line}" for record in records]
    return _molecules([record.structure for record in records], names, labels, errors, file.blocks)


def _partition(part: Any, labels: LabelOptions, errors: str) -> GraphBatch:
    items = part.tolist() if hasattr(part, "tolist") else list(part)
    if items and all(isinstance(item, str) or is_missing(item) for item in items):
        names = [f"number {number} of a partition" for number in range(len(items))]
        return _molecules(items, names, labels, errors)
    return as_graphs(items)


def _molecules(
    texts: list[Any], names: list[str], labels: LabelOptions, errors: str, blocks: bool = False
) -> GraphBatch:
    """Parse molecules; with errors="empty", those that cannot be read have no vertices."""
    parsed = parse_molecules(texts, labels, blocks)
    if not parsed.problems:
        return parsed.graphs
    if errors == "raise":
        at, reason = parsed.problems[0]
        raise InvalidGraphError(
            f"Every molecule must be readable; {names[at]}, {texts[at]!r}: {reason}. Correct it, "
            "or say errors='empty' for a row without features."
        )
    order = np.full(len(texts), len(parsed.graphs))
    order[parsed.positions] = np.arange(len(parsed.graphs))
    return GraphBatch.concatenate([parsed.graphs, GraphBatch.from_edges([0], [])])[order]
