"""Compute features with Dask, and train models on them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from sklearn.base import clone

from ..errors import InvalidGraphError, InvalidParameterError, needed
from ..graphs.batch import GraphBatch
from ..graphs.convert.dispatch import as_graphs
from ..graphs.convert.parts import is_missing
from ..graphs.convert.rdkit import LabelFlags, LabelOptions, parse_molecules
from ..graphs.files.molecules import MoleculeFile, is_molecule_file
from ..graphs.streams import as_chunks, join_chunks
from .feature_shards import feature_matrix, hashing_kernel


def dask() -> Any:
    """Import and return Dask."""
    with needed("Work on a cluster is done with Dask", "'graphgrain[dask]'"):
        import dask
        import dask.array
        import dask.delayed
    return dask


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
    dask_partial_fit : Train a model block by block.

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
    library = dask()
    kernel = hashing_kernel(kernel, n_features)
    options = LabelOptions.of(labels)
    if hasattr(source, "to_delayed"):
        parts = np.ravel(source.to_delayed()).tolist()
    elif isinstance(source, Sequence) and not isinstance(source, str | bytes):
        parts = [_File(os.fspath(path), smiles) for path in source]
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
    blocks = [
        library.array.from_delayed(
            block(part, kernel, options, errors), shape=(np.nan, n_features), meta=meta
        )
        for part in parts
    ]
    return library.array.concatenate(blocks, axis=0, allow_unknown_chunksizes=True)


def dask_partial_fit(model: Any, X: Any, y: Any = None, *, classes: Any = None) -> Any:
    """Train a model with ``partial_fit``, block by block.

    The model is sent to the workers that hold the blocks. Blocks are processed in order, so the
    result does not depend on the workers, even if some of them die.

    Parameters
    ----------
    model : estimator with ``partial_fit``
        For example scikit-learn's ``SGDClassifier``, ``SGDRegressor`` or ``MiniBatchKMeans``. It
        is not modified.
    X : dask.array.Array
        Features, for example from :func:`dask_features`.
    y : Dask array, series or bag, optional
        Targets, in partitions of the same sizes as the blocks.
    classes : array-like, optional
        All classes, required by classifiers, as the first block need not contain all of them.

    Returns
    -------
    model : estimator
        A trained copy of ``model``.

    Examples
    --------
    >>> import dask.bag, numpy
    >>> import graphgrain as gg
    >>> from sklearn.linear_model import SGDClassifier
    >>> smiles = dask.bag.from_sequence(["CCO", "CCN", "CCCO", "CCCN"], npartitions=2)
    >>> y = dask.bag.from_sequence([1, 0, 1, 0], npartitions=2)
    >>> X = gg.dask_features(smiles, n_features=512)
    >>> model = gg.dask_partial_fit(SGDClassifier(random_state=0), X, y, classes=[0, 1])
    >>> model.predict(X.compute(scheduler="synchronous")).tolist()
    [1, 0, 1, 0]
    """
    library = dask()
    if not hasattr(model, "partial_fit"):
        raise InvalidParameterError(
            f"Training block by block needs a model with partial_fit; {type(model).__name__} has "
            "none. SGDClassifier and SGDRegressor have."
        )
    for name, array in (("X", X), ("y", y)):
        if array is not None and not hasattr(array, "to_delayed"):
            raise InvalidParameterError(
                f"{name} must be a Dask array; got a {type(array).__name__}. Make one: "
                "dask.array.from_array(values, chunks=...)."
            )
    if len(getattr(X, "numblocks", ())) == 2 and X.numblocks[1] > 1:
        raise InvalidParameterError(
            f"A block of X must have all columns; these are split into {X.numblocks[1]} blocks. "
            "Join them with X.rechunk({1: -1})."
        )
    blocks = np.ravel(X.to_delayed()).tolist()
    targets = [None] * len(blocks) if y is None else np.ravel(y.to_delayed()).tolist()
    if len(targets) != len(blocks):
        raise InvalidParameterError(
            f"X and y must have the same partitions; got {len(blocks)} blocks of X and "
            f"{len(targets)} of y."
        )
    step = library.delayed(_step, pure=True)
    state: Any = clone(model)
    for number, (block, target) in enumerate(zip(blocks, targets, strict=True)):
        state = step(state, block, target, classes, number)
    return library.compute(state)[0]


def _step(model: Any, X: Any, y: Any, classes: Any, number: int) -> Any:
    """Train a copy of the model on one block; the original is needed if the task is repeated."""
    model = deepcopy(model)
    if y is None:
        return model.partial_fit(X)
    y = np.asarray(y)
    if len(y) != X.shape[0]:
        raise InvalidParameterError(
            f"X and y must have the same rows; block {number} has {X.shape[0]} rows of X and "
            f"{len(y)} of y."
        )
    if classes is None:
        return model.partial_fit(X, y)
    return model.partial_fit(X, y, classes=np.asarray(classes))


class _File:
    """The path of a file, which is read by the worker that runs the task."""

    def __init__(self, path: str, smiles: str | None) -> None:
        self.path, self.smiles = path, smiles

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """Identify the content as well: workers may still have the features of an older file."""
        state = os.stat(self.path) if os.path.exists(self.path) else None
        content = None if state is None else (state.st_size, state.st_mtime_ns)
        return "file", self.path, self.smiles, content


def _block(part: Any, kernel: Any, labels: LabelOptions, errors: str) -> Any:
    """Compute the features of one partition or file."""
    return feature_matrix(kernel, _graphs(part, labels, errors))


def _graphs(part: Any, labels: LabelOptions, errors: str) -> GraphBatch:
    if isinstance(part, _File):
        if not is_molecule_file(Path(part.path)):
            return join_chunks(list(as_chunks(part.path))).graphs
        file = MoleculeFile.opened(part.path, part.smiles)
        records = list(file.records)
        texts: list[Any] = [record.structure for record in records]
        names = [f"{file.name}, line {record.line}" for record in records]
        return _molecules(texts, names, labels, errors, file.blocks)
    items = part.tolist() if hasattr(part, "tolist") else list(part)
    if items and all(isinstance(item, str) or is_missing(item) for item in items):
        names = [f"number {number} of a partition" for number in range(len(items))]
        return _molecules(items, names, labels, errors, False)
    return as_graphs(items)


def _molecules(
    texts: list[Any], names: list[str], labels: LabelOptions, errors: str, blocks: bool
) -> GraphBatch:
    parsed = parse_molecules(texts, labels, blocks)
    if not parsed.problems:
        return parsed.graphs
    if errors == "raise":
        at, reason = parsed.problems[0]
        raise InvalidGraphError(
            f"Every molecule must be readable; {names[at]}, {texts[at]!r}: {reason}. Correct it, "
            "or say errors='empty' for a row without features."
        )
    # Replace molecules that cannot be read by a graph without vertices.
    empty = GraphBatch.from_edges([0], [])
    order = np.full(len(texts), len(parsed.graphs))
    order[parsed.positions] = np.arange(len(parsed.graphs))
    return GraphBatch.concatenate([parsed.graphs, empty])[order]
